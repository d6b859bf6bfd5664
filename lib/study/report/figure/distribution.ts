/** The distribution of a metric over items or rows. */
import { isNumber, isObject, type JsonObject, toNumber } from "../../../contract/value.ts";
import type { CurveFigure, FigurePoint, FigureSeries } from "../../../figure/types.ts";
import { completedRows } from "../../rows/estimates.ts";
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

/** So many steps of a distribution are drawn: closer ones cannot be distinguished in a figure. */
const MOST_STEPS = 2000;

/** Places of the last of equal values; of very many every k-th and the last. */
function drawnSteps(values: Float64Array): number[] {
  const stride = Math.max(1, Math.ceil(values.length / MOST_STEPS));
  const places: number[] = [];
  for (let i = 0; i < values.length; i++) {
    const isLast = i === values.length - 1;
    if ((isLast || values[i] !== values[i + 1]) && (isLast || stride === 1 || i % stride === 0)) places.push(i);
  }
  return places;
}

/**
 * Share of items, such as images, at or below each value, or of rows if reports have no items; with the band that
 * contains the whole function at the confidence.
 */
export function distribution(draft: Draft): CurveFigure {
  const { result, groups, base, request, evidence } = draft;
  const place = new Map(groups.flatMap(({ recipes }, i) => recipes.map(({ id }) => [id, i] as const)));
  const ofRows: number[][] = groups.map(() => []), ofItems: number[][] = groups.map(() => []);
  let itemized = true;
  for (const row of completedRows(result, new Set(place.keys()))) {
    if (!(request.y in row.metrics)) continue;
    const group = place.get(row.id)!;
    ofRows[group].push(toNumber(row.metrics[request.y]));
    const items = itemized ? itemValues(evidence.reports(row), request.y) : null;
    if (items === null) itemized = false;
    else for (const value of items) ofItems[group].push(value);
  }
  const confidence = toNumber(result.replication?.confidence_level ?? 0.95);
  const series: FigureSeries[] = groups.map(({ label, kind }, i) => {
    const values = Float64Array.from(itemized ? ofItems[i] : ofRows[i]).sort();
    const reach = Math.sqrt(Math.log(2 / (1 - confidence)) / (2 * values.length));
    const at = (x: number, y: number): FigurePoint => ({
      x,
      y,
      low: Math.max(0, y - reach),
      high: Math.min(1, y + reach),
      n: values.length,
    });
    const steps = drawnSteps(values).map((i) => at(values[i], (i + 1) / values.length));
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
