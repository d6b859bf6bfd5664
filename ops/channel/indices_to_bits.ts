/** Indices to bits: each index most significant bit first in ceil(log2(max(codebook_size, 2))) bits, in C order. */
import { INDICES, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, SvcError, z } from "../api.ts";
import { bitsArtifact, companionsOf, travel } from "../../lib/artifact/values.ts";
import { dataPlane, madeOn } from "../_data_plane.ts";
import { codebookOf } from "./_indices.ts";
import { recountedItems } from "./_serial.ts";

export default defineOperation({
  id: "channel.indices_to_bits",
  name: "Indices to bits",
  description: "Packs integer codes into payload bits",
  inputs: { indices: [INDICES] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({ data_plane_backend: dataPlaneParameter() }),
  inputMetadataRequirements: { indices: { all_of: ["codebook_size"] } },
  outputMetadataGuarantees: {
    bits: { from: "indices", keys: ["boundary_contract", "bit_count", "codebook_size", "index_shape"] },
  },
  threadSafe: true,
  nativeKernels: true,
  async run(context) {
    const { inputs } = context, kernels = await dataPlane(context);
    const { metadata } = inputs.indices;
    const { size, width } = codebookOf(metadata);
    const { dtype, shape, data } = inputs.indices.array();
    if (!/^u?int/.test(dtype)) throw new SvcError("boundary_dtype_invalid", `Cannot use ${dtype} data as indices`);
    const indices = Int32Array.from(data as Int32Array, (entry: number | bigint) => {
      const index = Number(entry);
      if (index >= 0 && index < size) return index;
      throw new SvcError("boundary_value_invalid", `Cannot find the index ${index} in a codebook of ${size}`);
    });
    const payload = madeOn(
      kernels,
      bitsArtifact(
        kernels.indexBits(indices, width),
        travel(metadata, { index_shape: [...shape], ...recountedItems(metadata, data.length, width) }),
        "payload.bits",
      ),
    );
    return { outputs: { bits: { ...payload, companions: companionsOf(inputs.indices) } } };
  },
});
