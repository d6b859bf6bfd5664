/**
 * Parameter schemas: written with zod, published as JSON Schema (`publish_schema.ts`), checked here on typed values.
 *
 * zod cannot check typed numbers: here `integer` accepts integer tokens of any size only, `number` accepts integers and
 * floats and converts neither, and a boolean is neither.
 */
import { z } from "./zod.ts";
import { canonicalJson } from "./json.ts";
import { schemaTypes } from "./schema_types.ts";
import { addDiagnostics, type Code, type Diagnostic, diagnostic, type Place } from "./error.ts";
import { Suggestions } from "./nearest.ts";
import { Float, float, isNumber, isObject, type JsonObject, toNumber, toPlain, typeName, type Value } from "./value.ts";

/**
 * The seed parameter of an operation: any non-negative integer; the compiler always sets a value.
 * @param fallback default; without it an unset seed derives from the master seed of the recipe
 * @param used_when values of other parameters under which anything is drawn; always without it
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { seedParameter } from "./schema.ts";
 * import { z } from "./zod.ts";
 *
 * const params = z.strictObject({ snr_db: z.number(), seed: seedParameter() });
 * assert.equal(params.safeParse({ snr_db: 6, seed: 23 }).success, true);
 * assert.equal(params.safeParse({ snr_db: 6, seed: -1 }).success, false);
 * ```
 */
export function seedParameter(fallback?: number, used_when?: JsonObject) {
  const seed = z.int().nonnegative().describe("seed of this step's random stream; default derived from the master seed")
    .meta({ "x-svc-ui": { control: "seed", ...(used_when && { used_when }) } });
  return fallback === undefined ? seed.optional() : seed.default(fallback);
}

/** The parameter that selects data-plane kernels. */
export function dataPlaneParameter() {
  return z.enum(["auto", "python_numpy", "cpp_native"]).default("auto")
    .describe("data-plane implementation; auto is the portable one, cpp_native the native extension");
}

const ANNOTATIONS = ["x-svc-effective-when", "x-svc-used-when", "x-svc-materialization-selector", "x-svc-ui"] as const;

/** Integers that binary64 holds exactly, and 64-bit seeds. */
const INTEGER_RANGE = [-(2n ** 53n), 2n ** 53n, "-2^53 to 2^53"] as const;
const SEED_RANGE = [0n, 2n ** 64n - 1n, "0 to 2^64 - 1"] as const;

function accepts(types: string[], value: Value): boolean {
  if (types.length === 0) return true;
  const actual = typeName(value);
  return types.includes(actual) || (actual === "integer" && types.includes("number"));
}

const show = (value: Value): string => {
  const text = canonicalJson(value);
  return text.length > 60 ? text.slice(0, 57) + "..." : text;
};

