/** Errors as RFC 9457 problems, and the status that goes with each code. */
import { type Diagnostic, messageOf, SvcError } from "../contract/error.ts";
import { isNoSpace, systemCodeOf, withSystemCode } from "../contract/system_error.ts";
import type { JsonObject } from "../contract/value.ts";

export const PROBLEM_MEDIA = "application/problem+json";

/** Codes of each status; codes of the families below are 400, all others unexpected errors. */
const CODES: Readonly<Record<number, string>> = {
  400: "resources_insufficient request_malformed",
  401: "unauthorized",
  403: "host_refused origin_refused path_forbidden path_refused read_only",
  404: "not_found run_not_found job_not_found result_not_found template_not_found recipe_not_found " +
    "artifact_not_found pack_not_found training_project_not_found unknown_operation run_pruned",
  405: "method_not_allowed",
  408: "body_timeout request_timeout",
  409: "template_unavailable artifact_conflict capture_conflict training_project_conflict " +
    "training_project_changed run_still_executing restore_mismatch gc_running recipe_exists dataset_unavailable " +
    "shard_conflict shard_incomplete result_schema_old run_marks_invalid",
  412: "stale_overwrite",
  413: "body_too_large",
  415: "media_type_unsupported",
  416: "range_not_satisfiable",
  422: "run_failed run_canceled artifact_invalid capture_splits_overlap bundle_file_missing " +
    "bundle_hash_mismatch bundle_schema_invalid engine_job_failed",
  429: "job_capacity stream_capacity",
  431: "request_headers_too_large",
  500: "disk_reserve_reached internal_error file_system_error file_write_failed",
  503: "shutting_down storage_unavailable server_busy engine_unavailable",
};
const STATUS = new Map(
  Object.entries(CODES).flatMap(([status, codes]) => codes.split(" ").map((code) => [code, Number(status)] as const)),
);

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
  416: "Range not satisfiable",
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
  return STATUS.get(error.code) ?? (CLIENT.test(error.code) ? 400 : 500);
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
  const status = statusOf(error);
  if (!(error instanceof SvcError) || (status === 500 && !STATUS.has(error.code))) {
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
