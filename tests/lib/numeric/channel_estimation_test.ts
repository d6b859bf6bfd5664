import assert from "node:assert/strict";
import { interpolatePilots, mmseFilter } from "../../../lib/numeric/channel/channel_estimation.ts";
import { zeroForcingRate } from "../../../lib/numeric/link/estimated_zero_forcing.ts";
import { conjugateTranspose, matrixProduct } from "../../../lib/numeric/linalg/linear_algebra.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { ZeroForcing } from "../../../lib/numeric/link/zero_forcing.ts";

Deno.test("interpolation is linear between pilots and constant outside", () => {
  const sparse = Float64Array.of(0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 10, -3);
  const full = interpolatePilots(sparse, [[1, 5]], 6);
  assert.deepEqual([...full], [2, 1, 2, 1, 4, 0, 6, -1, 8, -2, 10, -3]);
  assert.deepEqual([...interpolatePilots(Float64Array.of(0, 0, 3, 4, 0, 0), [[1]], 3)], [3, 4, 3, 4, 3, 4]);
});

Deno.test("the MMSE filter is R_kp (R_pp + N0 I)⁻¹", () => {
  const subcarriers = 12, taps = 3, n0 = 0.2, positions = [1, 4, 9];
  const powers = [0, 1, 2].map((l) => Math.exp(-l)), total = powers.reduce((a, b) => a + b);
  const r = (k: number, m: number) => {
    let real = 0, imaginary = 0;
    powers.forEach((p, l) => {
      real += p / total * Math.cos(-2 * Math.PI * (k - m) * l / subcarriers);
      imaginary += p / total * Math.sin(-2 * Math.PI * (k - m) * l / subcarriers);
    });
    return [real, imaginary];
  };
  const { weights } = mmseFilter(positions, { subcarriers, taps }, n0);
  // (R_pp + N0·I) Wᴴ = R_pk.
  const a = new Float64Array(positions.flatMap((p) =>
    positions.flatMap((q) => {
      const [real, imaginary] = r(p, q);
      return [real + (p === q ? n0 : 0), imaginary];
    })
  ));
  const b = new Float64Array(positions.flatMap((p) => Array.from({ length: subcarriers }, (_, k) => r(p, k)).flat()));
  const product = matrixProduct(a, conjugateTranspose(weights, subcarriers, 3), 3, 3, subcarriers);
  assert.equal(product.length, b.length);
  product.forEach((value, i) => assert.ok(Math.abs(value - b[i]) < 1e-12));
});

Deno.test("with the true channel the zero-forcing rate is that of its noise gains", () => {
  const generator = Generator.seeded(3), receiver = new ZeroForcing(3, 2);
  for (let i = 0; i < 20; i++) {
    const h = generator.complexNormal64(6, 1);
    receiver.train(h);
    const expected = receiver.noiseGains.reduce((sum, gain) => sum + Math.log2(1 + 1 / (2 * 0.1 * gain)), 0);
    const rate = zeroForcingRate(h, h, { rx: 3, tx: 2, noiseVariance: 0.1 });
    assert.ok(Math.abs(rate / expected - 1) < 1e-10);
    const off = h.map((value, j) => value + 0.1 * Math.cos(j));
    assert.ok(zeroForcingRate(h, off, { rx: 3, tx: 2, noiseVariance: 0.1 }) < 1.2 * rate);
  }
});

Deno.test("an estimate of lower rank leaves streams unheard, not undefined", () => {
  const h = Float64Array.of(1, 0, 0, 0, 0, 0, 1, 0), blind = Float64Array.of(1, 0, 0, 0, 0, 0, 0, 0);
  assert.equal(zeroForcingRate(h, blind, { rx: 2, tx: 2, noiseVariance: 0.5 }), 1);
  assert.equal(zeroForcingRate(h, new Float64Array(8), { rx: 2, tx: 2, noiseVariance: 0.5 }), 0);
});
