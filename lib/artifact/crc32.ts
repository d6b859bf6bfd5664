/** CRC-32 (polynomial 0x04C11DB7 reflected) of ZIP and PNG. */
import { nodeZlib } from "../contract/node_builtins.ts";

/** The native function takes 15 ms to load, as long as the table takes for this many bytes. */
const TABLE_BYTES = 1 << 18;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xEDB88320 ^ (crc >>> 1) : crc >>> 1;
  return crc;
});

/** Bytes that were begun with the table. */
let begun = 0;

/** CRC-32 of a part that follows `previous`. Shared memory is allowed, although the declared type excludes it. */
export function crc32Of(bytes: Uint8Array, previous = 0): number {
  if (begun < TABLE_BYTES) begun += bytes.length;
  return begun < TABLE_BYTES ? byTable(bytes, previous) : nodeZlib().crc32(bytes as Uint8Array<ArrayBuffer>, previous);
}

/** Exported for tests. */
export function byTable(bytes: Uint8Array, previous: number): number {
  let crc = ~previous;
  for (let i = 0; i < bytes.length; i++) crc = TABLE[(crc ^ bytes[i]) & 0xFF] ^ (crc >>> 8);
  return ~crc >>> 0;
}
