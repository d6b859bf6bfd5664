/**
 * The turbo code of LTE: two recursive systematic encoders, with feedback 1 + D² + D³ and parity 1 + D + D³, the second behind a
 * quadratic permutation of the block; both end in the state 0 by three bits each. Rate matching interleaves the three streams, puts
 * them into a circular buffer, and reads the sent bits from a start that depends on the redundancy version.
 *
 * The decoder passes extrinsic values between the decoders of both encoders. Each is the BCJR algorithm over 8 states, by max-log or on
 * probabilities (log-MAP), with L > 0 for bit 0.
 *
 * Sources: TS 36.212, 5.1.3.2 and 5.1.4.1; Berrou and Glavieux, IEEE Trans. Commun. 44, 1996; Vogt and Finger, Electron. Lett. 36,
 * 2000 (scaled extrinsic values of max-log).
 */
import * as kernel from "../kernels/turbo.wasm";
import qpp from "../data/lte_qpp.json" with { type: "json" };
import { permutationOf } from "./interleaving.ts";

const ROWS = new Map((qpp.rows as [number, number, number][]).map(([size, f1, f2]) => [size, { f1, f2 }]));
/** Block sizes of the code. */
export const TURBO_SIZES: readonly number[] = [...ROWS.keys()];
export const TURBO_DECODERS = ["max_log_map", "log_map"] as const;

const STATES = 8, TAIL = 3, COLUMNS = 32;
/** Order of the columns of the sub-block interleaver, the bits of the index reversed. */
const COLUMN_ORDER = Array.from({ length: COLUMNS }, (_, i) => {
  let reversed = 0;
  for (let bit = 0; bit < 5; bit++) reversed |= (i >> bit & 1) << (4 - bit);
  return reversed;
});

/** Next state and parity of [state, bit]; a state has its newest bit as the highest. */
const NEXT = new Uint8Array(2 * STATES), PARITY = new Uint8Array(2 * STATES), FEEDBACK = new Uint8Array(STATES);
for (let state = 0; state < STATES; state++) {
  const newest = state >> 2, middle = state >> 1 & 1, oldest = state & 1;
  FEEDBACK[state] = middle ^ oldest;
  for (let bit = 0; bit < 2; bit++) {
    const fed = bit ^ FEEDBACK[state];
    NEXT[2 * state + bit] = fed << 2 | state >> 1;
    PARITY[2 * state + bit] = fed ^ newest ^ oldest;
  }
}

export interface TurboCode {
  readonly size: number;
  readonly permutation: Int32Array;
  /** For each sent bit its place in [stream][bit], stream · (K + 4) + bit. */
  readonly places: Int32Array;
}

/**
 * @param sent bits of a code word behind rate matching; 0 sends each bit of the code once
 * @throws RangeError for another block size
 */
export function turboCode(size: number, sent: number, redundancyVersion: number): TurboCode {
  const row = ROWS.get(size);
  if (row === undefined) {
    const above = TURBO_SIZES.find((other) => other > size) ?? TURBO_SIZES[TURBO_SIZES.length - 1];
    throw new RangeError(`Cannot make a turbo code of ${size} bits: the next size of TS 36.212 is ${above}`);
  }
  const length = size + 4, all = 3 * length, buffer = circularBuffer(length);
  const rows = Math.ceil(length / COLUMNS);
  const start = rows * (2 * Math.ceil(buffer.length / (8 * rows)) * redundancyVersion + 2);
  const places = new Int32Array(sent || all);
  for (let i = 0, at = start; i < places.length; at++) {
    const place = buffer[at % buffer.length];
    if (place >= 0) places[i++] = place;
  }
  return { size, permutation: permutationOf({ kind: "qpp", size, ...row }), places };
}

/** Places of the circular buffer, -1 for its dummy bits. */
function circularBuffer(length: number): Int32Array {
  const rows = Math.ceil(length / COLUMNS), size = rows * COLUMNS, dummies = size - length;
  const buffer = new Int32Array(3 * size);
  for (let k = 0; k < size; k++) {
    const column = Math.floor(k / rows), at = COLUMN_ORDER[column] + COLUMNS * (k % rows);
    const first = at - dummies, last = (at + 1) % size - dummies;
    buffer[k] = first < 0 ? -1 : first;
    buffer[size + 2 * k] = first < 0 ? -1 : length + first;
    buffer[size + 2 * k + 1] = last < 0 ? -1 : 2 * length + last;
  }
  return buffer;
}

/** Parity of a block, with the bits and parity of the tail behind it: [parity K][tail bit, parity × 3]. */
function constituent(bits: Uint8Array): { parity: Uint8Array; tail: Uint8Array } {
  const parity = new Uint8Array(bits.length), tail = new Uint8Array(2 * TAIL);
  let state = 0;
  for (let i = 0; i < bits.length; i++) {
    parity[i] = PARITY[2 * state + bits[i]];
    state = NEXT[2 * state + bits[i]];
  }
  for (let i = 0; i < TAIL; i++) {
    const bit = FEEDBACK[state];
    tail[2 * i] = bit;
    tail[2 * i + 1] = PARITY[2 * state + bit];
    state = NEXT[2 * state + bit];
  }
  return { parity, tail };
}

