/** The methods of a comparison: runs that differ only in the swept parameter and in seeds, with a short name each. */
import type { Value } from "../../lib/contract/value.ts";
import { lowerFirst } from "../../lib/contract/sentence.ts";
import { MODULATION_NAMES } from "../../lib/figure/theory_curves.ts";
import { EBN0, isSnr, lastPart, parameterAxis, spoken } from "./parameter_axis.ts";
import { valueKey } from "./pivot.ts";
import { type ComparedRun, isSeed, selectionOf, varying } from "./table.ts";

export interface Method {
  label: string;
  runs: ComparedRun[];
}

/** Parameters beyond which a smallest set is not searched among all. */
const MOST_NAMED = 3;

/**
 * The methods of runs, in the order of the runs.
 *
 * @param x the parameter, or Eb/N0, that is swept
 * @returns each with the values of the smallest set of parameters that tells all methods apart, or the name of its recipe
 *   where that set has several parameters; an empty label for a single method
 */
export function methodsOf(runs: readonly ComparedRun[], x: string): Method[] {
  const names = varying(runs).map(({ name }) => name)
    .filter((name) => name !== x && !isSeed(name) && !(x === EBN0 && isSnr(name)));
  const groups = [...Map.groupBy(runs, ({ parameters }) => keyOf(parameters, names)).values()];
  if (groups.length < 2) return groups.map((runs) => ({ label: "", runs }));
  const heads = groups.map(([{ parameters }]) => parameters);
  // Operations name a method best, then words, then the first parameter of the recipe; a length names it worst.
  const order = [...heads[0].keys()];
  const rank = (name: string) =>
    name.endsWith(".op") ? 0 : typeof heads[0].get(name) === "string" ? 1 : /_(count|length)$/.test(name) ? 3 : 2;
  const sorted = names.toSorted((a, b) => rank(a) - rank(b) || place(order, a) - place(order, b));
  const apart = smallestSet(sorted, (set) => {
    const labels = heads.map((values) => labelOf(values, set));
    return new Set(labels).size === labels.length && !labels.includes("");
  }) ?? sorted;
  // Of variants, the name of their recipe, without the coordinates.
  const recipes = groups.map(([run]) => Object.keys(selectionOf(run)).length > 0 ? run.name.split("__")[0] : run.name);
  const byRecipe = apart.length > 1 && new Set(recipes).size === groups.length;
  return groups.map((runs, at) => ({ label: byRecipe ? recipes[at] : labelOf(heads[at], apart), runs }));
}

const place = (order: readonly string[], name: string) => order.includes(name) ? order.indexOf(name) : order.length;
const keyOf = (values: ReadonlyMap<string, Value>, names: readonly string[]) =>
  JSON.stringify(names.map((name) => valueKey(values.get(name))));

/** Values in words; a missing parameter has none. Exported for tests. */
export const labelOf = (values: ReadonlyMap<string, Value>, names: readonly string[]): string =>
  names.filter((name) => values.has(name)).map((name) => wordsOf(name, values.get(name)!)).join(", ");

/** An operation, a modulation and a text speak for themselves; numbers and switches need the name of their parameter. */
function wordsOf(name: string, value: Value): string {
  const last = lastPart(name), { title, unit } = parameterAxis(name);
  if (last === "op") return spoken(lastPart(String(value)).replace(/_?(en|de)coder?$/, ""));
  if (last === "modulation") return MODULATION_NAMES[String(value)] ?? valueKey(value);
  const parameter = lowerFirst(title);
  if (value === false || value === "none") return `no ${parameter}`;
  if (value === true) return parameter;
  if (value === "learned_artifact") return "trained network";
  if (typeof value === "string" && /^[a-z]\w*$/.test(value)) return spoken(value);
  return `${parameter} ${valueKey(value)} ${unit}`.trim();
}

/** The first smallest set of names that suffices; beyond three names, one that no name can leave. */
function smallestSet(names: readonly string[], suffices: (set: string[]) => boolean): string[] | undefined {
  for (let size = 1; size <= Math.min(MOST_NAMED, names.length); size++) {
    const found = setsOf(names, size).find(suffices);
    if (found !== undefined) return found;
  }
  if (!suffices([...names])) return undefined;
  return names.toReversed().reduce((set, name) => {
    const less = set.filter((one) => one !== name);
    return suffices(less) ? less : set;
  }, [...names]);
}

function setsOf(names: readonly string[], size: number): string[][] {
  if (size === 0) return [[]];
  return names.flatMap((name, at) => setsOf(names.slice(at + 1), size - 1).map((set) => [name, ...set]));
}

/** Energies in which methods differ beside the swept one: why a comparison over Es/N0 needs a word; null for none. */
export function rateNotice(methods: readonly Method[], x: string): string | null {
  if (!isSnr(x)) return null;
  const rates = methods.map(({ runs }) => {
    const [rate, bits] = ["channel.code_rate", "channel.bits_per_symbol"].map((id) =>
      valueKey(runs[0].metrics.get(id))
    );
    return Number(rate) * Number(bits);
  });
  if (rates.some(Number.isNaN) || Math.max(...rates) - Math.min(...rates) < 1e-9) return null;
  const [low, high] = [Math.min(...rates), Math.max(...rates)].map((rate) => String(Number(rate.toPrecision(3))));
  return `The methods send ${low} to ${high} information bits per symbol: equal Es/N0 is not equal energy per bit. ` +
    "Choose Eb/N0 to compare at equal energy per information bit.";
}

/** Why Eb/N0 is not offered where some runs have it: the recipes whose accounting is missing; null where none has it, or all. */
export function missingNotice(runs: readonly ComparedRun[]): string | null {
  const without = runs.filter(({ metrics }) => !metrics.has(EBN0));
  if (without.length === 0 || without.length === runs.length) return null;
  const names = [...new Set(without.map(({ name }) => name.split("__")[0]))].join(", ");
  return `No Eb/N0: channel.communication_resource_accounting, which counts the bits of a symbol, is not in ${names}.`;
}
