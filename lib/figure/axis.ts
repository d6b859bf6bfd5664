/** Axes: domains of the drawn values, ticks at round places, and labels for print. */
import { numberText, superscript } from "./number_text.ts";
import type { FigureAxis } from "./types.ts";

/** Parts of a Vega-Lite position channel. */
export interface Position {
  scale: { [key: string]: unknown };
  axis: { [key: string]: unknown };
  title: string;
}

/** Labels of named places: those of negative numbers have the sign of other numbers. */
export const SIGNED = "replace(datum.label, regexp('^-'), '−')";

/** Number of decades above which only every second, third, … decade is labelled. */
const LABELLED_DECADES = 8;

export const axisTitle = ({ title, unit }: FigureAxis): string => unit === "" ? title : `${title} (${unit})`;

/** The decades of all values: `[-5, 0]` for 2e-5 … 0.3. */
export function decadesOf(values: readonly number[]): [number, number] {
  const positive = values.filter((value) => value > 0);
  if (positive.length === 0) return [-1, 0];
  // The tolerance assigns a value such as 0.001 to its decade despite rounding of the logarithm.
  const low = Math.floor(Math.log10(Math.min(...positive)) + 1e-9);
  const high = Math.ceil(Math.log10(Math.max(...positive)) - 1e-9);
  // Adding 0 turns -0 into 0.
  return [low + 0, Math.max(high, low + 1) + 0];
}

function logPosition(axis: FigureAxis, values: readonly number[]): Position {
  const { domain } = axis;
  const [low, high] = decadesOf(domain ?? values);
  const decades = Array.from({ length: high - low + 1 }, (_, i) => low + i);
  const every = Math.ceil(decades.length / (LABELLED_DECADES + 1));
  const minor = decades.length - 1 <= LABELLED_DECADES ? [2, 3, 4, 5, 6, 7, 8, 9] : [];
  // A single decade has few powers of ten: 2 and 5 are labelled too.
  const labelled = decades.length <= 2 ? [2, 5] : [];
  const ticks = decades.flatMap((decade) => [
    { value: Number(`1e${decade}`), label: (decade - low) % every === 0 ? `10${superscript(decade)}` : "" },
    ...minor.filter(() => decade < high).map((digit) => ({
      value: Number(`${digit}e${decade}`),
      label: labelled.includes(digit) ? `${digit}×10${superscript(decade)}` : "",
    })),
  ]).filter(({ value }) => domain === null || (value >= domain[0] && value <= domain[1]));
  // Part of a decade may have no power of ten, nor any of its multiples.
  if (domain !== null && ticks.filter(({ label }) => label !== "").length < 2) return nearlyLinear(axis, domain);
  const labels = Object.fromEntries(
    ticks.filter(({ label }) => label !== "").map(({ value, label }) => [value, label]),
  );
  return {
    title: axisTitle(axis),
    scale: { type: "log", domain: domain ?? [Number(`1e${low}`), Number(`1e${high}`)], nice: false },
    axis: {
      values: ticks.map(({ value }) => value),
      labelExpr: `(${JSON.stringify(labels)})[toString(datum.value)] || ''`,
      labelOverlap: false,
      // Lines at the decades, lighter ones between them.
      gridOpacity: { condition: { test: isDecade, value: 1 }, value: 0.35 },
      tickOpacity: { condition: { test: isDecade, value: 1 }, value: 0 },
    },
  };
}

/** A small part of a logarithmic axis, with evenly spaced ticks. */
function nearlyLinear(axis: FigureAxis, [low, high]: [number, number]): Position {
  const step = roundStep((high - low) / 4), ticks: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) ticks.push(Number((k * step).toPrecision(6)));
  const labels = Object.fromEntries(ticks.map((value) => [value, numberText(value, "unicode")]));
  return {
    title: axisTitle(axis),
    scale: { type: "log", domain: [low, high], nice: false },
    axis: {
      values: ticks,
      labelExpr: `(${JSON.stringify(labels)})[toString(datum.value)] || ''`,
      labelOverlap: true,
    },
  };
}

/** The smallest of 1, 2 and 5 times a power of ten not below a length. */
function roundStep(length: number): number {
  const power = 10 ** Math.floor(Math.log10(length));
  return [1, 2, 5, 10].map((digit) => digit * power).find((candidate) => candidate >= length)!;
}

const isDecade = "abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) < 1e-6";

/** Up to this number of distinct places, each measured place has a label. */
const EVERY_PLACE = 9;

/**
 * Scale and ticks of an axis.
 * @param values all values along it
 * @param measured chosen places, such as the Es/N0 of a sweep; if few, they become the ticks
 */
export function position(axis: FigureAxis, values: readonly number[], measured: readonly number[] = []): Position {
  if (axis.scale === "log") return logPosition(axis, values);
  const places = [...new Set(measured)].sort((a, b) => a - b);
  const chosen = places.length > 1 && places.length <= EVERY_PLACE && evenly(places) ? { values: places } : {};
  // A share or a score ends at 1.
  const most = axis.unit === "" && Math.max(...values.filter(Number.isFinite)) <= 1 ? 1 : Infinity;
  return {
    title: axisTitle(axis),
    scale: axis.domain === null
      ? { domain: padded(values, places.length === 0, most), nice: places.length === 0, zero: false }
      : { domain: axis.domain, nice: false },
    axis: { ...chosen, labelOverlap: true },
  };
}

/** Whether all places are equally far apart. */
function evenly(places: readonly number[]): boolean {
  const step = (places.at(-1)! - places[0]) / (places.length - 1);
  return places.every((place, i) => Math.abs(place - places[0] - i * step) < 1e-6 * step);
}

/**
 * The range of the values with a margin, so that no marker touches the frame.
 * @param keepSign an axis of values: no margin below 0 for non-negative ones, and `most` as end
 * @param most the largest possible value; Infinity without one
 */
function padded(values: readonly number[], keepSign: boolean, most: number): [number, number] {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return [0, 1];
  const low = Math.min(...finite), high = Math.max(...finite);
  const margin = low === high ? Math.max(Math.abs(low) * 0.1, 0.5) : (high - low) * 0.04;
  // The interval of a share near 0 may end just below 0.
  const isPositive = low >= -0.01 * (high - low);
  // Rounds so that the digits do not depend on the order of operations.
  const start = keepSign && isPositive ? Math.max(0, low - margin) : low - margin;
  // A score of 0.7 is read against 1, a share of 0.05 is not.
  const end = keepSign && high > most / 2 ? most : Math.min(high + margin, most);
  return [start, end].map((value) => Number(value.toPrecision(12))) as [number, number];
}
