/**
 * Parameters of TS 38.212 that depend on the size of a transport block alone: CRC, base graph (6.2.2, 7.2.2), code
 * blocks (5.2.2), lifting size, filler bits, and the coded bits of each code block (5.4.2.1).
 *
 *     A block bits + CRC (16 to 3824, else 24A) = B bits -> C code blocks of K' bits each, CRC24B in each when C > 1
 *     K' bits + F filler bits = K = 22 Z or 10 Z information bits -> E_r coded bits, in sum G
 */
import { type BaseGraph, INFORMATION_COLUMNS, LIFTING_SIZES } from "./base_graph.ts";
import { LARGEST_SMALL_BLOCK } from "./block_size.ts";
import { type Crc, CRC16, CRC24A, CRC24B } from "./crc.ts";

export interface TransportBlockOptions {
  /** A: bits of the transport block, legal under TS 38.214 section 5.1.3.2. */
  blockBits: number;
  /** G: coded bits, a multiple of bitsPerSymbol · layers. */
  codedBits: number;
  /** Target code rate, used to choose the base graph. */
  codeRate: number;
  bitsPerSymbol: number;
  /** 1 … 4 */
  layers: number;
}

export interface CodeParameters extends TransportBlockOptions {
  readonly blockCrc: Crc;
  readonly baseGraph: BaseGraph;
  readonly liftingSize: number;
  /** C */
  readonly codeBlockCount: number;
  /** CRC of each code block; a single one has that of the block. */
  readonly codeBlockCrc: Crc;
  /** Bits of the block and its CRC that each code block carries: K' without CRC24B. */
  readonly segmentBits: number;
  /** K' */
  readonly usedBits: number;
  /** F = K - K' */
  readonly fillerBits: number;
  /** E_r */
  readonly codedBitsOfBlock: readonly number[];
}

/** Bits per symbol of QPSK … 256QAM, and of pi/2-BPSK. */
const BITS_PER_SYMBOL_CHOICES: readonly number[] = [1, 2, 4, 6, 8];

/** Most information bits of a code block by base graph. */
const MOST_BLOCK_BITS = { 1: 8448, 2: 3840 };

/**
 * Coded bits of a block: the fewest whole symbols on all layers that keep the code rate. Rounding errors of the rate,
 * up to 1e-9 of a symbol, do not add a symbol.
 */
export function codedBitCount(blockBits: number, codeRate: number, bitsPerSymbol: number, layers: number): number {
  const unit = bitsPerSymbol * layers;
  return unit * Math.ceil(blockBits / (codeRate * unit) - 1e-9);
}

/** Base graph 2 for short blocks and low rates. */
export function chooseBaseGraph(blockBits: number, codeRate: number): BaseGraph {
  return blockBits <= 292 || (blockBits <= LARGEST_SMALL_BLOCK && codeRate <= 0.67) || codeRate <= 0.25 ? 2 : 1;
}

/**
 * Information columns that determine the lifting size: in short blocks base graph 2 fills some columns with filler
 * bits.
 */
export function sizingColumns(baseGraph: BaseGraph, bits: number): number {
  if (baseGraph === 1) return 22;
  return bits > 640 ? 10 : bits > 560 ? 9 : bits > 192 ? 8 : 6;
}

/**
 * Coding parameters of a transport block.
 * @throws RangeError for a block that does not divide into equal code blocks of whole bytes, a G that is not a multiple
 *   of bitsPerSymbol · layers or too small for the code blocks, or a modulation or layer count outside the standard
 */
export function codeParameters(options: TransportBlockOptions): CodeParameters {
  const { blockBits, codedBits, codeRate, bitsPerSymbol, layers } = options;
  const refuse = (why: string): never => {
    throw new RangeError(`Cannot code a transport block of ${blockBits} bits in ${codedBits}: ${why}`);
  };
  if (!Number.isSafeInteger(blockBits) || blockBits < 1) refuse("it has no bits");
  if (!(codeRate > 0 && codeRate <= 1)) refuse(`the code rate ${codeRate} is not in 0 … 1`);
  if (!BITS_PER_SYMBOL_CHOICES.includes(bitsPerSymbol)) refuse(`no modulation has ${bitsPerSymbol} bits per symbol`);
  if (![1, 2, 3, 4].includes(layers)) refuse(`it goes to ${layers} layers`);
  const unit = bitsPerSymbol * layers;
  if (!Number.isSafeInteger(codedBits) || codedBits < 1 || codedBits % unit !== 0) {
    refuse(`that is no multiple of ${unit}`);
  }
  const blockCrc = blockBits > LARGEST_SMALL_BLOCK ? CRC24A : CRC16;
  const baseGraph = chooseBaseGraph(blockBits, codeRate);
  const total = blockBits + blockCrc.bits, most = MOST_BLOCK_BITS[baseGraph];
  const codeBlockCount = total <= most ? 1 : Math.ceil(total / (most - CRC24B.bits));
  const segmentBits = total / codeBlockCount;
  const usedBits = segmentBits + (codeBlockCount > 1 ? CRC24B.bits : 0);
  if (usedBits % 8 !== 0) {
    refuse(`it is no size of TS 38.214, and ${codeBlockCount} code blocks of bytes do not hold it`);
  }
  if (codedBits / unit < codeBlockCount) refuse(`there are ${codeBlockCount} code blocks`);
  const columns = sizingColumns(baseGraph, total);
  const liftingSize = LIFTING_SIZES.find((size) => columns * size >= usedBits)!;
  return {
    ...options,
    blockCrc,
    baseGraph,
    liftingSize,
    codeBlockCount,
    codeBlockCrc: codeBlockCount > 1 ? CRC24B : blockCrc,
    segmentBits,
    usedBits,
    fillerBits: INFORMATION_COLUMNS[baseGraph] * liftingSize - usedBits,
    codedBitsOfBlock: shares(codedBits / unit, codeBlockCount).map((symbols) => symbols * unit),
  };
}

/** Whole shares of a total, the smaller ones first. */
function shares(total: number, count: number): number[] {
  const larger = total % count;
  return Array.from({ length: count }, (_, i) => Math.floor(total / count) + (i < count - larger ? 0 : 1));
}
