/**
 * The files derived from `result.json`: tables for programs (CSV, every digit) and for readers (Markdown, LaTeX). They
 * are a pure function of the result, so a new export gives the same bytes.
 */
import { csvText } from "../artifact/csv.ts";
import { canonicalJson, compareCodePoints } from "../contract/json.ts";
import { toNumber, type Value } from "../contract/value.ts";
import { estimateText, numberText } from "../figure/number_text.ts";
import { differenceOf, isReplicated, ofAggregate } from "./estimates.ts";
import { latexTables } from "./latex.ts";
import { markdownTable } from "./markdown.ts";
import { reportTables } from "./report_tables.ts";
import type { BenchmarkResult, ResultRow } from "./types.ts";

/** A field of a CSV file: texts unchanged, an empty field for null, numbers with every digit. */
function field(value: Value | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : canonicalJson(value);
}

/** One line per metric of each row, including metrics of steps. */
function metricsCsv({ benchmark, recipes }: BenchmarkResult): string {
  const header = ["benchmark_id", "benchmark_version", "recipe_id", "recipe_label", "recipe_role", "replicate"];
  const lines = recipes.flatMap((row) => {
    const start = [benchmark.id, benchmark.version, row.id, row.label, row.role, row.replicate, row.run_id, row.status];
    return Object.keys(row.metrics).sort(compareCodePoints).map((id) => [...start, id, row.metrics[id]].map(field));
  });
  return csvText([[...header, "run_id", "status", "metric", "value"], ...lines]);
}

const IDENTITY = ["id", "label", "role", "method_id", "baseline_id", "replicate", "matrix_selection"] as const;

/** One line per row with the declared metrics of the pack. */
function recipesCsv({ benchmark, recipes }: BenchmarkResult): string {
  const metrics = benchmark.metrics.map(({ id }) => id);
  const line = (row: ResultRow) =>
    [
      benchmark.id,
      benchmark.version,
      ...IDENTITY.map((key) => row[key]),
      row.recipe_name,
      row.recipe_sha256,
      row.run_id,
      row.status,
      ...metrics.map((id) => row.metrics[id]),
    ].map(field);
  const identity = IDENTITY.map((key) => ["id", "label", "role"].includes(key) ? `recipe_${key}` : key);
  const header = ["benchmark_id", "benchmark_version", ...identity, "recipe_name", "recipe_sha256", "run_id", "status"];
  return csvText([[...header, ...metrics], ...recipes.map(line)]);
}

const AGGREGATE_COLUMNS = [
  ..."recipe_id metric n mean std min max ci_low ci_high ci_method confidence_level".split(" "),
  ..."events trials unit units unit_failures upper_bound stop_reason shown".split(" "),
];
const COMPARISON_COLUMNS = [
  ..."candidate_id baseline_id metric pairing n mean_difference ci_low ci_high confidence_level".split(" "),
  ..."p_value p_value_holm p_method distinguishable better shown".split(" "),
];

const recordsCsv = (columns: string[], rows: readonly object[]) =>
  csvText([columns, ...rows.map((row) => columns.map((column) => field((row as Record<string, Value>)[column])))]);

/** Identity and protocol as name and value, for the head of a report. */
export function reportFacts(result: BenchmarkResult): [name: string, value: string][] {
  const { benchmark, replication } = result;
  const completed = result.recipes.filter(({ status }) => status === "completed").length;
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
    ["Rows", `${completed} of ${result.recipes.length} completed`],
    ["Replicates", replicates],
    ["Confidence", `${numberText(toNumber(replication?.confidence_level ?? 0.95) * 100)} %`],
    ["Created", result.created_at_utc],
    ["Completed", result.completed_at_utc ?? "–"],
  ];
}

function summary(result: BenchmarkResult): string {
  const facts = {
    columns: [{ title: "Field", unit: "", align: "left" as const }, {
      title: "Value",
      unit: "",
      align: "left" as const,
    }],
    rows: reportFacts(result),
  };
  const sections = reportTables(result, "unicode").map((table) =>
    [`## ${table.title}\n`, markdownTable(table), ...table.notes.map((note) => `${note}.\n`)].join("\n")
  );
  const error = result.error === undefined ? [] : [`Ended by \`${result.error.code}\`: ${result.error.message}.\n`];
  return [`# ${result.benchmark.name || result.benchmark.id}\n`, ...error, markdownTable(facts), ...sections].join(
    "\n",
  );
}

/**
 * All files derived from a result.
 * @returns texts by file name: metrics.csv, recipes.csv, summary.md, summary.tex and, for several replicates,
 *   aggregates.csv and comparisons.csv
 */
export function exportResult(result: BenchmarkResult): Record<string, string> {
  const files: Record<string, string> = {
    "metrics.csv": metricsCsv(result),
    "recipes.csv": recipesCsv(result),
  };
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
  files["summary.md"] = summary(result);
  // The table of all intervals is too long for print; it is in aggregates.csv.
  const printed = reportTables(result, "latex").filter(({ id }) => id !== "intervals");
  files["summary.tex"] = latexTables(result, printed);
  return files;
}
