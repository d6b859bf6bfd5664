/**
 * CRC32 packet framing: splits every source item into packets with their position and a CRC32; the last packet of an
 * item is zero-padded and contains its valid length. Layout and CRC: _crc_packets.ts.
 */
import { PAYLOAD_BITS, PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../api.ts";
import { dataPlane } from "../_data_plane.ts";
import { checkPacketize, packetize, PACKETIZE_PARAMS, PACKETIZED_KEYS } from "./_packetize.ts";

export default defineOperation({
  id: "channel.packetize_crc32",
  name: "CRC32 packet framing",
  description: "Splits payload into CRC32-protected packets, per source item",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { bits: PAYLOAD_BITS },
  params: PACKETIZE_PARAMS,
  differentiability: { framework: "numpy", gradient: "stop", trainable_params: false, exportable: false },
  outputMetadataGuarantees: { bits: { from: "bits", keys: PACKETIZED_KEYS } },
  check: checkPacketize,
  threadSafe: true,
  nativeKernels: true,
  async run(context) {
    const { inputs, params: { packet_payload_bits: size } } = context;
    return { outputs: { bits: packetize(await dataPlane(context), inputs.bits, size, "payload.bits") } };
  },
});
