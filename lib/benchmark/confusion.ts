/** The confusion matrix of a result: the counts of its reports, summed over the rows asked for. */
import { SvcError } from "../contract/error.ts";
import { isNumber, isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import type { MatrixFigure } from "../figure/types.ts";
import { completedRows } from "./estimates.ts";
import type { RowEvidence } from "./figure_of.ts";
import type { BenchmarkResult, ResultRow } from "./types.ts";

interface Confusion {
  labels: string[];
  counts: number[][];
}

/** Rows of numbers, as many as there are columns. */
function squareOf(value: Value | undefined): number[][] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const rows = value.map((row) => Array.isArray(row) && row.every(isNumber) ? (row as number[]).map(toNumber) : null);
  return rows.every((row) => row?.length === value.length) ? rows as number[][] : null;
}

/**
 * The matrix of a report: `confusion_matrix` as rows of counts, true classes down, with the names of the classes beside it
 * in `class_names`, `labels` or `classes`; or an object that holds both.
 */
export function confusionOf(report: JsonObject): Confusion | null {
  const { confusion_matrix: matrix } = report;
  const holder = isObject(matrix) ? matrix : report;
  const counts = squareOf(isObject(matrix) ? matrix.counts ?? matrix.matrix : matrix);
  if (counts === null) return null;
  const named = [holder.class_names, holder.labels, holder.classes, report.class_names, report.labels, report.classes]
    .find((names) => Array.isArray(names) && names.length === counts.length) as Value[] | undefined;
  return { labels: (named ?? counts.map((_, i) => i)).map(String), counts };
}

/**
 * The figure of the chosen recipes.
 *
 * @throws SvcError `usage_invalid` when no report has a matrix, or their classes differ
 */
export function confusionFigure(
  result: BenchmarkResult,
  recipes: readonly ResultRow[],
  source: MatrixFigure["source"],
  evidence: RowEvidence,
): MatrixFigure {
  const rows = recipes.flatMap(({ id }) => completedRows(result, id));
  const found = rows.flatMap((row) => evidence.reports(row).flatMap((report) => confusionOf(report) ?? []));
  if (found.length === 0) {
    throw new SvcError("usage_invalid", "Cannot plot a confusion matrix: no report of a completed row holds one", {
      hint: "The evaluation has to write confusion_matrix into its report",
    });
  }
  const [{ labels }] = found;
  if (found.some((other) => other.labels.join("\0") !== labels.join("\0"))) {
    throw new SvcError("usage_invalid", "Cannot add up confusion matrices of different classes", {
      hint: "Choose recipes of one kind with --recipe",
    });
  }
  const counts = labels.map((_, i) => labels.map((_, j) => found.reduce((sum, other) => sum + other.counts[i][j], 0)));
  const names = recipes.length === 1 ? recipes[0].label : `${recipes.length} recipes`;
  const { name, id, version } = result.benchmark;
  return {
    type: "confusion-matrix",
    form: "matrix",
    title: "Confusion matrix",
    subtitle: `${name || id}, version ${version} · ${names} · ${found.length} ${
      found.length === 1 ? "row" : "rows"
    } added up`,
    source,
    labels,
    counts,
  };
}
