/**
 * OFDM grids with pilots. The pilot context has positions int32 [port, pilot] (element l·F + k of a grid), values complex64
 * [grid, port, pilot] and data_positions int32 [data element]; the metadata ofdm_grid travels with symbols and context.
 */
import { arraysOf } from "../lib/artifact/arrays.ts";
import { metadataNumber } from "../lib/artifact/values.ts";
import { SvcError } from "../lib/contract/error.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import type { InputArtifact } from "../lib/contract/operation.ts";
import { isNumber, isObject, type JsonObject, toNumber } from "../lib/contract/value.ts";

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
  if (!positions.every(inside) || !dataPositions.every(inside) || arrays.size("grid") !== grids) {
    throw new SvcError("boundary_value_invalid", "Cannot read the pilots: they do not lie on the grids");
  }
  return { layout, positions, values, dataPositions, ports: arrays.size("port"), pilots: arrays.size("pilot") };
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
