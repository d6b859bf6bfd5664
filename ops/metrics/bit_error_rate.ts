/**
 * Bit error rate: differing bits over compared bits, compared over the shorter of the two streams. Errors are counted over
 * the statistical unit that the received stream declares, for its interval.
 */
import { BITS_ANY } from "../../lib/contract/kinds.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { dataPlaneParameter } from "../../lib/contract/schema.ts";
import { z } from "../../lib/contract/zod.ts";
import { checkBits } from "../../lib/artifact/boundary.ts";
import { rateCounter } from "../../lib/artifact/statistical_unit.ts";
import { bitsOf } from "../../lib/artifact/values.ts";
import { allowLengthMismatch, comparedLengths, errorRateNames, errorRateReport, invertedBits } from "./_error_rate.ts";
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
  streaming: {
    open({ inputs: { candidate, reference }, params }) {
      if (candidate.length !== reference.length) return null;
      const { add, report } = comparison(candidate.metadata, candidate.length, reference.length, params);
      return {
        next(blocks) {
          add(checkBits(blocks.candidate), checkBits(blocks.reference));
          return {};
        },
        end: report,
      };
    },
  },
  run({ inputs, params }) {
    const candidate = bitsOf(inputs.candidate);
    const reference = bitsOf(inputs.reference);
    const { add, report } = comparison(inputs.candidate.metadata, candidate.length, reference.length, params);
    add(candidate, reference);
    return report();
  },
});

/**
 * Counts the errors of a stream.
 * @param metadata of the candidate
 * @returns `add` compares the next bits of both
 */
function comparison(
  metadata: JsonObject,
  candidateLength: number,
  referenceLength: number,
  { label, allow_length_mismatch: allowed }: { label: string; allow_length_mismatch: boolean },
) {
  const what = "the rate is that of the shorter stream";
  const { facts, metadata: found } = comparedLengths(candidateLength, referenceLength, allowed, what);
  const counter = rateCounter(metadata, "bit", candidateLength);
  return {
    add(candidate: Uint8Array, reference: Uint8Array) {
      const failed = new Uint8Array(Math.min(candidate.length, reference.length));
      for (let i = 0; i < failed.length; i++) failed[i] = candidate[i] ^ reference[i];
      counter.add(failed);
    },
    report() {
      const counts = counter.counts(), warnings = [...found.warnings ?? [], ...invertedBits(counts).warnings ?? []];
      return errorRateReport(errorRateNames(label, "ber", "error_count", "compare_bit_count"), counts, {
        label,
        facts: { ...facts, compare_bit_count: Math.min(candidateLength, referenceLength) },
        metadata: warnings.length === 0 ? {} : { warnings },
      });
    },
  };
}
