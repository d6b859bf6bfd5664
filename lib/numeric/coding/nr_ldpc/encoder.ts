/**
 * Transport block encoder of TS 38.212: CRC, code blocks, LDPC, rate matching (redundancy version 0, no buffer limit, the
 * circular buffer wraps), bit interleaving, concatenation, scrambling.
 *
 * Shapes: bits uint8 [A] -> coded bits uint8 [G], one bit per byte. The bits of a code block depend on its own segment
 * alone. Sums run over byte lanes in lib/numeric/kernels/assembly/nr_ldpc.ts.
 */
import { type LiftedCode, liftedCode, PUNCTURED_COLUMNS } from "./base_graph.ts";
import type { CodeParameters } from "./code_parameters.ts";
import type { Crc } from "./crc.ts";
import { allocate, bytesAt, kernels, load } from "./kernel_memory.ts";
import { type BufferLayout, bufferLayout, encoderProgram } from "./programs.ts";

/** Numbers of the polynomials in the kernels. */
export const CRC_KINDS: Readonly<Record<Crc["name"], number>> = { crc24a: 0, crc24b: 1, crc16: 2 };

/**
 * Encodes one transport block.
 * @param bits one bit (0 or 1) per byte, parameters.blockBits of them
 * @param scrambling the sequence to add, parameters.codedBits long; default none
 * @param coded receives the coded bits; default a new array
 * @returns the coded bits
 * @throws RangeError for a length that does not match the parameters
 */
export function encodeTransportBlock(
  bits: Uint8Array,
  parameters: CodeParameters,
  scrambling?: Uint8Array,
  coded = new Uint8Array(parameters.codedBits),
): Uint8Array<ArrayBuffer> {
  const { blockBits, codedBits, blockCrc, codedBitsOfBlock, segmentBits } = parameters;
  checkLength("bits", bits.length, blockBits);
  if (scrambling !== undefined) checkLength("scrambling", scrambling.length, codedBits);
  const most = codedBitsOfBlock.at(-1)!;
  const [block, selected, sequence, output] = allocate(blockBits + 24, mostColumnBytes(parameters) + most, most, most);
  bytesAt(block, blockBits).set(bits);
  appendCrc(block, blockBits, blockCrc);
  let start = 0;
  codedBitsOfBlock.forEach((count, index) => {
    encodeCodeBlock(block + index * segmentBits, parameters, count, selected);
    if (scrambling === undefined) bytesAt(sequence, count).fill(0);
    else bytesAt(sequence, count).set(scrambling.subarray(start, start + count));
    kernels.interleave(output, selected, count, parameters.bitsPerSymbol, sequence);
    coded.set(bytesAt(output, count), start);
    start += count;
  });
  return coded;
}

/** Throws for an array whose length does not match the parameters. */
export function checkLength(what: string, found: number, expected: number): void {
  if (found !== expected) throw new RangeError(`Cannot use ${found} ${what}: ${expected} are needed`);
}

/** Bytes of all columns of a code block, filler bits included. */
export function mostColumnBytes({ baseGraph, liftingSize }: CodeParameters): number {
  return liftedCode(baseGraph, liftingSize).columns * liftingSize;
}

/**
 * The codeword of some information bits.
 * @param bits informationColumns · Z of them, one per byte
 * @returns the bits of all columns
 */
export function encodeCodeword(code: LiftedCode, bits: Uint8Array): Uint8Array<ArrayBuffer> {
  const { columns, informationColumns, liftingSize, rows } = code;
  checkLength("bits", bits.length, informationColumns * liftingSize);
  bytesAt(kernels.bitsOffset() as number, bits.length).set(bits);
  const [codeword] = allocate(columns * liftingSize);
  computeColumns(code, rows.length);
  kernels.gather(codeword, 0, columns, liftingSize);
  return bytesAt(codeword, columns * liftingSize).slice();
}

/** Spreads the information bits over their columns and computes the parity columns of the first rows. */
function computeColumns(code: LiftedCode, rows: number): void {
  kernels.spread(kernels.bitsOffset() as number, code.informationColumns, code.liftingSize);
  const program = encoderProgram(code, rows);
  load(program.words);
  kernels.combine(program.length, code.liftingSize);
}

/** Writes the parity bits of a CRC after bits of the kernel memory. */
function appendCrc(address: number, length: number, crc: Crc): void {
  const register = kernels.crcBits(CRC_KINDS[crc.name], 0, address, length) as number;
  const parity = bytesAt(address + length, crc.bits);
  for (let i = 0; i < crc.bits; i++) parity[i] = register >>> i & 1;
}

/** Encodes the segment at an address and selects its coded bits. */
function encodeCodeBlock(segment: number, parameters: CodeParameters, count: number, selected: number): void {
  const { segmentBits, usedBits, fillerBits, codeBlockCount, codeBlockCrc } = parameters;
  const information = kernels.bitsOffset() as number;
  bytesAt(information, segmentBits).set(bytesAt(segment, segmentBits));
  if (codeBlockCount > 1) appendCrc(information, segmentBits, codeBlockCrc);
  bytesAt(information + usedBits, fillerBits).fill(0);
  const layout = bufferLayout(parameters, count);
  computeColumns(layout.code, layout.rows);
  select(layout, selected, count);
}

/** Bit selection of section 5.4.2.1: the buffer from its start, repeatedly, without filler bits. */
function select({ code, rows, bufferBits, sentInformationBits }: BufferLayout, selected: number, count: number): void {
  const { informationColumns, liftingSize } = code;
  kernels.gather(selected, PUNCTURED_COLUMNS, informationColumns - PUNCTURED_COLUMNS, liftingSize);
  kernels.gather(selected + sentInformationBits, informationColumns, rows, liftingSize);
  const bits = bytesAt(selected, count);
  for (let filled = bufferBits; filled < count; filled *= 2) {
    bits.copyWithin(filled, 0, Math.min(filled, count - filled));
  }
}
