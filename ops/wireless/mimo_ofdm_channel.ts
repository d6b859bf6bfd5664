/**
 * MIMO-OFDM channel: symbols go layer-first (symbol i to layer i mod L of resource element floor(i / L)) to grids of F
 * subcarriers and S OFDM symbols, the last one zero-padded, and
 *
 *     y = G_k x + n        G_k = H_k W_k / sqrt(L)        n ~ CN(0, N0 I)
 *
 * so that E|y_r|² = 1 + N0 at unit mean gain. H is iid (one tap of power 1), a tapped delay line with Kronecker correlation,
 * or CDL clusters with half-wavelength arrays (lib/numeric/channel/mimo_channel.ts), constant within a grid, or in motion from one
 * OFDM symbol to the next over all grids; then W is that of each OFDM symbol. W is the first L antennas
 * (none), or the L strongest right singular vectors of H_k (svd), each with a first component that is real and not negative.
 *
 * With an explicit channel state, H is that of each grid in turn; nothing is drawn but noise. A state of several OFDM symbols
 * has a W for each of them.
 *
 * Shapes: symbols complex64 [n] -> rx_grid complex64 [grid, OFDM symbol, subcarrier, rx], state complex64 [grid, subcarrier, rx,
 * layer], in motion [grid, OFDM symbol, subcarrier, rx, layer]; channel state complex64 [grid, OFDM symbol, subcarrier, rx, tx],
 * of one OFDM symbol when it does not change within a grid. Draws per grid: taps [tap, rx, tx] (cdl: permutation per cluster, then phases [cluster, ray]), then noise [element, rx]; in
 * motion the realisation once, then noise per grid.
 *
 * Source: Tse and Viswanath, Fundamentals of Wireless Communication, 2005, ch. 7; TR 38.901 V17, 7.7.
 */
import { OFDM_STATE, SYMBOLS } from "../../lib/contract/kinds.ts";
import {
  defineOperation,
  float,
  type InputArtifact,
  type JsonObject,
  messageOf,
  type ParameterProblem,
  seedParameter,
  SvcError,
  usedWhen,
  z,
} from "../api.ts";
import { declareUnit } from "../../lib/artifact/statistical_unit.ts";
import { symbolsOf, travel } from "../../lib/artifact/values.ts";
import {
  cdlProfile,
  type DelayProfile,
  type Motion,
  ofdmSymbolInterval,
  type ProfileModel,
  TDL_MODELS,
  tdlProfile,
} from "../../lib/numeric/channel/delay_profile.ts";
import { mixGrid } from "../../lib/numeric/channel/grid_kernel.ts";
import { cdlResponse, correlationFactors, CORRELATIONS, tdlResponse } from "../../lib/numeric/channel/mimo_channel.ts";
import { elementCount, ndarray } from "../../lib/numeric/array/ndarray.ts";
import type { Generator } from "../../lib/numeric/random/random.ts";
import { realFirst, svd } from "../../lib/numeric/linalg/svd.ts";
import { numpyWithTwin } from "../_backends.ts";
import { gridLayout, MIMO_RX_GRID, MIMO_STATE } from "../_ofdm_grid.ts";
import { isMoving, MOTION_PARAMS, movingOf, OF_DELAY_SPREAD, profileProblems, realisationOf } from "./_motion.ts";
import { COMMON_PARAMS, noiseMetrics, noiseProblems, noiseVariance, stateProblem } from "./_params.ts";

const FLAT: DelayProfile = { delays: new Float64Array(1), powers: Float64Array.of(1), lineOfSight: false };

const OF_EXPONENTIAL = usedWhen({ correlation_model: "exponential" });
const OF_PROFILES = { "x-svc-used-when": { channel_model: ["tdl", "cdl"] } };

const OF_MOTION = usedWhen({ time_variation: "doppler" });

