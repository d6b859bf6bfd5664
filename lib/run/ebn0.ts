/** Eb/N0 of a run from its accounting: Eb/N0 = Es/N0 - 10·log10(code rate · bits per symbol), in dB. */
import { float, isNumber, type JsonObject, toNumber } from "../contract/value.ts";
import type { StepRow } from "../execute/types.ts";

/**
 * The metric `channel.ebn0_db`: energy per framed bit, without pilots and headers. Empty where the steps do not record one
 * Es/N0, one code rate and one number of bits per symbol.
 */
export function ebn0Metric(rows: readonly Pick<StepRow, "metrics">[]): JsonObject {
  const only = (id: string): number | null => {
    const values = new Set(rows.map(({ metrics }) => metrics[id]).filter(isNumber).map(toNumber));
    return values.size === 1 ? [...values][0] : null;
  };
  const snrDb = only("channel.snr_db"), rate = only("channel.code_rate"), bits = only("channel.bits_per_symbol");
  if (snrDb === null || rate === null || bits === null || !(rate * bits > 0)) return {};
  return { "channel.ebn0_db": float(snrDb - 10 * Math.log10(rate * bits)) };
}
