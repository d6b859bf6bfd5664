/** Like the relay, but not declared thread safe: it stands for a library with global state. */
import { bitsArtifact, bitsOf } from "../../../../lib/artifact/values.ts";
import { defineOperation } from "../../../../lib/contract/define.ts";
import { BITS, BITS_ANY } from "../../../../lib/contract/kinds.ts";
import { z } from "../../../../lib/contract/zod.ts";

export default defineOperation({
  id: "test.exclusive",
  name: "Exclusive step for tests",
  inputs: { bits: BITS_ANY },
  outputs: { bits: BITS },
  params: z.strictObject({}),
  // Shares nothing in fact; the declaration is what is under test.
  threadSafe: false,
  run: ({ inputs }) => ({ outputs: { bits: bitsArtifact(bitsOf(inputs.bits).slice()) } }),
});
