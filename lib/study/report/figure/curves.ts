/** Values over a coordinate (error rates, quality, packet success) with closed forms and bounds. */
import type { CurveFigure, FigurePoint, FigureSeries } from "../../../figure/types.ts";
import { knownLink, theoryCurves, theorySource } from "../../../figure/theory_curves.ts";
import { pooledValue, rootMeanSquare } from "../../../numeric/scores/pooled_ratio.ts";
import { mean } from "../../../numeric/scores/statistics.ts";
import { findMetric } from "../../../research/catalog.ts";
import { estimateOf, metricFacts } from "../../rows/estimates.ts";
import { completedRow } from "../../rows/stored_rows.ts";
import { isLogarithmic } from "../plot_defaults.ts";
import { placeOf } from "./groups.ts";
import { axis, pointsOf, PROBABILITY, requireOneLine, requirePoints } from "./points.ts";
import type { Draft } from "./types.ts";

/** Values over a coordinate: error rates, quality, packet success, any metric. */
export function curves(draft: Draft): CurveFigure {
  const { result, groups, base, request, evidence } = draft;
  const placed = groups.map((group) => {
    const points = pointsOf(draft, group);
    requireOneLine(draft, group, points);
    return points;
  });
  const isLog = isLogarithmic(request.plot, request.y);
  const theory = !isLog ? [] : theoryCurves(
    placed.map((points) =>
      points.map(({ recipe, point }) => ({
        x: point.x,
        link: knownLink(evidence.recipe(completedRow(result, recipe.id)!), request.y),
      }))
    ),
  );
  const series: FigureSeries[] = groups.map(({ label, kind }, i) => ({
    label,
    kind,
    points: placed[i].map(({ point }) => point),
    ...(theory.some((curve) => curve.series.includes(i)) ? { joined: false } : {}),
  })).filter(({ points }) => points.length > 0 && (!isLog || points.some(isDrawable)));
  requirePoints(draft, series);
  series.push(...theory.map(({ label, points }): FigureSeries => ({
    label,
    kind: "theory",
    points: points.map((point) => ({ ...point, low: null, high: null })),
  })));
  if (request.bound) series.push(boundSeries(draft, request.bound));
  const share = request.plot === "packet-success" && metricFacts(result, request.y).unit === "fraction";
  return {
    ...base,
    source: { ...base.source, ...theorySource(theory) },
    form: "curves",
    x: axis(result, request.x),
    y: axis(result, request.y, isLog ? "log" : "linear", share ? PROBABILITY : null),
    series,
    step: false,
    front: null,
    ...(request.plot === "graceful-degradation" &&
        series.some(({ points }) => points.some(({ outage = 0 }) => outage > 0))
      ? { lost: true }
      : {}),
  };
}

/** Whether a logarithmic axis can show it: an exact 0, as of an oracle, has no place. */
const isDrawable = ({ y, bound, outage = 0 }: FigurePoint) => y !== 0 || bound !== undefined || outage > 0;

/** The bound at every place over all recipes there, without an interval: its root mean square, or its mean. */
function boundSeries({ result, groups, request }: Draft, bound: string): FigureSeries {
  const found = new Map<number, number[]>();
  for (const recipe of groups.flatMap(({ recipes }) => recipes)) {
    const x = placeOf(result, recipe, request.x), value = estimateOf(result, recipe.id, bound)?.mean;
    if (x !== null && value !== null && value !== undefined) found.set(x, [...found.get(x) ?? [], value]);
  }
  const isRoot = findMetric(bound)?.reduction === "root_mean_square";
  const over = (values: number[]) => isRoot ? pooledValue(rootMeanSquare(values))! : mean(values);
  const points = [...found].sort(([a], [b]) => a - b).map(([x, values]) => ({
    x,
    y: Number(over(values).toPrecision(12)),
    low: null,
    high: null,
  }));
  return { label: metricFacts(result, bound).name, kind: "theory", whole: true, points };
}
