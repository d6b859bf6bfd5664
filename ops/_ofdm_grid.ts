/**
 * OFDM grids with pilots. The pilot context has positions int32 [port, pilot] (element l·F + k of a grid), values complex64
 * [grid, port, pilot] and data_positions int32 [data element], with phase-tracking pilots also phase_positions int32 [pilot],
 * phase_values complex64 [grid, pilot] and, of several ports, phase_ports int32 [pilot]; the metadata ofdm_grid travels with symbols and context.
 */
import { arraysOf } from "../lib/artifact/arrays.ts";
import { metadataNumber, symbolsOf } from "../lib/artifact/values.ts";
import { type InputArtifact, isNumber, isObject, type JsonObject, SvcError, toNumber } from "./api.ts";
import { artifactKind } from "../lib/contract/kinds.ts";

export const PILOT_CONTEXT = artifactKind("channel.ofdm_pilot_context.numpy", {});
export const CHANNEL_ESTIMATE = artifactKind("channel.ofdm_channel_estimate.numpy", {
  noise_variance: "number",
  method: "text",
});

/** Metadata with the layout of a stream of grids. */
export const GRID_KEY = "ofdm_grid";

export interface GridLayout {
  readonly subcarriers: number;
  readonly symbols: number;
  readonly grids: number;
  /** Ports, each a layer of the stream; symbols of one resource element follow each other. */
  readonly ports: number;
  /** Data symbols of the stream, without padding. */
  readonly dataCount: number;
}

export const describeGrid = ({ subcarriers, symbols, grids, ports, dataCount }: GridLayout, padding: number) => ({
  subcarriers,
  num_ofdm_symbols: symbols,
  grids,
  port_count: ports,
  data_count: dataCount,
  padding_symbols: padding,
});

/** The layout in metadata, or undefined without one. @throws SvcError `boundary_value_invalid` for an unreadable one */
export function gridLayout(metadata: JsonObject): GridLayout | undefined {
  const record = metadata[GRID_KEY];
  if (record === undefined) return undefined;
  const read = (key: string): number => {
    const value = isObject(record) ? record[key] : undefined;
    if (isNumber(value) && Number.isSafeInteger(toNumber(value)) && toNumber(value) >= 0) return toNumber(value);
    throw new SvcError("boundary_value_invalid", `Cannot read the OFDM grid: ${GRID_KEY}.${key} is not a count`);
  };
  return {
    subcarriers: read("subcarriers"),
    symbols: read("num_ofdm_symbols"),
    grids: read("grids"),
    ports: read("port_count"),
    dataCount: read("data_count"),
  };
}

/** The pilots of a context, checked. */
export function readContext(context: InputArtifact) {
  const arrays = arraysOf(context), layout = gridLayout(context.metadata);
  if (layout === undefined) {
    throw new SvcError("input_metadata_missing", `Cannot read the pilots: the metadata ${GRID_KEY} is missing`);
  }
  const positions = arrays.read("int32", ["port", "pilot"]);
  const values = arrays.read("complex64", ["grid", "port", "pilot"], "values");
  const dataPositions = arrays.read("int32", ["data"], "data_positions");
  const { subcarriers, symbols, grids } = layout, elements = subcarriers * symbols;
  const inside = (index: number) => index >= 0 && index < elements;
  const tracked = context.arrayNames.includes("phase_positions");
  const phasePositions = tracked ? arrays.read("int32", ["phase_pilot"], "phase_positions") : new Int32Array();
  const phaseValues = tracked ? arrays.read("complex64", ["grid", "phase_pilot"], "phase_values") : new Float32Array();
  const phasePorts = context.arrayNames.includes("phase_ports")
    ? arrays.read("int32", ["phase_pilot"], "phase_ports")
    : new Int32Array(phasePositions.length);
  if (
    !phasePorts.every((port) => port >= 0 && port < arrays.size("port")) || !phasePositions.every(inside) ||
    !positions.every(inside) || !dataPositions.every(inside) ||
    arrays.size("grid") !== grids
  ) {
    throw new SvcError("boundary_value_invalid", "Cannot read the pilots: they do not lie on the grids");
  }
  const sizes = { ports: arrays.size("port"), pilots: arrays.size("pilot") };
  return { layout, positions, values, dataPositions, phasePositions, phaseValues, phasePorts, ...sizes };
}

export type PilotContext = ReturnType<typeof readContext>;

/** Received grids, interleaved [grid, symbol, subcarrier, rx]. */
export interface Received {
  y: Float32Array;
  readonly rx: number;
  /** Number of the first grid of `y`, where grids arrive in blocks; default 0. */
  first?: number;
}

