/** Symbol count comparison: reports whether two symbol streams have equal length; unequal lengths are not an error. */
import { SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { z } from "../api.ts";
import { symbolsOf } from "../../lib/artifact/values.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "channel.symbol_count_match",
  name: "Symbol count comparison",
  description: "Reports whether two symbol streams have equal length",
  inputs: { candidate: SYMBOLS_ANY, reference: SYMBOLS_ANY },
  params: z.strictObject({
    label: z.string().default("symbol_channel_io").describe("name of the comparison in the report"),
  }),
  run({ inputs, params }) {
    const candidate_symbol_count = symbolsOf(inputs.candidate).length / 2;
    const reference_symbol_count = symbolsOf(inputs.reference).length / 2;
    const length_mismatch = Math.abs(candidate_symbol_count - reference_symbol_count);
    return {
      metrics: {},
      label: params.label,
      facts: { match: length_mismatch === 0, candidate_symbol_count, reference_symbol_count, length_mismatch },
    };
  },
});
