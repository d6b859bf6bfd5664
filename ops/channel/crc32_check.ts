/**
 * CRC32 verify and unpack. One failed packet fails its source item: with `gray_image` and `erasure` all payload bits of
 * the item become zeros; with `report_outage` they are the best estimate (valid lengths where the CRC holds, full
 * payloads elsewhere). Later decoders treat the items of failed_item_indices as failed, whatever their bits. The
 * statistical unit is the source item, or the packet where a packet fails alone.
 */
import { joinBytes } from "../../lib/artifact/join_bytes.ts";
import { BITS, DEMOD_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, type JsonObject, type Metrics, SvcError, z } from "../api.ts";
import {
  bitsArtifact,
  bitsOf,
  companionsOf,
  metadataCounts,
  metadataNumber,
  metadataText,
  travel,
} from "../../lib/artifact/values.ts";
import { declareUnit, rateCounts, successes } from "../../lib/artifact/statistical_unit.ts";
import { rateMetadata } from "../../lib/contract/metric_metadata.ts";
import { notExported } from "../_backends.ts";
import { dataPlane, madeOn } from "../_data_plane.ts";
import { LAYOUT_KEYS, PACKET_OVERHEAD_BITS, PACKET_PROTOCOL, readPackets } from "./_crc_packets.ts";

export default defineOperation({
  id: "channel.crc32_check",
  name: "CRC32 verify and unpack",
  description: "Verifies the CRC32 of every packet and returns the payload of each source item",
  inputs: { bits: [PAYLOAD_BITS, BITS, DEMOD_BITS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    on_decode_failure: z.enum(["gray_image", "erasure", "report_outage"]).default("gray_image")
      .describe("bits of a failed item: zeros, or the received bits"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: notExported("numpy", "stop", "Hard decisions"),
  inputMetadataRequirements: { bits: { all_of: LAYOUT_KEYS.slice(0, 3) } },
  outputMetadataGuarantees: {
    bits: {
      from: "bits",
      keys: [
        "boundary_contract",
        "bit_count",
        "source_item_counts",
        "item_bit_counts",
        "failed_item_indices",
        "packet_success_count",
        "packet_count",
      ],
    },
  },
  threadSafe: true,
  nativeKernels: true,
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context);
    const bits = bitsOf(inputs.bits, kernels);
    const { totalBits, packetCounts } = trustedLayout(inputs.bits.metadata, bits.length);
    const payloadBits = totalBits - PACKET_OVERHEAD_BITS;
    const items = readPackets(kernels, bits, packetCounts, totalBits);
    const bestEffort = params.on_decode_failure === "report_outage";
    const pieces = items.map((item) =>
      item.delivered || bestEffort ? item.bestEffort : [new Uint8Array(item.packets * payloadBits)]
    );
    const itemBitCounts = pieces.map((parts) => parts.reduce((sum, part) => sum + part.length, 0));
    const failed = items.flatMap((item, index) => (item.delivered ? [] : [index]));
    const lost = rateCounts(items.flatMap((item) => item.lost), inputs.bits.metadata, "packet");
    const { trials: packets } = lost, intact = packets - lost.events;
    const metrics: Metrics = packets === 0 ? {} : { "channel.packet_success_rate": intact / packets };
    const byPacket = bestEffort || packets === items.length;
    const metadata = travel(inputs.bits.metadata, {
      source_item_counts: itemBitCounts,
      item_bit_counts: itemBitCounts,
      failed_item_indices: failed,
      packet_success_count: intact,
      packet_count: packets,
      on_decode_failure: params.on_decode_failure,
      ...declareUnit(inputs.bits.metadata, byPacket ? "packet" : "source_item", {
        counts: byPacket ? pieces.flat().map((part) => part.length) : itemBitCounts,
      }),
    }, LAYOUT_KEYS);
    const payload = madeOn(kernels, bitsArtifact(joinBytes(pieces.flat()), metadata, "payload.bits"));
    return {
      outputs: { bits: { ...payload, companions: companionsOf(inputs.bits) } },
      metrics,
      metadata: rateMetadata({ "channel.packet_success_rate": successes(lost) }),
    };
  },
});

function trustedLayout(metadata: JsonObject, bitCount: number) {
  const missing = (what: string) =>
    new SvcError("packet_layout_missing", `Cannot find the packets in ${bitCount} bits: ${what}`, {
      hint: "Put a channel.packetize_crc32 step before the channel",
    });
  const protocol = metadataText(metadata, "packet_protocol");
  const totalBits = metadataNumber(metadata, "packet_total_bits");
  const packetCounts = metadataCounts(metadata, "packet_source_item_counts");
  if (protocol === undefined || totalBits === undefined || packetCounts === undefined) {
    throw missing("their layout is missing in the metadata");
  }
  if (protocol !== PACKET_PROTOCOL) throw missing(`the protocol ${protocol} is not ${PACKET_PROTOCOL}`);
  if (!Number.isSafeInteger(totalBits) || totalBits % 8 !== 0 || totalBits <= PACKET_OVERHEAD_BITS) {
    throw missing(`a packet cannot have ${totalBits} bits`);
  }
  const expected = packetCounts.reduce((sum, count) => sum + count, 0) * totalBits;
  if (expected !== bitCount) {
    throw new SvcError("boundary_count_mismatch", `Cannot cut ${bitCount} bits into packets of ${expected} bits`);
  }
  return { totalBits, packetCounts };
}
