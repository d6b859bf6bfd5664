/** Comparisons of the lengths of two streams; unequal lengths are not an error. */
import { BITS_ANY, SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, z } from "../api.ts";
import { bitsOf, symbolsOf } from "../../lib/artifact/values.ts";
import type { StreamInput } from "../../lib/contract/operation.ts";
import { dataPlane, portableOnly } from "../_data_plane.ts";
import { SYMBOL_COMPANIONS } from "../_noise_variance.ts";
import { defineReport, type Report } from "../_report.ts";

function countReport(unit: "bit" | "symbol", candidate: number, reference: number, label: string): Report {
  const length_mismatch = Math.abs(candidate - reference);
  return {
    metrics: {},
    label,
    facts: {
      match: length_mismatch === 0,
      [`candidate_${unit}_count`]: candidate,
      [`reference_${unit}_count`]: reference,
      length_mismatch,
    },
  };
}

/** Lengths are known before the first block, and values are checked where blocks are made. */
const countInBlocks = (unit: "bit" | "symbol", dtype: "uint8" | "complex64") => ({
  allows: (params: CountParams) => portableOnly(params),
  companions: SYMBOL_COMPANIONS,
  open: ({ inputs: { candidate, reference }, params: { label } }: {
    readonly inputs: { readonly candidate: StreamInput; readonly reference: StreamInput };
    readonly params: CountParams;
  }) =>
    candidate.metadata.dtype === dtype && reference.metadata.dtype === dtype
      ? { end: () => countReport(unit, candidate.length, reference.length, label) }
      : null,
});

interface CountParams {
  label: string;
  data_plane_backend?: string;
}

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
  streaming: countInBlocks("bit", "uint8"),
  async run(context) {
    const { inputs: { candidate, reference }, params } = context, kernels = await dataPlane(context);
    return countReport("bit", bitsOf(candidate, kernels).length, bitsOf(reference, kernels).length, params.label);
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
  streaming: countInBlocks("symbol", "complex64"),
  run: ({ inputs: { candidate, reference }, params }) =>
    countReport("symbol", symbolsOf(candidate).length / 2, symbolsOf(reference).length / 2, params.label),
});

export default [bitCountMatch, symbolCountMatch];