/** A number, optionally with a unit: `6 dB`, but not `0x10`, `1:30` or `10,5`. */
const NUMERIC_TEXT = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\dxX.,:_'])/;
/** Digits in groups: `20_000`, `20'000`, `1,000,000`. */
const GROUPED = /^\s*([-+]?\d{1,3}(?:([_' ])\d{3}(?:\2\d{3})*|(?:,\d{3}){2,})(?:\.\d+)?)\s*$/;
/** One comma between digits: a decimal comma, or thousands. */
const COMMA = /^\s*([-+]?\d+),(\d+)\s*$/;
/** Hours, minutes and seconds, or minutes and seconds; YAML 1.1 reads them as a number to base 60. */
const CLOCK = /^\s*(\d+)((?::[0-5]?\d){1,2})\s*$/;

/** The number that a text may mean, as hint; null for a text without one. */
function numberHint(text: string, types: string[]): string | null {
  const whole = types.includes("integer") && !types.includes("number");
  if (!whole && !types.includes("number")) return null;
  const shown = (digits: string) => {
    if (whole) return `${Math.trunc(Number(digits))}`;
    const value = float(Number(digits));
    return value instanceof Float ? value.toString() : `${value}`;
  };
  const grouped = GROUPED.exec(text)?.[1];
  if (grouped !== undefined) return `Write ${shown(grouped.replace(/[_', ]/g, ""))}, without separators`;
  const comma = COMMA.exec(text);
  if (comma !== null) {
    const [, before, after] = comma;
    const thousands = after.length === 3 ? `${shown(before + after)} without separators` : null;
    if (whole) return thousands === null ? "Use a whole number" : `Write ${thousands}`;
    const decimal = `${shown(`${before}.${after}`)} with a point`;
    return thousands === null ? `Write ${decimal}` : `Write ${decimal}, or ${thousands}`;
  }
  const clock = CLOCK.exec(text);
  if (clock !== null) {
    const parts = [clock[1], ...clock[2].slice(1).split(":")].map(Number);
    const seconds = parts.reduce((sum, part) => 60 * sum + part, 0);
    return `Write one number in the unit of the parameter; the time ${text.trim()} is ${seconds} seconds`;
  }
  const digits = NUMERIC_TEXT.exec(text)?.[1];
  return digits === undefined ? null : `Write ${shown(digits)}`;
}

function typeProblem(types: string[], value: Value): { message: string; hint: string } {
  const wanted = types.join(" or ");
  const message = typeof value === "string"
    ? `Cannot use the text ${show(value)} as ${article(wanted)}`
    : value === null
    ? `Cannot use null as ${article(wanted)}`
    : `Cannot use ${show(value)} (${typeName(value)}) as ${article(wanted)}`;
  const hint = typeof value === "string" ? numberHint(value, types) : null;
  if (hint !== null) return { message, hint };
  if (typeName(value) === "number" && types.includes("integer")) {
    const number = toNumber(value as number | Float);
    return { message, hint: Number.isInteger(number) ? `Write ${number}, without a fraction` : "Use a whole number" };
  }
  return { message, hint: `Give ${article(wanted)}` };
}

function article(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

/**
 * Checks a typed value against a schema and returns every problem.
 * @param schema node of the contract subset
 * @param value typed value
 * @param place place of the value in its document
 * @param options `code` of the diagnostics, default `params_invalid` (`param_out_of_range` for an integer out of range
 *   in a parameter); `suggestions` of the document, if other checks share them
 */
export function checkValue(
  schema: JsonObject,
  value: Value,
  place: Place,
  { code = "params_invalid", suggestions = new Suggestions() }: { code?: Code; suggestions?: Suggestions } = {},
): Diagnostic[] {
  const problems: Diagnostic[] = [], params = /params_/.test(code), member = params ? "parameter" : "field";
  const problem: Report = (at, message, hint = null, own: Code = code) =>
    addDiagnostics(problems, [diagnostic(own, at, message, { hint })]);

  const walk = (node: JsonObject, item: Value, at: Place): void => {
    if (Array.isArray(node.anyOf)) {
      const options = { code, suggestions };
      const branches = (node.anyOf as JsonObject[]).map((branch) => checkValue(branch, item, at, options));
      if (branches.some((found) => found.length === 0)) return;
      const types = schemaTypes(node);
      if (!accepts(types, item)) {
        const { message, hint } = typeProblem(types, item);
        problem(at, message, hint);
      } else {
        // Reports the branch with the fewest problems, of those whose type is that of the value.
        const fitting = branches.filter((_, index) => accepts(schemaTypes((node.anyOf as JsonObject[])[index]), item));
        problems.push(...fitting.reduce((best, found) => (found.length < best.length ? found : best)));
      }
      return;
    }
    const types = schemaTypes(node);
    if (!accepts(types, item)) {
      const { message, hint } = typeProblem(types, item);
      problem(at, message, hint);
      return;
    }
    // A number may be written as an integer; values without a schema are checked in parameters only.
    if (typeof item === "bigint" && (params || types.length > 0)) {
      const [low, high, words] = isSeed(node) ? SEED_RANGE : INTEGER_RANGE;
      if (item < low || item > high) {
        const hint = types.includes("number") ? "Write a float, such as 1e20" : `Choose an integer from ${words}`;
        problem(at, `Cannot use ${show(item)}: integers go from ${words}`, hint, params ? "param_out_of_range" : code);
        return;
      }
    }
    if (node.const !== undefined && canonicalJson(node.const) !== canonicalJson(item)) {
      problem(at, `Cannot use ${show(item)}: it must be ${show(node.const)}`);
      return;
    }
    if (Array.isArray(node.enum) && !node.enum.some((allowed) => canonicalJson(allowed) === canonicalJson(item))) {
      const names = node.enum.map((allowed) =>
        typeof allowed === "string" && allowed !== "" ? allowed : canonicalJson(allowed)
      );
      const hint = typeof item === "string" ? suggestions.for(item, names) : null;
      problem(at, `Cannot use ${show(item)}: the choices are ${names.join(", ")}`, hint);
      return;
    }
    if (isNumber(item)) checkRange(node, item, at, problem);
    if (typeof item === "string") checkText(node, item, at, problem);
    if (Array.isArray(item)) {
      if (node.minItems !== undefined && item.length < Number(node.minItems)) {
        problem(at, `Cannot use ${item.length} items: at least ${node.minItems} are needed`);
      }
      if (node.maxItems !== undefined && item.length > Number(node.maxItems)) {
        problem(at, `Cannot use ${item.length} items: at most ${node.maxItems} are allowed`);
      }
      if (node.uniqueItems === true) {
        const seen = new Set<string>();
        item.forEach((entry, index) => {
          if (seen.size === seen.add(canonicalJson(entry)).size) {
            problem([...at, index], `Cannot use ${show(entry)} twice`);
          }
        });
      }
      const items = node.items;
      if (isObject(items) || params) {
        item.forEach((entry, index) => walk(isObject(items) ? items : {}, entry, [...at, index]));
      }
    } else if (isObject(item)) {
      const properties = (node.properties ?? {}) as JsonObject;
      if (Object.keys(item).length < Number(node.minProperties ?? 0)) problem(at, "Cannot use an empty object");
      for (const [key, entry] of Object.entries(item)) {
        const inner = Object.hasOwn(properties, key) ? properties[key] : node.additionalProperties;
        if (isObject(inner) || (params && inner !== false)) {
          walk(isObject(inner) ? inner : {}, entry, [...at, key]);
        } else if (inner === false) {
          const hint = suggestions.for(key, Object.keys(properties));
          problem([...at, key], `Cannot find a ${member} named ${key}`, hint);
        }
      }
      for (const name of (node.required ?? []) as string[]) {
        if (!Object.hasOwn(item, name)) {
          problem([...at, name], `Missing required ${member} ${name}`, `Set ${name}`);
        }
      }
    }
  };
  walk(schema, value, place);
  return problems;
}

type Report = (at: Place, message: string, hint?: string | null, code?: Code) => void;

function isSeed(node: JsonObject): boolean {
  return isObject(node["x-svc-ui"]) && node["x-svc-ui"].control === "seed";
}

function checkRange(node: JsonObject, item: number | bigint | Float, at: Place, problem: Report): void {
  const bounds: [string, string, (value: number | bigint, bound: number) => boolean][] = [
    ["minimum", "at least", (value, bound) => value >= bound],
    ["maximum", "at most", (value, bound) => value <= bound],
    ["exclusiveMinimum", "above", (value, bound) => value > bound],
    ["exclusiveMaximum", "below", (value, bound) => value < bound],
  ];
  const value = typeof item === "bigint" ? item : toNumber(item);
  for (const [key, words, holds] of bounds) {
    const bound = node[key];
    if (isNumber(bound) && !holds(value, toNumber(bound))) {
      problem(
        at,
        `Cannot use ${show(item)}: it must be ${words} ${show(bound)}`,
        `Choose a value ${words} ${show(bound)}`,
      );
    }
  }
}

/** The requirement of a pattern, for a message. */
function patternText(pattern: string): string {
  return /^\^\(?\[0-9a-f\]\{64\}\)?\??\$$/.test(pattern)
    ? "be a SHA-256, 64 lower-case hexadecimal digits"
    : `match ${pattern}`;
}

function checkText(node: JsonObject, item: string, at: Place, problem: Report): void {
  if (node.minLength !== undefined && item.length < Number(node.minLength)) {
    problem(
      at,
      item === "" ? "Cannot use an empty text" : `Cannot use a text shorter than ${node.minLength} characters`,
    );
  }
  if (node.maxLength !== undefined && item.length > Number(node.maxLength)) {
    problem(at, `Cannot use a text longer than ${node.maxLength} characters`);
  }
  if (typeof node.pattern === "string" && !new RegExp(node.pattern, "u").test(item)) {
    problem(at, `Cannot use ${show(item)}: it must ${patternText(node.pattern)}`);
  }
}

/**
 * The condition under which a parameter is active: `{controller: value}` or `{controller: [value, …]}`, or null for always.
 * `x-svc-effective-when`: an inactive parameter does not stand in the effective recipe. `x-svc-used-when`: it stands there
 * with its default.
 */
export function activeWhen(node: Value | undefined): JsonObject | null {
  if (!isObject(node)) return null;
  const condition = node["x-svc-effective-when"] ?? node["x-svc-used-when"];
  return isObject(condition) ? condition : null;
}

/** The value of a parameter that controls others: the given one, else its default. */
export function controllerValue(schema: JsonObject, controller: string, params: JsonObject): Value | undefined {
  const definition = ((schema.properties ?? {}) as JsonObject)[controller];
  return params[controller] ?? (isObject(definition) ? definition.default : undefined);
}

/** A condition in words: `channel=ofdm_tdl or ofdm_cdl`. */
export const conditionText = (condition: JsonObject): string =>
  Object.entries(condition).map(([key, wanted]) => `${key}=${[wanted].flat().join(" or ")}`).join(" and ");

/**
 * The condition under which a form shows a parameter: that under which it is active, and `x-svc-ui.used_when`, outside of which
 * a value is accepted without effect.
 */
export function shownWhen(node: Value | undefined): JsonObject | null {
  const own = isObject(node) && isObject(node["x-svc-ui"]) ? node["x-svc-ui"].used_when : undefined;
  const active = activeWhen(node);
  return isObject(own) ? { ...active, ...own } : active;
}

/** Whether a parameter is active: every controller of its condition has a wanted value. */
export const isEffective = (schema: JsonObject, property: string, params: JsonObject): boolean =>
  holds(schema, activeWhen(((schema.properties ?? {}) as JsonObject)[property]), params);

/**
 * Whether a form shows a parameter: its condition holds, all parameters of the condition are shown, one of the parameters of
 * `x-svc-ui.used_with` is set, and none of those of `x-svc-ui.unused_with`.
 */
export function isShown(schema: JsonObject, property: string, params: JsonObject): boolean {
  const node = ((schema.properties ?? {}) as JsonObject)[property];
  const { used_with, unused_with } = ((node as JsonObject)["x-svc-ui"] ?? {}) as Record<string, string[] | undefined>;
  const isSet = (name: string) => params[name] !== undefined;
  const condition = shownWhen(node);
  return holds(schema, condition, params) && (used_with?.some(isSet) ?? true) && !unused_with?.some(isSet) &&
    Object.keys(condition ?? {}).every((controller) => isShown(schema, controller, params));
}

function holds(schema: JsonObject, condition: JsonObject | null, params: JsonObject): boolean {
  return Object.entries(condition ?? {}).every(([controller, wanted]) => {
    const actual = controllerValue(schema, controller, params);
    return actual !== undefined && [wanted].flat().some((item) => canonicalJson(item) === canonicalJson(actual));
  });
}

/**
 * Parameters for `run` as plain JavaScript numbers. Seeds beyond 2^53 stay bigint; the generator takes them from the
 * effective recipe.
 */
export function plainParams(params: JsonObject): Record<string, unknown> {
  return toPlain(params) as Record<string, unknown>;
}

/** The first keyword outside the contract subset, or null. */
export function unknownKeyword(schema: JsonObject): string | null {
  const known = new Set<string>([
    "type",
    "properties",
    "required",
    "additionalProperties",
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "items",
    "default",
    "description",
    "anyOf",
    ...ANNOTATIONS,
  ]);
  for (const [key, value] of Object.entries(schema)) {
    if (!known.has(key)) return key;
    if (key === "properties") {
      for (const inner of Object.values(value as JsonObject)) {
        const found = unknownKeyword(inner as JsonObject);
        if (found !== null) return found;
      }
    }
    if (key === "items" && isObject(value)) {
      const found = unknownKeyword(value);
      if (found !== null) return found;
    }
  }
  return null;
}
