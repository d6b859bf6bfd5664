/** CRC32 packet framing as channel.packetize_crc32, with a separate kind for framed bits. */
import { FRAMED_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../api.ts";
import { dataPlane } from "../_data_plane.ts";
import { checkPacketize, packetize, PACKETIZE_PARAMS, PACKETIZED_KEYS } from "./_packetize.ts";

export default defineOperation({
  id: "channel.packetize_crc32.v2",
  name: "CRC32 packet framing, strict",
  description: "Splits payload bits into CRC32-protected packets of the kind for framed bits",
  inputs: { bits: [PAYLOAD_BITS] },
  outputs: { bits: FRAMED_BITS },
  params: PACKETIZE_PARAMS,
  differentiability: { framework: "numpy", gradient: "stop", trainable_params: false, exportable: false },
  outputMetadataGuarantees: { bits: { from: "bits", keys: PACKETIZED_KEYS } },
  check: checkPacketize,
  threadSafe: true,
  nativeKernels: true,
  async run(context) {
    const { inputs, params: { packet_payload_bits: size } } = context;
    return { outputs: { bits: packetize(await dataPlane(context), inputs.bits, size, "channel.bits") } };
  },
});
