/**
 * Latents of `model.diffusers_autoencoderkl_encode` to images; model and scaling must be those of the encoder. Lost images
 * (failed_item_indices) and latents that are not finite become grey, and are reported as not delivered.
 *
 * Shapes: latents float32 [N, channel, h, w] -> images [N, H, W, C] of the size and sample type of the source. Model folder
 * and sources: _autoencoder.ts.
 */
import { defineOperation, z } from "../api.ts";
import { LATENTS } from "../../lib/contract/kinds.ts";
import { DELIVERED_IMAGES } from "../_jpeg_images.ts";
import { checkDevice } from "../foundation/_pretrained.ts";
import {
  autoencoderModel,
  autoencoderParams,
  decodeBatch,
  factorOf,
  LATENT_METADATA,
  SCALING,
} from "./_autoencoder.ts";

export default defineOperation({
  id: "model.diffusers_autoencoderkl_decode",
  name: "VAE latents to images",
  description: "Decodes continuous latents of a variational autoencoder",
  inputs: { latents: [LATENTS] },
  outputs: { images: DELIVERED_IMAGES },
  params: z.strictObject({ ...autoencoderParams("stabilityai/sd-vae-ft-mse"), ...SCALING }),
  inputMetadataRequirements: { latents: { all_of: LATENT_METADATA } },
  outputMetadataGuarantees: { images: { from: "latents" } },
  timingMetric: "decoder.inference",
  threadSafe: true,
  check: checkDevice,
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
