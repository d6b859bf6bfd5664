/**
 * The LDPC codes of TS 38.212 section 5.3.2: two base graphs, 51 lifting sizes Z. An entry (row, column, shift V) of a base
 * graph stands for the Z x Z identity rotated right by V mod Z: check i of its row includes bit (i + V) mod Z of its column.
 */
import tables from "./base_graphs.json" with { type: "json" };

export type BaseGraph = 1 | 2;

/** One rotated identity of a row. */
export interface Circulant {
  readonly column: number;
  /** 0 … Z - 1 */
  readonly shift: number;
}

/** A base graph lifted to one size. */
export interface LiftedCode {
  readonly baseGraph: BaseGraph;
  readonly liftingSize: number;
  /** 22 or 10; their first two are never sent. */
  readonly informationColumns: number;
  readonly columns: number;
  /** Entries of each row by ascending column. */
  readonly rows: readonly (readonly Circulant[])[];
}

/** Information columns that are never sent. */
export const PUNCTURED_COLUMNS = 2;

/** Rows that determine the first four parity columns; every further row adds a parity column of its own. */
export const CORE_ROWS = 4;

/** All lifting sizes, ascending. */
export const LIFTING_SIZES: readonly number[] = tables.lifting_sizes.flat().sort((a, b) => a - b);

const GRAPHS = { 1: tables.base_graph_1, 2: tables.base_graph_2 };

/** Information columns K/Z of a base graph. */
export const INFORMATION_COLUMNS: Readonly<Record<BaseGraph, number>> = { 1: 22, 2: 10 };

const lifted = new Map<string, LiftedCode>();

/** The code of a base graph and a lifting size. @throws RangeError when the standard has no such lifting size */
export function liftedCode(baseGraph: BaseGraph, liftingSize: number): LiftedCode {
  const key = `${baseGraph}/${liftingSize}`;
  let code = lifted.get(key);
  if (code === undefined) lifted.set(key, code = lift(baseGraph, liftingSize));
  return code;
}

function lift(baseGraph: BaseGraph, liftingSize: number): LiftedCode {
  const set = tables.lifting_sizes.findIndex((sizes) => sizes.includes(liftingSize));
  if (set < 0) throw new RangeError(`Cannot lift a base graph by ${liftingSize}: the standard has no such size`);
  const graph = GRAPHS[baseGraph], informationColumns = INFORMATION_COLUMNS[baseGraph];
  return {
    baseGraph,
    liftingSize,
    informationColumns,
    columns: informationColumns + graph.length,
    rows: graph.map((row) => row.map(([column, ...shifts]) => ({ column, shift: shifts[set] % liftingSize }))),
  };
}
