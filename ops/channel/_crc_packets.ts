/**
 * CRC packets, protocol `svc.source_item_crc32.v4`. A packet has 96 + P + 32 bits, fields most significant bit first:
 *
 *     0-7    version        4
 *     8-15   flags          bit 7: last packet of its item; others 0
 *     16-47  item_index     source item, from 0
 *     48-79  bit_offset     offset of this payload inside the item
 *     80-95  payload_length valid payload bits; the rest is zero padding
 *     96-…   payload        P bits, a multiple of 8
 *     last 32 crc32         of all bytes before it: polynomial 0x04C11DB7 reflected, initial value and final XOR
 *                           0xFFFFFFFF (CRC-32 of zlib, PNG and IEEE 802.3), written big-endian
 */
import type { DataPlane } from "../_data_plane.ts";

export const PACKET_PROTOCOL = "svc.source_item_crc32.v4";
/** Metadata keys of the trusted layout, which contains no payload content. */
export const LAYOUT_KEYS = [
  "packet_protocol",
  "packet_total_bits",
  "packet_source_item_counts",
  "packet_crc_reference",
];

const VERSION = 4;
const LAST_PACKET_FLAG = 1;
const HEADER_BITS = 96;
const CRC_BITS = 32;

/** Bits of a packet besides its payload. */
export const PACKET_OVERHEAD_BITS = HEADER_BITS + CRC_BITS;

/** Packets of an item; an item of zero bits is one packet of length 0. */
export function packetCount(itemBits: number, payloadBits: number): number {
  return Math.max(1, Math.ceil(itemBits / payloadBits));
}

/** Frames consecutive source items in `bits`. */
export function writePackets(
  kernels: DataPlane,
  bits: Uint8Array,
  itemCounts: readonly number[],
  payloadBits: number,
): Uint8Array {
  const totalBits = PACKET_OVERHEAD_BITS + payloadBits;
  const packets = itemCounts.reduce((sum, count) => sum + packetCount(count, payloadBits), 0);
  const framed = new Uint8Array(packets * totalBits);
  const packet = new Uint8Array(totalBits / 8);
  const view = new DataView(packet.buffer);
  let at = 0, itemStart = 0;
  itemCounts.forEach((itemBits, item) => {
    for (let offset = 0; offset === 0 || offset < itemBits; offset += payloadBits) {
      const length = Math.min(payloadBits, itemBits - offset);
      packet.fill(0);
      view.setUint8(0, VERSION);
      view.setUint8(1, offset + length === itemBits ? LAST_PACKET_FLAG : 0);
      view.setUint32(2, item);
      view.setUint32(6, offset);
      view.setUint16(10, length);
      packet.set(kernels.packBits(bits.subarray(itemStart + offset, itemStart + offset + length)), HEADER_BITS / 8);
      view.setUint32(packet.length - 4, kernels.crc32(packet.subarray(0, -4)));
      framed.set(kernels.unpackBits(packet), at);
      at += totalBits;
    }
    itemStart += itemBits;
  });
  return framed;
}

export interface ReceivedItem {
  /** Whether all of its packets are intact and in their position. */
  delivered: boolean;
  /** Valid payload bits of intact packets, full payloads of the others, in order. */
  bestEffort: Uint8Array[];
  packets: number;
  /** 1 for a packet that is not intact, else 0. */
  lost: number[];
}

/**
 * Reads received packets with their trusted layout.
 * @param bits exactly the packets of the layout
 * @param packetCounts packets per source item
 */
export function readPackets(
  kernels: DataPlane,
  bits: Uint8Array,
  packetCounts: readonly number[],
  totalBits: number,
): ReceivedItem[] {
  const payloadBits = totalBits - PACKET_OVERHEAD_BITS;
  let at = 0;
  return packetCounts.map((packets, item) => {
    const bestEffort: Uint8Array[] = [];
    const lost: number[] = [];
    for (let index = 0; index < packets; index++, at += totalBits) {
      const packet = kernels.packBits(bits.subarray(at, at + totalBits));
      const view = new DataView(packet.buffer);
      const length = view.getUint16(10);
      const crcHolds = view.getUint32(packet.length - 4) === kernels.crc32(packet.subarray(0, -4));
      const inPlace = view.getUint8(0) === VERSION && view.getUint32(2) === item &&
        view.getUint32(6) === index * payloadBits && length <= payloadBits;
      lost.push(crcHolds && inPlace ? 0 : 1);
      const start = at + HEADER_BITS;
      bestEffort.push(bits.subarray(start, start + (crcHolds && length <= payloadBits ? length : payloadBits)));
    }
    return { delivered: !lost.includes(1), bestEffort, packets, lost };
  });
}
