/**
 * Transmits a feedback code to its decoder: unchanged, or every latent x quantised with b bits,
 *
 *     x̂ = (min(floor((x + c)/Δ), 2^b - 1) + 0.5)·Δ - c,  Δ = 2c/2^b,  x clipped to [-c, c] first,
 *
 * a mid-rise quantiser of 2^b levels. Arithmetic is binary64, rounded once.
 *
 * Shapes: feedback_code float32 [sample, latent] -> received_code of the same shape.
 */
import { defineOperation, float, type JsonObject, SvcError, z } from "../api.ts";
import { travel } from "../../lib/artifact/values.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { executed, exportable, exported } from "../_backends.ts";
import { FEEDBACK_CODE, RECEIVED_CODE } from "../_csi_feedback.ts";

const QUANTISED = { "x-svc-used-when": { mode: "uniform_quantized" } };

export default defineOperation({
  id: "channel.csi_feedback_link",
  name: "CSI feedback transport",
  description: "Transmits a CSI feedback code without loss or with uniform quantisation",
  inputs: { feedback_code: [FEEDBACK_CODE] },
  outputs: { received_code: RECEIVED_CODE },
  params: z.strictObject({
    mode: z.enum(["ideal_noiseless", "uniform_quantized"]).default("ideal_noiseless")
      .describe("feedback without loss, or quantised to quantizer_bits per value"),
    bits_per_latent: z.int().min(1).max(24).default(8).meta(QUANTISED).describe("bits per latent"),
    clip_value: z.number().positive().default(1).meta(QUANTISED).describe("largest modulus of a latent"),
  }),
  differentiability: exportable(
    "torch",
    "surrogate",
    "Quantisation needs a surrogate, such as a straight-through estimator",
  ),
  equivalence: { type: "behavioral" },
  formats: { artifact: "npz", tensor: "float32" },
  materializations: [...executed("numpy", "default"), exported("torch", "default")],
  outputMetadataGuarantees: {
    received_code: { from: "feedback_code", keys: ["feedback_mode", "feedback_bits_per_latent"] },
  },
  twin: true,
  run({ inputs, params }) {
    const code = checkCode(inputs.feedback_code.array());
    const quantised = params.mode === "uniform_quantized";
    const received = quantised
      ? quantise(code.data as Float32Array, params.bits_per_latent, params.clip_value)
      : Float32Array.from(code.data as Float32Array);
    const metadata = travel(inputs.feedback_code.metadata, {
      feedback_mode: params.mode,
      feedback_bits_per_latent: quantised ? params.bits_per_latent : null,
      ...(quantised ? quantisationFacts(code.data as Float32Array, received, params.clip_value) : {}),
    });
    return { outputs: { received_code: { array: ndarray("float32", received, code.shape), metadata } } };
  },
});

/** The mean squared quantisation error, and the share of clipped latents. */
function quantisationFacts(sent: Float32Array, received: Float32Array, clip: number): JsonObject {
  let error = 0, clipped = 0;
  sent.forEach((latent, i) => {
    error += (received[i] - latent) ** 2;
    if (Math.abs(latent) > clip) clipped++;
  });
  return {
    feedback_clip_value: float(clip),
    ...(sent.length === 0 ? {} : {
      feedback_quantization_mse: float(error / sent.length),
      feedback_clipped_fraction: float(clipped / sent.length),
    }),
  };
}

function checkCode(code: NdArray): NdArray {
  const attempt = `Cannot transmit ${code.dtype} [${code.shape.join(", ")}] as a feedback code`;
  if (code.dtype !== "float32") throw new SvcError("boundary_dtype_invalid", `${attempt}: its latents are float32`);
  if (code.shape.length !== 2) {
    throw new SvcError("boundary_rank_invalid", `${attempt}: its axes are sample and latent`);
  }
  if (!(code.data as Float32Array).every(Number.isFinite)) {
    throw new SvcError("boundary_non_finite", `${attempt}: it has latents that are not finite`);
  }
  return code;
}

function quantise(latents: Float32Array, bits: number, clip: number): Float32Array {
  const levels = 2 ** bits, step = 2 * clip / levels;
  return latents.map((latent) => {
    const clipped = Math.min(Math.max(latent, -clip), clip);
    return (Math.min(Math.floor((clipped + clip) / step), levels - 1) + 0.5) * step - clip;
  });
}
