/**
 * Transport format of an NR shared channel: modulation and code rate of an MCS row, the transport block size that TS 38.214
 * section 5.1.3.2 forms from the resources, and the coded bits G that they carry. Formulas: lib/numeric/link/nr_transport_format.ts.
 *
 * The effective code rate is that of all information bits with their CRCs. Metrics: spectral efficiency in bit per
 * resource element. Draws nothing.
 */
import { defineOperation, messageOf, type ParameterProblem, SvcError, z } from "../api.ts";
import {
  checkFormat,
  FORMAT_PARAMS,
  formatArtifact,
  formatOf,
  type FormatParams,
  rowsOf,
  TRANSPORT_FORMAT,
} from "../_nr_transport_format.ts";

export default defineOperation({
  id: "source.nr_transport_format",
  name: "NR transport format",
  description: "Forms transport block size and coded bits from an MCS index and resources, as TS 38.214 does",
  outputs: { format: TRANSPORT_FORMAT },
  params: z.strictObject({
    ...FORMAT_PARAMS,
    mcs_index: z.int().min(0).max(31).default(10).describe("row of the MCS table; the last rows are reserved"),
  }),
  equivalence: { type: "exact" },
  formats: { artifact: "json", tensor: "none" },
  estimate: () => ({ format: 1024 }),
  check: (params) => [...checkFormat(params), ...checkIndex(params)],
  run({ params }) {
    const row = rowsOf(params)[params.mcs_index];
    if (row === undefined) throw new SvcError("params_conflict", checkIndex(params)[0].message);
    const { artifact, metrics } = formatArtifact(params.mcs_index, row, formatOf(row, params), params);
    return { outputs: { format: artifact }, metrics };
  },
});

/** An index without a row, and a row that does not fit on the resources. */
function checkIndex(params: FormatParams & { mcs_index: number }): ParameterProblem[] {
  const { mcs_index: index, mcs_table: table } = params, rows = rowsOf(params), place = ["mcs_index"];
  if (index >= rows.length) {
    const hint = `Set mcs_index to ${rows.length - 1} or less`;
    return [{ place, message: `Cannot use the reserved row ${index} of ${table}`, hint }];
  }
  try {
    formatOf(rows[index], params);
    return [];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ place, message: messageOf(error), hint: "Lower mcs_index, or give the block more resource elements" }];
  }
}
