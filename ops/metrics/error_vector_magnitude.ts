/**
 * Error vector magnitude of received symbols: 100 sqrt(Σ|y - x|² / Σ|x|²) percent over the symbols x that were sent, without a gain or
 * phase of its own. The ratio of the energies of a symbol, in dB, is -20·log10(EVM/100). A call is one unit.
 *
 * Shapes: reference complex64 [n], candidate complex64 [n] -> report.
 *
 * Source: TS 38.104 V16.4.0, annex B.7 (the error vector over the ideal symbols).
 */
import { SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { SvcError, z } from "../api.ts";
import { pooledMetadata, pooledMetrics } from "../../lib/contract/metric_metadata.ts";
import { symbolsOf } from "../../lib/artifact/values.ts";
import { energy, errorEnergy } from "../../lib/numeric/link/front_end.ts";
import { rootOfUnit } from "../../lib/numeric/scores/pooled_ratio.ts";
import { comparedInBlocks, defineReport, type Report } from "../_report.ts";

export default defineReport({
  id: "metrics.error_vector_magnitude",
  name: "Error vector magnitude",
  description: "Root mean square error of received symbols over that of the symbols that were sent",
  inputs: { reference: SYMBOLS_ANY, candidate: SYMBOLS_ANY },
  params: z.strictObject({}),
  formats: { artifact: "json", tensor: "none" },
  streaming: comparedInBlocks("complex64", ({ reference: { length } }) => {
    let power = 0, error = 0;
    return {
      add(received, sent) {
        power = energy(sent, power);
        error = errorEnergy(sent, received, error);
      },
      end: () => reportOf(power, error, length),
    };
  }),
  run({ inputs }) {
    const sent = symbolsOf(inputs.reference), received = symbolsOf(inputs.candidate), count = sent.length / 2;
    if (sent.length !== received.length) {
      throw new SvcError("boundary_count_mismatch", `Cannot compare ${received.length / 2} symbols with ${count}`, {
        hint: "Wire the symbols before the pilots, and those that the equaliser gives with pilot_context",
      });
    }
    return reportOf(energy(sent), errorEnergy(sent, received), count);
  },
});

/** @throws SvcError `boundary_value_invalid` for a reference without power */
function reportOf(power: number, error: number, count: number): Report {
  if (power === 0) {
    throw new SvcError("boundary_value_invalid", "Cannot measure an error vector: the reference has no power");
  }
  const pooled = { "channel.evm_percent": rootOfUnit(1e4 * error * count / power, count) };
  return { metrics: pooledMetrics(pooled), metadata: pooledMetadata(pooled) };
}
