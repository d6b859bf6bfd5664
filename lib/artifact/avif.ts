/**
 * Lossy AVIF (an AV1 key frame in an ISO file) by libavif with libaom and dav1d as WebAssembly.
 *
 * An abbreviated stream is the sequence header and the frame, as AV1 units (OBU) with their sizes: the item data of the
 * file without the temporal delimiter. The receiver writes the boxes around it again; they follow from size and channels.
 *
 * Source: AV1 bitstream specification sections 5.3 to 5.5; AVIF 1.1; ISO/IEC 23008-12 (boxes of an image item).
 */
import { joinBytes } from "./join_bytes.ts";
import { SvcError } from "../contract/error.ts";
import { halfSize } from "./jpeg/abbreviated.ts";
import type { JpegImage } from "./jpeg/encoder.ts";
import { rgbaOf, samplesOf, WasmCodec } from "./wasm_codec.ts";

export interface AvifSettings {
  /** 0 to 100. */
  readonly quality: number;
  /** 0 (best) to 10 (fastest). */
  readonly speed: number;
  /** Chroma of colour images. */
  readonly subsampling: "420" | "444";
  readonly stream: "file" | "abbreviated";
}

const encoder = new WasmCodec(
  "AVIF",
  () => import("npm:@jsquash/avif@2.1.1/codec/enc/avif_enc.js"),
  import.meta.resolve("npm:@jsquash/avif@2.1.1/codec/enc/avif_enc.wasm"),
);
const decoder = new WasmCodec(
  "AVIF",
  () => import("npm:@jsquash/avif@2.1.1/codec/dec/avif_dec.js"),
  import.meta.resolve("npm:@jsquash/avif@2.1.1/codec/dec/avif_dec.wasm"),
);

/** Settings of libavif that are not set here. */
const DEFAULTS = {
  qualityAlpha: -1,
  denoiseLevel: 0,
  tileColsLog2: 0,
  tileRowsLog2: 0,
  chromaDeltaQ: false,
  sharpness: 0,
  enableSharpYUV: false,
  bitDepth: 8,
  lossless: false,
  /** For squared error, as all codecs here are compared. */
  tune: 1,
};
const CHROMA = { "400": 0, "420": 1, "444": 3 } as const;
/** Types of units: an end mark or filling, the sequence header, the temporal delimiter. */
const END = 0, SEQUENCE = 1, DELIMITER = 2;

/**
 * Encodes an image; a grey one without chroma.
 * @throws SvcError `runtime_unavailable`
 */
export async function encodeAvif(image: JpegImage, settings: AvifSettings): Promise<Uint8Array> {
  const { quality, speed, subsampling, stream } = settings;
  const subsample = CHROMA[image.channels === 1 ? "400" : subsampling];
  const instance = await encoder.ready();
  const options = { ...DEFAULTS, quality, speed, subsample };
  const file = instance.encode(rgbaOf(image), image.width, image.height, options)!.slice();
  if (stream === "file") return file;
  return joinBytes(unitsOf(itemData(file)).filter(({ type }) => type !== DELIMITER).map(({ bytes }) => bytes));
}

/**
 * Decodes a file or an abbreviated stream; bytes behind either have no effect.
 * @param shape the expected image; one of half the width and height is returned as it is
 * @throws SvcError `image_payload_invalid` for damaged bytes or another size, `runtime_unavailable`
 */
export async function decodeAvif(bytes: Uint8Array, shape: Omit<JpegImage, "data">): Promise<JpegImage> {
  const isFile = String.fromCharCode(...bytes.subarray(4, 8)) === "ftyp";
  const units = unitsOf(isFile ? itemData(bytes) : bytes).filter(({ type }) => type !== DELIMITER);
  if (units.length < 2 || units[0].type !== SEQUENCE) throw damaged("it has no sequence header");
  // The size stands before the frame: a damaged one must not claim memory.
  const size = frameSize(units[0].bytes);
  const isKnown = [shape, halfSize(shape)].some(({ width, height }) => size.width === width && size.height === height);
  if (!isKnown) throw damaged("its size is another one");
  const instance = await decoder.ready();
  try {
    const file = container(joinBytes(units.map(({ bytes }) => bytes)), { ...size, channels: shape.channels });
    const decoded = instance.decode(file.buffer, 8);
    if (decoded === null || decoded.width !== size.width || decoded.height !== size.height) {
      throw damaged("its frame cannot be decoded");
    }
    return { ...size, channels: shape.channels, data: samplesOf(decoded.data, shape.channels) };
  } catch (error) {
    decoder.drop();
    throw error instanceof SvcError ? error : damaged("its frame cannot be decoded");
  }
}