/** Streams and places of the twelve tail bits, in the order of both tails. */
const tailPlace = (index: number, length: number): number => (index % 3) * length + length - 4 + Math.floor(index / 3);

/** Sent bits of a block. */
export function encodeTurbo(bits: Uint8Array, { size, permutation, places }: TurboCode): Uint8Array {
  const length = size + 4, streams = new Uint8Array(3 * length);
  const first = constituent(bits), second = constituent(Uint8Array.from(permutation, (place) => bits[place]));
  streams.set(bits);
  streams.set(first.parity, length);
  streams.set(second.parity, 2 * length);
  [...first.tail, ...second.tail].forEach((bit, index) => streams[tailPlace(index, length)] = bit);
  return Uint8Array.from(places, (place) => streams[place]);
}

export interface TurboOptions {
  algorithm: typeof TURBO_DECODERS[number];
  iterations: number;
  /** Factor of the extrinsic values of max-log. */
  scale: number;
  /** Whether to end when an iteration changes no decision. */
  earlyStop: boolean;
}

/** Decided bits with their log-likelihood ratios, and the iterations that were made. */
export interface DecodedTurbo {
  bits: Uint8Array;
  llr: Float32Array;
  iterations: number;
}

/**
 * @param received log-likelihood ratios of the sent bits; repeated ones add up
 * @param readable whether the constituents are decoded by the reference in place of its kernel, which gives the same values
 */
export function decodeTurbo(
  received: Float32Array,
  code: TurboCode,
  options: TurboOptions,
  readable = false,
): DecodedTurbo {
  const { size, permutation, places } = code, length = size + 4, streams = new Float64Array(3 * length);
  for (let i = 0; i < places.length; i++) streams[places[i]] += received[i];
  const tails = Float64Array.from({ length: 4 * TAIL }, (_, index) => streams[tailPlace(index, length)]);
  const systematic = streams.subarray(0, size);
  const decoders = [0, 1].map((at) =>
    new Constituent(
      streams.subarray((at + 1) * length, (at + 1) * length + size),
      tails.subarray(2 * TAIL * at, 2 * TAIL * (at + 1)),
      options.algorithm,
      readable,
    )
  );
  const factor = options.algorithm === "max_log_map" ? options.scale : 1;
  const a = new Float64Array(size), b = new Float64Array(size), input = new Float64Array(size);
  const output = new Float64Array(size), llr = new Float32Array(size);
  let bits = new Uint8Array(size), iterations = 0;
  for (; iterations < options.iterations;) {
    iterations++;
    for (let i = 0; i < size; i++) input[i] = systematic[i] + a[i];
    decoders[0].decode(input, output);
    for (let i = 0; i < size; i++) b[i] = factor * (output[i] - input[i]);
    for (let i = 0; i < size; i++) input[i] = systematic[permutation[i]] + b[permutation[i]];
    decoders[1].decode(input, output);
    let changed = iterations === 1;
    const decided = new Uint8Array(size);
    for (let i = 0; i < size; i++) {
      const place = permutation[i];
      a[place] = factor * (output[i] - input[i]);
      llr[place] = output[i];
      decided[place] = output[i] < 0 ? 1 : 0;
      if (decided[place] !== bits[place]) changed = true;
    }
    bits = decided;
    if (options.earlyStop && !changed) break;
  }
  return { bits, llr, iterations };
}

/** Probabilities below are not told exactly. */
const LEAST = 1e-280;

/** BCJR of one encoder, over values of its bits and parity. */
class Constituent {
  #forward = new Float64Array();
  readonly #end: Float64Array;

