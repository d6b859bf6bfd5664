/** The figure of a running pack: the points that are complete, with their intervals. */
import { unitText } from "../../../lib/figure/unit_text.ts";
import type { CurveFigure, FigureSeries } from "../../../lib/figure/types.ts";
import { parameterAxis } from "../../compare/parameter_axis.ts";
import type { MetricEntry } from "../../runs/metrics.ts";
import type { Matrix, StopProgress } from "../../state/benchmarks.ts";
import type { MethodGrid, Placed } from "./method_grid.ts";

interface Live {
  grid: MethodGrid<Placed>;
  matrix: Matrix | undefined;
  metric: string;
  /** The catalogue's entry of the metric. */
  entry: Pick<MetricEntry, "name" | "unit" | "direction" | "statistic"> | undefined;
}

/** Whether a recipe has all its replicates. */
export const isComplete = ({ replicates, stop_reason }: StopProgress, matrix: Matrix): boolean =>
  stop_reason !== undefined || replicates >= matrix.replicates;

/** The complete points of a pack as curves; null before the first one. */
export function liveFigure({ grid, matrix, metric, entry }: Live): CurveFigure | null {
  const series = grid.methods.map(({ name, isBaseline, points }): FigureSeries => ({
    label: name,
    kind: isBaseline ? "baseline" : "measured",
    points: [...points].sort(([a], [b]) => a - b).flatMap(([x, { id }]) => {
      const of = matrix?.progress.get(id);
      if (of === undefined || !isComplete(of, matrix!)) return [];
      const { mean, ci_low, ci_high, upper_bound, replicates } = of;
      return [{
        x,
        y: mean,
        low: ci_low,
        high: ci_high,
        n: replicates,
        ...(upper_bound === null ? {} : { bound: upper_bound }),
      }];
    }),
  }));
  const count = series.reduce((sum, { points }) => sum + points.length, 0);
  if (count === 0) return null;
  const axis = parameterAxis(grid.coordinate), { places } = grid;
  const values = series.flatMap(({ points }) => points.flatMap(({ y, bound }) => y ?? bound ?? []));
  const log = entry?.statistic === "rate" && entry.direction === "lower_is_better" && Math.min(...values) > 0;
  return {
    form: "curves",
    type: "error-rate",
    title: `${entry?.name ?? metric} over ${axis.title}`,
    subtitle: `${count} of ${grid.methods.reduce((sum, { points }) => sum + points.size, 0)} points complete`,
    source: {},
    x: { ...axis, scale: "linear", domain: [places[0], places.at(-1)!] },
    y: {
      title: entry?.name ?? metric,
      unit: unitText(entry?.unit ?? ""),
      scale: log ? "log" : "linear",
      domain: null,
    },
    series: series.filter(({ points }) => points.length > 0),
    step: false,
    front: null,
  };
}
