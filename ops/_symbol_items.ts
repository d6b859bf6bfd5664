/** Source items before and after a modulator. */
import { type JsonObject, SvcError } from "./api.ts";
import { metadataCounts, metadataNumber, sourceItemCounts, SYMBOL_METADATA, travel } from "../lib/artifact/values.ts";
import { artifactKind, SYMBOLS } from "../lib/contract/kinds.ts";

/** Bits per source item at the input of the modulator, kept because a symbol may contain bits of two items. */
const ITEM_BITS = "modulated_item_bit_counts";
const MODULATION_KEYS = [
  "modulation",
  "bits_per_symbol",
  "modulation_padding_bits",
  "constellation_points",
  "point_probabilities",
  "bpsk_rotation",
  ITEM_BITS,
  "source_item_counts",
];

export const MODULATED = artifactKind(SYMBOLS, {
  ...SYMBOL_METADATA,
  modulation: "text",
  bits_per_symbol: "count",
  bit_count: "count",
  modulation_padding_bits: "count",
});

/** Metadata of symbols of `bitCount` bits; symbol items are declared if each item fills whole symbols. */
export function modulatedMetadata(metadata: JsonObject, bitCount: number, modulation: string, bitsPerSymbol: number) {
  const items = sourceItemCounts(metadata, bitCount);
  const aligned = items?.every((count, item) => count % bitsPerSymbol === 0 || item === items.length - 1);
  const cuts: JsonObject = {
    ...(items === undefined ? {} : { [ITEM_BITS]: items }),
    ...(aligned ? { source_item_counts: items!.map((count) => Math.ceil(count / bitsPerSymbol)) } : {}),
  };
  return travel(metadata, {
    ...cuts,
    modulation,
    bits_per_symbol: bitsPerSymbol,
    bit_count: bitCount,
    modulation_padding_bits: Math.ceil(bitCount / bitsPerSymbol) * bitsPerSymbol - bitCount,
  }, MODULATION_KEYS);
}

/** The recorded modulation of symbols with individual numbers of bits, which are in the allocation. */
export const BIT_LOADED = "bit_loaded";

/** Metadata of symbols loaded with `bitCount` bits and `padding` zeros; their items end inside symbols. */
export function loadedMetadata(metadata: JsonObject, bitCount: number, padding: number): JsonObject {
  const items = sourceItemCounts(metadata, bitCount);
  return travel(metadata, {
    modulation: BIT_LOADED,
    bit_count: bitCount,
    modulation_padding_bits: padding,
    ...(items === undefined ? {} : { [ITEM_BITS]: items }),
  }, MODULATION_KEYS);
}

/**
 * The number of bits in received symbols without the modulator's padding.
 * @throws SvcError `boundary_count_mismatch` for fewer bits than padding
 */
export function unpaddedBitCount(metadata: JsonObject, demappedBits: number): number {
  const padding = metadataNumber(metadata, "modulation_padding_bits") ?? 0;
  if (padding <= demappedBits) return demappedBits - padding;
  throw new SvcError("boundary_count_mismatch", `Cannot cut ${padding} padding bits off ${demappedBits} bits`);
}

/** Metadata of demodulated bits: the modulator's keys are removed, its source items are restored. */
export function demodulatedMetadata<Changes extends JsonObject>(
  metadata: JsonObject,
  bitCount: number,
  changes: Changes,
): JsonObject & Changes {
  const items = metadataCounts(metadata, ITEM_BITS);
  const whole = items !== undefined && items.reduce((sum, count) => sum + count, 0) === bitCount;
  return travel(metadata, { ...(whole ? { source_item_counts: items } : {}), ...changes }, MODULATION_KEYS);
}
