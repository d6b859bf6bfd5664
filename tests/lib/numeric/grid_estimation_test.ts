/** DM-RS against stored sequences, and estimators against their definition. */
import assert from "node:assert/strict";
import {
  dopplerCorrelation,
  frequencyResponse,
  movingTaps,
  staticTaps,
  tdlProfile,
} from "../../../lib/numeric/channel/delay_profile.ts";
import {
  applyFilter,
  applyTimeFilter,
  exponentialCorrelation,
  interpolate,
  lmmseFilter,
  profileCorrelation,
  rowShares,
  timeFilter,
  uniformCorrelation,
} from "../../../lib/numeric/channel/grid_estimation.ts";
import { dmrsSubcarriers, dmrsValues } from "../../../lib/numeric/channel/pilot_grid.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import stored from "../../data/physical/dmrs_type1.json" with { type: "json" };

Deno.test("DM-RS sequences and places are the stored ones", () => {
  let compared = 0;
  for (const row of stored.cases) {
    // Ports from 4 on need a second DM-RS symbol.
    if (row.port > 3) continue;
    const settings = { subcarriers: 12 * row.rb_count, firstRb: row.first_rb, nId: row.n_id, nScid: row.n_scid };
    const places = dmrsSubcarriers(row.port, settings.subcarriers).map((k) => k + 12 * row.first_rb);
    assert.deepEqual([places[0], places[1], places.at(-1)], row.subcarriers);
    const values = dmrsValues(row.port, row.slot, row.symbol, settings);
    row.values.flat().forEach((value, i) => assert.ok(Math.abs(values[i] - value) < 1e-6));
    assert.equal(values.length, 2 * row.values.length);
    compared++;
  }
  assert.equal(compared, 9);
});

Deno.test("interpolation is linear inside, the nearest outside", () => {
  const values = Float64Array.of(1, 0, 3, -4);
  assert.deepEqual([...interpolate([1, 3], values, 5)], [1, 0, 1, 0, 2, -2, 3, -4, 3, -4]);
  const { pairs, shares } = rowShares([1, 4], 6, { nearest: true });
  assert.deepEqual([...shares].map((share, i) => pairs[2 * i + share]), [0, 0, 0, 1, 1, 1]);
  assert.deepEqual([...interpolate([2], Float64Array.of(5, 6), 3)], [5, 6, 5, 6, 5, 6]);
});

Deno.test("correlations: one at distance 0, Hermitian, and those of drawn channels", () => {
  const spacing = 60e3, profile = tdlProfile("B", { delaySpread: 200e-9, normalise: true });
  for (
    const r of [
      exponentialCorrelation(2e-7, spacing),
      uniformCorrelation(1e-6, spacing),
      profileCorrelation(profile, spacing),
    ]
  ) {
    const [real, imaginary] = r(0);
    assert.ok(Math.abs(real - 1) < 1e-12 && Math.abs(imaginary) < 1e-12);
    assert.ok(Math.abs(r(3)[0] - r(-3)[0]) < 1e-12 && Math.abs(r(3)[1] + r(-3)[1]) < 1e-12);
  }
  const grids = 4000, taps = staticTaps(profile, grids, Generator.seeded(5));
  const h = frequencyResponse(taps, profile, { count: 8, spacing });
  let real = 0, imaginary = 0;
  for (let g = 0; g < grids; g++) {
    const a = 2 * (8 * g + 6), b = 2 * (8 * g + 1);
    real += (h[a] * h[b] + h[a + 1] * h[b + 1]) / grids;
    imaginary += (h[a + 1] * h[b] - h[a] * h[b + 1]) / grids;
  }
  const [er, ei] = profileCorrelation(profile, spacing)(5);
  // Standard deviation of the mean about 1/sqrt(4000).
  assert.ok(Math.hypot(real - er, imaginary - ei) < 0.06, `${real} ${imaginary} against ${er} ${ei}`);
});

