/** Numbers for readers: four significant digits, and powers of ten for very small and very large values. */

/** Notation of powers of ten: `2.1e-4`, `2.1×10⁻⁴` or `$2.1 \times 10^{-4}$`. */
export type NumberForm = "plain" | "unicode" | "latex";

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

export function superscript(exponent: number): string {
  return String(exponent).replace("-", "⁻").replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)]);
}

/** The exponent of the first digit: 2 for 150, -3 for 0.0015. */
export function magnitude(value: number): number {
  return Number(value.toExponential().split("e")[1]);
}

export function write(text: string, exponent: number, form: NumberForm): string {
  if (form === "latex") return exponent === 0 ? `$${text}$` : `$${text} \\times 10^{${exponent}}$`;
  const signed = form === "unicode" ? text.replaceAll("-", "−") : text;
  if (exponent === 0) return signed;
  return form === "plain" ? `${text}e${exponent}` : `${signed}×10${superscript(exponent)}`;
}

/** Whether a value is written with a power of ten. */
export const isScaled = (value: number) => value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6);

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
