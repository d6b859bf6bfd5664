/** How much of the spread of a metric each varied parameter explains, and runs as lines over their parameters. */
import { canonicalJson } from "../../lib/contract/json.ts";
import { isNumber, toNumber, type Value } from "../../lib/contract/value.ts";
import type { ComparedRun } from "./table.ts";

/** Groups into which more distinct numbers are cut. */
const MOST_GROUPS = 6;

/** A run with its metric and the values of the varied parameters. */
export interface Point {
  id: string;
  metric: number;
  /** The metric as it is drawn and counted: its decimal logarithm where it spans decades. */
  level: number;
  values: readonly (Value | undefined)[];
}

/** A metric whose values span this ratio is counted in decades. */
const DECADES = 30;

/** Runs that have the metric as a number. */
export function pointsOf(runs: readonly ComparedRun[], params: readonly string[], metric: string): Point[] {
  const found = runs.flatMap(({ id, metrics, parameters }) => {
    const value = metrics.get(metric);
    return isNumber(value ?? null)
      ? [{ id, metric: toNumber(value as number), values: params.map((name) => parameters.get(name)) }]
      : [];
  });
  const values = found.map(({ metric }) => metric), least = Math.min(...values);
  const log = least > 0 && Math.max(...values) > DECADES * least;
  return found.map((point) => ({ ...point, level: log ? Math.log10(point.metric) : point.metric }));
}

/** Whether the metric of points is counted in decades. */
export const inDecades = (points: readonly Point[]): boolean => points.some(({ level, metric }) => level !== metric);

/**
 * The share of the variance of a metric that the means over the values of a parameter explain: epsilon squared,
 * 1 - (SSW / (n - k)) / (SST / (n - 1)) for n runs in k groups, at least 0. It is eta squared without the bias of small groups.
 * More than six distinct numbers are cut into six groups of equal size.
 *
 * @returns null where every run is a group of its own, or the metric does not vary
 * @see T. L. Kelley, An unbiased correlation ratio measure, PNAS 21(9), 1935
 */
export function importanceOf(points: readonly Point[], param: number): number | null {
  const groups = new Map<string, number[]>();
  for (const [at, key] of groupKeys(points.map(({ values }) => values[param])).entries()) {
    groups.set(key, [...groups.get(key) ?? [], points[at].level]);
  }
  const n = points.length, k = groups.size;
  const total = squares(points.map(({ level }) => level));
  if (n <= k || k < 2 || total === 0) return null;
  const within = [...groups.values()].reduce((sum, members) => sum + squares(members), 0);
  return Math.max(0, 1 - within / (n - k) / (total / (n - 1)));
}

/** The sum of squared distances from the mean. */
function squares(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
}

function groupKeys(values: readonly (Value | undefined)[]): string[] {
  const texts = values.map((value) => canonicalJson(value ?? null));
  if (new Set(texts).size <= MOST_GROUPS || !values.every((value) => isNumber(value ?? null))) return texts;
  const numbers = values.map((value) => toNumber(value as number)), sorted = numbers.toSorted((a, b) => a - b);
  return numbers.map((number) => String(Math.floor(sorted.indexOf(number) / sorted.length * MOST_GROUPS)));
}

/** An axis of parallel coordinates: a parameter, with those that split the runs in the same way. */
export interface ParameterAxis {
  /** Of the first parameter in the points. */
  at: number;
  name: string;
  others: string[];
}

/**
 * Parameters as axes. Those that split the runs alike cannot be told apart, and are one axis; of more axes than `most`, the
 * ones that explain the largest shares of the variance stay, in their order.
 */
export function axesOf(points: readonly Point[], params: readonly string[], most: number): ParameterAxis[] {
  const axes = new Map<string, ParameterAxis>();
  for (const [at, name] of params.entries()) {
    const texts = points.map(({ values }) => canonicalJson(values[at] ?? null));
    const split = texts.map((text) => texts.indexOf(text)).join();
    const known = axes.get(split);
    if (known === undefined) axes.set(split, { at, name, others: [] });
    else known.others.push(name);
  }
  const all = [...axes.values()];
  const kept = all.toSorted((a, b) => (importanceOf(points, b.at) ?? 0) - (importanceOf(points, a.at) ?? 0)).slice(
    0,
    most,
  );
  return all.filter((axis) => kept.includes(axis));
}

/** Positions 0 … 1 of values on an axis: numbers by size, other values evenly in the order of their texts. */
export function positions(
  values: readonly (Value | undefined)[],
  textOf = (number: number) => String(Number(number.toPrecision(4))),
): { at: number[]; ticks: [at: number, text: string][] } {
  const shown = (value: Value | undefined) =>
    typeof value === "string" ? value : value === undefined ? "–" : canonicalJson(value);
  const numbers = values.flatMap((value) => isNumber(value ?? null) ? [toNumber(value as number)] : []);
  const missing = values.filter((value) => value === undefined).length;
  if (numbers.length > 0 && numbers.length + missing === values.length) {
    // Runs without the parameter stand below its least number.
    const floor = missing > 0 ? MISSING : 0, low = Math.min(...numbers), high = Math.max(...numbers);
    const place = (number: number) => floor + (1 - floor) * (high === low ? 0.5 : (number - low) / (high - low));
    const distinct = [...new Set(numbers)];
    const marked = distinct.length <= MOST_TICKS ? distinct : [low, high];
    return {
      at: values.map((value) => value === undefined ? 0 : place(toNumber(value as number))),
      ticks: [
        ...(missing > 0 ? [[0, shown(undefined)] as [number, string]] : []),
        ...marked.map((number): [number, string] => [place(number), textOf(number)]),
      ],
    };
  }
  const distinct = [...new Set(values.map(shown))].sort();
  const place = (text: string) => distinct.length === 1 ? 0.5 : distinct.indexOf(text) / (distinct.length - 1);
  return { at: values.map((value) => place(shown(value))), ticks: distinct.map((text) => [place(text), text]) };
}

const MOST_TICKS = 8;
/** Share of an axis below its numbers, at whose foot the runs without the parameter stand. */
const MISSING = 0.15;
