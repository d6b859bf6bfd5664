/**
 * Memoryless power amplifier: lib/numeric/link/front_end.ts has the models. With input_back_off_db, the input is first scaled by
 * a = A·10^(-back-off/20)/sqrt(mean|x|²), else a = 1. The output is divided by a, so that the small-signal gain of rapp is 1.
 * `ideal` is linear without limit.
 *
 *     hardware.evm_percent          100 sqrt(Σ|y/g - x|² / Σ|x|²), g the Bussgang gain
 *     hardware.output_back_off_db   power of the largest output amplitude over mean output power; that amplitude is A, or
 *                                   α/(2 sqrt β) of saleh
 *
 * Shapes: signal complex64 [n] -> signal complex64 [n], of the kind of the input. Unit: normalised amplitude.
 *
 * Errors: `params_conflict` for a gain of zero, which normalize_gain cannot undo.
 */
import { defineOperation, float, type Metrics, shownIn, SvcError, z } from "../api.ts";
import { pooledMetadata, pooledMetrics } from "../../lib/contract/metric_metadata.ts";
import { bussgangGain, divided, energy, errorEnergy, rapp, saleh } from "../../lib/numeric/link/front_end.ts";
import { numpyWithTwin } from "../_backends.ts";
import { sizeOfInput } from "../_same_shape.ts";
import { samplesOf, SIGNAL_PORTS, signalWith, vectorError } from "./_signal.ts";

const MODELS = ["rapp", "saleh", "ideal"] as const;
const only = (model: typeof MODELS[number]) => ({ "x-svc-effective-when": { model } });

const PARAMS = z.strictObject({
  model: z.enum(MODELS).default("rapp").describe("rapp: solid state; saleh: travelling-wave tube; ideal: linear"),
  input_back_off_db: z.number().min(-60).max(60).optional()
    .describe("saturation power over mean input power in dB; omitted, the input is not scaled").meta(shownIn("dB")),
  saturation_amplitude: z.number().min(1e-6).max(1e6).default(1)
    .describe("A: largest output amplitude of rapp, and the reference of the back-off; normalised amplitude"),
  smoothness: z.number().min(0.01).max(100).default(2).describe("p, the sharpness of rapp's knee; no unit")
    .meta(only("rapp")),
  alpha_amplitude: z.number().min(1e-6).max(1e6).default(2.1587).describe("small-signal gain of saleh; no unit")
    .meta(only("saleh")),
  beta_amplitude: z.number().min(1e-6).max(1e6).default(1.1517)
    .describe("amplitude compression of saleh, per squared amplitude").meta(only("saleh")),
  alpha_phase: z.number().min(-1e3).max(1e3).default(4.0033)
    .describe("phase shift of saleh, radians per squared amplitude").meta(only("saleh")),
  beta_phase: z.number().min(0).max(1e6).default(9.1040)
    .describe("phase compression of saleh, per squared amplitude").meta(only("saleh")),
  normalize_gain: z.boolean().default(false).describe("divides the output by the Bussgang gain Σ y x* / Σ|x|²"),
});
type Params = z.output<typeof PARAMS>;

export default defineOperation({
  id: "hardware.power_amplifier",
  name: "Power amplifier",
  description: "Amplifies a waveform or symbols with saturation, and phase distortion for tubes, at an input back-off",
  ...SIGNAL_PORTS,
  params: PARAMS,
  ...numpyWithTwin("full", "Smooth in the samples"),
  outputMetadataGuarantees: { signal: { from: "signal", keys: ["power_amplifier"] } },
  estimate: (_params, { signal }) => ({ signal: sizeOfInput(signal, "complex64") }),
  run({ inputs, params }) {
    const x = samplesOf(inputs.signal), power = 2 * energy(x) / x.length, scale = scaleOf(params, power);
    const driven = Float64Array.from(x, (value) => scale * value), raw = amplified(driven, params);
    const outputPower = 2 * energy(raw) / raw.length, y = raw.map((value) => value / scale), gain = bussgangGain(x, y);
    const lost = gain !== null && Math.hypot(...gain) < Number.MIN_VALUE * 2 ** 52;
    if (params.normalize_gain && lost) {
      throw new SvcError("params_conflict", "Cannot divide by a Bussgang gain of zero", {
        hint: "Set normalize_gain to false",
      });
    }
    const undistorted = gain === null || lost ? null : divided(y, gain);
    const pooled = undistorted === null ? {} : vectorError(errorEnergy(x, undistorted), energy(x), x.length / 2);
    const metrics: Metrics = pooledMetrics(pooled);
    if (outputPower > 0) {
      metrics["hardware.output_back_off_db"] = 10 * Math.log10(largestAmplitude(params) ** 2 / outputPower);
    }
    const facts = {
      model: params.model,
      input_scale: float(scale),
      ...(gain === null ? {} : { bussgang_gain: gain.map(float) }),
    };
    return {
      outputs: {
        signal: signalWith(inputs.signal, params.normalize_gain && undistorted !== null ? undistorted : y, {
          power_amplifier: facts,
        }),
      },
      metrics,
      metadata: pooledMetadata(pooled),
    };
  },
});

/** A signal without power stays zero at any scale. */
function scaleOf({ input_back_off_db: backOff, saturation_amplitude: saturation }: Params, power: number): number {
  return backOff === undefined || !(power > 0) ? 1 : saturation * 10 ** (-backOff / 20) / Math.sqrt(power);
}

function amplified(x: Float64Array, params: Params): Float64Array {
  if (params.model === "ideal") return x;
  if (params.model === "rapp") return rapp(x, params.saturation_amplitude, params.smoothness);
  return saleh(x, {
    alphaAmplitude: params.alpha_amplitude,
    betaAmplitude: params.beta_amplitude,
    alphaPhase: params.alpha_phase,
    betaPhase: params.beta_phase,
  });
}

function largestAmplitude({ model, saturation_amplitude, alpha_amplitude, beta_amplitude }: Params): number {
  return model === "saleh" ? alpha_amplitude / (2 * Math.sqrt(beta_amplitude)) : saturation_amplitude;
}