const PARAMS = z.strictObject({
  channel_model: z.enum(["iid", "tdl", "cdl"]).default("tdl").describe("iid: flat; tdl, cdl: profiles of TR 38.901"),
  tdl_model: z.enum(TDL_MODELS).default("A").meta(OF_PROFILES)
    .describe("profile of TR 38.901, 7.7.2 for tdl and 7.7.1 for cdl, or of TS 38.101-4 with its own delays, or HST"),
  delay_spread_ns: z.number().nonnegative().default(100)
    .meta({ ...OF_PROFILES, ...OF_DELAY_SPREAD }).describe("rms delay spread in ns"),
  carrier_frequency_ghz: COMMON_PARAMS.carrier_frequency_ghz.meta(OF_MOTION),
  mobility_kmh: COMMON_PARAMS.mobility_kmh.meta(OF_MOTION),
  ...MOTION_PARAMS,
  doppler_spectrum: MOTION_PARAMS.doppler_spectrum.meta(usedWhen({ channel_model: ["iid", "tdl"] })),
  subcarrier_spacing_khz: z.number().positive().default(15).describe("subcarrier spacing in kHz"),
  ofdm_fft_size: COMMON_PARAMS.ofdm_fft_size,
  num_ofdm_symbols: COMMON_PARAMS.num_ofdm_symbols,
  normalize_channel: z.boolean().default(true).meta(OF_PROFILES)
    .describe("scale the power-delay profile to mean power 1"),
  tx_antennas: z.int().min(1).max(16).default(2).describe("transmit antennas"),
  rx_antennas: z.int().min(1).max(16).default(2).describe("receive antennas"),
  layers: z.int().min(0).max(16).default(0).describe("layers of symbols; 0 is one per transmit antenna"),
  precoding: z.enum(["none", "svd"]).default("none").describe("svd sends along the strongest singular vectors"),
  tx_correlation: z.number().min(0).lt(1).default(0).describe("correlation of neighbouring transmit antennas")
    .meta(OF_EXPONENTIAL),
  rx_correlation: z.number().min(0).lt(1).default(0).describe("correlation of neighbouring receive antennas")
    .meta(OF_EXPONENTIAL),
  correlation_model: z.enum(CORRELATIONS).default("exponential").describe("exponential, or a table of TS 36.101 B.2.3"),
  channel_state_mode: z.enum(["none", "explicit"]).default("none")
    .describe("explicit uses the realisation of a wired channel state"),
  snr_db: COMMON_PARAMS.snr_db,
  noise_mode: COMMON_PARAMS.noise_mode,
  noise_variance: COMMON_PARAMS.noise_variance,
  seed: seedParameter(),
});
type Params = z.output<typeof PARAMS>;

export default defineOperation({
  id: "wireless.mimo_ofdm_channel",
  name: "MIMO-OFDM channel",
  description: "Sends layers of symbols over a fading channel of several antennas, one matrix per subcarrier",
  inputs: { symbols: [SYMBOLS] },
  optionalInputs: { channel_state: [OFDM_STATE] },
  outputs: { rx_grid: MIMO_RX_GRID, state: MIMO_STATE },
  params: PARAMS,
  ...numpyWithTwin("full", "Linear in the symbols"),
  outputMetadataGuarantees: { rx_grid: { from: "symbols" } },
  estimate(params, { symbols: { bytes, shape } }) {
    const layers = params.layers || params.tx_antennas, { ofdm_fft_size: width, num_ofdm_symbols: rows } = params;
    const grids = Math.ceil((shape?.[0] ?? bytes / 8) / (layers * width * rows));
    return {
      rx_grid: [["complex64", grids, rows, width, params.rx_antennas]],
      // A wired state has matrices of a grid or of each OFDM symbol.
      state: params.channel_state_mode === "explicit"
        ? null
        : [["complex64", grids, ...isMoving(params) ? [rows] : [], width, params.rx_antennas, layers]],
    };
  },
  check: problems,
  streaming: {
    allows: ({ channel_state_mode }) => channel_state_mode === "none",
    open({ inputs: { symbols: { metadata, length } }, params, generator }) {
      if (metadata.dtype !== "complex64") return null;
      const { unit, forms, metrics, send } = linkOf({ metadata, count: length }, params, generator);
      let grid = 0;
      return {
        arrays: {
          rx_grid: { dtype: "complex64", length: elementCount(forms.rx_grid.shape), ...forms.rx_grid },
          state: { dtype: "complex64", length: elementCount(forms.state.shape), ...forms.state },
        },
        unit: { symbols: unit },
        next({ symbols }) {
          const sent = symbols.data as Float32Array, count = Math.ceil(sent.length / 2 / unit), first = grid;
          grid += count;
          return send(sent, first, count);
        },
        end: () => ({ metrics }),
      };
    },
  },
  run({ inputs, params, generator, progress }) {
    const symbols = symbolsOf(inputs.symbols), given = { metadata: inputs.symbols.metadata, count: symbols.length / 2 };
    const { grids, forms, metrics, send } = linkOf(given, params, generator, inputs.channel_state);
    const { rx_grid, state } = send(symbols, 0, grids, (done) => progress(done, grids, { unit: "grids" }));
    return {
      outputs: {
        rx_grid: { array: ndarray("complex64", rx_grid, forms.rx_grid.shape), metadata: forms.rx_grid.metadata },
        state: { array: ndarray("complex64", state, forms.state.shape), metadata: forms.state.metadata },
      },
      metrics,
    };
  },
});

