/**
 * Coded errors. A diagnostic names the attempt, the place and the next action. Compiler, planner and command line use
 * this one form and report all findings at once.
 */
import type { Code } from "./codes.ts";
import type { JsonObject } from "./value.ts";

export type { Code };

export type Severity = "error" | "warning" | "info";

export type SourceLocation = {
  file: string;
  line: number;
  column: number;
};

export type Diagnostic = {
  severity: Severity;
  /** Stable snake_case code; its meaning never changes. */
  code: Code;
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
};

/** Object keys and array indices of a place. */
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

/** Limit of reported findings about one document. */
export const MAX_DIAGNOSTICS = 1000;
/** Limit of the texts of all reported findings together, in characters. */
const MAX_DIAGNOSTICS_LENGTH = 2 ** 20;

/** Adds findings up to one more than {@link limitDiagnostics} keeps; the first error is always added. */
export function addDiagnostics(list: Diagnostic[], found: Iterable<Diagnostic>): void {
  const isError = ({ severity }: Diagnostic) => severity === "error";
  for (const item of found) {
    if (list.length <= MAX_DIAGNOSTICS || (isError(item) && !list.some(isError))) list.push(item);
  }
}

/** The first findings, 1000 and 1 Mi characters at most; `diagnostics_truncated` replaces the others, as severe as they. */
export function limitDiagnostics(list: Diagnostic[]): Diagnostic[] {
  let left = MAX_DIAGNOSTICS_LENGTH;
  // Long names in the document are in the path of every finding below them.
  const beyond = list.findIndex((item, index) => (left -= lengthOf(item)) < 0 && index > 0);
  const kept = Math.min(MAX_DIAGNOSTICS, beyond < 0 ? list.length : beyond);
  if (kept === list.length) return list;
  const rest = new Set(list.slice(kept).map(({ severity }) => severity));
  const severity = (["error", "warning", "info"] as const).find((level) => rest.has(level));
  const message = `Cannot list more than ${kept} findings`;
  const hint = "Fix those listed, then check again";
  return [...list.slice(0, kept), diagnostic("diagnostics_truncated", [], message, { hint, severity })];
}

const lengthOf = ({ message, path, hint, pointer = "", step_id = "" }: Diagnostic): number =>
  message.length + path.length + (hint?.length ?? 0) + pointer.length + step_id.length;

/** Whether a finding is a warning. */
export const isWarning = ({ severity }: Diagnostic): boolean => severity === "warning";

/** Builds a diagnostic at a place; default severity error. */
export function diagnostic(
  code: Code,
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
 * An expected error (bad input, missing file, failed check), not a defect of the program. It has a stable code and all
 * problems that were found.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ownCode } from "./codes.ts";
 * import { SvcError } from "./error.ts";
 *
 * function checkRate(rate: number): void {
 *   if (rate > 0 && rate <= 1) return;
 *   throw new SvcError(ownCode("code_rate_invalid"), `Cannot encode at rate ${rate}`, { hint: "Choose a rate in (0, 1]" });
 * }
 * assert.throws(() => checkRate(1.5), { code: "code_rate_invalid", hint: "Choose a rate in (0, 1]" });
 * ```
 */
export class SvcError extends Error {
  override readonly name = "SvcError";
  readonly code: Code;
  readonly hint: string | null;
  readonly diagnostics: Diagnostic[];
  /** Extra fields for programs, such as `run_id`. */
  readonly extra: JsonObject;

  constructor(
    code: Code,
    message: string,
    options: { hint?: string | null; diagnostics?: Diagnostic[]; extra?: JsonObject; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint ?? null;
    this.diagnostics = limitDiagnostics(options.diagnostics ?? []);
    this.extra = options.extra ?? {};
  }
}

/** The findings of an error; of an error without any, itself as one. */
export function findingsOf({ diagnostics, code, message, hint }: SvcError): Diagnostic[] {
  return diagnostics.length > 0 ? diagnostics : [diagnostic(code, [], message, { hint })];
}

/** Refuses a text without a UTF-8 form. @throws SvcError `text_invalid` */
export function checkUnicode(text: string): void {
  if (text.isWellFormed()) return;
  throw new SvcError("text_invalid", "Cannot write a text with a lone surrogate", {
    hint: `Remove it, or replace it with U+FFFD: ${JSON.stringify(text.slice(0, 60))}`,
  });
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A message with a place in code, where there is one: `Cannot divide (limiter.ts:21:5)`. */
export function placedMessage(message: string, place: SourceLocation | null | undefined): string {
  return place ? `${message} (${place.file}:${place.line}:${place.column})` : message;
}

/** The error with a finding at a place in code, where there is one. */
export function placedError(error: SvcError, location: SourceLocation | null | undefined): SvcError {
  if (!location) return error;
  const { code, message, hint, extra, cause } = error;
  return new SvcError(code, message, {
    hint,
    extra,
    cause,
    diagnostics: [diagnostic(code, [], message, { hint, location })],
  });
}

/** The error for a document that is refused, with the number of its problems. */
export function refusal(code: Code, attempt: string, diagnostics: Diagnostic[]): SvcError {
  const count = diagnostics.filter(({ severity }) => severity === "error").length;
  return new SvcError(code, `${attempt}: ${count === 1 ? "one problem" : `${count} problems`}`, { diagnostics });
}
