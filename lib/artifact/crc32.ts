/** CRC-32 (polynomial 0x04C11DB7 reflected) of ZIP and PNG. */
import { crc32 } from "node:zlib";

/** CRC-32 of a part that follows `previous`. Shared memory is allowed, although the declared type excludes it. */
export function crc32Of(bytes: Uint8Array, previous = 0): number {
  return crc32(bytes as Uint8Array<ArrayBuffer>, previous);
}
