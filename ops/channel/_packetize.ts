/** The shared part of both versions of the packetiser. */
import { dataPlaneParameter, type InputArtifact, type OutputArtifact, type ParameterProblem, z } from "../api.ts";
import { bitsArtifact, bitsOf, companionsOf, sourceItemCounts, travel } from "../../lib/artifact/values.ts";
import { type DataPlane, madeOn } from "../_data_plane.ts";
import { LAYOUT_KEYS, PACKET_OVERHEAD_BITS, PACKET_PROTOCOL, packetCount, writePackets } from "./_crc_packets.ts";

export const PACKETIZE_PARAMS = z.strictObject({
  packet_payload_bits: z.int().min(8).max(65528).default(4096).describe("payload bits per packet, a multiple of 8"),
  data_plane_backend: dataPlaneParameter(),
});

export const PACKETIZED_KEYS = ["boundary_contract", "bit_count", "source_item_counts", ...LAYOUT_KEYS];

export function checkPacketize({ packet_payload_bits: bits }: { packet_payload_bits: number }): ParameterProblem[] {
  if (bits % 8 === 0) return [];
  return [{
    code: "params_invalid",
    message: `Cannot fill whole bytes with ${bits} payload bits`,
    place: ["packet_payload_bits"],
    hint: `Choose a multiple of 8, such as ${Math.ceil(bits / 8) * 8}`,
  }];
}

/** Cuts each source item into CRC packets; a stream without declared items is one item. */
export function packetize(
  kernels: DataPlane,
  input: InputArtifact,
  payloadBits: number,
  contract: "channel.bits" | "payload.bits",
) {
  const bits = bitsOf(input, kernels);
  const items = sourceItemCounts(input.metadata, bits.length) ?? [bits.length];
  const packets = items.map((count) => packetCount(count, payloadBits));
  const totalBits = PACKET_OVERHEAD_BITS + payloadBits;
  const metadata = travel(input.metadata, {
    source_item_counts: packets.map((count) => count * totalBits),
    packet_protocol: PACKET_PROTOCOL,
    packet_total_bits: totalBits,
    packet_source_item_counts: packets,
    packet_crc_reference: "received_crc_only",
  });
  const framed = madeOn(kernels, bitsArtifact(writePackets(kernels, bits, items, payloadBits), metadata, contract));
  return { ...framed, companions: companionsOf(input) } satisfies OutputArtifact;
}
