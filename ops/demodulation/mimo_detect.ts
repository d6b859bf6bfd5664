/**
 * MIMO detector of OFDM grids with soft outputs: zero forcing, MMSE, MMSE with successive cancellation, maximum likelihood and
 * K-best, for a known or an estimated channel. Formulas: lib/numeric/link/mimo_detection.ts. With an estimated channel N0 grows by
 * the error variances of all layers. phase_compensation: pilots first turns each OFDM symbol back by its common phase (_common_phase.ts). Bits and LLRs are in the order of transmission (layer-first symbols), without the
 * padding of grid and modulator; with pilot_context only data elements count.
 *
 * Shapes: rx_grid complex64 [grid, OFDM symbol, subcarrier, rx], channel complex64 [grid, subcarrier, rx, layer] or an estimate
 * [grid, OFDM symbol, subcarrier, rx, layer] -> bits uint8 [m], llr float32 [m], symbols complex64 [n]. zf, mmse and mmse_sic
 * give symbols with the companion noise_variance, ml and kbest hard decisions.
 */
import { RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation, type InputArtifact, type JsonObject, type Metrics, SvcError, z } from "../api.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import {
  metadataNumber,
  metadataText,
  SYMBOL_METADATA,
  symbolMetadata,
  symbolsArtifact,
  travel,
} from "../../lib/artifact/values.ts";
import {
  constellation,
  type Detector,
  kBestDetector,
  maximumLikelihoodDetector,
  successiveDetector,
} from "../../lib/numeric/link/mimo_detection.ts";
import { detectGrid, separateGrid } from "../../lib/numeric/channel/grid_kernel.ts";
import { demodulateLlr, hardBits } from "../../lib/numeric/link/modulation.ts";
import { BITS_PER_SYMBOL, type Modulation, MODULATIONS } from "../../lib/numeric/link/modulations.ts";
import { resultArray } from "../../lib/numeric/array/shared_array.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { executed, exportable, exported } from "../_backends.ts";
import {
  CHANNEL_ESTIMATE,
  GRID_KEY,
  isComplex,
  MIMO_RX_GRID,
  MIMO_STATE,
  noiseOf,
  PILOT_CONTEXT,
  type PilotContext,
  readContext,
} from "../_ofdm_grid.ts";
import { unpaddedBitCount } from "../_symbol_items.ts";
import { commonPhases, turnBack } from "./_common_phase.ts";
import { demodulated, demodulatedOutputs, demodulatedStreams } from "./_outputs.ts";

const DETECTORS = ["zf", "mmse", "mmse_sic", "ml", "kbest"] as const;
/** Vectors that maximum likelihood compares at most. */
const MOST_VECTORS = 2 ** 20;

const PARAMS = z.strictObject({
  detector: z.enum(DETECTORS).default("mmse").describe("separation of the layers"),
  modulation: z.enum(["auto", ...MODULATIONS]).default("auto").describe("auto uses the modulation in the metadata"),
  llr_method: z.enum(["max_log", "exact"]).default("max_log").describe("exact sums over points or vectors"),
  k_best: z.int().min(1).max(65536).default(32).describe("vectors that kbest keeps")
    .meta({ "x-svc-used-when": { detector: "kbest" } }),
  include_estimation_error: z.boolean().default(true).describe("add the error variance of an estimate to the noise"),
  phase_compensation: z.enum(["none", "pilots"]).optional()
    .describe("pilots turns each OFDM symbol back by its common phase; needs pilot_context; default none"),
});
type Params = z.output<typeof PARAMS>;

