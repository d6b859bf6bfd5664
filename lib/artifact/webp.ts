/**
 * Lossy WebP (a VP8 key frame in a RIFF file) by libwebp as WebAssembly.
 *
 * An abbreviated stream is the frame without the 20 bytes of the RIFF headers and the 7 bytes of start code and size, which
 * the receiver knows. Bit 0 of its first byte, zero in every key frame, says that the image has half the width and height.
 *
 * Source: RFC 9649 (container), RFC 6386 section 9.1 (frame header).
 */
import { SvcError } from "../contract/error.ts";
import { halfSize } from "./jpeg/abbreviated.ts";
import type { JpegImage } from "./jpeg/encoder.ts";
import { rgbaOf, samplesOf, WasmCodec } from "./wasm_codec.ts";

export interface WebpSettings {
  /** 0 to 100. */
  readonly quality: number;
  /** Effort, 0 to 6. */
  readonly method: number;
  readonly stream: "file" | "abbreviated";
}

const RIFF_BYTES = 20, TAG_BYTES = 3, KNOWN_BYTES = 7;
const START_CODE = [0x9d, 0x01, 0x2a];

const encoder = new WasmCodec(
  "WebP",
  () => import("npm:@jsquash/webp@1.5.0/codec/enc/webp_enc_simd.js"),
  import.meta.resolve("npm:@jsquash/webp@1.5.0/codec/enc/webp_enc_simd.wasm"),
);
const decoder = new WasmCodec(
  "WebP",
  () => import("npm:@jsquash/webp@1.5.0/codec/dec/webp_dec.js"),
  import.meta.resolve("npm:@jsquash/webp@1.5.0/codec/dec/webp_dec.wasm"),
);

/** The defaults of libwebp for all other settings. */
const DEFAULTS = {
  target_size: 0,
  target_PSNR: 0,
  sns_strength: 50,
  filter_strength: 60,
  filter_sharpness: 0,
  filter_type: 1,
  partitions: 0,
  segments: 4,
  pass: 1,
  show_compressed: 0,
  preprocessing: 0,
  autofilter: 0,
  partition_limit: 0,
  alpha_compression: 1,
  alpha_filtering: 1,
  alpha_quality: 100,
  lossless: 0,
  exact: 0,
  image_hint: 0,
  emulate_jpeg_size: 0,
  thread_level: 0,
  low_memory: 0,
  near_lossless: 100,
  use_delta_palette: 0,
  use_sharp_yuv: 0,
};

/**
 * Encodes an image with chroma of half the width and height.
 * @throws SvcError `runtime_unavailable`, `boundary_shape_invalid` above 16383 pixels a side
 */
export async function encodeWebp(image: JpegImage, settings: WebpSettings, half = false): Promise<Uint8Array> {
  const { width, height } = image, { quality, method, stream } = settings;
  if (width > 16383 || height > 16383) {
    throw new SvcError(
      "boundary_shape_invalid",
      `Cannot write ${width} x ${height} pixels as WebP: the limit is 16383`,
    );
  }
  const instance = await encoder.ready();
  const file = instance.encode(rgbaOf(image), width, height, { ...DEFAULTS, quality, method })!.slice();
  if (stream === "file") return file;
  const size = new DataView(file.buffer).getUint32(16, true);
  const frame = file.subarray(RIFF_BYTES, RIFF_BYTES + size);
  const short = new Uint8Array(size - KNOWN_BYTES);
  short.set(frame.subarray(0, TAG_BYTES));
  short.set(frame.subarray(TAG_BYTES + KNOWN_BYTES), TAG_BYTES);
  if (half) short[0] |= 1;
  return short;
}

/** A stream does not start as a file does: bits 1 to 3 of its first byte hold the profile, which is 0 with this filter. */
const isFile = (bytes: Uint8Array) => String.fromCharCode(...bytes.subarray(0, 4)) === "RIFF";

/**
 * Decodes a file or an abbreviated stream.
 * @param shape the expected image; one of half the width and height is returned as it is
 * @throws SvcError `image_payload_invalid` for damaged bytes or another size, `runtime_unavailable`
 */
export async function decodeWebp(bytes: Uint8Array, shape: Omit<JpegImage, "data">): Promise<JpegImage> {
  const half = halfSize(shape);
  const damaged = new SvcError("image_payload_invalid", "Cannot read a damaged WebP image");
  if (bytes.length < TAG_BYTES + 1) throw damaged;
  const file = isFile(bytes) ? bytes : completed(bytes, (bytes[0] & 1) === 1 ? half : shape);
  // The size stands before the frame: a damaged one must not claim memory.
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < RIFF_BYTES + TAG_BYTES + KNOWN_BYTES) throw damaged;
  const [width, height] = [view.getUint16(26, true), view.getUint16(28, true)];
  const isKnown = [shape, half].some((each) => each.width === width && each.height === height);
  if (!isKnown || String.fromCharCode(...file.subarray(8, 16)) !== "WEBPVP8 ") throw damaged;
  const instance = await decoder.ready();
  try {
    const decoded = instance.decode(file.slice().buffer);
    if (decoded === null || decoded.width !== width || decoded.height !== height) throw damaged;
    return { width, height, channels: shape.channels, data: samplesOf(decoded.data, shape.channels) };
  } catch (error) {
    decoder.drop();
    throw error instanceof SvcError ? error : damaged;
  }
}

function completed(short: Uint8Array, { width, height }: { width: number; height: number }): Uint8Array {
  const size = short.length + KNOWN_BYTES, padded = size + size % 2;
  const file = new Uint8Array(RIFF_BYTES + padded), view = new DataView(file.buffer);
  file.set(new TextEncoder().encode("RIFF"));
  view.setUint32(4, 12 + padded, true);
  file.set(new TextEncoder().encode("WEBPVP8 "), 8);
  view.setUint32(16, size, true);
  file.set(short.subarray(0, TAG_BYTES), RIFF_BYTES);
  file[RIFF_BYTES] &= ~1;
  file.set(START_CODE, RIFF_BYTES + TAG_BYTES);
  view.setUint16(26, width, true);
  view.setUint16(28, height, true);
  file.set(short.subarray(TAG_BYTES), RIFF_BYTES + TAG_BYTES + KNOWN_BYTES);
  return file;
}
