/** The empirical distribution of errors, with its median and its 90th percentile. */
import { isNumber, type JsonObject, toNumber } from "../../lib/contract/value.ts";
import { numberText } from "../../lib/figure/number_text.ts";
import type { CurveFigure, FigurePoint } from "../../lib/figure/types.ts";

/** Errors of a report, one for each example. */
export interface ErrorList {
  /** Key in the report. */
  name: string;
  title: string;
  unit: string;
  values: number[];
}

const UNITS: Readonly<Record<string, string>> = { deg: "°", m: "m", mps: "m/s", hz: "Hz", s: "s", db: "dB" };

/** The lists of errors of a report, by name: `errors_m`, `angle_errors_deg`. */
export function errorLists(report: JsonObject): ErrorList[] {
  return Object.entries(report).flatMap(([name, list]) => {
    const words = name.split("_"), at = words.indexOf("errors");
    if (at < 0 || !Array.isArray(list) || list.length < 2 || !list.every(isNumber)) return [];
    const what = words.slice(0, at).join(" "), suffix = words.slice(at + 1).join(" ");
    const unit = UNITS[suffix] ?? suffix;
    const title = what === "" ? { "°": "Angle error", m: "Position error" }[unit] ?? "Error" : `${what} error`;
    return [{ name, title: title[0].toUpperCase() + title.slice(1), unit, values: list.map(toNumber) }];
  });
}

/** The quantile of a share of the examples. Exported for tests. */
export function quantileOf(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
}

/** The empirical distribution of the moduli. */
export function errorFigure(
  { title, unit, values }: ErrorList,
  facts: { subtitle: string; source: Record<string, string> },
): CurveFigure {
  const moduli = values.map(Math.abs).sort((a, b) => a - b);
  const steps = moduli.flatMap((x, i): FigurePoint[] =>
    x === moduli[i + 1] ? [] : [{ x, y: (i + 1) / moduli.length, low: null, high: null }]
  );
  const guide = (share: number, name: string) => {
    const at = quantileOf(moduli, share);
    return { axis: "x" as const, at, label: `${name} ${numberText(at, "unicode", 3)}${unit === "" ? "" : ` ${unit}`}` };
  };
  return {
    ...facts,
    form: "curves",
    type: "cdf",
    title: `${title}: how many examples stay below`,
    x: { title, unit, scale: "linear", domain: null },
    y: { title: "Share of examples at or below", unit: "", scale: "linear", domain: [0, 1] },
    series: [{ label: title, kind: "measured", points: [{ x: 0, y: 0, low: null, high: null }, ...steps] }],
    step: true,
    front: null,
    guides: [guide(0.5, "median"), guide(0.9, "90 %")],
  };
}
