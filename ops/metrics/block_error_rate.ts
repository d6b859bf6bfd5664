/**
 * Block error rate: share of blocks of the reference with an error. A partial last block counts; a block that is not
 * fully present in the candidate is in error. The unit of its interval is the block (packet), or the larger unit that
 * the received stream declares.
 */
import { BITS_ANY } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, z } from "../api.ts";
import { rateCounts } from "../../lib/artifact/statistical_unit.ts";
import { bitsOf } from "../../lib/artifact/values.ts";
import { dataPlane } from "../_data_plane.ts";
import { allowLengthMismatch, comparedLengths, errorRateNames, errorRateReport } from "./_error_rate.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.block_error_rate",
  name: "BLER",
  description: "Fraction of fixed-size blocks with an error",
  inputs: { candidate: BITS_ANY, reference: BITS_ANY },
  params: z.strictObject({
    block_size: z.int().positive().default(1024).describe("bits per block"),
    label: z.string().min(1).default("bler").describe("the metric is channel.<label>"),
    allow_length_mismatch: allowLengthMismatch(),
    data_plane_backend: dataPlaneParameter(),
  }),
  nativeKernels: true,
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context);
    const candidate = bitsOf(inputs.candidate, kernels);
    const reference = bitsOf(inputs.reference, kernels);
    const { facts, metadata } = comparedLengths(
      candidate.length,
      reference.length,
      params.allow_length_mismatch,
      "blocks that the candidate lacks are in error, further bits are ignored",
    );
    const failed = kernels.failedBlocks(candidate, reference, params.block_size);
    const names = errorRateNames(params.label, "bler", "block_error_count", "block_count");
    const counts = rateCounts(failed, inputs.candidate.metadata, "packet");
    return errorRateReport(names, counts, {
      label: params.label,
      facts: { ...facts, block_size: params.block_size },
      metadata,
    });
  },
});
