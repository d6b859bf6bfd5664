/**
 * Random streams bit-exact with NumPy's `default_rng(seed)`: SeedSequence, PCG64 (XSL-RR 128/64, O'Neill 2014), Lemire's
 * bounded integers with NumPy's buffering, and the 256-layer ziggurats of Marsaglia and Tsang. A NumPy user who makes the
 * same calls in the same order gets the same values to the last bit. The arithmetic is in lib/numeric/kernels/assembly/random.ts.
 *
 * A complex normal value of variance v has independent real and imaginary parts of variance v/2 each.
 */
import * as kernels from "../kernels/random.wasm";
import { checkedProbabilities, distinct, weighted, weightedDistinct } from "./choice.ts";
import { isShared, SHARED_BLOCK_BYTES } from "../array/shared_array.ts";
import { seedWords } from "./seed_sequence.ts";

const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;
const MASK64 = (1n << 64n) - 1n;
const MASK128 = (1n << 128n) - 1n;

const memory = (kernels.memory as WebAssembly.Memory).buffer;
const sharedState = new Uint8Array(memory, kernels.stateOffset(), 40);
const RESULTS = kernels.resultsOffset();
const RESULT_BYTES = kernels.resultBytes();
const results = new Uint8Array(memory, RESULTS, RESULT_BYTES);
const doubleResults = new Float64Array(memory, RESULTS, RESULT_BYTES / 8);
const symbolValues = new Float32Array(memory, kernels.symbolsOffset(), RESULT_BYTES / 4);
const wordResults = new Uint32Array(memory, RESULTS, RESULT_BYTES / 4);

/** Bits of each dtype, and the typed array that holds it. */
export const INTEGERS = {
  bool: { bits: 1, signed: false, array: Uint8Array },
  int8: { bits: 8, signed: true, array: Int8Array },
  int16: { bits: 16, signed: true, array: Int16Array },
  int32: { bits: 32, signed: true, array: Int32Array },
  int64: { bits: 64, signed: true, array: BigInt64Array },
  uint8: { bits: 8, signed: false, array: Uint8Array },
  uint16: { bits: 16, signed: false, array: Uint16Array },
  uint32: { bits: 32, signed: false, array: Uint32Array },
  uint64: { bits: 64, signed: false, array: BigUint64Array },
} as const;

export type IntegerDtype = keyof typeof INTEGERS;

/** The typed array that holds a dtype. */
export interface IntegerArrays<B extends ArrayBufferLike = ArrayBuffer> {
  bool: Uint8Array<B>;
  int8: Int8Array<B>;
  int16: Int16Array<B>;
  int32: Int32Array<B>;
  int64: BigInt64Array<B>;
  uint8: Uint8Array<B>;
  uint16: Uint16Array<B>;
  uint32: Uint32Array<B>;
  uint64: BigUint64Array<B>;
}

/** Integers of any dtype in any memory. */
export type IntegerView = IntegerArrays<ArrayBufferLike>[IntegerDtype];

export interface ChoiceOptions {
  /** Whether an index may be picked again. Default true. */
  replace?: boolean;
  /** Probability of each index; default uniform. */
  p?: ArrayLike<number>;
}

/** An array that can be shuffled: a typed array or a list. */
export interface Shuffleable {
  readonly length: number;
  [index: number]: unknown;
}

/** A kernel writes `count` values, the first with number `start` of the call, to the start of the results. */
type Kernel = (count: number, start: number) => void;

type Fillable = { buffer: ArrayBufferLike; byteOffset: number; length: number; BYTES_PER_ELEMENT: number };

const doubles: Kernel = (count) => kernels.doubles(count);
const normals: Kernel = (count) => kernels.normals(count);

export function checkedSize(size: number): number {
  if (!Number.isSafeInteger(size) || size < 0) throw new RangeError(`Cannot draw ${size} values`);
  return size;
}

function checkedCount(n: number): number {
  if (!Number.isInteger(n) || n < 0 || n >= 2 ** 31) throw new RangeError(`Cannot index ${n} values with 32 bits`);
  return n;
}

/** The array to fill: a new one for a size. */
function target<T>(size: number | T, array: new (size: number) => T): T {
  return typeof size === "number" ? new array(checkedSize(size)) : size;
}

/**
 * Standard deviation of each part of a complex normal value.
 * @throws RangeError when the variance is negative or not finite
 */
export function partScale(variance: number): number {
  if (!(variance >= 0 && variance < Infinity)) throw new RangeError(`Cannot draw noise of variance ${variance}`);
  return Math.sqrt(variance / 2);
}

/**
 * A generator of one reproducible random sequence.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { Generator } from "./random.ts";
 *
 * // As numpy.random.default_rng(23) draws them.
 * const generator = Generator.seeded(23);
 * assert.deepEqual(generator.integers(0, 2, 8, "uint8"), Uint8Array.of(0, 0, 0, 0, 0, 1, 1, 1));
 * assert.equal(generator.random(), 0.6414582208782306);
 * ```
 */