/** The link of a stream of symbols: its grids, symbols of a grid, forms of the outputs, and what sends grids in their order. */
function linkOf(
  { metadata, count }: { metadata: JsonObject; count: number },
  params: Params,
  generator: Generator,
  channelState?: InputArtifact,
) {
  const { rx_antennas: rx, ofdm_fft_size: width, num_ofdm_symbols: rows } = params;
  const layers = params.layers || params.tx_antennas, perGrid = width * rows, unit = perGrid * layers;
  const layout = gridLayout(metadata);
  if (layout && (layout.ports !== layers || layout.subcarriers !== width || layout.symbols !== rows)) {
    const grid = `${layout.ports} ports on ${layout.subcarriers} subcarriers and ${layout.symbols} OFDM symbols`;
    throw new SvcError("params_conflict", `Cannot send ${grid} as ${layers} layers on ${width} and ${rows}`, {
      hint: "Give modulation.ofdm_pilot_insert and the channel the same grid, and a port for each layer",
    });
  }
  const grids = Math.ceil(count / unit), noise = noiseVariance(params);
  const moving = movingOf(params, ofdmSymbolInterval(params.subcarrier_spacing_khz));
  const wired = channelState && wiredResponses(channelState, grids, params);
  const draw = matrices(params, wired ? () => wired.next() : drawnResponses(params), wired?.symbols);
  const realisation = moving && realisationOf(moving, generator, (motion, fading) => draw(fading, motion));
  // Gains are those of a grid, in motion those of each of its OFDM symbols.
  const blocks = moving ? rows : wired?.symbols ?? 1, blockRows = rows / blocks, perBlock = 2 * width * rx * layers;
  const elements = blockRows * width;
  /** Sends the symbols of some grids, of which the last one may be incomplete. */
  function send(symbols: Float32Array, first: number, sent: number, done?: (grids: number) => void) {
    const state = new Float32Array(sent * blocks * perBlock), received = new Float32Array(2 * sent * perGrid * rx);
    for (let grid = 0; grid < sent; grid++) {
      const gains = realisation ? realisation((first + grid) * rows, rows) : draw(generator);
      const drawn = generator.complexNormal64(perGrid * rx, noise);
      state.set(gains, grid * blocks * perBlock);
      for (let block = 0; block < blocks; block++) {
        const from = grid * perGrid + block * elements;
        mixGrid({ rows: blockRows, subcarriers: width, rx, layers }, {
          gains: gains.subarray(block * perBlock, (block + 1) * perBlock),
          symbols: symbols.subarray(2 * from * layers, 2 * (from + elements) * layers),
          noise: drawn.subarray(2 * block * elements * rx, 2 * (block + 1) * elements * rx),
        }, received.subarray(2 * from * rx, 2 * (from + elements) * rx));
      }
      done?.(grid + 1);
    }
    return { rx_grid: received, state };
  }
  const facts = { noise_variance: float(noise), layers, rx_antennas: rx };
  const grid = { symbol_count: count, ofdm_fft_size: width, num_ofdm_symbols: rows };
  // All symbols of a grid have the same matrices; in motion those of the whole stream are correlated.
  const fadingBlock = (declared: JsonObject) =>
    moving?.passing && params.channel_model === "tdl"
      ? {}
      : declareUnit(declared, "fading_block", { size: moving ? count : unit, total: count });
  const forms = {
    rx_grid: {
      shape: [grids, rows, width, rx],
      metadata: travel(metadata, { ...facts, ...grid, ...fadingBlock(metadata) }, ["source_item_counts"]),
    },
    state: {
      shape: [grids, ...blocks > 1 || moving ? [rows] : [], width, rx, layers],
      metadata: moving ? { ...facts, ...fadingBlock({}) } : facts,
    },
  };
  return { grids, unit, forms, metrics: noiseMetrics(params, noise), send };
}

