/** Measured numbers for readers: a mean rounded to its interval, and bounds. Files for programs have all digits. */
import type { NoEvent, StatisticalUnit } from "../numeric/scores/rate_interval.ts";
import { isScaled, magnitude, type NumberForm, numberText, write } from "./digits.ts";

export { type NumberForm, numberText, superscript } from "./digits.ts";

/** The common power of ten, and the decimals of a value known to the second digit of `reach`. */
function precision(value: number, reach: number): { exponent: number; decimals: number } {
  const exponent = isScaled(value) ? magnitude(value) : 0;
  const decimals = Math.min(12, Math.max(0, 1 - magnitude(reach / 10 ** exponent)));
  return { exponent, decimals };
}

/** A measured value with its interval, or the bound of a rate without events. */
export interface ShownEstimate {
  mean: number | null;
  low: number | null;
  high: number | null;
  bound?: number;
  none?: NoEvent;
}

/** What a rate counts, and the name of the share of it that fails. */
const COUNTED: Readonly<Record<StatisticalUnit, readonly [units: string, rate: string]>> = {
  bit: ["bits", "BER"],
  fading_block: ["fading blocks", "share with errors"],
  source_item: ["items", "share with errors"],
  transport_block: ["blocks", "BLER"],
  packet: ["blocks", "BLER"],
};

/**
 * A rate without events: `0 errors in 8 blocks: BLER at most 0.31; about 300 blocks give 1e-2`. Units bound the share of units
 * that fail, whatever the rate counts inside of them. The number of units without an event is that for the decade
 * below a tenth of the bound.
 */
function boundText({ unit, units, bound, complement, confidence }: NoEvent, form: NumberForm = "plain"): string {
  const [counted, name] = COUNTED[unit], rate = complement ? "success rate" : name;
  const decade = Math.floor(Math.log10(bound)) - 1, wanted = -Math.log1p(-confidence) / 10 ** decade;
  const needed = Number(wanted.toPrecision(1));
  const target = form === "latex" ? `$10^{${decade}}$` : `1e${decade}`;
  const whole = (count: number) => String(count).replace(/\B(?=(\d{3})+$)/g, form === "latex" ? "\\," : "\u202f");
  return `0 ${complement ? "successes" : "errors"} in ${whole(units)} ${
    units === 1 ? counted.slice(0, -1) : counted
  }: ` +
    `${rate} at most ${numberText(bound, form, 2)}; about ${whole(needed)} ${counted} give ${target}`;
}

/** A spread below this share of the value is rounding: the value is a constant. */
const ROUNDING = 1e-12;

/**
 * The one way to show a measured number: value, interval or bound, and unit, to the second digit of half the interval:
 * `28.23 ± 0.04 dB`, `0.158 [0.153, 0.164]` for an interval that is not symmetric, and for a rate without events the text of
 * {@link boundText}, or `at most 0.031` where its units are not known. An interval far wider than its value does not round it
 * to nothing: value and ends have two digits each, `0.0035 [8.9e-5, 0.49]`.
 * @param unit as it is printed; empty for none
 */
export function estimateText(estimate: ShownEstimate | null, form: NumberForm = "plain", unit = ""): string {
  if (estimate === null) return "–";
  const behind = unit === "" ? "" : ` ${unit}`;
  const { mean, low, high, bound } = estimate;
  if (estimate.none !== undefined) return boundText(estimate.none, form);
  if (bound !== undefined) return `at most ${numberText(bound, form, 2)}${behind}`;
  if (mean === null) return "–";
  const reach = low === null || high === null ? NaN : (high - low) / 2;
  if (!(reach > ROUNDING * Math.abs(mean)) || !Number.isFinite(reach)) return numberText(mean, form) + behind;
  const symmetric = Math.abs((high! + low!) / 2 - mean) <= 1e-9 * reach;
  if (!symmetric && mean !== 0 && Math.abs(mean) < 10 ** magnitude(reach)) {
    const [value, from, to] = [mean, low!, high!].map((one) => numberText(one, form, 2));
    return `${value} [${from}, ${to}]${behind}`;
  }
  const { exponent, decimals } = precision(mean, reach);
  const digits = (value: number) => (value / 10 ** exponent).toFixed(decimals);
  const sign = { plain: " +/- ", unicode: " ± ", latex: " \\pm " }[form];
  const text = symmetric ? [mean, reach].map(digits).join(sign) : `${digits(mean)} [${digits(low!)}, ${digits(high!)}]`;
  return write(symmetric && exponent !== 0 ? `(${text})` : text, exponent, form) + behind;
}
