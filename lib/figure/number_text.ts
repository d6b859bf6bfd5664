/**
 * Numbers for readers: four significant digits, powers of ten for very small and very large values, and a mean rounded
 * to its interval. Files for programs have all digits.
 */
import type { NoEvent, StatisticalUnit } from "../numeric/scores/rate_interval.ts";

/** Notation of powers of ten: `2.1e-4`, `2.1×10⁻⁴` or `$2.1 \times 10^{-4}$`. */
export type NumberForm = "plain" | "unicode" | "latex";

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

export function superscript(exponent: number): string {
  return String(exponent).replace("-", "⁻").replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)]);
}

/** The exponent of the first digit: 2 for 150, -3 for 0.0015. */
function magnitude(value: number): number {
  return Number(value.toExponential().split("e")[1]);
}

function write(text: string, exponent: number, form: NumberForm): string {
  if (form === "latex") return exponent === 0 ? `$${text}$` : `$${text} \\times 10^{${exponent}}$`;
  const signed = form === "unicode" ? text.replaceAll("-", "−") : text;
  if (exponent === 0) return signed;
  return form === "plain" ? `${text}e${exponent}` : `${signed}×10${superscript(exponent)}`;
}

/** Whether a value is written with a power of ten. */
const isScaled = (value: number) => value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6);

/**
 * A number with at most `digits` significant digits.
 * @param value null and non-finite values become a dash
 */
export function numberText(value: number | null, form: NumberForm = "plain", digits = 4): string {
  if (value === null || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return write(String(value), 0, form);
  const rounded = Number(value.toPrecision(digits));
  if (!isScaled(rounded)) return write(String(rounded), 0, form);
  const [mantissa, exponent] = String(rounded.toExponential()).split("e");
  return write(mantissa, Number(exponent), form);
}

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
 * {@link boundText}, or `at most 0.031` where its units are not known.
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
  const { exponent, decimals } = precision(mean, reach);
  const digits = (value: number) => (value / 10 ** exponent).toFixed(decimals);
  const symmetric = Math.abs((high! + low!) / 2 - mean) <= 1e-9 * reach;
  const sign = { plain: " +/- ", unicode: " ± ", latex: " \\pm " }[form];
  const text = symmetric ? [mean, reach].map(digits).join(sign) : `${digits(mean)} [${digits(low!)}, ${digits(high!)}]`;
  return write(symmetric && exponent !== 0 ? `(${text})` : text, exponent, form) + behind;
}
