/**
 * Quality over rate, with the Pareto front of the measured points; or a perceptual score over distortion, with the rate beside
 * each point (Blau and Michaeli, Rethinking lossy compression: the rate-distortion-perception tradeoff, ICML 2019).
 */
import { lowerFirst } from "../../../contract/sentence.ts";
import { numberText } from "../../../figure/number_text.ts";
import { paretoFront } from "../../../figure/pareto.ts";
import type { CurveFigure, FigurePoint, FigureSeries } from "../../../figure/types.ts";
import { metricFacts } from "../../rows/estimates.ts";
import { placeOf, valuesOf } from "./groups.ts";
import { axis, type PlacedPoint, pointsOf, requirePoints } from "./points.ts";
import type { Draft } from "./types.ts";

export function rateDistortion(draft: Draft): CurveFigure {
  const { result, groups, base, request } = draft, rate = request.value ?? "";
  const labelled = ({ recipe, point }: PlacedPoint): FigurePoint => {
    const value = rate === "" ? null : placeOf(result, recipe, rate);
    return value === null ? point : { ...point, label: numberText(value, "unicode", 3) };
  };
  const series: FigureSeries[] = groups.map((group) => ({
    label: group.label,
    kind: group.kind,
    points: pointsOf(draft, group).map(labelled),
  })).filter(({ points }) => points.length > 0);
  requirePoints(draft, series);
  // A rate is a cost, even without a direction in the catalogue.
  const direction = (id: string, otherwise: "lower_is_better" | "higher_is_better") => {
    const known = metricFacts(result, id).direction;
    return known === "neutral" ? otherwise : known;
  };
  const [x, y] = [direction(request.x, "lower_is_better"), direction(request.y, "higher_is_better")];
  const drawn = series.flatMap(({ points }) => points).filter((point) => point.y !== null);
  const flags = paretoFront(drawn.map((point) => ({ x: point.x, y: point.y! })), x, y);
  drawn.forEach((point, i) => point.front = flags[i]);
  // A front over several channels compares different conditions, which is noted.
  const snrs = valuesOf(result, groups.flatMap(({ recipes }) => recipes), "channel.snr_db");
  const [low, high] = [snrs[0], snrs.at(-1)!].map((value) => numberText(value, "unicode"));
  const mixed = snrs.length > 1 ? ` · Es/N0 from ${low} to ${high} dB together` : "";
  return {
    ...base,
    subtitle: base.subtitle + mixed + (rate === "" ? "" : ` · beside the points: ${besides(draft, rate)}`),
    form: "curves",
    x: axis(result, request.x),
    y: axis(result, request.y),
    series,
    step: false,
    front: x === "lower_is_better" ? "after" : "before",
  };
}

function besides({ result }: Draft, rate: string): string {
  const { title, unit } = axis(result, rate);
  return unit === "" ? lowerFirst(title) : `${lowerFirst(title)} in ${unit}`;
}
