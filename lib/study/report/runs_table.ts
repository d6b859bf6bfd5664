/** A table of runs: a row per run with its changed parameters and its metrics, each with interval or bound. */
import { csvText } from "../../contract/escape.ts";
import { SvcError } from "../../contract/error.ts";
import { nearestName } from "../../contract/nearest.ts";
import { float, isNumber, isObject, type JsonObject, toNumber, type Value } from "../../contract/value.ts";
import type { NumberForm, ShownEstimate } from "../../figure/number_text.ts";
import { unitText } from "../../figure/unit_text.ts";
import type { NoEvent, StatisticalUnit } from "../../numeric/scores/rate_interval.ts";
import type { RunRow } from "../../run/store.ts";
import { coordinatesOf, type Estimate, estimateOf, metricFacts } from "../rows/estimates.ts";
import { chosenRecipes } from "./figure/groups.ts";
import type { RunsResult } from "./runs_result.ts";
import {
  estimateCell,
  fieldText,
  left,
  type ReportTable,
  right,
  tableMarkdown,
  tablesLatex,
  valueCell,
} from "./table.ts";
import type { BenchmarkResult, ResultRow } from "../pack/types.ts";

export interface RunsTableRow extends JsonObject {
  run_id: string;
  recipe_name: string | null;
  /** Name of the recipe whose matrix made the run; else that of its recipe. */
  family: string;
  status: RunRow["status"];
  created_at_utc: string | null;
  /** Matrix point, and parameters in which the runs differ. */
  coordinates: JsonObject;
  /** By metric: `{mean, ci_low, ci_high, upper_bound, ci_method, unit, no_event}`, null where there is none. */
  metrics: { [id: string]: JsonObject };
}

export interface RunsTable extends JsonObject {
  schema_version: 1;
  coordinates: string[];
  metrics: { id: string; unit: string }[];
  rows: RunsTableRow[];
}

/**
 * The table of runs that are recipes of their own in a result.
 * @param metrics asked for; default those of the task
 * @param where only runs with these values of a coordinate, a step parameter or a metric
 * @throws SvcError `usage_invalid` for a metric that no run has, or without a run
 */
export function runsTable(
  { result }: Pick<RunsResult, "result">,
  runs: readonly RunRow[],
  { metrics, where = {} }: { metrics?: readonly string[]; where?: Readonly<Record<string, string>> } = {},
): RunsTable {
  const chosen = Object.keys(where).length === 0 ? result.recipes : chosenRecipes(result, { where });
  const ids = metricsOf(result, metrics);
  const byId = new Map(runs.map((row) => [row.run_id, row]));
  return {
    schema_version: 1,
    coordinates: coordinatesOf({ ...result, recipes: chosen }),
    metrics: ids.map((id) => ({ id, unit: metricFacts(result, id.replace(/^steps\.[^.]+\./, "")).unit })),
    rows: chosen.map((row) => {
      const { status, created_at_utc, recipe_name } = byId.get(row.id)!;
      const estimates = ids.map((id) => [id, estimateOf(result, row.id, id)] as const);
      return {
        run_id: row.id,
        recipe_name,
        family: row.method_id!,
        status,
        created_at_utc,
        coordinates: row.matrix_selection,
        metrics: Object.fromEntries(
          estimates.flatMap(([id, estimate]) => estimate === null ? [] : [[id, record(estimate, row, id)]]),
        ),
      };
    }),
  };
}

/** Asked metrics; one that several steps give is asked by the names `steps.<step>.<metric>`. */
function metricsOf(result: BenchmarkResult, asked: readonly string[] | undefined): string[] {
  const there = [
    ...new Set(
      result.recipes.filter(({ status }) => status === "completed").flatMap(({ metrics }) => Object.keys(metrics)),
    ),
  ];
  return (asked ?? result.benchmark.metrics.map(({ id }) => id)).flatMap((id) => {
    if (there.includes(id)) return [id];
    const bySteps = there.filter((name) => name.startsWith("steps.") && name.replace(/^steps\.[^.]+\./, "") === id);
    if (bySteps.length > 0 || asked === undefined) return bySteps;
    const near = nearestName(id, there);
    throw new SvcError("usage_invalid", `Cannot show ${id}: no run has it`, {
      hint: near === null
        ? `There are ${there.filter((name) => !name.startsWith("steps.")).join(", ")}`
        : `Did you mean ${near}?`,
    });
  });
}

