/**
 * Layout of a stream with unequal error protection, the same at both ends:
 *
 *     class map of all items | class 0 of all items | class 1 of all items | … | filler bits
 *
 * An item is divided into a grid of blocks of equal numbers of bits, and the blocks into cells of one class; items may have
 * grids of several sizes. The class map of an item has ceil(log2(C)) bits for each cell, most significant first, and a CRC16 that detects its errors; with one
 * class there is no map. The receiver knows everything but the classes. Classes of the bits of a word are known to both ends: a word is a row
 * of the grid, each cell one bit, and there is no map.
 */
import {
  float,
  type InputArtifact,
  isNumber,
  isObject,
  type JsonObject,
  SvcError,
  toNumber,
  type Value,
} from "../api.ts";
import { metadataCounts, metadataNumber } from "../../lib/artifact/values.ts";
import { LARGEST_BLOCK, legalBlockSize } from "../../lib/numeric/coding/nr_ldpc/block_size.ts";
import { codedBitCount, codeParameters } from "../../lib/numeric/coding/nr_ldpc/code_parameters.ts";
import { goldSequence, scramblingSeed } from "../../lib/numeric/coding/nr_ldpc/scrambling.ts";
import { blocksByClass, crc16 } from "../../lib/numeric/coding/importance_classes.ts";
import { majorityBits, repeatBits } from "../../lib/numeric/coding/repetition.ts";

export const UNEQUAL_PROTECTION_KEY = "unequal_error_protection";
const CRC_BITS = 16;
const MOST_ITEMS = 2 ** 22;

/** Identities of the scrambling, the defaults of channel.nr_ldpc_encoder. */
const SCRAMBLING = { rnti: 1, id: 1, codeword: 0 } as const;

/** The code of a part of the stream. */
export type PartCode =
  | { readonly factor: number }
  | {
    readonly codeRate: number;
    readonly blockBits: number;
    readonly bitsPerSymbol: number;
    readonly iterations: number;
  };

/** Blocks of an item. */
export interface BlockGrid {
  readonly rows: number;
  readonly columns: number;
  /** Cells of each class. */
  readonly sizes: readonly number[];
}

export interface ProtectedStream {
  /** One for each item. */
  readonly grids: readonly BlockGrid[];
  readonly bitsPerBlock: number;
  /** Blocks along a side of a cell. */
  readonly side: number;
  /** Of NR LDPC one transport block for the map of each item. */
  readonly mapCode: PartCode;
  readonly classCodes: readonly PartCode[];
  readonly fillerBits: number;
  /** Class of each bit of a word, in place of class maps. */
  readonly bitClasses?: readonly number[];
}

/** The grid of an item of words whose bits have known classes. */
export const wordGrid = (bitCount: number, bitClasses: readonly number[], classes: number): BlockGrid => {
  const rows = bitCount / bitClasses.length;
  const sizes = Array.from({ length: classes }, (_, index) => rows * bitClasses.filter((own) => own === index).length);
  return { rows, columns: bitClasses.length, sizes };
};

/** Classes of the bits of an item of words. */
export const wordClasses = ({ rows, columns }: BlockGrid, bitClasses: readonly number[]): Uint8Array =>
  Uint8Array.from({ length: rows * columns }, (_, bit) => bitClasses[bit % columns]);

/** Bits of the class of a cell. */
const classWidth = ({ sizes }: BlockGrid): number => Math.ceil(Math.log2(sizes.length));

const cellsOf = ({ sizes }: BlockGrid): number => sizes.reduce((sum, size) => sum + size, 0);

/** Bits of the class map of an item with its CRC; 0 with one class. */
export const mapBits = (grid: BlockGrid): number =>
  grid.sizes.length === 1 ? 0 : cellsOf(grid) * classWidth(grid) + CRC_BITS;

/** Payload bits of an item. */
export const itemBits = ({ rows, columns }: BlockGrid, { bitsPerBlock }: ProtectedStream): number =>
  rows * columns * bitsPerBlock;

/** Payload bits of a class of the whole stream. */
export const classBits = ({ grids, side, bitsPerBlock }: ProtectedStream, index: number): number =>
  grids.reduce((sum, { sizes }) => sum + sizes[index], 0) * side ** 2 * bitsPerBlock;

/** The class maps of the stream: items in a row whose maps have equal lengths are coded together. */
export function mapParts(stream: ProtectedStream): { code: PartCode; items: number; length: number }[] {
  const { grids, mapCode, bitClasses } = stream;
  if (bitClasses !== undefined) return [];
  const parts: { code: PartCode; items: number; length: number }[] = [];
  for (const grid of grids) {
    const length = mapBits(grid), last = parts.at(-1);
    if (last?.length === length) last.items++;
    else parts.push({ code: "factor" in mapCode ? mapCode : { ...mapCode, blockBits: length }, items: 1, length });
  }
  return parts;
}

/** Coded bits of the class maps. */
const mapsLength = (stream: ProtectedStream): number =>
  mapParts(stream).reduce((sum, { code, items, length }) => sum + codedLength(code, items * length), 0);

