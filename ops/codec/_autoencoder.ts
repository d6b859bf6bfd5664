/**
 * Image autoencoders from folders in the layout of the diffusers ONNX export:
 *
 *     vae_encoder/model.onnx   sample [1, 3, H, W] in -1 … 1 -> moments [1, 2C, h, w], means then log variances, or
 *                              latents [1, C, h, w]
 *     vae_decoder/model.onnx   latent_sample [1, C, h, w] -> sample [1, 3, H, W]
 *     codebook.npy             of a vector-quantised model: float32 [entry, C]
 *
 * Images of several sizes have latents [n], one image after the other, with their shapes in the metadata `latent_shapes`.
 * Samples v in 0 … 255 become v / 127.5 - 1. Grey images are repeated to three channels, and their channels averaged again.
 * A decoder uses only latents of the files that encoded them.
 *
 * Sources: Rombach et al., "High-resolution image synthesis with latent diffusion models", CVPR 2022; Esser et al., "Taming
 * transformers for high-resolution image synthesis", CVPR 2021 (vector-quantised).
 */
import {
  type InputArtifact,
  isObject,
  type JsonObject,
  type ModelRequest,
  type ModelSession,
  type NamedModel,
  sha256Json,
  type Surroundings,
  SvcError,
  usedWhen,
  z,
} from "../api.ts";
import { readNpy } from "../../lib/artifact/npy.ts";
import { imageShapeMetadata } from "../../lib/artifact/image_payload.ts";
import {
  imageAt,
  type ImageForm,
  imagesArtifact,
  imagesOf,
  metadataCounts,
  oneImage,
  pixelsOf,
  sizeAt,
  travel,
} from "../../lib/artifact/values.ts";
import { elementCount, type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { feedsOf, outputOf, realValues } from "../foundation/_named_tensors.ts";
import { pretrainedParams } from "../foundation/_pretrained.ts";
import { deliveryMetadata, ImageBatchWriter } from "../_jpeg_images.ts";
import { formOf, lostItems } from "../codeclib/_codeclib.ts";
import { planesOf } from "../joint_coding/_deepjscc.ts";

const ENCODER = "vae_encoder/model.onnx", DECODER = "vae_decoder/model.onnx", CODEBOOK = "codebook.npy";
/** Metadata key of the model of latents. */
const FACTS = "autoencoder";
/** Metadata key of the shapes [C, h, w] of the latents of images of several sizes. */
const SHAPES = "latent_shapes";
/** Metadata of the latents, all of which a decoder needs. */
export const LATENT_METADATA = [FACTS, "image_count", "image_height", "image_width", "image_channels"];

export function autoencoderParams(defaultModel: string) {
  const { model_id, model_revision, device } = pretrainedParams(defaultModel);
  return { model_id, revision: model_revision, device };
}

/** The model; both sides name the same files, so that the digest of their record is equal. */
export const autoencoderModel =
  (quantised: boolean) => ({ model_id, revision }: { model_id: string; revision: string }): ModelRequest[] => [{
    role: "autoencoder",
    id: model_id,
    revision,
    files: [ENCODER, DECODER, ...(quantised ? [CODEBOOK] : [])],
  }];

/** Latents [C, h, w] of one image, before scaling or quantisation. */
interface Coded {
  data: Float32Array;
  /** Log variances of the latents, where the graph has them. */
  logVariance: Float32Array | null;
  shape: readonly [channels: number, rows: number, columns: number];
}

/** The facts for a decoder; `more` are those that it must have in common with the encoder besides the files. */
function factsOf(model: NamedModel, more: JsonObject): JsonObject {
  const { id, files } = model.record;
  return { model: id, files_sha256: sha256Json(files), ...more };
}

/**
 * Encodes images.
 * @param code the transmitted part of the network's output
 * @param facts that a decoder must share
 */
export async function encodeBatch(
  input: InputArtifact,
  model: NamedModel,
  code: (coded: Coded) => Float32Array,
  { facts, progress, cancellation }: Surroundings & { facts: JsonObject },
) {
  const batch = imagesOf(input), { count, sizes } = batch, session = await model.open(ENCODER);
  const items: Float32Array[] = [], shapes: Coded["shape"][] = [];
  for (let index = 0; index < count; index++) {
    cancellation.throwIfCancelled();
    const { data: planes, shape } = planesOf(oneImage(batch, index));
    const sample = (planes as Float32Array).map((value) => 2 * value - 1);
    const coded = await analyse(session, ndarray("float32", sample, shape));
    shapes.push(coded.shape);
    items.push(code(coded));
    progress(index + 1, count, { phase: "encode", unit: "images" });
  }
  if (items.length === 0) throw new SvcError("boundary_empty", "Cannot encode a batch without images");
  const [shape] = shapes, data = new Float32Array(items.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const item of items) {
    data.set(item, at);
    at += item.length;
  }
  const metadata = travel(input.metadata, {
    [FACTS]: factsOf(model, facts),
    ...imageShapeMetadata(batch),
    image_dtype: batch.dtype,
    ...(sizes === undefined ? {} : { [SHAPES]: shapes.map((own) => [...own]) }),
    source_item_counts: items.map(({ length }) => length),
  });
  const array = ndarray("float32", data, sizes === undefined ? [count, ...shape] : [data.length]);
  return {
    outputs: { latents: { array, metadata } },
    metrics: { "codec.latents_per_pixel": data.length / pixelsOf(batch) },
    channels: shape[0],
  };
}

async function analyse(session: ModelSession, sample: NdArray): Promise<Coded> {
  const results = await session.run(feedsOf(session, { sample: () => sample }));
  const moments = ["latent_parameters", "moments"].some((name) => Object.hasOwn(results, name));
  const output = outputOf(results, ["latent_parameters", "moments", "latent_sample", "latents"]);
  const values = finite(realValues(output)), [batch, depth, rows, columns] = output.shape;
  const [, , height, width] = sample.shape;
  if (output.shape.length !== 4 || batch !== 1 || (moments && depth % 2 !== 0)) {
    throw new SvcError("model_unavailable", `Cannot use latents of shape [${output.shape.join(", ")}]`);
  }
  if (height % rows !== 0 || width % columns !== 0 || height / rows !== width / columns) {
    throw new SvcError("boundary_shape_invalid", `Cannot encode images of ${height} x ${width} pixels`, {
      hint: `The model gave ${rows} x ${columns} latents; crop the images to a multiple of its reduction`,
    });
  }
  const channels = moments ? depth / 2 : depth, half = channels * rows * columns;
  return {
    data: values.slice(0, half),
    logVariance: moments ? values.subarray(half) : null,
    shape: [channels, rows, columns],
  };
}

/**
 * Decodes latents; those of a lost or damaged image give a grey one.
 * @param prepare what the network gets
 * @throws SvcError `artifact_hash_mismatch` for latents of another model or other settings
 */
export async function decodeBatch(
  input: InputArtifact,
  model: NamedModel,
  prepare: (latents: Float32Array, shape: Coded["shape"]) => Float32Array,
  { facts, progress, cancellation }: Surroundings & { facts: JsonObject },
) {
  const wanted = factsOf(model, facts), stated = input.metadata[FACTS];
  if (!isObject(stated) || sha256Json(stated) !== sha256Json(wanted)) {
    throw new SvcError("artifact_hash_mismatch", "Cannot decode latents of another model or scaling", {
      hint: `They were made by ${JSON.stringify(stated ?? null)}, and the decoder has ${JSON.stringify(wanted)}`,
    });
  }
  const form = formOf(input), { count } = form, lost = lostItems(input);
  const array = input.array(), values = realValues(array), shapes = shapesOf(array.shape, form, input.metadata);
  const session = await model.open(DECODER);
  const writer = new ImageBatchWriter(form), delivered: boolean[] = [];
  let at = 0;
  for (const [index, shape] of shapes.entries()) {
    cancellation.throwIfCancelled();
    const { height, width } = sizeAt(form, index), own = values.slice(at, at += elementCount(shape));
    const usable = !lost.has(index) && own.every(Number.isFinite);
    delivered.push(usable);
    if (usable) {
      const latents = ndarray("float32", prepare(own, shape), [1, ...shape]);
      const sample = outputOf(await session.run(feedsOf(session, { latent_sample: () => latents })), ["sample"]);
      if (sample.shape.join() !== [1, 3, height, width].join()) {
        throw new SvcError("model_unavailable", `Cannot use images of shape [${sample.shape.join(", ")}]`, {
          hint: `[1, 3, ${height}, ${width}] was expected`,
        });
      }
      store(imageAt(writer.batch, index), finite(realValues(sample)), form.channels);
    } else writer.fill(index, "grey");
    progress(index + 1, count, { phase: "decode", unit: "images" });
  }
  const removed = [
    FACTS,
    SHAPES,
    "image_height",
    "image_width",
    "image_sizes",
    "image_dtype",
    "source_item_counts",
    "item_bit_counts",
  ];
  const metadata = travel(input.metadata, deliveryMetadata(delivered), removed);
  return { outputs: { images: imagesArtifact(writer.batch, metadata) } };
}

/** The shape of the latents of each image. */
export function shapesOf(
  shape: readonly number[],
  { count, sizes }: ImageForm,
  metadata: JsonObject,
): Coded["shape"][] {
  const stated = metadata[SHAPES], several = sizes !== undefined;
  const shapes = several
    ? (Array.isArray(stated) ? stated : []).map((own) => metadataCounts({ own }, "own") ?? [])
    : Array.from({ length: count }, () => shape.slice(1));
  const total = shapes.reduce((sum, own) => sum + elementCount(own), 0);
  const fits = several ? shape.length === 1 && shape[0] === total : shape[0] === count;
  if (fits && shapes.length === count && shapes.every(({ length }) => length === 3)) {
    return shapes as unknown as Coded["shape"][];
  }
  throw new SvcError("boundary_shape_invalid", `Cannot use latents [${shape.join(", ")}] of ${count} images`);
}

function finite(values: Float32Array): Float32Array {
  if (values.every(Number.isFinite)) return values;
  throw new SvcError("boundary_non_finite", "Cannot use a result of the model that is not finite");
}

/** Planes in -1 … 1 as samples, whole numbers rounded with halves to even. */
function store(target: Uint8Array | Float32Array, planes: Float32Array, channels: number): void {
  const pixels = planes.length / 3;
  const samples = target instanceof Uint8Array
    ? new Uint8ClampedArray(target.buffer, target.byteOffset, target.length)
    : target;
  const scale = target instanceof Uint8Array ? 255 : 1;
  for (let pixel = 0; pixel < pixels; pixel++) {
    const [red, green, blue] = [0, 1, 2].map((channel) => planes[channel * pixels + pixel] / 2 + 0.5);
    const values = channels === 1 ? [(red + green + blue) / 3] : [red, green, blue];
    values.forEach((value, channel) => samples[pixel * channels + channel] = Math.min(1, Math.max(0, value)) * scale);
  }
}

/** Parameters of the scaling of latents to about unit variance. */
export const SCALING = {
  scale_latents: z.boolean().default(true).describe("latents times scaling_factor, as diffusion models take them"),
  scaling_factor: z.number().positive().default(0.18215).describe("one over the standard deviation of the latents")
    .meta(usedWhen({ scale_latents: true })),
};

export const factorOf = ({ scale_latents, scaling_factor }: { scale_latents: boolean; scaling_factor: number }) =>
  scale_latents ? scaling_factor : 1;

export interface Codebook {
  /** Replaces each vector [C] of latents [C, h, w] by the nearest entry; of several the first. */
  nearest(latents: Float32Array, shape: Coded["shape"]): Float32Array;
  /** Index of the nearest entry of each vector [h, w]; of several the first. */
  indicesOf(latents: Float32Array, shape: Coded["shape"]): Int32Array;
  /** The entries of indices [h, w] as latents [C, h, w]. */
  entriesOf(indices: ArrayLike<number | bigint>): Float32Array;
  /** Channels of an entry. */
  readonly depth: number;
  readonly size: number;
}

/** Reads codebook.npy. @throws SvcError `model_unavailable` for another form than [entry, channel] */
export async function readCodebook(model: NamedModel): Promise<Codebook> {
  const array = readNpy(await model.read(CODEBOOK), CODEBOOK), entries = realValues(array);
  const [size, depth] = array.shape;
  if (array.shape.length !== 2 || size === 0 || !entries.every(Number.isFinite)) {
    throw new SvcError("model_unavailable", `Cannot use a codebook of shape [${array.shape.join(", ")}]`, {
      hint: "float32 [entry, channel] was expected, with finite values",
    });
  }
  const codebook: Codebook = {
    size,
    depth,
    nearest: (latents, shape) => codebook.entriesOf(codebook.indicesOf(latents, shape)),
    indicesOf(latents, [channels, rows, columns]) {
      if (channels !== depth) {
        throw new SvcError("model_unavailable", `Cannot quantise ${channels} channels by entries of ${depth}`);
      }
      const places = rows * columns;
      return Int32Array.from({ length: places }, (_, place) => {
        let best = 0, least = Infinity;
        for (let entry = 0; entry < size; entry++) {
          let distance = 0;
          for (let c = 0; c < channels && distance < least; c++) {
            distance += (latents[c * places + place] - entries[entry * channels + c]) ** 2;
          }
          if (distance < least) [best, least] = [entry, distance];
        }
        return best;
      });
    },
    entriesOf(indices) {
      const places = indices.length, result = new Float32Array(depth * places);
      for (let place = 0; place < places; place++) {
        const entry = Number(indices[place]);
        if (!(entry >= 0 && entry < size)) {
          throw new SvcError("boundary_value_invalid", `Cannot find the index ${entry} in a codebook of ${size}`);
        }
        for (let c = 0; c < depth; c++) result[c * places + place] = entries[entry * depth + c];
      }
      return result;
    },
  };
  return codebook;
}
