/** DM-RS against stored sequences, and estimators against their definition. */
import assert from "node:assert/strict";
import { frequencyResponse, staticTaps, tdlProfile } from "../../../lib/numeric/channel/delay_profile.ts";
import {
  applyFilter,
  exponentialCorrelation,
  interpolate,
  lmmseFilter,
  profileCorrelation,
  rowShares,
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