export default defineOperation({
  id: "demodulation.mimo_detect",
  name: "MIMO detector",
  description: "Separates the layers of MIMO-OFDM grids and demaps them to bits and log-likelihood ratios",
  inputs: { rx_grid: [MIMO_RX_GRID], channel: [MIMO_STATE, CHANNEL_ESTIMATE] },
  optionalInputs: { pilot_context: [PILOT_CONTEXT] },
  outputs: { ...demodulatedOutputs({}), symbols: RX_SYMBOLS },
  params: PARAMS,
  differentiability: exportable(
    "torch",
    "full",
    "Smooth for zf and mmse; mmse_sic stops gradients at its decisions, ml and kbest follow the compared distances",
  ),
  equivalence: { type: "numerical", tolerance: { atol: 1e-5, rtol: 1e-4 } },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  materializations: [
    ...DETECTORS.flatMap((detector) => executed("numpy", `numpy_${detector}`, { detector })),
    ...DETECTORS.map((detector) => exported("torch", `torch_${detector}`, { detector })),
  ],
  outputMetadataGuarantees: {
    bits: { from: "rx_grid" },
    llr: { from: "rx_grid" },
    symbols: { from: "rx_grid", keys: Object.keys(SYMBOL_METADATA) },
  },
  estimate({ modulation, detector }, { rx_grid: { shape: grid }, channel: { shape: gains } }) {
    if (grid === undefined || gains === undefined) return {};
    // The modulation of auto and the pilots are known in the run only: these are upper limits.
    const width = modulation === "auto" ? 8 : BITS_PER_SYMBOL[modulation];
    const symbols = grid[0] * grid[1] * grid[2] * gains[gains.length - 1];
    const hard = detector === "ml" || detector === "kbest";
    return { bits: width * symbols, llr: 4 * width * symbols, symbols: (hard ? 8 : 12) * symbols };
  },
  twin: true,
  check: ({ phase_compensation }, connected) =>
    phase_compensation === "pilots" && !connected.has("pilot_context")
      ? [{
        input: "pilot_context",
        message: "Cannot compensate the common phase without pilots",
        hint: "Wire pilot_context, or set phase_compensation to none",
      }]
      : [],
  streaming: {
    open({ inputs: { rx_grid: grid, channel }, params }) {
      if (
        !isComplex(grid) || !isComplex(channel) || channel.kind === CHANNEL_ESTIMATE.id || channel.shape.length !== 4
      ) return null;
      const { metadata, shape } = grid, [grids, rows, subcarriers, rx] = shape, layers = channel.shape[3];
      const { order, count } = dataOrder(undefined, metadata, { grids, rows, subcarriers, layers });
      const { modulation, detect, facts } = receiverOf(params, metadata, order, rx, layers);
      const bits = unpaddedBitCount(metadata, count * BITS_PER_SYMBOL[modulation]),
        elements = Math.ceil(count / layers);
      const sinr = isLinear(params) ? new MeanSinr(subcarriers * layers) : undefined;
      const unit = { rx_grid: rows * subcarriers * rx, channel: subcarriers * rx * layers };
      const left = { elements, symbols: count, bits };
      return {
        arrays: {
          ...demodulatedStreams(grid, bits, facts),
          symbols: {
            dtype: "complex64",
            length: count,
            metadata: symbolMetadata(count, travel(metadata, {}, [GRID_KEY])),
            ...isSoft(params) ? {} : { companions: { noise_variance: { dtype: "float32", shape: [count] } } },
          },
        },
        unit,
        next({ rx_grid: { data: y }, channel: { data: g } }) {
          const part = y.length / 2 / unit.rx_grid;
          const read = readChannel(
            blockOf(grid, y, [part, rows, subcarriers, rx]),
            blockOf(channel, g, [part, subcarriers, rx, layers]),
            params,
          );
          const found = detect(read, Math.min(left.elements, part * order.length));
          left.elements -= found.variance.length / layers;
          sinr?.add(found.variance);
          const symbols = found.symbols.subarray(0, 2 * left.symbols), llr = found.llr.subarray(0, left.bits);
          const variance = found.variance.subarray(0, left.symbols);
          left.symbols -= variance.length;
          left.bits -= llr.length;
          return { llr, bits: hardBits(llr), symbols, ...isSoft(params) ? {} : { "symbols.noise_variance": variance } };
        },
        end: () => ({ metrics: sinrMetrics(sinr) }),
      };
    },
  },
  run({ inputs, params, progress }) {
    const { metadata } = inputs.rx_grid;
    const received = readChannel(inputs.rx_grid, inputs.channel, params, inputs.pilot_context), { sizes } = received;
    const { order, count } = dataOrder(inputs.pilot_context, metadata, sizes);
    const { modulation, detect, facts } = receiverOf(params, metadata, order, sizes.rx, sizes.layers);
    const { symbols, variance, llr } = detect(
      received,
      Math.ceil(count / sizes.layers),
      (grid) => progress(grid, sizes.grids, { unit: "grids" }),
    );
    const bits = unpaddedBitCount(metadata, count * BITS_PER_SYMBOL[modulation]);
    const companions: Record<string, NdArray> = isSoft(params)
      ? {}
      : { noise_variance: ndarray("float32", firstOf(variance, count)) };
    const sinr = isLinear(params) ? new MeanSinr(sizes.subcarriers * sizes.layers) : undefined;
    sinr?.add(variance);
    return {
      outputs: {
        ...demodulated(inputs.rx_grid, firstOf(llr, bits), facts),
        symbols: symbolsArtifact(firstOf(symbols, 2 * count), travel(metadata, {}, [GRID_KEY]), companions),
      },
      metrics: sinrMetrics(sinr),
    };
  },
});

