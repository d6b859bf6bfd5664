/** The distribution of a metric over items or rows. */
import { isNumber, isObject, type JsonObject, toNumber } from "../../contract/value.ts";
import type { CurveFigure, FigurePoint, FigureSeries } from "../../figure/types.ts";
import { completedRows } from "../estimates.ts";
import { axis, PROBABILITY, requirePoints } from "./points.ts";
import type { Draft } from "./types.ts";

/** Values of a metric item by item, if exactly one report of a row has them. */
function itemValues(reports: readonly JsonObject[], id: string): number[] | null {
  const lists = reports.map(({ items }) =>
    (Array.isArray(items) ? items : []).flatMap((item) => {
      const value = isObject(item) && isObject(item.metrics) ? item.metrics[id] : undefined;
      return isNumber(value) ? [toNumber(value)] : [];
    })
  ).filter((values) => values.length > 0);
  return lists.length === 1 ? lists[0] : null;
}

/**
 * Share of items, such as images, at or below each value, or of rows if reports have no items; with the band that
 * contains the whole function at the confidence.
 */
export function distribution(draft: Draft): CurveFigure {
  const { result, groups, base, request, evidence } = draft;
  const rows = groups.flatMap(({ recipes }) => recipes.flatMap(({ id }) => completedRows(result, id)))
    .filter(({ metrics }) => request.y in metrics);
  const items = new Map(rows.map((row) => [row, itemValues(evidence.reports(row), request.y)]));
  const itemized = rows.every((row) => items.get(row) !== null);
  const confidence = toNumber(result.replication?.confidence_level ?? 0.95);
  const series: FigureSeries[] = groups.map(({ label, kind, recipes }) => {
    const ids = new Set(recipes.map(({ id }) => id));
    const values = rows.filter(({ id }) => ids.has(id)).flatMap((row) =>
      itemized ? items.get(row)! : [toNumber(row.metrics[request.y])]
    ).sort((a, b) => a - b);
    const reach = Math.sqrt(Math.log(2 / (1 - confidence)) / (2 * values.length));
    const at = (x: number, y: number): FigurePoint => ({
      x,
      y,
      low: Math.max(0, y - reach),
      high: Math.min(1, y + reach),
      n: values.length,
    });
    const steps = values.flatMap((x, i) => x === values[i + 1] ? [] : [at(x, (i + 1) / values.length)]);
    return { label, kind, points: steps.length === 0 ? [] : [at(steps[0].x, 0), ...steps] };
  }).filter(({ points }) => points.length > 0);
  requirePoints({ ...draft, request: { ...request, x: "a row" } }, series);
  return {
    ...base,
    form: "curves",
    x: axis(result, request.y),
    y: { title: `Share of ${itemized ? "items" : "rows"} at or below`, unit: "", scale: "linear", domain: PROBABILITY },
    series,
    step: true,
    front: null,
  };
}
