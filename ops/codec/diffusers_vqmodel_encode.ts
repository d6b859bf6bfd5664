/**
 * Images to latents by the encoder of a vector-quantised autoencoder: every vector of latents becomes the nearest entry of
 * the codebook in squared distance, of several the first.
 *
 * Metrics: rate of the entries' indices in bits per pixel at a fixed length, ⌈log2 size⌉ bits a vector.
 *
 * Shapes: images uint8 or float32 [N, H, W, C], C = 1 or 3 -> latents float32 [N, channel, h, w]. Model folder and sources:
 * _autoencoder.ts.
 */
import { defineOperation, z } from "../api.ts";
import { IMAGES, LATENTS } from "../../lib/contract/kinds.ts";
import { checkDevice } from "../foundation/_pretrained.ts";
import { autoencoderModel, autoencoderParams, encodeBatch, LATENT_METADATA, readCodebook } from "./_autoencoder.ts";

export default defineOperation({
  id: "model.diffusers_vqmodel_encode",
  name: "Images to VQ latents",
  description: "Encodes images as latents that are entries of a codebook",
  inputs: { images: [IMAGES] },
  outputs: { latents: LATENTS },
  params: z.strictObject(autoencoderParams("CompVis/ldm-celebahq-256")),
  outputMetadataGuarantees: { latents: { from: "images", keys: LATENT_METADATA } },
  timingMetric: "encoder.inference",
  threadSafe: true,
  check: checkDevice,
  models: autoencoderModel(true),
  async run({ inputs: { images }, model, progress, cancellation }) {
    const autoencoder = model("autoencoder"), codebook = await readCodebook(autoencoder);
    const { outputs, metrics } = await encodeBatch(
      images,
      autoencoder,
      ({ data, shape }) => codebook.nearest(data, shape),
      { facts: { codebook_size: codebook.size }, progress, cancellation },
    );
    const [, channels] = outputs.latents.array.shape;
    const bits = Math.ceil(Math.log2(codebook.size)) * metrics["codec.latents_per_pixel"] / channels;
    return { outputs, metrics: { ...metrics, "rate.native_codec_bpp": bits } };
  },
});
