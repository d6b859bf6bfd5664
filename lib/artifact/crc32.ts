/** CRC-32 (polynomial 0x04C11DB7 reflected) of ZIP and PNG. */
import { nodeZlib } from "../contract/node_builtins.ts";

/** Time to load the native function: 15 ms, in which the tables take this many bytes. One long array is worth it at once. */
const TABLE_BYTES = 1 << 23, LONG_BYTES = 1 << 16;

/** Remainders of a byte that 0 to 7 zero bytes follow: eight bytes are then looked up beside each other. */
const TABLES = new Int32Array(8 * 256);
for (let byte = 0; byte < 256; byte++) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xEDB88320 ^ (crc >>> 1) : crc >>> 1;
  TABLES[byte] = crc;
}
for (let at = 256; at < TABLES.length; at++) TABLES[at] = TABLES[TABLES[at - 256] & 0xFF] ^ (TABLES[at - 256] >>> 8);

/** Bytes that were begun with the tables. */
let begun = 0;

/** CRC-32 of a part that follows `previous`. Shared memory is allowed, although the declared type excludes it. */
export function crc32Of(bytes: Uint8Array, previous = 0): number {
  if (bytes.length >= LONG_BYTES) begun = TABLE_BYTES;
  else if (begun < TABLE_BYTES) begun += bytes.length;
  return begun < TABLE_BYTES ? byTables(bytes, previous) : nodeZlib().crc32(bytes as Uint8Array<ArrayBuffer>, previous);
}

/** Exported for tests. */
export function byTables(bytes: Uint8Array, previous: number): number {
  let crc = ~previous, at = 0;
  for (const end = bytes.length - 7; at < end; at += 8) {
    crc ^= bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | bytes[at + 3] << 24;
    crc = TABLES[0x700 | crc & 0xFF] ^ TABLES[0x600 | crc >>> 8 & 0xFF] ^ TABLES[0x500 | crc >>> 16 & 0xFF] ^
      TABLES[0x400 | crc >>> 24] ^ TABLES[0x300 | bytes[at + 4]] ^ TABLES[0x200 | bytes[at + 5]] ^
      TABLES[0x100 | bytes[at + 6]] ^ TABLES[bytes[at + 7]];
  }
  for (; at < bytes.length; at++) crc = TABLES[(crc ^ bytes[at]) & 0xFF] ^ (crc >>> 8);
  return ~crc >>> 0;
}
