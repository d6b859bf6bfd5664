/**
 * Files of a conventional image codec in a payload: budget, container, metadata and metrics of the encoders, treatment of
 * lost images of the decoders.
 *
 * A budget replaces the quality: `target_bpp` B gives an image of H by W pixels floor(B·H·W) bits, and
 * `channel_uses_per_pixel` u with m bits per symbol and code rate R gives floor(floor(u·H·W)·m·R). The largest quality
 * whose source item (file, its 9 bytes in the container, and 8 more of the first image) fits is taken, per image.
 */
import {
  type Cancellation,
  dataPlaneParameter,
  type InputArtifact,
  type JsonObject,
  type Surroundings,
  SvcError,
  z,
} from "./api.ts";
import { artifactKind, IMAGES, PAYLOAD_BITS, PAYLOAD_OR_BITS } from "../lib/contract/kinds.ts";
import {
  IMAGE_PAYLOAD_METADATA,
  type ImagePayloadItem,
  imagePayloadMetadata,
  itemOverheadBytes,
  packImagePayload,
  PAYLOAD_KEYS,
  type PayloadCodec,
  readImagePayload,
  trustedShape,
} from "../lib/artifact/image_payload.ts";
import type { JpegImage } from "../lib/artifact/jpeg/encoder.ts";
import type { QualityCodec } from "../lib/artifact/within_budget.ts";
import {
  BIT_METADATA,
  bitsArtifact,
  bitsOf,
  imageForm,
  imagesArtifact,
  type ImageShapes,
  imagesOf,
  pixelsOf,
  travel,
} from "../lib/artifact/values.ts";
import { unpackBits } from "../lib/numeric/array/bit_packing.ts";
import { BITS_PER_SYMBOL } from "../lib/numeric/link/modulations.ts";
import { quantile } from "../lib/numeric/scores/statistics.ts";
import { notExported } from "./_backends.ts";
import {
  DELIVERED_IMAGES,
  DELIVERY_KEYS,
  deliveryMetadata,
  ImageBatchWriter,
  JPEG_STREAM_PARAMS,
  jpegImageAt,
} from "./_jpeg_images.ts";

/** A parameter that a budget replaces. */
export const WITHOUT_BUDGET = { "x-svc-ui": { unused_with: ["target_bpp", "channel_uses_per_pixel"] } };
const OF_CHANNEL_USES = { "x-svc-ui": { used_with: ["channel_uses_per_pixel"] } };

/** Parameters of every encoder: budget and container. */
export const BUDGET_PARAMS = {
  target_bpp: z.number().positive().optional()
    .describe("budget in payload bits per pixel of each image, container included"),
  channel_uses_per_pixel: z.number().positive().optional()
    .describe("budget in complex channel uses per pixel of each image, by modulation and code_rate"),
  modulation: z.enum(["bpsk", "qpsk", "qam16", "qam64"]).default("qpsk").meta(OF_CHANNEL_USES)
    .describe("modulation of the link, for channel_uses_per_pixel"),
  code_rate: z.number().positive().max(1).default(0.5).meta(OF_CHANNEL_USES)
    .describe("payload bits per transmitted bit, framing and padding included, for channel_uses_per_pixel"),
  fill_budget: z.boolean().default(false).describe("fill bytes make every image take the whole budget"),
  wire_format: z.enum(["safe_json_base64", "compact_binary_v1"]).default("safe_json_base64")
    .describe("container of the files; with compact_binary_v1 every image is a source item; a budget needs it"),
  data_plane_backend: dataPlaneParameter(),
};

/** Parameter of encoders with a budget. */
export const HALF_SIZE = JPEG_STREAM_PARAMS.half_size;

export const WEBP_ENTROPY = {
  algorithm: "VP8 boolean arithmetic coding",
  coder: "arithmetic",
  fact: "Lossy WebP: one VP8 key frame with probabilities fitted to the image",
};

export const AVIF_ENTROPY = {
  algorithm: "AV1 multi-symbol arithmetic coding",
  coder: "arithmetic",
  fact: "AVIF: one AV1 key frame with adaptive symbol probabilities",
};

export const DECODER_PARAMS = {
  on_error: z.enum(["fail", "zeros", "gray_image", "erasure", "report_outage"]).default("fail")
    .describe("treatment of a failed image: an error, black (zeros, erasure) or middle grey"),
  data_plane_backend: dataPlaneParameter(),
};

interface BudgetParams {
  target_bpp?: number;
  channel_uses_per_pixel?: number;
  modulation: keyof typeof BITS_PER_SYMBOL;
  code_rate: number;
  fill_budget: boolean;
  half_size: boolean;
  wire_format: "safe_json_base64" | "compact_binary_v1";
}

/** Contract of an encoder of files, apart from its name and parameters. */
export const IMAGE_ENCODER = {
  inputs: { images: [IMAGES] },
  outputs: { bits: artifactKind(PAYLOAD_BITS, { ...BIT_METADATA, ...IMAGE_PAYLOAD_METADATA }) },
  differentiability: notExported("numpy", "stop", "Quantisation and entropy coding"),
  outputMetadataGuarantees: { bits: { from: "images" } },
  timingMetric: "encoder.payload_encode",
  estimate: (params: BudgetParams, inputs: { readonly [port: string]: { shape?: readonly number[] } }) =>
    estimateBudget(params, inputs.images.shape),
  check: checkBudget,
} as const;

