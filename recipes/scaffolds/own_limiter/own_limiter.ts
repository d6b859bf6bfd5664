/**
 * Amplitude limiter: |x| is limited to A, the phase is kept.
 *
 * Shapes: symbols complex64 [n] -> symbols complex64 [n]. Unit: normalised amplitude (mean |x|^2 = 1 after modulation).
 */
import { type ConformanceCase, defineOperation, kinds, symbolsArtifact, symbolsOf, travel, z } from "../../../mod.ts";

export default defineOperation({
  id: "own.own_limiter",
  name: "Amplitude limiter",
  description: "Limits the amplitude of symbols and keeps their phase",
  inputs: { symbols: kinds.SYMBOLS_ANY },
  outputs: { symbols: kinds.SYMBOLS },
  params: z.strictObject({
    largest_amplitude: z.number().positive().default(1).describe("largest output amplitude"),
  }),
  threadSafe: true,
  run({ inputs, params }) {
    const symbols = symbolsOf(inputs.symbols);
    const limited = Float32Array.from(symbols);
    let clipped = 0;
    for (let i = 0; i < symbols.length; i += 2) {
      const amplitude = Math.hypot(symbols[i], symbols[i + 1]);
      if (amplitude <= params.largest_amplitude) continue;
      clipped++;
      limited[i] = symbols[i] * params.largest_amplitude / amplitude;
      limited[i + 1] = symbols[i + 1] * params.largest_amplitude / amplitude;
    }
    return {
      outputs: { symbols: symbolsArtifact(limited, travel(inputs.symbols.metadata)) },
      metrics: { "own.clipped_share": 2 * clipped / Math.max(1, symbols.length) },
    };
  },
});

/** What `svc operation check` runs the operation with. */
export const cases: ConformanceCase[] = [
  { name: "one symbol is limited", inputs: () => ({ symbols: symbolsArtifact(Float32Array.of(3, 4, 0.1, 0), {}) }) },
  { name: "no symbols", inputs: () => ({ symbols: symbolsArtifact(new Float32Array(), {}) }) },
];