const damaged = (why: string) => new SvcError("image_payload_invalid", `Cannot read a damaged AVIF image: ${why}`);

/** The data of a file's only item. */
function itemData(file: Uint8Array): Uint8Array {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  for (let at = 0; at + 8 <= file.length;) {
    const size = view.getUint32(at);
    if (size < 8 || at + size > file.length) break;
    if (String.fromCharCode(...file.subarray(at + 4, at + 8)) === "mdat") return file.subarray(at + 8, at + size);
    at += size;
  }
  throw damaged("it has no data");
}

/** The units up to the end or a zero byte. */
function unitsOf(data: Uint8Array): { type: number; bytes: Uint8Array; payload: Uint8Array }[] {
  const units = [];
  for (let at = 0; at < data.length;) {
    const start = at, header = data[at++], type = header >> 3 & 15;
    if (type === END) break;
    if ((header & 4) !== 0) at++;
    if ((header & 2) === 0) throw damaged("a unit has no size");
    let size = 0;
    for (let shift = 0;; shift += 7) {
      const byte = data[at++];
      if (byte === undefined || shift > 21) throw damaged("a unit has no size");
      size += (byte & 127) << shift;
      if (byte < 128) break;
    }
    if (at + size > data.length) throw damaged("a unit is truncated");
    const payload = data.subarray(at, at + size);
    at += size;
    units.push({ type, bytes: data.subarray(start, at), payload });
  }
  return units;
}

/** Width and height in the sequence header of a still picture. */
function frameSize(unit: Uint8Array): { width: number; height: number } {
  const [{ payload }] = unitsOf(unit);
  let at = 0;
  const take = (count: number): number => {
    let value = 0;
    for (; count > 0; count--, at++) value = 2 * value + ((payload[at >> 3] ?? 0) >> (7 - at % 8) & 1);
    return value;
  };
  take(3); // profile
  if (take(2) !== 3) throw damaged("it is not a still picture");
  take(5); // level
  const [widthBits, heightBits] = [take(4) + 1, take(4) + 1];
  return { width: take(widthBits) + 1, height: take(heightBits) + 1 };
}

const text = (value: string) => new TextEncoder().encode(value);
const u16 = (value: number) => [value >> 8, value & 255];
const u32 = (value: number) => [...u16(value >>> 16), ...u16(value & 0xffff)];

const box = (type: string, ...content: readonly ArrayLike<number>[]) => {
  const body = joinBytes(content);
  return joinBytes([u32(body.length + 8), text(type), body]);
};
/** A box with version and flags. */
const fullBox = (type: string, version: number, ...content: readonly ArrayLike<number>[]) =>
  box(type, [version, 0, 0, 0], ...content);

/** A file with one item. */
function container(data: Uint8Array, { width, height, channels }: Omit<JpegImage, "data">): Uint8Array<ArrayBuffer> {
  const [{ payload }] = unitsOf(data);
  const profile = payload[0] >> 5, level = (payload[0] & 7) << 2 | payload[1] >> 6;
  // Chroma: none, half in both directions, or full (profile 1).
  const chroma = channels === 1 ? 0x1c : profile === 1 ? 0 : 0x0c;
  const properties = box(
    "ipco",
    fullBox("ispe", 0, u32(width), u32(height)),
    fullBox("pixi", 0, [channels], new Uint8Array(channels).fill(8)),
    box("av1C", [0x81, profile << 5 | level, chroma, 0]),
    // BT.601 matrix and full range, as the encoder writes.
    box("colr", text("nclx"), u16(2), u16(2), u16(6), [0x80]),
  );
  const meta = (offset: number) =>
    fullBox(
      "meta",
      0,
      fullBox("hdlr", 0, u32(0), text("pict"), new Uint8Array(13)),
      fullBox("pitm", 0, u16(1)),
      fullBox("iloc", 0, [0x44, 0], u16(1), u16(1), u16(0), u16(1), u32(offset), u32(data.length)),
      fullBox("iinf", 0, u16(1), fullBox("infe", 2, u16(1), u16(0), text("av01"), [0])),
      box("iprp", properties, fullBox("ipma", 0, u32(1), u16(1), [4, 1, 2, 0x83, 4])),
    );
  const type = box("ftyp", text("avif"), u32(0), text("avifmif1miaf"));
  return joinBytes([type, meta(type.length + meta(0).length + 8), box("mdat", data)]);
}
