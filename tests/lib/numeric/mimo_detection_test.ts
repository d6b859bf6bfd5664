/** Detectors and channels of antenna arrays: stored vectors, equivalences, diversity and correlation. */
import assert from "node:assert/strict";
import { cdlProfile, tdlProfile } from "../../../lib/numeric/channel/delay_profile.ts";
import { cdlResponse, correlationFactors, tdlResponse } from "../../../lib/numeric/channel/mimo_channel.ts";
import {
  constellation,
  type Detector,
  kBestDetector,
  linearDetector,
  maximumLikelihoodDetector,
  successiveDetector,
} from "../../../lib/numeric/link/mimo_detection.ts";
import { demodulateLlr, hardBits, modulate } from "../../../lib/numeric/link/modulation.ts";
import { BITS_PER_SYMBOL, type Modulation, MODULATION_BY_BITS } from "../../../lib/numeric/link/modulations.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { wilsonInterval } from "../../../lib/numeric/scores/statistics.ts";
import { bitErrorRateRayleigh } from "../../../lib/numeric/link/theory.ts";
import stored from "../../data/physical/mimo_detection.json" with { type: "json" };

function detect(detector: Detector, g: number[], y: number[], noise: number, layers: number, width: number) {
  const out = {
    symbols: new Float32Array(2 * layers),
    variance: new Float32Array(layers),
    llr: new Float32Array(layers * width),
  };
  detector.prepare(Float64Array.from(g), noise);
  detector.detect(Float32Array.from(y), 0, out, 0);
  return out;
}
function near(found: ArrayLike<number>, expected: readonly number[], tolerance: number, what: string) {
  expected.forEach((value, i) =>
    assert.ok(
      Math.abs(found[i] - value) <= tolerance * (1 + Math.abs(value)),
      `${what} ${i}: ${found[i]}, expected ${value}`,
    )
  );
}

Deno.test("ZF, MMSE, MMSE-SIC and ML equal the stored vectors", () => {
  stored.cases.forEach((row, index) => {
    const { rx, tx, num_bits_per_symbol: width, noise_variance: noise } = row;
    const modulation = MODULATION_BY_BITS[width], g = row.G.flat(), y = row.y.flat();
    const run = (detector: Detector) => detect(detector, g, y, noise, tx, width);
    const mmse = run(linearDetector(rx, tx, true)), zf = run(linearDetector(rx, tx, false));
    near(zf.symbols, row.zf.x.flat(), 1e-4, `${index} zf`);
    near(zf.variance, row.zf.v, 1e-4, `${index} zf variance`);
    near(mmse.symbols, row.mmse.x.flat(), 1e-4, `${index} mmse`);
    near(mmse.variance, row.mmse.v, 1e-4, `${index} mmse variance`);
    near(demodulateLlr(mmse.symbols, modulation, mmse.variance), row.mmse.llr_max_log, 1e-3, `${index} mmse llr`);
    const sic = run(successiveDetector(rx, tx, modulation));
    near(sic.symbols, row.mmse_sic.x.flat(), 1e-4, `${index} sic`);
    near(demodulateLlr(sic.symbols, modulation, sic.variance), row.mmse_sic.llr_max_log, 1e-3, `${index} sic llr`);
    if (tx * width > 16) return;
    const points = constellation(modulation), hard = row.ml.labels.flatMap((l) => [points[2 * l], points[2 * l + 1]]);
    const ml = run(maximumLikelihoodDetector(rx, tx, modulation, false));
    near(ml.llr, row.ml.llr_max_log, 1e-3, `${index} ml`);
    near(ml.symbols, hard, 1e-6, `${index} ml decision`);
    if (tx * width <= 12) {
      near(run(maximumLikelihoodDetector(rx, tx, modulation, true)).llr, row.ml.llr_exact, 1e-3, `${index} exact`);
      const all = kBestDetector(rx, tx, modulation, 2 ** (tx * width), false);
      near(run(all).llr, row.ml.llr_max_log, 1e-3, `${index} kbest of all`);
    }
  });
});

Deno.test("points by label are those of the mapper", () => {
  for (const modulation of ["bpsk", "qpsk", "qam16", "qam64", "qam256"] as Modulation[]) {
    const width = BITS_PER_SYMBOL[modulation], points = constellation(modulation);
    const bits = Array.from(
      { length: points.length / 2 },
      (_, l) => Array.from({ length: width }, (_, i) => l >> (width - 1 - i) & 1),
    );
    near(modulate(Uint8Array.from(bits.flat()), modulation), [...points], 1e-6, modulation);
  }
});