/** Coded bits of the stream without filler bits. */
export const usedLength = (stream: ProtectedStream): number =>
  stream.classCodes.reduce((sum, code, index) => sum + codedLength(code, classBits(stream, index)), mapsLength(stream));

/** The class map of an item with its CRC. */
export function writeMap(classes: Uint8Array, grid: BlockGrid): Uint8Array {
  const width = classWidth(grid), bits = new Uint8Array(mapBits(grid)), length = bits.length - CRC_BITS;
  if (bits.length === 0) return bits;
  for (let i = 0; i < length; i++) bits[i] = classes[Math.floor(i / width)] >> (width - 1 - i % width) & 1;
  const check = crc16(bits.subarray(0, length));
  for (let i = 0; i < CRC_BITS; i++) bits[length + i] = check >> (CRC_BITS - 1 - i) & 1;
  return bits;
}

/** The classes of a received map; null for one whose CRC fails or whose classes have other sizes. */
export function readMap(bits: Uint8Array, grid: BlockGrid): Uint8Array | null {
  const cells = cellsOf(grid), { sizes } = grid;
  if (sizes.length === 1) return new Uint8Array(cells);
  const width = classWidth(grid), classes = new Uint8Array(cells);
  if (crc16(bits) !== 0) return null;
  for (let i = 0; i < cells * width; i++) {
    const cell = Math.floor(i / width);
    classes[cell] = 2 * classes[cell] + bits[i];
  }
  return sizes.every((size, index) => size === classes.filter((own) => own === index).length) ? classes : null;
}

/** Payload positions of the classes of an item: bits of class c of the item are those of the listed blocks. */
export const blocksOf = (classes: Uint8Array, { sizes, columns }: BlockGrid, { side }: ProtectedStream): number[][] =>
  blocksByClass(classes, sizes.length, { columns, side });

function ldpcOf(code: Exclude<PartCode, { factor: number }>, length: number) {
  const { codeRate, bitsPerSymbol } = code, size = Math.min(code.blockBits, Math.max(1, length));
  const blockBits = legalBlockSize(size, codeRate), layers = 1;
  const codedBits = codedBitCount(blockBits, codeRate, bitsPerSymbol, layers);
  return { size, codedBits, layers, blocks: Math.ceil(length / size), blockBits, codeRate, bitsPerSymbol };
}

const scramblingOf = (codedBits: number) =>
  goldSequence(scramblingSeed("PUSCH", SCRAMBLING.rnti, SCRAMBLING.id, SCRAMBLING.codeword), codedBits);

/** Coded bits of `length` bits. */
export function codedLength(code: PartCode, length: number): number {
  if ("factor" in code) return length * code.factor;
  const { blocks, codedBits } = ldpcOf(code, length);
  return blocks * codedBits;
}

/** Codes a part of the stream. */
export async function encodePart(code: PartCode, bits: Uint8Array): Promise<Uint8Array> {
  if ("factor" in code) return repeatBits(bits, code.factor);
  const { encodeTransportBlock } = await import("../../lib/numeric/coding/nr_ldpc/encoder.ts");
  const { blocks, size, ...options } = ldpcOf(code, bits.length);
  const parameters = codeParameters(options), scrambling = scramblingOf(options.codedBits);
  const coded = new Uint8Array(blocks * options.codedBits), block = new Uint8Array(options.blockBits);
  for (let index = 0; index < blocks; index++) {
    block.fill(0).set(bits.subarray(index * size, (index + 1) * size));
    coded.set(encodeTransportBlock(block, parameters, scrambling), index * options.codedBits);
  }
  return coded;
}

/**
 * Decodes a part of the stream of `length` payload bits from hard bits or log-likelihood ratios; `failed` has a value for each
 * transport block of an LDPC code.
 */
export async function decodePart(
  code: PartCode,
  received: Uint8Array | Float32Array,
  length: number,
  options: { threads: number; keepEstimate: boolean },
) {
  if ("factor" in code) return { bits: decideCopies(received, code.factor), failed: [] };
  if (received instanceof Uint8Array) {
    throw new SvcError("params_conflict", "Cannot decode LDPC codes from hard bits", {
      hint: "Wire the output llr of the demodulator",
    });
  }
  const { decodeTransportBlocks } = await import("../../lib/numeric/parallel/nr_ldpc.ts");
  const { blocks, size, ...block } = ldpcOf(code, length);
  const decoded = decodeTransportBlocks(received, codeParameters(block), blocks, {
    iterations: code.iterations,
    scrambling: scramblingOf(block.codedBits),
    threads: options.threads,
  });
  const bits = new Uint8Array(length);
  decoded.forEach((own, index) => {
    if (!own.crcPassed && !options.keepEstimate) return;
    bits.set(own.bits.subarray(0, Math.min(size, length - index * size)), index * size);
  });
  return { bits, failed: decoded.map(({ crcPassed }) => !crcPassed) };
}

