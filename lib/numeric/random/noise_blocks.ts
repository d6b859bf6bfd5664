/** Complex normal noise on symbols that arrive in blocks. */
import { Generator, partScale } from "./random.ts";

/**
 * Adds noise as `Generator.addComplexNormal` adds it to all symbols at once. That draws the real parts of all symbols before
 * the imaginary parts, so a second generator draws these, from its place after all real parts.
 */
export class NoiseBlocks {
  readonly #real: Generator;
  readonly #imaginary: Generator;
  readonly #scale: number;
  readonly #count: number;

  /**
   * @param generator draws the real parts
   * @param count number of all symbols
   * @param variance E|n|², total over both parts
   * @throws RangeError when the variance is negative or not finite
   */
  constructor(generator: Generator, count: number, variance: number) {
    this.#scale = partScale(variance);
    this.#real = generator;
    this.#imaginary = generator.copy();
    this.#imaginary.skipNormal(count);
    this.#count = count;
  }

  /** A generator that continues after all values; none of them may have been taken. */
  after(): Generator {
    const generator = this.#imaginary.copy();
    generator.skipNormal(this.#count);
    return generator;
  }

  /** The next values, complex128 as those of `Generator.complexNormal64`. @param out receives interleaved parts */
  next(out: Float64Array): Float64Array {
    const values = new Float64Array(out.length / 2);
    for (const [part, generator] of [this.#real, this.#imaginary].entries()) {
      generator.standardNormal(values);
      for (let i = 0, at = part; i < values.length; i++, at += 2) out[at] = this.#scale * values[i];
    }
    return out;
  }

  /** @param symbols the next ones, interleaved complex64 */
  add<T extends Float32Array>(symbols: Float32Array, out: T): T {
    this.#real.addNormalPairs(this.#imaginary, symbols, this.#scale, out);
    return out;
  }
}