Deno.test("K-best of few paths keeps signs and decisions of good channels; equal columns are erased by ZF", () => {
  const row = stored.cases[4], { rx, tx, num_bits_per_symbol: width } = row, g = row.G.flat();
  const modulation = MODULATION_BY_BITS[width], points = constellation(modulation), sent = row.sent_labels;
  const y = Array.from({ length: 2 * rx }, () => 0);
  for (let r = 0; r < rx; r++) {
    for (let t = 0; t < tx; t++) {
      const [gr, gi] = row.G[r * tx + t], sr = points[2 * sent[t]], si = points[2 * sent[t] + 1];
      y[2 * r] += gr * sr - gi * si;
      y[2 * r + 1] += gr * si + gi * sr;
    }
  }
  const found = detect(kBestDetector(rx, tx, modulation, 16, false), g, y, 0.01, tx, width);
  near(found.symbols, sent.flatMap((label) => [points[2 * label], points[2 * label + 1]]), 1e-6, "decision");
  const singular = detect(linearDetector(2, 2, false), [1, 0, 1, 0, 1, 0, 1, 0], [1, 0, 1, 0], 0.1, 2, 2);
  assert.deepEqual([...singular.variance], [1e12, 1e12].map(Math.fround));
});

Deno.test("error rates: ZF has the diversity rx - tx + 1 of the closed form, MMSE and ML fewer errors", () => {
  const generator = Generator.seeded(31), snr = 10 ** 1.2, vectors = 20_000, noise = 1 / snr;
  const bits = generator.integers(0, 2, 4 * vectors, "uint8"), x = modulate(bits, "qpsk");
  const g = generator.complexNormal64(6 * vectors, 0.5), n = generator.complexNormal64(3 * vectors, noise);
  const y = new Float32Array(6 * vectors);
  for (let v = 0; v < vectors; v++) {
    for (let r = 0; r < 3; r++) {
      const to = 2 * (3 * v + r);
      y[to] = n[to];
      y[to + 1] = n[to + 1];
      for (let t = 0; t < 2; t++) {
        const at = 2 * (6 * v + 2 * r + t), s = 2 * (2 * v + t);
        y[to] += g[at] * x[s] - g[at + 1] * x[s + 1];
        y[to + 1] += g[at] * x[s + 1] + g[at + 1] * x[s];
      }
    }
  }
  const errors = (detector: Detector, soft = false) => {
    const out = {
      symbols: new Float32Array(4 * vectors),
      variance: new Float32Array(2 * vectors),
      llr: new Float32Array(4 * vectors),
    };
    for (let v = 0; v < vectors; v++) {
      detector.prepare(g.slice(12 * v, 12 * (v + 1)), noise);
      detector.detect(y, 6 * v, out, 2 * v);
    }
    const decided = hardBits(soft ? out.llr : demodulateLlr(out.symbols, "qpsk", out.variance));
    return decided.reduce((sum, bit, i) => sum + (bit ^ bits[i]), 0);
  };
  const zf = errors(linearDetector(3, 2, false)), { low, high } = wilsonInterval(zf, 4 * vectors, 0.999);
  const theory = bitErrorRateRayleigh("qpsk", snr / 2, 2);
  assert.ok(zf >= 100 && low <= theory && theory <= high, `${zf}: ${theory} is not within ${low} … ${high}`);
  const mmse = errors(linearDetector(3, 2, true)), sic = errors(successiveDetector(3, 2, "qpsk"));
  const ml = errors(maximumLikelihoodDetector(3, 2, "qpsk", false), true);
  assert.ok(ml < sic && sic < mmse && mmse < zf, `${ml} ${sic} ${mmse} ${zf}`);
});

