/** The points of a series, its axes, and checks that both can be drawn. */
import { SvcError } from "../../../contract/error.ts";
import { numberText } from "../../../figure/number_text.ts";
import type { FigureAxis, FigurePoint, FigureSeries } from "../../../figure/types.ts";
import { unitText } from "../../../figure/unit_text.ts";
import { type Estimate, estimateOf, itemEstimateOf } from "../../rows/estimates.ts";
import { axisFacts } from "../plot_defaults.ts";
import type { BenchmarkResult, ResultRow } from "../../pack/types.ts";
import { placeOf } from "./groups.ts";
import type { Draft, Group, PlotRequest } from "./types.ts";

/** The axis of a metric or coordinate. */
export function axis(
  result: BenchmarkResult,
  id: string,
  scale: "linear" | "log" = "linear",
  domain: [number, number] | null = null,
): FigureAxis {
  const { title, unit } = axisFacts(result, id);
  return { title, unit: unitText(unit), scale, domain };
}

function pointOf(x: number, estimate: Estimate | null, outage: number | null): FigurePoint {
  return {
    x,
    y: estimate?.mean ?? null,
    low: estimate?.low ?? null,
    high: estimate?.high ?? null,
    ...(estimate?.bound === undefined ? {} : { bound: estimate.bound }),
    ...(estimate?.none === undefined ? {} : { none: estimate.none }),
    ...(outage === null ? {} : { outage }),
    ...(estimate === null ? {} : { n: estimate.n }),
  };
}

/** Share of lost items of a recipe, if it is recorded and not the subject of the figure. */
function outageOf(result: BenchmarkResult, recipe: ResultRow, { plot, y }: Draft["request"]): number | null {
  if (plot !== "graceful-degradation" && plot !== "rate-distortion") return null;
  if (y === "channel.outage_rate") return null;
  const estimate = estimateOf(result, recipe.id, "channel.outage_rate");
  // Without an event the share is 0, whatever its bound.
  return estimate === null ? null : estimate.mean ?? 0;
}

/** The estimates whose intervals a request asks for. */
export const estimatesFor = ({ intervals }: Pick<PlotRequest, "intervals">) =>
  intervals === "items" ? itemEstimateOf : estimateOf;

export interface PlacedPoint {
  recipe: ResultRow;
  point: FigurePoint;
}

/** The points of a group in the order of x; a recipe with neither a value nor an outage has none. */
export function pointsOf({ result, request }: Draft, { recipes }: Group): PlacedPoint[] {
  return recipes.flatMap((recipe): PlacedPoint[] => {
    const x = placeOf(result, recipe, request.x);
    const estimate = estimatesFor(request)(result, recipe.id, request.y);
    const outage = outageOf(result, recipe, request);
    if (x === null || (estimate === null && !(outage !== null && outage > 0))) return [];
    return [{ recipe, point: pointOf(x, estimate, outage) }];
  }).sort((a, b) => a.point.x - b.point.x || (a.point.y ?? -Infinity) - (b.point.y ?? -Infinity));
}

/** @throws SvcError `usage_invalid` for a series with two points at one x */
export function requireOneLine({ request }: Draft, { label }: Group, points: readonly PlacedPoint[]): void {
  const twice = points.findIndex(({ point }, i) => i > 0 && point.x === points[i - 1].point.x);
  if (twice < 0) return;
  const [a, b] = [points[twice - 1].recipe.id, points[twice].recipe.id];
  throw new SvcError(
    "usage_invalid",
    `Cannot draw ${label} as one line: ${a} and ${b} are both at ${request.x} = ${numberText(points[twice].point.x)}`,
    { hint: "Separate them with --group recipe or --group metric:<id>, or choose some with --recipe" },
  );
}

export function requirePoints({ request: { plot, x, y } }: Draft, series: readonly FigureSeries[]): void {
  if (series.some(({ points }) => points.length > 0)) return;
  throw new SvcError("usage_invalid", `Cannot plot ${plot}: no recipe has both ${x || "a place"} and ${y}`);
}

export const PROBABILITY: [number, number] = [0, 1];
