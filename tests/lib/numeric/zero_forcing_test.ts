import assert from "node:assert/strict";
import { gram } from "../../../lib/numeric/linalg/linear_algebra.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { ZeroForcing } from "../../../lib/numeric/link/zero_forcing.ts";
import { inverseHermitian } from "./_matrices.ts";

Deno.test("without noise every stream comes back, for square and tall systems at any offset", () => {
  const generator = Generator.seeded(3);
  for (const [rx, tx] of [[1, 1], [2, 2], [4, 4], [3, 2], [8, 5]]) {
    const stored = generator.complexNormal64(4 + rx * tx, 1), h = stored.subarray(8);
    const x = generator.complexNormal64(tx, 1), y = new Float64Array(2 * rx), estimate = new Float64Array(2 * tx);
    for (let r = 0; r < rx; r++) {
      for (let t = 0; t < tx; t++) {
        const at = 2 * (r * tx + t);
        y[2 * r] += h[at] * x[2 * t] - h[at + 1] * x[2 * t + 1];
        y[2 * r + 1] += h[at] * x[2 * t + 1] + h[at + 1] * x[2 * t];
      }
    }
    const receiver = new ZeroForcing(rx, tx);
    receiver.train(stored, 4);
    receiver.apply(y, estimate);
    for (let i = 0; i < 2 * tx; i++) assert.ok(Math.abs(estimate[i] - x[i]) < 1e-9);
    const inverse = inverseHermitian(gram(h, rx, tx), tx);
    for (let i = 0; i < tx; i++) assert.ok(Math.abs(receiver.noiseGains[i] / inverse[2 * i * (tx + 1)] - 1) < 1e-8);
  }
});

Deno.test("too few antennas and a stream that does not arrive are refused", () => {
  assert.throws(() => new ZeroForcing(1, 2), RangeError);
  assert.throws(() => new ZeroForcing(2, 2).train(Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0)), RangeError);
});

/** Distribution function of a sum of `shape` exponential variables of mean 1. */
function gammaDistribution(shape: number, x: number): number {
  let tail = 0, term = Math.exp(-x);
  for (let k = 0; k < shape; k++) {
    tail += term;
    term *= x / (k + 1);
  }
  return 1 - tail;
}

for (const [rx, tx] of [[2, 2], [4, 4], [3, 2], [6, 3]]) {
  Deno.test(`SNR of a stream of ${tx} with ${rx} antennas has the gamma distribution of shape ${rx - tx + 1}`, () => {
    const samples = 20_000;
    const channels = Generator.seeded(11).complexNormal64(samples * rx * tx, 1);
    const receiver = new ZeroForcing(rx, tx);
    for (const stream of [0, tx - 1]) {
      const gains = Float64Array.from({ length: samples }, (_, i) => {
        receiver.train(channels, i * rx * tx);
        return 1 / receiver.noiseGains[stream];
      }).sort();
      const distance = gains.reduce((largest, gain, i) => {
        const expected = gammaDistribution(rx - tx + 1, gain);
        return Math.max(largest, expected - i / samples, (i + 1) / samples - expected);
      }, 0);
      // Kolmogorov and Smirnov: larger with probability 0.001.
      assert.ok(distance < 1.95 / Math.sqrt(samples), String(distance));
    }
  });
}