Deno.test("unbiased MMSE: the error has the stated variance, and 1/ν is 1/[(I + GᴴG/N0)⁻¹]_ii - 1", () => {
  const generator = Generator.seeded(12), noise = 0.3, count = 20_000, detector = linearDetector(2, 2, true);
  const g = generator.complexNormal64(4, 1), s = generator.complexNormal64(2 * count, 1);
  const n = generator.complexNormal64(2 * count, noise), y = new Float32Array(4 * count);
  for (let v = 0; v < count; v++) {
    for (let r = 0; r < 2; r++) {
      const to = 2 * (2 * v + r);
      y[to] = n[to];
      y[to + 1] = n[to + 1];
      for (let t = 0; t < 2; t++) {
        const at = 2 * (2 * r + t), from = 2 * (2 * v + t);
        y[to] += g[at] * s[from] - g[at + 1] * s[from + 1];
        y[to + 1] += g[at] * s[from + 1] + g[at + 1] * s[from];
      }
    }
  }
  const out = { symbols: new Float32Array(4 * count), variance: new Float32Array(2 * count), llr: new Float32Array(0) };
  detector.prepare(g, noise);
  for (let v = 0; v < count; v++) detector.detect(y, 4 * v, out, 2 * v);
  // I + GᴴG/N0 = [a b; b* c]
  const squared = (at: number) => g[2 * at] ** 2 + g[2 * at + 1] ** 2;
  const a = 1 + (squared(0) + squared(2)) / noise, c = 1 + (squared(1) + squared(3)) / noise;
  const part = (p: number, q: number) => [
    g[2 * p] * g[2 * q] + g[2 * p + 1] * g[2 * q + 1],
    g[2 * p] * g[2 * q + 1] - g[2 * p + 1] * g[2 * q],
  ];
  const [top, bottom] = [part(0, 1), part(2, 3)];
  const determinant = a * c - ((top[0] + bottom[0]) ** 2 + (top[1] + bottom[1]) ** 2) / noise ** 2;
  for (const [layer, sinr] of [determinant / c - 1, determinant / a - 1].entries()) {
    assert.ok(Math.abs(out.variance[layer] * sinr - 1) < 1e-5, `layer ${layer}`);
    let error = 0, gain = 0;
    for (let at = 2 * layer; at < 4 * count; at += 4) {
      error += (out.symbols[at] - s[at]) ** 2 + (out.symbols[at + 1] - s[at + 1]) ** 2;
      gain += out.symbols[at] * s[at] + out.symbols[at + 1] * s[at + 1];
    }
    // Four standard deviations of means of exponential powers.
    assert.ok(Math.abs(error / count * sinr - 1) < 4 / Math.sqrt(count), `error of layer ${layer}`);
    assert.ok(Math.abs(gain / count - 1) < 4 * Math.sqrt((1 + 1 / sinr) / count), `gain of layer ${layer}`);
  }
});

Deno.test("Kronecker correlation and unit gains of TDL and CDL", () => {
  const generator = Generator.seeded(8), antennas = { tx: 4, rx: 2 }, draws = 3000;
  const profile = tdlProfile("A", { delaySpread: 0, normalise: true });
  const factors = correlationFactors("ts36101_medium", antennas, { txCorrelation: 0, rxCorrelation: 0 });
  let gain = 0, rx = 0, tx = 0;
  for (let i = 0; i < draws; i++) {
    const h = tdlResponse(profile, antennas, factors, { count: 1, spacing: 15e3 }, generator);
    const product = (a: number, b: number) => (h[2 * a] * h[2 * b] + h[2 * a + 1] * h[2 * b + 1]) / draws;
    gain += product(0, 0);
    rx += product(0, 4);
    tx += product(0, 3);
  }
  // β = 0.9 between receive antennas, α = 0.3 between the outer transmit antennas; deviations of a mean about 0.02.
  assert.ok(Math.abs(gain - 1) < 0.08 && Math.abs(rx - 0.9) < 0.08 && Math.abs(tx - 0.3) < 0.08, `${gain} ${rx} ${tx}`);
  assert.throws(
    () => correlationFactors("ts36101_low", { tx: 3, rx: 2 }, { txCorrelation: 0, rxCorrelation: 0 }),
    RangeError,
  );
  for (const model of ["A", "D"] as const) {
    const clusters = cdlProfile(model, { delaySpread: 100e-9, normalise: true });
    let power = 0;
    for (let i = 0; i < 400; i++) {
      const h = cdlResponse(model, clusters, { tx: 2, rx: 2 }, { count: 4, spacing: 120e3 }, generator);
      power += h.reduce((sum, part) => sum + part * part, 0) / 16 / 400;
    }
    assert.ok(Math.abs(power - 1) < 0.15, `${model}: ${power}`);
  }
});
