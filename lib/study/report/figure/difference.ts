/**
 * Paired differences to a baseline, point by point: each series minus the baseline at the same place along x, with the
 * interval of the pairs. The pairs are those of `lib/study/pack/compare.ts`: items in common, else common replicates.
 */
import { SvcError } from "../../../contract/error.ts";
import { lowerFirst } from "../../../contract/sentence.ts";
import { toNumber } from "../../../contract/value.ts";
import { numberText } from "../../../figure/number_text.ts";
import type { CurveFigure, FigurePoint, FigureSeries } from "../../../figure/types.ts";
import { Comparisons } from "../../pack/compare.ts";
import { sampleOf } from "../../pack/samples.ts";
import type { ComparisonRow } from "../../pack/types.ts";
import { differenceOf, metricFacts } from "../../rows/estimates.ts";
import { allRows } from "../../rows/stored_rows.ts";
import { axisFacts } from "../plot_defaults.ts";
import { fixedValues } from "./groups.ts";
import { axis, pointsOf, requireOneLine, requirePoints } from "./points.ts";
import type { Draft, Group } from "./types.ts";

/**
 * The series that a request names as the baseline, or the only one that the pack names.
 * @throws SvcError `usage_invalid`
 */
export function baselineOf(
  groups: readonly Group[],
  wanted: string | undefined,
  isNamed = ({ kind }: Group) => kind === "baseline",
): Group {
  const choices = groups.map(({ key }) => key).join(", ");
  if (groups.length < 2) {
    throw new SvcError("usage_invalid", "Cannot take differences of one series", {
      hint: "Choose recipes of several methods, or separate them with --group",
    });
  }
  const found = wanted === undefined
    ? groups.filter(isNamed)
    : [namesOf, distinguishingValues].map((names) => groups.filter((one) => names(one, groups).includes(wanted)))
      .find((found) => found.length > 0) ?? [];
  if (found.length === 1) return found[0];
  const why = found.length === 0 ? "no series" : `${found.length} series`;
  throw new SvcError(
    "usage_invalid",
    wanted === undefined
      ? `Cannot choose a baseline: the pack names ${why} as one`
      : `Cannot use ${wanted} as the baseline: ${why} ${found.length === 0 ? "has" : "have"} this name`,
    { hint: `Give --baseline as one of: ${choices}` },
  );
}

const namesOf = ({ key, label, recipes }: Group): (string | null)[] => [
  key,
  label,
  ...recipes.flatMap(({ method_id, baseline_id }) => [method_id, baseline_id]),
];

/** Values of coordinates that one series has and no other, alone and as `name=value`. */
function distinguishingValues(group: Group, groups: readonly Group[]): string[] {
  const others = groups.filter((other) => other !== group).map(({ recipes }) => fixedValues(recipes));
  return [...fixedValues(group.recipes)].filter(([name, value]) => others.every((other) => other.get(name) !== value))
    .flatMap(([name, value]) => [value, `${name}=${value}`]);
}

export function difference(draft: Draft): CurveFigure {
  const { result, groups, base, request } = draft;
  const reference = baselineOf(groups, request.baseline);
  const placed = groups.map((group) => {
    const points = pointsOf(draft, group).filter(({ point }) => point.y !== null || point.bound !== undefined);
    requireOneLine(draft, group, points);
    return points;
  });
  const places = new Map(placed.flat().map(({ recipe, point }) => [recipe.id, Number(point.x.toPrecision(12))]));
  const level = result.replication?.confidence_level ?? 0.95;
  const baselines = reference.recipes.map(({ id }) => id);
  const comparisons = new Comparisons(baselines, [metricFacts(result, request.y)], level);
  for (const row of allRows(result)) {
    const x = places.get(row.id);
    if (x === undefined) continue;
    // Recipes at one place along x are compared, whatever else they differ in.
    const place = { method_id: null, baseline_id: null, aggregation_cell_id: String(x), matrix_selection: {} };
    comparisons.add({ id: row.id, ...place }, sampleOf(row, [{ id: request.y }]));
  }
  const rows = new Map(comparisons.rows().map((row) => [row.candidate_id, row]));
  const series: FigureSeries[] = groups.flatMap(({ label, kind }, i) => {
    if (groups[i] === reference) return [];
    const points = placed[i].flatMap(({ recipe, point }) => {
      const row = rows.get(recipe.id);
      return row === undefined ? [] : [pointOf(point.x, row)];
    });
    return points.length === 0 ? [] : [{ label, kind, points }];
  });
  requirePoints({ ...draft, request: { ...request, x: `${request.x} of the baseline` } }, series);
  const name = `Difference in ${lowerFirst(metricFacts(result, request.y).name)}`;
  const pairs = [...new Set([...rows.values()].filter(({ ci_low }) => ci_low !== null).map(({ pairing }) => pairing))];
  const intervals = pairs.length === 0
    ? []
    : [`${numberText(toNumber(level) * 100)} % intervals over pairs of ${pairs.map((one) => `${one}s`).join(" and ")}`];
  return {
    ...base,
    title: `${name} over ${lowerFirst(axisFacts(result, request.x).title)}`,
    subtitle: [base.subtitle, ...intervals, `each minus ${reference.label}`].join(" · "),
    form: "curves",
    x: axis(result, request.x),
    y: { ...axis(result, request.y), title: name },
    series,
    step: false,
    front: null,
    guides: [{ axis: "y", at: 0, label: reference.label, whole: true }],
  };
}

function pointOf(x: number, row: ComparisonRow): FigurePoint {
  const { mean, low, high } = differenceOf(row);
  return { x, y: mean, low, high, n: row.n };
}
