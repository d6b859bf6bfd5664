/**
 * Bit error rate: differing bits over compared bits, compared over the shorter of the two streams. Errors are counted over
 * the statistical unit that the received stream declares, for its interval.
 */
import { BITS_ANY } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, type JsonObject, z } from "../api.ts";
import { checkBits } from "../../lib/artifact/boundary.ts";
import { rateCounter } from "../../lib/artifact/statistical_unit.ts";
import { bitsOf } from "../../lib/artifact/values.ts";
import { differingBits } from "../../lib/numeric/coding/bit_errors.ts";
import { dataPlane, portableOnly } from "../_data_plane.ts";
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
  nativeKernels: true,
  streaming: {
    allows: portableOnly,
    open({ inputs: { candidate, reference }, params }) {
      if (candidate.length !== reference.length) return null;
      const { counter, report } = comparison(candidate.metadata, candidate.length, reference.length, params);
      return {
        next(blocks) {
          counter.add(differingBits(checkBits(blocks.candidate), checkBits(blocks.reference)));
          return {};
        },
        end: report,
      };
    },
  },
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context);
    const candidate = bitsOf(inputs.candidate, kernels);
    const reference = bitsOf(inputs.reference, kernels);
    const { counter, report } = comparison(inputs.candidate.metadata, candidate.length, reference.length, params);
    counter.add(kernels.differingBits(candidate, reference));
    return report();
  },
});

/**
 * Counts the errors of a stream.
 * @param metadata of the candidate
 * @returns a counter of the differing bits, and what reports them
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
    counter,
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
