/**
 * Trainable receiver of QPSK frames with pilots: estimates the carrier phase θ_k of every symbol, corrects it and demaps the
 * data symbols, LLR = 2·sqrt(2)·Re(y·exp(-jθ))/N0 and Im.
 *
 *     uncompensated          θ = 0
 *     pilot_interpolation    linear between the unwrapped phases of the pilots
 *     pilot_smoothing        at every symbol a line through the nearest pilots; not causal
 *     decision_directed_pll  a second-order loop: pll_alpha, pll_beta
 *     kalman_smoother        phase and frequency over pilots and soft decisions; kalman_passes 1: pilots only; not causal
 *     oracle                 phase_truth, an input of this mode only
 *     learned_artifact       receiver_features_v3 [packet, frame_symbol, 11] -> residual_phase_rad [packet, frame_symbol], added
 *                            to pilot_interpolation; features: _phase_features.ts
 *
 * The estimators are in lib/numeric/link/phase_tracking.ts, the frames in _pilot_frames.ts.
 *
 * Shapes: rx_symbols complex64 [n] -> bits uint8 [m], llr float32 [m], diagnostics float64 [n], θ in radians.
 */
import { artifactKind, RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineSlot, type InputArtifact, SvcError, z } from "../api.ts";
import { symbolsOf } from "../../lib/artifact/values.ts";
import { demodulateLlr } from "../../lib/numeric/link/modulation.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import {
  interpolatePhase,
  kalmanPhase,
  pilotPhases,
  smoothPhase,
  trackPhase,
} from "../../lib/numeric/link/phase_tracking.ts";
import { PILOT_CONTEXT, type PilotFrame, pilotFrames } from "../_pilot_frames.ts";
import { noiseVarianceOf } from "../_noise_variance.ts";
import { demodulated, demodulatedOutputs, INHERITED } from "./_outputs.ts";
import { frameBatches } from "./_phase_features.ts";

const DIAGNOSTICS = artifactKind("receiver.phase_tracking_diagnostics.numpy", {
  phase_tracking_mode: "text",
  frame_symbol_counts: "list",
});

const OF_SMOOTHER = { "x-svc-used-when": { mode: "kalman_smoother" } };
const OF_LOOP = { "x-svc-used-when": { mode: "decision_directed_pll" } };

