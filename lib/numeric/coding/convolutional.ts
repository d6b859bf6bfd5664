/**
 * Convolutional codes of rate 1/n: a register of the input and the m bits before it, newest first, gives output j as the parity of its
 * product with generator j.
 *
 *     zero_tail     m zeros end each block in the state 0
 *     tail_biting   the register starts with the last m bits of the block, so that it ends where it starts
 *     truncated     the block starts in the state 0 and ends in any state
 *
 * With L > 0 for bit 0, a path has the metric Σ (1 - 2c)·L/2 over its coded bits c; Viterbi's algorithm finds the largest (of equal ones
 * that whose oldest bit is 0), the BCJR algorithm the log-likelihood ratio of each bit over all paths:
 *
 *     max*(a, b) = max(a, b) + ln(1 + e^-|a - b|)      max-log without the second term; a certain block is decoded by max-log
 *
 * A tail-biting block is decoded as a circle: some bits before and after it, from any state to any state.
 *
 * Sources: Viterbi, IEEE Trans. Inf. Theory 13, 1967; Bahl, Cocke, Jelinek and Raviv, IEEE Trans. Inf. Theory 20, 1974; Robertson,
 * Villebrun and Hoeher, ICC 1995; Shao, Lin and Fossorier, IEEE Trans. Commun. 51, 2003 (circular decoding).
 */
import * as kernel from "../kernels/viterbi.wasm";

export const TERMINATIONS = ["zero_tail", "tail_biting", "truncated"] as const;
export type Termination = typeof TERMINATIONS[number];
export const CONVOLUTIONAL_DECODERS = ["viterbi", "bcjr", "max_log_bcjr"] as const;
export type ConvolutionalDecoder = typeof CONVOLUTIONAL_DECODERS[number];

/** Bits of the longest register, the input included. */
export const LONGEST_REGISTER = 12;
export const MOST_OUTPUTS = 6;
/** Metrics that the BCJR algorithm keeps for a block at most: 128 MiB. */
const MOST_KEPT = 2 ** 24;
/** Registers before and after a tail-biting block within which a path forgets its start. */
const CIRCLE = 12;

export interface ConvolutionalCode {
  /** Generators as numbers, the newest bit first; a shorter one has zeros for the newest bits. */
  readonly generators: readonly number[];
  /** Bits of memory, m. */
  readonly memory: number;
  /** Coded bits of each register value, output j as bit j. */
  readonly outputs: Uint8Array;
}

/** @param generators octal, such as "133" @throws RangeError for generators that are none */
export function convolutionalCode(generators: readonly string[]): ConvolutionalCode {
  const values = generators.map((text) => /^[0-7]+$/.test(text) ? parseInt(text, 8) : NaN);
  const wrong = values.findIndex((value) => !(value > 0 && value < 2 ** LONGEST_REGISTER));
  if (wrong >= 0) {
    throw new RangeError(
      `Cannot use the generator ${generators[wrong]}: it is no octal number of at most ${LONGEST_REGISTER} bits`,
    );
  }
  if (values.length < 1 || values.length > MOST_OUTPUTS) {
    throw new RangeError(`Cannot use ${values.length} generators: a code has 1 to ${MOST_OUTPUTS}`);
  }
  const memory = Math.max(...values.map((value) => 31 - Math.clz32(value)));
  const outputs = Uint8Array.from({ length: 2 ** (memory + 1) }, (_, register) => {
    let label = 0;
    values.forEach((generator, j) => label |= parity(register & generator) << j);
    return label;
  });
  return { generators: values, memory, outputs };
}

function parity(value: number): number {
  let odd = value;
  for (let shift = 16; shift > 0; shift >>= 1) odd ^= odd >>> shift;
  return odd & 1;
}

/** Steps of the trellis for a block of bits. */
export const stepsOf = (bits: number, { memory }: ConvolutionalCode, termination: Termination): number =>
  bits + (termination === "zero_tail" ? memory : 0);

