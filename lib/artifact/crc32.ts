/** CRC-32 (polynomial 0x04C11DB7 reflected), as ZIP and PNG use it. */
import { crc32 } from "node:zlib";

/** CRC-32 of a part that follows `previous`; also of shared memory, which the declared type leaves out. */
export function crc32Of(bytes: Uint8Array, previous = 0): number {
  return crc32(bytes as Uint8Array<ArrayBuffer>, previous);
}