/** Responses [sample, rx, tx, subcarrier] of a grid. */
type Responses = (generator: Generator, motion?: Motion) => Float64Array;

/** Responses of the channel model. */
function drawnResponses(params: Params): Responses {
  const { tx_antennas: tx, rx_antennas: rx, tdl_model: model, ofdm_fft_size: width } = params, antennas = { tx, rx };
  const scaling = { delaySpread: params.delay_spread_ns * 1e-9, normalise: params.normalize_channel };
  const subcarriers = { count: width, spacing: params.subcarrier_spacing_khz * 1e3 };
  const factors = correlationFactors(params.correlation_model, antennas, {
    txCorrelation: params.tx_correlation,
    rxCorrelation: params.rx_correlation,
  });
  const profile = params.channel_model === "iid"
    ? FLAT
    : params.channel_model === "tdl"
    ? tdlProfile(model, scaling)
    : cdlProfile(model as ProfileModel, scaling);
  return (generator, motion) =>
    params.channel_model === "cdl"
      ? cdlResponse(model as ProfileModel, profile, antennas, subcarriers, generator, motion)
      : tdlResponse(profile, antennas, factors, subcarriers, generator, motion);
}

/**
 * Responses of a wired state, grid after grid.
 * @throws SvcError `boundary_shape_invalid`, `boundary_count_mismatch`, `boundary_non_finite`
 */
function wiredResponses(state: InputArtifact, grids: number, params: Params) {
  const { tx_antennas: tx, rx_antennas: rx, ofdm_fft_size: width, num_ofdm_symbols: rows } = params;
  const { dtype, shape, data } = state.array(state.arrayNames.includes("h") ? "h" : undefined);
  const attempt = `Cannot use ${dtype} [${shape.join(", ")}] as the channel`, symbols = shape[1];
  if (dtype !== "complex64" || shape.slice(2).join() !== [width, rx, tx].join() || ![1, rows].includes(symbols)) {
    throw new SvcError("boundary_shape_invalid", `${attempt} of ${rows} x ${width} elements, ${rx} x ${tx} antennas`, {
      hint: "Set antennas: all of source.channel_dataset, and the sizes of grid and arrays to those of the state",
    });
  }
  if (shape[0] < grids) {
    throw new SvcError("boundary_count_mismatch", `${attempt} of ${grids} grids`, {
      hint: "Send fewer symbols, or more samples of the dataset",
    });
  }
  const gains = data as Float32Array, size = 2 * symbols * width * rx * tx;
  if (!gains.every(Number.isFinite)) {
    throw new SvcError("boundary_non_finite", `${attempt}: it has gains that are not finite`);
  }
  let grid = 0;
  return {
    symbols,
    next(): Float64Array {
      const from = gains.subarray(grid * size, ++grid * size), response = new Float64Array(size);
      for (let symbol = 0, at = 0; symbol < symbols; symbol++) {
        for (let k = 0; k < width; k++) {
          for (let link = 0; link < rx * tx; link++, at += 2) {
            response.set(from.subarray(at, at + 2), 2 * ((symbol * rx * tx + link) * width + k));
          }
        }
      }
      return response;
    },
  };
}

