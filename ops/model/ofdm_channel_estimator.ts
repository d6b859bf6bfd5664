/**
 * Channel of OFDM grids from their pilots.
 *
 *     least_squares   y/p at the pilots; two ports of a CDM group take the mean over a pair of pilots, which needs equal gains
 *                     on both; linear between subcarriers, the nearest pilot outside
 *     lmmse           R_kp (R_pp + (N0/β²) I)⁻¹ h_LS on each OFDM symbol with pilots, with the correlation of a delay profile
 *                     (lib/numeric/grid_estimation.ts)
 *     oracle          the true gains that travel as channel_gain
 *
 * Between OFDM symbols with pilots the rows are interpolated, held to the nearest or averaged. The error variance is N0/β²
 * for least squares (half of it for pairs), the posterior one for LMMSE, 0 for the oracle.
 *
 * Shapes: rx_symbols complex64 [grid · symbol · subcarrier], or a grid complex64 [grid, symbol, subcarrier, rx] -> estimate
 * complex64 [grid, symbol, subcarrier, rx, port], companion error_variance float32 [grid, symbol, subcarrier, port].
 */
import { RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { SvcError } from "../../lib/contract/error.ts";
import type { InputArtifact, Metrics } from "../../lib/contract/operation.ts";
import { float } from "../../lib/contract/value.ts";
import { z } from "../../lib/contract/zod.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { symbolsOf } from "../../lib/artifact/values.ts";
import { PROFILE_MODELS, tdlProfile } from "../../lib/numeric/delay_profile.ts";
import {
  applyFilter,
  type Correlation,
  exponentialCorrelation,
  interpolate,
  lmmseFilter,
  type PilotFilter,
  profileCorrelation,
  uniformCorrelation,
} from "../../lib/numeric/grid_estimation.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import { executed, exportable, exported } from "../_backends.ts";
import { MIMO_RX_GRID } from "../_mimo_grid.ts";
import { CHANNEL_ESTIMATE, checkGridLength, noiseOf, PILOT_CONTEXT, readContext } from "../_ofdm_grid.ts";

/** Annotation of a parameter of assumed profiles. */
const profileOf = (...delay_profile: string[]) => ({ "x-svc-used-when": { delay_profile } });

const PARAMS = z.strictObject({
  method: z.enum(["least_squares", "lmmse", "oracle"]).default("least_squares").describe("estimator"),
  time_interpolation: z.enum(["linear", "nearest", "average"]).default("linear")
    .describe("between OFDM symbols with pilots; outside of them the nearest"),
  delay_profile: z.enum(["exponential", "uniform", "tdl"]).default("exponential")
    .meta({ "x-svc-used-when": { method: "lmmse" } }).describe("power-delay profile that LMMSE assumes"),
  delay_spread_ns: z.number().nonnegative().default(100).meta(profileOf("exponential", "tdl")).describe(
    "rms delay spread in ns",
  ),
  maximum_delay_ns: z.number().nonnegative().default(2000).meta(profileOf("uniform")).describe("largest delay in ns"),
  tdl_model: z.enum(PROFILE_MODELS).default("A").meta(profileOf("tdl")).describe("profile of TR 38.901 7.7.2"),
  subcarrier_spacing_khz: z.number().positive().default(15).describe("subcarrier spacing in kHz"),
});
type Params = z.output<typeof PARAMS>;

export default defineOperation({
  id: "model.ofdm_channel_estimator",
  name: "OFDM channel estimator",
  description: "Estimates the gains of all resource elements from pilots, by least squares or LMMSE",
  inputs: { rx_symbols: [RX_SYMBOLS, MIMO_RX_GRID], pilot_context: [PILOT_CONTEXT] },
  outputs: { estimate: CHANNEL_ESTIMATE },
  params: PARAMS,
  differentiability: exportable("torch", "full", "Linear in the received pilots"),
  equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  materializations: [...executed("numpy", "default"), exported("torch", "default")],
  estimate: (_params, { rx_symbols: { bytes } }) => ({ estimate: 6 * bytes }),
  twin: true,
  threadSafe: true,
  run({ inputs, params }) {
    const context = readContext(inputs.pilot_context), { layout, ports } = context;
    const { grids, symbols, subcarriers } = layout, elements = symbols * subcarriers;
    const { y, rx } = receivedGrid(inputs.rx_symbols, context);
    const noise = noiseOf(inputs.rx_symbols), truth = truthOf(inputs.rx_symbols, grids * elements);
    const h = new Float32Array(2 * grids * elements * rx * ports), errors = new Float32Array(grids * elements * ports);
    if (params.method === "oracle") {
      if (truth === undefined || ports > 1) {
        throw new SvcError(
          "params_conflict",
          "Cannot take the true channel: no channel_gain of one port travels with the symbols",
          {
            hint: "Set receiver_processing of wireless.channel to none, or another method",
          },
        );
      }
      h.set(truth);
    } else {
      for (let port = 0; port < ports; port++) {
        const estimator = portEstimator(context, port, noise, params);
        for (let grid = 0; grid < grids; grid++) {
          for (let antenna = 0; antenna < rx; antenna++) {
            const estimate = estimator.gains(grid, (at) => 2 * ((grid * elements + at) * rx + antenna), y);
            for (let at = 0; at < elements; at++) {
              const to = 2 * (((grid * elements + at) * rx + antenna) * ports + port);
              h[to] = estimate[2 * at];
              h[to + 1] = estimate[2 * at + 1];
            }
          }
          for (let at = 0; at < elements; at++) {
            errors[(grid * elements + at) * ports + port] = estimator.error(at % subcarriers);
          }
        }
      }
    }
    const metrics: Metrics = truth === undefined || ports > 1
      ? {}
      : { "channel_estimation.nmse": normalisedError(h, truth) };
    return {
      outputs: {
        estimate: {
          array: ndarray("complex64", h, [grids, symbols, subcarriers, rx, ports]),
          companions: { error_variance: ndarray("float32", errors, [grids, symbols, subcarriers, ports]) },
          metadata: { noise_variance: float(noise), method: params.method },
        },
      },
      metrics,
    };
  },
});

type Context = ReturnType<typeof readContext>;

function receivedGrid(input: InputArtifact, { layout }: Context): { y: Float32Array; rx: number } {
  if (input.kind === MIMO_RX_GRID.id) {
    const arrays = arraysOf(input);
    const y = arrays.read("complex64", [layout.grids, layout.symbols, layout.subcarriers, "rx"]);
    return { y, rx: arrays.size("rx") };
  }
  const y = symbolsOf(input);
  checkGridLength(y.length / 2, { ...layout, ports: 1 });
  return { y, rx: 1 };
}

/** The true gains of one transmit and one receive antenna, if they travel. */
function truthOf(input: InputArtifact, elements: number): Float32Array | undefined {
  if (!input.arrayNames.includes("channel_gain")) return undefined;
  return arraysOf(input).read("complex64", [elements], "channel_gain");
}

function normalisedError(h: Float32Array, truth: Float32Array): number {
  let error = 0, power = 0;
  for (let i = 0; i < h.length; i++) {
    error += (h[i] - truth[i]) ** 2;
    power += truth[i] ** 2;
  }
  return power === 0 ? 0 : error / power;
}

/** The estimator of one port: filters depend on the positions of the pilots only. */
function portEstimator(context: Context, port: number, noise: number, params: Params) {
  const { layout: { subcarriers, symbols }, positions, values, ports, pilots } = context;
  const own = Array.from(positions.subarray(port * pilots, (port + 1) * pilots));
  // Ports at the same positions share a CDM group: a pair of pilots separates them.
  const paired = Array.from({ length: ports }, (_, other) => other).some((other) =>
    other !== port && own.every((position, p) => positions[other * pilots + p] === position)
  );
  const times = [...new Set(own.map((position) => Math.floor(position / subcarriers)))].sort((a, b) => a - b);
  const step = paired ? 2 : 1;
  const rows = times.map((time) => {
    const members = own.flatMap((position, p) => Math.floor(position / subcarriers) === time ? [p] : []);
    const places = Array.from({ length: Math.floor(members.length / step) }, (_, i) => {
      const group = members.slice(i * step, (i + 1) * step);
      return group.reduce((sum, p) => sum + own[p] % subcarriers, 0) / step;
    });
    return { members, places };
  });
  const power = pilots === 0 ? 1 : values[2 * port * pilots] ** 2 + values[2 * port * pilots + 1] ** 2;
  const variance = noise / power / step;
  const filters: (PilotFilter | undefined)[] = rows.map(() => undefined);
  if (params.method === "lmmse") {
    const correlation = correlationOf(params);
    rows.forEach(({ places }, i) => {
      const same = rows.findIndex((row) => row.places.every((place, k) => place === places[k]));
      filters[i] = same < i ? filters[same] : lmmseFilter(places, subcarriers, correlation, variance);
    });
  }
  return {
    error: (subcarrier: number) => filters[0]?.error[subcarrier] ?? variance,
    /** Gains [symbol, subcarrier] of a grid; y is read at the index of an element. */
    gains(grid: number, index: (element: number) => number, y: Float32Array): Float64Array {
      const estimates = new Float64Array(2 * times.length * subcarriers);
      rows.forEach(({ members, places }, row) => {
        const raw = new Float64Array(2 * places.length);
        for (let i = 0; i < places.length * step; i++) {
          const p = members[i], at = index(own[p]), v = 2 * ((grid * ports + port) * pilots + p);
          const vr = values[v], vi = values[v + 1], scale = 1 / (step * (vr * vr + vi * vi));
          const to = 2 * Math.floor(i / step);
          raw[to] += scale * (y[at] * vr + y[at + 1] * vi);
          raw[to + 1] += scale * (y[at + 1] * vr - y[at] * vi);
        }
        const filter = filters[row];
        const line = filter ? applyFilter(filter, raw, subcarriers) : interpolate(places, raw, subcarriers);
        estimates.set(line, 2 * row * subcarriers);
      });
      if (params.time_interpolation === "average") return repeated(estimates, times.length, symbols, subcarriers);
      const nearest = params.time_interpolation === "nearest";
      return interpolate(times, estimates, symbols, { width: subcarriers, nearest });
    },
  };
}

/** The mean of all rows, for every OFDM symbol. */
function repeated(rows: Float64Array, count: number, symbols: number, subcarriers: number): Float64Array {
  const width = 2 * subcarriers, out = new Float64Array(symbols * width);
  for (let i = 0; i < width; i++) {
    for (let row = 0; row < count; row++) out[i] += rows[row * width + i] / count;
  }
  for (let symbol = 1; symbol < symbols; symbol++) out.copyWithin(symbol * width, 0, width);
  return out;
}

function correlationOf(params: Params): Correlation {
  const spacing = params.subcarrier_spacing_khz * 1e3, delaySpread = params.delay_spread_ns * 1e-9;
  if (params.delay_profile === "exponential") return exponentialCorrelation(delaySpread, spacing);
  if (params.delay_profile === "uniform") return uniformCorrelation(params.maximum_delay_ns * 1e-9, spacing);
  return profileCorrelation(tdlProfile(params.tdl_model, { delaySpread, normalise: true }), spacing);
}
