/**
 * One code block of TS 38.212 by its message and coded bits alone, without CRC, segmentation and scrambling: the base graph by 6.2.2
 * with the message as block, the lifting size by 5.2.2, the buffer of 5.4.2.1 from its start without filler bits, the interleaver of
 * 5.4.2.2.
 *
 * Shapes: message uint8 [k] -> code word uint8 [columns · Z] with filler bits; sent bit e is bit order[e] of the code word.
 */
import type { LdpcCode } from "../ldpc/code.ts";
import {
  type BaseGraph,
  CORE_ROWS,
  INFORMATION_COLUMNS,
  liftedCode,
  LIFTING_SIZES,
  PUNCTURED_COLUMNS,
} from "./base_graph.ts";
import { chooseBaseGraph, sizingColumns } from "./code_parameters.ts";
import { encodeCodeword } from "./encoder.ts";
import { decoderChecks } from "./programs.ts";

export interface CodeBlockOptions {
  /** k */
  messageBits: number;
  /** n */
  codedBits: number;
  /** Default: by k and k/n. */
  baseGraph?: BaseGraph;
  /** Z; default: the least that holds the message. */
  liftingSize?: number;
  /** Rows of the interleaver, 1 for none. */
  bitsPerSymbol: number;
}

/** The code of a block, checks without coded bits omitted, and the bit of its code word that each sent bit is. */
export interface CodeBlock extends LdpcCode {
  readonly order: Int32Array;
}

/** @throws RangeError for a base graph or lifting size that does not hold the message, or too few coded bits */
export function codeBlock(options: CodeBlockOptions): CodeBlock {
  const { messageBits, codedBits, bitsPerSymbol } = options;
  const refuse = (why: string): never => {
    throw new RangeError(`Cannot code ${messageBits} message bits in ${codedBits} coded bits: ${why}`);
  };
  if (messageBits > codedBits) refuse("that is a rate above 1");
  const baseGraph = options.baseGraph ?? chooseBaseGraph(messageBits, messageBits / codedBits);
  const least = sizingColumns(baseGraph, messageBits), information = INFORMATION_COLUMNS[baseGraph];
  const z = options.liftingSize ?? LIFTING_SIZES.find((size) => least * size >= messageBits) ??
    refuse(`base_graph ${baseGraph} holds ${information * LIFTING_SIZES.at(-1)!} bits`);
  const punctured = PUNCTURED_COLUMNS * z, sent = messageBits - punctured;
  if (information * z < messageBits) {
    refuse(`lifting_size ${z} of base_graph ${baseGraph} holds ${information * z} bits`);
  }
  if (sent <= 0) refuse(`lifting_size ${z} of base_graph ${baseGraph} does not send the first ${punctured} bits`);
  if (codedBits % bitsPerSymbol !== 0) refuse(`num_bits_per_symbol is ${bitsPerSymbol}`);
  const code = liftedCode(baseGraph, z), bufferBits = sent + code.rows.length * z;
  const rows = Math.max(CORE_ROWS, Math.ceil((Math.min(codedBits, bufferBits) - sent) / z));
  const inRow = codedBits / bitsPerSymbol;
  return {
    ...decoderChecks(code, rows, messageBits),
    places: Int32Array.from({ length: messageBits }, (_, i) => i),
    order: Int32Array.from({ length: codedBits }, (_, i) => {
      const e = (i % bitsPerSymbol * inRow + Math.floor(i / bitsPerSymbol)) % bufferBits;
      return e < sent ? punctured + e : information * z + e - sent;
    }),
    encode(message) {
      const bits = new Uint8Array(information * z);
      bits.set(message);
      return encodeCodeword(code, bits).subarray(0, (information + rows) * z);
    },
  };
}
