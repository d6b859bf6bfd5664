/** A source of semantic indices for recipes of the tests: random ones of a codebook, one row per item. */
import { defineOperation, kinds, ndarray, seedParameter, z } from "../../../mod.ts";

export default defineOperation({
  id: "test.indices",
  name: "Random indices",
  outputs: { indices: kinds.INDICES },
  params: z.strictObject({ codebook_size: z.int().positive().default(100), seed: seedParameter() }),
  outputMetadataGuarantees: { indices: { keys: ["codebook_size", "source_item_counts"] } },
  threadSafe: true,
  run({ params, generator }) {
    const indices = Int32Array.from(generator.integers(0, params.codebook_size, 48, "int64"), Number);
    const metadata = { codebook_size: params.codebook_size, source_item_counts: [24, 24] };
    return { outputs: { indices: { array: ndarray("int32", indices, [2, 24]), metadata } } };
  },
});
