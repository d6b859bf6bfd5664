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
import { joinBytes } from "../../lib/artifact/join_bytes.ts";
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

/**
 * Frames consecutive source items, whose bits are given part by part.
 * @returns what makes the packets that are complete with the next part, in memory with any contents
 */
export function packetWriter(
  kernels: DataPlane,
  itemCounts: readonly number[],
  payloadBits: number,
): (bits: Uint8Array, memory: (length: number) => Uint8Array) => Uint8Array {
  const totalBits = PACKET_OVERHEAD_BITS + payloadBits, packet = new Uint8Array(totalBits / 8);
  const view = new DataView(packet.buffer);
  let item = 0, offset = 0, rest = new Uint8Array(0);
  /** Bits of the next packet; beyond all bits after the last one. */
  const lengthOf = (item: number, offset: number) =>
    item === itemCounts.length ? Infinity : Math.min(payloadBits, itemCounts[item] - offset);
  return (bits, memory) => {
    const given = rest.length === 0 ? bits : joinBytes([rest, bits]);
    let count = 0, at = 0, length: number;
    for (let i = item, from = offset; at + (length = lengthOf(i, from)) <= given.length; count++) {
      at += length;
      from += length;
      if (from === itemCounts[i]) [i, from] = [i + 1, 0];
    }
    const framed = memory(count * totalBits);
    at = 0;
    for (let index = 0; index < count; index++) {
      length = lengthOf(item, offset);
      packet.fill(0);
      view.setUint8(0, VERSION);
      view.setUint8(1, offset + length === itemCounts[item] ? LAST_PACKET_FLAG : 0);
      view.setUint32(2, item);
      view.setUint32(6, offset);
      view.setUint16(10, length);
      packet.set(kernels.packBits(given.subarray(at, at + length)), HEADER_BITS / 8);
      view.setUint32(packet.length - 4, kernels.crc32(packet.subarray(0, -4)));
      framed.set(kernels.unpackBits(packet), index * totalBits);
      at += length;
      offset += length;
      if (offset === itemCounts[item]) [item, offset] = [item + 1, 0];
    }
    rest = given.slice(at);
    return framed;
  };
}

export interface ReceivedItem {
  /** Valid payload bits of intact packets, full payloads of the others, in order. */
  bestEffort: Uint8Array[];
  /** 1 for a packet that is not intact or not in its position, else 0. */
  lost: number[];
}

/**
 * Reads received packets with their trusted layout.
 * @param packetCounts packets per source item
 * @returns the items, and what adds the next packets to them, whose bits the items keep
 */
export function packetReader(
  kernels: DataPlane,
  packetCounts: readonly number[],
  totalBits: number,
): { items: readonly ReceivedItem[]; read(bits: Uint8Array): void } {
  const payloadBits = totalBits - PACKET_OVERHEAD_BITS;
  const items = packetCounts.map((): ReceivedItem => ({ bestEffort: [], lost: [] }));
  let item = 0;
  const read = (bits: Uint8Array) => {
    for (let at = 0; at < bits.length; at += totalBits) {
      while (items[item].lost.length === packetCounts[item]) item++;
      const { lost, bestEffort } = items[item], packet = kernels.packBits(bits.subarray(at, at + totalBits));
      const view = new DataView(packet.buffer);
      const length = view.getUint16(10);
      const crcHolds = view.getUint32(packet.length - 4) === kernels.crc32(packet.subarray(0, -4));
      const inPlace = view.getUint8(0) === VERSION && view.getUint32(2) === item &&
        view.getUint32(6) === lost.length * payloadBits && length <= payloadBits;
      lost.push(crcHolds && inPlace ? 0 : 1);
      const start = at + HEADER_BITS;
      bestEffort.push(bits.subarray(start, start + (crcHolds && length <= payloadBits ? length : payloadBits)));
    }
  };
  return { items, read };
}