const isLinear = ({ detector }: Params) => detector === "zf" || detector === "mmse";
const isSoft = ({ detector }: Params) => detector === "ml" || detector === "kbest";

/** A block of an input as an artifact. */
const blockOf = (input: InputArtifact, data: NdArray["data"], shape: number[]): InputArtifact => ({
  ...input,
  array: () => ndarray("complex64", data as Float32Array, shape),
});

/** The modulation of a grid, what outputs declare, and the detector of some grids in order. */
function receiverOf(params: Params, metadata: JsonObject, order: Int32Array, rx: number, layers: number) {
  const modulation = modulationOf(params, metadata), width = BITS_PER_SYMBOL[modulation], perData = order.length;
  checkDetector(params, modulation, rx, layers);
  const soft = isSoft(params);
  // These run over whole grids; the others detect vector by vector.
  const points = params.detector === "ml" && params.llr_method === "max_log" ? constellation(modulation) : undefined;
  const detector = isLinear(params) || points ? undefined : detectorOf(params, modulation, rx, layers);
  /** @param elements data elements of the grids */
  function detect(
    { y, matrixOf, noiseAt, gridAt, sizes }: ReturnType<typeof readChannel>,
    elements: number,
    done?: (grids: number) => void,
  ) {
    const { grids, rows, subcarriers } = sizes, perGrid = rows * subcarriers;
    const symbols = resultArray<Float32Array>(Float32Array, 2 * elements * layers);
    const variance = resultArray<Float32Array>(Float32Array, elements * layers);
    const out = { symbols, variance, llr: new Float32Array(soft ? elements * layers * width : 0) };
    // Elements of a subcarrier share a matrix, unless it was estimated.
    const place = new Int32Array(perGrid).fill(-1);
    order.forEach((element, index) => place[element] = index);
    for (let grid = 0; grid < grids; grid++) {
      if (detector === undefined) {
        const from = grid * perData * layers, to = Math.min(from + perData * layers, elements * layers);
        if (from < to) {
          const parts = { ...gridAt(grid), order: place }, found = symbols.subarray(2 * from, 2 * to);
          if (points !== undefined) {
            detectGrid(sizes, parts, { points, symbols: found, llr: out.llr.subarray(from * width, to * width) });
          } else {
            const given = { symbols: found, variance: variance.subarray(from, to), mmse: params.detector === "mmse" };
            separateGrid(sizes, parts, given);
          }
        }
      } else {
        for (let k = 0; k < subcarriers; k++) {
          let prepared: number | undefined;
          for (let row = 0; row < rows; row++) {
            const at = place[row * subcarriers + k], data = grid * perData + at;
            if (at < 0 || data >= elements) continue;
            const matrix = matrixOf(grid, row, k);
            if (prepared !== matrix.id) detector.prepare(matrix.g(), noiseAt(grid, row, k));
            prepared = matrix.id;
            detector.detect(y, 2 * ((grid * perGrid + row * subcarriers + k) * rx), out, data * layers);
          }
        }
      }
      done?.(grid + 1);
    }
    const llr = soft ? out.llr : demodulateLlr(symbols, modulation, variance, undefined, params.llr_method);
    return { symbols, variance, llr };
  }
  const facts = { modulation, llr_method: params.llr_method, noise_variance_source: "per_symbol" };
  return { modulation, detect, facts };
}

