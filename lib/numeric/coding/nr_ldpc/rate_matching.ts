/**
 * Circular buffers of TS 38.212 section 5.4.2 for any redundancy version, with limited buffers and soft combining.
 *
 *     N = 66Z | 50Z, N_ref = floor(3·TBS_LBRM / (2C)), N_cb = min(N, N_ref)
 *     k0 = floor(a·N_cb / (66Z | 50Z))·Z, a = 0, 17, 33, 56 | 0, 13, 25, 43 by redundancy version
 *
 * Bits are taken from k0 on, modulo N_cb, without the filler bits K' - 2Z … K - 2Z - 1. The interleaver writes E/Qm columns of
 * Qm bits: f(i + j·Qm) = e(i·E/Qm + j).
 */
import type { CodeParameters } from "./code_parameters.ts";
import { encodeTransportBlock } from "./encoder.ts";

const STARTS = { 1: [0, 17, 33, 56], 2: [0, 13, 25, 43] };
const BUFFER_COLUMNS = { 1: 66, 2: 50 };

/** The circular buffer of the code blocks of a transport block. */
export interface CircularBuffer {
  /** N_cb */
  readonly length: number;
  /** N */
  readonly codewordBits: number;
  /** Filler bits from … to - 1. */
  readonly fillers: readonly [from: number, to: number];
  /** k0 by redundancy version. */
  readonly starts: readonly number[];
}

/**
 * The buffer of a transport block.
 * @param limitBits TBS_LBRM, 0 for no limit
 * @throws RangeError for a buffer that does not reach beyond the message
 */
export function circularBuffer(parameters: CodeParameters, limitBits: number): CircularBuffer {
  const { baseGraph, liftingSize: z, usedBits, fillerBits, codeBlockCount } = parameters;
  const columns = BUFFER_COLUMNS[baseGraph], codewordBits = columns * z;
  const length = limitBits === 0
    ? codewordBits
    : Math.min(codewordBits, Math.floor(3 * limitBits / (2 * codeBlockCount)));
  const from = usedBits - 2 * z;
  if (length <= from) {
    throw new RangeError(`Cannot keep ${from} bits of a message in a buffer of ${length} bits`);
  }
  const starts = STARTS[baseGraph].map((a) => Math.floor(a * length / codewordBits) * z);
  return { length, codewordBits, fillers: [from, from + fillerBits], starts };
}

/** Positions of a buffer that carry bits, from k0 on; shorter than the buffer by its filler bits. */
function positions({ length, fillers: [from, to], starts }: CircularBuffer, redundancyVersion: number): Int32Array {
  const found: number[] = [];
  for (let i = 0; i < length; i++) {
    const at = (starts[redundancyVersion] + i) % length;
    if (at < from || at >= to) found.push(at);
  }
  return Int32Array.from(found);
}

/** Parameters under which a code block is its whole codeword without filler bits, not interleaved. */
export function motherParameters(parameters: CodeParameters): CodeParameters {
  const { baseGraph, liftingSize, fillerBits, codeBlockCount } = parameters;
  const bits = BUFFER_COLUMNS[baseGraph] * liftingSize - fillerBits;
  return {
    ...parameters,
    bitsPerSymbol: 1,
    layers: 1,
    codedBits: codeBlockCount * bits,
    codedBitsOfBlock: Array.from({ length: codeBlockCount }, () => bits),
  };
}

/** As `encodeTransportBlock`, for a redundancy version and a limited buffer. */
export function encodeRedundancyVersion(
  bits: Uint8Array,
  parameters: CodeParameters,
  { buffer, redundancyVersion, scrambling }: {
    buffer: CircularBuffer;
    redundancyVersion: number;
    scrambling: Uint8Array;
  },
): Uint8Array {
  const mother = motherParameters(parameters), codewords = encodeTransportBlock(bits, mother);
  const own = mother.codedBitsOfBlock[0], order = positions(buffer, redundancyVersion), [from, to] = buffer.fillers;
  const coded = new Uint8Array(parameters.codedBits);
  let start = 0;
  parameters.codedBitsOfBlock.forEach((count, block) => {
    const rows = parameters.bitsPerSymbol, columns = count / rows;
    for (let e = 0; e < count; e++) {
      const at = order[e % order.length], bit = codewords[block * own + (at < from ? at : at - (to - from))];
      const to2 = start + Math.floor(e / columns) + (e % columns) * rows;
      coded[to2] = bit ^ scrambling[to2];
    }
    start += count;
  });
  return coded;
}

/**
 * Adds received values of a transport block to its soft buffer.
 * @param llr of the whole block, scrambled and interleaved
 * @param soft sums [code block, N_cb]
 */
export function accumulate(
  llr: Float32Array,
  parameters: CodeParameters,
  { buffer, redundancyVersion, scrambling }: {
    buffer: CircularBuffer;
    redundancyVersion: number;
    scrambling: Uint8Array;
  },
  soft: Float64Array,
): void {
  const order = positions(buffer, redundancyVersion);
  let start = 0;
  parameters.codedBitsOfBlock.forEach((count, block) => {
    const rows = parameters.bitsPerSymbol, columns = count / rows;
    for (let e = 0; e < count; e++) {
      const from = start + Math.floor(e / columns) + (e % columns) * rows;
      soft[block * buffer.length + order[e % order.length]] += scrambling[from] === 1 ? -llr[from] : llr[from];
    }
    start += count;
  });
}

/** Values of all code blocks for a decoder of `motherParameters`: zero where nothing was received. */
export function motherValues(
  soft: ArrayLike<number>,
  parameters: CodeParameters,
  buffer: CircularBuffer,
): Float32Array {
  const { codeBlockCount } = parameters, [from, to] = buffer.fillers, own = buffer.codewordBits - (to - from);
  const values = new Float32Array(codeBlockCount * own);
  for (let block = 0; block < codeBlockCount; block++) {
    for (let at = 0; at < buffer.length; at++) {
      if (at >= from && at < to) continue;
      values[block * own + (at < from ? at : at - (to - from))] = soft[block * buffer.length + at];
    }
  }
  return values;
}
