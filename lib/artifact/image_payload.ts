/**
 * Wire formats of coded images: one container for a batch.
 *
 * safe_json_base64   canonical JSON {codec, items: [{channels, data, height, width}], kind: "svc.image_payload"} in
 *                    UTF-8, data in base64; the whole payload is one source item
 * compact_binary_v1  big-endian: "SVC1", u8 version 1, u8 codec (1 JPEG, 2 codeclib, 3 WebP, 4 AVIF), u16 item count, then per image
 *                    u16 height, u16 width, u8 channels, u32 length, bytes; every image is one source item (its header
 *                    and bytes), the eight leading bytes belong to the first
 *
 * A receiver knows count, sizes and item boundaries of the images from trusted metadata, so a damaged header has no
 * effect and a damaged item loses one image.
 */
import { SvcError } from "../contract/error.ts";
import { canonicalJson, parseJson } from "../contract/json.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { packBits } from "../numeric/array/bit_packing.ts";
import {
  imageForm,
  type ImageShapes,
  type ImageSize,
  metadataCounts,
  metadataNumber,
  metadataText,
  sizeAt,
} from "./values.ts";

export type WireFormat = "safe_json_base64" | "compact_binary_v1";
export type PayloadCodec = "jpeg" | "codeclib" | "webp" | "avif";

export interface ImageShape {
  readonly height: number;
  readonly width: number;
  readonly channels: number;
}

/** A coded image. */
export interface ImagePayloadItem extends ImageShape {
  readonly data: Uint8Array;
}

const KIND = "svc.image_payload";
const MAGIC = [0x53, 0x56, 0x43, 0x31]; // "SVC1"
const VERSION = 1;
const CODEC_IDS: Record<PayloadCodec, number> = { jpeg: 1, codeclib: 2, webp: 3, avif: 4 };
const CONTAINER_HEADER_BYTES = 8;
const ITEM_HEADER_BYTES = 9;

const damaged = (what: string): SvcError =>
  new SvcError("image_payload_invalid", `Cannot read a damaged image payload: ${what}`);

/**
 * Packs coded images into one container.
 * @returns the payload and the bytes of each source item in it
 * @throws SvcError `boundary_shape_invalid` for images beyond the limits of compact_binary_v1
 */
export function packImagePayload(
  items: readonly ImagePayloadItem[],
  codec: PayloadCodec,
  format: WireFormat,
): { bytes: Uint8Array; itemByteCounts: number[] } {
  if (format === "compact_binary_v1") return packCompact(items, codec);
  const bytes = new TextEncoder().encode(canonicalJson({
    kind: KIND,
    codec,
    items: items.map(({ height, width, channels, data }) => ({ height, width, channels, data: data.toBase64() })),
  }));
  return { bytes, itemByteCounts: [bytes.length] };
}

/** Bytes that compact_binary_v1 adds to the image of a source item. */
export const itemOverheadBytes = (index: number): number =>
  (index === 0 ? CONTAINER_HEADER_BYTES : 0) + ITEM_HEADER_BYTES;

function packCompact(items: readonly ImagePayloadItem[], codec: PayloadCodec) {
  const fits = items.length <= 0xffff &&
    items.every((item) =>
      item.height <= 0xffff && item.width <= 0xffff && item.channels <= 0xff && item.data.length <= 0xffff_ffff
    );
  if (!fits) {
    throw new SvcError(
      "boundary_shape_invalid",
      "Cannot write these images as compact_binary_v1: too many or too large",
      {
        hint: "Its limits are 65535 images and 65535 pixels per side; use safe_json_base64 or a smaller batch",
      },
    );
  }
  const itemByteCounts = items.map(({ data }, index) => itemOverheadBytes(index) + data.length);
  const total = itemByteCounts.reduce((sum, count) => sum + count, items.length === 0 ? CONTAINER_HEADER_BYTES : 0);
  const bytes = new Uint8Array(total), view = new DataView(bytes.buffer);
  bytes.set([...MAGIC, VERSION, CODEC_IDS[codec]]);
  view.setUint16(6, items.length);
  let at = CONTAINER_HEADER_BYTES;
  for (const { height, width, channels, data } of items) {
    view.setUint16(at, height);
    view.setUint16(at + 2, width);
    view.setUint8(at + 4, channels);
    view.setUint32(at + 5, data.length);
    bytes.set(data, at + ITEM_HEADER_BYTES);
    at += ITEM_HEADER_BYTES + data.length;
  }
  return { bytes, itemByteCounts };
}