function modulationOf({ modulation }: Params, metadata: JsonObject): Modulation {
  const name = modulation === "auto" ? metadataText(metadata, "modulation") : modulation;
  if (name !== undefined && Object.hasOwn(BITS_PER_SYMBOL, name)) return name as Modulation;
  throw new SvcError("params_conflict", `Cannot choose points: the grid has the modulation ${name ?? "of no name"}`, {
    hint: "Set modulation",
  });
}

/** The first values; a whole array is not copied. */
const firstOf = <T extends Float32Array>(values: T, count: number) =>
  count === values.length ? values : values.slice(0, count);

/** Mean of -10·log10(ν). OFDM symbols of a grid often share the variances, so the logarithm of a place is kept. */
class MeanSinr {
  readonly #last: Float32Array;
  readonly #logarithms: Float64Array;
  #sum = 0;
  #count = 0;

  /** @param places variances of an OFDM symbol */
  constructor(places: number) {
    this.#last = new Float32Array(places);
    this.#logarithms = new Float64Array(places).fill(-Infinity);
  }

  /** Adds the variances of whole grids. */
  add(variance: Float32Array): void {
    const last = this.#last, logarithms = this.#logarithms;
    let sum = this.#sum;
    for (let i = 0, at = 0; i < variance.length; i++, at = at + 1 === last.length ? 0 : at + 1) {
      if (variance[i] !== last[at]) logarithms[at] = Math.log10(last[at] = variance[i]);
      sum += logarithms[at];
    }
    this.#sum = sum;
    this.#count += variance.length;
  }

  get decibel(): number {
    return -10 * this.#sum / Math.max(this.#count, 1);
  }
}

const sinrMetrics = (sinr?: MeanSinr): Metrics => sinr === undefined ? {} : { "mimo.mean_post_sinr_db": sinr.decibel };

/** @throws SvcError `params_conflict` for too many vectors or too few antennas */
function checkDetector(params: Params, modulation: Modulation, rx: number, layers: number): void {
  const vectors = BITS_PER_SYMBOL[modulation] * layers;
  if (params.detector === "ml" && 2 ** vectors > MOST_VECTORS) {
    throw new SvcError("params_conflict", `Cannot compare 2^${vectors} vectors: the limit is 2^20`, {
      hint: "Set detector to kbest",
    });
  }
  if (rx < layers && (params.detector === "zf" || params.detector === "kbest")) {
    throw new SvcError("params_conflict", `Cannot separate ${layers} layers on ${rx} antennas by ${params.detector}`, {
      hint: "Set detector to mmse or ml, or use more receive antennas",
    });
  }
}

/** The detector with decisions or lists; linear ones run over whole grids. */
function detectorOf(params: Params, modulation: Modulation, rx: number, layers: number): Detector {
  const exact = params.llr_method === "exact";
  if (params.detector === "ml") return maximumLikelihoodDetector(rx, layers, modulation, exact);
  if (params.detector === "kbest") return kBestDetector(rx, layers, modulation, params.k_best, exact);
  return successiveDetector(rx, layers, modulation);
}

