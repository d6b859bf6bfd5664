/**
 * The random streams once more, for reading and for comparison: one value at a time, 128-bit integers as BigInt, no blocks.
 * Only what the kernels compute is here; NumPy's own values are in tests/data/random.
 */
import { seedWords } from "../../../lib/numeric/random/seed_sequence.ts";
import tables from "../../data/random/ziggurat.json" with { type: "json" };

const MASK64 = (1n << 64n) - 1n;
const MASK128 = (1n << 128n) - 1n;
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;
const NORMAL_R = 3.6541528853610088;
const NORMAL_INVERSE_R = 0.27366123732975828;
const EXPONENTIAL_R = 7.69711747013105;

const doubleOf = (word: string) => new Float64Array(BigUint64Array.of(BigInt("0x" + word)).buffer)[0];
const normal = {
  k: tables.normal_k.map((word) => Number(BigInt("0x" + word))),
  w: tables.normal_w.map(doubleOf),
  f: tables.normal_f.map(doubleOf),
};
const exponential = {
  k: tables.exponential_k.map((word) => Number(BigInt("0x" + word))),
  w: tables.exponential_w.map(doubleOf),
  f: tables.exponential_f.map(doubleOf),
};

export class ReferenceGenerator {
  #state: bigint;
  #increment: bigint;
  #half: bigint | null = null;

  constructor(seed: bigint) {
    const [stateHigh, stateLow, incrementHigh, incrementLow] = seedWords(seed);
    this.#increment = ((((incrementHigh << 64n) | incrementLow) << 1n) | 1n) & MASK128;
    // Seeding: from state 0, one step, add the seed, one step.
    this.#state = (this.#increment + ((stateHigh << 64n) | stateLow)) & MASK128;
    this.#step();
  }

  #step(): void {
    this.#state = (this.#state * MULTIPLIER + this.#increment) & MASK128;
  }

  next64(): bigint {
    this.#step();
    const folded = (this.#state >> 64n) ^ (this.#state & MASK64);
    const turn = this.#state >> 122n;
    return ((folded >> turn) | (folded << (64n - turn))) & MASK64;
  }

  next32(): bigint {
    if (this.#half !== null) {
      const half = this.#half;
      this.#half = null;
      return half;
    }
    const next = this.next64();
    this.#half = next >> 32n;
    return next & 0xffffffffn;
  }

  nextDouble(): number {
    return Number(this.next64() >> 11n) / 2 ** 53;
  }

  nextFloat(): number {
    return Number(this.next32() >> 8n) / 2 ** 24;
  }

  /** Integers low + (0 … range) of 8, 16, 32 or 64 bits by Lemire's method; range > 0. */
  integers(low: bigint, range: bigint, size: number, bits: number): bigint[] {
    const width = bits === 64 && range <= 0xffffffffn ? 32 : bits;
    const scale = BigInt(width);
    const mask = (1n << scale) - 1n;
    let word = 0n;
    let parts = 0;
    const part = () => {
      if (width === 64) return this.next64();
      if (parts === 0) {
        word = this.next32();
        parts = 32 / width;
      }
      parts -= 1;
      const value = word & mask;
      word >>= scale;
      return value;
    };
    return Array.from({ length: size }, () => {
      let product = part() * (range + 1n);
      while ((product & mask) < (mask + 1n) % (range + 1n)) product = part() * (range + 1n);
      return low + (product >> scale);
    });
  }

  standardNormal(): number {
    for (;;) {
      const raw = this.next64();
      const layer = Number(raw & 0xffn);
      const sign = (raw >> 8n) & 1n ? -1 : 1;
      const magnitude = Number((raw >> 9n) & ((1n << 52n) - 1n));
      const x = sign * magnitude * normal.w[layer];
      if (magnitude < normal.k[layer]) return x;
      if (layer === 0) {
        for (;;) {
          const far = -NORMAL_INVERSE_R * Math.log1p(-this.nextDouble());
          const height = -Math.log1p(-this.nextDouble());
          if (2 * height > far * far) return (raw >> 17n) & 1n ? -(NORMAL_R + far) : NORMAL_R + far;
        }
      }
      const { f } = normal;
      if ((f[layer - 1] - f[layer]) * this.nextDouble() + f[layer] < Math.exp(-0.5 * x * x)) return x;
    }
  }

  standardExponential(): number {
    for (;;) {
      const raw = this.next64() >> 3n;
      const layer = Number(raw & 0xffn);
      const magnitude = Number(raw >> 8n);
      const x = magnitude * exponential.w[layer];
      if (magnitude < exponential.k[layer]) return x;
      if (layer === 0) return EXPONENTIAL_R - Math.log1p(-this.nextDouble());
      const { f } = exponential;
      if ((f[layer - 1] - f[layer]) * this.nextDouble() + f[layer] < Math.exp(-x)) return x;
    }
  }
}
