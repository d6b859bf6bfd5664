/** The recipes of a figure, and its series. */
import { basename } from "node:path";
import { SvcError } from "../../../contract/error.ts";
import { canonicalJson } from "../../../contract/json.ts";
import { isNumber, toNumber, type Value } from "../../../contract/value.ts";
import { numberText } from "../../../figure/number_text.ts";
import { unitText } from "../../../figure/unit_text.ts";
import { coordinatesOf, estimateOf, recipesOf } from "../../rows/estimates.ts";
import { completedRow } from "../../rows/stored_rows.ts";
import { axisFacts } from "../plot_defaults.ts";
import type { BenchmarkResult, ResultRow } from "../../pack/types.ts";
import type { Group, PlotRequest } from "./types.ts";

/** The recipes selected by a request. @throws SvcError `usage_invalid` for none */
export function chosenRecipes(result: BenchmarkResult, { recipes: wanted, where = {} }: PlotRequest): ResultRow[] {
  const recipes = recipesOf(result).filter(({ id }) => completedRow(result, id) !== undefined);
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

/** Whether a recipe has a value of a coordinate or a metric; numbers as texts count as numbers. */
function matches(result: BenchmarkResult, recipe: ResultRow, id: string, value: string | number): boolean {
  const coordinate = recipe.matrix_selection?.[id];
  if (id === "method" && coordinate === undefined) return groupLabel(result, recipe, "method") === String(value);
  if (coordinate !== undefined && !isNumber(coordinate)) return textOf(coordinate) === String(value);
  return value !== "" && placeOf(result, recipe, id) === Number(value);
}

/** The distinct values of a coordinate or a metric, for a message. */
function textsOf(result: BenchmarkResult, recipes: readonly ResultRow[], id: string): string[] {
  const texts = recipes.flatMap(({ matrix_selection }) => {
    const value = matrix_selection?.[id];
    return value === undefined || isNumber(value) ? [] : [textOf(value)];
  });
  return texts.length > 0 ? [...new Set(texts)] : valuesOf(result, recipes, id).map(String);
}

/** The coordinates that all recipes have alike, as texts. */
export function fixedValues(recipes: readonly ResultRow[]): Map<string, string> {
  const names = new Set(recipes.flatMap(({ matrix_selection }) => Object.keys(matrix_selection ?? {})));
  return new Map([...names].flatMap((name): [string, string][] => {
    const texts = new Set(recipes.map(({ matrix_selection }) => textOf(matrix_selection?.[name] ?? null)));
    return texts.size === 1 ? [[name, [...texts][0]]] : [];
  }));
}

/** The distinct values of a coordinate or a metric, ascending. */
export function valuesOf(result: BenchmarkResult, recipes: readonly ResultRow[], id: string): number[] {
  const values = recipes.map((recipe) => placeOf(result, recipe, id)).filter((value) => value !== null);
  return [...new Set(values)].sort((a, b) => a - b);
}

/** The value of a metric or a coordinate of a recipe, or null. */
export function placeOf(result: BenchmarkResult, recipe: ResultRow, id: string): number | null {
  const coordinate = recipe.matrix_selection?.[id];
  if (isNumber(coordinate)) return toNumber(coordinate);
  return estimateOf(result, recipe.id, id)?.mean ?? null;
}

/** The series of a figure. @throws SvcError `usage_invalid` for an order or grouping that does not apply */
export function groupsOf(
  result: BenchmarkResult,
  recipes: readonly ResultRow[],
  group: string,
  x: string | null,
  { methodOrder: order = [], label: names = {} }: Pick<PlotRequest, "methodOrder" | "label"> = {},
): Group[] {
  const groups = new Map<string, Group>();
  const labels = groupLabels(result, recipes, group, x);
  for (const recipe of recipes) {
    const label = labels.get(recipe.id)!;
    const kind = isBaseline(result, recipe) ? "baseline" : "measured";
    const known = groups.get(label);
    if (known === undefined) groups.set(label, { key: label, label, kind, recipes: [recipe] });
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
  if (group !== "method") return renamed(sorted, names);
  const spoken = sorted.map((one) => sharedLabel(one.recipes) ?? one.label);
  const labelled = sorted.map((one, i) =>
    spoken.indexOf(spoken[i]) === spoken.lastIndexOf(spoken[i]) ? { ...one, label: spoken[i] } : one
  );
  return renamed(labelled, names);
}

/** Series with names of the reader, by key or label. @throws SvcError `usage_invalid` for a name of no series */
function renamed(groups: readonly Group[], names: Readonly<Record<string, string>>): Group[] {
  const unknown = Object.keys(names).filter((id) => !groups.some(({ key, label }) => key === id || label === id));
  if (unknown.length > 0) {
    throw new SvcError("usage_invalid", `Cannot rename ${unknown.join(", ")}: there is no such series`, {
      hint: `There are ${groups.map(({ key }) => key).join(", ")}`,
    });
  }
  const named = new Map(Object.entries(names));
  return groups.map((one) => ({ ...one, label: named.get(one.key) ?? named.get(one.label) ?? one.label }));
}

/**
 * Common prefix of the labels of a method's recipes, up to the last comma before the difference: "MUSIC" of "MUSIC, 0
 * dB".
 */
function sharedLabel(recipes: readonly ResultRow[]): string | null {
  if (recipes.every(({ id, label }) => id === label)) return null;
  const [first, ...others] = recipes.map(({ label }) => label.split(", "));
  const differs = first.findIndex((part, i) => others.some((parts) => parts[i] !== part));
  const shared = first.slice(0, differs < 0 ? first.length : differs);
  return shared.length > 0 ? shared.join(", ") : null;
}

/**
 * The series of each recipe. A method with several values at one x is split by the other differences of its recipes.
 */
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
    const others = coordinatesOf(result).filter((name) => name !== x && `channel.${name}` !== x);
    const valuesOf = (name: string) => members.map(({ matrix_selection }) => matrix_selection?.[name] ?? null);
    // Along a measured quantity, such as Eb/N0, no two points have the same place: each modulation is a line.
    const isMeasured = others.length === coordinatesOf(result).length;
    const isText = (name: string) => valuesOf(name).every((value) => typeof value === "string");
    const places = members.map((recipe) => placeOf(result, recipe, x));
    const collide = new Set(places).size < places.length;
    const differing = others.filter((name) =>
      (isMeasured && !collide ? isText(name) : collide) &&
      new Set(valuesOf(name).map((value) => canonicalJson(value))).size > 1
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