/** The majority of hard copies, as channel.repetition_decoder; the sign of the sum of log-likelihood ratios. */
function decideCopies(received: Uint8Array | Float32Array, factor: number): Uint8Array {
  if (received instanceof Uint8Array) return majorityBits(received, factor);
  return Uint8Array.from({ length: received.length / factor }, (_, bit) => {
    let sum = 0;
    for (let copy = 0; copy < factor; copy++) sum += received[bit * factor + copy];
    return sum < 0 ? 1 : 0;
  });
}

/** The record of a stream for its receiver, without the classes; for grids of several sizes lists, one entry an item. */
export function describeProtection(stream: ProtectedStream): JsonObject {
  const { grids } = stream, [{ rows, columns, sizes }] = grids;
  const equal = grids.every((grid) => grid.rows === rows && grid.columns === columns);
  const record = (code: PartCode): JsonObject =>
    "factor" in code ? { repetition_factor: code.factor } : {
      target_coderate: float(code.codeRate),
      transport_block_size_bits: code.blockBits,
      num_bits_per_symbol: code.bitsPerSymbol,
      num_bp_iter: code.iterations,
    };
  return {
    item_count: grids.length,
    block_rows: equal ? rows : grids.map((grid) => grid.rows),
    block_columns: equal ? columns : grids.map((grid) => grid.columns),
    bits_per_block: stream.bitsPerBlock,
    map_cell_blocks: stream.side,
    class_cell_counts: equal ? [...sizes] : grids.map((grid) => [...grid.sizes]),
    class_map_code: record(stream.mapCode),
    class_codes: stream.classCodes.map(record),
    filler_bits: stream.fillerBits,
    ...(stream.bitClasses === undefined ? {} : { bit_classes: [...stream.bitClasses] }),
  };
}

/** Reads what {@link describeProtection} wrote. @throws SvcError `input_metadata_missing`, `boundary_value_invalid` */
export function readProtection({ metadata }: InputArtifact): ProtectedStream {
  const record = metadata[UNEQUAL_PROTECTION_KEY];
  if (!isObject(record)) {
    throw new SvcError(
      "input_metadata_missing",
      `Cannot decode classes of importance: the metadata ${UNEQUAL_PROTECTION_KEY} is missing`,
      { hint: "Put a channel.unequal_error_protection step before the channel" },
    );
  }
  const invalid = (key: string) =>
    new SvcError("boundary_value_invalid", `Cannot use the metadata ${UNEQUAL_PROTECTION_KEY}.${key}`);
  const count = (of: JsonObject, key: string, least = 1, most = 2 ** 31): number => {
    const value = metadataNumber(of, key) ?? NaN;
    if (!Number.isSafeInteger(value) || value < least || value > most) throw invalid(key);
    return value;
  };
  const code = (value: unknown): PartCode => {
    if (!isObject(value)) throw invalid("class_codes");
    if ("repetition_factor" in value) return { factor: count(value, "repetition_factor") };
    const rate = isNumber(value.target_coderate) ? toNumber(value.target_coderate) : NaN;
    if (!(rate >= 0.01 && rate <= 1)) throw invalid("target_coderate");
    return {
      codeRate: rate,
      blockBits: count(value, "transport_block_size_bits", 1, LARGEST_BLOCK),
      bitsPerSymbol: count(value, "num_bits_per_symbol", 1, 8),
      iterations: count(value, "num_bp_iter"),
    };
  };
  const items = count(record, "item_count", 1, MOST_ITEMS);
  // A value for all items, or a list with one for each.
  const each = (key: string, several: (value: Value) => boolean): JsonObject[] => {
    const value = record[key], list = Array.isArray(value) && several(value[0]) ? value : null;
    if (list !== null && list.length !== items) throw invalid(key);
    return Array.from({ length: items }, (_, item) => ({ [key]: list === null ? value : list[item] }));
  };
  const rows = each("block_rows", isNumber), columns = each("block_columns", isNumber);
  const grids = each("class_cell_counts", Array.isArray).map((own, item): BlockGrid => ({
    rows: count(rows[item], "block_rows"),
    columns: count(columns[item], "block_columns"),
    sizes: metadataCounts(own, "class_cell_counts") ?? [],
  }));
  const stream: ProtectedStream = {
    grids,
    bitsPerBlock: count(record, "bits_per_block"),
    side: count(record, "map_cell_blocks"),
    mapCode: code(record.class_map_code),
    classCodes: Array.isArray(record.class_codes) ? record.class_codes.map(code) : [],
    fillerBits: count(record, "filler_bits", 0),
    ...(record.bit_classes === undefined ? {} : { bitClasses: metadataCounts(record, "bit_classes") ?? [] }),
  };
  const { side, bitClasses } = stream;
  for (const grid of grids) {
    const { rows, columns, sizes } = grid;
    if (rows % side + columns % side > 0 || cellsOf(grid) * side ** 2 !== rows * columns) {
      throw invalid("class_cell_counts");
    }
    if (sizes.length !== stream.classCodes.length) throw invalid("class_codes");
    if (bitClasses === undefined) continue;
    const words = wordGrid(rows * columns, bitClasses, sizes.length);
    if (side * stream.bitsPerBlock * bitClasses.length !== columns || words.sizes.join() !== sizes.join()) {
      throw invalid("bit_classes");
    }
  }
  return stream;
}
