/** Satellite link budgets against sums by hand for the S-band set-ups of 3GPP TR 38.821, section 6.1.3. */
import assert from "node:assert/strict";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { ANGULAR_SPEED, centralAngle, EARTH_RADIUS, satelliteState } from "../../../lib/numeric/channel/leo_pass.ts";
import budget from "../../../ops/source/leo_link_budget.ts";
import { refuses, runOperation } from "../harness.ts";

const near = (a: number, b: number, within: number) => assert.ok(Math.abs(a - b) <= within, `${a} is not ${b}`);

async function rowsOf(params: JsonObject) {
  const { outputs, metrics } = await runOperation(budget, { params });
  const { series } = outputs, data = series.array().data as Float64Array, columns = series.metadata.columns as string[];
  const rows = Array.from(
    { length: series.array().shape[0] },
    (_, i) => Object.fromEntries(columns.map((name, k) => [name, data[i * columns.length + k]])),
  );
  return { rows, metrics: metrics as Record<string, number> };
}

/**
 * S-band downlinks to handhelds (G/T = -31.6 dB/K, shadowing 3 dB, scintillation 2.2 dB), worked by hand from
 * FSPL = 32.45 + 20·log10(2) + 20·log10(d):
 * - 600 km at 30°: d = sqrt((R/2)² + 600·(600 + 2R)) - R/2 = 4260.7 - 3185.5 = 1075.2 km, FSPL = 32.45 + 6.02 + 120.63 = 159.10;
 *   34 - 31.6 - 159.10 - 0.1 - 3 - 2.2 + 228.6 - 60 = 6.6 dB
 * - 1200 km at 30°: d = 1998.9 km, FSPL = 164.49; 40 - 31.6 - 164.49 - 0.1 - 3 - 2.2 + 228.6 - 60 = 7.2 dB
 * - 35786 km at 12.5°: d = 40316 km, FSPL = 190.58; 59 - 31.6 - 190.58 - 0.2 - 3 - 2.2 + 228.6 - 60 = 0.0 dB
 */
const BY_HAND: [
  altitude: number,
  elevation: number,
  density: number,
  atmosphere: number,
  d: number,
  fspl: number,
  cnr: number,
][] = [
  [600, 30, 34, 0.1, 1075.2, 159.1, 6.6],
  [1200, 30, 40, 0.1, 1998.9, 164.49, 7.2],
  [35786, 12.5, 59, 0.2, 40316, 190.58, 0.0],
];

Deno.test("free-space losses and CNR are the sums by hand for the S-band downlinks of 3GPP TR 38.821", async () => {
  for (const [altitude, elevation, density, atmosphere, range, loss, cnr] of BY_HAND) {
    const { rows: [row] } = await rowsOf({
      altitude_km: float(altitude),
      elevation_deg: [float(elevation)],
      eirp_density_dbw_per_mhz: float(density),
      atmospheric_loss_zenith_db: float(atmosphere * Math.sin(elevation * Math.PI / 180)),
    });
    near(row.slant_range_km / range, 1, 5e-4);
    near(row.free_space_loss_db, loss, 0.01);
    near(row.atmospheric_loss_db, atmosphere, 1e-12);
    near(row.cnr_db, cnr, 0.05);
    near(row.one_way_delay_ms, range / 299.792458, 0.05);
  }
});

Deno.test("the defaults are the S-band downlink from 600 km: 6.6 dB at 30 degrees, with 0.1 dB of atmosphere", async () => {
  const { rows: [row] } = await rowsOf({ elevation_deg: [float(30)] });
  near(row.atmospheric_loss_db, 0.1, 1e-12);
  near(row.cnr_db, 6.6, 0.05);
});

Deno.test("geometry and Doppler are those of the pass of a satellite at 600 km", async () => {
  const elevations = [10, 20, 30, 40, 50, 60, 70, 80, 90];
  const { rows } = await rowsOf({ elevation_deg: elevations.map(float) });
  rows.forEach((row, i) => {
    const psi = centralAngle(elevations[i]), { slantRange } = satelliteState(psi, 0);
    assert.equal(row.elevation_deg, elevations[i]);
    near(row.slant_range_km, slantRange / 1e3, 1e-9);
    // -dd/dt·f_c/c, the derivative by a difference quotient.
    const step = 1e-5,
      later = satelliteState(psi - step, 0).slantRange,
      before = satelliteState(psi + step, 0).slantRange;
    const speed = (before - later) / (2 * step) * ANGULAR_SPEED;
    near(row.doppler_khz, 2e6 * speed / 299_792_458, 1e-4);
    // ωR·cos e
    near(
      row.doppler_khz,
      2e6 / 299_792_458 * ANGULAR_SPEED * EARTH_RADIUS * Math.cos(elevations[i] * Math.PI / 180),
      1e-9,
    );
  });
  near(rows[8].slant_range_km, 600, 1e-6);
});

Deno.test("the CNR does not depend on the bandwidth, and loses every loss", async () => {
  const one = async (params: JsonObject = {}) =>
    (await rowsOf({ elevation_deg: [float(30)], ...params })).rows[0].cnr_db;
  const base = await one();
  near(await one({ bandwidth_mhz: float(30) }), base, 1e-9);
  near(await one({ polarization_loss_db: float(3) }), base - 3, 1e-9);
  near(await one({ atmospheric_loss_zenith_db: float(1.05) }), base - 2, 1e-9);
  near(await one({ carrier_frequency_ghz: float(20) }), base - 20, 1e-9);
});

Deno.test("metrics are the worst of the elevations, in any order", async () => {
  const { metrics, rows } = await rowsOf({ elevation_deg: [float(90), float(10), float(40)] });
  assert.deepEqual(
    [metrics["ntn.cnr_db_min"], metrics["ntn.slant_range_km_max"], metrics["ntn.one_way_delay_ms_max"]],
    [rows[1].cnr_db, rows[1].slant_range_km, rows[1].one_way_delay_ms],
  );
  assert.equal(metrics["ntn.doppler_khz_max"], rows[1].doppler_khz);
});

Deno.test("an elevation at or below the horizon and an empty list are refused", async () => {
  for (const elevation_deg of [[0], [91], []]) {
    await refuses("params_invalid", () => runOperation(budget, { params: { elevation_deg } }));
  }
});
