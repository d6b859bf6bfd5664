/**
 * Reads `metadata.sweeps` and `metadata.ui_sweeps`, the predecessors of `metadata.matrix`: a parameter path to a list,
 * `"a,b,c"`, `"start:step:stop"` or `"start:stop"` (step 1). A range includes its stop if a step reaches it.
 */
import { addDiagnostics, type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import { canonicalJson, compareCodePoints, numberFromToken } from "../contract/json.ts";
import type { Suggestions } from "../contract/nearest.ts";
import { float, integer, isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import { describe, type Findings } from "./findings.ts";
import { MAX_MATRIX_POINTS } from "./limits.ts";
import { checkSize, type Dimension, type Matrix, referenceIn } from "./matrix_definition.ts";
import type { MatrixKey } from "./variant.ts";

type Severity = Diagnostic["severity"];

/**
 * Reads legacy sweeps as a matrix; unreadable parts are reported and ignored.
 * @param key their key in the metadata
 * @param stepIds existing steps
 * @param findings receives `legacy_sweep_normalized`, `legacy_sweep_ignored` and `matrix_too_large`
 * @param severity of the legacy findings
 * @returns null without a remaining sweep, or for too many points
 */
export function readLegacySweeps(
  key: Exclude<MatrixKey, "matrix">,
  value: Value,
  stepIds: readonly string[],
  findings: Findings,
  severity: Severity,
): Matrix | null {
  const root: Place = ["metadata", key];
  const ignore = (place: Place, message: string, hint: string | null) => {
    addDiagnostics(findings.list, [diagnostic("legacy_sweep_ignored", place, message, { hint, severity })]);
  };
  if (!isObject(value)) {
    ignore(root, `Cannot read ${describe(value)} as sweeps: it is ignored`, "Write metadata.matrix instead");
    return null;
  }
  const dimensions: Dimension[] = [];
  const step_params: { [stepId: string]: JsonObject } = {};
  for (const [path, given] of Object.entries(value)) {
    const place = [...root, path];
    const target = targetOf(path, stepIds, findings.suggestions);
    if (typeof target === "string" || target === null) {
      ignore(place, `Cannot find the parameter ${path} to sweep: it is ignored`, target);
      continue;
    }
    const values = valuesOf(given);
    if (values === null) {
      const hint = 'Write a list, "a,b,c", "start:step:stop" or "start:stop"';
      ignore(place, `Cannot read ${describe(given)} as the values of a sweep: it is ignored`, hint);
      continue;
    }
    const name = [target.step, ...target.members].join(".");
    if (!bind(step_params, target, name)) {
      ignore(place, `Cannot sweep ${name} twice: this sweep is ignored`, "Another sweep already sets its values");
      continue;
    }
    const kept = distinct(values);
    for (const index of kept.repeated) {
      ignore(
        [...place, ...(Array.isArray(given) ? [index] : [])],
        `Cannot sweep a value of ${path} twice`,
        "Remove it",
      );
    }
    const placeOf = (index: number) => (Array.isArray(given) ? [...place, kept.indices[index]] : place);
    dimensions.push({ name, values: kept.indices.map((index) => values[index]), placeOf });
  }
  if (dimensions.length === 0) return null;
  dimensions.sort((a, b) => compareCodePoints(a.name, b.name));
  const before = findings.list.length;
  checkSize(dimensions, root, findings);
  if (findings.list.length > before) return null;
  const matrix = {
    dimensions: Object.fromEntries(dimensions.map(({ name, values }) => [name, values])),
    step_params,
  };
  const text = canonicalJson(matrix);
  findings.list.push(
    diagnostic("legacy_sweep_normalized", root, `Cannot keep metadata.${key}: it is read as a matrix`, {
      severity,
      hint: text.length <= 400 ? `Write metadata.matrix: ${text}` : "Write metadata.matrix instead",
    }),
  );
  return { dimensions, step_params, bindings: null };
}

interface Target {
  step: string;
  /** The parameter, and the path into it. */
  members: string[];
}

/** Paths of old recipes, with their steps and parameter; the first existing step applies. */
function aliasOf(path: string): { steps: string[]; member: string } | null {
  if (path === "channel.snr_db") return { steps: ["wireless_channel"], member: "snr_db" };
  if (path === "channel.txPowerTarget") return { steps: ["tx_power"], member: "target_power" };
  const encoder = /^codecParams\.encoder\.(quality|vbr_scale_index|force_ind|model|checkpoint_preset)$/.exec(path);
  return encoder && { steps: ["codec_export", "sender"], member: encoder[1] };
}

/** The parameter of a path; else a hint, or null. */
function targetOf(path: string, stepIds: readonly string[], suggestions: Suggestions): Target | string | null {
  const alias = aliasOf(path);
  const meant = alias?.steps.find((id) => stepIds.includes(id));
  if (alias && meant !== undefined) return { step: meant, members: [alias.member] };
  const [step, ...members] = path.split(".");
  if (members.length === 0 || members.includes("")) return "Write <step>.<parameter>";
  if (stepIds.includes(step)) return { step, members };
  return alias ? `It means a step named ${alias.steps.join(" or ")}` : suggestions.for(step, stepIds);
}

/** Sets a reference to a dimension; false where a value exists. */
function bind(stepParams: { [stepId: string]: JsonObject }, { step, members }: Target, name: string): boolean {
  let container = stepParams;
  for (const member of [step, ...members.slice(0, -1)]) {
    if (!Object.hasOwn(container, member)) define(container, member, {});
    const inner = container[member] as JsonObject;
    if (referenceIn(inner) !== null) return false;
    container = inner as { [key: string]: JsonObject };
  }
  const last = members[members.length - 1];
  if (Object.hasOwn(container, last)) return false;
  define(container, last, { matrix: name });
  return true;
}

/** An assignment that also works for `__proto__`. */
function define(object: JsonObject, key: string, value: Value): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Indices of first occurrences, and of repetitions. */
function distinct(values: readonly Value[]): { indices: number[]; repeated: number[] } {
  const seen = new Set<string>(), indices: number[] = [], repeated: number[] = [];
  values.forEach((value, index) => {
    const text = canonicalJson(value);
    (seen.has(text) ? repeated : indices).push(index);
    seen.add(text);
  });
  return { indices, repeated };
}

/** The values of a sweep; null when unreadable. */
function valuesOf(given: Value): Value[] | null {
  if (Array.isArray(given)) return given.length > 0 ? given : null;
  if (typeof given !== "string" || given.trim() === "") return null;
  const parts = given.split(":").map((part) => part.trim());
  if ((parts.length === 2 || parts.length === 3) && parts.every((part) => NUMBER.test(part))) return rangeOf(parts);
  return given.split(",").map((item) => scalarOf(item.trim()));
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;
const WORDS = new Map<string, Value>([["true", true], ["false", false], ["null", null]]);

function scalarOf(text: string): Value {
  if (!NUMBER.test(text)) return WORDS.has(text) ? WORDS.get(text)! : text;
  const value = numberFromToken(text);
  return Number.isFinite(toNumber(value as number)) ? value : text;
}

/** The values of a range, in decimal arithmetic: 0:0.1:1 has 0.3 and not 0.30000000000000004. */
function rangeOf(parts: readonly string[]): Value[] | null {
  const [start, step, stop] = parts.length === 2 ? [parts[0], "1", parts[1]] : parts;
  const decimals = [start, step, stop].map(decimalOf);
  const scale = Math.max(...decimals.map(({ scale }) => scale));
  const [first, increment, last] = decimals.map((decimal) => decimal.digits * 10n ** BigInt(scale - decimal.scale));
  if (increment === 0n || (last - first) * increment < 0n) return null;
  const isInteger = parts.every((part) => /^-?\d+$/.test(part));
  // One more than the limit suffices for a refusal.
  const count = Math.min(Number((last - first) / increment) + 1, MAX_MATRIX_POINTS + 1);
  const values = Array.from({ length: count }, (_, index) => {
    const digits = first + BigInt(index) * increment;
    return isInteger ? integer(digits / 10n ** BigInt(scale)) : float(Number(`${digits}e${-scale}`));
  });
  return values.every((value) => Number.isFinite(toNumber(value))) ? values : null;
}

/** A number token as `digits · 10^-scale`. */
function decimalOf(token: string): { digits: bigint; scale: number } {
  const [mantissa, exponent = "0"] = token.toLowerCase().split("e");
  const [whole, fraction = ""] = mantissa.split(".");
  const digits = BigInt(whole + fraction), scale = fraction.length - Number(exponent);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}
