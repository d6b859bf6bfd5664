/**
 * Zero forcing: x̂ = (HᴴH)⁻¹Hᴴy separates the streams of y = Hx + n exactly; the noise of stream i then has the variance
 * N0·[(HᴴH)⁻¹]_ii. With HᴴH = LLᴴ and W = L⁻¹ that is x̂ = WᴴWHᴴy and the squared norm of column i of W.
 *
 * For H with independent CN(0, 1) entries 1/[(HᴴH)⁻¹]_ii has the gamma distribution of shape rx - tx + 1, which is the
 * diversity order; square systems have the exponential distribution of a Rayleigh channel on every stream.
 *
 * Source: Winters, Salz and Gitlin, "The impact of antenna diversity on the capacity of wireless communication systems",
 * IEEE Trans. Commun. 42, 1994.
 */
import { cholesky, gram, inverseLower, zeros } from "../linalg/linear_algebra.ts";

/** A receiver for one size of system; setting a channel matrix allocates nothing. */
export class ZeroForcing {
  readonly #gram;
  readonly #factor;
  readonly #inverse;
  readonly #matched;
  readonly #white;
  #channel: Float64Array = new Float64Array(0);
  #offset = 0;
  /** [(HᴴH)⁻¹]_ii of every stream. */
  readonly noiseGains: Float64Array<ArrayBuffer>;

  /** @throws RangeError when there are fewer receive than transmit antennas */
  constructor(readonly rx: number, readonly tx: number) {
    if (rx < tx) throw new RangeError(`Cannot separate ${tx} streams with ${rx} antennas`);
    this.#gram = zeros(tx, tx);
    this.#factor = zeros(tx, tx);
    this.#inverse = zeros(tx, tx);
    this.#matched = zeros(tx, 1);
    this.#white = zeros(tx, 1);
    this.noiseGains = new Float64Array(tx);
  }

  /**
   * Sets the channel matrix.
   * @param channel contains H, rx × tx, row-major, from element `offset` (counted in complex values) on
   * @throws RangeError when HᴴH is not positive definite
   */
  train(channel: Float64Array, offset = 0): void {
    const { rx, tx } = this;
    this.#channel = channel;
    this.#offset = offset;
    inverseLower(cholesky(gram(channel, rx, tx, { offset, out: this.#gram }), tx, this.#factor), tx, this.#inverse);
    for (let i = 0; i < tx; i++) {
      let sum = 0;
      for (let k = i; k < tx; k++) {
        const at = 2 * (k * tx + i);
        sum += this.#inverse[at] ** 2 + this.#inverse[at + 1] ** 2;
      }
      this.noiseGains[i] = sum;
    }
  }

  /** x̂ of the received vector y, into `out`. */
  apply(y: Float64Array, out: Float64Array): void {
    const { rx, tx } = this;
    const h = this.#channel, w = this.#inverse, matched = this.#matched, white = this.#white;
    for (let i = 0; i < tx; i++) {
      let real = 0, imaginary = 0;
      for (let k = 0; k < rx; k++) {
        const at = 2 * (this.#offset + k * tx + i);
        real += h[at] * y[2 * k] + h[at + 1] * y[2 * k + 1];
        imaginary += h[at] * y[2 * k + 1] - h[at + 1] * y[2 * k];
      }
      matched[2 * i] = real;
      matched[2 * i + 1] = imaginary;
    }
    for (let i = 0; i < tx; i++) {
      let real = 0, imaginary = 0;
      for (let k = 0; k <= i; k++) {
        const at = 2 * (i * tx + k);
        real += w[at] * matched[2 * k] - w[at + 1] * matched[2 * k + 1];
        imaginary += w[at] * matched[2 * k + 1] + w[at + 1] * matched[2 * k];
      }
      white[2 * i] = real;
      white[2 * i + 1] = imaginary;
    }
    for (let i = 0; i < tx; i++) {
      let real = 0, imaginary = 0;
      for (let k = i; k < tx; k++) {
        const at = 2 * (k * tx + i);
        real += w[at] * white[2 * k] + w[at + 1] * white[2 * k + 1];
        imaginary += w[at] * white[2 * k + 1] - w[at + 1] * white[2 * k];
      }
      out[2 * i] = real;
      out[2 * i + 1] = imaginary;
    }
  }
}
