import assert from "node:assert/strict";
import randomBits from "../../../ops/source/random_bits.ts";
import { runOperation } from "../harness.ts";

Deno.test("the bits are NumPy's default_rng(seed).integers(0, 2, size, uint8)", async () => {
  const { outputs } = await runOperation(randomBits, { params: { bit_count: 8, batch_size: 2, seed: 23 } });
  assert.deepEqual([...outputs.bits.array().data as Uint8Array], [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1]);
  assert.deepEqual(outputs.bits.metadata.source_item_counts, [8, 8]);
  assert.equal(outputs.bits.metadata.boundary_contract, "payload.bits");
});
