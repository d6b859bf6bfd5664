/**
 * Typed JSON values.
 *
 * Integer and float are two types in files, hashes and memory: `6` and `6.0` stay distinct. All data of the program,
 * parsed or built in code, uses one convention:
 * - an integral JavaScript number (other than -0) and a bigint are integers,
 * - every other number is a float, and a `Float` is a float with an integral value.
 */

/**
 * A float with an integral value, such as `6.0`; constructed by {@link float}.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { Float, float } from "./value.ts";
 *
 * const snr = float(6);
 * assert.ok(snr instanceof Float && snr.value === 6);
 * assert.equal(String(snr), "6.0");
 * assert.equal(float(2.5), 2.5);
 * ```
 */
export class Float {
  constructor(readonly value: number) {}
  valueOf(): number {
    return this.value;
  }
  toString(): string {
    return formatFloat(this.value);
  }
  /** Keeps the type in `JSON.stringify`. */
  toJSON(): unknown {
    return (JSON as typeof JSON & { rawJSON(text: string): unknown }).rawJSON(formatFloat(this.value));
  }
}

export type Scalar = null | boolean | string | number | bigint | Float;
/**
 * Any typed value. Declare a document with known fields as a `type`, not as an `interface`: only a type is a
 * {@link Serializable}, and a JsonObject can be narrowed to it.
 */
export type Value = Scalar | Value[] | { [key: string]: Value };
export type JsonObject = { [key: string]: Value };
/** A value that can be written as JSON: read-only data counts, and undefined members are left out. */
export type Serializable = Scalar | undefined | readonly Serializable[] | { readonly [key: string]: Serializable };

/**
 * Marks a number as a float, whatever its value.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { canonicalJson } from "./json.ts";
 * import { float } from "./value.ts";
 *
 * assert.equal(canonicalJson({ snr_db: float(6) }), '{"snr_db":6.0}');
 * ```
 */
export function float(value: number): number | Float {
  return Number.isInteger(value) && !Object.is(value, -0) ? new Float(value) : value;
}

/** The integer of a digit token: a number up to a magnitude of 2^53, a bigint beyond. */
export function integer(digits: string | bigint): number | bigint {
  const value = BigInt(digits);
  return value >= -(2n ** 53n) && value <= 2n ** 53n ? Number(value) : value;
}

export function isInteger(value: unknown): value is number | bigint {
  return typeof value === "bigint" ||
    (typeof value === "number" && Number.isInteger(value) && !Object.is(value, -0));
}

/** Exported for tests. */
export function isFloat(value: unknown): value is number | Float {
  return value instanceof Float || (typeof value === "number" && !isInteger(value));
}

export function isNumber(value: unknown): value is number | bigint | Float {
  return typeof value === "number" || typeof value === "bigint" || value instanceof Float;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Float);
}

/** The binary64 value of any typed number. */
export function toNumber(value: number | bigint | Float): number {
  return value instanceof Float ? value.value : Number(value);
}

/** The JSON type name of a typed value: null, boolean, integer, number (a float), string, array or object. */
export function typeName(value: Value): "null" | "boolean" | "integer" | "number" | "string" | "array" | "object" {
  if (value === null) return "null";
  if (isInteger(value)) return "integer";
  if (isFloat(value)) return "number";
  if (Array.isArray(value)) return "array";
  return typeof value as "boolean" | "string" | "object";
}

/** Deep copy; numbers keep their type. */
export function cloneValue<T extends Value>(value: T): T {
  if (Array.isArray(value)) return value.map(cloneValue) as T;
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cloneValue(item)])) as T;
  }
  return value;
}

/** Plain JavaScript for computation: `Float` becomes number, integers beyond 2^53 stay bigint. */
export function toPlain(value: Value): unknown {
  if (value instanceof Float) return value.value;
  if (Array.isArray(value)) return value.map(toPlain);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPlain(item)]));
  return value;
}

/**
 * The canonical text of a float: the shortest digits that round-trip, positional for 0 and 1e-4 <= |x| < 1e16 with `.0`
 * for an integral value, otherwise `d[.ddd]e±XX`.
 * @throws RangeError for NaN and infinities
 */
export function formatFloat(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`Cannot write ${value} as JSON`);
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  if (Math.abs(value) >= 1e-4 && Math.abs(value) < 1e16) {
    // JavaScript's own form, whose digits are the same.
    const text = String(value);
    return text.includes(".") ? text : `${text}.0`;
  }
  const [mantissa, exponentText] = value.toExponential().split("e");
  const exponent = Number(exponentText), digits = String(Math.abs(exponent)).padStart(2, "0");
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${digits}`;
}