function record(
  { mean, low, high, bound, none, method, unit }: Estimate,
  { metrics }: ResultRow,
  id: string,
): JsonObject {
  const number = (value: number | null | undefined) => value === null || value === undefined ? null : float(value);
  // A count stays a whole number.
  const value = metrics[id];
  const exact = mean === toNumber(value) ? value : number(mean);
  return {
    mean: exact,
    ci_low: number(low),
    ci_high: number(high),
    upper_bound: number(bound),
    ci_method: low === null && bound === undefined ? null : method,
    unit: unit ?? null,
    ...(none === undefined
      ? {}
      : { no_event: { ...none, bound: float(none.bound), confidence: float(none.confidence) } }),
  };
}

const estimateIn = (cell: JsonObject | undefined): ShownEstimate | null => {
  if (cell === undefined) return null;
  const read = (value: Value) => isNumber(value) ? toNumber(value) : null;
  const bound = read(cell.upper_bound);
  return {
    mean: read(cell.mean),
    low: read(cell.ci_low),
    high: read(cell.ci_high),
    ...(bound === null ? {} : { bound }),
    ...(isObject(cell.no_event) ? { none: noEventIn(cell.no_event) } : {}),
  };
};

const noEventIn = ({ unit, units, bound, complement, confidence }: JsonObject): NoEvent => ({
  unit: unit as StatisticalUnit,
  units: toNumber(units as number),
  bound: toNumber(bound as number),
  complement: complement === true,
  confidence: toNumber(confidence as number),
});

/** CSV has every digit; a rate or mean with an interval has the columns `.ci_low`, `.ci_high` and `.upper_bound`. */
export function runsTableCsv({ coordinates, metrics, rows }: RunsTable): string {
  const parts = metrics.map(({ id }) => {
    const measured = rows.some(({ metrics }) => metrics[id] !== undefined && metrics[id].ci_method !== null);
    return { id, members: measured ? ["mean", "ci_low", "ci_high", "upper_bound"] : ["mean"] };
  });
  const title = (id: string, member: string) => member === "mean" ? id : `${id}.${member}`;
  return csvText([
    [
      ...["run_id", "recipe_name", "status", "created_at_utc"],
      ...coordinates,
      ...parts.flatMap(({ id, members }) => members.map((member) => title(id, member))),
    ],
    ...rows.map((row) => [
      ...[row.run_id, row.recipe_name, row.status, row.created_at_utc].map(fieldText),
      ...coordinates.map((name) => fieldText(row.coordinates[name])),
      ...parts.flatMap(({ id, members }) => members.map((member) => fieldText(row.metrics[id]?.[member]))),
    ]),
  ]);
}

/** The table for readers: values rounded to their intervals. */
export function runsReport({ coordinates, metrics, rows }: RunsTable, form: NumberForm): ReportTable {
  const failed = rows.some(({ status }) => status !== "completed");
  const numeric = (name: string) => rows.every(({ coordinates: at }) => isNumber(at[name] ?? 0));
  return {
    id: "results",
    title: "Runs",
    columns: [
      left("run"),
      ...(failed ? [left("status")] : []),
      ...coordinates.map((name) => numeric(name) ? right(name) : left(name)),
      ...metrics.map(({ id, unit }) => right(id, unitText(unit))),
    ],
    rows: rows.map((row) => [
      row.run_id,
      ...(failed ? [row.status] : []),
      ...coordinates.map((name) => valueCell(row.coordinates[name], form) || "–"),
      ...metrics.map(({ id }) => estimateCell(estimateIn(row.metrics[id]), form)),
    ]),
    notes: [],
  };
}

/** The table as Markdown or LaTeX (booktabs). */
export function runsTableText(table: RunsTable, format: "md" | "tex"): string {
  const report = runsReport(table, format === "md" ? "unicode" : "latex");
  const names = [...new Set(table.rows.map(({ family }) => family))].join(", ");
  const source = { result_id: `runs of ${names}`, benchmark: { id: names, version: "" } };
  return format === "md" ? tableMarkdown(report) : tablesLatex(source, [report]);
}