/** Whether the BCJR algorithm has the memory for blocks of so many bits. */
export const isSmallEnough = (bits: number, { memory }: ConvolutionalCode): boolean =>
  (bits + 2 * CIRCLE * (memory + 1)) * 2 ** memory <= MOST_KEPT;

/** Coded bits of a block, output by output of each step. */
export function encodeConvolutional(
  bits: Uint8Array,
  { generators, memory, outputs }: ConvolutionalCode,
  termination: Termination,
): Uint8Array {
  const n = generators.length, steps = bits.length + (termination === "zero_tail" ? memory : 0);
  let state = 0;
  if (termination === "tail_biting") {
    // A block shorter than the register goes round several times.
    for (let i = memory; i > 0; i--) state = (state | bits.at(-1 - (i - 1) % bits.length)! << memory) >> 1;
  }
  const coded = new Uint8Array(steps * n);
  for (let step = 0; step < steps; step++) {
    const register = ((step < bits.length ? bits[step] : 0) << memory) | state, label = outputs[register];
    for (let j = 0; j < n; j++) coded[step * n + j] = (label >> j) & 1;
    state = register >> 1;
  }
  return coded;
}

/** Decoded bits with their log-likelihood ratios; of Viterbi's algorithm +1 or -1 for its decision. */
export interface DecodedBlock {
  bits: Uint8Array;
  llr: Float32Array;
}

/**
 * Decodes a block.
 * @param llr of its coded bits, without a puncturing, 0 where a bit was not sent
 * @param size bits of the block
 */
export function decodeConvolutional(
  llr: Float32Array,
  size: number,
  code: ConvolutionalCode,
  termination: Termination,
  decoder: ConvolutionalDecoder,
): DecodedBlock {
  const n = code.generators.length, circular = termination === "tail_biting";
  const around = circular ? CIRCLE * (code.memory + 1) : 0;
  let given = llr, steps = stepsOf(size, code, termination);
  if (circular) {
    steps = size + 2 * around;
    given = new Float32Array(steps * n);
    for (let step = 0; step < steps; step++) {
      // From `around` bits before the block on, in a circle.
      const from = ((step - around) % size + size) % size;
      for (let j = 0; j < n; j++) given[step * n + j] = llr[from * n + j];
    }
  }
  const ends = { start: circular ? null : 0, end: termination === "zero_tail" ? 0 : null };
  const found = decoder === "viterbi"
    ? (code.memory < 2 ? viterbi : viterbiKernel)(given, steps, code, ends)
    : (decoder === "bcjr" ? bcjr(given, steps, code, { ...ends, tail: circular ? 0 : steps - size }) : null) ??
      maxLog(given, steps, code, ends);
  return {
    bits: found.bits.slice(around, around + size),
    llr: found.llr.slice(around, around + size),
  };
}

/** States in which paths start and end; null for any. */
interface Ends {
  start: number | null;
  end: number | null;
}

/** Metrics of all labels for one step. */
function labelMetrics(llr: Float32Array, step: number, n: number, into: Float64Array): void {
  into[0] = 0;
  for (let j = 0; j < n; j++) into[0] += llr[step * n + j] / 2;
  for (let label = 1; label < 1 << n; label++) {
    const low = label & -label;
    into[label] = into[label ^ low] - llr[step * n + 31 - Math.clz32(low)];
  }
}

function firstMetrics(states: number, start: number | null): Float64Array<ArrayBuffer> {
  const metrics = new Float64Array(states).fill(start === null ? 0 : -Infinity);
  if (start !== null) metrics[start] = 0;
  return metrics;
}

