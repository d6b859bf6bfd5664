/**
 * Downlink budget of a satellite on a circular orbit over the elevation, as 3GPP TR 38.821 section 6.1.3 sets it up:
 *
 *     CNR = EIRP + G/T - FSPL - atmosphere - shadowing - scintillation - polarisation + 228.6 - 10·log10(B)
 *
 * EIRP is the density times the bandwidth B, so the carrier-to-noise ratio does not depend on B. The Doppler is that of
 * a pass through the zenith while the satellite approaches. Formulas: lib/numeric/channel/link_budget.ts. Draws nothing.
 *
 * Metrics: the smallest CNR and the largest slant range, one-way delay and Doppler of the elevations.
 *
 * Shapes: series float64 [elevation, 7], its columns in the metadata; a row for each elevation, in the given order.
 */
import { defineOperation, float, z } from "../api.ts";
import { artifactKind, REPORT } from "../../lib/contract/kinds.ts";
import { reportResult } from "../../lib/artifact/values.ts";
import { linkBudget } from "../../lib/numeric/channel/link_budget.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { notExported } from "../_backends.ts";

const LINK_BUDGET = artifactKind("ntn.link_budget.numpy", { columns: "list", elevation_count: "count" });
const COLUMNS = [
  "elevation_deg",
  "slant_range_km",
  "free_space_loss_db",
  "atmospheric_loss_db",
  "cnr_db",
  "one_way_delay_ms",
  "doppler_khz",
];

const unit = (unit: string) => ({ "x-svc-ui": { unit } });
const loss = (fallback: number, what: string) =>
  z.number().min(0).max(300).default(fallback).describe(`${what} in dB`).meta(unit("dB"));

export default defineOperation({
  id: "source.leo_link_budget",
  name: "Satellite link budget",
  description: "Computes carrier-to-noise ratio, delay and Doppler of a satellite downlink over the elevation",
  outputs: { report: REPORT, series: LINK_BUDGET },
  params: z.strictObject({
    altitude_km: z.number().min(100).max(40_000).default(600).describe("height of the circular orbit in km")
      .meta(unit("km")),
    carrier_frequency_ghz: z.number().min(0.01).max(1000).default(2).describe("carrier frequency in GHz")
      .meta(unit("GHz")),
    eirp_density_dbw_per_mhz: z.number().min(-300).max(300).default(34).describe("EIRP of the satellite in dBW/MHz")
      .meta(unit("dBW/MHz")),
    g_over_t_db_per_k: z.number().min(-300).max(300).default(-31.6)
      .describe("antenna gain over noise temperature of the terminal in dB/K").meta(unit("dB/K")),
    bandwidth_mhz: z.number().min(1e-6).max(1e6).default(10).describe("bandwidth in MHz").meta(unit("MHz")),
    elevation_deg: z.array(z.number().gt(0).max(90)).min(1).max(10_000).default([10, 30, 50, 70, 90])
      .describe("elevations of the satellite in degrees").meta(unit("degree")),
    // 0.1 dB at 30 degrees, as in the S-band downlinks of that section.
    atmospheric_loss_zenith_db: loss(0.05, "loss of the atmosphere at the zenith"),
    shadowing_margin_db: loss(3, "margin for shadowing"),
    scintillation_db: loss(2.2, "loss by scintillation"),
    polarization_loss_db: loss(0, "loss by polarisation mismatch"),
  }),
  differentiability: notExported("numpy", "none", "A closed form of the parameters"),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
  estimate: ({ elevation_deg }) => ({
    series: [["float64", elevation_deg.length, COLUMNS.length]],
    report: 4096,
  }),
  run({ params }) {
    const link = {
      altitudeKm: params.altitude_km,
      carrierGhz: params.carrier_frequency_ghz,
      eirpDensity: params.eirp_density_dbw_per_mhz,
      gainOverTemperature: params.g_over_t_db_per_k,
      bandwidthMhz: params.bandwidth_mhz,
      atmosphericLoss: params.atmospheric_loss_zenith_db,
      otherLosses: params.shadowing_margin_db + params.scintillation_db + params.polarization_loss_db,
    };
    const budgets = params.elevation_deg.map((elevation) => linkBudget(link, elevation));
    const rows = budgets.flatMap((budget, i) => [
      params.elevation_deg[i],
      budget.slantRangeKm,
      budget.freeSpaceLossDb,
      budget.atmosphericLossDb,
      budget.cnrDb,
      budget.delayMs,
      budget.dopplerKhz,
    ]);
    const metrics = {
      "ntn.cnr_db_min": Math.min(...budgets.map(({ cnrDb }) => cnrDb)),
      "ntn.slant_range_km_max": Math.max(...budgets.map(({ slantRangeKm }) => slantRangeKm)),
      "ntn.one_way_delay_ms_max": Math.max(...budgets.map(({ delayMs }) => delayMs)),
      "ntn.doppler_khz_max": Math.max(...budgets.map(({ dopplerKhz }) => dopplerKhz)),
    };
    const { outputs: { report } } = reportResult("source.leo_link_budget", metrics, {
      facts: {
        eirp_dbw: float(params.eirp_density_dbw_per_mhz + 10 * Math.log10(params.bandwidth_mhz)),
        elevation_independent_loss_db: float(link.otherLosses),
      },
    });
    return {
      outputs: {
        report,
        series: {
          array: ndarray("float64", Float64Array.from(rows), [budgets.length, COLUMNS.length]),
          metadata: {
            columns: COLUMNS,
            elevation_count: budgets.length,
            altitude_km: float(params.altitude_km),
            carrier_frequency_ghz: float(params.carrier_frequency_ghz),
          },
        },
      },
      metrics,
    };
  },
});
