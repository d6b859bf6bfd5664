/** Runs as points of curves: a metric over a parameter, one series for each combination of the other ones that vary. */
import { lowerFirst } from "../../lib/contract/sentence.ts";
import { unitText } from "../../lib/figure/unit_text.ts";
import { knownLink, theoryCurves, theorySource } from "../../lib/figure/theory_curves.ts";
import { isNumber, toNumber, type Value } from "../../lib/contract/value.ts";
import type { CurveFigure, FigurePoint, FigureSeries } from "../../lib/figure/types.ts";
import type { ShownEstimate } from "../../lib/figure/number_text.ts";
import type { MetricEntry } from "../runs/metrics.ts";
import { methodsOf } from "./methods.ts";
import { EBN0, parameterAxis } from "./parameter_axis.ts";
import { pivotCell } from "./pivot.ts";
import type { ComparedRun } from "./table.ts";

type Entry = Pick<MetricEntry, "name" | "unit" | "direction" | "statistic">;

/**
 * The figure of runs.
 *
 * @param x a parameter that is a number in every run, or the Eb/N0 of their accounting
 * @param entryOf what the catalogue says of a metric
 * @param renamed a label of one's own for a method
 * @returns points that share series and x are one: their mean, or the rate of their counts added up
 */
export function curveFigure(
  runs: readonly ComparedRun[],
  x: string,
  metric: string,
  entryOf: (metric: string) => Entry | undefined,
  renamed: (label: string) => string = (label) => label,
): CurveFigure {
  const entry = entryOf(metric);
  const methods = methodsOf(
    runs.filter((run) => xOf(run, x) !== null && number(run.metrics.get(metric)) !== null),
    x,
  );
  const measured = methods.map(({ label, runs }): FigureSeries => ({
    label: renamed(label) || (entry?.name ?? metric),
    kind: "measured",
    points: pointsOf(runs, x, metric),
  }));
  const linked = methods.map(({ runs }) =>
    runs.map((run) => ({ x: xOf(run, x)!, link: knownLink(run.recipe, metric) }))
  );
  const closedForms = theoryCurves(linked);
  const theory = closedForms.map(({ label, points }): FigureSeries => ({
    label,
    kind: "theory",
    points: points.map(({ x, y }) => ({ x, y, low: null, high: null })),
  }));
  const rate = entry?.statistic === "rate";
  const values = measured.flatMap(({ points }) => points.flatMap(({ y, bound }) => y ?? bound ?? []));
  // An error rate is read in decades, from its first point on.
  const log = rate && entry?.direction === "lower_is_better" && values.length > 0 && Math.min(...values) > 0;
  const counted = runs.some(({ rates }) => rates.has(metric));
  return {
    form: "curves",
    type: "error-rate",
    title: `${entry?.name ?? metric} over ${lowerFirst(parameterAxis(x).title)}`,
    subtitle: [`${runs.length} runs`, ...(counted ? ["95 % intervals"] : [])].join(" · "),
    source: { ...sourceOf(runs), ...theorySource(closedForms) },
    x: { ...parameterAxis(x), scale: "linear", domain: null },
    y: {
      title: entry?.name ?? metric,
      unit: unitText(entry?.unit ?? ""),
      scale: log ? "log" : "linear",
      domain: null,
    },
    series: [...measured, ...theory],
    step: false,
    front: null,
  };
}

/** What binds a figure to its runs: ids of a few, the count of many. */
function sourceOf(runs: readonly ComparedRun[]): Record<string, string> {
  const ids = runs.map(({ id }) => id);
  return ids.length <= 8
    ? { run_ids: ids.join(" "), recipe_sha256: runs.map(({ recipeSha256 }) => recipeSha256 ?? "").join(" ").trim() }
    : { first_run_id: ids[0], last_run_id: ids.at(-1)!, run_count: String(ids.length) };
}

const number = (value: Value | undefined): number | null => isNumber(value ?? null) ? toNumber(value as number) : null;

/** The place of a run on the axis. */
const xOf = (run: ComparedRun, x: string): number | null =>
  number(x === EBN0 ? run.metrics.get(EBN0) : run.parameters.get(x));

function pointsOf(runs: readonly ComparedRun[], x: string, metric: string): FigurePoint[] {
  const byX = new Map<number, ComparedRun[]>();
  for (const run of runs) {
    const place = xOf(run, x)!;
    byX.set(place, [...byX.get(place) ?? [], run]);
  }
  return [...byX].sort(([a], [b]) => a - b).map(([place, members]) => ({
    x: place,
    ...pointOf(pivotCell(members, metric)!),
    n: members.length,
  }));
}

const pointOf = ({ mean, low, high, bound }: ShownEstimate) => ({
  y: mean,
  low,
  high,
  ...(bound === undefined ? {} : { bound }),
});
