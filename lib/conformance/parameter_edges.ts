/** Values at the edges of a parameter schema, and the nearest ones beyond them. */
import { Float, float, isNumber, isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";

export interface Edges {
  accepted: Value[];
  refused: Value[];
}

const ALIEN: Record<string, Value[]> = {
  boolean: ["true", 1, null],
  integer: ["12 dB", 1.5, float(1), true, null],
  number: ["12 dB", false, null],
  string: [1, 1.5, true, null],
  array: ["a", 1, {}, null],
  object: ["a", 1, [], null],
};

/** The next binary64 value in a direction. */
function beside(value: number, direction: 1 | -1): number {
  if (value === 0) return direction * Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + BigInt((value > 0 ? 1 : -1) * direction));
  return view.getFloat64(0);
}

/** Edges of one parameter, from its schema alone. */
export function parameterEdges(schema: JsonObject): Edges {
  if (Array.isArray(schema.type)) {
    return parameterEdges({ anyOf: (schema.type as string[]).map((type): JsonObject => ({ type })) });
  }
  // Beside a type of its own, anyOf only suggests values.
  if (Array.isArray(schema.anyOf) && schema.type === undefined) {
    const branches = (schema.anyOf as JsonObject[]).map(parameterEdges);
    const nullable = (schema.anyOf as JsonObject[]).some((branch) => branch.type === "null");
    const refused = branches.flatMap((branch) => branch.refused).filter((value) => value !== null || !nullable);
    return { accepted: branches.flatMap((branch) => branch.accepted), refused: branches.length === 2 ? refused : [] };
  }
  const type = schema.type as string;
  if (type === "null") return { accepted: [null], refused: [] };
  const accepted: Value[] = schema.default === undefined ? [] : [schema.default];
  const refused: Value[] = [...(ALIEN[type] ?? [])];
  if (Array.isArray(schema.enum)) {
    return {
      accepted: [...accepted, ...schema.enum],
      refused: [...refused, type === "integer" ? -987 : "no_such_choice"],
    };
  }
  if (type === "boolean") accepted.push(true, false);
  if (type === "integer" || type === "number") numberEdges(schema, type, accepted, refused);
  if (type === "string") textEdges(schema, accepted, refused);
  if (type === "array") arrayEdges(schema, accepted, refused);
  return { accepted, refused };
}

function numberEdges(schema: JsonObject, type: "integer" | "number", accepted: Value[], refused: Value[]): void {
  const whole = type === "integer";
  const written = (value: number): Value => (whole ? value : float(value));
  const step = (value: number, direction: 1 | -1) => written(whole ? value + direction : beside(value, direction));
  const bound = (key: string) => (isNumber(schema[key]) ? toNumber(schema[key] as number | Float) : undefined);
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = {
    minimum: bound("minimum"),
    maximum: bound("maximum"),
    exclusiveMinimum: bound("exclusiveMinimum"),
    exclusiveMaximum: bound("exclusiveMaximum"),
  };
  if (minimum !== undefined) accepted.push(written(minimum)), refused.push(step(minimum, -1));
  if (maximum !== undefined) accepted.push(written(maximum)), refused.push(step(maximum, 1));
  if (exclusiveMinimum !== undefined) accepted.push(step(exclusiveMinimum, 1)), refused.push(written(exclusiveMinimum));
  if (exclusiveMaximum !== undefined) {
    accepted.push(step(exclusiveMaximum, -1)), refused.push(written(exclusiveMaximum));
  }
  const seed = isObject(schema["x-svc-ui"]) && schema["x-svc-ui"].control === "seed";
  if (maximum === undefined && exclusiveMaximum === undefined) {
    accepted.push(seed ? 2n ** 64n - 1n : whole ? 2 ** 53 : float(1e300));
    refused.push(seed ? 2n ** 64n : 2n ** 53n + 1n);
  }
  if (minimum === undefined && exclusiveMinimum === undefined) {
    accepted.push(whole ? -(2 ** 53) : float(-1e300));
    refused.push(-(2n ** 53n) - 1n);
  }
}

function textEdges(schema: JsonObject, accepted: Value[], refused: Value[]): void {
  const pattern = typeof schema.pattern === "string" ? schema.pattern : undefined;
  if (pattern !== undefined) {
    const digest = "0123456789abcdef".repeat(4);
    if (new RegExp(pattern, "u").test(digest)) accepted.push(digest), refused.push(digest + "0", digest.slice(1));
    else refused.push("\u0000");
    return;
  }
  const least = schema.minLength === undefined ? 0 : Number(schema.minLength);
  accepted.push("x".repeat(least));
  if (least > 0) refused.push("x".repeat(least - 1));
  if (schema.maxLength !== undefined) refused.push("x".repeat(Number(schema.maxLength) + 1));
}

function arrayEdges(schema: JsonObject, accepted: Value[], refused: Value[]): void {
  if (!isObject(schema.items)) return;
  const items = parameterEdges(schema.items);
  const least = schema.minItems === undefined ? 0 : Number(schema.minItems);
  const [example] = items.accepted;
  if (example === undefined) return;
  accepted.push(Array.from({ length: Math.max(least, 1) }, () => example));
  if (least > 0) refused.push(Array.from({ length: least - 1 }, () => example));
  if (schema.maxItems !== undefined) {
    const most = Number(schema.maxItems);
    accepted.push(Array.from({ length: most }, () => example));
    refused.push(Array.from({ length: most + 1 }, () => example));
  }
  for (const value of items.refused) refused.push([value]);
}