Deno.test("the LMMSE filter meets its own error variance, below that of least squares", () => {
  const spacing = 30e3, count = 48, noise = 0.1, grids = 3000;
  const profile = tdlProfile("C", { delaySpread: 300e-9, normalise: true });
  const positions = Array.from({ length: 12 }, (_, i) => 4 * i);
  const filter = lmmseFilter(positions, count, profileCorrelation(profile, spacing), noise);
  const generator = Generator.seeded(9);
  const h = frequencyResponse(staticTaps(profile, grids, generator), profile, { count, spacing });
  const n = generator.complexNormal64(grids * 12, noise);
  const error = new Float64Array(count);
  for (let g = 0; g < grids; g++) {
    const raw = new Float64Array(24);
    positions.forEach((k, i) => {
      raw[2 * i] = h[2 * (g * count + k)] + n[2 * (12 * g + i)];
      raw[2 * i + 1] = h[2 * (g * count + k) + 1] + n[2 * (12 * g + i) + 1];
    });
    const found = applyFilter(filter, raw);
    for (let k = 0; k < count; k++) {
      error[k] +=
        ((found[2 * k] - h[2 * (g * count + k)]) ** 2 + (found[2 * k + 1] - h[2 * (g * count + k) + 1]) ** 2) / grids;
    }
  }
  // Squared errors are exponential: the mean of 3000 deviates by 1.8 %, four times that at most over 48 subcarriers.
  error.forEach((value, k) => {
    assert.ok(Math.abs(value / filter.error[k] - 1) < 0.08, `${k}: ${value} ${filter.error[k]}`);
    assert.ok(filter.error[k] < noise);
  });
});

Deno.test("the correlation of Jakes' spectrum is J0, of a flat one sin(x)/x", () => {
  const at = (x: number) => dopplerCorrelation("jakes", 1, x / (2 * Math.PI));
  // Abramowitz and Stegun, table 9.1 and 9.5.
  for (const [x, j0] of [[0, 1], [1, 0.7651976866], [5, -0.1775967713], [10, -0.2459357645], [2.4048255577, 0]]) {
    assert.ok(Math.abs(at(x) - j0) < 1e-10, `${x}`);
    assert.equal(at(-x), at(x));
  }
  assert.ok(Math.abs(dopplerCorrelation("flat", 1, 0.25) - 2 / Math.PI) < 1e-15);
});

/** A channel that moves over a grid of 14 OFDM symbols, with pilots of a noise variance on every other subcarrier of some symbols. */
const TRACKED = { width: 12, symbols: 14, times: [2, 7, 11], places: [0, 2, 4, 6, 8, 10], spacing: 60e3, noise: 0.05 };
const profile = tdlProfile("C", { delaySpread: 300e-9, normalise: true });
const inFrequency = profileCorrelation(profile, TRACKED.spacing);
/** Largest Doppler shift times the interval of OFDM symbols. */
const inTime = (shift: number) => (distance: number) => dopplerCorrelation("jakes", shift, distance);

/** The filters of both steps, the second for a Doppler shift that is assumed. */
function cascade(assumed: number) {
  const { places, width, noise, times, symbols } = TRACKED, first = lmmseFilter(places, width, inFrequency, noise);
  return { first, second: timeFilter(first, times, symbols, inTime(assumed), noise) };
}