/** The received grid, and the channel matrix of each element with a number that equal matrices share. */
function readChannel(grid: InputArtifact, channel: InputArtifact, params: Params, pilots?: InputArtifact) {
  const arrays = arraysOf(grid), given = arrays.read("complex64", ["grid", "symbol", "subcarrier", "rx"]);
  const estimated = channel.kind === CHANNEL_ESTIMATE.id, beside = arrays.beside(channel);
  // A state in motion has a matrix for each element, as an estimate has.
  const own = estimated || channel.array().shape.length === 5;
  const shape = own ? ["grid", "symbol", "subcarrier", "rx", "layer"] : ["grid", "subcarrier", "rx", "layer"];
  const g = beside.read("complex64", shape), layers = beside.size("layer"), rx = arrays.size("rx");
  const errors = estimated
    ? beside.read("float32", ["grid", "symbol", "subcarrier", "layer"], "error_variance")
    : undefined;
  const rows = arrays.size("symbol"),
    subcarriers = arrays.size("subcarrier"),
    noise = noiseOf(grid),
    size = rx * layers;
  const expected = metadataNumber(grid.metadata, "layers");
  if (expected !== undefined && expected !== layers) {
    throw new SvcError("shape_mismatch", `Cannot detect ${expected} layers with the gains of ${layers}`);
  }
  const matrix = new Float64Array(2 * size);
  const element = (at: number, row: number, k: number) => (at * rows + row) * subcarriers + k;
  const noiseOfElement = (index: number) => {
    let total = noise;
    if (errors === undefined || !params.include_estimation_error) return total;
    for (let l = 0; l < layers; l++) total += errors[index * layers + l];
    return total;
  };
  // The matrix of an element that counts over all grids.
  const matrixAt = (index: number) =>
    own ? index : Math.floor(index / (rows * subcarriers)) * subcarriers + index % subcarriers;
  const turned = params.phase_compensation === "pilots" && pilots !== undefined;
  const y = turned ? given.slice() : given;
  if (turned) {
    const context = contextOf(pilots, { grids: arrays.size("grid"), rows, subcarriers, layers });
    const least = (index: number) => noiseOfElement(index) || 1;
    commonPhases(context, { y: given, rx, gains: g, matrixAt, noiseAt: least }).forEach((phase, row) => {
      for (let i = row * subcarriers * rx; i < (row + 1) * subcarriers * rx; i++) turnBack(y, i, phase);
    });
  }
  return {
    y,
    sizes: { grids: arrays.size("grid"), rows, subcarriers, rx, layers },
    matrixOf: (at: number, row: number, k: number) => {
      const id = own ? element(at, row, k) : at * subcarriers + k;
      return {
        id,
        g: () => {
          for (let i = 0; i < 2 * size; i++) matrix[i] = g[2 * id * size + i];
          return matrix;
        },
      };
    },
    noiseAt: (at: number, row: number, k: number) => noiseOfElement(element(at, row, k)),
    /** Parts of a grid for the linear detectors. */
    gridAt: (at: number) => {
      const elements = rows * subcarriers, matrices = 2 * size * (own ? elements : subcarriers);
      const n0 = Float64Array.from({ length: own ? elements : 1 }, (_, i) => noiseOfElement(at * elements + i));
      return {
        y: y.subarray(2 * at * elements * rx, 2 * (at + 1) * elements * rx),
        gains: g.subarray(at * matrices, (at + 1) * matrices),
        noise: n0,
        own,
      };
    },
  };
}

interface Sizes {
  grids: number;
  rows: number;
  subcarriers: number;
  layers: number;
}

/** Data elements of a grid in order, and the number of data symbols. */
function dataOrder(
  context: InputArtifact | undefined,
  metadata: JsonObject,
  { grids, rows, subcarriers, layers }: Sizes,
) {
  if (context === undefined) {
    const count = metadataNumber(metadata, "symbol_count") ?? grids * rows * subcarriers * layers;
    return { order: Int32Array.from({ length: rows * subcarriers }, (_, at) => at), count };
  }
  const { layout, dataPositions } = contextOf(context, { grids, rows, subcarriers, layers });
  return { order: dataPositions, count: layout.dataCount };
}

/** The pilots of a grid. @throws SvcError `shape_mismatch` for those of another one */
function contextOf(input: InputArtifact, { grids, rows, subcarriers, layers }: Sizes): PilotContext {
  const context = readContext(input), { layout } = context;
  if (
    layout.grids !== grids || layout.symbols !== rows || layout.subcarriers !== subcarriers || layout.ports !== layers
  ) {
    throw new SvcError("shape_mismatch", "Cannot find the data: the pilots are those of another grid", {
      hint: "Wire the pilot_context of the symbols that were sent",
    });
  }
  return context;
}
