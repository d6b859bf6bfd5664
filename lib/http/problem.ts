/** Errors as RFC 9457 problems, and the status that goes with each code. */
import { type Diagnostic, messageOf, SvcError } from "../contract/error.ts";
import { isNoSpace, systemCodeOf, withSystemCode } from "../contract/system_error.ts";
import type { JsonObject } from "../contract/value.ts";

export const PROBLEM_MEDIA = "application/problem+json";

/** Status by code; codes of the families below follow their beginning. */
const STATUS: Readonly<Record<string, number>> = {
  unauthorized: 401,
  host_refused: 403,
  origin_refused: 403,
  path_forbidden: 403,
  path_refused: 403,
  read_only: 403,
  not_found: 404,
  run_not_found: 404,
  job_not_found: 404,
  result_not_found: 404,
  template_not_found: 404,
  recipe_not_found: 404,
  artifact_not_found: 404,
  pack_not_found: 404,
  training_project_not_found: 404,
  unknown_operation: 404,
  method_not_allowed: 405,
  body_timeout: 408,
  request_timeout: 408,
  template_unavailable: 409,
  artifact_conflict: 409,
  capture_conflict: 409,
  training_project_conflict: 409,
  training_project_changed: 409,
  run_still_executing: 409,
  run_pruned: 404,
  restore_mismatch: 409,
  gc_running: 409,
  recipe_exists: 409,
  dataset_unavailable: 409,
  stale_overwrite: 412,
  body_too_large: 413,
  media_type_unsupported: 415,
  artifact_ambiguous: 400,
  run_failed: 422,
  run_canceled: 422,
  resources_insufficient: 400,
  artifact_invalid: 422,
  capture_splits_overlap: 422,
  bundle_file_missing: 422,
  bundle_hash_mismatch: 422,
  bundle_schema_invalid: 422,
  request_malformed: 400,
  request_headers_too_large: 431,
  job_capacity: 429,
  stream_capacity: 429,
  disk_reserve_reached: 500,
  internal_error: 500,
  file_system_error: 500,
  file_write_failed: 500,
  shutting_down: 503,
  storage_unavailable: 503,
  server_busy: 503,
};

/** Codes of what a client sent wrong. */
const CLIENT =
  /^(body|query|recipe|plan|params|execution|matrix|template|pack|metric|seed|override|manifest|dataset|benchmark|comparison|artifact|adapter|usage|publication|replicate|text|training)_/;

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
  422: "Cannot be processed",
  429: "Too many requests",
  431: "Request header fields too large",
  500: "Internal error",
  503: "Service unavailable",
  507: "Insufficient storage",
};

/** The status of an error: 500 for an unexpected error. */
function statusOf(error: unknown): number {
  if (!(error instanceof SvcError)) return 500;
  if (error.code === "storage_unavailable" && isNoSpace(String(error.extra.system_code))) return 507;
  return STATUS[error.code] ?? (CLIENT.test(error.code) ? 400 : 500);
}

/** A problem and the headers that its reply needs. */
export interface Problem {
  status: number;
  document: JsonObject;
}

/**
 * The problem document of an error. A defect does not show its cause: the reply has a reference, under
 * which the log tells the rest.
 * @param reference of the request in the log
 */
export function problemOf(error: unknown, reference: string): Problem {
  const status = statusOf(error);
  if (!(error instanceof SvcError) || (status === 500 && !Object.hasOwn(STATUS, error.code))) {
    return {
      status: 500,
      document: {
        type: "urn:svc:problem:internal_error",
        title: TITLES[500],
        status: 500,
        detail: "Cannot answer the request: the server has a defect",
        instance: `urn:svc:request:${reference}`,
        code: "internal_error",
        hint: "Its log tells more under that reference",
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
  code: string | null;
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
