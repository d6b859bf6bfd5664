import assert from "node:assert/strict";
import { impairIq, restoreIq } from "../../../lib/numeric/iq_imbalance.ts";
import { Generator } from "../../../lib/numeric/random.ts";

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
