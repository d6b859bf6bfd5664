/**
 * Transmit power normaliser: scales symbols so that the mean of |x|² over each scope equals `target_power`. A scope is
 * a declared source item, or the whole stream without declared items or with global scope. Powers below `eps` count as
 * `eps`, so zero symbols stay zero.
 *
 * Shapes: symbols complex64 [n]. Unit: normalised power per symbol, not watts.
 *
 * Source: Proakis and Salehi, Digital Communications, 5th ed., 2008, ch. 2.
 */
import { SYMBOLS, SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { defineOperation, float, type Metrics, z } from "../api.ts";
import { companionsOf, sourceItemCounts, symbolsArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";
import { meanPower } from "../../lib/numeric/linalg/complex.ts";
import { executed, exported } from "../_backends.ts";
import { SYMBOL_KEYS } from "./_relay.ts";
import { sizeOfInput } from "../_same_shape.ts";

const SCOPES = ["source_item", "global"] as const;

export default defineOperation({
  id: "channel.symbol_power_normalize",
  name: "Transmit power normaliser",
  description: "Scales symbols to a mean power, per source item or over the whole stream",
  inputs: { symbols: SYMBOLS_ANY },
  outputs: { symbols: SYMBOLS },
  params: z.strictObject({
    target_power: z.number().positive().default(1).describe("mean |x|² after scaling; normalised, not watts"),
    normalization_scope: z.enum(SCOPES).default("source_item").describe("each source item, or the whole stream"),
    eps: z.number().positive().default(1e-12).describe("minimum power in the division"),
    label: z.string().default("tx_power_normalize").describe("name of the stage in the step row"),
  }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
  equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
  materializations: [
    ...SCOPES.flatMap((scope) => executed("numpy", `numpy_${scope}_power_normalizer`, { normalization_scope: scope })),
    ...SCOPES.map((scope) => exported("torch", `torch_${scope}_power_normalizer`, { normalization_scope: scope })),
  ],
  outputMetadataGuarantees: { symbols: { from: "symbols", keys: [...SYMBOL_KEYS, "target_power"] } },
  estimate: (_params, { symbols }) => ({ symbols: sizeOfInput(symbols, "complex64") }),
  twin: true,
  run({ inputs, params }) {
    const symbols = symbolsOf(inputs.symbols);
    const count = symbols.length / 2;
    const declared = sourceItemCounts(inputs.symbols.metadata, count);
    const scopes = params.normalization_scope === "source_item" && declared !== undefined ? declared : [count];
    const scaled = new Float32Array(symbols.length);
    const gains: number[] = [];
    let at = 0;
    for (const length of scopes) {
      const end = at + 2 * length;
      const power = meanPower(symbols.subarray(at, end));
      const gain = Math.sqrt(params.target_power / Math.max(power, params.eps));
      for (; at < end; at++) scaled[at] = gain * symbols[at];
      if (power > 0) gains.push(gain);
    }
    const metadata = travel(inputs.symbols.metadata, {
      target_power: float(params.target_power),
      normalization_scope: params.normalization_scope,
    });
    const meanGain = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
    const metrics: Metrics = gains.length === 0 ? {} : { "channel.tx_gain_db": 20 * Math.log10(meanGain) };
    return {
      outputs: { symbols: symbolsArtifact(scaled, metadata, companionsOf(inputs.symbols)) },
      metrics,
      metadata: { label: params.label },
    };
  },
});
