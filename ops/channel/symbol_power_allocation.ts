/**
 * Transmit power of an allocation: y_i = sqrt(p_i) x_i. A demodulator that gets the same allocation undoes it.
 *
 * Shapes: symbols complex64 [n], allocation power float64 [at least n], at least 0 -> symbols complex64 [n].
 */
import { symbolsArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";
import { defineOperation, SvcError, z } from "../api.ts";
import { POWER_ALLOCATION, SYMBOLS, SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { checkElements } from "../_noise_variance.ts";
import { SYMBOL_KEYS } from "./_relay.ts";

export default defineOperation({
  id: "channel.symbol_power_allocation",
  name: "Transmit power of an allocation",
  description: "Scales each symbol by the square root of its power",
  inputs: { symbols: SYMBOLS_ANY, allocation: [POWER_ALLOCATION] },
  outputs: { symbols: SYMBOLS },
  params: z.strictObject({}),
  differentiability: { framework: "numpy", gradient: "stop", trainable_params: false, exportable: false },
  outputMetadataGuarantees: { symbols: { from: "symbols", keys: SYMBOL_KEYS } },
  run({ inputs: { symbols, allocation } }) {
    const points = symbolsOf(symbols);
    const { data: power } = allocation.array(allocation.arrayNames.includes("power") ? "power" : undefined);
    checkElements(power.length, points.length / 2);
    const scaled = points.map((part, at) => {
      const p = Number(power[at >> 1]);
      if (!(p >= 0)) throw new SvcError("boundary_value_invalid", `Cannot send symbols of power ${p}`);
      return part * Math.sqrt(p);
    });
    return { outputs: { symbols: symbolsArtifact(scaled, travel(symbols.metadata)) } };
  },
});
