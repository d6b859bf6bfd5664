/** CRC32 packet framing, and its inverse. Layout and CRC: _crc_packets.ts. */
import {
  dataPlaneParameter,
  defineOperation,
  type InputArtifact,
  type JsonObject,
  type Metrics,
  SvcError,
  z,
} from "../api.ts";
import {
  bitMetadata,
  bitsArtifact,
  bitsOf,
  companionsOf,
  metadataCounts,
  metadataNumber,
  metadataText,
  sourceItemCounts,
  travel,
} from "../../lib/artifact/values.ts";
import { type DataPlane, dataPlane, madeOn, portableOnly } from "../_data_plane.ts";
import {
  LAYOUT_KEYS,
  PACKET_OVERHEAD_BITS,
  PACKET_PROTOCOL,
  packetCount,
  packetReader,
  packetWriter,
} from "./_crc_packets.ts";
import { blockwise, LEAST_BYTES } from "./_blockwise.ts";
import { BITS, DEMOD_BITS, FRAMED_BITS, PAYLOAD_BITS, PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { joinBytes } from "../../lib/artifact/join_bytes.ts";
import { declareUnit, rateCounts, successes } from "../../lib/artifact/statistical_unit.ts";
import { rateMetadata } from "../../lib/contract/metric_metadata.ts";
import { notExported } from "../_backends.ts";

/**
 * CRC32 packet framing: splits every source item into packets with their position and a CRC32; the last packet of an
 * item is zero-padded and contains its valid length. Version 2 has a separate kind for framed bits.
 */
const packetizer = (
  { contract, ...version }: {
    id: string;
    name: string;
    description: string;
    inputs: { bits: readonly string[] };
    outputs: { bits: string };
    contract: "channel.bits" | "payload.bits";
  },
) =>
  defineOperation({
    ...version,
    params: z.strictObject({
      packet_payload_bits: z.int().min(8).max(65528).default(4096).describe("payload bits per packet, a multiple of 8"),
      data_plane_backend: dataPlaneParameter(),
    }),
    differentiability: { framework: "numpy", gradient: "stop", trainable_params: false, exportable: false },
    outputMetadataGuarantees: {
      bits: { from: "bits", keys: ["boundary_contract", "bit_count", "source_item_counts", ...LAYOUT_KEYS] },
    },
    check({ packet_payload_bits: bits }) {
      if (bits % 8 === 0) return [];
      return [{
        code: "params_invalid",
        message: `Cannot fill whole bytes with ${bits} payload bits`,
        place: ["packet_payload_bits"],
        hint: `Choose a multiple of 8, such as ${Math.ceil(bits / 8) * 8}`,
      }];
    },
    nativeKernels: true,
    ...blockwise("bits", "bits", "uint8", {
      begin(
        { metadata, length: bitCount },
        { packet_payload_bits: size }: { packet_payload_bits: number },
        { kernels },
      ) {
        // A stream without declared items is one item.
        const items = sourceItemCounts(metadata, bitCount) ?? [bitCount], totalBits = PACKET_OVERHEAD_BITS + size;
        const packets = items.map((count) => packetCount(count, size));
        const length = packets.reduce((sum, count) => sum + count, 0) * totalBits;
        const framed = travel(metadata, {
          source_item_counts: packets.map((count) => count * totalBits),
          packet_protocol: PACKET_PROTOCOL,
          packet_total_bits: totalBits,
          packet_source_item_counts: packets,
          packet_crc_reference: "received_crc_only",
        });
        return { length, metadata: bitMetadata(length, framed, contract), next: packetWriter(kernels, items, size) };
      },
    }),
  });

const packetizeCrc32 = packetizer({
  id: "channel.packetize_crc32",
  name: "CRC32 packet framing",
  description: "Splits payload into CRC32-protected packets, per source item",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { bits: PAYLOAD_BITS },
  contract: "payload.bits",
});
const packetizeCrc32V2 = packetizer({
  id: "channel.packetize_crc32.v2",
  name: "CRC32 packet framing, strict",
  description: "Splits payload bits into CRC32-protected packets of the kind for framed bits",
  inputs: { bits: [PAYLOAD_BITS] },
  outputs: { bits: FRAMED_BITS },
  contract: "channel.bits",
});

/**
 * CRC32 verify and unpack. One failed packet fails its source item: with `gray_image` and `erasure` all payload bits of
 * the item become zeros; with `report_outage` they are the best estimate (valid lengths where the CRC holds, full
 * payloads elsewhere). Later decoders treat the items of failed_item_indices as failed, whatever their bits. The
 * statistical unit is the source item, or the packet where a packet fails alone.
 */
const crc32Check = defineOperation({
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
  nativeKernels: true,
  streaming: {
    least: LEAST_BYTES,
    allows: portableOnly,
    late: ["bits"],
    async open(context) {
      const { bits } = context.inputs, kernels = await dataPlane(context);
      const { unit, read, result } = checking(kernels, bits, bits.length, context.params.on_decode_failure);
      return {
        arrays: {},
        unit: { bits: unit },
        next(blocks) {
          read((blocks.bits.data as Uint8Array).slice());
          return {};
        },
        end: result,
      };
    },
  },
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context), bits = bitsOf(inputs.bits, kernels);
    const { read, result } = checking(kernels, inputs.bits, bits.length, params.on_decode_failure);
    read(bits);
    return result();
  },
});

/** Reads the packets of a stream, and makes the output of all. */
function checking(kernels: DataPlane, input: InputArtifact, bitCount: number, onFailure: string) {
  const { totalBits, packetCounts } = trustedLayout(input.metadata, bitCount);
  const payloadBits = totalBits - PACKET_OVERHEAD_BITS,
    { items, read } = packetReader(kernels, packetCounts, totalBits);
  const result = () => {
    const bestEffort = onFailure === "report_outage", delivered = items.map(({ lost }) => !lost.includes(1));
    const pieces = items.map((item, index) =>
      delivered[index] || bestEffort ? item.bestEffort : [new Uint8Array(item.lost.length * payloadBits)]
    );
    const itemBitCounts = pieces.map((parts) => parts.reduce((sum, part) => sum + part.length, 0));
    const lost = rateCounts(items.flatMap((item) => item.lost), input.metadata, "packet");
    const { trials: packets } = lost, intact = packets - lost.events;
    const metrics: Metrics = packets === 0 ? {} : { "channel.packet_success_rate": intact / packets };
    const byPacket = bestEffort || packets === items.length;
    const metadata = travel(input.metadata, {
      source_item_counts: itemBitCounts,
      item_bit_counts: itemBitCounts,
      failed_item_indices: delivered.flatMap((one, index) => (one ? [] : [index])),
      packet_success_count: intact,
      packet_count: packets,
      on_decode_failure: onFailure,
      ...declareUnit(input.metadata, byPacket ? "packet" : "source_item", {
        counts: byPacket ? pieces.flat().map((part) => part.length) : itemBitCounts,
      }),
    }, LAYOUT_KEYS);
    const payload = madeOn(kernels, bitsArtifact(joinBytes(pieces.flat()), metadata, "payload.bits"));
    return {
      outputs: { bits: { ...payload, companions: companionsOf(input) } },
      metrics,
      metadata: rateMetadata({ "channel.packet_success_rate": successes(lost) }),
    };
  };
  return { unit: totalBits, read, result };
}

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

export default [packetizeCrc32, packetizeCrc32V2, crc32Check];
