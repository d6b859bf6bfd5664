/** Comparisons of the lengths of two streams; unequal lengths are not an error. */
import { BITS_ANY, SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, z } from "../api.ts";
import { bitsOf, symbolsOf } from "../../lib/artifact/values.ts";
import { dataPlane } from "../_data_plane.ts";
import { defineReport } from "../_report.ts";

const bitCountMatch = defineReport({
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

const symbolCountMatch = defineReport({
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

export default [bitCountMatch, symbolCountMatch];
