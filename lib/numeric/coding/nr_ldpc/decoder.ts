/**
 * Transport block decoder: descrambling, deinterleaving, combining of repeated bits, layered min-sum per code block,
 * CRCs. Log-likelihood ratios are positive for bit 0; they are rounded to int8 in steps of 1/4, and messages are int8
 * (lib/numeric/kernels/assembly/nr_ldpc.ts). All later arithmetic is on integers: same input, same bits, on every machine.
 * With `belief`, the decoder of all LDPC codes runs on binary32 instead (../ldpc/decoder.ts), over the same rows in the same order.
 *
 * Shapes: llr float32 [G] -> bits uint8 [A]. A code block depends on its own log-likelihood ratios alone.
 */
import { decodeLdpc, type LdpcOptions } from "../ldpc/decoder.ts";
import { PUNCTURED_COLUMNS } from "./base_graph.ts";
import type { CodeParameters } from "./code_parameters.ts";
import { checkLength, CRC_KINDS, mostColumnBytes } from "./encoder.ts";
import { allocate, bytesAt, floatsAt, kernels, load, SLACK } from "./kernel_memory.ts";
import { bufferLayout, decoderChecks, decoderProgram } from "./programs.ts";

/** Name of the decoder in metadata. */
export const DECODER_IMPLEMENTATION = "layered_offset_min_sum_int8_wasm_simd";

/** Steps of the rounded values per unit of log-likelihood ratio. */
const LLR_SCALE = 4;

/** Value of a bit that is known to be 0. */
const CERTAIN = 127;

export interface DecoderOptions {
  /** Maximum number of passes over all checks. */
  iterations: number;
  /** Stop at a valid CRC or a codeword; true by default. */
  earlyStop?: boolean;
  /** The scrambling sequence, as long as the coded bits; default none. */
  scrambling?: Uint8Array;
  /** Belief propagation on binary32 instead of the kernel; it stops at a codeword only. */
  belief?: Pick<LdpcOptions, "schedule" | "checkRule" | "scale" | "offset">;
}

export interface DecodedCodeBlock {
  /** Whether its CRC holds. A code block without received values fails. */
  crcPassed: boolean;
  /** Iterations done. */
  iterations: number;
}

export interface DecodedTransportBlock {
  /** Hard decisions, also after a failed CRC. */
  bits: Uint8Array<ArrayBuffer>;
  /** Whether the CRC of the block and those of all its code blocks hold. */
  crcPassed: boolean;
  codeBlocks: DecodedCodeBlock[];
}

/**
 * Decodes one transport block.
 * @param llr parameters.codedBits log-likelihood ratios, positive for bit 0, none of them NaN
 * @param decodeBlock another implementation of the decoder of code blocks
 * @throws RangeError for a length that does not match the parameters
 */
export function decodeTransportBlock(
  llr: Float32Array,
  parameters: CodeParameters,
  options: DecoderOptions,
  decodeBlock: typeof decodeCodeBlock = decodeCodeBlock,
): DecodedTransportBlock {
  const { blockBits, codedBits, codeBlockCount, segmentBits } = parameters;
  checkLength("log-likelihood ratios", llr.length, codedBits);
  if (options.scrambling !== undefined) checkLength("scrambling bits", options.scrambling.length, codedBits);
  const whole = new Uint8Array(codeBlockCount * segmentBits);
  const codeBlocks = parameters.codedBitsOfBlock.map((_, index) =>
    decodeBlock(llr, parameters, index, options, whole.subarray(index * segmentBits, (index + 1) * segmentBits))
  );
  const crcPassed = codeBlocks.every((block) => block.crcPassed) && blockCrcHolds(whole, parameters);
  return { bits: whole.slice(0, blockBits), crcPassed, codeBlocks };
}

/**
 * Whether the CRC of a transport block holds when those of its code blocks do. The CRC of a single code block is the block's own.
 * @param whole the bits of its code blocks in order, codeBlockCount · segmentBits of them
 */
export function blockCrcHolds(whole: Uint8Array, { blockCrc, codeBlockCount }: CodeParameters): boolean {
  return codeBlockCount === 1 || crcOf(whole, CRC_KINDS[blockCrc.name]) === 0;
}

function crcOf(bits: Uint8Array, kind: number): number {
  const [address] = allocate(bits.length);
  bytesAt(address, bits.length).set(bits);
  return kernels.crcBits(kind, 0, address, bits.length) as number;
}

/**
 * Decodes one code block of a transport block.
 * @param llr those of the whole transport block
 * @param index index of the code block
 * @param segment receives its bits without CRC24B, parameters.segmentBits of them
 */
