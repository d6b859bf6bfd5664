/** Reads typed numbers; integers and floats are separate types. */
import { Float, float, formatFloat, type Value } from "../../lib/contract/value.ts";
import { parseJson } from "../../lib/contract/json.ts";

export type Read = { value: Value } | { problem: string };

const INTEGER = /^[+-]?\d+$/, DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** An integer. */
export function readInteger(text: string): Read {
  const typed = text.trim();
  if (!INTEGER.test(typed)) return { problem: `Cannot use ${JSON.stringify(typed)} as a whole number` };
  return { value: parseJson(typed.replace(/^\+/, "").replace(/^(-?)0+(?=\d)/, "$1")) as Value };
}

/** A float; `6` is read as 6.0. */
export function readFloat(text: string): Read {
  const typed = text.trim();
  if (!DECIMAL.test(typed)) return { problem: `Cannot use ${JSON.stringify(typed)} as a number` };
  const number = Number(typed);
  if (!Number.isFinite(number)) return { problem: `${typed} is beyond the largest number` };
  return { value: float(number) };
}

/** A value as editable text. */
export function written(value: Value | undefined): string {
  if (value === undefined || value === null) return "";
  // -0.0 is a float without a further mark.
  if (Object.is(value, -0)) return formatFloat(-0);
  if (value instanceof Float) return formatFloat(value.value);
  return typeof value === "string" ? value : String(value);
}
