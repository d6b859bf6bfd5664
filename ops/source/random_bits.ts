/**
 * Random bits: integers(0, 2, size = batch_size · bit_count, uint8) of the step's PCG64 stream, batch row by row; a row
 * is a source item.
 */
import { PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { blockMemory } from "../../lib/numeric/array/shared_array.ts";
import { dataPlaneParameter, defineOperation, seedParameter, z } from "../api.ts";
import { bitMetadata, bitsArtifact } from "../../lib/artifact/values.ts";
import { dataPlane, madeOn, portableOnly } from "../_data_plane.ts";

export default defineOperation({
  id: "source.random_bits",
  name: "Random bit source",
  description: "Draws uniform payload bits; equal seeds and counts give equal bits everywhere",
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    bit_count: z.int().positive().default(4096).describe("bits per row"),
    batch_size: z.int().positive().default(1).describe("rows; each is one source item"),
    seed: seedParameter(0),
    data_plane_backend: dataPlaneParameter(),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "exact" },
  formats: { artifact: "npz", tensor: "none" },
  outputMetadataGuarantees: { bits: { keys: ["boundary_contract", "bit_count", "source_item_counts"] } },
  estimate: ({ bit_count, batch_size }) => ({ bits: [["uint8", bit_count * batch_size]] }),
  twin: true,
  nativeKernels: true,
  streaming: {
    allows: portableOnly,
    open({ params, generator }) {
      const length = params.bit_count * params.batch_size, memory = blockMemory(Uint8Array);
      return {
        arrays: { bits: { dtype: "uint8", length, metadata: bitMetadata(length, itemsOf(params), "payload.bits") } },
        next(_, count) {
          const bits = memory(count);
          generator.fillIntegers(0, 2, bits, "uint8");
          return { bits };
        },
      };
    },
  },
  async run(context) {
    const { params, generator, threads } = context, kernels = await dataPlane(context);
    const bits = kernels.randomBits(generator, params.batch_size * params.bit_count, { threads });
    return { outputs: { bits: madeOn(kernels, bitsArtifact(bits, itemsOf(params), "payload.bits")) } };
  },
});

const itemsOf = ({ bit_count, batch_size }: { bit_count: number; batch_size: number }) => ({
  source_item_counts: Array.from({ length: batch_size }, () => bit_count),
});
