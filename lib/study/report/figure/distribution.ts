/** The distribution of a metric over items or rows: its function, or boxes. */
import { isNumber, isObject, type JsonObject, toNumber } from "../../../contract/value.ts";
import type { BoxFigure, CurveFigure, FigureBox, FigurePoint, FigureSeries } from "../../../figure/types.ts";
import { quantile } from "../../../numeric/scores/statistics.ts";
import { completedRows } from "../../rows/estimates.ts";
import { placeOf } from "./groups.ts";
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

/** The values of a metric in each series: of items where every row has them, else of rows. */
function valuesOf(draft: Draft): { values: { recipe: string; value: number }[][]; itemized: boolean } {
  const { result, groups, request, evidence } = draft;
  const place = new Map(groups.flatMap(({ recipes }, i) => recipes.map(({ id }) => [id, i] as const)));
  const ofRows: { recipe: string; value: number }[][] = groups.map(() => []);
  const ofItems: { recipe: string; value: number }[][] = groups.map(() => []);
  let itemized = true;
  for (const row of completedRows(result, new Set(place.keys()))) {
    if (!(request.y in row.metrics)) continue;
    const group = place.get(row.id)!, recipe = row.id;
    ofRows[group].push({ recipe, value: toNumber(row.metrics[request.y]) });
    const items = itemized ? itemValues(evidence.reports(row), request.y) : null;
    if (items === null) itemized = false;
    else for (const value of items) ofItems[group].push({ recipe, value });
  }
  return { values: itemized ? ofItems : ofRows, itemized };
}

/** How a box is made, for captions. */
const BOX_RULE = "whiskers to the farthest value within 1.5 interquartile ranges of the box";

/** Box plots of the values of items or rows: one per series, or one per series and place along the x that was asked for. */
export function boxPlots(draft: Draft): BoxFigure {
  const { result, groups, base, request } = draft, { values, itemized } = valuesOf(draft);
  const recipes = new Map(groups.flatMap(({ recipes }) => recipes.map((recipe) => [recipe.id, recipe] as const)));
  const placed = (id: string) => request.x === "" ? 0 : placeOf(result, recipes.get(id)!, request.x);
  const found = groups.flatMap(({ label }, i) => {
    const byPlace = Map.groupBy(values[i], ({ recipe }) => placed(recipe));
    return [...byPlace].flatMap(([x, list]) => x === null ? [] : [{ label, x, list: list.map(({ value }) => value) }]);
  }).sort((a, b) => a.x - b.x);
  requirePoints(
    { ...draft, request: { ...request, x: request.x || "a row" } },
    found.map(({ label }) => ({
      label,
      kind: "measured",
      points: [{ x: 0, y: 0, low: null, high: null }],
    })),
  );
  const text = (x: number) => request.x === "" ? "" : String(Number(x.toPrecision(12)));
  return {
    ...base,
    subtitle: [base.subtitle, `of ${itemized ? "items" : "rows"}`, BOX_RULE].join(" · "),
    form: "boxes",
    x: request.x === "" ? null : axis(result, request.x),
    value: axis(result, request.y),
    series: groups.filter(({ label }) => found.some((one) => one.label === label)).map(({ label, kind }) => ({
      label,
      kind,
    })),
    places: [...new Set(found.map(({ x }) => text(x)))],
    boxes: found.map(({ label, x, list }) => ({ series: label, place: text(x), ...boxOf(list) })),
  };
}

/** The box of values, by the rule of Tukey. */
function boxOf(list: readonly number[]): Omit<FigureBox, "series" | "place"> {
  const values = Float64Array.from(list).sort();
  const [q1, median, q3] = [0.25, 0.5, 0.75].map((share) => quantile(values, share)), reach = 1.5 * (q3 - q1);
  const inside = values.filter((value) => value >= q1 - reach && value <= q3 + reach);
  const outliers = [...values.filter((value) => value < q1 - reach || value > q3 + reach)];
  return {
    n: values.length,
    low: Math.min(inside[0], q1),
    q1,
    median,
    q3,
    high: Math.max(inside.at(-1)!, q3),
    outliers,
  };
}

/**
 * Share of items, such as images, at or below each value, or of rows if reports have no items; with the band that
 * contains the whole function at the confidence.
 */
export function distribution(draft: Draft): CurveFigure {
  const { result, groups, base, request } = draft, { values: found, itemized } = valuesOf(draft);
  const confidence = toNumber(result.replication?.confidence_level ?? 0.95);
  const series: FigureSeries[] = groups.map(({ label, kind }, i) => {
    const values = Float64Array.from(found[i], ({ value }) => value).sort();
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
