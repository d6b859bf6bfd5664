/** Errors as RFC 9457 problems, and the status that goes with each code. */
import { type Code, codeRow } from "../contract/codes.ts";
import { type Diagnostic, messageOf, SvcError } from "../contract/error.ts";
import { isNoSpace, systemCodeOf, withSystemCode } from "../contract/system_error.ts";
import type { JsonObject } from "../contract/value.ts";

export const PROBLEM_MEDIA = "application/problem+json";

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  408: "Request timeout",
  409: "Conflict",
  412: "Precondition failed",
  413: "Content too large",
  415: "Unsupported media type",
  416: "Range not satisfiable",
  422: "Cannot be processed",
  429: "Too many requests",
  431: "Request header fields too large",
  500: "Internal error",
  503: "Service unavailable",
  507: "Insufficient storage",
};

/** The status of an error; null for a defect. */
function statusOf(error: SvcError): number | null {
  const noSpace = error.code === "storage_unavailable" && isNoSpace(String(error.extra.system_code));
  return noSpace ? 507 : codeRow(error.code)[1];
}

/** A problem and the headers that its reply needs. */
export interface Problem {
  status: number;
  document: JsonObject;
}

/**
 * The problem document of an error. A defect does not show its cause: the reply has a reference, under
 * which the log has the details.
 * @param reference of the request in the log
 */
export function problemOf(error: unknown, reference: string): Problem {
  const status = error instanceof SvcError ? statusOf(error) : null;
  if (!(error instanceof SvcError) || status === null) {
    return {
      status: 500,
      document: {
        type: "urn:svc:problem:internal_error",
        title: TITLES[500],
        status: 500,
        detail: "Cannot answer the request: the server has a defect",
        instance: `urn:svc:request:${reference}`,
        code: "internal_error",
        hint: "The log has the details under that reference",
        diagnostics: [],
      },
    };
  }
  return {
    status,
    document: {
      ...error.extra,
      type: `urn:svc:problem:${error.code}`,
      title: TITLES[status] ?? "Problem",
      status,
      detail: messageOf(error),
      instance: `urn:svc:request:${reference}`,
      code: error.code,
      hint: error.hint,
      diagnostics: error.diagnostics,
    },
  };
}

/** An error as data that crosses to another thread. */
export type ErrorRecord = {
  code: Code | null;
  message: string;
  hint: string | null;
  diagnostics: Diagnostic[];
  extra: JsonObject;
  stack?: string;
};

export function errorRecord(error: unknown): ErrorRecord {
  const stack = error instanceof Error ? error.stack : undefined;
  const coded = withSystemCode(error);
  if (!(coded instanceof SvcError)) {
    return { code: null, message: messageOf(error), hint: null, diagnostics: [], extra: {}, stack };
  }
  const { code, message, hint, diagnostics, extra } = coded;
  const system_code = systemCodeOf(coded);
  return { code, message, hint, diagnostics, extra: system_code === null ? extra : { ...extra, system_code }, stack };
}

/** The error of a record; a defect stays one. */
export function errorOf(record: ErrorRecord): Error {
  const { code, message, hint, extra } = record;
  const error = code === null
    ? new Error(message)
    : new SvcError(code, message, { hint, diagnostics: record.diagnostics, extra });
  if (record.stack !== undefined) error.stack = record.stack;
  return error;
}