/** Whether blocks of an input have complex64 elements; the whole array of another one is refused with its error. */
export const isComplex = ({ metadata: { dtype } }: InputArtifact): boolean => dtype === "complex64";

/** The grids of a stream of one antenna, or of several antennas. */
export function receivedGrid(input: InputArtifact, layout: GridLayout): Received {
  if (input.kind === MIMO_RX_GRID.id) {
    const arrays = arraysOf(input);
    const y = arrays.read("complex64", [layout.grids, layout.symbols, layout.subcarriers, "rx"]);
    return { y, rx: arrays.size("rx") };
  }
  const y = symbolsOf(input);
  checkGridLength(y.length / 2, { ...layout, ports: 1 });
  return { y, rx: 1 };
}

/** @throws SvcError `params_conflict` for pilots of several ports, which share subcarriers */
export function onePort(context: PilotContext): PilotContext {
  if (context.ports === 1) return context;
  throw new SvcError(
    "params_conflict",
    `Cannot give the pilots of ${context.ports} ports to a channel estimator slot`,
    { hint: "Set port_count of modulation.ofdm_pilot_insert to 1, or estimate by least_squares or lmmse" },
  );
}

/**
 * The least-squares values of a port on each OFDM symbol with pilots. Two ports of a CDM group take the mean over a pair of
 * pilots, which needs equal gains on both.
 */
export function pilotRows(context: PilotContext, port: number, received: Received) {
  const { layout: { subcarriers, symbols }, positions, values, ports, pilots } = context,
    elements = symbols * subcarriers;
  const own = Array.from(positions.subarray(port * pilots, (port + 1) * pilots));
  // Ports at the same positions share a CDM group.
  const paired = Array.from({ length: ports }, (_, other) => other).some((other) =>
    other !== port && own.every((position, p) => positions[other * pilots + p] === position)
  );
  const step = paired ? 2 : 1, symbolOf = (p: number) => Math.floor(own[p] / subcarriers);
  const times = [...new Set(own.map((_, p) => symbolOf(p)))].sort((a, b) => a - b);
  const rows = times.map((time) => {
    const members = own.flatMap((_, p) => symbolOf(p) === time ? [p] : []);
    const places = Array.from({ length: Math.floor(members.length / step) }, (_, i) => {
      const group = members.slice(i * step, (i + 1) * step);
      return group.reduce((sum, p) => sum + own[p] % subcarriers, 0) / step;
    });
    return { time, members, places };
  });
  const power = pilots === 0 ? 1 : values[2 * port * pilots] ** 2 + values[2 * port * pilots + 1] ** 2;
  return {
    rows,
    /** Variance of the noise of a value over N0. */
    scale: 1 / power / step,
    /** Values of a row at its places, interleaved. */
    raw(grid: number, row: number, antenna: number): Float64Array {
      const { members, places } = rows[row], raw = new Float64Array(2 * places.length);
      const { y, rx, first = 0 } = received;
      for (let i = 0; i < places.length * step; i++) {
        const p = members[i], at = 2 * (((grid - first) * elements + own[p]) * rx + antenna);
        const v = 2 * ((grid * ports + port) * pilots + p), to = 2 * Math.floor(i / step);
        const vr = values[v], vi = values[v + 1], scale = 1 / (step * (vr * vr + vi * vi));
        raw[to] += scale * (y[at] * vr + y[at + 1] * vi);
        raw[to + 1] += scale * (y[at + 1] * vr - y[at] * vi);
      }
      return raw;
    },
  };
}

/** N0 of received symbols or grids. @throws SvcError `input_metadata_missing` without one */
export function noiseOf({ metadata }: InputArtifact): number {
  const noise = metadataNumber(metadata, "noise_variance");
  if (noise !== undefined && noise >= 0) return noise;
  throw new SvcError("input_metadata_missing", "Cannot estimate or equalise: the metadata noise_variance is missing", {
    hint: "wireless.channel writes it",
  });
}

/** @throws SvcError `shape_mismatch` for a stream that does not fill the grids */
export function checkGridLength(symbols: number, { grids, symbols: rows, subcarriers, ports }: GridLayout): void {
  const expected = grids * rows * subcarriers * ports;
  if (symbols === expected) return;
  throw new SvcError("boundary_count_mismatch", `Cannot cut ${symbols} symbols into grids: ${expected} are expected`);
}

export const MIMO_RX_GRID = artifactKind("channel.mimo_rx_grid.numpy", {
  noise_variance: "number",
  layers: "count",
  rx_antennas: "count",
  symbol_count: "count",
  ofdm_fft_size: "count",
  num_ofdm_symbols: "count",
});
export const MIMO_STATE = artifactKind("channel.mimo_channel_state.numpy", {
  noise_variance: "number",
  layers: "count",
  rx_antennas: "count",
});
