/**
 * Random streams bit-exact with NumPy's `default_rng(seed)`: SeedSequence, PCG64 (XSL-RR 128/64), Lemire's bounded
 * integers with NumPy's buffering, and the 256-layer ziggurats.
 */
import tables from "./ziggurat.json" with { type: "json" };

export type IntegerDtype =
  | "bool"
  | "int8"
  | "int16"
  | "int32"
  | "int64"
  | "uint8"
  | "uint16"
  | "uint32"
  | "uint64";

export interface IntegerArrays {
  bool: Uint8Array;
  int8: Int8Array;
  int16: Int16Array;
  int32: Int32Array;
  int64: BigInt64Array;
  uint8: Uint8Array;
  uint16: Uint16Array;
  uint32: Uint32Array;
  uint64: BigUint64Array;
}

type Shuffleable = { length: number; [index: number]: unknown };

const MASK64 = (1n << 64n) - 1n;
const MASK128 = (1n << 128n) - 1n;
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;
const NORMAL_R = 3.6541528853610088;
const NORMAL_INV_R = 0.27366123732975828;
const EXPONENTIAL_R = 7.69711747013104972;
const bits = new DataView(new ArrayBuffer(8));
const toFloats = (words: string[]) =>
  Float64Array.from(words, (word) => {
    bits.setBigUint64(0, BigInt("0x" + word));
    return bits.getFloat64(0);
  });
const toNumbers = (words: string[]) => Float64Array.from(words, (word) => Number(BigInt("0x" + word)));
const NK = toNumbers(tables.normal_k), NW = toFloats(tables.normal_w), NF = toFloats(tables.normal_f);
const EK = toNumbers(tables.exponential_k);
const EW = toFloats(tables.exponential_w), EF = toFloats(tables.exponential_f);

function seedState(seed: bigint): [bigint, bigint] {
  const entropy: number[] = [];
  for (let rest = seed; rest > 0n; rest >>= 32n) entropy.push(Number(rest & 0xffffffffn));
  let constant = 0x43b0d7e5;
  const hash = (value: number) => {
    value = value ^ constant;
    constant = Math.imul(constant, 0x931e8875);
    value = Math.imul(value, constant);
    return value ^ (value >>> 16);
  };
  const mix = (x: number, y: number) => {
    const result = Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y) | 0;
    return result ^ (result >>> 16);
  };
  const pool = [0, 1, 2, 3].map((i) => hash(entropy[i] ?? 0));
  for (let source = 0; source < 4; source++) {
    for (let target = 0; target < 4; target++) {
      if (source !== target) pool[target] = mix(pool[target], hash(pool[source]));
    }
  }
  for (const word of entropy.slice(4)) {
    for (let target = 0; target < 4; target++) pool[target] = mix(pool[target], hash(word));
  }
  constant = 0x8b51f9dd;
  const words: bigint[] = [];
  for (let i = 0; i < 8; i++) {
    let value = pool[i % 4] ^ constant;
    constant = Math.imul(constant, 0x58f38ded);
    value = Math.imul(value, constant);
    words.push(BigInt((value ^ (value >>> 16)) >>> 0));
  }
  const pair = (i: number) => words[2 * i] | (words[2 * i + 1] << 32n);
  const increment = ((((pair(2) << 64n) | pair(3)) << 1n) | 1n) & MASK128;
  const state = ((increment + ((pair(0) << 64n) | pair(1))) * MULTIPLIER + increment) & MASK128;
  return [state, increment];
}

/** A generator of one reproducible random sequence. */
export class Generator {
  #state: bigint;
  #increment: bigint;
  #half: number | null = null;

  private constructor(state: bigint, increment: bigint) {
    this.#state = state;
    this.#increment = increment;
  }

  /** The generator NumPy calls `default_rng(seed)`. */
  static seeded(seed: number | bigint): Generator {
    const value = BigInt(seed);
    if (value < 0n) throw new RangeError(`Cannot seed a generator with the negative number ${seed}`);
    return new Generator(...seedState(value));
  }