  constructor(
    private readonly parity: Float64Array,
    tail: Float64Array,
    private readonly algorithm: typeof TURBO_DECODERS[number],
    private readonly readable: boolean,
  ) {
    if (readable) this.#forward = new Float64Array((parity.length + 1) * STATES);
    // One path leads from each state through the tail.
    this.#end = Float64Array.from({ length: STATES }, (_, from) => {
      let metric = 0, state = from;
      for (let i = 0; i < TAIL; i++) {
        const bit = FEEDBACK[state];
        metric += (1 - 2 * bit) * tail[2 * i] / 2 + (1 - 2 * PARITY[2 * state + bit]) * tail[2 * i + 1] / 2;
        state = NEXT[2 * state + bit];
      }
      return metric;
    });
  }

  /** Posterior values of the bits, from those of the bits before. */
  decode(input: Float64Array, output: Float64Array): void {
    if (!this.readable) return this.#byKernel(input, output);
    if (this.algorithm !== "log_map" || !this.#exact(input, output)) this.#maxLog(input, output);
  }

  #byKernel(input: Float64Array, output: Float64Array): void {
    const { parity } = this, steps = parity.length, exact = this.algorithm === "log_map";
    if (kernel.prepare(steps) === 0) throw new RangeError(`Cannot hold the metrics of a block of ${steps} bits`);
    const at = (offset: number, length: number) => new Float64Array(kernel.memory.buffer, offset, length);
    const end = at(kernel.endOffset(), STATES);
    if (exact) {
      const most = this.#end.reduce((largest, value) => Math.max(largest, value), -Infinity);
      const weights = at(kernel.weightsOffset(), 4 * steps);
      for (let step = 0; step < steps; step++) branchWeights(input[step], parity[step], weights, 4 * step);
      end.set(this.#end.map((value) => Math.exp(value - most)));
      if (kernel.likelihoods(steps, LEAST) !== 0) {
        const sums = at(kernel.outputOffset(), 2 * steps);
        for (let step = 0; step < steps; step++) output[step] = Math.log(sums[2 * step] / sums[2 * step + 1]);
        return;
      }
    }
    at(kernel.inputOffset(), steps).set(input);
    at(kernel.parityOffset(), steps).set(parity);
    end.set(this.#end);
    kernel.maxLog(steps);
    output.set(at(kernel.outputOffset(), steps));
  }

  #maxLog(input: Float64Array, output: Float64Array): void {
    const forward = this.#forward, { parity } = this, steps = parity.length;
    forward.fill(-Infinity, 0, STATES);
    forward[0] = 0;
    for (let step = 0; step < steps; step++) {
      const at = step * STATES, to = at + STATES, half = input[step] / 2, check = parity[step] / 2;
      forward.fill(-Infinity, to, to + STATES);
      let highest = -Infinity;
      for (let branch = 0; branch < 2 * STATES; branch++) {
        const metric = forward[at + (branch >> 1)] + ((branch & 1) === 0 ? half : -half) +
          (PARITY[branch] === 0 ? check : -check);
        if (metric > forward[to + NEXT[branch]]) forward[to + NEXT[branch]] = metric;
        if (metric > highest) highest = metric;
      }
      for (let state = 0; state < STATES; state++) forward[to + state] -= highest;
    }
    let backward = this.#end.slice(), before = new Float64Array(STATES);
    for (let step = steps - 1; step >= 0; step--) {
      const at = step * STATES, half = input[step] / 2, check = parity[step] / 2;
      let zero = -Infinity, one = -Infinity, highest = -Infinity;
      before.fill(-Infinity);
      for (let branch = 0; branch < 2 * STATES; branch++) {
        const state = branch >> 1, bit = branch & 1;
        const metric = backward[NEXT[branch]] + (bit === 0 ? half : -half) + (PARITY[branch] === 0 ? check : -check);
        const path = forward[at + state] + metric;
        if (bit === 0 ? path > zero : path > one) bit === 0 ? zero = path : one = path;
        if (metric > before[state]) before[state] = metric;
        if (metric > highest) highest = metric;
      }
      for (let state = 0; state < STATES; state++) before[state] -= highest;
      [backward, before] = [before, backward];
      output[step] = zero - one;
    }
  }

  /** On probabilities; false where one is below the range of numbers. */
  #exact(input: Float64Array, output: Float64Array): boolean {
    const forward = this.#forward, { parity } = this, steps = parity.length, weights = new Float64Array(4);
    const most = this.#end.reduce((largest, value) => Math.max(largest, value), -Infinity);
    forward.fill(0, 0, STATES);
    forward[0] = 1;
    for (let step = 0; step < steps; step++) {
      const at = step * STATES, to = at + STATES;
      branchWeights(input[step], parity[step], weights);
      forward.fill(0, to, to + STATES);
      for (let branch = 0; branch < 2 * STATES; branch++) {
        forward[to + NEXT[branch]] += forward[at + (branch >> 1)] * weights[(branch & 1) << 1 | PARITY[branch]];
      }
      scaleLargest(forward, to);
    }
    let backward = this.#end.map((value) => Math.exp(value - most)), before = new Float64Array(STATES);
    for (let step = steps - 1; step >= 0; step--) {
      branchWeights(input[step], parity[step], weights);
      let zero = 0, one = 0;
      before.fill(0);
      for (let branch = 0; branch < 2 * STATES; branch++) {
        const state = branch >> 1, value = backward[NEXT[branch]] * weights[(branch & 1) << 1 | PARITY[branch]];
        before[state] += value;
        if ((branch & 1) === 0) zero += forward[step * STATES + state] * value;
        else one += forward[step * STATES + state] * value;
      }
      scaleLargest(before, 0);
      [backward, before] = [before, backward];
      if (!(zero > LEAST && one > LEAST)) return false;
      output[step] = Math.log(zero / one);
    }
    return true;
  }
}

/** exp of the metric of [bit, parity], relative to the largest. */
function branchWeights(value: number, check: number, into: Float64Array, at = 0): void {
  const least = (Math.abs(value) + Math.abs(check)) / 2;
  for (let i = 0; i < 4; i++) {
    into[at + i] = Math.exp(((i < 2 ? value : -value) + ((i & 1) === 0 ? check : -check)) / 2 - least);
  }
}

function scaleLargest(values: Float64Array, at: number): void {
  let largest = 0;
  for (let state = 0; state < STATES; state++) if (values[at + state] > largest) largest = values[at + state];
  for (let state = 0; state < STATES; state++) values[at + state] /= largest;
}
