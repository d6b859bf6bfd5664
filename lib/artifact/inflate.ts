/** Inflates data of unknown origin up to a declared size, as a whole or only its beginning. */
import { nodeZlib } from "../contract/node_builtins.ts";
import { messageOf, type SvcError } from "../contract/error.ts";
import type { ByteSource } from "./byte_source.ts";

/** The limit of deflate expansion. */
export const MAX_DEFLATE_RATIO = 1032;

export interface Packed {
  readonly source: ByteSource;
  readonly from: number;
  /** Packed bytes. */
  readonly length: number;
  /** Whether the stream has no zlib header (ZIP). */
  readonly raw: boolean;
  /** Makes the error for a reason. */
  readonly refuse: (why: string) => SvcError;
}

/** The contents, of exactly `size` bytes. @throws the error of `refuse` */
export function inflated(packed: Packed, size: number): Uint8Array {
  // One byte more than declared, to detect a longer stream.
  const contents = inflate(packed, packed.length, size + 1, nodeZlib().constants.Z_FINISH);
  if (contents.length !== size) throw packed.refuse(`does not have the declared ${size} bytes`);
  return contents;
}

/** The first bytes of the contents, without a check of the rest. @throws the error of `refuse` when there are fewer */
export function inflatedHead(packed: Packed, count: number): Uint8Array {
  for (let given = 1024;; given *= 2) {
    const limit = given * MAX_DEFLATE_RATIO + 64;
    const found = inflate(packed, Math.min(given, packed.length), limit, nodeZlib().constants.Z_SYNC_FLUSH);
    if (found.length >= count) return found.subarray(0, count);
    if (given >= packed.length) throw packed.refuse("has fewer bytes than declared");
  }
}

function inflate(
  { source, from, raw, refuse }: Packed,
  length: number,
  maxOutputLength: number,
  finishFlush: number,
): Uint8Array {
  try {
    const bytes = source.at(from, length) as Uint8Array<ArrayBuffer>;
    const { inflateRawSync, inflateSync } = nodeZlib();
    return (raw ? inflateRawSync : inflateSync)(bytes, { maxOutputLength, finishFlush });
  } catch (error) {
    throw refuse(`does not inflate (${messageOf(error)})`);
  }
}
