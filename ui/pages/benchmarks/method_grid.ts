/** The values of a metric by method along Es/N0, and the gain in dB of each method over the baseline at a target value. */
import { isNumber, type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { crossingOf, type CurvePoint } from "../../../lib/numeric/scores/crossing.ts";
import type { Reply } from "../../api.ts";

export type Result = Reply<"/api/benchmarks/results/:result_id">;
export type Row = Result["recipes"][number];
export type Aggregate = Result["aggregates"][number];
type Comparison = Result["comparisons"][number];

/** A channel condition among the coordinates of a result. */
const SNR = /(^|[._])(snr|esn0|ebn0)(_db)?$/;

/** What places a recipe in the grid. */
export type Placed = Pick<Row, "id" | "label" | "role" | "method_id" | "baseline_id" | "recipe_path"> & {
  matrix_selection: JsonObject | null;
};

export interface Method<Of extends Placed = Row> {
  name: string;
  isBaseline: boolean;
  /** Its recipes by Es/N0 in dB. */
  points: ReadonlyMap<number, Of>;
}

export interface MethodGrid<Of extends Placed = Row> {
  /** The coordinate along the rows. */
  coordinate: string;
  places: readonly number[];
  methods: readonly Method<Of>[];
}

/** One row per recipe of a pack, whatever the number of its replicates. */
export const entriesOf = <Of extends Placed>(
  rows: readonly Of[],
): Of[] => [...new Map(rows.map((row) => [row.id, row])).values()];

/** The methods of a result along its channel condition; null where it has none, or one place alone. */
export function methodGrid<Of extends Placed>({ recipes }: { recipes: readonly Of[] }): MethodGrid<Of> | null {
  const rows = entriesOf(recipes);
  const coordinate = Object.keys(rows[0]?.matrix_selection ?? {}).find((name) => SNR.test(name));
  if (coordinate === undefined) return null;
  const methods = new Map<string, { name: string; isBaseline: boolean; points: Map<number, Of> }>();
  for (const row of rows) {
    const { [coordinate]: place, ...others } = row.matrix_selection ?? {};
    if (!isNumber(place)) return null;
    const key = canonicalJson([row.method_id ?? row.baseline_id ?? row.recipe_path, others]);
    const name = row.label.split(", ").filter((part) => !part.startsWith(`${coordinate}=`)).join(", ");
    const known = methods.get(key) ?? { name: name || row.id.split("@")[0], isBaseline: false, points: new Map() };
    known.isBaseline ||= row.role === "baseline";
    methods.set(key, known);
    known.points.set(toNumber(place), row);
  }
  const places = [...new Set([...methods.values()].flatMap(({ points }) => [...points.keys()]))].sort((a, b) => a - b);
  return places.length < 2 ? null : { coordinate, places, methods: [...methods.values()] };
}

/** The first aggregate of a recipe and a metric, which is the one that is shown. */
export const aggregateOf = ({ aggregates }: Pick<Result, "aggregates">, recipe: string, metric: string) =>
  aggregates.find((row) => row.recipe_id === recipe && row.metric === metric);

/** The comparison of a metric between two recipes, in either order. */
export const comparisonOf = (
  { comparisons }: Pick<Result, "comparisons">,
  candidate: string | undefined,
  metric: string,
): Comparison | undefined => comparisons.find((row) => row.candidate_id === candidate && row.metric === metric);

/** Horizontal axes of a gain: the coordinate itself, and Eb/N0 where the runs count their bits. */
const AXES = { "Es/N0": null, "Eb/N0": "channel.ebn0_db" } as const;
export type Axis = keyof typeof AXES;

/** The measured curve of a method over an axis. */
function curveOf(
  result: Pick<Result, "aggregates">,
  { points }: Method,
  metric: string,
  axis: Axis,
): CurvePoint[] {
  return [...points].flatMap(([place, row]): CurvePoint[] => {
    const id = AXES[axis], x = id === null ? place : row.metrics[id];
    const aggregate = aggregateOf(result, row.id, metric);
    const y = aggregate === undefined ? row.metrics[metric] : aggregate.mean;
    return isNumber(x) && isNumber(y) ? [[toNumber(x), toNumber(y)]] : [];
  });
}

/** Rates of one digit down to 1e-9: decades first, then 2 and 5, the smallest value before larger ones. */
const TARGETS = [1, 2, 5, 3, 4, 6, 7, 8, 9].flatMap((digit) =>
  Array.from({ length: 9 }, (_, at) => Number(`${digit}e${at - 9}`))
);

/** Target rates that the curves of the baseline and of another method reach, the first of which is the default. */
export function targetsOf(result: Pick<Result, "aggregates">, { methods }: MethodGrid, metric: string): number[] {
  const reached = (target: number, own: boolean) =>
    methods.filter(({ isBaseline }) => isBaseline === own)
      .some((method) => crossingOf(curveOf(result, method, metric, "Es/N0"), target, true) !== null);
  return TARGETS.filter((target) => reached(target, true) && reached(target, false));
}

/** By how many dB less a method than the baseline reaches a target rate; null where one of both does not. */
export function gainOf(
  result: Pick<Result, "aggregates">,
  { methods }: MethodGrid,
  method: Method,
  { metric, axis, target }: { metric: string; axis: Axis; target: number },
): number | null {
  const baseline = methods.find(({ isBaseline }) => isBaseline);
  const [reference, own] = [baseline, method].map((one) =>
    one === undefined ? null : crossingOf(curveOf(result, one, metric, axis), target, true)
  );
  return reference === null || own === null ? null : reference - own;
}
