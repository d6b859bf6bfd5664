/**
 * Limits the envelope of a signal and keeps its phase: |x| > A becomes A x/|x|. A is clip_amplitude, or
 * sqrt(mean|x|²)·10^(clip_ratio_db/20). For complex Gaussian samples the Bussgang gain is
 * 1 - e^(-γ²) + sqrt(π) γ erfc(γ)/2 with γ = 10^(clip_ratio_db/20).
 *
 * Metric: hardware.evm_percent after the Bussgang gain, as of the power amplifier.
 *
 * Shapes: signal complex64 [n] -> signal complex64 [n], of the kind of the input. Unit: normalised amplitude.
 *
 * Source: Ochiai and Imai, "Performance analysis of deliberately clipped OFDM signals", IEEE Trans. Commun. 50(1), 2002.
 */
import { defineOperation, float, shownIn, z } from "../api.ts";
import { pooledMetadata, pooledMetrics } from "../../lib/contract/metric_metadata.ts";
import { bussgangGain, clipEnvelope, divided, energy, errorEnergy } from "../../lib/numeric/link/front_end.ts";
import { numpyWithTwin } from "../_backends.ts";
import { sizeOfInput } from "../_same_shape.ts";
import { samplesOf, SIGNAL_PORTS, signalWith, vectorError } from "./_signal.ts";

const DEFAULT_RATIO_DB = 6;

export default defineOperation({
  id: "hardware.envelope_clip",
  name: "Envelope clipping",
  description: "Limits the amplitude of a waveform or symbols and keeps their phase",
  ...SIGNAL_PORTS,
  params: z.strictObject({
    clip_ratio_db: z.number().min(-60).max(60).default(DEFAULT_RATIO_DB)
      .describe("clipping power over mean power in dB, without clip_amplitude").meta(shownIn("dB")),
    clip_amplitude: z.number().min(1e-6).max(1e6).optional()
      .describe("clipping amplitude, normalised; replaces clip_ratio_db"),
  }),
  ...numpyWithTwin("full", "The phase keeps its gradient above the clipping amplitude"),
  outputMetadataGuarantees: { signal: { from: "signal", keys: ["envelope_clip"] } },
  estimate: (_params, { signal }) => ({ signal: sizeOfInput(signal, "complex64") }),
  check: ({ clip_amplitude, clip_ratio_db }) =>
    clip_amplitude !== undefined && clip_ratio_db !== DEFAULT_RATIO_DB
      ? [{
        place: ["clip_amplitude"],
        message: "Cannot clip at an amplitude and at a ratio",
        hint: "Remove clip_amplitude or clip_ratio_db",
      }]
      : [],
  run({ inputs, params }) {
    const x = samplesOf(inputs.signal), power = energy(x), samples = x.length / 2;
    const amplitude = params.clip_amplitude ?? Math.sqrt(power / samples) * 10 ** (params.clip_ratio_db / 20);
    const y = power > 0 ? clipEnvelope(x, amplitude) : Float64Array.from(x), gain = bussgangGain(x, y);
    const pooled = gain === null ? {} : vectorError(errorEnergy(x, divided(y, gain)), power, samples);
    const facts = { clip_amplitude: float(power > 0 ? amplitude : params.clip_amplitude ?? 0) };
    return {
      outputs: { signal: signalWith(inputs.signal, y, { envelope_clip: facts }) },
      metrics: pooledMetrics(pooled),
      metadata: pooledMetadata(pooled),
    };
  },
});
