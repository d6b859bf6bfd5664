/**
 * From a result to a figure: which rows make a series, where their points lie and how sure they are. Everything that is
 * drawn comes from `result.json`, save confusion matrices, which are reports, and the recipes that tell whether a closed
 * form applies; both stand in the evidence of the rows.
 */
import { basename } from "node:path";
import { SvcError } from "../contract/error.ts";
import { canonicalJson } from "../contract/json.ts";
import { isNumber, isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import { numberText } from "../figure/number_text.ts";
import { paretoFront } from "../figure/pareto.ts";
import { unitText } from "../figure/unit_text.ts";
import type { BarFigure, CurveFigure, Figure, FigurePoint, FigureSeries, FigureType } from "../figure/types.ts";
import { confusionFigure } from "./confusion.ts";
import { completedRows, type Estimate, estimateOf, type IntervalMethod, metricFacts, recipesOf } from "./estimates.ts";
import { axesOf, axisFacts, boundOf, defaultPlot, numericCoordinates } from "./plot_defaults.ts";
import { coordinatesOf } from "./report_tables.ts";
import { theoryCurves, uncodedLink } from "./theory_curves.ts";
import { mean } from "../numeric/statistics.ts";
import type { BenchmarkResult, ResultRow } from "./types.ts";

/** What to plot; everything has a default. */
export interface PlotRequest {
  plot?: FigureType;
  x?: string;
  y?: string;
  /** `method`, `recipe`, `role` or `metric:<id>`: what makes a series. */
  group?: string;
  /** Series in this order; the others follow in the order of the pack. */
  methodOrder?: readonly string[];
  /** Only these recipes. */
  recipes?: readonly string[];
  /** Only recipes with these values of a coordinate or a metric. */
  where?: Readonly<Record<string, string | number>>;
  /** Which interval of a rate with counts. */
  interval?: IntervalMethod;
  /** Metric that bounds the one along y, drawn as theory; empty for none. */
  bound?: string;
}

/** What stands beside a result, read when it is needed. */
export interface RowEvidence {
  /** The effective recipe of a row, or null. */
  recipe(row: ResultRow): JsonObject | null;
  /** The reports of a row, decoded. */
  reports(row: ResultRow): JsonObject[];
}

export const NO_EVIDENCE: RowEvidence = { recipe: () => null, reports: () => [] };

/** A figure, and the request that made it with its defaults filled in. */
export interface PlotOutcome {
  figure: Figure;
  plot: FigureType;
  x: string;
  y: string;
  group: string;
  /** Empty for none. */
  bound: string;
}

/** A series to be: some recipes under one name. */
interface Group {
  label: string;
  kind: "measured" | "baseline";
  recipes: ResultRow[];
}

/**
 * The figure of a result.
 *
 * @param sha256 of `result.json`, to which the figure is bound
 * @throws SvcError `benchmark_incomplete`, `usage_invalid`
 */
export function benchmarkFigure(
  result: BenchmarkResult,
  sha256: string,
  request: PlotRequest = {},
  evidence: RowEvidence = NO_EVIDENCE,
): PlotOutcome {
  requireComplete(result);
  const plot = request.plot ?? defaultPlot(result);
  const recipes = chosenRecipes(result, request);
  const group = request.group ?? "method";
  const source = {
    benchmark: `${result.benchmark.id} ${result.benchmark.version}`,
    result_id: result.result_id,
    result_sha256: sha256,
  };
  if (plot === "confusion-matrix") {
    const along = numericCoordinates(result)[0] ?? null;
    const methods = groupsOf(result, recipes, group, along, request.methodOrder);
    const figure = confusionFigure(result, methods, source, evidence);
    return { figure, plot, x: "", y: "", group, bound: "" };
  }
  const { x, y } = axesOf(result, plot, plot === "cdf" ? { y: request.y ?? request.x } : request);
  const groups = groupsOf(result, recipes, group, plot === "cdf" ? null : x, request.methodOrder);
  const base = { type: plot, source, ...titles(result, plot, x, y, request.interval) };
  const make = { cdf: distribution, "rate-distortion": rateDistortion, "channel-uses": channelUses }[plot as string] ??
    curves;
  const bound = plot === "error-rate" || plot === "graceful-degradation" ? boundOf(result, plot, y, request.bound) : "";
  return { figure: make(result, groups, base, { ...request, plot, x, y, bound }, evidence), plot, x, y, group, bound };
}

type Base = Pick<CurveFigure, "type" | "source" | "title" | "subtitle">;
type Filled = PlotRequest & { plot: FigureType; x: string; y: string };

/** @throws SvcError `benchmark_incomplete`: a figure of half a benchmark looks like one of a whole */
export function requireComplete({ status, result_id, incomplete_reason, error }: BenchmarkResult): void {
  if (status === "completed") return;
  const why = error?.message ?? incomplete_reason;
  throw new SvcError("benchmark_incomplete", `Cannot show ${result_id}: it is ${status}${why ? `, ${why}` : ""}`, {
    hint: status === "running"
      ? "Wait for its end: svc benchmark results"
      : `Finish it: svc benchmark run --resume ${result_id}`,
  });
}

function chosenRecipes(result: BenchmarkResult, { recipes: wanted, where = {} }: PlotRequest): ResultRow[] {
  const recipes = recipesOf(result).filter(({ id }) => completedRows(result, id).length > 0);
  const unknown = (wanted ?? []).filter((id) => !recipes.some((recipe) => recipe.id === id));
  if (unknown.length > 0) {
    throw new SvcError("usage_invalid", `Cannot plot ${unknown.join(", ")}: no completed row is of such a recipe`, {
      hint: `There are ${recipes.map(({ id }) => id).join(", ")}`,
    });
  }
  const named = wanted === undefined ? recipes : recipes.filter(({ id }) => wanted.includes(id));
  const chosen = named.filter((recipe) =>
    Object.entries(where).every(([id, value]) => matches(result, recipe, id, value))
  );
  if (chosen.length > 0) return chosen;
  const asked = Object.entries(where).map(([id, value]) => `${id} = ${value}`).join(" and ");
  throw new SvcError("usage_invalid", `Cannot plot anything: no recipe has ${asked || "completed"}`, {
    hint: Object.keys(where).map((id) => `${id} takes the values ${textsOf(result, named, id).join(", ")}`).join("; "),
  });
}

/** Whether a recipe has a value of a coordinate or a metric; numbers as texts count as what they say. */
function matches(result: BenchmarkResult, recipe: ResultRow, id: string, value: string | number): boolean {
  const coordinate = recipe.matrix_selection?.[id];
  if (coordinate !== undefined && !isNumber(coordinate)) return textOf(coordinate) === String(value);
  return value !== "" && placeOf(result, recipe, id) === Number(value);
}

/** The different values of a coordinate or a metric for a message. */
function textsOf(result: BenchmarkResult, recipes: readonly ResultRow[], id: string): string[] {
  const texts = recipes.flatMap(({ matrix_selection }) => {
    const value = matrix_selection?.[id];
    return value === undefined || isNumber(value) ? [] : [textOf(value)];
  });
  return texts.length > 0 ? [...new Set(texts)] : valuesOf(result, recipes, id).map(String);
}

/** The different values of a coordinate or a metric, ascending. */
function valuesOf(result: BenchmarkResult, recipes: readonly ResultRow[], id: string): number[] {
  const values = recipes.map((recipe) => placeOf(result, recipe, id)).filter((value) => value !== null);
  return [...new Set(values)].sort((a, b) => a - b);
}

const CONFIDENCE = (result: BenchmarkResult) =>
  numberText(toNumber(result.replication?.confidence_level ?? 0.95) * 100);

function titles(
  result: BenchmarkResult,
  plot: FigureType,
  x: string,
  y: string,
  interval: IntervalMethod = "wilson",
): { title: string; subtitle: string } {
  const counts = recipesOf(result).map(({ id }) => completedRows(result, id).length).filter((count) => count > 0);
  const replicates = Math.max(0, ...counts);
  const { name, counts: counting, statistic } = metricFacts(result, y);
  const counted = statistic === "rate" && counting !== null && interval === "wilson";
  const method = plot === "cdf"
    ? "Dvoretzky-Kiefer-Wolfowitz band"
    : counted
    ? "Wilson intervals"
    : "Student-t intervals";
  const intervals = plot === "cdf" || counted || replicates > 1 ? [`${CONFIDENCE(result)} % ${method}`] : [];
  const { id, version, name: pack } = result.benchmark;
  const over = plot === "cdf"
    ? `Distribution of ${lowerFirst(name)}`
    : x === ""
    ? name
    : `${name} over ${lowerFirst(axisFacts(result, x).title)}`;
  const atMost = Math.min(...counts) < replicates ? "up to " : "";
  const count = replicates > 1 ? [`${atMost}${replicates} replicates`] : [];
  return { title: over, subtitle: [`${pack || id}, version ${version}`, ...count, ...intervals].join(" · ") };
}

/** Sentence case in the middle of a sentence; abbreviations stay. */
const lowerFirst = (text: string) => /^[A-Z][a-z]/.test(text) ? text[0].toLowerCase() + text.slice(1) : text;

/** The value of a metric or a coordinate of a recipe; null where it has none. */
function placeOf(result: BenchmarkResult, recipe: ResultRow, id: string): number | null {
  const coordinate = recipe.matrix_selection?.[id];
  if (isNumber(coordinate)) return toNumber(coordinate);
  return estimateOf(result, recipe.id, id)?.mean ?? null;
}

function groupsOf(
  result: BenchmarkResult,
  recipes: readonly ResultRow[],
  group: string,
  x: string | null,
  order: readonly string[] = [],
): Group[] {
  const groups = new Map<string, Group>();
  const labels = groupLabels(result, recipes, group, x);
  for (const recipe of recipes) {
    const label = labels.get(recipe.id)!;
    const kind = isBaseline(result, recipe) ? "baseline" : "measured";
    const known = groups.get(label);
    if (known === undefined) groups.set(label, { label, kind, recipes: [recipe] });
    else known.recipes.push(recipe);
  }
  const unknown = order.filter((label) => !groups.has(label));
  if (unknown.length > 0) {
    throw new SvcError("usage_invalid", `Cannot order ${unknown.join(", ")}: there is no such series`, {
      hint: `There are ${[...groups.keys()].join(", ")}`,
    });
  }
  const place = (label: string) => order.includes(label) ? order.indexOf(label) : order.length;
  const sorted = [...groups.values()].sort((a, b) => place(a.label) - place(b.label));
  if (group !== "method") return sorted;
  const spoken = sorted.map((one) => sharedLabel(one.recipes) ?? one.label);
  return sorted.map((one, i) =>
    spoken.indexOf(spoken[i]) === spoken.lastIndexOf(spoken[i]) ? { ...one, label: spoken[i] } : one
  );
}

/** What the labels of a method's recipes begin with, up to the comma before what differs: "MUSIC" of "MUSIC, 0 dB". */
function sharedLabel(recipes: readonly ResultRow[]): string | null {
  if (recipes.every(({ id, label }) => id === label)) return null;
  const [first, ...others] = recipes.map(({ label }) => label.split(", "));
  const differs = first.findIndex((part, i) => others.some((parts) => parts[i] !== part));
  const shared = first.slice(0, differs < 0 ? first.length : differs);
  return shared.length > 0 ? shared.join(", ") : null;
}

/** The series of each recipe. A method that was measured twice at one x is told apart by what else its recipes differ in. */
function groupLabels(
  result: BenchmarkResult,
  recipes: readonly ResultRow[],
  group: string,
  x: string | null,
): Map<string, string> {
  const labels = new Map(recipes.map((recipe) => [recipe.id, groupLabel(result, recipe, group)]));
  if (group !== "method" || x === null) return labels;
  for (const label of new Set(labels.values())) {
    const members = recipes.filter(({ id }) => labels.get(id) === label);
    const places = members.map((recipe) => placeOf(result, recipe, x));
    if (new Set(places).size === places.length) continue;
    const differing = coordinatesOf(result).filter((name) =>
      name !== x && `channel.${name}` !== x &&
      new Set(members.map(({ matrix_selection }) => canonicalJson(matrix_selection?.[name] ?? null))).size > 1
    );
    for (const { id, matrix_selection } of members) {
      const parts = differing.map((name) => {
        const value = matrix_selection?.[name] ?? null;
        return typeof value === "string" ? value : `${name} = ${canonicalJson(value)}`;
      });
      labels.set(id, [label, ...parts].join(", "));
    }
  }
  return labels;
}

function groupLabel(result: BenchmarkResult, recipe: ResultRow, group: string): string {
  if (group === "recipe") return recipe.label;
  if (group === "role") return recipe.role;
  // Without declared methods, the recipes of one file are one method.
  if (group === "method") {
    return recipe.method_id ?? recipe.baseline_id ?? basename(recipe.recipe_path).replace(/\.[^.]+$/, "");
  }
  const id = /^metric:(.+)$/.exec(group)?.[1];
  if (id === undefined) {
    throw new SvcError("usage_invalid", `Cannot group by ${group}`, {
      hint: "Use method, recipe, role or metric:<id>",
    });
  }
  const coordinate: Value | undefined = recipe.matrix_selection?.[id];
  const value = coordinate !== undefined && !isNumber(coordinate) ? null : placeOf(result, recipe, id);
  if (value === null && coordinate === undefined) {
    throw new SvcError("usage_invalid", `Cannot group by ${id}: the recipe ${recipe.id} does not have it`);
  }
  const unit = unitText(axisFacts(result, id).unit);
  const text = value === null ? textOf(coordinate!) : numberText(value, "unicode");
  return `${id} = ${text}${unit === "" ? "" : ` ${unit}`}`;
}

const textOf = (value: Value) => typeof value === "string" ? value : canonicalJson(value);

function isBaseline({ benchmark }: BenchmarkResult, { id, role, method_id, baseline_id }: ResultRow): boolean {
  return role === "baseline" ||
    [id, method_id, baseline_id].some((name) => name !== null && benchmark.baselines.includes(name));
}

const axis = (
  result: BenchmarkResult,
  id: string,
  scale: "linear" | "log" = "linear",
  domain: [number, number] | null = null,
) => {
  const { title, unit } = axisFacts(result, id);
  return { title, unit: unitText(unit), scale, domain };
};

function pointOf(x: number, estimate: Estimate | null, outage: number | null): FigurePoint {
  return {
    x,
    y: estimate?.mean ?? null,
    low: estimate?.low ?? null,
    high: estimate?.high ?? null,
    ...(estimate?.upperBound === undefined ? {} : { bound: estimate.upperBound }),
    ...(outage === null ? {} : { outage }),
    ...(estimate === null ? {} : { n: estimate.n }),
  };
}

/** Share of items that a recipe lost, where it says so and the figure is not about that itself. */
function outageOf(result: BenchmarkResult, recipe: ResultRow, { plot, y }: Filled): number | null {
  if (plot !== "graceful-degradation" && plot !== "rate-distortion") return null;
  if (y === "channel.outage_rate") return null;
  return estimateOf(result, recipe.id, "channel.outage_rate")?.mean ?? null;
}

interface PlacedPoint {
  recipe: ResultRow;
  point: FigurePoint;
}

/** The points of a group in the order of x; a recipe with neither a value nor an outage has none. */
function pointsOf(result: BenchmarkResult, { recipes }: Group, request: Filled): PlacedPoint[] {
  return recipes.flatMap((recipe): PlacedPoint[] => {
    const x = placeOf(result, recipe, request.x);
    const estimate = estimateOf(result, recipe.id, request.y, request.interval);
    const outage = outageOf(result, recipe, request);
    if (x === null || (estimate === null && !(outage !== null && outage > 0))) return [];
    return [{ recipe, point: pointOf(x, estimate, outage) }];
  }).sort((a, b) => a.point.x - b.point.x || (a.point.y ?? -Infinity) - (b.point.y ?? -Infinity));
}

/** @throws SvcError `usage_invalid` where a line would have to be in two places at once */
function requireOneLine({ label }: Group, points: readonly PlacedPoint[], request: Filled): void {
  const twice = points.findIndex(({ point }, i) => i > 0 && point.x === points[i - 1].point.x);
  if (twice < 0) return;
  const [a, b] = [points[twice - 1].recipe.id, points[twice].recipe.id];
  throw new SvcError(
    "usage_invalid",
    `Cannot draw ${label} as one line: ${a} and ${b} are both at ${request.x} = ${numberText(points[twice].point.x)}`,
    { hint: "Tell them apart with --group recipe or --group metric:<id>, or choose some with --recipe" },
  );
}

function requirePoints(series: readonly FigureSeries[], { plot, x, y }: Filled): void {
  if (series.some(({ points }) => points.length > 0)) return;
  throw new SvcError("usage_invalid", `Cannot plot ${plot}: no recipe has both ${x || "a place"} and ${y}`);
}

const PROBABILITY: [number, number] = [0, 1];

/** Values over a coordinate: error rates, quality, packet success. */
function curves(
  result: BenchmarkResult,
  groups: readonly Group[],
  base: Base,
  request: Filled,
  evidence: RowEvidence,
): CurveFigure {
  const placed = groups.map((group) => {
    const points = pointsOf(result, group, request);
    requireOneLine(group, points, request);
    return points;
  });
  const series: FigureSeries[] = groups.map(({ label, kind }, i) => ({
    label,
    kind,
    points: placed[i].map(({ point }) => point),
  })).filter(({ points }) => points.length > 0 && (request.plot !== "error-rate" || points.some(isDrawable)));
  requirePoints(series, request);
  const theory = request.plot !== "error-rate" ? [] : theoryCurves(
    request.y,
    placed.map((points) =>
      points.map(({ recipe, point }) => ({
        x: point.x,
        link: uncodedLink(evidence.recipe(completedRows(result, recipe.id)[0])),
      }))
    ),
  );
  series.push(...theory.map(({ label, points }): FigureSeries => ({
    label,
    kind: "theory",
    points: points.map((point) => ({ ...point, low: null, high: null })),
  })));
  if (request.bound) series.push(boundSeries(result, groups, request, request.bound));
  const share = request.plot === "packet-success" && metricFacts(result, request.y).unit === "fraction";
  return {
    ...base,
    form: "curves",
    x: axis(result, request.x),
    y: axis(result, request.y, request.plot === "error-rate" ? "log" : "linear", share ? PROBABILITY : null),
    series,
    step: false,
    front: null,
  };
}

/** Whether a logarithmic axis has a place for it: an exact 0, as of an oracle, has none. */
const isDrawable = ({ y, bound, outage = 0 }: FigurePoint) => y !== 0 || bound !== undefined || outage > 0;

/** The bound at every place, the mean over all recipes there: what they share needs no interval. */
function boundSeries(result: BenchmarkResult, groups: readonly Group[], request: Filled, bound: string): FigureSeries {
  const found = new Map<number, number[]>();
  for (const recipe of groups.flatMap(({ recipes }) => recipes)) {
    const x = placeOf(result, recipe, request.x), value = estimateOf(result, recipe.id, bound)?.mean;
    if (x !== null && value !== null && value !== undefined) found.set(x, [...found.get(x) ?? [], value]);
  }
  const points = [...found].sort(([a], [b]) => a - b).map(([x, values]) => ({
    x,
    y: Number(mean(values).toPrecision(12)),
    low: null,
    high: null,
  }));
  return { label: metricFacts(result, bound).name, kind: "theory", whole: true, points };
}

function rateDistortion(result: BenchmarkResult, groups: readonly Group[], base: Base, request: Filled): CurveFigure {
  const series: FigureSeries[] = groups.map((group) => ({
    label: group.label,
    kind: group.kind,
    points: pointsOf(result, group, request).map(({ point }) => point),
  })).filter(({ points }) => points.length > 0);
  requirePoints(series, request);
  // A rate is a cost, whether or not the catalogue takes sides.
  const direction = (id: string, otherwise: "lower_is_better" | "higher_is_better") => {
    const known = metricFacts(result, id).direction;
    return known === "neutral" ? otherwise : known;
  };
  const [x, y] = [direction(request.x, "lower_is_better"), direction(request.y, "higher_is_better")];
  const drawn = series.flatMap(({ points }) => points).filter((point) => point.y !== null);
  const flags = paretoFront(drawn.map((point) => ({ x: point.x, y: point.y! })), x, y);
  drawn.forEach((point, i) => point.front = flags[i]);
  // A front over several channels compares what was not measured alike: say so.
  const snrs = valuesOf(result, groups.flatMap(({ recipes }) => recipes), "channel.snr_db");
  const [low, high] = [snrs[0], snrs.at(-1)!].map((value) => numberText(value, "unicode"));
  const mixed = snrs.length > 1 ? ` · SNR from ${low} to ${high} dB together` : "";
  return {
    ...base,
    subtitle: base.subtitle + mixed,
    form: "curves",
    x: axis(result, request.x),
    y: axis(result, request.y),
    series,
    step: false,
    front: x === "lower_is_better" ? "after" : "before",
  };
}

/** Bars where each method has one value, lines where it depends on a coordinate. */
function channelUses(
  result: BenchmarkResult,
  groups: readonly Group[],
  base: Base,
  request: Filled,
  evidence: RowEvidence,
): CurveFigure | BarFigure {
  const constant = groups.map(({ recipes }) => {
    const estimates = recipes.flatMap(({ id }) => estimateOf(result, id, request.y) ?? []);
    return estimates.every(({ mean }) => mean === estimates[0].mean) ? estimates[0] ?? null : undefined;
  });
  if (constant.some((estimate) => estimate === undefined)) return curves(result, groups, base, request, evidence);
  const bars = groups.flatMap(({ label, kind }, i) => {
    const estimate = constant[i];
    if (estimate?.mean === null || estimate?.mean === undefined) return [];
    // Methods whose count never varies have no interval worth drawing.
    const { mean, low, high } = estimate;
    return [{ label, kind, value: mean, low: low === high ? null : low, high: low === high ? null : high }];
  });
  if (bars.length === 0) requirePoints([], request);
  const { name } = metricFacts(result, request.y);
  const drawn = bars.some(({ low }) => low !== null);
  const subtitle = drawn
    ? base.subtitle
    : base.subtitle.split(" · ").filter((part) => !part.includes(" % ")).join(" · ");
  return { ...base, title: name, subtitle, form: "bars", value: axis(result, request.y), bars };
}

/** Values of a metric item by item, where exactly one report of a row has them. */
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
 * Share of items, such as images, at or below each value, or of rows where reports do not tell items apart; with the band
 * that holds the whole function at the confidence.
 */
function distribution(
  result: BenchmarkResult,
  groups: readonly Group[],
  base: Base,
  request: Filled,
  evidence: RowEvidence,
): CurveFigure {
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
  requirePoints(series, { ...request, x: "a row" });
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
