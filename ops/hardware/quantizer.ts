/**
 * Analogue-to-digital conversion of I and Q by a mid-rise quantiser of 2^bits levels in ±clip_value: lib/numeric/link/front_end.ts. With
 * scale `rms`, clip_value counts root mean squares of one component, sqrt(mean|x|²/2).
 *
 *     hardware.sqnr_db   Σ|x|² / Σ|y - x|² in dB; 6.02·bits + 1.76 for a sine over the full scale
 *
 * Shapes: signal complex64 [n] -> signal complex64 [n], of the kind of the input. Unit: normalised amplitude.
 *
 * Source: Bennett, "Spectra of quantized signals", Bell Syst. Tech. J. 27(3), 1948.
 */
import { defineOperation, float, type Metrics, z } from "../api.ts";
import { energy, errorEnergy, quantize } from "../../lib/numeric/link/front_end.ts";
import { SIGNAL_COMPANIONS } from "../_altered_blocks.ts";
import { numpyWithTwin } from "../_backends.ts";
import { sizeOfInput } from "../_same_shape.ts";
import { samplesOf, SIGNAL_PORTS, signalInBlocks, signalWith } from "./_signal.ts";

export default defineOperation({
  id: "hardware.quantizer",
  name: "Quantiser",
  description: "Quantises I and Q of a waveform or symbols with a number of bits and a clipping level",
  ...SIGNAL_PORTS,
  params: z.strictObject({
    bits: z.int().min(1).max(16).default(6).describe("bits per real component"),
    clip_value: z.number().min(1e-6).max(1e6).default(3)
      .describe("largest input of a component, as an amplitude or in rms values (scale)"),
    scale: z.enum(["absolute", "rms"]).default("absolute")
      .describe("unit of clip_value: amplitude, or rms of one component"),
  }),
  ...numpyWithTwin("surrogate", "Straight through inside the clipping level, zero outside"),
  outputMetadataGuarantees: { signal: { from: "signal", keys: ["quantizer"] } },
  estimate: (_params, { signal }) => ({ signal: sizeOfInput(signal, "complex64") }),
  streaming: {
    companions: SIGNAL_COMPANIONS,
    // The rms is known after the last sample.
    allows: ({ scale }) => scale === "absolute",
    open({ inputs: { signal }, params: { bits, clip_value: clip } }) {
      let power = 0, error = 0;
      const stream = signalInBlocks(signal, { quantizer: { bits, clip_value: float(clip) } }, (x) => {
        const y = quantize(x, bits, clip);
        power = energy(x, power);
        error = errorEnergy(x, y, error);
        return y;
      });
      return stream && { ...stream, end: () => ({ metrics: sqnr(power, error) }) };
    },
  },
  run({ inputs, params }) {
    const x = samplesOf(inputs.signal), power = energy(x), rms = Math.sqrt(power / x.length);
    // Without power no rms exists: the clipping level is then that of an amplitude.
    const clip = params.scale === "rms" && power > 0 ? params.clip_value * rms : params.clip_value;
    const y = quantize(x, params.bits, clip), error = errorEnergy(x, y);
    const facts = { bits: params.bits, clip_value: float(clip) };
    return { outputs: { signal: signalWith(inputs.signal, y, { quantizer: facts }) }, metrics: sqnr(power, error) };
  },
});

const sqnr = (power: number, error: number): Metrics =>
  power > 0 && error > 0 ? { "hardware.sqnr_db": 10 * Math.log10(power / error) } : {};
