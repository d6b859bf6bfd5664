/** Steps of the learned-codec operations for batches, with a selected model or a bundle. */
import {
  type InputArtifact,
  type JsonObject,
  type Metrics,
  type OutputArtifact,
  type Surroundings,
  SvcError,
  z,
} from "../api.ts";
import {
  type ImagePayloadItem,
  imagePayloadMetadata,
  imageShapeMetadata,
  packImagePayload,
  PAYLOAD_KEYS,
  readImagePayload,
  type WireFormat,
} from "../../lib/artifact/image_payload.ts";
import {
  bitsArtifact,
  bitsOf,
  formAt,
  imageAt,
  type ImageBatch,
  imagesArtifact,
  type ImageShapes,
  imagesOf,
  pixelsOf,
  sizeAt,
  travel,
} from "../../lib/artifact/values.ts";
import { unpackBits } from "../../lib/numeric/array/bit_packing.ts";
import { DELIVERY_KEYS, deliveryMetadata, ImageBatchWriter } from "../_jpeg_images.ts";
import { type CodecFacts, FACTS, factsOf, formOf, joinLatents, latentsOf, lostItems } from "./_codeclib.ts";
import { Codec, type Latents } from "./_codeclib_codec.ts";

export const INFERENCE = { benchmark_run: ["python"], dataset_capture: ["python"] };

export const FAIL_OR_ZEROS = z.enum(["fail", "zeros"]).default("fail")
  .describe("treatment of a failed image: an error, or zeros");

/** Metadata of every payload. */
export const PAYLOAD_GUARANTEE = [
  "boundary_contract",
  "bit_count",
  "codec",
  FACTS,
  "wire_format",
  "image_count",
  "image_height",
  "image_width",
  "image_channels",
  "source_item_counts",
];

type Analysis = Pick<CodecFacts, "quality" | "metric" | "pad_to_multiple">;

function madeBy(codec: Codec, batch: ImageBatch, { quality, metric, pad_to_multiple }: Analysis): JsonObject {
  const { tables: { model }, stateSha256 } = codec;
  return {
    [FACTS]: { model, metric, quality, pad_to_multiple, model_state_sha256: stateSha256 },
    ...imageShapeMetadata(batch),
    image_dtype: batch.dtype,
  };
}

/** Calls a function for each image, with progress and cancellation. */
async function forEachPicture<T>(
  count: number,
  phase: string,
  { progress, cancellation }: Surroundings,
  work: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  for (let index = 0; index < count; index++) {
    cancellation.throwIfCancelled();
    results.push(await work(index));
    progress(index + 1, count, { phase, unit: "images" });
  }
  return results;
}

export async function analyseBatch(
  codec: Codec,
  images: InputArtifact,
  options: Analysis & { quantize: boolean },
  surroundings: Surroundings,
): Promise<{ outputs: { latents: OutputArtifact } }> {
  const batch = imagesOf(images);
  const items = await forEachPicture(
    batch.count,
    "analyse",
    surroundings,
    (index) => codec.analyse(batch, index, options.quality, options.pad_to_multiple),
  );
  const array = joinLatents(items, codec.tables.latentChannels, batch), data = array.data as Float32Array;
  if (options.quantize) data.forEach((value, at) => data[at] = Math.round(value) + 0);
  const facts = { ...madeBy(codec, batch, options), latents_quantized: options.quantize };
  const metadata = travel(images.metadata, facts, DELIVERY_KEYS);
  return { outputs: { latents: { array, metadata } } };
}

export async function synthesiseBatch(
  codec: Codec,
  input: InputArtifact,
  onError: "fail" | "zeros",
  surroundings: Surroundings,
) {
  const form = formOf(input), { quality } = factsOf(input), lost = lostItems(input);
  const items = latentsOf(input, codec), writer = new ImageBatchWriter(form);
  const delivered = await forEachPicture(form.count, "synthesise", surroundings, async (index) => {
    const why = lost.has(index)
      ? "it was lost in transmission"
      : items[index].data.every(Number.isFinite)
      ? null
      : "its latents are not finite";
    if (why === null) {
      imageAt(writer.batch, index).set((await codec.synthesise(items[index], quality, formAt(form, index))).data);
    } else if (onError === "fail") {
      throw new SvcError("boundary_value_invalid", `Cannot decode image ${index}: ${why}`, {
        hint: "Set on_error: zeros to get black images instead",
      });
    }
    return why === null;
  });
  const kept = travel(input.metadata, { ...deliveryMetadata(delivered), on_error: onError }, [
    ...PAYLOAD_KEYS,
    ...LATENT_KEYS,
    "image_dtype",
  ]);
  return { outputs: { images: imagesArtifact(writer.batch, kept) } };
}

/** Metadata that describe latents and do not apply to their images. */
const LATENT_KEYS = ["latents_quantized"];

