/**
 * Receiver of QPSK frames with pilots: estimates the carrier phase θ_k of every symbol, turns it back and demaps the data
 * symbols, LLR = 2·sqrt(2)·Re(y·exp(-jθ))/N0 and Im.
 *
 *     uncompensated          θ = 0
 *     pilot_interpolation    linear between the unwrapped phases of the pilots
 *     pilot_smoothing        at every symbol a line through the pilots around it; not causal
 *     decision_directed_pll  a second-order loop: pll_alpha, pll_beta
 *     oracle                 phase_truth, the only mode that reads it
 *     learned_artifact       what a trained package adds to pilot_interpolation; its features: _phase_features.ts
 *
 * The estimators are in lib/numeric/phase_tracking.ts, the frames in _pilot_frames.ts.
 *
 * Shapes: rx_symbols complex64 [n] -> bits uint8 [m], llr float32 [m], diagnostics float64 [n], θ in radians.
 */
import { DEMOD_BITS, LLR, RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import { SvcError } from "../../lib/contract/error.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import type { InputArtifact, LearnedModel, Materialization } from "../../lib/contract/operation.ts";
import { z } from "../../lib/contract/zod.ts";
import { LEARNED_ARTIFACT, learnedParameters, learnedProblems } from "../../lib/artifact/learned.ts";
import { bitsArtifact, symbolsOf } from "../../lib/artifact/values.ts";
import { demodulateLlr, hardBits } from "../../lib/numeric/modulation.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import { interpolatePhase, pilotPhases, smoothPhase, trackPhase } from "../../lib/numeric/phase_tracking.ts";
import { executed, exportPlanned } from "../_backends.ts";
import { PILOT_CONTEXT, type PilotFrame, pilotFrames } from "../_pilot_frames.ts";
import { demodulatedMetadata } from "../_symbol_items.ts";
import { noiseVarianceOf } from "./_noise.ts";
import { frameBatches } from "./_phase_features.ts";
import { PHASE_TRACKING_ABI } from "./_phase_tracking_abi.ts";

const CLASSICAL = [
  "uncompensated",
  "pilot_interpolation",
  "pilot_smoothing",
  "decision_directed_pll",
  "oracle",
] as const;
/** Packets in a call of a trained tracker. */
const ROWS = 256;
const KEYS = ["modulation", "llr_sign", "llr_method", "noise_variance_source", "phase_tracking_mode"];

const MATERIALIZATIONS: readonly Materialization[] = [
  ...CLASSICAL.flatMap((mode) => executed("numpy", `${mode}_phase_tracking_receiver`, { mode })),
  ...executed("onnxruntime", "portable_packet_context_receiver", { mode: LEARNED_ARTIFACT }),
  exportPlanned("torch", "phase_tracking_receiver_training_endpoint"),
];

export default defineOperation({
  id: "demodulation.phase_tracking_receiver_adapter",
  name: "Pilot-aided QPSK phase tracker",
  description: "Follows the carrier phase with pilots and demaps QPSK",
  inputs: { rx_symbols: [RX_SYMBOLS], pilot_context: [PILOT_CONTEXT] },
  optionalInputs: { phase_truth: ["channel.carrier_phase_truth.numpy"] },
  outputs: { bits: DEMOD_BITS, llr: LLR, diagnostics: "receiver.phase_tracking_diagnostics.numpy" },
  params: z.strictObject({
    mode: z.enum([...CLASSICAL, LEARNED_ARTIFACT]).default("pilot_smoothing"),
    pilot_smoothing_nearest_pilots: z.int().positive().default(5).describe("pilots of a fit, of pilot_smoothing"),
    pll_alpha: z.number().nonnegative().default(0.12).describe("proportional gain, of decision_directed_pll"),
    pll_beta: z.number().nonnegative().default(0.005).describe("integral gain, of decision_directed_pll"),
    ...learnedParameters("phase_tracking_receiver"),
  }),
  differentiability: { framework: "torch", gradient: "surrogate", trainable_params: true, exportable: true },
  backends: {
    benchmark_run: ["numpy", "onnxruntime"],
    dataset_capture: ["numpy", "onnxruntime"],
    differentiable_export: ["torch"],
  },
  equivalence: { type: "behavioral", reason: "Compared by paired bit and block error rates" },
  formats: { artifact: "npz", tensor: "torch.Tensor", checkpoint: "onnx" },
  materializations: MATERIALIZATIONS,
  trainingCapabilities: { built_in_fine_tuning: false, portable_replacement: true },
  trainedArtifactAbi: PHASE_TRACKING_ABI,
  outputMetadataGuarantees: {
    bits: { from: "rx_symbols", keys: ["boundary_contract", "bit_count", ...KEYS] },
    llr: { from: "rx_symbols", keys: KEYS },
    diagnostics: { keys: ["phase_tracking_mode", "frame_symbol_counts"] },
  },
  check(params, connected) {
    if (params.mode === LEARNED_ARTIFACT) return learnedProblems(params);
    if (params.mode !== "oracle" || connected.has("phase_truth")) return [];
    return [{
      code: "input_missing",
      message: "Cannot know the phase without phase_truth, which mode oracle takes it from",
      place: ["mode"],
      hint: "Wire phase_truth from wireless.carrier_phase_impairment, or choose another mode",
    }];
  },
  threadSafe: true,
  async run(context) {
    const { inputs, params } = context;
    const symbols = symbolsOf(inputs.rx_symbols), count = symbols.length / 2;
    const { frames, preamble } = pilotFrames(inputs.pilot_context, count);
    const truth = params.mode === "oracle" ? truthOf(inputs.phase_truth!, count) : undefined;
    const { variance, source, facts } = noiseVarianceOf(inputs.rx_symbols, count);

    const learned = params.mode === LEARNED_ARTIFACT
      ? await learnedPhases(frames, symbols, variance, context.learned)
      : undefined;

    const estimate = (frame: PilotFrame, own: Float32Array): Float64Array => {
      const { pilots, start, length } = frame;
      switch (params.mode) {
        case "uncompensated":
          return new Float64Array(length);
        case "pilot_interpolation":
          return interpolatePhase(pilots.positions, pilotPhases(own, pilots), length);
        case "pilot_smoothing": {
          const near = params.pilot_smoothing_nearest_pilots;
          return smoothPhase(pilots.positions, pilotPhases(own, pilots), length, near);
        }
        case "decision_directed_pll":
          return trackPhase(own, pilots, { alpha: params.pll_alpha, beta: params.pll_beta, preamble });
        case "oracle":
          return truth!.subarray(start, start + length);
        case LEARNED_ARTIFACT:
          return learned!.subarray(start, start + length);
      }
    };

    const phases = new Float64Array(count);
    const bitCount = frames.reduce((sum, frame) => sum + frame.bits, 0);
    const llr = new Float32Array(bitCount);
    let at = 0;
    for (const frame of frames) {
      const { start, length } = frame;
      const own = symbols.subarray(2 * start, 2 * (start + length));
      const phase = estimate(frame, own);
      phases.set(phase, start);
      const noise = typeof variance === "number" ? variance : variance.subarray(start, start + length);
      llr.set(dataLlr(own, phase, frame, noise), at);
      at += frame.bits;
    }
    const kept = demodulatedMetadata(inputs.rx_symbols.metadata, bitCount, {
      modulation: "qpsk",
      llr_sign: "positive_bit0",
      llr_method: "exact",
      noise_variance_source: source,
      phase_tracking_mode: params.mode,
    });
    const diagnostics = {
      phase_tracking_mode: params.mode,
      unit: "rad",
      frame_symbol_counts: frames.map(({ length }) => length),
    };
    return {
      outputs: {
        bits: bitsArtifact(hardBits(llr), kept),
        llr: { array: ndarray("float32", llr), metadata: kept },
        diagnostics: { array: ndarray("float64", phases), metadata: diagnostics },
      },
      metadata: facts,
    };
  },
});

/** Interpolated phases of all frames with what a trained tracker adds to them, radians. */
async function learnedPhases(
  frames: readonly PilotFrame[],
  symbols: Float32Array,
  noise: number | Float32Array,
  model: LearnedModel,
): Promise<Float64Array> {
  const phases = new Float64Array(symbols.length / 2);
  for (const batch of frameBatches(frames, symbols, noise)) {
    const { residual_phase_rad } = await model.run({ receiver_features_v3: batch.features }, { rows: ROWS });
    const residual = residual_phase_rad.data as Float32Array;
    batch.frames.forEach(({ start, length }, packet) => {
      for (let k = 0; k < length; k++) {
        phases[start + k] = batch.interpolated[packet][k] + residual[packet * length + k];
      }
    });
  }
  return phases;
}

/** LLRs of the data symbols of a frame, turned back; padding cut off. */
function dataLlr(
  symbols: Float32Array,
  phase: Float64Array,
  { pilots, bits, length }: PilotFrame,
  noise: number | Float32Array,
): Float32Array {
  const count = length - pilots.positions.length;
  const data = new Float32Array(2 * count), variances = new Float32Array(count);
  for (let k = 0, at = 0, pilot = 0; k < length; k++) {
    if (pilot < pilots.positions.length && pilots.positions[pilot] === k) {
      pilot++;
      continue;
    }
    const real = Math.cos(phase[k]), imaginary = Math.sin(phase[k]);
    data[2 * at] = symbols[2 * k] * real + symbols[2 * k + 1] * imaginary;
    data[2 * at + 1] = symbols[2 * k + 1] * real - symbols[2 * k] * imaginary;
    if (typeof noise !== "number") variances[at] = noise[k];
    at++;
  }
  return demodulateLlr(data, "qpsk", typeof noise === "number" ? noise : variances).subarray(0, bits);
}

function truthOf(input: InputArtifact, count: number): Float64Array {
  const { dtype, data } = input.array();
  if (dtype !== "float64") {
    throw new SvcError("boundary_dtype_invalid", `Cannot use ${dtype} data as true phases: they are float64`);
  }
  if (data.length !== count) {
    throw new SvcError("boundary_count_mismatch", `Cannot turn ${count} symbols back by ${data.length} phases`);
  }
  return data as Float64Array;
}
