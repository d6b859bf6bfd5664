/**
 * Coded errors. A diagnostic says what was attempted, where, and what to do next; the compiler, the planner and the
 * command line all speak in this one shape and report everything they found at once.
 */
import type { JsonObject } from "./value.ts";

export type Severity = "error" | "warning" | "info";

export interface SourceLocation {
  file: string;
  line: number;
  column: number;
}

export interface Diagnostic {
  severity: Severity;
  /** Stable snake_case code; never changes its meaning. */
  code: string;
  /** Sentence case, no full stop; names the attempt. */
  message: string;
  /** JSON path such as `$.steps[2].params.snr_db`. */
  path: string;
  /** The next action: nearest known name, range, flag. */
  hint: string | null;
  /** The same place as a JSON pointer. */
  pointer?: string;
  step_id?: string;
  location?: SourceLocation;
}

/** The parts of a place: object keys and array indices. */
export type Place = readonly (string | number)[];

/** `["steps", 2, "params"]` -> `$.steps[2].params`. */
export function jsonPath(place: Place): string {
  return place.reduce<string>(
    (path, part) =>
      typeof part === "number"
        ? `${path}[${part}]`
        : /^[A-Za-z_][A-Za-z0-9_-]*$/.test(part)
        ? `${path}.${part}`
        : `${path}[${JSON.stringify(part)}]`,
    "$",
  );
}

/** `["steps", 2, "params"]` -> `/steps/2/params`. */
export function jsonPointer(place: Place): string {
  return place.map((part) => "/" + String(part).replaceAll("~", "~0").replaceAll("/", "~1")).join("");
}

/** Builds a diagnostic at a place; severity is error unless said otherwise. */
export function diagnostic(
  code: string,
  place: Place,
  message: string,
  more: { hint?: string | null; severity?: Severity; step_id?: string; location?: SourceLocation } = {},
): Diagnostic {
  return {
    severity: more.severity ?? "error",
    code,
    message,
    path: jsonPath(place),
    hint: more.hint ?? null,
    pointer: jsonPointer(place),
    ...(more.step_id === undefined ? {} : { step_id: more.step_id }),
    ...(more.location === undefined ? {} : { location: more.location }),
  };
}

/**
 * An error of the world (bad input, missing file, failed check), as opposed to a defect of the program. It carries a
 * stable code and, where several problems were found, all of them.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { SvcError } from "./error.ts";
 *
 * function checkRate(rate: number): void {
 *   if (rate > 0 && rate <= 1) return;
 *   throw new SvcError("code_rate_invalid", `Cannot encode at rate ${rate}`, { hint: "Choose a rate in (0, 1]" });
 * }
 * assert.throws(() => checkRate(1.5), { code: "code_rate_invalid", hint: "Choose a rate in (0, 1]" });
 * ```
 */
export class SvcError extends Error {
  override readonly name = "SvcError";
  readonly code: string;
  readonly hint: string | null;
  readonly diagnostics: Diagnostic[];
  /** Extra members for machine readers, such as `run_id`. */
  readonly extra: JsonObject;

  constructor(
    code: string,
    message: string,
    options: { hint?: string | null; diagnostics?: Diagnostic[]; extra?: JsonObject; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint ?? null;
    this.diagnostics = options.diagnostics ?? [];
    this.extra = options.extra ?? {};
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
