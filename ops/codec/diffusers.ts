/**
 * Images to latents of pretrained autoencoders, and back. Model folders and sources: _autoencoder.ts.
 *
 * Shapes: images uint8 or float32 [N, H, W, C], C = 1 or 3 -> latents float32 [N, channel, h, w], or [n] of images of several
 * sizes -> images of the size and sample type of the source.
 */
import { defineOperation, seedParameter, SvcError, z } from "../api.ts";
import { IMAGES, INDICES, LATENTS } from "../../lib/contract/kinds.ts";
import { checkDevice } from "../foundation/_pretrained.ts";
import {
  autoencoderModel,
  autoencoderParams,
  decodeBatch,
  encodeBatch,
  factorOf,
  LATENT_METADATA,
  readCodebook,
  SCALING,
  shapesOf,
} from "./_autoencoder.ts";
import { sourceItemCounts, travel } from "../../lib/artifact/values.ts";
import { elementCount, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { formOf } from "../codeclib/_codeclib.ts";
import { realValues } from "../foundation/_named_tensors.ts";
import { DELIVERED_IMAGES } from "../_jpeg_images.ts";

const ENCODER = {
  inputs: { images: [IMAGES] },
  outputs: { latents: LATENTS },
  outputMetadataGuarantees: { latents: { from: "images", keys: LATENT_METADATA } },
  timingMetric: "encoder.inference" as const,
  check: checkDevice,
};

/** Lost images (failed_item_indices) and latents that are not finite become grey, and are reported as not delivered. */
const DECODER = {
  inputs: { latents: [LATENTS] },
  outputs: { images: DELIVERED_IMAGES },
  inputMetadataRequirements: { latents: { all_of: LATENT_METADATA } },
  outputMetadataGuarantees: { images: { from: "latents" } },
  timingMetric: "decoder.inference" as const,
  check: checkDevice,
};

/**
 * Images to continuous latents by the encoder of a variational autoencoder: its mean μ, or a sample μ + exp(v/2)·n with
 * standard normal n and log variance v in -30 … 20; then times the scaling factor.
 *
 * Draws with `sample_mode: sample`, per image: standard normals in float64, in C order [channel, row, column].
 */
const vaeEncode = defineOperation({
  id: "model.diffusers_autoencoderkl_encode",
  name: "Images to VAE latents",
  description: "Encodes images as continuous latents of a variational autoencoder",
  ...ENCODER,
  params: z.strictObject({
    ...autoencoderParams("stabilityai/sd-vae-ft-mse"),
    sample_mode: z.enum(["mean", "sample"]).default("mean").describe("the mean of the latents, or a draw"),
    ...SCALING,
    seed: seedParameter(0, { sample_mode: "sample" }),
  }),
  models: autoencoderModel(false),
  async run({ inputs: { images }, params, model, generator, progress, cancellation }) {
    const factor = factorOf(params);
    const { outputs, metrics } = await encodeBatch(images, model("autoencoder"), ({ data, logVariance }) => {
      if (params.sample_mode === "mean") return data.map((value) => value * factor);
      if (logVariance === null) {
        throw new SvcError("model_unavailable", "Cannot draw latents: the encoder gives no variances", {
          hint: "Set sample_mode: mean, or export the encoder with its latent_parameters",
        });
      }
      const noise = generator.standardNormal(data.length);
      return data.map((mean, i) => {
        const deviation = Math.exp(Math.min(20, Math.max(-30, logVariance[i])) / 2);
        return (mean + deviation * noise[i]) * factor;
      });
    }, { facts: { scaling_factor: factor }, progress, cancellation });
    return { outputs, metrics };
  },
});

/** Latents of `model.diffusers_autoencoderkl_encode` to images; model and scaling must be those of the encoder. */
const vaeDecode = defineOperation({
  id: "model.diffusers_autoencoderkl_decode",
  name: "VAE latents to images",
  description: "Decodes continuous latents of a variational autoencoder",
  ...DECODER,
  params: z.strictObject({ ...autoencoderParams("stabilityai/sd-vae-ft-mse"), ...SCALING }),
  models: autoencoderModel(false),
  async run({ inputs: { latents }, params, model, progress, cancellation }) {
    const factor = factorOf(params);
    return await decodeBatch(latents, model("autoencoder"), (own) => own.map((value) => value / factor), {
      facts: { scaling_factor: factor },
      progress,
      cancellation,
    });
  },
});

/**
 * Images to latents by the encoder of a vector-quantised autoencoder: every vector of latents becomes the nearest entry of
 * the codebook in squared distance, of several the first.
 *
 * Metrics: rate of the entries' indices in bits per pixel at a fixed length, ⌈log2 size⌉ bits a vector.
 */
const vqEncode = defineOperation({
  id: "model.diffusers_vqmodel_encode",
  name: "Images to VQ latents",
  description: "Encodes images as latents that are entries of a codebook",
  ...ENCODER,
  params: z.strictObject(autoencoderParams("CompVis/ldm-celebahq-256")),
  models: autoencoderModel(true),
  async run({ inputs: { images }, model, progress, cancellation }) {
    const autoencoder = model("autoencoder"), codebook = await readCodebook(autoencoder);
    const { outputs, metrics, channels } = await encodeBatch(
      images,
      autoencoder,
      ({ data, shape }) => codebook.nearest(data, shape),
      { facts: { codebook_size: codebook.size }, progress, cancellation },
    );
    const bits = Math.ceil(Math.log2(codebook.size)) * metrics["codec.latents_per_pixel"] / channels;
    return { outputs, metrics: { ...metrics, "rate.native_codec_bpp": bits } };
  },
});

/**
 * Latents of `model.diffusers_vqmodel_encode` to images. Received vectors go to the nearest entry of the codebook first, so
 * that noise below half the distance of two entries has no effect; the model must be that of the encoder.
 */
const vqDecode = defineOperation({
  id: "model.diffusers_vqmodel_decode",
  name: "VQ latents to images",
  description: "Decodes latents by the codebook and decoder of a vector-quantised autoencoder",
  ...DECODER,
  params: z.strictObject(autoencoderParams("CompVis/ldm-celebahq-256")),
  models: autoencoderModel(true),
  async run({ inputs: { latents }, model, progress, cancellation }) {
    const autoencoder = model("autoencoder"), codebook = await readCodebook(autoencoder);
    const facts = { codebook_size: codebook.size };
    return await decodeBatch(latents, autoencoder, codebook.nearest, { facts, progress, cancellation });
  },
});

/**
 * Latents of `model.diffusers_vqmodel_encode` to the indices of their codebook entries, the tokens of the images. Indices name the
 * entries in the order of codebook.npy.
 *
 * Shapes: latents [N, C, h, w] -> indices int32 [N, h, w]; of images of several sizes [n] -> [n / C].
 */
const vqIndices = defineOperation({
  id: "model.vq_latents_to_indices",
  name: "VQ latents to indices",
  description: "Names the codebook entry of each latent vector by its index",
  inputs: { latents: [LATENTS] },
  outputs: { indices: INDICES },
  inputMetadataRequirements: { latents: { all_of: LATENT_METADATA } },
  outputMetadataGuarantees: { indices: { from: "latents", keys: [...LATENT_METADATA, "codebook_size"] } },
  check: checkDevice,
  params: z.strictObject(autoencoderParams("CompVis/ldm-celebahq-256")),
  models: autoencoderModel(true),
  async run({ inputs: { latents: input }, model, cancellation }) {
    const codebook = await readCodebook(model("autoencoder")), array = input.array();
    const values = realValues(array), shapes = shapesOf(array.shape, formOf(input), input.metadata);
    const items: Int32Array[] = [];
    let at = 0;
    for (const shape of shapes) {
      cancellation.throwIfCancelled();
      items.push(codebook.indicesOf(values.slice(at, at += elementCount(shape)), shape));
    }
    const indices = new Int32Array(items.flatMap((item) => [...item]));
    const [count, , ...places] = array.shape;
    const metadata = travel(input.metadata, {
      codebook_size: codebook.size,
      source_item_counts: items.map(({ length }) => length),
    });
    return {
      outputs: {
        indices: {
          array: ndarray("int32", indices, places.length > 0 ? [count, ...places] : [indices.length]),
          metadata,
        },
      },
    };
  },
});

/** Indices of `model.vq_latents_to_indices` to the latents that they name; the model must be that of the encoder. */
const vqLatents = defineOperation({
  id: "model.vq_indices_to_latents",
  name: "Indices to VQ latents",
  description: "Rebuilds latents from the indices of codebook entries",
  inputs: { indices: [INDICES] },
  outputs: { latents: LATENTS },
  inputMetadataRequirements: { indices: { all_of: LATENT_METADATA } },
  outputMetadataGuarantees: { latents: { from: "indices", keys: LATENT_METADATA } },
  check: checkDevice,
  params: z.strictObject(autoencoderParams("CompVis/ldm-celebahq-256")),
  models: autoencoderModel(true),
  async run({ inputs: { indices: input }, model }) {
    const codebook = await readCodebook(model("autoencoder")), { data, shape } = input.array();
    const counts = sourceItemCounts(input.metadata, data.length);
    if (counts === undefined) {
      throw new SvcError("boundary_count_mismatch", `Cannot divide ${data.length} indices among images`, {
        hint: "Wire indices of model.vq_latents_to_indices, directly or after transport",
      });
    }
    const latents = new Float32Array(codebook.depth * data.length);
    let at = 0;
    for (const count of counts) {
      latents.set(codebook.entriesOf((data as Int32Array).subarray(at, at + count)), codebook.depth * at);
      at += count;
    }
    const [images, ...places] = shape;
    const metadata = travel(input.metadata, {
      source_item_counts: counts.map((count) => codebook.depth * count),
    }, ["codebook_size"]);
    const form = places.length > 0 ? [images, codebook.depth, ...places] : [latents.length];
    return { outputs: { latents: { array: ndarray("float32", latents, form), metadata } } };
  },
});

export default [vaeEncode, vaeDecode, vqEncode, vqDecode, vqIndices, vqLatents];