  #next64(): bigint {
    this.#state = (this.#state * MULTIPLIER + this.#increment) & MASK128;
    const folded = (this.#state >> 64n) ^ (this.#state & MASK64);
    const turn = this.#state >> 122n;
    return ((folded >> turn) | (folded << ((64n - turn) & 63n))) & MASK64;
  }

  #next32(): number {
    if (this.#half !== null) {
      const half = this.#half;
      this.#half = null;
      return half;
    }
    const next = this.#next64();
    this.#half = Number(next >> 32n);
    return Number(next & 0xffffffffn);
  }

  #nextDouble(): number {
    return Number(this.#next64() >> 11n) / 9007199254740992;
  }

  /** A bounded integer in 0 … range, as NumPy draws one of up to 64 bits. */
  #bounded(range: bigint): bigint {
    if (range === 0n) return 0n;
    if (range === 0xffffffffn) return BigInt(this.#next32());
    if (range === MASK64) return this.#next64();
    const width = range < 0xffffffffn ? 32n : 64n;
    const mask = (1n << width) - 1n;
    const draw = () => width === 32n ? BigInt(this.#next32()) : this.#next64();
    const count = range + 1n;
    let product = draw() * count;
    if ((product & mask) < count) {
      const threshold = (mask - range) % count;
      while ((product & mask) < threshold) product = draw() * count;
    }
    return product >> width;
  }

  /** Integers in low … high - 1. */
  integers<D extends IntegerDtype = "int64">(
    low: number | bigint,
    high: number | bigint,
    size: number,
    dtype: D = "int64" as D,
  ): IntegerArrays[D] {
    const offset = BigInt(low);
    const range = BigInt(high) - 1n - offset;
    if (range < 0n) throw new RangeError(`Cannot draw integers from the empty range ${low} … ${high}`);
    const width = dtype === "bool" ? 1 : Number(dtype.replace(/\D+/, ""));
    let buffer = 0, left = 0;
    const small = () => {
      if (left === 0) {
        buffer = this.#next32();
        left = 32 / width;
      } else buffer >>>= width;
      left -= 1;
      return buffer & ((1 << width) - 1);
    };
    const drawSmall = () => {
      const count = Number(range) + 1;
      if (count === 1 << width) return small();
      const threshold = ((1 << width) - count) % count;
      for (;;) {
        const product = small() * count;
        if ((product & ((1 << width) - 1)) >= threshold) return product >>> width;
      }
    };
    const values: bigint[] = [];
    for (let i = 0; i < size; i++) {
      values.push(offset + (range === 0n ? 0n : width < 32 ? BigInt(drawSmall()) : this.#bounded(range)));
    }
    const arrays = {
      bool: Uint8Array,
      int8: Int8Array,
      int16: Int16Array,
      int32: Int32Array,
      uint8: Uint8Array,
      uint16: Uint16Array,
      uint32: Uint32Array,
    };
    if (dtype === "int64") return BigInt64Array.from(values) as IntegerArrays[D];
    if (dtype === "uint64") return BigUint64Array.from(values) as IntegerArrays[D];
    return arrays[dtype as keyof typeof arrays].from(values.map(Number)) as IntegerArrays[D];
  }

  /** Uniform binary64 values in [0, 1). */
  random(): number;
  random(size: number): Float64Array;
  random(size?: number): number | Float64Array {
    return size === undefined ? this.#nextDouble() : Float64Array.from({ length: size }, () => this.#nextDouble());
  }

  /** Uniform binary32 values in [0, 1). */
  randomFloat32(size: number): Float32Array {
    return Float32Array.from({ length: size }, () => (this.#next32() >>> 8) / 16777216);
  }

  #normal(): number {
    for (;;) {
      const raw = this.#next64();
      const layer = Number(raw & 0xffn);
      const magnitude = Number((raw >> 9n) & 0xfffffffffffffn);
      const x = (raw >> 8n) & 1n ? -magnitude * NW[layer] : magnitude * NW[layer];
      if (magnitude < NK[layer]) return x;
      if (layer === 0) {
        for (;;) {
          const xx = -NORMAL_INV_R * Math.log1p(-this.#nextDouble());
          const yy = -Math.log1p(-this.#nextDouble());
          if (yy + yy > xx * xx) return (raw >> 17n) & 1n ? -(NORMAL_R + xx) : NORMAL_R + xx;
        }
      }
      if ((NF[layer - 1] - NF[layer]) * this.#nextDouble() + NF[layer] < Math.exp(-0.5 * x * x)) return x;
    }
  }

  /** Standard normal values by the ziggurat. */
  standardNormal(size: number): Float64Array {
    return Float64Array.from({ length: size }, () => this.#normal());
  }

  #exponential(): number {
    for (;;) {
      const raw = this.#next64() >> 3n;
      const layer = Number(raw & 0xffn);
      const magnitude = Number(raw >> 8n);
      const x = magnitude * EW[layer];
      if (magnitude < EK[layer]) return x;
      if (layer === 0) return EXPONENTIAL_R - Math.log1p(-this.#nextDouble());
      if ((EF[layer - 1] - EF[layer]) * this.#nextDouble() + EF[layer] < Math.exp(-x)) return x;
    }
  }

  /** Standard exponential values by the ziggurat. */
  standardExponential(size: number): Float64Array {
    return Float64Array.from({ length: size }, () => this.#exponential());
  }

  /** low + (high - low)·random(). */
  uniform(low: number, high: number, size: number): Float64Array {
    return this.random(size).map((u) => low + (high - low) * u);
  }

  /** mean + std·standard_normal(). */
  normal(mean: number, std: number, size: number): Float64Array {
    return this.standardNormal(size).map((x) => mean + std * x);
  }

  /** Shuffles in place. */
  shuffle(array: Shuffleable): void {
    for (let i = array.length - 1; i > 0; i--) {
      const mask = 2 ** (32 - Math.clz32(i)) - 1;
      let j = i + 1;
      while (j > i) j = (this.#next32() & mask) >>> 0;
      [array[i], array[j]] = [array[j], array[i]];
    }
  }

  /** 0 … n - 1 in random order. */
  permutation(n: number): Int32Array {
    const order = Int32Array.from({ length: n }, (_, i) => i);
    this.shuffle(order);
    return order;
  }

  /** Picks indices below n; without replacement and with probabilities `p` as NumPy does. */
  choice(n: number, size: number, options: { replace?: boolean; p?: ArrayLike<number> } = {}): Int32Array {
    if (options.p || options.replace === false) throw new RangeError("Cannot choose yet");
    return Int32Array.from(this.integers(0, n, size, "int64"), Number);
  }

  /** Complex normal values of the given variance, interleaved complex128: all real parts are drawn first. */
  complexNormal64(count: number, variance: number): Float64Array {
    const out = new Float64Array(2 * count);
    const scale = Math.sqrt(variance / 2);
    this.standardNormal(count).forEach((x, i) => out[2 * i] = scale * x);
    this.standardNormal(count).forEach((x, i) => out[2 * i + 1] = scale * x);
    return out;
  }

  /** As complexNormal64, each part rounded once to binary32. */
  complexNormal(count: number, variance: number): Float32Array {
    return Float32Array.from(this.complexNormal64(count, variance));
  }

  /** symbols + complex normal noise; the sum is formed in binary64 and rounded once to binary32. */
  addComplexNormal(symbols: Float32Array, variance: number): Float32Array {
    const noise = this.complexNormal64(symbols.length / 2, variance);
    return symbols.map((x, i) => x + noise[i]);
  }
}
