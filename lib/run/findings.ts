/** Findings of a verification. */
import type { JsonObject } from "../contract/value.ts";

export type FindingCode =
  | "adapter_unsandboxed"
  | "bundle_file_missing"
  | "bundle_hash_mismatch"
  | "bundle_link_mismatch"
  | "bundle_metric_mismatch"
  | "bundle_schema_invalid"
  | "bundle_signature_invalid"
  | "bundle_signature_missing"
  | "result_duplicate_run_ids";

/** A diagnostic with the file that it concerns. */
export interface Finding extends JsonObject {
  severity: "error" | "warning";
  code: FindingCode;
  message: string;
  /** JSON path in the file; `$` for the file itself. */
  path: string;
  /** Relative to the bundle. */
  file: string;
  hint: null;
}

/** Whether the checks passed, and whether the evidence is fit for publication. */
export interface Certification extends JsonObject {
  verdict:
    | "current_profile_pass"
    | "current_profile_fail"
    | "nonpublication_evidence_pass"
    | "nonpublication_evidence_fail";
}

/** Result of a group of checks. */
export interface CheckRow extends JsonObject {
  id: string;
  status: "passed" | "warning" | "failed";
  /** Number of items checked. */
  count: number;
}

/** Collects findings by group of checks. */
export class Findings {
  readonly errors: Finding[] = [];
  readonly warnings: Finding[] = [];
  readonly checks: CheckRow[] = [];
  #row: CheckRow | undefined;

  /** Begins or continues a group; later findings belong to it. */
  group(id: string): void {
    this.#row = this.checks.find((row) => row.id === id);
    if (this.#row === undefined) this.checks.push(this.#row = { id, status: "passed", count: 0 });
  }

  /** Counts checked items. */
  looked(count = 1): void {
    this.#row!.count += count;
  }

  add(severity: "error" | "warning", code: FindingCode, file: string, path: string, message: string): void {
    this[severity === "error" ? "errors" : "warnings"].push({ severity, code, message, path, file, hint: null });
    if (severity === "error") this.#row!.status = "failed";
    else if (this.#row!.status === "passed") this.#row!.status = "warning";
  }

  error(code: FindingCode, file: string, path: string, message: string): void {
    this.add("error", code, file, path, message);
  }
}
