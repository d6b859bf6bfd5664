/** Fields of ledger events in their whole form, for tests of the ledger alone. */
import type { ResultRow, StartFields } from "../../lib/study/pack/types.ts";

/** The start of a benchmark of some recipes. */
export function startOf(recipes: readonly string[], changes: Partial<StartFields> = {}): StartFields {
  return {
    result_id: "20260101T000000Z_demo",
    pack_sha256: "0".repeat(64),
    execution: { mode: "sequential", parallel_workers: 1 },
    build_sha256: null,
    replication: null,
    storage: { backing_run_policy: "pruned_after_snapshot" },
    recipes: recipes.map((id) => ({ id, recipe_sha256: "1".repeat(64) })),
    methods: "2".repeat(64),
    ...changes,
  };
}

/** The event of a row without evidence. */
export function rowOf(id: string, replicate: number, changes: Partial<ResultRow> = {}): { row: ResultRow } {
  return {
    row: {
      id,
      replicate,
      label: id,
      role: "candidate",
      method_id: null,
      baseline_id: null,
      recipe_name: id,
      recipe_path: "link.yaml",
      matrix_selection: {},
      run_id: null,
      run_dir: null,
      status: "completed",
      manifest: null,
      recipe_sha256: null,
      semantic_recipe_sha256: null,
      research: null,
      metrics: {},
      metric_provenance: {},
      run_evidence_snapshot: null,
      ...changes,
    },
  };
}