/** Mean squared error of that estimate over drawn channels, and the deviation of its mean. */
function measured(shift: number, { first, second }: ReturnType<typeof cascade>) {
  const { width, symbols, times, places, spacing, noise } = TRACKED, realisations = 2000, errors: number[] = [];
  const generator = Generator.seeded(23);
  const taps = movingTaps(profile, realisations, { dopplerHz: shift, interval: 1, samples: symbols }, generator);
  const h = frequencyResponse(taps, profile, { count: width, spacing });
  for (let one = 0; one < realisations; one++) {
    const own = h.subarray(2 * one * width * symbols, 2 * (one + 1) * width * symbols);
    const rows = new Float64Array(2 * times.length * width);
    times.forEach((time, row) => {
      const values = generator.complexNormal64(places.length, noise);
      places.forEach((place, i) => {
        values[2 * i] += own[2 * (time * width + place)];
        values[2 * i + 1] += own[2 * (time * width + place) + 1];
      });
      rows.set(applyFilter(first, values), 2 * row * width);
    });
    const found = applyTimeFilter(second, rows, width);
    errors.push(found.reduce((sum, value, i) => sum + (value - own[i]) ** 2, 0) / (width * symbols));
  }
  const mean = errors.reduce((sum, error) => sum + error, 0) / realisations;
  const square = errors.reduce((sum, error) => sum + (error - mean) ** 2, 0) / realisations;
  return { mean, deviation: Math.sqrt(square / realisations) };
}

const average = (values: ArrayLike<number>) =>
  Array.from(values).reduce((sum, value) => sum + value / values.length, 0);

Deno.test("the error of LMMSE over frequency and time is the declared one, 0.80 dB above that of one step over both at most", () => {
  const { width, symbols, times, places, noise } = TRACKED;
  for (const shift of [0, 0.01, 0.04]) {
    const filters = cascade(shift),
      declared = average(filters.second.error),
      { mean, deviation } = measured(shift, filters);
    assert.ok(Math.abs(mean - declared) < 4 * deviation, `${shift}: ${mean} ± ${deviation}, ${declared}`);
    // Position t·base + k has the correlation of both distances.
    const base = 32,
      both = (distance: number): [number, number] => {
        const time = Math.round(distance / base), [real, imaginary] = inFrequency(distance - base * time);
        return [inTime(shift)(time) * real, inTime(shift)(time) * imaginary];
      };
    const positions = times.flatMap((time) => places.map((place) => base * time + place));
    const whole = lmmseFilter(positions, base * symbols, both, noise).error.filter((_, i) => i % base < width);
    assert.ok(
      declared > average(whole) * (1 - 1e-9) && declared < 10 ** 0.0805 * average(whole),
      `${declared} ${average(whole)}`,
    );
  }
});

Deno.test("the error for a wrong Doppler shift is that of its weights on the true channel", () => {
  const { width, symbols, times, places, noise } = TRACKED, true_ = 0.04;
  for (const assumed of [0, 0.06]) {
    const filters = cascade(assumed), rho = inTime(true_);
    // 1 - 2·Re(v·r) + v·R·vᴴ over all pilots, v the product of both filters, r and R those of the true shift.
    let expected = 0;
    for (let symbol = 0; symbol < symbols; symbol++) {
      for (let k = 0; k < width; k++) {
        const v = times.flatMap((time, t) =>
          places.map((place, p) => {
            const over = filters.second.weights[(k * times.length + t) * symbols + symbol], at = 2 * (p * width + k);
            return {
              time,
              place,
              real: over * filters.first.weights[at],
              imaginary: over * filters.first.weights[at + 1],
            };
          })
        );
        let error = 1;
        for (const a of v) {
          const [cr, ci] = inFrequency(a.place - k), step = rho(a.time - symbol);
          error -= 2 * step * (a.real * cr - a.imaginary * ci);
          for (const b of v) {
            const [rr, ri] = inFrequency(a.place - b.place), factor = rho(a.time - b.time);
            // Re(a·conj(b)·R), with the noise of one pilot.
            const real = a.real * b.real + a.imaginary * b.imaginary,
              imaginary = a.imaginary * b.real - a.real * b.imaginary;
            error += factor * (real * rr - imaginary * ri) + (a === b ? noise * real : 0);
          }
        }
        expected += error / (width * symbols);
      }
    }
    const { mean, deviation } = measured(true_, filters);
    assert.ok(Math.abs(mean - expected) < 4 * deviation, `${assumed}: ${mean} ± ${deviation}, ${expected}`);
    assert.ok(expected > 1.02 * average(cascade(true_).second.error), `${assumed}`);
  }
});