/** Viterbi's algorithm as it is read; the kernel gives the same bits. Exported for tests. */
export function viterbi(
  llr: Float32Array,
  steps: number,
  code: ConvolutionalCode,
  { start, end }: Ends,
): DecodedBlock {
  const { generators, memory, outputs } = code, n = generators.length, states = 1 << memory, mask = states - 1;
  // A code without memory has one state before and after.
  const oldest = memory > 0 ? 1 : 0;
  const words = Math.ceil(states / 32), decisions = new Uint32Array(steps * words);
  const labels = new Float64Array(1 << n);
  let metrics = firstMetrics(states, start), next = new Float64Array(states);
  for (let step = 0; step < steps; step++) {
    labelMetrics(llr, step, n, labels);
    let highest = -Infinity, word = 0;
    for (let state = 0; state < states; state++) {
      // The register before a state is the state with the bit that leaves it behind.
      const register = state << 1, from = register & mask;
      const zero = metrics[from] + labels[outputs[register]];
      const one = metrics[from | oldest] + labels[outputs[register | 1]];
      let metric = zero;
      if (one > zero) {
        metric = one;
        word |= 1 << (state & 31);
      }
      next[state] = metric;
      if (metric > highest) highest = metric;
      if ((state & 31) === 31 || state === mask) {
        decisions[step * words + (state >>> 5)] = word;
        word = 0;
      }
    }
    // Differences count; the largest stays 0, so that no sum loses its last bits in a long block.
    for (let state = 0; state < states; state++) next[state] -= highest;
    [metrics, next] = [next, metrics];
  }
  let state = end ?? 0;
  if (end === null) { for (let other = 1; other < states; other++) if (metrics[other] > metrics[state]) state = other; }
  const bits = new Uint8Array(steps);
  for (let step = steps - 1; step >= 0; step--) {
    const left = decisions[step * words + (state >>> 5)] >>> (state & 31) & 1, register = (state << 1) | left;
    bits[step] = register >> memory;
    state = register & mask;
  }
  return { bits, llr: Float32Array.from(bits, (bit) => 1 - 2 * bit) };
}

function viterbiKernel(llr: Float32Array, steps: number, code: ConvolutionalCode, { start, end }: Ends): DecodedBlock {
  const { memory, outputs, generators: { length: n } } = code, at = kernel.prepare(steps, 1 << memory, n) >>> 0;
  if (at === 0) throw new RangeError(`Cannot hold the decisions of ${steps} steps over ${2 ** memory} states`);
  for (let register = 0; register < outputs.length; register++) kernel.setLabel(register, outputs[register]);
  new Float32Array(kernel.memory.buffer, at, steps * n).set(llr.subarray(0, steps * n));
  const found = kernel.decode(steps, memory, n, start ?? -1, end ?? -1) >>> 0;
  const bits = new Uint8Array(kernel.memory.buffer, found, steps).slice();
  return { bits, llr: Float32Array.from(bits, (bit) => 1 - 2 * bit) };
}

/** BCJR with max in place of max*. */
function maxLog(llr: Float32Array, steps: number, code: ConvolutionalCode, { start, end }: Ends): DecodedBlock {
  const { generators, memory, outputs } = code, n = generators.length, states = 1 << memory, mask = states - 1;
  const labels = new Float64Array(1 << n), forward = new Float64Array((steps + 1) * states);
  const oldest = memory > 0 ? 1 : 0;
  forward.set(firstMetrics(states, start));
  for (let step = 0; step < steps; step++) {
    labelMetrics(llr, step, n, labels);
    const at = step * states, to = at + states;
    let highest = -Infinity;
    for (let state = 0; state < states; state++) {
      const register = state << 1, from = at + (register & mask);
      const metric = Math.max(
        forward[from] + labels[outputs[register]],
        forward[from + oldest] + labels[outputs[register | 1]],
      );
      forward[to + state] = metric;
      if (metric > highest) highest = metric;
    }
    for (let state = 0; state < states; state++) forward[to + state] -= highest;
  }
  let backward = firstMetrics(states, end), before = new Float64Array(states);
  const out = new Float32Array(steps);
  for (let step = steps - 1; step >= 0; step--) {
    labelMetrics(llr, step, n, labels);
    let zero = -Infinity, one = -Infinity, highest = -Infinity;
    for (let state = 0; state < states; state++) {
      const alpha = forward[step * states + state];
      const low = labels[outputs[state]] + backward[state >> 1];
      const high = labels[outputs[state | states]] + backward[(state | states) >> 1];
      zero = Math.max(zero, alpha + low);
      one = Math.max(one, alpha + high);
      before[state] = Math.max(low, high);
      if (before[state] > highest) highest = before[state];
    }
    for (let state = 0; state < states; state++) before[state] -= highest;
    [backward, before] = [before, backward];
    out[step] = zero - one;
  }
  return { bits: Uint8Array.from(out, (value) => value >= 0 ? 0 : 1), llr: out };
}

