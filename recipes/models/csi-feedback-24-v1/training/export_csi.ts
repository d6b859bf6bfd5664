/**
 * Writes channels of `source.csi_dataset` for train.py as one NPZ file: complex64 [row, antenna, subcarrier] per population.
 *
 *     deno run -A recipes/models/csi-feedback-24-v1/training/export_csi.ts <file.npz> <JSON: name -> parameters>
 */
import { writeNpz } from "../../../../lib/artifact/npz.ts";
import { runOperation } from "../../../../lib/conformance/run_operation.ts";
import type { NdArray } from "../../../../lib/numeric/array/ndarray.ts";
import csi from "../../../../ops/source/csi_dataset.ts";

const [file, populations] = Deno.args;
const arrays: Record<string, NdArray> = {};
for (const [name, params] of Object.entries(JSON.parse(populations))) {
  const { outputs } = await runOperation(csi, { params: params as Record<string, number> });
  arrays[name] = outputs.csi.array();
}
Deno.writeFileSync(file, writeNpz(arrays));
