/**
 * Bit error rate: differing bits over compared bits, compared over the shorter of the two streams. Errors are counted over
 * the statistical unit that the received stream declares, for its interval.
 */
import { BITS_ANY } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter } from "../../lib/contract/schema.ts";
import { z } from "../../lib/contract/zod.ts";
import { rateCounts } from "../../lib/artifact/statistical_unit.ts";
import { bitsOf } from "../../lib/artifact/values.ts";
import { allowLengthMismatch, comparedLengths, errorRateNames, errorRateReport } from "./_error_rate.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.bit_error_rate",
  name: "BER",
  description: "Fraction of differing bits between two streams",
  inputs: { candidate: BITS_ANY, reference: BITS_ANY },
  params: z.strictObject({
    label: z.string().min(1).default("ber").describe("the metric is channel.<label>"),
    allow_length_mismatch: allowLengthMismatch(),
    data_plane_backend: dataPlaneParameter(),
  }),
  twin: true,
  run({ inputs, params }) {
    const candidate = bitsOf(inputs.candidate);
    const reference = bitsOf(inputs.reference);
    const compared = Math.min(candidate.length, reference.length);
    const { facts, metadata } = comparedLengths(
      candidate.length,
      reference.length,
      params.allow_length_mismatch,
      "the rate is that of the shorter stream",
    );
    const failed = new Uint8Array(compared);
    for (let i = 0; i < compared; i++) failed[i] = candidate[i] ^ reference[i];
    const counts = rateCounts(failed, inputs.candidate.metadata, "bit", candidate.length);
    const names = errorRateNames(params.label, "ber", "error_count", "compare_bit_count");
    return errorRateReport(names, counts, {
      label: params.label,
      facts: { ...facts, compare_bit_count: compared },
      metadata,
    });
  },
});