export default defineSlot({
  id: "demodulation.phase_tracking_receiver_adapter",
  name: "Pilot-aided QPSK phase tracker",
  description: "Tracks the carrier phase with pilots and demaps QPSK",
  inputs: { rx_symbols: [RX_SYMBOLS], pilot_context: [PILOT_CONTEXT] },
  optionalInputs: { phase_truth: { kinds: ["channel.carrier_phase_truth.numpy"], secret: true } },
  outputs: { ...demodulatedOutputs({ phase_tracking_mode: "text" }), diagnostics: DIAGNOSTICS },
  params: {
    pilot_smoothing_nearest_pilots: z.int().positive().default(5).meta({
      "x-svc-used-when": { mode: "pilot_smoothing" },
    })
      .describe("pilots per fit"),
    pll_alpha: z.number().nonnegative().default(0.12).meta(OF_LOOP).describe("proportional gain"),
    pll_beta: z.number().nonnegative().default(0.005).meta(OF_LOOP).describe("integral gain"),
    kalman_phase_noise_std_rad: z.number().nonnegative().default(0.04).meta(OF_SMOOTHER)
      .describe("assumed standard deviation of the random walk in rad per symbol"),
    kalman_frequency_std_cycles: z.number().nonnegative().default(0.006).meta(OF_SMOOTHER)
      .describe("assumed standard deviation of the frequency offset in cycles per symbol"),
    kalman_passes: z.int().min(1).max(100).default(5).meta(OF_SMOOTHER)
      .describe("passes over a frame; 1 uses the pilots only, further ones soft decisions"),
  },
  equivalence: { type: "behavioral", reason: "Compared by paired bit and block error rates" },
  formats: { artifact: "npz", tensor: "torch.Tensor", checkpoint: "onnx" },
  outputMetadataGuarantees: INHERITED,
  gradient: "surrogate",
  exports: { torch: "phase_tracking_receiver_training_endpoint" },
  twin: true,
  mode: { default: "pilot_smoothing" },
  read({ inputs: { rx_symbols, pilot_context } }) {
    const symbols = symbolsOf(rx_symbols), count = symbols.length / 2;
    return { symbols, ...pilotFrames(pilot_context, count), noise: noiseVarianceOf(rx_symbols, count) };
  },
  modes: {
    uncompensated: {
      implementation: "uncompensated_phase_tracking_receiver",
      run: ({ symbols }) => new Float64Array(symbols.length / 2),
    },
    pilot_interpolation: {
      implementation: "pilot_interpolation_phase_tracking_receiver",
      run: (stream) =>
        tracked(
          stream,
          (own, { pilots, length }) => interpolatePhase(pilots.positions, pilotPhases(own, pilots), length),
        ),
    },
    pilot_smoothing: {
      implementation: "pilot_smoothing_phase_tracking_receiver",
      run: (stream, { params: { pilot_smoothing_nearest_pilots: near } }) =>
        tracked(
          stream,
          (own, { pilots, length }) => smoothPhase(pilots.positions, pilotPhases(own, pilots), length, near),
        ),
    },
    decision_directed_pll: {
      implementation: "decision_directed_pll_phase_tracking_receiver",
      run(stream, { params: { pll_alpha: alpha, pll_beta: beta } }) {
        const { preamble } = stream;
        return tracked(stream, (own, { pilots }) => trackPhase(own, pilots, { alpha, beta, preamble }));
      },
    },
    kalman_smoother: {
      implementation: "kalman_smoother_phase_tracking_receiver",
      run(stream, { params }) {
        const { variance } = stream.noise;
        const model = {
          walk: params.kalman_phase_noise_std_rad,
          frequency: 2 * Math.PI * params.kalman_frequency_std_cycles,
          passes: params.kalman_passes,
        };
        return tracked(stream, (own, { pilots, start, length }) => {
          const noise = typeof variance === "number" ? variance : variance.subarray(start, start + length);
          return kalmanPhase(own, pilots, { ...model, noise });
        });
      },
    },
    oracle: {
      implementation: "oracle_phase_tracking_receiver",
      reveals: "phase_truth",
      run: ({ symbols }, { inputs }) => truthOf(inputs.phase_truth!, symbols.length / 2),
    },
  },
  learned: {
    component: { id: "receiver", role: "phase_tracking_receiver", entrypoint: "phase_tracking_receiver" },
    implementation: "portable_packet_context_receiver",
    inputs: { receiver_features_v3: ["packet", "frame_symbol", 11] },
    outputs: { residual_phase_rad: ["packet", "frame_symbol"] },
    meaning: {
      receiver_features_v3:
        "Re, Im of y; Re, Im of y turned back by the phase between pilots; 1 at pilots; Re, Im of the pilot; cos, sin of that phase; position 0 to 1; log10 N0",
      residual_phase_rad:
        "phase in rad that is added to the phase interpolated between pilots; received symbols are turned by the negative sum",
    },
    rows: 256,
    async run({ frames, symbols, noise }, call) {
      const phases = new Float64Array(symbols.length / 2);
      for (const batch of frameBatches(frames, symbols, noise.variance)) {
        const { residual_phase_rad: { data } } = await call({ receiver_features_v3: batch.features });
        batch.frames.forEach(({ start, length }, packet) => {
          for (let k = 0; k < length; k++) {
            phases[start + k] = batch.interpolated[packet][k] + data[packet * length + k];
          }
        });
      }
      return phases;
    },
  },
  result(phases, { frames, symbols, noise }, { inputs, mode }) {
    const { variance, source, facts } = noise;
    const llr = new Float32Array(frames.reduce((sum, { bits }) => sum + bits, 0));
    let at = 0;
    for (const frame of frames) {
      const { start, length, bits } = frame, own = symbols.subarray(2 * start, 2 * (start + length));
      const noiseOf = typeof variance === "number" ? variance : variance.subarray(start, start + length);
      llr.set(dataLlr(own, phases.subarray(start, start + length), frame, noiseOf), at);
      at += bits;
    }
    const metadata = {
      phase_tracking_mode: mode,
      unit: "rad",
      frame_symbol_counts: frames.map(({ length }) => length),
    };
    const how = { modulation: "qpsk", llr_method: "exact", noise_variance_source: source, phase_tracking_mode: mode };
    return {
      outputs: {
        ...demodulated(inputs.rx_symbols, llr, how),
        diagnostics: { array: ndarray("float64", phases.slice()), metadata },
      },
      metadata: facts,
    };
  },
});

function tracked(
  { frames, symbols }: { frames: readonly PilotFrame[]; symbols: Float32Array },
  phasesOf: (own: Float32Array, frame: PilotFrame) => Float64Array,
): Float64Array {
  const phases = new Float64Array(symbols.length / 2);
  for (const frame of frames) {
    const { start, length } = frame;
    phases.set(phasesOf(symbols.subarray(2 * start, 2 * (start + length)), frame), start);
  }
  return phases;
}

/** LLRs of the data symbols of a frame after phase correction, without padding. */
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
    throw new SvcError("boundary_count_mismatch", `Cannot correct ${count} symbols with ${data.length} phases`);
  }
  return data as Float64Array;
}
