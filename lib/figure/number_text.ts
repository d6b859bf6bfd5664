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

/** A mean and half the width of its interval, both to the second digit of the latter: `0.0213 ± 0.0004`. */
export function plusMinusText(mean: number, reach: number, form: NumberForm = "plain"): string {
  const sign = { plain: " +/- ", unicode: " ± ", latex: " \\pm " }[form];
  if (!(reach > 0) || !Number.isFinite(reach)) return numberText(mean, form);
  const { exponent, decimals } = precision(mean, reach);
  const pair = [mean, reach].map((value) => (value / 10 ** exponent).toFixed(decimals)).join(sign);
  return exponent === 0 ? write(pair, 0, form) : write(`(${pair})`, exponent, form);
}

/** A value and its interval to the second digit of half its width: `0.158 [0.153, 0.162]`. */
export function bracketsText(value: number, low: number, high: number, form: NumberForm = "plain"): string {
  if (!(high > low)) return numberText(value, form);
  const { exponent, decimals } = precision(value, (high - low) / 2);
  const [middle, ...ends] = [value, low, high].map((end) => (end / 10 ** exponent).toFixed(decimals));
  const text = `${middle} [${ends.join(", ")}]`;
  return exponent === 0 ? write(text, 0, form) : write(text, exponent, form);
}
