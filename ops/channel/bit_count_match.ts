/** Bit count comparison: reports whether two bit streams have equal length; unequal lengths are not an error. */
import { BITS_ANY } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, z } from "../api.ts";
import { bitsOf } from "../../lib/artifact/values.ts";
import { dataPlane } from "../_data_plane.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "channel.bit_count_match",
  name: "Bit count comparison",
  description: "Reports whether two bit streams have equal length",
  inputs: { candidate: BITS_ANY, reference: BITS_ANY },
  params: z.strictObject({
    label: z.string().default("channel_io").describe("name of the comparison in the report"),
    data_plane_backend: dataPlaneParameter(),
  }),
  nativeKernels: true,
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context);
    const candidate_bit_count = bitsOf(inputs.candidate, kernels).length;
    const reference_bit_count = bitsOf(inputs.reference, kernels).length;
    const length_mismatch = Math.abs(candidate_bit_count - reference_bit_count);
    return {
      metrics: {},
      label: params.label,
      facts: { match: length_mismatch === 0, candidate_bit_count, reference_bit_count, length_mismatch },
    };
  },
});