/** Effective matrices of a grid, interleaved [subcarrier, rx, layer]; of several samples [sample, subcarrier, rx, layer]. */
function matrices(params: Params, responses: Responses, fixed = 1): Responses {
  const { tx_antennas: tx, rx_antennas: rx, ofdm_fft_size: width } = params, layers = params.layers || tx;
  const scale = 1 / Math.sqrt(layers);
  return (generator, motion) => {
    const response = responses(generator, motion);
    const samples = motion?.samples ?? fixed, out = new Float64Array(2 * samples * width * rx * layers);
    for (let sample = 0; sample < samples; sample++) {
      effective(
        response.subarray(2 * sample * rx * tx * width, 2 * (sample + 1) * rx * tx * width),
        out.subarray(2 * sample * width * rx * layers, 2 * (sample + 1) * width * rx * layers),
      );
    }
    return out;
  };

  /** The matrices with the precoder, from responses [rx, tx, subcarrier]. */
  function effective(response: Float64Array, out: Float64Array): void {
    const h = new Float64Array(2 * rx * tx);
    for (let k = 0; k < width; k++) {
      if (params.precoding === "none") {
        for (let r = 0; r < rx; r++) {
          for (let l = 0; l < layers; l++) {
            const from = 2 * ((r * tx + l) * width + k), to = 2 * ((k * rx + r) * layers + l);
            out[to] = scale * response[from];
            out[to + 1] = scale * response[from + 1];
          }
        }
        continue;
      }
      for (let i = 0; i < rx * tx; i++) {
        h[2 * i] = response[2 * (i * width + k)];
        h[2 * i + 1] = response[2 * (i * width + k) + 1];
      }
      const columns = Math.min(rx, tx), precoder = precoderOf(h, rx, tx);
      for (let r = 0; r < rx; r++) {
        for (let l = 0; l < layers; l++) {
          let real = 0, imaginary = 0;
          for (let t = 0; t < tx; t++) {
            const hr = h[2 * (r * tx + t)], hi = h[2 * (r * tx + t) + 1];
            const vr = precoder[2 * (t * columns + l)], vi = precoder[2 * (t * columns + l) + 1];
            real += hr * vr - hi * vi;
            imaginary += hr * vi + hi * vr;
          }
          const to = 2 * ((k * rx + r) * layers + l);
          out[to] = scale * real;
          out[to + 1] = scale * imaginary;
        }
      }
    }
  }
}

/** Right singular vectors [tx, min(rx, tx)], strongest first. */
function precoderOf(h: Float64Array, rx: number, tx: number): Float64Array {
  return realFirst(svd(h, rx, tx).v, Math.min(rx, tx));
}

function problems(params: Params, connected: ReadonlySet<string>): ParameterProblem[] {
  const wired = connected.has("channel_state"), explicit = params.channel_state_mode === "explicit";
  const found: ParameterProblem[] = wired === explicit ? [] : [stateProblem(wired)];
  if (explicit && isMoving(params)) {
    found.push({
      place: ["time_variation"],
      message: "Cannot move an explicit channel state: it has its own motion",
      hint: "Remove time_variation",
    });
  }
  const { tx_antennas: tx, rx_antennas: rx } = params, layers = params.layers || tx;
  const most = params.precoding === "svd" ? Math.min(tx, rx) : tx;
  if (layers > most) {
    const message = `Cannot send ${layers} layers with ${tx} transmit and ${rx} receive antennas`;
    found.push({ place: ["layers"], message, hint: `Set layers to ${most} or less` });
  }
  found.push(...noiseProblems(params));
  if (params.channel_model !== "iid" && !explicit) {
    found.push(...profileProblems(params, params.channel_model === "cdl"));
  }
  if (params.channel_model === "tdl" && params.tdl_model === "HST" && layers > 1) {
    found.push({
      place: ["layers"],
      message: `Cannot send ${layers} layers over HST: its single tap is the same for all antennas`,
      hint: "Set tx_antennas or layers to 1",
    });
  }
  const correlated = params.correlation_model !== "exponential" || params.tx_correlation > 0 ||
    params.rx_correlation > 0;
  if (params.channel_model === "cdl" && correlated) {
    found.push({
      place: ["channel_model"],
      message: "Cannot correlate the antennas of cdl: its clusters do",
      hint: "Set both correlations to 0, or channel_model to tdl",
    });
  }
  try {
    correlationFactors(params.correlation_model, { tx, rx }, { txCorrelation: 0, rxCorrelation: 0 });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    found.push({
      place: ["correlation_model"],
      message: messageOf(error),
      hint: "Set correlation_model to exponential",
    });
  }
  return found;
}
