/** Diagnostics of the normalising passes, and shared checks of shape. */
import {
  addDiagnostics,
  type Code,
  type Diagnostic,
  diagnostic,
  MAX_DIAGNOSTICS,
  type Place,
} from "../contract/error.ts";
import { canonicalJson } from "../contract/json.ts";
import { Suggestions } from "../contract/nearest.ts";
import { isNumber, isObject, type JsonObject, typeName, type Value } from "../contract/value.ts";
import type { CompileMode } from "./types.ts";

export class Findings {
  readonly list: Diagnostic[] = [];

  constructor(readonly mode: CompileMode, readonly suggestions = new Suggestions()) {}

  report(code: Code, place: Place, message: string, hint: string | null = null, step_id?: string): void {
    addDiagnostics(this.list, [diagnostic(code, place, message, { hint, step_id })]);
  }

  /** Reports a problem that strict mode refuses and compat mode tolerates. */
  lenient(code: Code, place: Place, message: string, hint: string | null, step_id?: string): void {
    const severity = this.mode === "strict" ? "error" : "warning";
    addDiagnostics(this.list, [diagnostic(code, place, message, { hint, step_id, severity })]);
  }

  /** Reports `recipe_validation_error` for a value of the wrong shape. */
  misfit(value: Value | undefined, role: string, place: Place, hint: string, step_id?: string): void {
    const message = value === undefined ? `Cannot find ${role}` : `Cannot use ${describe(value)} as ${role}`;
    this.report("recipe_validation_error", place, message, hint, step_id);
  }

  /** A field with a mapping; absent and null mean an empty one. */
  mapping(value: Value | undefined, place: Place, step_id?: string): JsonObject {
    if (value === undefined || value === null) return {};
    if (isObject(value)) return value;
    this.misfit(value, String(place[place.length - 1]), place, "Give a mapping", step_id);
    return {};
  }

  /** The optional description, as fields to spread. */
  description(value: Value | undefined, place: Place, step_id?: string): { description?: string } {
    if (value === undefined || value === null) return {};
    if (typeof value === "string") return { description: value };
    this.misfit(value, "a description", place, "Give a text", step_id);
    return {};
  }

  /** Unknown fields, each reported; compat mode keeps them. */
  unknown(object: JsonObject, known: readonly string[], code: Code, place: Place, step_id?: string): JsonObject {
    const kind = code === "unknown_recipe_step_field" ? "step" : place.length === 0 ? "recipe" : String(place[0]);
    const entries = Object.entries(object).filter(([key]) => !known.includes(key));
    // One more than is listed shows that there are more.
    for (const [key] of entries.slice(0, MAX_DIAGNOSTICS + 1)) {
      const message = `Cannot find a ${kind} field named ${key}`;
      this.lenient(code, [...place, key], message, this.suggestions.for(key, known), step_id);
    }
    return Object.fromEntries(entries);
  }
}

/** A short description of a value for a message. */
export function describe(value: Value): string {
  if (value === null) return "null";
  if (typeof value === "string") {
    return value === "" ? "an empty text" : `the text ${JSON.stringify(value.slice(0, 60))}`;
  }
  if (typeof value === "boolean" || isNumber(value)) {
    return `the ${typeName(value) === "number" ? "float" : typeName(value)} ${canonicalJson(value).slice(0, 40)}`;
  }
  return Array.isArray(value) ? "a list" : "a mapping";
}
