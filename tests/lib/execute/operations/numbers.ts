/** Emits `count` random bits; the seed decides them. */
import { bitsArtifact } from "../../../../lib/artifact/values.ts";
import { defineOperation } from "../../../../lib/contract/define.ts";
import { BITS } from "../../../../lib/contract/kinds.ts";
import { seedParameter } from "../../../../lib/contract/schema.ts";
import { z } from "../../../../lib/contract/zod.ts";

export default defineOperation({
  id: "test.numbers",
  name: "Random bits for tests",
  outputs: { bits: BITS },
  params: z.strictObject({ count: z.int().default(64), seed: seedParameter(0) }),
  threadSafe: true,
  run: ({ params, generator }) => ({
    outputs: { bits: bitsArtifact(generator.integers(0, 2, params.count, "uint8") as Uint8Array) },
    metrics: { "test.count": BigInt(params.count), "test.half": 0.5 },
  }),
});