export class Generator {
  /** State and increment (two 64-bit words each), kept 32-bit half, whether there is one. */
  readonly #state: Uint8Array<ArrayBuffer>;

  private constructor(state: Uint8Array<ArrayBuffer>) {
    this.#state = state;
  }

  /**
   * The generator of NumPy's `default_rng(seed)`.
   * @param seed a non-negative integer of any size
   * @throws RangeError when the seed is negative or not an integer
   */
  static seeded(seed: number | bigint): Generator {
    if (typeof seed === "number" && !Number.isSafeInteger(seed)) {
      throw new RangeError(
        `Cannot seed a generator with ${seed}: it takes a non-negative integer, a bigint beyond 2^53`,
      );
    }
    if (seed < 0) throw new RangeError(`Cannot seed a generator with the negative number ${seed}`);
    const [stateHigh, stateLow, incrementHigh, incrementLow] = seedWords(BigInt(seed));
    const increment = ((((incrementHigh << 64n) | incrementLow) << 1n) | 1n) & MASK128;
    const state = ((increment + ((stateHigh << 64n) | stateLow)) * MULTIPLIER + increment) & MASK128;
    const words = BigUint64Array.of(state & MASK64, state >> 64n, increment & MASK64, increment >> 64n, 0n);
    return new Generator(new Uint8Array(words.buffer));
  }

  /** A generator that continues from a state, as given by `lend`. */
  static fromState(state: Uint8Array): Generator {
    return new Generator(Uint8Array.from(state));
  }

