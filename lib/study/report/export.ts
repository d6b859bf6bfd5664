/**
 * The files derived from `result.json`: tables for programs (CSV, every digit) and for readers (Markdown, LaTeX). They
 * are a pure function of the result, so a new export gives the same bytes.
 */
import { csvText, escapeMarkdown } from "../../contract/escape.ts";
import { upperFirst } from "../../contract/sentence.ts";
import { compareCodePoints } from "../../contract/json.ts";
import { recordedEstimate, recordedRate } from "../../contract/metric_metadata.ts";
import { isNumber, type JsonObject, toNumber, type Value } from "../../contract/value.ts";
import { estimateText, numberText } from "../../figure/number_text.ts";
import { differenceOf, isReplicated, ofAggregate } from "../rows/estimates.ts";
import { reportTables } from "./report_tables.ts";
import { fieldText, left, tableMarkdown, tablesLatex } from "./table.ts";
import { allRows, countsOf, incompleteMark } from "../rows/stored_rows.ts";
import type { BenchmarkResult, ResultRow } from "../pack/types.ts";

const COUNTS = "events trials unit units unit_failures".split(" ");

/**
 * The estimate of a metric of one row for readers, with its bound: a rate without events is not 0. Counts only where the
 * row recorded them.
 */
function ofRow(result: BenchmarkResult, row: ResultRow, metric: string) {
  const counts = recordedRate(row, metric), value = row.metrics[metric];
  const estimate = recordedEstimate(row, metric, toNumber(result.replication?.confidence_level ?? 0.95));
  const plain = isNumber(value) ? { mean: toNumber(value), low: null, high: null } : null;
  return {
    counts: (counts ?? {}) as JsonObject,
    bound: estimate?.bound,
    shown: estimateText(estimate ?? plain, "unicode"),
  };
}

/** One line per metric of each row, including metrics of steps. */
function* metricsCsv(result: BenchmarkResult): Generator<string> {
  const { id, version } = result.benchmark;
  const header = ["benchmark_id", "benchmark_version", "recipe_id", "recipe_label", "recipe_role", "replicate"];
  yield csvText([[...header, "run_id", "status", "metric", "value", ...COUNTS, "upper_bound", "shown"]]);
  for (const row of allRows(result)) {
    const start = [id, version, row.id, row.label, row.role, row.replicate, row.run_id, row.status];
    const metrics = Object.keys(row.metrics).sort(compareCodePoints);
    yield csvText(metrics.map((metric) => {
      const { counts, bound, shown } = ofRow(result, row, metric);
      return [...start, metric, row.metrics[metric], ...COUNTS.map((key) => counts[key]), bound, shown].map(fieldText);
    }));
  }
}

const IDENTITY = ["id", "label", "role", "method_id", "baseline_id", "replicate", "matrix_selection"] as const;

/** One line per row with the declared metrics of the pack, each as its value and as it is shown: with interval or bound. */
function* recipesCsv(result: BenchmarkResult): Generator<string> {
  const { benchmark } = result;
  const metrics = benchmark.metrics.map(({ id }) => id);
  const identity = IDENTITY.map((key) => ["id", "label", "role"].includes(key) ? `recipe_${key}` : key);
  const header = ["benchmark_id", "benchmark_version", ...identity, "recipe_name", "recipe_sha256", "run_id", "status"];
  yield csvText([[...header, ...metrics.flatMap((id) => [id, `${id} (shown)`])]]);
  for (const row of allRows(result)) {
    const line = [
      benchmark.id,
      benchmark.version,
      ...IDENTITY.map((key) => row[key]),
      row.recipe_name,
      row.recipe_sha256,
      row.run_id,
      row.status,
      ...metrics.flatMap((id) => [row.metrics[id], ofRow(result, row, id).shown]),
    ];
    yield csvText([line.map(fieldText)]);
  }
}

const AGGREGATE_COLUMNS = [
  ..."recipe_id metric n mean std min max ci_low ci_high ci_method confidence_level".split(" "),
  ..."events trials squared_sum count numerator denominator unit units unit_failures upper_bound stop_reason reason shown"
    .split(" "),
];
const COMPARISON_COLUMNS = [
  ..."candidate_id baseline_id metric pairing n mean_difference ci_low ci_high confidence_level".split(" "),
  ..."p_value p_value_holm p_method distinguishable better reason shown".split(" "),
];

const recordsCsv = (columns: string[], rows: readonly object[]) =>
  csvText([columns, ...rows.map((row) => columns.map((column) => fieldText((row as Record<string, Value>)[column])))]);

