/**
 * From a result to a figure. The numbers come from `result.json`; confusion matrices, distributions over items, and the
 * recipes for the selection of closed forms come from the evidence of the rows.
 */
import { lowerFirst } from "../../../contract/sentence.ts";
import { SvcError } from "../../../contract/error.ts";
import { toNumber } from "../../../contract/value.ts";
import { numberText } from "../../../figure/number_text.ts";
import type { Figure, FigureAxis, FigureType } from "../../../figure/types.ts";
import { completedRows, intervalsText, metricFacts } from "../../rows/estimates.ts";
import { countsOf, incompleteMark } from "../../rows/stored_rows.ts";
import { axesOf, axisFacts, boundOf, defaultPlot, numericCoordinates } from "../plot_defaults.ts";
import type { BenchmarkResult } from "../../pack/types.ts";
import { channelUses } from "./channel_uses.ts";
import { confusionFigure } from "./confusion.ts";
import { curves } from "./curves.ts";
import { difference } from "./difference.ts";
import { boxPlots, distribution } from "./distribution.ts";
import { chosenRecipes, groupsOf } from "./groups.ts";
import { heatAxes, heatMap } from "./heat_map.ts";
import { estimatesFor } from "./points.ts";
import { rateDistortion } from "./rate_distortion.ts";
import { type Draft, NO_EVIDENCE, type PlotOutcome, type PlotRequest, type RowEvidence } from "./types.ts";

const BUILDERS: Record<FigureType, (draft: Draft) => Figure> = {
  "error-rate": curves,
  "graceful-degradation": curves,
  "packet-success": curves,
  "rate-distortion": rateDistortion,
  "rate-distortion-perception": rateDistortion,
  "channel-uses": channelUses,
  "confusion-matrix": confusionFigure,
  cdf: distribution,
  box: boxPlots,
  difference,
  "heat-map": heatMap,
  curves,
};

/**
 * The figure of a result.
 * @param sha256 of `result.json`, recorded in the figure
 * @returns the figure; of a result that is not complete it has a mark
 * @throws SvcError `usage_invalid`
 */
export function benchmarkFigure(
  result: BenchmarkResult,
  sha256: string,
  request: PlotRequest = {},
  evidence: RowEvidence = NO_EVIDENCE,
): PlotOutcome {
  const mark = incompleteMark(result, evidence.planned ?? countsOf(result).count);
  const plot = request.plot ?? defaultPlot(result);
  const matrix = plot === "confusion-matrix";
  const chosen = chosenRecipes(result, request), heat = plot === "heat-map";
  const axes: { x: string; y: string; value?: string } = matrix
    ? { x: "", y: "" }
    : heat
    ? heatAxes(result, chosen, request)
    : plot === "rate-distortion-perception"
    ? { ...axesOf(result, plot, request), value: axesOf(result, "rate-distortion", { x: request.value }).x }
    : axesOf(result, plot, plot === "cdf" ? { y: request.y ?? request.x } : request);
  const { x, y, value } = axes;
  const along = matrix ? numericCoordinates(result)[0] ?? null : plot === "cdf" || plot === "box" || heat ? null : x;
  const group = request.group ?? "method";
  const groups = groupsOf(result, chosen, group, along, request);
  const bounded = ["error-rate", "graceful-degradation", "curves"].includes(plot);
  const bound = bounded ? boundOf(result, plot, y, request.bound) : "";
  const source = {
    benchmark: `${result.benchmark.id} ${result.benchmark.version}`.trim(),
    result_id: result.result_id,
    result_sha256: sha256,
    ...(mark === null ? {} : { status: mark }),
  };
  const titled = matrix
    ? { title: "", subtitle: "" }
    : titles(result, { ...request, plot, x, y: heat ? value! : y }, new Set(chosen.map(({ id }) => id)));
  const base = { type: plot, source, ...titled };
  const figure = BUILDERS[plot]({ result, groups, base, request: { ...request, plot, ...axes, bound }, evidence });
  return {
    figure: withUnits(mark === null ? figure : { ...figure, mark }, request.units, axes),
    plot,
    ...axes,
    group,
    bound,
    drawn: chosen.map(({ id }) => id),
  };
}

