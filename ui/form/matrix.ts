/** Typed values of a matrix dimension: lists and ranges as text, and back. */
import { canonicalJson, parseJson } from "../../lib/contract/json.ts";
import { Float, float, formatFloat, isNumber, isObject, toNumber, type Value } from "../../lib/contract/value.ts";
import { type Read, readFloat, readInteger } from "./number.ts";

/** Maximum number of variants of a recipe. */
export const MOST_VARIANTS = 256;

/**
 * Reads typed values: `0, 5, 10`, `qpsk, qam16`, or a range `0:2:10` (from, step, to), which becomes a list.
 *
 * @param types that the parameter accepts, "integer", "number", "string" …
 */
export function readValues(text: string, types: readonly string[]): { values: Value[] } | { problem: string } {
  const typed = text.trim();
  if (typed === "") return { problem: "List at least one value" };
  const range = /^([^:,]+):([^:,]+)(?::([^:,]+))?$/.exec(typed);
  if (range !== null && types.some((type) => type === "integer" || type === "number")) {
    return expand(range[1], range[3] === undefined ? "1" : range[2], range[3] ?? range[2], types);
  }
  if (typed.startsWith("[")) {
    try {
      return { values: parseJson(typed) as Value[] };
    } catch {
      return { problem: "Cannot read this as a JSON list" };
    }
  }
  const values: Value[] = [];
  for (const piece of typed.split(",").map((piece) => piece.trim())) {
    const read = readOne(piece, types);
    if ("problem" in read) return read;
    values.push(read.value);
  }
  return { values };
}

/** Several values that were typed into the field of one: Enter sweeps them. Null for anything else. */
export function sweptValues(text: string, types: readonly string[]): Value[] | null {
  const read = types.includes("string") ? { values: [] } : readValues(text, types);
  return "values" in read && read.values.length > 1 ? read.values : null;
}

/** A name for a new dimension over a parameter. */
export const freeDimension = (param: string, dimensions: readonly string[]): string =>
  dimensions.includes(param) ? `${param}_2` : param;

function readOne(piece: string, types: readonly string[]): Read {
  const tries: Read[] = [];
  if (types.includes("integer")) tries.push(readInteger(piece));
  if (types.includes("number")) tries.push(readFloat(piece));
  if (types.includes("boolean") && /^(true|false)$/.test(piece)) tries.push({ value: piece === "true" });
  if (types.includes("null") && piece === "null") tries.push({ value: null });
  const fine = tries.find((read) => "value" in read);
  if (fine !== undefined) return fine;
  if (types.includes("string")) return { value: piece.replace(/^"(.*)"$/, "$1") };
  return tries[0] ?? readJson(piece);
}

function readJson(piece: string): Read {
  try {
    return { value: parseJson(piece) as Value };
  } catch {
    return { value: piece };
  }
}

function expand(
  from: string,
  by: string,
  to: string,
  types: readonly string[],
): { values: Value[] } | { problem: string } {
  const read = [from, by, to].map((piece) => readFloat(piece));
  if (!read.every((one) => "value" in one && isNumber(one.value))) return { problem: "Write a range as from:step:to" };
  const [first, step, last] = read.map((one) => toNumber((one as { value: number | Float }).value));
  if (step === 0 || (last - first) / step < 0) return { problem: "The step does not lead from the first to the last" };
  const count = Math.floor((last - first) / step + 1e-9) + 1;
  if (count > MOST_VARIANTS) return { problem: `${count} values are more than ${MOST_VARIANTS}` };
  const whole = !types.includes("number");
  const digits = Math.max(...[from, by].map((piece) => /\.(\d+)/.exec(piece)?.[1].length ?? 0));
  // Each value is read from its decimal text, not summed from steps.
  const numbers = Array.from({ length: count }, (_, index) => Number((first + index * step).toFixed(digits)));
  if (whole && !numbers.every(Number.isInteger)) return { problem: "This parameter takes whole numbers" };
  return { values: numbers.map((number) => whole ? number : float(number)) };
}

/** Values as editable text. */
export const writtenValues = (values: readonly Value[]): string =>
  values.some((value) => Array.isArray(value) || isObject(value))
    ? canonicalJson([...values])
    : values.map((value) => value instanceof Float ? formatFloat(value.value) : String(value)).join(", ");
