/**
 * Latents of a learned codec to payload bits: hyper latents, then the rounded distance of each latent from its mean, by
 * one range coder per image. The container is compact_binary_v1: every image is a source item.
 *
 * Model, metric and quality must be those of the latents.
 *
 * Shapes: latents float32 [N, channel, h, w] -> bits, eight a byte, most significant bit first.
 *
 * Source: _codeclib_codec.ts.
 */
import { LATENTS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, SvcError, z } from "../api.ts";
import {
  checkState,
  CODECLIB_ENTROPY,
  DEVICE,
  factsOf,
  MODEL_PARAMS,
  modelProblems,
  namedModel,
  openCodec,
} from "./_codeclib.ts";
import { entropyEncodeBatch, INFERENCE, PAYLOAD_GUARANTEE } from "./_codeclib_steps.ts";

export default defineOperation({
  id: "model.codeclib_entropy_encode",
  name: "Learned codec entropy encode",
  description: "Codes latents of a learned image codec as payload bits",
  inputs: { latents: [LATENTS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({ ...MODEL_PARAMS, device: DEVICE, data_plane_backend: dataPlaneParameter() }),
  differentiability: { framework: "torch", gradient: "stop", trainable_params: false, exportable: false },
  entropyInfo: CODECLIB_ENTROPY,
  backends: INFERENCE,
  inputMetadataRequirements: { latents: { all_of: ["codeclib", "image_count"] } },
  outputMetadataGuarantees: { bits: { from: "latents", keys: PAYLOAD_GUARANTEE } },
  timingMetric: "encoder.payload_encode",
  threadSafe: true,
  check: modelProblems,
  models: namedModel,
  async run(context) {
    const { inputs: { latents }, params, model } = context;
    const facts = factsOf(latents), stated = `${params.model} ${params.metric}`;
    // The quality level of a variable-rate model comes from the analysis.
    const sameRate = facts.model.endsWith("_vbr") || facts.rung === params.quality;
    if (`${facts.model} ${facts.metric}` !== stated || !sameRate) {
      throw new SvcError(
        "params_conflict",
        `Cannot code latents of ${facts.model}, quality ${facts.rung}, as ${params.model}, quality ${params.quality}`,
        { hint: "Set the model, metric and quality of the analysis" },
      );
    }
    const codec = await openCodec(model, params.model);
    checkState(codec, facts);
    return await entropyEncodeBatch(codec, latents, context);
  },
});
