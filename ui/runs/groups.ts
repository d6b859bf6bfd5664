/** The rows of the list: runs by themselves, and one row for the variants of a sweep. */
import { metricOf, type RunRow, secondsOf } from "./filter.ts";
import { isVariantId, shownName } from "./run_name.ts";

/** The runs of one sweep, newest first. */
export interface Sweep {
  family: string;
  runs: readonly RunRow[];
}

/** A row; `variant` is the name of a run in its open sweep. */
type Listed = { sweep: Sweep; open: boolean } | { run: RunRow; variant?: string };

const MARK = "__";

/** The recipe whose matrix made a run, or null. */
const familyOf = ({ recipe_name: name, matrix_recipe: recipe }: RunRow): string | null =>
  recipe ?? (name?.includes(MARK) ? name.slice(0, name.indexOf(MARK)) : null);

/** The name that is shown of a run in a list. */
export const nameOf = ({ recipe_name, run_id, matrix_recipe, changed }: RunRow): string =>
  recipe_name == null ? run_id : shownName(recipe_name, matrix_recipe, changed);

/** The dimensions of a variant in its name: `snr_db 6.0`. */
const partsOf = (run: RunRow): string[] =>
  isVariantId(run.recipe_name ?? "")
    ? Object.entries(run.changed ?? {}).map(([name, value]) => `${name} ${value}`)
    : (run.recipe_name ?? "").split(MARK).slice(1).map((part) => part.replace(/_(?=[^_]*$)/, " "));

/** Rows in their order, each sweep in the place of its first run. @param open families whose variants are shown */
export function listed(rows: readonly RunRow[], open: ReadonlySet<string>): Listed[] {
  const families = new Map<string, RunRow[]>();
  for (const row of rows) {
    const family = familyOf(row);
    if (family !== null) families.set(family, [...families.get(family) ?? [], row]);
  }
  const seen = new Set<string>();
  return rows.flatMap((run): Listed[] => {
    const family = familyOf(run), runs = families.get(family ?? "") ?? [];
    if (family === null || runs.length < 2) return [{ run }];
    if (seen.has(family)) return [];
    seen.add(family);
    const shown = open.has(family);
    return [
      { sweep: { family, runs }, open: shown },
      ...(shown ? runs.map((run) => ({ run, variant: partsOf(run).join(", ") || nameOf(run) })) : []),
    ];
  });
}

/** The duration that places a row in a sorted list: that of its whole sweep, as the list shows it. */
export function durationsOf(rows: readonly RunRow[]): (row: RunRow) => number | null {
  const groups = Map.groupBy(rows, familyOf);
  const sums = new Map([...groups].map(([family, runs]) => [family, runs.length < 2 ? null : sumOf(runs, secondsOf)]));
  return (row) => familyOf(row) === null ? secondsOf(row) : sums.get(familyOf(row)) ?? secondsOf(row);
}

/** The state of a sweep: that of a run that needs attention, else that of all. */
export const stateOf = ({ runs }: Sweep): RunRow["status"] =>
  (["running", "failed", "incomplete", "canceled"] as const).find((state) =>
    runs.some(({ status }) => status === state)
  ) ??
    runs[0].status;

export const sumOf = (runs: readonly RunRow[], of: (run: RunRow) => number | null | undefined): number =>
  runs.reduce((sum, run) => sum + (of(run) ?? 0), 0);

export const secondsOfSweep = ({ runs }: Sweep): number => sumOf(runs, secondsOf);

/**
 * The curves of a sweep for a line of text: values over the last dimension, a curve for each combination of the others.
 * Values of several decades are logarithms. The newest run of a variant counts.
 *
 * @returns points in 0 … 1, y upwards
 */
export function sparkline({ runs }: Sweep, metric: string): [x: number, y: number][][] {
  const curves = new Map<string, Map<number, number>>();
  // Neither the newest run of a variant nor the colours of curves depend on the order of the list.
  const oldestFirst = runs.toSorted((a, b) => a.run_id < b.run_id ? -1 : a.run_id > b.run_id ? 1 : 0);
  for (const [at, run] of oldestFirst.entries()) {
    const value = run.status === "completed" ? metricOf(run.metrics ?? {}, metric) : null, parts = partsOf(run);
    const x = Number(/ (\S+)$/.exec(parts.at(-1) ?? "")?.[1] ?? at), name = parts.slice(0, -1).join();
    if (value !== null) curves.set(name, (curves.get(name) ?? new Map()).set(Number.isNaN(x) ? at : x, value));
  }
  const values = [...curves.values()].flatMap((curve) => [...curve.values()]),
    positive = values.filter((value) => value > 0);
  const least = Math.min(...positive),
    log = positive.length > 1 && Math.min(...values) >= 0 && Math.max(...values) / least > 30;
  const heightOf = (value: number) => log ? Math.log(Math.max(value, least / 3)) : value;
  const shareOf = (numbers: number[]) => {
    const low = Math.min(...numbers), high = Math.max(...numbers);
    return (number: number) => high === low ? 0.5 : (number - low) / (high - low);
  };
  const across = shareOf([...curves.values()].flatMap((curve) => [...curve.keys()])),
    up = shareOf(values.map(heightOf));
  return [...curves].sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).map(([, curve]) =>
    [...curve].sort(([a], [b]) => a - b).map(([x, value]) => [across(x), up(heightOf(value))])
  );
}