  /** A generator that continues as this one does. */
  copy(): Generator {
    return Generator.fromState(this.#state);
  }

  /**
   * Lends the state to another implementation of the same streams, which leaves the state after its last draw: state
   * and increment as two 64-bit words each, low word first, then the kept half and whether it exists.
   */
  lend(draw: (state: Uint8Array<ArrayBuffer>) => void): void {
    draw(this.#state);
  }

  /**
   * Runs kernels on this generator's state, which moves to the memory that all generators of a thread share and back.
   * @param words whether the call takes 32-bit words, and so the kept half
   */
  #run(words: boolean, call: () => void): void {
    sharedState.set(this.#state);
    if (words) {
      kernels.beginWords();
      call();
      kernels.finishWords();
    } else {
      kernels.begin();
      call();
      kernels.finish();
    }
    this.#state.set(sharedState);
  }

  /** One call of `size` values, block by block through the memory of the kernels. */
  #blocks(size: number, block: number, words: boolean, kernel: Kernel, take: (start: number, count: number) => void) {
    this.#run(words, () => {
      for (let start = 0; start < size; start += block) {
        const count = Math.min(block, size - start);
        kernel(count, start);
        take(start, count);
      }
    });
  }

  /** Fills a typed array with the results of a kernel. */
  #fill<T extends Fillable>(out: T, words: boolean, kernel: Kernel): T {
    const bytes = new Uint8Array(out.buffer, out.byteOffset, out.length * out.BYTES_PER_ELEMENT);
    const width = out.BYTES_PER_ELEMENT, block = (isShared(bytes) ? SHARED_BLOCK_BYTES : RESULT_BYTES) / width;
    this.#blocks(out.length, block, words, kernel, (start, count) => {
      bytes.set(results.subarray(0, count * width), start * width);
    });
    return out;
  }

  /**
   * Integers in low … high - 1, equally likely.
   * @param size how many
   * @param dtype the type drawn, which determines the use of the raw stream; default int64
   * @returns the typed array of that dtype; BigInt arrays for 64 bits; bool as bytes 0 and 1
   * @throws RangeError when the range is empty or does not fit the dtype
   */
  integers<D extends IntegerDtype = "int64">(
    low: number | bigint,
    high: number | bigint,
    size: number,
    dtype: D = "int64" as D,
  ): IntegerArrays[D] {
    const out = new INTEGERS[dtype].array(checkedSize(size)) as IntegerArrays[D];
    this.fillIntegers(low, high, out, dtype);
    return out;
  }

  /** As `integers`, into an array of the dtype's width. */
  fillIntegers(low: number | bigint, high: number | bigint, out: IntegerView, dtype: IntegerDtype): void {
    const { bits, signed } = INTEGERS[dtype];
    const least = signed ? -(1n << BigInt(bits - 1)) : 0n;
    const offset = BigInt(low);
    const range = BigInt(high) - 1n - offset;
    if (range < 0n) throw new RangeError(`Cannot draw integers from the empty range ${low} … ${high}`);
    if (offset < least || offset + range >= least + (1n << BigInt(bits))) {
      throw new RangeError(`Cannot draw ${dtype} integers in ${low} … ${high}: the type does not hold them`);
    }
    if (range === 0n) {
      if (out instanceof BigInt64Array || out instanceof BigUint64Array) out.fill(offset);
      else out.fill(Number(offset));
      return;
    }
    const shift = Number(BigInt.asIntN(32, offset));
    const span = Number(BigInt.asIntN(32, range));
    const kernel: Kernel = bits === 1
      ? (count) => kernels.bounded1(count)
      : bits === 8
      ? (count) => kernels.bounded8(shift, span, count)
      : bits === 16
      ? (count) => kernels.bounded16(shift, span, count)
      : bits === 32
      ? (count) => kernels.bounded32(shift, span, count)
      : range <= 0xffffffffn
      ? (count) => kernels.bounded32Wide(offset, span, count)
      : (count) => kernels.bounded64(offset, range, count);
    this.#fill(out, bits < 64 || range <= 0xffffffffn, kernel);
  }

  /** A binary64 value in [0, 1), `size` of them, or enough to fill an array: multiples of 2^-53. */
  random(): number;
  random(size: number): Float64Array<ArrayBuffer>;
  random(out: Float64Array): Float64Array;
  random(size?: number | Float64Array): number | Float64Array {
    if (size !== undefined) return this.#fill(target(size, Float64Array), false, doubles);
    this.#run(false, () => kernels.doubles(1));
    return doubleResults[0];
  }

  /** `size` binary32 values in [0, 1), or enough to fill an array: multiples of 2^-24. */
  randomFloat32(size: number): Float32Array<ArrayBuffer>;
  randomFloat32(out: Float32Array): Float32Array;
  randomFloat32(size: number | Float32Array): Float32Array {
    return this.#fill(target(size, Float32Array), true, (count) => kernels.floats(count));
  }

  /** Standard normal values, `size` of them or enough to fill an array. */
  standardNormal(size: number): Float64Array<ArrayBuffer>;
  standardNormal(out: Float64Array): Float64Array;
  standardNormal(size: number | Float64Array): Float64Array {
    return this.#fill(target(size, Float64Array), false, normals);
  }

  /** Standard exponential values, `size` of them or enough to fill an array. */
  standardExponential(size: number): Float64Array<ArrayBuffer>;
  standardExponential(out: Float64Array): Float64Array;
  standardExponential(size: number | Float64Array): Float64Array {
    return this.#fill(target(size, Float64Array), false, (count) => kernels.exponentials(count));
  }

  /** low + (high - low)·random(). */
  uniform(low: number, high: number, size: number): Float64Array<ArrayBuffer> {
    const out = this.random(size);
    const width = high - low;
    for (let i = 0; i < size; i++) out[i] = low + width * out[i];
    return out;
  }

  /** mean + std·standard_normal(). */
  normal(mean: number, std: number, size: number): Float64Array<ArrayBuffer> {
    const out = this.standardNormal(size);
    for (let i = 0; i < size; i++) out[i] = mean + std * out[i];
    return out;
  }

  /** Shuffles in place, as NumPy shuffles one-dimensional arrays. */
  shuffle(array: Shuffleable): void {
    const last = array.length - 1;
    this.#blocks(
      Math.max(0, last),
      RESULT_BYTES / 4,
      true,
      (count, start) => kernels.shuffles(last - start, count),
      (start, count) => {
        for (let i = 0; i < count; i++) {
          const at = last - start - i;
          const other = wordResults[i];
          const value = array[at];
          array[at] = array[other];
          array[other] = value;
        }
      },
    );
  }

  /**
   * 0 … n - 1 in random order.
   * @throws RangeError when n is negative or beyond 2^31 - 1
   */
  permutation(n: number): Int32Array<ArrayBuffer> {
    const order = new Int32Array(checkedCount(n));
    for (let i = 0; i < n; i++) order[i] = i;
    this.shuffle(order);
    return order;
  }

  /**
   * Picks `size` indices in 0 … n - 1.
   * @throws RangeError for values of n, size or probabilities that do not allow it
   */
  choice(n: number, size: number, { replace = true, p }: ChoiceOptions = {}): Int32Array<ArrayBuffer> {
    checkedCount(n);
    checkedSize(size);
    if (n === 0 && size > 0) throw new RangeError("Cannot choose from 0 values");
    if (!replace && size > n) throw new RangeError(`Cannot choose ${size} distinct values out of ${n}`);
    if (p) {
      const weights = checkedProbabilities(p, n);
      return replace ? weighted(weights, this.random(size)) : weightedDistinct(weights, size, (m) => this.random(m));
    }
    if (!replace) return distinct(n, size, (first, step, count) => this.#bounds(first, step, count));
    const picked = size === 0 ? new BigInt64Array(0) : this.integers(0, n, size, "int64");
    return Int32Array.from(picked, Number);
  }

  /** One integer in 0 … bound for each bound first, first + step, … */
  #bounds(first: number, step: 1 | -1, count: number): Uint32Array {
    const out = new Uint32Array(count);
    return this.#fill(out, true, (block, start) => kernels.run(first + step * start, step, block));
  }

  /** Calls `take(start, z)` with blocks of standard normal values, `z[0 … count - 1]` each. */
  #normalBlocks(size: number, take: (start: number, count: number) => void): void {
    this.#blocks(size, RESULT_BYTES / 8, false, normals, take);
  }

  /**
   * Complex normal values, interleaved complex128: the whole real part is drawn first, then the whole imaginary part.
   * @param variance E|n|², total over both parts
   */
  complexNormal64(count: number, variance: number): Float64Array<ArrayBuffer> {
    return this.#complex(new Float64Array(2 * checkedSize(count)), variance);
  }

  /**
   * The values of {@link complexNormal64}, block by block: first all real parts, then all imaginary ones.
   * @param take gets the part, the index of the first value of a block, and the values, which the next block overwrites
   */
  complexNormalBlocks(
    size: number,
    variance: number,
    take: (part: 0 | 1, start: number, values: Float64Array) => void,
  ): void {
    const scale = partScale(variance);
    for (const part of [0, 1] as const) {
      this.#normalBlocks(checkedSize(size), (start, count) => {
        const values = doubleResults.subarray(0, count);
        for (let i = 0; i < count; i++) values[i] *= scale;
        take(part, start, values);
      });
    }
  }

  /** As complexNormal64, each part rounded once to binary32. */
  complexNormal(count: number, variance: number): Float32Array<ArrayBuffer> {
    return this.#complex(new Float32Array(2 * checkedSize(count)), variance);
  }

  #complex<T extends Float32Array | Float64Array>(out: T, variance: number): T {
    const scale = partScale(variance);
    for (let part = 0; part < 2; part++) {
      this.#normalBlocks(out.length / 2, (start, count) => {
        for (let i = 0, at = 2 * start + part; i < count; i++, at += 2) out[at] = scale * doubleResults[i];
      });
    }
    return out;
  }

  /**
   * x + n with complex normal n, drawn as complexNormal64 draws it; the sum is formed in binary64 and rounded once.
   * @param symbols interleaved complex64
   * @param variance E|n|², total over both parts
   * @param out output array, as long as the symbols; it may be the array of the symbols. Default a new one
   * @throws RangeError when the variance is negative or not finite, or the output has another length
   */
  addComplexNormal(symbols: Float32Array, variance: number): Float32Array<ArrayBuffer>;
  addComplexNormal<T extends Float32Array>(symbols: Float32Array, variance: number, out: T): T;
  addComplexNormal(symbols: Float32Array, variance: number, out = new Float32Array(symbols.length)): Float32Array {
    const scale = partScale(variance);
    if (out.length !== symbols.length) {
      throw new RangeError(`Cannot put ${symbols.length / 2} symbols into an array for ${out.length / 2}`);
    }
    for (const part of [0, 1] as const) this.addNormal(symbols, part, scale, out);
    return out;
  }

  /**
   * Adds normal values to one part of complex values.
   * @param symbols interleaved complex64
   * @param part 0 for the real part, 1 for the imaginary part
   * @param scale standard deviation
   * @param out output array, as long as the symbols; its other part stays
   */
  addNormal(symbols: Float32Array, part: 0 | 1, scale: number, out: Float32Array): void {
    this.#normalBlocks(symbols.length / 2, (start, count) => {
      for (let i = 0, at = 2 * start + part; i < count; i++, at += 2) {
        out[at] = symbols[at] + scale * doubleResults[i];
      }
    });
  }

  /**
   * Adds normal values to complex values block by block: this generator draws those of the real parts.
   * @param imaginary draws those of the imaginary parts
   * @param symbols interleaved complex64, outside shared memory
   * @param scale standard deviation of each part
   * @param out output array, as long as the symbols
   */
  addNormalPairs(imaginary: Generator, symbols: Float32Array, scale: number, out: Float32Array): void {
    const most = RESULT_BYTES / 8;
    for (let start = 0; start < symbols.length; start += 2 * most) {
      const block = symbols.subarray(start, start + 2 * most), count = block.length / 2;
      this.#run(false, () => kernels.normals(count));
      kernels.keep(count);
      imaginary.#run(false, () => kernels.normals(count));
      symbolValues.set(block);
      kernels.addPairs(count, scale);
      out.set(symbolValues.subarray(0, block.length), start);
    }
  }

  /** Draws standard normal values and leaves them out. */
  skipNormal(count: number): void {
    this.#normalBlocks(checkedSize(count), () => {});
  }
}
