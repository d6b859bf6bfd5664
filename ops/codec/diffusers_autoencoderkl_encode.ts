/**
 * Images to continuous latents by the encoder of a variational autoencoder: its mean μ, or a sample μ + exp(v/2)·n with
 * standard normal n and log variance v in -30 … 20; then times the scaling factor.
 *
 * Draws with `sample_mode: sample`, per image: standard normals in float64, in C order [channel, row, column].
 *
 * Shapes: images uint8 or float32 [N, H, W, C], C = 1 or 3 -> latents float32 [N, channel, h, w]. Model folder and sources:
 * _autoencoder.ts.
 */
import { defineOperation, seedParameter, SvcError, z } from "../api.ts";
import { IMAGES, LATENTS } from "../../lib/contract/kinds.ts";
import { checkDevice } from "../foundation/_pretrained.ts";
import {
  autoencoderModel,
  autoencoderParams,
  encodeBatch,
  factorOf,
  LATENT_METADATA,
  SCALING,
} from "./_autoencoder.ts";

export default defineOperation({
  id: "model.diffusers_autoencoderkl_encode",
  name: "Images to VAE latents",
  description: "Encodes images as continuous latents of a variational autoencoder",
  inputs: { images: [IMAGES] },
  outputs: { latents: LATENTS },
  params: z.strictObject({
    ...autoencoderParams("stabilityai/sd-vae-ft-mse"),
    sample_mode: z.enum(["mean", "sample"]).default("mean").describe("the mean of the latents, or a draw"),
    ...SCALING,
    seed: seedParameter(0),
  }),
  outputMetadataGuarantees: { latents: { from: "images", keys: LATENT_METADATA } },
  timingMetric: "encoder.inference",
  threadSafe: true,
  check: checkDevice,
  models: autoencoderModel(false),
  async run({ inputs: { images }, params, model, generator, progress, cancellation }) {
    const factor = factorOf(params);
    return await encodeBatch(images, model("autoencoder"), ({ data, logVariance }) => {
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
  },
});
