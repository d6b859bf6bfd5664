/**
 * Latents of `model.diffusers_vqmodel_encode` to images. Received vectors go to the nearest entry of the codebook first, so
 * that noise below half the distance of two entries has no effect; the model must be that of the encoder. Lost images
 * (failed_item_indices) and latents that are not finite become grey, and are reported as not delivered.
 *
 * Shapes: latents float32 [N, channel, h, w] -> images [N, H, W, C] of the size and sample type of the source. Model folder
 * and sources: _autoencoder.ts.
 */
import { defineOperation, z } from "../api.ts";
import { LATENTS } from "../../lib/contract/kinds.ts";
import { DELIVERED_IMAGES } from "../_jpeg_images.ts";
import { checkDevice } from "../foundation/_pretrained.ts";
import { autoencoderModel, autoencoderParams, decodeBatch, LATENT_METADATA, readCodebook } from "./_autoencoder.ts";

export default defineOperation({
  id: "model.diffusers_vqmodel_decode",
  name: "VQ latents to images",
  description: "Decodes latents by the codebook and decoder of a vector-quantised autoencoder",
  inputs: { latents: [LATENTS] },
  outputs: { images: DELIVERED_IMAGES },
  params: z.strictObject(autoencoderParams("CompVis/ldm-celebahq-256")),
  inputMetadataRequirements: { latents: { all_of: LATENT_METADATA } },
  outputMetadataGuarantees: { images: { from: "latents" } },
  timingMetric: "decoder.inference",
  threadSafe: true,
  check: checkDevice,
  models: autoencoderModel(true),
  async run({ inputs: { latents }, model, progress, cancellation }) {
    const autoencoder = model("autoencoder"), codebook = await readCodebook(autoencoder);
    const facts = { codebook_size: codebook.size };
    return await decodeBatch(latents, autoencoder, codebook.nearest, { facts, progress, cancellation });
  },
});