/** Trusted layout of a payload. */
export interface PayloadLayout {
  codec: PayloadCodec;
  /** Default from the first bytes. */
  format?: WireFormat;
  /** Sizes of all images; the headers in the payload are then ignored. */
  shapes?: readonly ImageShape[];
}

/**
 * Unpacks a container by its own headers. Exported for tests.
 * @returns each image, or its error; as many as `layout.shapes`, if given
 * @throws SvcError `image_payload_invalid` for an unreadable payload with an unknown number of images
 */
export function unpackImagePayload(bytes: Uint8Array, layout: PayloadLayout): (ImagePayloadItem | SvcError)[] {
  const { codec, shapes } = layout;
  const compact = layout.format === undefined
    ? MAGIC.every((byte, index) => bytes[index] === byte)
    : layout.format === "compact_binary_v1";
  try {
    const items = compact ? unpackCompact(bytes, codec) : unpackJson(bytes, codec);
    if (shapes === undefined) return items;
    if (items.length !== shapes.length) throw damaged(`it holds ${items.length} images instead of ${shapes.length}`);
    return items.map((item, index) => (item instanceof SvcError ? item : { ...item, ...shapes[index] }));
  } catch (error) {
    if (shapes === undefined || !(error instanceof SvcError)) throw error;
    return shapes.map(() => error);
  }
}

function unpackCompact(bytes: Uint8Array, codec: PayloadCodec): (ImagePayloadItem | SvcError)[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < CONTAINER_HEADER_BYTES || MAGIC.some((byte, index) => bytes[index] !== byte)) {
    throw damaged("it does not start with SVC1");
  }
  if (bytes[4] !== VERSION) throw damaged(`its version is ${bytes[4]}`);
  if (bytes[5] !== CODEC_IDS[codec]) throw damaged(`its codec is not ${codec}`);
  let at = CONTAINER_HEADER_BYTES;
  return Array.from({ length: view.getUint16(6) }, () => {
    const start = at + ITEM_HEADER_BYTES;
    const end = start > bytes.length ? Infinity : start + view.getUint32(at + 5);
    if (end > bytes.length) { // the length also locates the later images
      at = bytes.length;
      return damaged("an image is truncated");
    }
    const [height, width] = [view.getUint16(at), view.getUint16(at + 2)];
    const item = { height, width, channels: view.getUint8(at + 4), data: bytes.subarray(start, end) };
    at = end;
    return item;
  });
}

function unpackJson(bytes: Uint8Array, codec: PayloadCodec): (ImagePayloadItem | SvcError)[] {
  let document: unknown;
  try {
    document = parseJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw damaged("it is not JSON in UTF-8");
  }
  if (!isObject(document) || document.kind !== KIND || !Array.isArray(document.items)) {
    throw damaged(`its kind is not ${KIND}`);
  }
  if (document.codec !== codec) throw damaged(`its codec is not ${codec}`);
  return document.items.map((item) => {
    if (!isObject(item) || typeof item.data !== "string") return damaged("an image has no data");
    const { height, width, channels } = item;
    const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;
    if (!isSize(height) || !isSize(width) || !isSize(channels)) return damaged("an image has no size");
    try {
      return { height, width, channels, data: Uint8Array.fromBase64(item.data) };
    } catch {
      return damaged("the data of an image is not base64");
    }
  });
}

/** Metadata that {@link imagePayloadMetadata} writes, for kinds that declare them. */
export const IMAGE_PAYLOAD_METADATA = {
  codec: "text",
  wire_format: "text",
  image_count: "count",
  image_height: "count",
  image_width: "count",
  image_channels: "count",
  source_item_counts: "list",
} as const;

/** Metadata for the receiver; counts are in bits. */
export function imagePayloadMetadata(
  shapes: ImageShapes,
  codec: PayloadCodec,
  format: WireFormat,
  itemByteCounts: readonly number[],
) {
  return {
    codec,
    wire_format: format,
    ...imageShapeMetadata(shapes),
    source_item_counts: itemByteCounts.map((count) => count * 8),
  };
}

