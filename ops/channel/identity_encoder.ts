/** No-op channel encoder: the input bits become coded bits at rate 1. */
import { BITS, CODED_BITS, FRAMED_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, z } from "../api.ts";
import { dataPlane } from "../_data_plane.ts";
import { relayBits } from "./_relay.ts";
import { sizeOfInput } from "../_same_shape.ts";

export default defineOperation({
  id: "channel.identity_encoder",
  name: "No-op channel encoder",
  description: "Returns the input bits unchanged as coded bits",
  inputs: { bits: [PAYLOAD_BITS, FRAMED_BITS, BITS] },
  outputs: { coded_bits: CODED_BITS },
  params: z.strictObject({ data_plane_backend: dataPlaneParameter() }),
  outputMetadataGuarantees: { coded_bits: { from: "bits", keys: ["boundary_contract", "bit_count"] } },
  estimate: (_params, { bits }) => ({ coded_bits: sizeOfInput(bits, "uint8") }),
  twin: true,
  threadSafe: true,
  nativeKernels: true,
  async run(context) {
    return { outputs: { coded_bits: relayBits(context.inputs.bits, "channel.bits", await dataPlane(context)) } };
  },
});