/** The figure with units of the reader along its axes. @throws SvcError `usage_invalid` for what is along none */
function withUnits(
  figure: Figure,
  units: PlotRequest["units"] = {},
  { x, y, value = y }: { x: string; y: string; value?: string },
): Figure {
  const shown: Record<string, string> = figure.form === "matrix"
    ? {}
    : figure.form === "heat"
    ? { x, y, value }
    : "value" in figure
    ? { ...("x" in figure && figure.x !== null ? { x } : {}), value }
    : { x, y };
  const ids = Object.values(shown), unknown = Object.keys(units).filter((id) => !ids.includes(id));
  if (unknown.length > 0) {
    throw new SvcError("usage_invalid", `Cannot give ${unknown.join(", ")} a unit: no axis shows it`, {
      hint: ids.length === 0 ? "This figure has no axis with a unit" : `The axes show ${ids.join(" and ")}`,
    });
  }
  const changed = Object.entries(shown).filter(([, id]) => Object.hasOwn(units, id)).map(([name, id]) => [
    name,
    { ...(figure as unknown as Record<string, FigureAxis>)[name], unit: units[id] },
  ]);
  return { ...figure, ...Object.fromEntries(changed) };
}

/** @throws SvcError `benchmark_incomplete`: a published page would look complete */
export function requireComplete({ status, result_id, incomplete_reason, error }: BenchmarkResult): void {
  if (status === "completed") return;
  const why = error?.message ?? incomplete_reason;
  throw new SvcError("benchmark_incomplete", `Cannot publish ${result_id}: it is ${status}${why ? `, ${why}` : ""}`, {
    hint: status === "running"
      ? "Wait for its end: svc benchmark results"
      : `Finish it: svc benchmark run --resume ${result_id}`,
  });
}

/** Completed replicates of the drawn recipes that have some. */
function replicatesOf(result: BenchmarkResult, drawn: ReadonlySet<string>): number[] {
  const counts = new Map<string, number>();
  // Of many rows the aggregates say it without another pass.
  if (result.rows !== undefined) {
    for (const { recipe_id, n } of result.aggregates) {
      if (drawn.has(recipe_id)) counts.set(recipe_id, Math.max(n, counts.get(recipe_id) ?? 0));
    }
  } else {
    for (const { id } of completedRows(result, drawn)) {
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }
  return [...counts.values()];
}

function titles(
  result: BenchmarkResult,
  { plot, x, y, intervals: over }: Draft["request"],
  drawn: ReadonlySet<string>,
): { title: string; subtitle: string } {
  const counts = replicatesOf(result, drawn), replicates = Math.max(0, ...counts);
  const { name } = metricFacts(result, y);
  const band = `${
    numberText(toNumber(result.replication?.confidence_level ?? 0.95) * 100)
  } % Dvoretzky-Kiefer-Wolfowitz band`;
  const text = plot === "cdf"
    ? band
    : ["difference", "heat-map", "box"].includes(plot)
    ? null
    : intervalsText(result, y, drawn, estimatesFor({ intervals: over }));
  const intervals = text === null ? [] : [text];
  const { id, version, name: pack } = result.benchmark;
  const title = plot === "cdf" || plot === "box"
    ? `Distribution of ${lowerFirst(name)}`
    : x === ""
    ? name
    : `${name} over ${lowerFirst(axisFacts(result, x).title)}`;
  const atMost = Math.min(...counts) < replicates ? "up to " : "";
  const count = replicates > 1 ? [`${atMost}${replicates} replicates`] : [];
  const source = [pack || id, ...(version === "" ? [] : [`version ${version}`])].join(", ");
  return { title, subtitle: [source, ...count, ...intervals].join(" · ") };
}
