/** No-op channel decoder: the received coded bits become payload bits. */
import { BITS, CODED_BITS, DEMOD_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, z } from "../api.ts";
import { dataPlane } from "../_data_plane.ts";
import { relayBits } from "./_relay.ts";
import { sizeOfInput } from "../_same_shape.ts";

export default defineOperation({
  id: "channel.identity_decoder",
  name: "No-op channel decoder",
  description: "Returns the coded bits unchanged as payload bits",
  inputs: { coded_bits: [CODED_BITS, DEMOD_BITS, PAYLOAD_BITS, BITS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({ data_plane_backend: dataPlaneParameter() }),
  outputMetadataGuarantees: { bits: { from: "coded_bits", keys: ["boundary_contract", "bit_count"] } },
  estimate: (_params, { coded_bits }) => ({ bits: sizeOfInput(coded_bits, "uint8") }),
  twin: true,
  threadSafe: true,
  nativeKernels: true,
  async run(context) {
    return { outputs: { bits: relayBits(context.inputs.coded_bits, "payload.bits", await dataPlane(context)) } };
  },
});
