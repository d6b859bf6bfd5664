/** Classes of error codes. */

/** Codes of failed steps that violate their contract or plan; all other failures belong to the operation. */
const CONTRACT_CODES: ReadonlySet<string> = new Set([
  "contract_changed",
  "implementation_changed",
  "input_metadata_missing",
  "input_modified",
  "metric_out_of_range",
  "output_aliased",
  "output_hash_mismatch",
  "output_kind_mismatch",
  "output_metadata_invalid",
  "output_metadata_missing",
  "output_metrics_invalid",
  "output_missing",
  "output_path_invalid",
  "output_symlink",
  "output_unavailable",
  "output_unexpected",
  "staging_conflict",
]);

export function failureClass(code: string): "contract" | "operation" {
  return CONTRACT_CODES.has(code) ? "contract" : "operation";
}