/** Contract of a decoder of files, apart from its name and parameters. */
export const IMAGE_DECODER = {
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { images: DELIVERED_IMAGES },
  differentiability: notExported("numpy", "stop", "Entropy decoding"),
  outputMetadataGuarantees: { images: { from: "bits" } },
  timingMetric: "decoder.payload_decode",
} as const;

/** Findings on parameters of a budget. */
function checkBudget(params: BudgetParams) {
  const problem = (place: string, message: string, hint: string) => [{ message, place: [place], hint }];
  const { target_bpp, channel_uses_per_pixel } = params;
  if (target_bpp !== undefined && channel_uses_per_pixel !== undefined) {
    return problem("target_bpp", "Cannot follow two budgets", "Give target_bpp or channel_uses_per_pixel");
  }
  if (target_bpp !== undefined || channel_uses_per_pixel !== undefined) {
    if (params.wire_format === "compact_binary_v1") return [];
    const hint = "Set wire_format to compact_binary_v1";
    return problem("wire_format", "Cannot give each image a budget: the JSON container is one source item", hint);
  }
  const needs = (["half_size", "fill_budget"] as const).find((name) => params[name]);
  if (needs === undefined) return [];
  return problem(needs, `Cannot use ${needs} without a budget`, "Set target_bpp or channel_uses_per_pixel");
}

/** Size of a payload that fills its budget. */
function estimateBudget(params: BudgetParams, shape: readonly number[] | undefined) {
  if (shape === undefined || !params.fill_budget) return {};
  const [count, height, width] = shape, budget = budgetBytes(params, height * width);
  return budget === undefined ? {} : { bits: [["uint8", 8 * count * budget] as const] };
}

/** Bytes of each source item; undefined without a budget. */
function budgetBytes(params: BudgetParams, pixels: number): number | undefined {
  const { target_bpp, channel_uses_per_pixel, modulation, code_rate } = params;
  if (target_bpp !== undefined) return Math.floor(Math.floor(target_bpp * pixels) / 8);
  if (channel_uses_per_pixel === undefined) return undefined;
  const uses = Math.floor(channel_uses_per_pixel * pixels);
  return Math.floor(Math.floor(uses * BITS_PER_SYMBOL[modulation] * code_rate) / 8);
}

/** One codec, by its operation's parameters. */
interface ImageEncoder {
  readonly codec: Exclude<PayloadCodec, "codeclib">;
  /** The file of the operation's quality. */
  encode(image: JpegImage, index: number): Uint8Array | Promise<Uint8Array>;
  /** The best file of at most `limit` bytes. */
  fit(image: JpegImage, index: number, limit: number): Fitting | undefined | Promise<Fitting | undefined>;
  /** Appends bytes that a decoder skips. */
  fill(file: Uint8Array, length: number): Uint8Array;
  readonly metadata?: JsonObject;
}

interface Fitting {
  readonly quality: number;
  readonly bytes: Uint8Array;
}

/** Zero bytes behind a file. */
function zeroFilled(file: Uint8Array, length: number): Uint8Array {
  const whole = new Uint8Array(length);
  whole.set(file);
  return whole;
}

/** A codec of other projects as encoder of an operation with a quality of 0 to 100. */
export async function fileEncoder(
  params: { quality: number; half_size: boolean },
  cancellation: Cancellation,
  { codec, ...coder }: Pick<ImageEncoder, "codec"> & Pick<QualityCodec, "encode" | "decode">,
): Promise<ImageEncoder> {
  const { bestOfCodec } = await import("../lib/artifact/within_budget.ts");
  const search = {
    codec: { ...coder, minimum_quality: 0, maximum_quality: 100 },
    half_size: params.half_size,
    checkpoint: () => cancellation.throwIfCancelled(),
  };
  return {
    codec,
    encode: (image) => coder.encode(image, params.quality, false),
    fit: (image, _, limit) => bestOfCodec(image, limit, search),
    fill: zeroFilled,
  };
}

