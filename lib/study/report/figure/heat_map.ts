/** A metric over two dimensions of a sweep. */
import { SvcError } from "../../../contract/error.ts";
import { canonicalJson } from "../../../contract/json.ts";
import { isNumber, toNumber, type Value } from "../../../contract/value.ts";
import type { HeatFigure } from "../../../figure/types.ts";
import { findMetric } from "../../../research/catalog.ts";
import type { BenchmarkResult, ResultRow } from "../../pack/types.ts";
import { coordinatesOf, estimateOf, metricFacts } from "../../rows/estimates.ts";
import { lowerFirst } from "../../../contract/sentence.ts";
import { axisFacts, metricAxis } from "../plot_defaults.ts";
import { axis } from "./points.ts";
import type { Draft, PlotRequest } from "./types.ts";

/** The two dimensions and the metric of a heat map. @throws SvcError `usage_invalid` with the choices */
export function heatAxes(
  result: BenchmarkResult,
  recipes: readonly ResultRow[],
  { x, y, value }: Pick<PlotRequest, "x" | "y" | "value">,
): { x: string; y: string; value: string } {
  const swept = coordinatesOf(result).filter((name) => placesOf(recipes, name).length > 1);
  const unknown = [x, y].find((name) => name !== undefined && placesOf(recipes, name).length === 0);
  const first = x ?? swept.find((name) => name !== y), second = y ?? swept.find((name) => name !== first);
  if (unknown !== undefined || first === undefined || second === undefined || first === second) {
    const there = swept.length === 0 ? "none" : swept.join(", ");
    throw new SvcError(
      "usage_invalid",
      unknown !== undefined
        ? `Cannot draw a heat map over ${unknown}: it is no dimension of these recipes`
        : "Cannot draw a heat map: it needs two dimensions with several values each",
      { hint: `Dimensions with several values: ${there}; give two of them as --x and --y` },
    );
  }
  return { x: first, y: second, value: metricAxis(result, "heat-map", value) };
}

/** The values of a dimension: numbers ascending, texts in the order of the recipes. */
function placesOf(recipes: readonly ResultRow[], name: string): Value[] {
  const found = new Map(recipes.flatMap(({ matrix_selection }): [string, Value][] => {
    const value = matrix_selection?.[name];
    return value === undefined ? [] : [[canonicalJson(value), value]];
  }));
  const values = [...found.values()];
  return values.every(isNumber) ? values.sort((a, b) => toNumber(a as number) - toNumber(b as number)) : values;
}

const textOf = (value: Value): string =>
  isNumber(value) ? String(toNumber(value)) : typeof value === "string" ? value : canonicalJson(value);

export function heatMap(draft: Draft): HeatFigure {
  const { result, groups, base, request } = draft, { x, y, value: metric = "" } = request;
  const recipes = groups.flatMap(({ recipes }) => recipes);
  const columns = placesOf(recipes, x).map(textOf), rows = placesOf(recipes, y).map(textOf);
  const owners = new Map<string, string>();
  const cells = recipes.flatMap(({ id, matrix_selection }): HeatFigure["cells"] => {
    const [atX, atY] = [matrix_selection?.[x], matrix_selection?.[y]], estimate = estimateOf(result, id, metric);
    if (atX === undefined || atY === undefined || estimate === null) return [];
    const [column, row] = [columns.indexOf(textOf(atX)), rows.indexOf(textOf(atY))], key = `${column},${row}`;
    const owner = owners.get(key);
    if (owner !== undefined) {
      throw new SvcError(
        "usage_invalid",
        `Cannot draw two recipes in one cell: ${owner} and ${id} are both at ${x} = ${columns[column]}, ${y} = ${
          rows[row]
        }`,
        { hint: `Choose one with --where, such as --where method=${groups.map(({ key }) => key)[0]}` },
      );
    }
    owners.set(key, id);
    const { mean, low, high, bound, n } = estimate;
    return [{ column, row, value: mean, low, high, ...(bound === undefined ? {} : { bound }), n }];
  });
  const values = cells.flatMap(({ value, bound }) => bound ?? value ?? []);
  if (values.length === 0) {
    throw new SvcError("usage_invalid", `Cannot draw a heat map: no recipe at two places has ${metric}`);
  }
  // A rate that spans decades is read on a scale of decades.
  const log = findMetric(metric)?.statistic === "rate" && Math.min(...values) > 0 &&
    Math.max(...values) >= 10 * Math.min(...values);
  const [along, up] = [x, y].map((id) => lowerFirst(axisFacts(result, id).title));
  return {
    ...base,
    title: `${metricFacts(result, metric).name} over ${along} and ${up}`,
    subtitle: [
      base.subtitle,
      ...(cells.some(({ bound }) => bound !== undefined) ? ["≤ no error seen: bound"] : []),
      ...(cells.length < columns.length * rows.length ? ["blank: no result"] : []),
    ].join(" · "),
    form: "heat",
    x: axis(result, x),
    y: axis(result, y),
    value: axis(result, metric, log ? "log" : "linear"),
    columns,
    rows,
    cells,
  };
}