export function decodeCodeBlock(
  llr: Float32Array,
  parameters: CodeParameters,
  index: number,
  options: DecoderOptions,
  segment: Uint8Array,
): DecodedCodeBlock {
  const { liftingSize: z, usedBits, fillerBits, codedBitsOfBlock, bitsPerSymbol, codeBlockCrc } = parameters;
  const count = codedBitsOfBlock[index];
  const start = codedBitsOfBlock.slice(0, index).reduce((sum, bits) => sum + bits, 0);
  const received = llr.subarray(start, start + count), scrambling = options.scrambling?.subarray(start, start + count);
  if (options.belief !== undefined) return believed(received, parameters, options, scrambling, segment);
  const { code, rows, columns, bufferBits, sentInformationBits } = bufferLayout(parameters, count);
  const kept = Math.min(count, bufferBits);
  const [input, sequence, rounded, posterior] = allocate(4 * kept, kept, kept, mostColumnBytes(parameters));

  const values = floatsAt(input, kept + SLACK / 4), turned = bytesAt(sequence, kept);
  const repeats = count > bufferBits;
  values.set(repeats ? combined(received, scrambling, bitsPerSymbol, bufferBits) : received);
  values.fill(0, kept);
  if (repeats || scrambling === undefined) turned.fill(0);
  else turned.set(scrambling);
  const heard = kernels.quantise(rounded, input, kept, LLR_SCALE, sequence) as number;
  if (heard === 0) {
    segment.fill(0);
    return { crcPassed: false, iterations: 0 };
  }

  // The circular buffer and bits outside it: two unsent information columns, filler bits, unused parity.
  const punctured = PUNCTURED_COLUMNS * z, all = bytesAt(posterior, columns * z);
  kernels.deinterleave(posterior + punctured, rounded, kept, repeats ? 1 : bitsPerSymbol);
  let end = punctured + kept;
  if (kept > sentInformationBits) {
    all.copyWithin(usedBits + fillerBits, usedBits, end);
    end += fillerBits;
  }
  all.fill(0, 0, punctured).fill(0, end).fill(CERTAIN, usedBits, usedBits + fillerBits);

  kernels.place(posterior, 0, columns, z);
  const program = decoderProgram(code, rows, usedBits);
  load(program.words);
  const outcome = kernels.decode(
    program.length,
    columns,
    z,
    usedBits,
    CRC_KINDS[codeBlockCrc.name],
    options.iterations,
    options.earlyStop === false ? 0 : 1,
  ) as number;
  segment.set(bytesAt(kernels.bitsOffset() as number, segment.length));
  return { crcPassed: outcome >= 0x10000, iterations: outcome & 0xffff };
}

/** Magnitude that stands for a log-likelihood ratio without a limit. */
const SURE = 1e6;

/** Decodes the received values of one code block by belief propagation. */
function believed(
  received: Float32Array,
  parameters: CodeParameters,
  { belief, iterations, earlyStop }: DecoderOptions,
  scrambling: Uint8Array | undefined,
  segment: Uint8Array,
): DecodedCodeBlock {
  const { liftingSize: z, usedBits, fillerBits, bitsPerSymbol, codeBlockCrc } = parameters;
  const { code, rows, columns, bufferBits, sentInformationBits } = bufferLayout(parameters, received.length);
  const finite = received.map((value) => Math.max(-SURE, Math.min(SURE, value)));
  const sums = combined(finite, scrambling, bitsPerSymbol, bufferBits), values = new Float32Array(columns * z);
  if (sums.every((value) => value === 0)) {
    segment.fill(0);
    return { crcPassed: false, iterations: 0 };
  }
  const kept = Math.min(received.length, bufferBits), punctured = PUNCTURED_COLUMNS * z;
  for (let i = 0; i < kept; i++) values[punctured + i + (i < sentInformationBits ? 0 : fillerBits)] = sums[i];
  const options = { ...belief!, iterations, earlyStop: earlyStop !== false };
  const found = decodeLdpc(values, decoderChecks(code, rows, usedBits), options);
  const bits = Uint8Array.from(found.values.subarray(0, usedBits), (value) => value < 0 ? 1 : 0);
  segment.set(bits.subarray(0, segment.length));
  return { crcPassed: crcOf(bits, CRC_KINDS[codeBlockCrc.name]) === 0, iterations: found.iterations };
}

/** Sums the log-likelihood ratios of repeated bits, in the order of the circular buffer. */
function combined(
  received: Float32Array,
  scrambling: Uint8Array | undefined,
  bitsPerSymbol: number,
  bufferBits: number,
): Float32Array {
  const sums = new Float32Array(bufferBits), length = received.length / bitsPerSymbol;
  for (let i = 0, k = 0; i < bitsPerSymbol; i++) {
    for (let j = 0; j < length; j++, k++) {
      const at = j * bitsPerSymbol + i;
      sums[k % bufferBits] += scrambling?.[at] ? -received[at] : received[at];
    }
  }
  return sums;
}