/**
 * BCJR with probabilities, whose largest in each step is 1: products in place of sums of logarithms. Null where a bit has a probability
 * below the range of numbers, which max-log then tells as well.
 * @param tail steps at the end whose bits are known
 */
function bcjr(
  llr: Float32Array,
  steps: number,
  code: ConvolutionalCode,
  { start, end, tail }: Ends & { tail: number },
): DecodedBlock | null {
  const { generators, memory, outputs } = code, n = generators.length, states = 1 << memory, mask = states - 1;
  const labels = new Float64Array(1 << n), forward = new Float64Array((steps + 1) * states);
  const oldest = memory > 0 ? 1 : 0, first = (state: number | null) => firstMetrics(states, state).map(Math.exp);
  const likelihoods = (step: number) => {
    labelMetrics(llr, step, n, labels);
    let most = -Infinity;
    for (let label = 0; label < labels.length; label++) most = Math.max(most, labels[label]);
    for (let label = 0; label < labels.length; label++) labels[label] = Math.exp(labels[label] - most);
  };
  forward.set(first(start));
  for (let step = 0; step < steps; step++) {
    likelihoods(step);
    const at = step * states, to = at + states;
    let highest = 0;
    for (let state = 0; state < states; state++) {
      const register = state << 1, from = at + (register & mask);
      const value = forward[from] * labels[outputs[register]] + forward[from + oldest] * labels[outputs[register | 1]];
      forward[to + state] = value;
      if (value > highest) highest = value;
    }
    const scale = 1 / highest;
    for (let state = 0; state < states; state++) forward[to + state] *= scale;
  }
  let backward = first(end), before = new Float64Array(states);
  const out = new Float32Array(steps);
  for (let step = steps - 1; step >= 0; step--) {
    likelihoods(step);
    let zero = 0, one = 0, highest = 0;
    for (let state = 0; state < states; state++) {
      const alpha = forward[step * states + state];
      const low = labels[outputs[state]] * backward[state >> 1];
      const high = labels[outputs[state | states]] * backward[(state | states) >> 1];
      zero += alpha * low;
      one += alpha * high;
      const value = low + high;
      before[state] = value;
      if (value > highest) highest = value;
    }
    const scale = 1 / highest;
    for (let state = 0; state < states; state++) before[state] *= scale;
    [backward, before] = [before, backward];
    // Denormal numbers have lost digits, and nothing is a number after a sum of 0.
    if (step < steps - tail && !(zero > LEAST && one > LEAST)) return null;
    out[step] = Math.log(zero / one);
  }
  return { bits: Uint8Array.from(out, (value) => value >= 0 ? 0 : 1), llr: out };
}

/** Probabilities below are not told exactly. */
const LEAST = 1e-280;

/** Patterns of the standards, for generators in the order of the standard: a row for each output, 1 for a bit that is sent. */
export const PUNCTURINGS = {
  none: null,
  ieee80211_2_3: ["11", "10"],
  ieee80211_3_4: ["110", "101"],
  ieee80211_5_6: ["11010", "10101"],
  dvb_2_3: ["10", "11"],
  dvb_3_4: ["101", "110"],
  dvb_5_6: ["10101", "11010"],
  dvb_7_8: ["1000101", "1111010"],
} as const;

/** Places of the coded bits that are sent. @param rows a row for each output; null sends all */
export function sentPlaces(steps: number, outputs: number, rows: readonly string[] | null): Int32Array {
  const places: number[] = [];
  for (let step = 0; step < steps; step++) {
    for (let j = 0; j < outputs; j++) {
      if (rows === null || rows[j][step % rows[j].length] === "1") places.push(step * outputs + j);
    }
  }
  return Int32Array.from(places);
}
