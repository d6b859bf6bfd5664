/**
 * Numbers for readers: four significant digits, powers of ten for very small and very large values, and a mean rounded
 * to its interval. Files for programs have all digits.
 */

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
}

/** A spread below this share of the value is rounding: the value is a constant. */
const ROUNDING = 1e-12;

/**
 * The one way to show a measured number: value, interval or bound, and unit, to the second digit of half the interval:
 * `28.23 ± 0.04 dB`, `0.158 [0.153, 0.164]` for an interval that is not symmetric, `< 3.0×10⁻⁴`, `0 (too few units)` where the
 * bound of a rate is 1.
 * @param unit as it is printed; empty for none
 */
export function estimateText(estimate: ShownEstimate | null, form: NumberForm = "plain", unit = ""): string {
  if (estimate === null) return "–";
  const behind = unit === "" ? "" : ` ${unit}`;
  const { mean, low, high, bound } = estimate;
  if (bound !== undefined) {
    // Up to three units without an event bound nothing.
    if (bound >= 1) return "0 (too few units)";
    const text = numberText(bound, form, 2);
    return (form === "latex" ? `$< ${text.slice(1)}` : `< ${text}`) + behind;
  }
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
