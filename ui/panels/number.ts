/** Numbers as they are read: few digits here, every digit on copy and in exports. */
import { toNumber, type Value } from "../../lib/contract/value.ts";
import { numberText } from "../../lib/figure/number_text.ts";

/** A measured value of a document, or a dash. */
export function shownNumber(value: Value | undefined): string {
  if (value === null || value === undefined) return "–";
  const number = toNumber(value as number);
  return Number.isFinite(number) ? numberText(number) : String(number);
}
