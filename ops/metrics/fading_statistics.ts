/**
 * Level crossings and fades of the gains of a channel state. The level is R = ρ·rms, rms of all gains. With K gains of n OFDM symbols
 * a grid, an interval T between symbols, N falls of |h| from at least R to below it, and B symbols below R,
 *
 *     level crossing rate = N / (K·(n - 1)·T),   mean fade duration = (B/(K·n)) / level crossing rate.
 *
 * Both count inside of a grid only, so grids need not follow each other. For Rayleigh fading of Jakes' spectrum they are near to
 * sqrt(2π)·f_d·ρ·exp(-ρ²) and (exp(ρ²) - 1)/(ρ·f_d·sqrt(2π)). Two crossings within T are missed: take f_d·T well below ρ.
 *
 * Units are grids, or realisations in motion of several grids, in batches that all have a fade: intervals of one realisation need
 * several runs.
 *
 * Shapes: state complex64 [grid, OFDM symbol, subcarrier], or of matrices [grid, OFDM symbol, subcarrier, rx, layer] -> report.
 *
 * Source: Rice, "Statistical properties of a sine wave plus random noise", Bell Syst. Tech. J. 27, 1948; Jakes, Microwave Mobile
 * Communications, 1974, section 1.3.4.
 */
import { type InputArtifact, SvcError, z } from "../api.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { unitSums } from "../../lib/artifact/statistical_unit.ts";
import { metadataNumber } from "../../lib/artifact/values.ts";
import { OFDM_STATE } from "../../lib/contract/kinds.ts";
import { ratioSums } from "../../lib/numeric/scores/pooled_ratio.ts";
import { MIMO_STATE } from "../_ofdm_grid.ts";
import { defineReport } from "../_report.ts";

/** Most batches of grids. */
const BATCHES = 50;

/** Counts of some grids. */
interface Fades {
  grids: number;
  falls: number;
  below: number;
}

export default defineReport({
  id: "metrics.fading_statistics",
  name: "Level crossings and fades",
  description: "Level crossing rate and mean fade duration of the gains of a channel state",
  inputs: { channel_state: [OFDM_STATE, MIMO_STATE] },
  params: z.strictObject({
    level_db: z.number().min(-100).max(100).default(-10).describe("level over the root mean square gain in dB"),
    symbol_interval_s: z.number().positive().max(1e6).optional().meta({ "x-svc-ui": { unit: "s" } })
      .describe("time from one OFDM symbol of the state to the next in s; default that in its metadata"),
  }),
  run({ inputs: { channel_state: state }, params: { level_db, symbol_interval_s } }) {
    const arrays = arraysOf(state), matrices = state.kind === MIMO_STATE.id ? ["rx", "layer"] : [];
    const g = arrays.read("complex64", ["grid", "symbol", "subcarrier", ...matrices]);
    const grids = arrays.size("grid"), symbols = arrays.size("symbol"), interval = intervalOf(state, symbol_interval_s);
    if (symbols < 2) {
      throw new SvcError("boundary_value_invalid", "Cannot count level crossings: a grid has one OFDM symbol", {
        hint: "Raise num_ofdm_symbols of the channel",
      });
    }
    if (g.length === 0) return { metrics: { "fading.level_crossing_count": 0n } };
    const gains = g.length / (2 * grids * symbols);
    const power = g.reduce((sum, part) => sum + part * part, 0) / (g.length / 2);
    if (power === 0) throw new SvcError("boundary_value_invalid", "Cannot count level crossings: all gains are 0");
    const fades = Array.from(
      { length: grids },
      (_, grid) =>
        fadesOf(g.subarray(2 * grid * symbols * gains, 2 * (grid + 1) * symbols * gains), {
          gains,
          level: power * 10 ** (level_db / 10),
        }),
    );
    const [allFalls, allBelow, allGrids] = (["falls", "below", "grids"] as const)
      .map((part) => unitSums(fades.map((grid) => grid[part]), state.metadata));
    const units = batchesOf(allFalls.map((falls, unit) => ({ falls, below: allBelow[unit], grids: allGrids[unit] })));
    const falls = units.map((unit) => unit.falls), sizes = units.map((unit) => unit.grids);
    const time = gains * (symbols - 1) * interval, below = units.map((unit) => unit.below / (gains * symbols));
    return {
      metrics: { "fading.level_crossing_count": BigInt(falls.reduce((sum, count) => sum + count)) },
      pooled: {
        "fading.level_crossing_rate_hz": {
          reduction: "ratio_of_sums",
          sums: ratioSums(falls, sizes.map((size) => size * time)),
        },
        "fading.below_level_fraction": { reduction: "ratio_of_sums", sums: ratioSums(below, sizes) },
        "fading.mean_fade_duration_s": {
          reduction: "ratio_of_sums",
          sums: ratioSums(below.map((share) => share * time), falls),
        },
      },
      facts: { level_db, grid_count: grids, gain_count: gains, symbol_interval_s: interval },
    };
  },
});

function intervalOf({ metadata }: InputArtifact, given: number | undefined): number {
  const interval = given ?? metadataNumber(metadata, "ofdm_symbol_interval_s");
  if (interval !== undefined && interval > 0) return interval;
  throw new SvcError(
    "input_metadata_missing",
    "Cannot count level crossings: the state has no ofdm_symbol_interval_s",
    {
      hint: "Set symbol_interval_s",
    },
  );
}

/** @param g interleaved [OFDM symbol, gain] @param level as a power */
function fadesOf(g: Float32Array, { gains, level }: { gains: number; level: number }): Fades {
  const isBelow = (at: number) => g[2 * at] ** 2 + g[2 * at + 1] ** 2 < level;
  let falls = 0, below = 0;
  for (let at = 0; at < g.length / 2; at++) {
    if (!isBelow(at)) continue;
    below++;
    if (at >= gains && !isBelow(at - gains)) falls++;
  }
  return { grids: 1, falls, below };
}

/** Sums over neighbouring units; a unit without a fade has no duration, so batches grow until each has one. */
function batchesOf(fades: readonly Fades[]): Fades[] {
  for (let count = Math.min(BATCHES, fades.length);; count = count >> 1) {
    const units = Array.from({ length: count }, (_, unit) => {
      const part = fades.slice(Math.floor(unit * fades.length / count), Math.floor((unit + 1) * fades.length / count));
      return {
        falls: part.reduce((sum, { falls }) => sum + falls, 0),
        below: part.reduce((sum, { below }) => sum + below, 0),
        grids: part.reduce((sum, { grids }) => sum + grids, 0),
      };
    });
    if (count === 1 || units.every(({ falls }) => falls > 0)) return units;
  }
}
