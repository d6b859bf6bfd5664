/** The confusion matrix of a result: the counts of its reports, summed over the rows asked for. */
import { SvcError } from "../contract/error.ts";
import { confusionOf } from "../figure/confusion_of.ts";
import type { MatrixFigure } from "../figure/types.ts";
import { completedRows } from "./estimates.ts";
import type { RowEvidence } from "./figure_of.ts";
import type { BenchmarkResult, ResultRow } from "./types.ts";

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
