/** Payloads of UTF-8 text: the bytes of their source items, their text, and their errors. */
import { type JsonObject, SvcError } from "./api.ts";
import { bitsArtifact, metadataCounts } from "../lib/artifact/values.ts";
import { packBits, unpackBits } from "../lib/numeric/array/bit_packing.ts";

/** `payload_format` of a payload whose source items are the texts themselves. */
export const ITEM_FORMAT = "utf8_items";

const UNREADABLE = "boundary_utf8_invalid";

export const unreadable = (reason: string): SvcError => new SvcError(UNREADABLE, `Cannot read the payload: ${reason}`);

export const isUnreadable = (error: unknown): boolean => error instanceof SvcError && error.code === UNREADABLE;

/** The ids under a key of the trusted metadata, or undefined. @throws SvcError `boundary_value_invalid` */
export function trustedIds(metadata: JsonObject, key: string): string[] | undefined {
  const ids = metadata[key];
  if (ids === undefined || ids === null) return undefined;
  if (Array.isArray(ids) && ids.every((id) => typeof id === "string")) return ids as string[];
  throw new SvcError("boundary_value_invalid", `Cannot read the metadata ${key} as a list of ids`);
}

/**
 * The bytes of a payload. It is the first and only source item; bits after it are padding of the link.
 * @param strict refuses bits that are not whole bytes, instead of dropping the last ones
 * @throws SvcError that {@link isUnreadable} when the link lost the item
 */
export function payloadBytes(bits: Uint8Array, metadata: JsonObject, strict: boolean): Uint8Array {
  if (metadataCounts(metadata, "failed_item_indices")?.includes(0)) throw unreadable("the link lost it");
  const counts = metadataCounts(metadata, "item_bit_counts") ?? metadataCounts(metadata, "source_item_counts");
  const payload = bits.subarray(0, counts?.[0] ?? bits.length);
  if (strict && payload.length % 8 !== 0) throw unreadable(`its ${payload.length} bits are not whole bytes`);
  return packBits(payload.subarray(0, payload.length - payload.length % 8));
}

/**
 * The bytes of each source item by the trusted layout; undefined where the link lost it, or where bits are missing.
 * @throws SvcError `boundary_count_mismatch` when the layout has another number of items
 */
export function payloadItems(bits: Uint8Array, metadata: JsonObject, count: number): (Uint8Array | undefined)[] {
  const counts = metadataCounts(metadata, "item_bit_counts") ?? metadataCounts(metadata, "source_item_counts");
  if (counts?.length !== count) {
    throw new SvcError(
      "boundary_count_mismatch",
      `Cannot cut a payload into ${count} items: its layout has another number`,
    );
  }
  const failed = new Set(metadataCounts(metadata, "failed_item_indices"));
  let start = 0;
  return counts.map((length, index) => {
    const end = start + length, part = bits.subarray(start, end);
    start = end;
    const whole = part.length === length && length % 8 === 0;
    return failed.has(index) || !whole ? undefined : packBits(part);
  });
}

/** UTF-8 as text; bad sequences become U+FFFD, or are refused when strict. */
export function decodeUtf8(bytes: Uint8Array, strict: boolean): string {
  try {
    return new TextDecoder("utf-8", { fatal: strict, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unreadable("it is not valid UTF-8");
  }
}

/** Eight bits per byte, most significant first. */
export function payloadOutput(bytes: Uint8Array, metadata: JsonObject) {
  const bits = unpackBits(bytes);
  return {
    outputs: { bits: bitsArtifact(bits, metadata, "payload.bits") },
    metrics: { "codec.bit_count": BigInt(bits.length), "codec.bytes": BigInt(bytes.length) },
  };
}
