import assert from "node:assert/strict";
import { blindQpsk, impairIq, restoreIq } from "../../../lib/numeric/link/iq_imbalance.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

const FRONT_END = {
  gain_imbalance_db: 5,
  quadrature_error_deg: 12,
  phase_offset_deg: 20,
  dc_offset_i: 0.18,
  dc_offset_q: -0.12,
};

Deno.test("the front end follows its formula", () => {
  const { gain_imbalance_db, quadrature_error_deg, phase_offset_deg, dc_offset_i, dc_offset_q } = FRONT_END;
  const [re, im] = [0.3, -0.8], phi = phase_offset_deg * Math.PI / 180, eps = quadrature_error_deg * Math.PI / 180;
  const [real, imaginary] = [re * Math.cos(phi) - im * Math.sin(phi), re * Math.sin(phi) + im * Math.cos(phi)];
  const alpha = 10 ** (gain_imbalance_db / 40);
  const [i, q] = impairIq(Float32Array.of(re, im), FRONT_END);
  assert.ok(Math.abs(i - (alpha * real + dc_offset_i)) < 1e-6);
  assert.ok(Math.abs(q - ((imaginary * Math.cos(eps) + real * Math.sin(eps)) / alpha + dc_offset_q)) < 1e-6);
  // The amplitude gains of the branches differ by gain_imbalance_db.
  assert.ok(Math.abs(20 * Math.log10(alpha / (1 / alpha)) - gain_imbalance_db) < 1e-12);
});

Deno.test("taking the front end back out gives the symbols again, to the rounding of binary32", () => {
  const symbols = Float32Array.from(Generator.seeded(11n).standardNormal(2000));
  const again = restoreIq(impairIq(symbols, FRONT_END), FRONT_END);
  const worst = symbols.reduce((most, value, i) => Math.max(most, Math.abs(value - again[i])), 0);
  assert.ok(worst < 2e-6, `${worst}`);
});

Deno.test("branches that carry the same have no way back", () => {
  assert.throws(() => restoreIq(new Float32Array(2), { ...FRONT_END, quadrature_error_deg: 90 }), RangeError);
});

/** QPSK symbols in equal numbers, behind noise of variance n0 and the front end. */
function received(count: number, n0: number, frontEnd = FRONT_END) {
  const sent = Float32Array.from(
    { length: 2 * count },
    (_, i) => (i >> 1 >> (i & 1)) % 2 === 0 ? Math.SQRT1_2 : -Math.SQRT1_2,
  );
  const noise = Generator.seeded(12n).standardNormal(2 * count);
  const noisy = sent.map((value, i) => value + Math.sqrt(n0 / 2) * Number(noise[i]));
  return { sent, noisy, impaired: impairIq(noisy, frontEnd) };
}

Deno.test("an unknown front end is removed by the statistics of QPSK, with its noise variance", () => {
  const clean = received(64, 0);
  const exact = blindQpsk(clean.impaired);
  assert.ok(exact.symbols.every((value, i) => Math.abs(value - clean.sent[i]) < 1e-5));
  assert.ok(exact.noise < 1e-5, `${exact.noise}`);
  for (const n0 of [0.1, 1]) {
    const { noisy, impaired } = received(100_000, n0);
    const { symbols, noise } = blindQpsk(impaired);
    assert.ok(Math.abs(noise / n0 - 1) < 0.05, `${noise} for ${n0}`);
    const worst = symbols.reduce((most, value, i) => Math.max(most, Math.abs(value - noisy[i])), 0);
    assert.ok(worst < 0.1, `${worst} at ${n0}`);
  }
});

Deno.test("a phase beyond 45 degrees turns all symbols by a quarter, and equal branches are refused", () => {
  const { sent, impaired } = received(64, 0, { ...FRONT_END, phase_offset_deg: 60 });
  const { symbols } = blindQpsk(impaired);
  for (let k = 0; k < symbols.length; k += 2) {
    assert.ok(Math.hypot(symbols[k] + sent[k + 1], symbols[k + 1] - sent[k]) < 1e-5, `${k}`);
  }
  assert.throws(() => blindQpsk(Float32Array.of(1, 1, -1, -1, 1, 1)), RangeError);
  assert.throws(() => blindQpsk(new Float32Array(8)), RangeError);
});

Deno.test("noise without a signal keeps finite soft values", () => {
  const noise = Float32Array.from(Generator.seeded(13n).standardNormal(2000));
  const found = blindQpsk(noise);
  assert.ok(Number.isFinite(found.noise) && found.symbols.every(Number.isFinite), `${found.noise}`);
});
