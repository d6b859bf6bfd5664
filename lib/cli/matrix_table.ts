/**
 * The table of a matrix: one row a variant, its coordinates first, then the headline metrics. What is the same at every
 * point is reported once, below.
 */
import { isNumber } from "../contract/value.ts";
import { valueText } from "../recipe/variant_name.ts";
import type { MatrixRow } from "../study/run_matrix.ts";
import { type HeadlineMetric, headlineMetrics, impliedUnit, metricText } from "./headline.ts";
import type { HeadlineView } from "./headline_view.ts";
import { type Column, formatTable, type Row, type TableFormat } from "./table.ts";

/**
 * Formats the rows of a matrix.
 * @param format CSV has every column, with numbers in full, the intervals of error rates and the run ids; the others are
 *   for reading
 */
export function matrixTable(rows: readonly MatrixRow[], format: TableFormat, view: HeadlineView): string {
  const columns = metricColumns(rows, view);
  return format === "csv" ? csv(rows, columns) : table(rows, columns, format);
}

/** A metric over all variants. */
interface MetricColumn {
  /** The metric's id, behind its step where several steps give it. */
  title: string;
  metric: string;
  /** By row; undefined where the variant has no such metric. */
  cells: (HeadlineMetric | undefined)[];
}

function metricColumns(rows: readonly MatrixRow[], view: HeadlineView): MetricColumn[] {
  const found = rows.map(({ metrics, metric_metadata }) =>
    headlineMetrics(
      Object.entries(metrics).map(([id, values]) => ({
        id,
        metrics: values,
        metadata: { metric_metadata: metric_metadata[id] ?? {} },
      })),
      view,
    )
  );
  const givers = new Map<string, Set<string>>();
  for (const { step, metric } of found.flat()) givers.set(metric, (givers.get(metric) ?? new Set()).add(step));
  const columns = [...givers].flatMap(([metric, steps]) =>
    [...steps].map((step): MetricColumn => ({
      title: steps.size > 1 ? `${step}/${metric}` : metric,
      metric,
      cells: found.map((items) => items.find((item) => item.metric === metric && item.step === step)),
    }))
  );
  // Two steps that give the same metric with the same values everywhere say it once.
  return columns.filter((column, at) =>
    !columns.slice(0, at).some((other) => other.metric === column.metric && sameValues(other, column))
  );
}

function sameValues(a: MetricColumn, b: MetricColumn): boolean {
  return a.cells.every((cell, row) => cell?.value === b.cells[row]?.value && cell?.remark === b.cells[row]?.remark);
}

/** Coordinates as members of a row. */
function coordinates(row: MatrixRow): [string, string][] {
  return Object.entries(row.selection).map(([name, value]) => [`at ${name}`, valueText(value)]);
}

function dimensionColumns(rows: readonly MatrixRow[]): Column[] {
  return Object.keys(rows[0]?.selection ?? {}).map((title) => ({
    key: `at ${title}`,
    title,
    align: rows.every((row) => isNumber(row.selection[title])) ? "right" : "left",
  }));
}

function csv(rows: readonly MatrixRow[], metrics: readonly MetricColumn[]): string {
  const columns: Column[] = [
    { key: "index", title: "matrix_index" },
    ...dimensionColumns(rows),
    ...["status", "reused", "run_id", "variant_id"],
    ...metrics.flatMap(({ title, cells }, at) => [
      { key: `value ${at}`, title },
      ...(cells.some((cell) => cell?.estimate)
        ? ["low", "high", "upper_bound"].map((part) => ({ key: `${part} ${at}`, title: `${title}.${part}` }))
        : []),
      ...(cells.some((cell) => cell?.remark) ? [{ key: `remark ${at}`, title: `${title}.remark` }] : []),
    ]),
    ...metrics.flatMap(({ title, cells }, at) =>
      cells.some((cell) => cell?.estimate) ? [{ key: `shown ${at}`, title: `${title}.shown` }] : []
    ),
  ];
  const lines = rows.map((row, line): Row => ({
    index: row.index,
    status: row.status,
    reused: String(row.reused),
    run_id: row.run_id,
    variant_id: row.variant_id,
    ...Object.fromEntries(coordinates(row)),
    ...Object.fromEntries(metrics.flatMap(({ cells }, at) => {
      const { value = null, estimate = null } = cells[line] ?? {};
      return [
        [`value ${at}`, estimate === null ? value : estimate.mean],
        [`low ${at}`, estimate?.low ?? null],
        [`high ${at}`, estimate?.high ?? null],
        [`upper_bound ${at}`, estimate?.bound ?? null],
        [`shown ${at}`, estimate === null ? null : metricText(cells[line]!)],
        [`remark ${at}`, cells[line]?.remark ?? null],
      ];
    })),
  }));
  return formatTable(lines, columns, "csv");
}

function table(rows: readonly MatrixRow[], metrics: readonly MetricColumn[], format: TableFormat): string {
  const isConstant = ({ cells }: MetricColumn) => {
    const reached = cells.filter((_, line) => Object.keys(rows[line].metrics).length > 0);
    const same = (cell: HeadlineMetric | undefined) =>
      cell !== undefined && cell.value === reached[0]?.value && cell.remark === reached[0].remark;
    return reached.length > 1 && reached.every(same);
  };
  const varying = metrics.filter((column) => !isConstant(column));
  const eventful = rows.some(({ status, reused }) => status !== "completed" || reused);
  const columns: Column[] = [
    ...dimensionColumns(rows),
    ...varying.map(({ title }, at): Column => ({ key: `value ${at}`, title, align: "right" })),
    ...(eventful ? ["status"] : []),
  ];
  const lines = rows.map((row, line): Row => ({
    status: row.reused ? "completed before" : row.status,
    ...Object.fromEntries(coordinates(row)),
    ...Object.fromEntries(
      varying.map(({ cells }, at) => [`value ${at}`, cellText(cells[line])]),
    ),
  }));
  const shared = metrics.filter(isConstant).map(({ title, metric, cells }) => {
    const cell = cells.find((candidate) => candidate !== undefined)!;
    const remark = cell.remark === null ? "" : ` (${cell.remark})`;
    return `  ${title} ${metricText(cell, impliedUnit(metric))}${remark}\n`;
  });
  const remarks = varying.flatMap(({ title, cells }) =>
    [...new Set(cells.map((cell) => cell?.remark ?? null))].filter((remark) => remark !== null)
      .map((remark) => `\n* ${title}: ${remark}\n`)
  );
  const below = shared.length === 0
    ? ""
    : `\nThe same at every point:\n${format === "md" ? "\n" : ""}${shared.join("")}`;
  return formatTable(lines, columns, format) + remarks.join("") +
    (format === "md" ? below.replaceAll("\n  ", "\n- ") : below);
}

/** A number in its column; a star refers to its remark below the table. */
const cellText = (cell: HeadlineMetric | undefined): string =>
  cell === undefined ? "" : metricText(cell) + (cell.remark === null ? "" : "*");
