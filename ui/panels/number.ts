/** Numbers as they are read: few digits here, every digit on copy and in exports. */
import { toNumber, type Value } from "../../lib/contract/value.ts";
import { estimateText, numberText } from "../../lib/figure/number_text.ts";

/** A measured value with its interval or bound, as documents have them. */
export function shownEstimate(mean: Value | undefined, low?: Value, high?: Value, bound?: Value): string {
  const number = (value: Value | undefined) => value === null || value === undefined ? null : toNumber(value as number);
  const upper = number(bound);
  return estimateText(
    { mean: number(mean), low: number(low), high: number(high), ...(upper === null ? {} : { bound: upper }) },
    "unicode",
  );
}

/** A measured value of a document, or a dash. */
export function shownNumber(value: Value | undefined): string {
  if (value === null || value === undefined) return "–";
  const number = toNumber(value as number);
  return Number.isFinite(number) ? numberText(number) : String(number);
}