/**
 * Metadata from which {@link trustedShape} knows images: their number and channels, height and width, and for several
 * sizes each of them in `image_sizes`, with the largest height and width beside it.
 */
export function imageShapeMetadata(shapes: ImageShapes) {
  const { count, channels, sizes } = shapes;
  const largest = (side: keyof ImageSize) =>
    sizes === undefined ? sizeAt(shapes, 0)[side] : sizes.reduce((most, size) => Math.max(most, size[side]), 0);
  return {
    image_count: count,
    image_height: largest("height"),
    image_width: largest("width"),
    image_channels: channels,
    ...(sizes === undefined ? {} : { image_sizes: sizes.map(({ height, width }) => [height, width]) }),
  };
}

/** Metadata keys of a payload that do not apply to its images. */
export const PAYLOAD_KEYS: readonly string[] = [
  "wire_format",
  "image_height",
  "image_width",
  "image_sizes",
  "image_channels",
  "source_item_counts",
  "item_bit_counts",
];

/**
 * The images of received payload bits. Sizes and boundaries come from the metadata (item_bit_counts, else
 * source_item_counts); a source item in failed_item_indices has failed regardless of its bits.
 * @returns each image, or its error
 * @throws SvcError `image_payload_invalid` for an unreadable payload with an unknown number of images, or a payload of
 *   another codec
 */
export function readImagePayload(
  bits: Uint8Array,
  metadata: JsonObject,
  codec: PayloadCodec,
): (ImagePayloadItem | SvcError)[] {
  const named = metadataText(metadata, "codec") ?? codec;
  if (named !== codec) {
    throw new SvcError("image_payload_invalid", `Cannot read a payload of the codec ${named} as ${codec}`);
  }
  const format = metadataText(metadata, "wire_format") as WireFormat | undefined;
  const trusted = trustedShape(metadata);
  const shapes = trusted === undefined ? undefined : Array.from(
    { length: trusted.count },
    (_, index): ImageShape => ({ ...sizeAt(trusted, index), channels: trusted.channels }),
  );
  const counts = metadataCounts(metadata, "item_bit_counts") ?? metadataCounts(metadata, "source_item_counts");
  const failed = new Set(metadataCounts(metadata, "failed_item_indices"));
  const lost = new SvcError("image_payload_invalid", "Cannot read an image that the link lost");
  if (format === "compact_binary_v1" && shapes !== undefined && counts?.length === shapes.length) {
    let start = 0;
    return shapes.map((shape, index) => {
      const item = wholeBytes(bits.subarray(start, start += counts[index]));
      if (failed.has(index)) return lost;
      const header = itemOverheadBytes(index);
      return item.length <= header ? damaged("an image is truncated") : { ...shape, data: item.subarray(header) };
    });
  }
  if (failed.size > 0) {
    if (shapes === undefined) throw lost;
    return shapes.map(() => lost);
  }
  const length = counts?.reduce((sum, count) => sum + count, 0) ?? bits.length;
  return unpackImagePayload(wholeBytes(bits.subarray(0, length)), { codec, format, shapes });
}

function wholeBytes(bits: Uint8Array): Uint8Array {
  return packBits(bits.subarray(0, bits.length - bits.length % 8));
}

/** Number and sizes of a payload's images by its trusted metadata; undefined without them. */
export function trustedShape(metadata: JsonObject): ImageShapes | undefined {
  const stated = ["image_count", "image_height", "image_width", "image_channels"]
    .map((key) => metadataNumber(metadata, key));
  if (stated.includes(undefined)) return undefined;
  const [count, height, width, channels] = stated as number[];
  const { image_sizes: listed } = metadata;
  const sizes = Array.isArray(listed) ? listed.map((size) => Array.isArray(size) ? size.map(Number) : []) : undefined;
  const possible = [...stated, ...(sizes ?? []).flat()].every((size) => Number.isSafeInteger(size) && size! > 0) &&
    (listed === undefined || (sizes?.length === count && sizes.every(({ length }) => length === 2)));
  if (!possible) {
    throw new SvcError("boundary_shape_invalid", "Cannot use the image sizes in the metadata of a payload");
  }
  if (sizes === undefined) return { count, height, width, channels };
  return imageForm(sizes.map(([height, width]) => ({ height, width })), { channels });
}