export async function entropyEncodeBatch(codec: Codec, input: InputArtifact, surroundings: Surroundings) {
  const form = formOf(input), facts = factsOf(input);
  const items = latentsOf(input, codec);
  const coded = await forEachPicture(
    form.count,
    "encode",
    surroundings,
    (index) => codec.encode(items[index], facts.quality),
  );
  const removed = [...DELIVERY_KEYS, ...LATENT_KEYS];
  return payload(coded, form, travel(input.metadata, {}, removed), "compact_binary_v1");
}

export async function encodeBatch(
  codec: Codec,
  images: InputArtifact,
  options: Analysis & { wire_format: WireFormat },
  surroundings: Surroundings,
) {
  const batch = imagesOf(images), { quality, pad_to_multiple } = options;
  const coded = await forEachPicture(
    batch.count,
    "encode",
    surroundings,
    async (index) => codec.encode(await codec.analyse(batch, index, quality, pad_to_multiple), quality),
  );
  const metadata = travel(images.metadata, madeBy(codec, batch, options), DELIVERY_KEYS);
  return payload(coded, batch, metadata, options.wire_format);
}

function payload(
  coded: readonly Uint8Array[],
  shape: ImageShapes,
  metadata: JsonObject,
  wireFormat: WireFormat,
): { outputs: { bits: OutputArtifact }; metrics: Metrics } {
  const { channels } = shape;
  const items = coded.map((data, index): ImagePayloadItem => ({ ...sizeAt(shape, index), channels, data }));
  const { bytes, itemByteCounts } = packImagePayload(items, "codeclib", wireFormat);
  const bits = unpackBits(bytes), pixels = pixelsOf(shape);
  const nativeBits = coded.reduce((sum, { length }) => sum + 8 * length, 0);
  const described = { ...metadata, ...imagePayloadMetadata(shape, "codeclib", wireFormat, itemByteCounts) };
  return {
    outputs: { bits: bitsArtifact(bits, described, "payload.bits") },
    metrics: {
      "codec.bit_count": BigInt(bits.length),
      "codec.native_bit_count": BigInt(nativeBits),
      "codec.bytes": BigInt(bytes.length),
      "rate.native_codec_bpp": nativeBits / pixels,
      "rate.serialized_payload_bpp": bits.length / pixels,
      "rate.payload_bpp": bits.length / pixels,
    },
  };
}

/** The latents of every image of a payload, or the reason why there are none. */
async function latentsOfPayload(
  codec: Codec,
  input: InputArtifact,
  onError: string,
  surroundings: Surroundings,
): Promise<(Latents | SvcError)[]> {
  const form = formOf(input), facts = factsOf(input);
  const items = readImagePayload(bitsOf(input), input.metadata, "codeclib");
  return await forEachPicture(form.count, "decode", surroundings, async (index) => {
    const item = items[index];
    const latents = item instanceof SvcError
      ? item
      : await codec.decode(item.data, sizeAt(form, index), facts).catch(keep);
    if (latents instanceof SvcError && onError === "fail") throw latents;
    return latents;
  });
}

/** A damaged image is a result, any other error is thrown. */
function keep(error: unknown): SvcError {
  if (error instanceof SvcError && error.code === "image_payload_invalid") return error;
  throw error;
}

/** Payload bits to latents; those of a failed image are zeros. */
export async function entropyDecodeBatch(
  codec: Codec,
  input: InputArtifact,
  onError: "fail" | "zeros",
  surroundings: Surroundings,
): Promise<{ outputs: { latents: OutputArtifact } }> {
  const form = formOf(input), { pad_to_multiple } = factsOf(input);
  const decoded = await latentsOfPayload(codec, input, onError, surroundings);
  const latents = decoded.map((each, index) =>
    each instanceof SvcError ? codec.zeros(sizeAt(form, index), pad_to_multiple) : each
  );
  const array = joinLatents(latents, codec.tables.latentChannels, form);
  const delivered = decoded.map((each) => !(each instanceof SvcError));
  const metadata = travel(input.metadata, { ...deliveryMetadata(delivered), on_error: onError }, PAYLOAD_KEYS);
  return { outputs: { latents: { array, metadata: { ...metadata, ...imageShapeMetadata(form) } } } };
}

export async function decodeBatch(codec: Codec, input: InputArtifact, onError: string, surroundings: Surroundings) {
  const form = formOf(input), { quality } = factsOf(input);
  const decoded = await latentsOfPayload(codec, input, onError, surroundings);
  const writer = new ImageBatchWriter(form);
  const black = onError === "zeros" || onError === "erasure";
  for (const [index, latents] of decoded.entries()) {
    if (latents instanceof SvcError) writer.fill(index, black ? "zeros" : "grey");
    else imageAt(writer.batch, index).set((await codec.synthesise(latents, quality, formAt(form, index))).data);
  }
  const delivered = decoded.map((each) => !(each instanceof SvcError));
  const kept = travel(input.metadata, { ...deliveryMetadata(delivered), on_error: onError }, [
    ...PAYLOAD_KEYS,
    "image_dtype",
  ]);
  return { outputs: { images: imagesArtifact(writer.batch, kept) } };
}