/** Identity and protocol as name and value, for the head of a report. */
export function reportFacts(result: BenchmarkResult): [name: string, value: string][] {
  const { benchmark, replication } = result;
  const { count, completed } = countsOf(result);
  const named = (value: Value | undefined) => typeof value === "string" ? value : "";
  const dataset = [named(benchmark.dataset?.id), named(benchmark.dataset?.split)].filter(Boolean).join(", ");
  const replicates = replication === null
    ? "1, with the seeds of the recipes"
    : `${replication.replicates}${
      replication.stop_metric === null ? "" : ` at most, stopped by ${replication.stop_metric}`
    }`;
  return [
    ["Result", result.result_id],
    ["Status", result.status + (result.incomplete_reason === undefined ? "" : `: ${result.incomplete_reason}`)],
    ["Benchmark", `${benchmark.id}, version ${benchmark.version}`],
    ["Tier", benchmark.benchmark_tier],
    ["Pack SHA-256", benchmark.sha256],
    ["Dataset", dataset || "–"],
    ["Task", named(benchmark.task?.id) || "–"],
    ["Rows", `${completed} of ${count} completed`],
    ["Replicates", replicates],
    ["Confidence", `${numberText(toNumber(replication?.confidence_level ?? 0.95) * 100)} %`],
    ["Created", result.created_at_utc],
    ["Completed", result.completed_at_utc ?? "–"],
  ];
}

function summary(result: BenchmarkResult, mark: string | null): string {
  const facts = { columns: [left("Field"), left("Value")], rows: reportFacts(result) };
  const sections = reportTables(result, "unicode").map((table) =>
    [`## ${table.title}\n`, tableMarkdown(table), ...table.notes.map((note) => `${escapeMarkdown(note)}.\n`)].join("\n")
  );
  const error = result.error === undefined
    ? []
    : [`Ended by ${escapeMarkdown(`${result.error.code}: ${result.error.message}`)}.\n`];
  return [
    `# ${escapeMarkdown(result.benchmark.name || result.benchmark.id)}\n`,
    ...(mark === null ? [] : [`${escapeMarkdown(upperFirst(mark))}.\n`]),
    ...error,
    tableMarkdown(facts),
    ...sections,
  ].join(
    "\n",
  );
}

/** The texts of files derived from a result, by name, in pieces. */
export type ExportFiles = Record<string, () => Iterable<string>>;

/**
 * All files derived from a result.
 * @param planned rows that the benchmark plans, for the mark of an incomplete result
 * @returns metrics.csv, recipes.csv, summary.md, summary.tex and, for several replicates, aggregates.csv and
 *   comparisons.csv; those with a line for each row come in pieces, so that memory does not grow with rows
 */
export function exportFiles(result: BenchmarkResult, planned = countsOf(result).count): ExportFiles {
  return {
    "metrics.csv": () => metricsCsv(result),
    "recipes.csv": () => recipesCsv(result),
    ...Object.fromEntries(Object.entries(summaryFiles(result, planned)).map(([name, text]) => [name, () => [text]])),
  };
}

/** The texts of all derived files; of a result with parts only those whose size does not grow with rows. */
export function exportTexts(result: BenchmarkResult, planned = countsOf(result).count): Record<string, string> {
  if (result.rows !== undefined) return summaryFiles(result, planned);
  return Object.fromEntries(
    Object.entries(exportFiles(result, planned)).map(([name, pieces]) => [name, [...pieces()].join("")]),
  );
}

function summaryFiles(result: BenchmarkResult, planned: number): Record<string, string> {
  const files: Record<string, string> = {};
  if (isReplicated(result)) {
    files["aggregates.csv"] = recordsCsv(
      AGGREGATE_COLUMNS,
      result.aggregates.map((row) => ({ ...row, shown: estimateText(ofAggregate(row), "unicode") })),
    );
    files["comparisons.csv"] = recordsCsv(
      COMPARISON_COLUMNS,
      result.comparisons.map((row) => ({ ...row, shown: estimateText(differenceOf(row), "unicode") })),
    );
  }
  files["summary.md"] = summary(result, incompleteMark(result, planned));
  // The table of all intervals is too long for print; it is in aggregates.csv.
  const printed = reportTables(result, "latex").filter(({ id }) => id !== "intervals");
  files["summary.tex"] = tablesLatex(result, printed, incompleteMark(result, planned));
  return files;
}
