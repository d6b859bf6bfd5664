/** The tables of a benchmark for readers; Markdown, LaTeX and HTML are three ways to write the same ones. */
import { bracketsText, type NumberForm, numberText, plusMinusText } from "../figure/number_text.ts";
import { unitText } from "../figure/unit_text.ts";
import { isNumber, toNumber, type Value } from "../contract/value.ts";
import { type Estimate, estimateOf, isReplicated, metricFacts, recipesOf } from "./estimates.ts";
import type { BenchmarkResult, Measure } from "./types.ts";

/** A text that a writer escapes, or one that is already in the language of the form. */
export type Cell = string | { readonly written: string };

export interface ReportColumn {
  title: string;
  /** Under the title; empty for none. */
  unit: string;
  align: "left" | "right";
}

export interface ReportTable {
  id: "results" | "intervals" | "comparisons" | "not_completed";
  title: string;
  columns: ReportColumn[];
  rows: Cell[][];
  /** What a reader has to know to read it. */
  notes: string[];
}

const left = (title: string, unit = ""): ReportColumn => ({ title, unit, align: "left" });
const right = (title: string, unit = ""): ReportColumn => ({ title, unit, align: "right" });

/** The value with its interval, or the bound of a rate that showed no event. */
function estimateText(estimate: Estimate | null, form: NumberForm): string {
  if (estimate === null) return "–";
  const { mean, low, high, method, upperBound } = estimate;
  if (upperBound !== undefined) {
    const bound = numberText(upperBound, form, 2);
    return form === "latex" ? `$\\le$ ${bound}` : `${form === "plain" ? "<=" : "≤"} ${bound}`;
  }
  if (mean === null || low === null || high === null || method === null) return numberText(mean, form);
  if (method === "student_t") return plusMinusText(mean, (high - low) / 2, form);
  return bracketsText(mean, low, high, form);
}

/** A coordinate or another value of a document. */
function valueText(value: Value | undefined, form: NumberForm): Cell {
  if (value === undefined || value === null) return "–";
  if (isNumber(value)) return { written: numberText(toNumber(value), form) };
  return typeof value === "string" ? value : JSON.stringify(value);
}

const measure = (value: Measure | null | undefined, form: NumberForm, digits?: number): Cell => ({
  written: numberText(value === null || value === undefined ? null : toNumber(value), form, digits),
});

/** Coordinates that the recipes of a result differ in, in the order they first appear. */
export function coordinatesOf(result: BenchmarkResult): string[] {
  const names = new Set(result.recipes.flatMap((row) => Object.keys(row.matrix_selection ?? {})));
  return [...names];
}

function results(result: BenchmarkResult, form: NumberForm): ReportTable {
  const coordinates = coordinatesOf(result);
  const metrics = result.benchmark.metrics.map(({ id }) => metricFacts(result, id));
  const numeric = (name: string) => result.recipes.every(({ matrix_selection: at }) => isNumber(at?.[name] ?? 0));
  const rows = recipesOf(result).map((recipe) => [
    recipe.label,
    recipe.role,
    ...coordinates.map((name) => valueText(recipe.matrix_selection?.[name], form)),
    ...metrics.map(({ id }): Cell => ({ written: estimateText(estimateOf(result, recipe.id, id), form) })),
  ]);
  const silent = result.aggregates.some((row) => row.upper_bound !== undefined) ||
    recipesOf(result).some(({ id }) => metrics.some((metric) => estimateOf(result, id, metric.id)?.upperBound));
  const confidence = numberText(toNumber(result.replication?.confidence_level ?? 0.95) * 100);
  return {
    id: "results",
    title: "Results",
    columns: [
      left("Recipe"),
      left("Role"),
      ...coordinates.map((name) => numeric(name) ? right(name) : left(name)),
      ...metrics.map(({ id, unit }) => right(id, unitText(unit))),
    ],
    rows,
    notes: [
      `Intervals at ${confidence} % confidence: brackets are Wilson's over pooled counts, ± is Student's over replicates`,
      ...(silent ? ["A rate without any event is given as its upper bound (rule of three), never as 0"] : []),
    ],
  };
}

function intervals(result: BenchmarkResult, form: NumberForm): ReportTable {
  return {
    id: "intervals",
    title: "Intervals",
    columns: [
      left("Recipe"),
      left("Metric"),
      right("n"),
      right("Mean"),
      right("Low"),
      right("High"),
      left("Interval"),
      right("Events"),
      right("Trials"),
    ],
    rows: result.aggregates.map((row) => [
      row.recipe_id,
      row.metric,
      { written: numberText(row.n, form) },
      row.upper_bound === undefined
        ? measure(row.mean, form)
        : { written: estimateText(boundOf(row.upper_bound), form) },
      measure(row.ci_low, form),
      measure(row.ci_high, form),
      row.ci_method === "wilson" ? "Wilson" : "Student t",
      measure(row.events, form),
      measure(row.trials, form),
    ]),
    notes: [],
  };
}

const boundOf = (bound: Measure): Estimate => ({
  n: 1,
  mean: null,
  low: null,
  high: null,
  method: null,
  upperBound: toNumber(bound),
});

function comparisons(result: BenchmarkResult, form: NumberForm): ReportTable {
  return {
    id: "comparisons",
    title: "Comparisons",
    columns: [
      left("Candidate"),
      left("Baseline"),
      left("Metric"),
      right("n"),
      right("Mean difference"),
      right("Low"),
      right("High"),
      right("p"),
      right("p (Holm)"),
      left("Better"),
    ],
    rows: result.comparisons.map((row) => [
      row.candidate_id,
      row.baseline_id,
      row.metric,
      { written: numberText(row.n, form) },
      measure(row.mean_difference, form),
      measure(row.ci_low, form),
      measure(row.ci_high, form),
      measure(row.p_value, form, 2),
      measure(row.p_value_holm, form, 2),
      row.better ?? "–",
    ]),
    notes: [
      "Paired differences, candidate minus baseline, over the replicates that both completed; p by exact sign flips up " +
      "to 20 pairs, else by a paired t test, corrected over all comparisons (Holm); a dash says that neither is distinguishably better",
    ],
  };
}

function notCompleted(result: BenchmarkResult): ReportTable {
  return {
    id: "not_completed",
    title: "Rows that did not complete",
    columns: [left("Recipe"), right("Replicate"), left("Status"), left("Reason")],
    rows: result.recipes.filter(({ status }) => status !== "completed").map((row) => [
      row.id,
      String(row.replicate),
      row.status,
      row.error?.message ?? row.skip_reason ?? "–",
    ]),
    notes: [],
  };
}

/**
 * The tables of a result; those that would be empty are left out.
 * @param form how numbers are written
 */
export function reportTables(result: BenchmarkResult, form: NumberForm): ReportTable[] {
  const tables = [results(result, form), comparisons(result, form), intervals(result, form), notCompleted(result)];
  return tables.filter(({ id, rows }) => rows.length > 0 && (id !== "intervals" || isReplicated(result)));
}
