/** The shared definition of operations that only change the kind of a bit stream. */
import { defineOperation, type Operation, z } from "../api.ts";
import { PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { relayBits } from "./_relay.ts";

/** Passes payload bits unchanged. */
export function passthrough(id: string, name: string, description: string, kinds: readonly string[]): Operation {
  return defineOperation({
    id,
    name,
    description,
    inputs: { bits: kinds },
    outputs: { bits: PAYLOAD_BITS },
    params: z.strictObject({}),
    outputMetadataGuarantees: { bits: { from: "bits", keys: ["boundary_contract", "bit_count"] } },
    twin: true,
    threadSafe: true,
    run: ({ inputs }) => ({ outputs: { bits: relayBits(inputs.bits, "payload.bits") } }),
  });
}
