/** Reads confusion matrices from reports. */
import { isNumber, isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";

export interface Confusion {
  labels: string[];
  /** Rows are true classes, columns predicted ones. */
  counts: number[][];
}

/** A square matrix of numbers. */
function squareOf(value: Value | undefined): number[][] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const rows = value.map((row) => Array.isArray(row) && row.every(isNumber) ? (row as number[]).map(toNumber) : null);
  return rows.every((row) => row?.length === value.length) ? rows as number[][] : null;
}

/**
 * The matrix of a report: `confusion_matrix` as rows of counts, one per true class, with class names in `class_names`,
 * `labels` or `classes`; or an object with both.
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
