/**
 * Channel of OFDM grids from their pilots.
 *
 *     least_squares   y/p at the pilots; two ports of a CDM group take the mean over a pair of pilots, which needs equal gains
 *                     on both; linear between subcarriers, the nearest pilot outside
 *     lmmse           R_kp (R_pp + (N0/β²) I)⁻¹ h_LS on each OFDM symbol with pilots, with the correlation of a delay profile
 *                     (lib/numeric/channel/grid_estimation.ts)
 *     oracle          the true gains that travel as channel_gain
 *     given           those of pilot_estimate on the OFDM symbols with pilots: of a channel estimator slot that has read
 *                     demodulation.ofdm_pilot_observation
 *
 * Between OFDM symbols with pilots the rows are interpolated, held to the nearest, averaged, or after LMMSE filtered by a second
 * LMMSE over the time within a grid (wiener), for the Doppler shift of the channel or an assumed one. The error variance is N0/β²
 * for least squares (half of it for pairs), the posterior one for LMMSE (in time too for wiener), 0 for the oracle; of a given estimate it is the mean over
 * the OFDM symbols with pilots and antennas of a grid, or given_error_variance.
 *
 * Shapes: rx_symbols complex64 [grid · symbol · subcarrier], or a grid complex64 [grid, symbol, subcarrier, rx] -> estimate
 * complex64 [grid, symbol, subcarrier, rx, port], companion error_variance float32 [grid, symbol, subcarrier, port].
 */
import { RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import {
  defineOperation,
  float,
  type InputArtifact,
  isNumber,
  isObject,
  type JsonObject,
  type ParameterProblem,
  SvcError,
  toNumber,
  usedWhen,
  z,
} from "../api.ts";
import { pooledMetadata, pooledMetrics } from "../../lib/contract/metric_metadata.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { unitRatio } from "../../lib/artifact/statistical_unit.ts";
import { type PilotRows, spreadGrid, type TimeShares } from "../../lib/numeric/channel/grid_kernel.ts";
import {
  DOPPLER_SPECTRA,
  dopplerCorrelation,
  ofdmSymbolInterval,
  PROFILE_MODELS,
  tdlProfile,
} from "../../lib/numeric/channel/delay_profile.ts";
import {
  applyFilter,
  applyTimeFilter,
  type Correlation,
  exponentialCorrelation,
  interpolate,
  lmmseFilter,
  type PilotFilter,
  profileCorrelation,
  rowShares,
  timeFilter,
  uniformCorrelation,
} from "../../lib/numeric/channel/grid_estimation.ts";
import type { PooledMetric } from "../../lib/numeric/scores/pooled_ratio.ts";
import { resultArray } from "../../lib/numeric/array/shared_array.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { numpyWithTwin } from "../_backends.ts";
import { CHANNEL_ESTIMATE as SLOT_ESTIMATE } from "../_channel_estimation.ts";
import {
  CHANNEL_ESTIMATE,
  isComplex,
  MIMO_RX_GRID,
  noiseOf,
  onePort,
  PILOT_CONTEXT,
  type PilotContext,
  pilotRows,
  readContext,
  type Received,
  receivedGrid,
} from "../_ofdm_grid.ts";

/** Annotation of a parameter of assumed profiles. */
const profileOf = (...delay_profile: string[]) => ({ "x-svc-used-when": { delay_profile } });

const OF_WIENER = { "x-svc-effective-when": { time_interpolation: "wiener" } };

const PARAMS = z.strictObject({
  method: z.enum(["least_squares", "lmmse", "oracle", "given"]).default("least_squares").describe("estimator"),
  time_interpolation: z.enum(["linear", "nearest", "average", "wiener"]).default("linear").describe(
    "between OFDM symbols with pilots, outside of them the nearest; wiener: LMMSE over time, after method lmmse",
  ),
  assumed_doppler_hz: z.number().min(0).max(1e5).optional().meta({ ...OF_WIENER, "x-svc-ui": { unit: "Hz" } })
    .describe("largest Doppler shift that wiener assumes in Hz; default that of wireless.channel"),
  assumed_spectrum: z.enum(DOPPLER_SPECTRA).default("jakes").meta(OF_WIENER)
    .describe("Doppler spectrum that wiener assumes"),
  delay_profile: z.enum(["exponential", "uniform", "tdl"]).default("exponential")
    .meta({ "x-svc-used-when": { method: "lmmse" } }).describe("power-delay profile that LMMSE assumes"),
  delay_spread_ns: z.number().nonnegative().default(100).meta(profileOf("exponential", "tdl"))
    .describe("rms delay spread in ns"),
  maximum_delay_ns: z.number().nonnegative().default(2000).meta(profileOf("uniform")).describe("largest delay in ns"),
  tdl_model: z.enum(PROFILE_MODELS).default("A").meta(profileOf("tdl")).describe("profile of TR 38.901 7.7.2"),
  subcarrier_spacing_khz: z.number().positive().default(15).describe("subcarrier spacing in kHz")
    .meta(usedWhen({ method: "lmmse" })),
  given_error_variance: z.number().nonnegative().optional().meta({ "x-svc-used-when": { method: "given" } })
    .describe("error variance of a pilot_estimate that has none of its own"),
});
type Params = z.output<typeof PARAMS>;

/** Companion of received symbols with their true gains. */
const TRUTH = "channel_gain";

export default defineOperation({
  id: "model.ofdm_channel_estimator",
  name: "OFDM channel estimator",
  description:
    "Estimates the gains of all resource elements from pilots, by least squares, LMMSE or a trained component",
  inputs: { rx_symbols: [RX_SYMBOLS, MIMO_RX_GRID], pilot_context: [PILOT_CONTEXT] },
  optionalInputs: { pilot_estimate: [SLOT_ESTIMATE] },
  outputs: { estimate: CHANNEL_ESTIMATE },
  params: PARAMS,
  ...numpyWithTwin("full", "Linear in the received pilots"),
  estimate: (_params, { rx_symbols: { bytes } }) => ({ estimate: 6 * bytes }),
  check({ method, time_interpolation }, connected) {
    const problems: ParameterProblem[] = [];
    if (method === "given" && !connected.has("pilot_estimate")) {
      problems.push({
        code: "input_missing",
        message: "Cannot use method given without the input pilot_estimate",
        place: ["method"],
        hint: "Wire the estimate of model.channel_estimator_adapter that reads demodulation.ofdm_pilot_observation",
      });
    }
    if (time_interpolation === "wiener" && method !== "lmmse") {
      problems.push({
        message: `Cannot filter ${method} over time: wiener needs the error of LMMSE`,
        place: ["time_interpolation"],
        hint: "Set method to lmmse, or time_interpolation to linear, nearest or average",
      });
    }
    return problems;
  },
  streaming: {
    whole: ["pilot_context"],
    companions: [TRUTH],
    allows: ({ method }) => method !== "given",
    open({ inputs: { rx_symbols: input, pilot_context }, params }) {
      const context = readContext(pilot_context), { layout: { grids, symbols, subcarriers }, ports } = context;
      const rx = input.kind === MIMO_RX_GRID.id ? input.shape[3] : 1, elements = symbols * subcarriers;
      if (!isComplex(input) || input.length !== grids * elements * rx) return null;
      const known = input.arrayNames.includes(TRUTH), received: Received = { y: new Float32Array(0), rx, first: 0 };
      const { estimate, form } = estimation(context, received, known, input, params), error = new SquaredError();
      return {
        arrays: {
          estimate: {
            dtype: "complex64",
            length: grids * elements * rx * ports,
            shape: [grids, symbols, subcarriers, rx, ports],
            companions: { error_variance: { dtype: "float32", shape: [grids, symbols, subcarriers, ports] } },
            metadata: form,
          },
        },
        unit: { rx_symbols: elements * rx },
        next({ rx_symbols: { data }, [`rx_symbols.${TRUTH}`]: gains }) {
          received.y = data as Float32Array;
          const count = data.length / (2 * elements * rx), truth = gains?.data as Float32Array | undefined;
          const { h, errors } = estimate(count, truth);
          received.first! += count;
          if (truth !== undefined && ports === 1) error.add(h, truth, count);
          return { estimate: h, "estimate.error_variance": errors };
        },
        end: () => pooledOf(known && ports === 1 ? error : undefined, input.metadata),
      };
    },
  },
  run({ inputs, params }) {
    const context = readContext(inputs.pilot_context), { layout, ports } = context;
    const { grids, symbols, subcarriers } = layout,
      received = receivedGrid(inputs.rx_symbols, layout),
      { rx } = received;
    const truth = truthOf(inputs.rx_symbols, grids * symbols * subcarriers);
    const known = truth !== undefined;
    const { estimate, form } = estimation(context, received, known, inputs.rx_symbols, params, inputs.pilot_estimate);
    const { h, errors } = estimate(grids, truth), error = truth && ports === 1 ? new SquaredError() : undefined;
    error?.add(h, truth!, grids);
    return {
      outputs: {
        estimate: {
          array: ndarray("complex64", h, [grids, symbols, subcarriers, rx, ports]),
          companions: { error_variance: ndarray("float32", errors, [grids, symbols, subcarriers, ports]) },
          metadata: form,
        },
      },
      ...pooledOf(error, inputs.rx_symbols.metadata),
    };
  },
});

/** What estimates the next grids of a stream, and the metadata of the estimate. @param known whether the true gains travel */
function estimation(
  context: PilotContext,
  received: Received,
  known: boolean,
  input: InputArtifact,
  params: Params,
  given?: InputArtifact,
) {
  const { layout: { symbols, subcarriers }, ports } = context, { rx } = received, elements = symbols * subcarriers;
  const noise = noiseOf(input), oracle = params.method === "oracle";
  if (oracle && (!known || ports > 1)) {
    throw new SvcError(
      "params_conflict",
      "Cannot take the true channel: no channel_gain of one port travels with the symbols",
      { hint: "Set receiver_processing of wireless.channel to none, or another method" },
    );
  }
  if (!oracle && context.pilots === 0) {
    throw new SvcError("boundary_value_invalid", "Cannot estimate a channel: the pilot context has no pilot");
  }
  const tracking = !oracle && params.time_interpolation === "wiener" ? timeCorrelation(input, params) : undefined;
  const estimators = Array.from(
    { length: oracle ? 0 : ports },
    (_, port) =>
      params.method === "given"
        ? givenEstimator(onePort(context), received, given!, params)
        : portEstimator(context, port, received, noise, params, tracking),
  );
  const times = estimators.map(({ times }) => timeShares(times, symbols, params)), size = 2 * elements * rx * ports;
  const ownErrors = new Float32Array(subcarriers * ports);
  return {
    form: { noise_variance: float(noise), method: params.method },
    /** Estimates the grids of `received`. @param truth their true gains */
    estimate(grids: number, truth: Float32Array | undefined) {
      const { first = 0 } = received;
      const h = resultArray<Float32Array>(Float32Array, grids * size);
      const errors = resultArray<Float32Array>(Float32Array, grids * elements * ports);
      if (oracle) {
        h.set(truth!);
        return { h, errors };
      }
      for (let grid = 0; grid < grids; grid++) {
        const rows: PilotRows[] = [];
        for (let antenna = 0; antenna < rx; antenna++) {
          for (let port = 0; port < ports; port++) {
            const own = averaged(estimators[port].gains(first + grid, antenna), subcarriers, params);
            rows.push({ ...times[port], rows: own });
          }
        }
        spreadGrid(rows, h.subarray(grid * size, (grid + 1) * size));
        for (let symbol = 0; symbol < symbols; symbol++) {
          if (symbol === 0 || estimators.some(({ times }) => times.length === symbols)) {
            estimators.forEach(({ error }, port) => {
              for (let k = 0; k < subcarriers; k++) ownErrors[k * ports + port] = error(first + grid, k, symbol);
            });
          }
          errors.set(ownErrors, (grid * symbols + symbol) * ownErrors.length);
        }
      }
      return { h, errors };
    },
  };
}

/** The true gains of one transmit and one receive antenna, if they travel. */
function truthOf(input: InputArtifact, elements: number): Float32Array | undefined {
  if (!input.arrayNames.includes(TRUTH)) return undefined;
  return arraysOf(input).read("complex64", [elements], TRUTH);
}

/** Squared errors and powers of gains, by grid. */
class SquaredError {
  readonly errors: number[] = [];
  readonly powers: number[] = [];

  /** Adds the next grids. */
  add(h: Float32Array, truth: Float32Array, grids: number): void {
    const size = h.length / grids;
    for (let grid = 0; grid < grids; grid++) {
      let error = 0, power = 0;
      for (let i = grid * size; i < (grid + 1) * size; i++) {
        const difference = h[i] - truth[i], own = truth[i];
        error += difference * difference;
        power += own * own;
      }
      this.errors.push(error);
      this.powers.push(power);
    }
  }
}

/** Metrics of the error over the units of the received stream: grids, or in motion all grids, whose gains are correlated. */
function pooledOf(error: SquaredError | undefined, metadata: JsonObject) {
  const pooled: Record<string, PooledMetric> = error === undefined ? {} : {
    "channel_estimation.nmse": {
      reduction: "ratio_of_sums",
      sums: unitRatio(metadata, error.errors, error.powers),
    },
  };
  return { metrics: pooledMetrics(pooled), metadata: pooledMetadata(pooled) };
}

/** Gains of a grid, and the variance of their error. */
interface Estimator {
  /** OFDM symbols with pilots, ascending; all of them after a filter over time. */
  readonly times: readonly number[];
  /** Gains of these OFDM symbols [time, subcarrier], interleaved. */
  gains(grid: number, antenna: number): Float64Array;
  error(grid: number, subcarrier: number, symbol: number): number;
}

/** Least-squares values of a grid, a row of pilots and an antenna, interleaved. */
type RawPilots = ReturnType<typeof pilotRows>["raw"];

/** The estimator of one port: filters depend on the positions of the pilots only. */
function portEstimator(
  context: PilotContext,
  port: number,
  received: Received,
  noise: number,
  params: Params,
  tracking?: (distance: number) => number,
): Estimator {
  const { layout: { subcarriers, symbols } } = context, { rows, scale, raw } = pilotRows(context, port, received);
  const variance = noise * scale, filters: (PilotFilter | undefined)[] = rows.map(() => undefined);
  if (params.method === "lmmse") {
    const correlation = correlationOf(params);
    rows.forEach(({ places }, i) => {
      const same = rows.findIndex((row) => row.places.every((place, k) => place === places[k]));
      filters[i] = same < i ? filters[same] : lmmseFilter(places, subcarriers, correlation, variance);
    });
  }
  const filtered = filterBlocks(context, received, raw), times = rows.map(({ time }) => time);
  const estimator: Estimator = {
    times,
    error: (_grid, subcarrier) => filters[0]?.error[subcarrier] ?? variance,
    gains(grid, antenna) {
      const estimates = new Float64Array(2 * rows.length * subcarriers);
      rows.forEach(({ places }, row) => {
        const filter = filters[row];
        const line = filter
          ? filtered(filter, grid, row, antenna)
          : interpolate(places, raw(grid, row, antenna), subcarriers);
        estimates.set(line, 2 * row * subcarriers);
      });
      return estimates;
    },
  };
  if (tracking === undefined) return estimator;
  if (filters.some((filter) => filter !== filters[0])) {
    throw new SvcError(
      "params_conflict",
      "Cannot filter over time: pilots lie on other subcarriers from time to time",
      {
        hint: "Put the pilots of all OFDM symbols on the same subcarriers, or set time_interpolation to linear",
      },
    );
  }
  const over = timeFilter(filters[0]!, times, symbols, tracking, variance);
  return {
    times: Array.from({ length: symbols }, (_, symbol) => symbol),
    gains: (grid, antenna) => applyTimeFilter(over, estimator.gains(grid, antenna), subcarriers),
    error: (_grid, subcarrier, symbol) => over.error[symbol * subcarriers + subcarrier],
  };
}

/** Correlation of a gain in time at a distance in OFDM symbols. @throws SvcError `input_metadata_missing` without a Doppler shift */
function timeCorrelation({ metadata }: InputArtifact, params: Params): (distance: number) => number {
  const interval = ofdmSymbolInterval(params.subcarrier_spacing_khz), record = metadata.wireless_channel;
  const known = isObject(record) && isNumber(record.maximum_doppler_hz)
    ? record.doppler_model === "block_static" ? 0 : toNumber(record.maximum_doppler_hz)
    : undefined;
  const dopplerHz = params.assumed_doppler_hz ?? known;
  if (dopplerHz === undefined) {
    throw new SvcError("input_metadata_missing", "Cannot filter over time: no Doppler shift travels with the symbols", {
      hint: "Set assumed_doppler_hz; wireless.channel writes its own",
    });
  }
  // A filter of each subcarrier asks for the same few distances.
  const values = new Map<number, number>();
  const valueAt = (distance: number) => dopplerCorrelation(params.assumed_spectrum, dopplerHz, distance * interval);
  return (distance) => values.getOrInsertComputed(Math.abs(distance), valueAt);
}

/** Grids that pass through a filter together. */
const FILTERED_GRIDS = 64;

/** Filters the pilots of many grids at once, as they are asked for in order. */
function filterBlocks({ layout: { symbols, subcarriers } }: PilotContext, received: Received, raw: RawPilots) {
  const blocks: { first: number; lines: Float64Array }[] = [];
  return (filter: PilotFilter, grid: number, row: number, antenna: number): Float64Array => {
    const { y, rx, first: start = 0 } = received, first = grid - (grid - start) % FILTERED_GRIDS;
    const count = Math.min(FILTERED_GRIDS, start + y.length / (2 * symbols * subcarriers * rx) - first);
    if (blocks[row]?.first !== first) {
      const values = new Float64Array(count * rx * filter.weights.length / subcarriers);
      for (let i = 0; i < count * rx; i++) {
        const own = raw(first + Math.floor(i / rx), row, i % rx);
        values.set(own, i * own.length);
      }
      blocks[row] = { first, lines: applyFilter(filter, values) };
    }
    const at = 2 * subcarriers * ((grid - first) * rx + antenna);
    return blocks[row].lines.subarray(at, at + 2 * subcarriers);
  };
}

/** The estimates of all OFDM symbols with pilots, or of whole grids, by another operation, in the order of demodulation.ofdm_pilot_observation. */
function givenEstimator(context: PilotContext, received: Received, given: InputArtifact, params: Params): Estimator {
  const { layout: { subcarriers, symbols, grids } } = context, { rx } = received, arrays = arraysOf(given);
  const pilotTimes = pilotRows(context, 0, received).rows.map(({ time }) => time), elements = symbols * subcarriers;
  const h = arrays.read("complex64", ["example", "rx", "tx", "place"]), whole = arrays.size("place") === elements;
  const times = whole ? Array.from({ length: symbols }, (_, symbol) => symbol) : pilotTimes;
  const shape = whole ? [grids, rx, 1, elements] : [grids * times.length, rx, 1, subcarriers];
  arrays.read("complex64", shape);
  const declared = given.arrayNames.includes("error_variance")
    ? arrays.read("float32", shape, "error_variance")
    : undefined;
  if (declared === undefined && params.given_error_variance === undefined) {
    throw new SvcError("params_conflict", "Cannot weigh the given estimate: it has no error_variance", {
      hint: "Set given_error_variance; 0 takes the estimate as exact",
    });
  }
  /** Place of a row of subcarriers in the given arrays. */
  const place = (grid: number, antenna: number, row: number) =>
    whole
      ? ((grid * rx + antenna) * symbols + row) * subcarriers
      : ((grid * times.length + row) * rx + antenna) * subcarriers;
  return {
    times,
    error(grid, subcarrier, symbol) {
      if (declared === undefined) return params.given_error_variance!;
      const rows = whole ? [symbol] : times.keys().toArray();
      let sum = 0;
      for (const row of rows) {
        for (let antenna = 0; antenna < rx; antenna++) sum += declared[place(grid, antenna, row) + subcarrier];
      }
      return sum / (rows.length * rx);
    },
    gains(grid, antenna) {
      const estimates = new Float64Array(2 * times.length * subcarriers);
      times.forEach((_, row) => {
        const from = 2 * place(grid, antenna, row);
        estimates.set(h.subarray(from, from + 2 * subcarriers), 2 * row * subcarriers);
      });
      return estimates;
    },
  };
}

/** The rows of OFDM symbols with pilots between which each OFDM symbol lies. */
function timeShares(times: readonly number[], symbols: number, { time_interpolation: mode }: Params): TimeShares {
  if (mode === "average") return { pairs: new Int32Array(2 * symbols), shares: new Float64Array(symbols) };
  return rowShares(times, symbols, { nearest: mode === "nearest" });
}

/** The mean of all rows where time_interpolation is average, else the rows. */
function averaged(rows: Float64Array, subcarriers: number, { time_interpolation: mode }: Params): Float64Array {
  if (mode !== "average") return rows;
  const width = 2 * subcarriers, count = rows.length / width, out = new Float64Array(width);
  for (let i = 0; i < width; i++) {
    for (let row = 0; row < count; row++) out[i] += rows[row * width + i] / count;
  }
  return out;
}

function correlationOf(params: Params): Correlation {
  const spacing = params.subcarrier_spacing_khz * 1e3, delaySpread = params.delay_spread_ns * 1e-9;
  if (params.delay_profile === "exponential") return exponentialCorrelation(delaySpread, spacing);
  if (params.delay_profile === "uniform") return uniformCorrelation(params.maximum_delay_ns * 1e-9, spacing);
  return profileCorrelation(tdlProfile(params.tdl_model, { delaySpread, normalise: true }), spacing);
}