/** Images to payload bits. */
export async function encodeImages(
  input: InputArtifact,
  params: BudgetParams,
  encoder: ImageEncoder,
  { progress, cancellation }: Surroundings,
) {
  const batch = imagesOf(input), { count, channels } = batch, { codec } = encoder;
  const hasBudget = budgetBytes(params, 1) !== undefined;
  const qualities: (number | null)[] = [], items: ImagePayloadItem[] = [];
  let fileBytes = 0;
  for (let index = 0; index < count; index++) {
    cancellation.throwIfCancelled();
    const image = jpegImageAt(batch, index), { height, width } = image;
    const budget = budgetBytes(params, height * width);
    let data: Uint8Array;
    if (budget === undefined) {
      data = await encoder.encode(image, index);
      fileBytes += data.length;
    } else {
      const limit = budget - itemOverheadBytes(index);
      const found = await encoder.fit(image, index, limit);
      qualities.push(found?.quality ?? null);
      fileBytes += found?.bytes.length ?? 0;
      data = found?.bytes ?? new Uint8Array();
      if (params.fill_budget) data = encoder.fill(data, Math.max(0, limit));
    }
    progress(index + 1, count, { phase: "encode", unit: "images" });
    items.push({ height, width, channels, data });
  }
  const { bytes, itemByteCounts } = packImagePayload(items, codec, params.wire_format);
  const bits = unpackBits(bytes);
  const selected = qualities.filter((quality) => quality !== null);
  const metadata = travel(input.metadata, {
    ...imagePayloadMetadata(batch, codec, params.wire_format, itemByteCounts),
    image_dtype: batch.dtype,
    ...encoder.metadata,
    ...(!hasBudget ? {} : { selected_qualities: qualities }),
  }, DELIVERY_KEYS);
  const pixels = pixelsOf(batch);
  return {
    outputs: { bits: bitsArtifact(bits, metadata, "payload.bits") },
    metrics: {
      ...(!hasBudget ? {} : { [`codec.${codec}.unfit_count`]: BigInt(count - selected.length) }),
      ...(selected.length === 0 ? {} : {
        [`codec.${codec}.selected_quality_mean`]: selected.reduce((sum, quality) => sum + quality, 0) /
          selected.length,
        [`codec.${codec}.selected_quality_min`]: quantile(selected, 0),
        [`codec.${codec}.selected_quality_max`]: quantile(selected, 1),
      }),
      "codec.bit_count": BigInt(bits.length),
      "codec.native_bit_count": BigInt(fileBytes * 8),
      "codec.native_bytes": BigInt(fileBytes),
      "codec.bytes": BigInt(bytes.length),
      "rate.native_codec_bpp": fileBytes * 8 / pixels,
      "rate.serialized_payload_bpp": bits.length / pixels,
      "rate.payload_bpp": bits.length / pixels,
    },
  };
}

/**
 * Payload bits to images.
 * @param decode one file; one that it cannot read is damaged
 */
export async function decodeImages(
  input: InputArtifact,
  { on_error }: { on_error: "fail" | "zeros" | "gray_image" | "erasure" | "report_outage" },
  { codec, decode }: {
    codec: ImageEncoder["codec"];
    decode(bytes: Uint8Array, shape: Omit<JpegImage, "data">): JpegImage | Promise<JpegImage>;
  },
  { progress, cancellation }: Surroundings,
) {
  const { metadata } = input, shape = trustedShape(metadata);
  const items = readImagePayload(bitsOf(input), metadata, codec);
  const decoded: (JpegImage | SvcError)[] = [];
  for (const [index, item] of items.entries()) {
    cancellation.throwIfCancelled();
    const image = item instanceof SvcError ? item : await decodeItem(item, decode);
    // Without a trusted size no substitute image can be made.
    if (image instanceof SvcError && (on_error === "fail" || shape === undefined)) throw image;
    progress(index + 1, items.length, { phase: "decode", unit: "images" });
    decoded.push(image);
  }
  const dtype = metadata.image_dtype === "float32" ? "float32" : "uint8";
  const writer = new ImageBatchWriter({ ...shape ?? shapesOf(decoded as JpegImage[]), dtype });
  const black = on_error === "zeros" || on_error === "erasure";
  decoded.forEach((image, index) => {
    if (image instanceof SvcError) writer.fill(index, black ? "zeros" : "grey");
    else writer.write(index, image.data);
  });
  const delivered = decoded.map((image) => !(image instanceof SvcError));
  const kept = travel(metadata, { ...deliveryMetadata(delivered), on_error }, [...PAYLOAD_KEYS, "image_dtype"]);
  return { outputs: { images: imagesArtifact(writer.batch, kept) } };
}

/** Decodes one file; one of another size than expected is damaged. */
async function decodeItem(
  item: ImagePayloadItem,
  decode: (bytes: Uint8Array, shape: Omit<JpegImage, "data">) => JpegImage | Promise<JpegImage>,
): Promise<JpegImage | SvcError> {
  try {
    const { width, height, channels } = item;
    const image = await decode(item.data, { width, height, channels: channels === 1 ? 1 : 3 });
    if (image.height === height && image.width === width && image.channels === channels) return image;
    return new SvcError("image_payload_invalid", "Cannot use a decoded image: its size differs from the metadata");
  } catch (error) {
    if (error instanceof SvcError && error.code !== "runtime_unavailable") return error;
    throw error;
  }
}

/** The sizes of images without them in the metadata; then every image must have arrived. */
function shapesOf(images: readonly JpegImage[]): ImageShapes {
  if (images.length === 0) {
    throw new SvcError("boundary_empty", "Cannot form a batch from a payload without images");
  }
  const [{ channels }] = images;
  if (images.some((each) => each.channels !== channels)) {
    throw new SvcError("boundary_shape_invalid", "Cannot put grey and colour images into one batch");
  }
  return imageForm(images, { channels });
}
