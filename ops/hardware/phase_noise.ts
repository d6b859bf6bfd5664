/**
 * Phase noise of a free-running oscillator: y_n = x_n·exp(jθ_n), θ_n = θ_{n-1} + w_n, θ_{-1} = 0, w_n ~ N(0, 2πΔ/(F·Q)) with the full
 * 3 dB width Δ of the Lorentzian line in subcarrier spacings, F subcarriers and Q-fold oversampling. An OFDM symbol keeps the
 * common phase of J_0 = (1/N) Σ_n exp(jθ_n) over its N useful samples; the rest, of mean power
 *
 *     1 - E|J_0|² = 1 - N^-2 Σ_m Σ_n exp(-|m - n| πΔ/N),
 *
 * is interference between its subcarriers.
 *
 * Shapes: signal complex64 [n] -> signal complex64 [n]. Draws: normal(0, 1) per sample.
 *
 * Source: Pollet, Van Bladel and Moeneclaey, "BER sensitivity of OFDM systems to carrier frequency offset and Wiener phase noise",
 * IEEE Trans. Commun. 43(2/3/4), 1995 (with the half width as β); Armada, IEEE Trans. Broadcast. 47(2), 2001.
 */
import { defineOperation, float, seedParameter, z } from "../api.ts";
import { sizeOfInput } from "../_same_shape.ts";
import { readWaveform, WAVEFORM } from "../_waveform.ts";
import { signalWith } from "./_signal.ts";

export default defineOperation({
  id: "hardware.phase_noise",
  name: "Phase noise",
  description: "Turns the samples of a waveform by the random phase of a free-running oscillator",
  inputs: { signal: [WAVEFORM] },
  outputs: { signal: { sameKindAs: "signal" } },
  params: z.strictObject({
    linewidth_subcarriers: z.number().min(0).max(10).default(0.001)
      .describe("full 3 dB width of the line over the subcarrier spacing"),
    seed: seedParameter(0),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "exact" },
  formats: { artifact: "npz", tensor: "none" },
  outputMetadataGuarantees: { signal: { from: "signal", keys: ["phase_noise"] } },
  estimate: (_params, { signal }) => ({ signal: sizeOfInput(signal, "complex64") }),
  run({ inputs, params, generator }) {
    const { samples, layout } = readWaveform(inputs.signal), turned = new Float64Array(samples.length);
    const step = Math.sqrt(2 * Math.PI * params.linewidth_subcarriers / (layout.fftSize * layout.oversampling));
    const drawn = generator.normal(0, 1, samples.length / 2);
    let phase = 0;
    for (let i = 0; i < turned.length; i += 2) {
      phase += step * drawn[i / 2];
      const cosine = Math.cos(phase), sine = Math.sin(phase);
      turned[i] = samples[i] * cosine - samples[i + 1] * sine;
      turned[i + 1] = samples[i] * sine + samples[i + 1] * cosine;
    }
    const facts = { linewidth_subcarriers: float(params.linewidth_subcarriers) };
    return { outputs: { signal: signalWith(inputs.signal, turned, { phase_noise: facts }) } };
  },
});
