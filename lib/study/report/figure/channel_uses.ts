/** Channel uses of methods. */
import type { BarFigure, CurveFigure } from "../../../figure/types.ts";
import { estimateOf, metricFacts } from "../../rows/estimates.ts";
import { curves } from "./curves.ts";
import { axis, requirePoints } from "./points.ts";
import type { Draft } from "./types.ts";

/** Bars if each method has one value, lines if it depends on a coordinate. */
export function channelUses(draft: Draft): CurveFigure | BarFigure {
  const { result, groups, base, request } = draft;
  const constant = groups.map(({ recipes }) => {
    const estimates = recipes.flatMap(({ id }) => estimateOf(result, id, request.y) ?? []);
    return estimates.every(({ mean }) => mean === estimates[0].mean) ? estimates[0] ?? null : undefined;
  });
  if (constant.some((estimate) => estimate === undefined)) return curves(draft);
  const bars = groups.flatMap(({ label, kind }, i) => {
    const estimate = constant[i];
    if (estimate?.mean === null || estimate?.mean === undefined) return [];
    // A constant count has no interval to draw.
    const { mean, low, high } = estimate;
    return [{ label, kind, value: mean, low: low === high ? null : low, high: low === high ? null : high }];
  });
  if (bars.length === 0) requirePoints(draft, []);
  const { name } = metricFacts(result, request.y);
  const drawn = bars.some(({ low }) => low !== null);
  const subtitle = drawn
    ? base.subtitle
    : base.subtitle.split(" · ").filter((part) => !part.includes(" % ")).join(" · ");
  return { ...base, title: name, subtitle, form: "bars", value: axis(result, request.y), bars };
}
