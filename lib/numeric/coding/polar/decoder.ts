/**
 * Polar decoder of TS 38.212: rate recovery, list decoding, CRC. Repeated values add up, punctured bits have the
 * log-likelihood ratio 0, shortened bits 10⁴. The path of smallest metric whose CRC holds is the result.
 *
 * Values are rounded to 2^-40 of the largest magnitude. All sums of the min-sum decoder are then exact in binary64 and do not
 * depend on their order, so that its kernel (lib/numeric/kernels/assembly/polar.ts) may decide several bits of a node at once.
 *
 * Shapes: llr float32 [E] -> bits uint8 [A].
 */
import * as kernel from "../../kernels/polar.wasm";
import { maskedCrc, type PolarCode } from "./code.ts";
import type { CheckNode } from "./list_reference.ts";
import { FREE, FROZEN, MIXED, PARITY, REPETITION, SINGLE_CHECK } from "./node_kinds.ts";

export const POLAR_DECODER = "successive_cancellation_list_float64";

const SHORTENED_LLR = 1e4;

export interface PolarDecoderOptions {
  /** Paths: a power of two up to 32; 1 is successive cancellation. */
  listSize: number;
  /** Default min_sum. */
  checkNode?: CheckNode;
  /** Mask of the CRC of downlink control. */
  rnti?: number;
}

export interface DecodedPolar {
  bits: Uint8Array<ArrayBuffer>;
  /** Whether the CRCs of all segments hold. */
  crcPassed: boolean;
  /** Mean rank of the chosen paths by metric, from 1 on. */
  rank: number;
}

/** Bits before the polar transform from the log-likelihood ratios of N mother bits, by path metric. */
type ListDecoder = (llr: Float64Array, code: PolarCode, listSize: number) => Iterable<Uint8Array>;

/**
 * Decodes one message.
 * @param llr codedBits finite log-likelihood ratios, positive for bit 0
 * @param decode another list decoder
 */
export function decodePolar(
  llr: Float32Array,
  code: PolarCode,
  { listSize, checkNode = "min_sum", rnti = 0 }: PolarDecoderOptions,
  decode: ListDecoder = (...given) => kernelList(...given, checkNode),
): DecodedPolar {
  const { segments, messageBits, crcBits, sent } = code, size = messageBits - crcBits;
  const message = new Uint8Array(segments * size);
  let crcPassed = true, ranks = 0;
  for (let segment = 0; segment < segments; segment++) {
    const values = recover(llr.subarray(segment * sent.length, (segment + 1) * sent.length), code);
    let first: Uint8Array | undefined, found: Uint8Array | undefined, rank = 0;
    for (const word of decode(values, code, listSize)) {
      const bits = messageOf(word, code);
      first ??= bits;
      rank++;
      if (!crcHolds(bits, code, rnti)) continue;
      found = bits;
      break;
    }
    message.set((found ?? first!).subarray(0, size), segment * size);
    crcPassed &&= found !== undefined;
    ranks += found === undefined ? 1 : rank;
  }
  return { bits: message.slice(message.length - code.payloadBits), crcPassed, rank: ranks / segments };
}

/** Log-likelihood ratios of the mother bits, rounded, in the memory of the kernel. */
function recover(llr: Float32Array, { motherBits, stages, sent, shortened }: PolarCode): Float64Array {
  const { buffer } = kernel.memory as WebAssembly.Memory;
  const values = new Float64Array(buffer, kernel.llrOffset(stages) as number, motherBits).fill(0);
  for (let k = 0; k < sent.length; k++) values[sent[k]] += llr[k];
  for (const index of shortened) values[index] = SHORTENED_LLR;
  const largest = kernel.largest(stages) as number;
  if (largest > 0) kernel.roundTo(stages, 2 ** (Math.floor(Math.log2(largest)) - 40));
  return values;
}

function messageOf(placed: Uint8Array, { positions, carried, messageBits }: PolarCode): Uint8Array {
  const bits = new Uint8Array(messageBits);
  for (let k = 0; k < positions.length; k++) bits[carried[k]] = placed[positions[k]];
  return bits;
}

function crcHolds(bits: Uint8Array, code: PolarCode, rnti: number): boolean {
  const size = bits.length - code.crcBits;
  let received = 0;
  for (let i = size; i < bits.length; i++) received = 2 * received + bits[i];
  return received === maskedCrc(bits.subarray(0, size), code, rnti);
}

/** The list decoder of the kernel, which lists words only when they are asked for. Exported for tests. */
export function* kernelList(
  llr: Float64Array,
  code: PolarCode,
  listSize: number,
  checkNode: CheckNode,
): Generator<Uint8Array> {
  const { motherBits, stages } = code, { buffer } = kernel.memory as WebAssembly.Memory;
  new Uint8Array(buffer, kernel.nodesOffset() as number, 2 * motherBits).set(nodesOf(code));
  if (llr.buffer !== buffer) new Float64Array(buffer, kernel.llrOffset(stages) as number, motherBits).set(llr);
  const wordOf = (rank: number) => {
    const address = (kernel.word as (rank: number, stages: number) => number)(rank, stages);
    return new Uint8Array(buffer, address, motherBits);
  };
  // One path alone takes a fraction of the time, and often shows the first word.
  const isMinSum = checkNode === "min_sum", likeliest = kernel.likeliest as (stages: number) => number;
  const known = listSize > 1 && isMinSum && likeliest(stages) ? 1 : 0;
  if (known === 1) yield wordOf(0);
  const decode = kernel.decode as (stages: number, listSize: number, exact: number) => number;
  const count = decode(stages, listSize, Number(!isMinSum));
  for (let rank = known; rank < count; rank++) yield wordOf(rank);
}

const programs = new WeakMap<PolarCode, Uint8Array>();

/** Kinds of the nodes of the decoding tree: the root has the number 1, the children of node i the numbers 2 i and 2 i + 1. */
function nodesOf(code: PolarCode): Uint8Array {
  const known = programs.get(code);
  if (known !== undefined) return known;
  const { motherBits: N, positions, parityChecks } = code,
    nodes = new Uint8Array(2 * N),
    information = new Set(positions);
  for (let index = 0; index < N; index++) {
    nodes[N + index] = parityChecks.has(index) ? PARITY : information.has(index) ? REPETITION : FROZEN;
  }
  for (let node = N - 1; node > 0; node--) {
    const left = nodes[2 * node], right = nodes[2 * node + 1];
    // The bits before a parity check are needed one by one.
    nodes[node] = left === FROZEN && right === FROZEN
      ? FROZEN
      : parityChecks.size > 0
      ? MIXED
      : left === FROZEN && right === REPETITION
      ? REPETITION
      : isFree(left, 2 * node, N) && isFree(right, 2 * node + 1, N)
      ? FREE
      : isFree(right, 2 * node + 1, N) &&
          (left === SINGLE_CHECK || (left === REPETITION && 4 * node < 2 * N && 4 * node >= N))
      ? SINGLE_CHECK
      : MIXED;
  }
  programs.set(code, nodes);
  return nodes;
}

/** Whether all bits of a node are information bits. */
const isFree = (kind: number, node: number, N: number): boolean => kind === FREE || (kind === REPETITION && node >= N);
