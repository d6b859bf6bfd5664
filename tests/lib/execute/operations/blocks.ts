/** A relay of bits that works in blocks; may fail at a bit, need the whole array, or take its time. */
import { checkBits } from "../../../../lib/artifact/boundary.ts";
import { bitMetadata, bitsArtifact, bitsOf } from "../../../../lib/artifact/values.ts";
import { defineOperation } from "../../../../lib/contract/define.ts";
import { SvcError } from "../../../../lib/contract/error.ts";
import { BITS, BITS_ANY } from "../../../../lib/contract/kinds.ts";
import { z } from "../../../../lib/contract/zod.ts";

export default defineOperation({
  id: "test.blocks",
  name: "Relay in blocks for tests",
  inputs: { bits: BITS_ANY },
  outputs: { bits: BITS },
  params: z.strictObject({
    fail_at: z.int().default(-1),
    whole: z.boolean().default(false),
    short: z.boolean().default(false),
    pause_ms: z.int().default(0),
  }),
  threadSafe: true,
  streaming: {
    open({ inputs: { bits: { length } }, params }) {
      if (params.whole) return null;
      let from = 0;
      return {
        arrays: { bits: { dtype: "uint8", length, metadata: bitMetadata(length, { mark: "relay" }) } },
        next({ bits }) {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, params.pause_ms);
          const block = checkBits(bits), end = from + block.length;
          refuse(params.fail_at, from, end);
          from = end;
          // A defect: the last bit is missing.
          return { bits: params.short && end === length ? block.subarray(1) : block };
        },
      };
    },
  },
  run({ inputs, params }) {
    const bits = bitsOf(inputs.bits);
    refuse(params.fail_at, 0, bits.length);
    return { outputs: { bits: bitsArtifact(bits, { mark: "relay" }) } };
  },
});

function refuse(bit: number, from: number, end: number): void {
  if (bit >= from && bit < end) throw new SvcError("boundary_value_invalid", `Cannot relay bit ${bit}`);
}
