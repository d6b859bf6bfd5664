/**
 * Runs the variants of a matrix one after another, in the order of the matrix. A variant that has a verified complete
 * run of the same recipe is not run again, so a matrix that was interrupted goes on where it stopped.
 */
import { type Diagnostic, messageOf, SvcError } from "../contract/error.ts";
import { canonicalJson } from "../contract/json.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { executePlan } from "../execute/execute.ts";
import { WorkerPool } from "../execute/pool.ts";
import { planMatrix, type PlannedPoint } from "../plan/plan_matrix.ts";
import { expandMatrix, type MatrixExpansion } from "../recipe/expand_matrix.ts";
import { selectPoints } from "../recipe/select_points.ts";
import { coordinatesText } from "../recipe/variant_name.ts";
import { checkExecution, refusal, type RunEvent, type RunOptions, runRecipe } from "./run.ts";
import { listRuns, type RunRow, showRun } from "./store.ts";
import { verifyRun } from "./verify.ts";
import type { Workspace } from "./workspace.ts";

/** Events of a matrix: those of its runs, and the ends of its variants. */
export type MatrixEvent = RunEvent | {
  kind: "matrix_variant_started" | "matrix_variant_completed";
  level: "info" | "warning" | "error";
  message: string;
  fields: JsonObject;
};

export interface MatrixRunOptions extends Omit<RunOptions, "onEvent" | "files"> {
  /** Which points, as `selectPoints` reads them; all when left out. */
  points?: readonly string[];
  /** Whether the variants behind a failed one run; false when left out. */
  continueOnError?: boolean;
  /** Whether variants with a verified complete run are run again; false when left out. */
  rerun?: boolean;
  /** Whether legacy sweeps are errors; they are warnings when left out. */
  strictLegacy?: boolean;
  onEvent?(event: MatrixEvent): void;
}

/** A variant and how it ended. */
export interface MatrixRow extends JsonObject {
  /** `metadata.matrix_index`. */
  index: number;
  variant_id: string;
  /** Dimension to value. */
  selection: JsonObject;
  recipe_name: string;
  /** Null where it did not come to a run. */
  run_id: string | null;
  /** `skipped` where it was not reached. */
  status: "completed" | "failed" | "canceled" | "skipped";
  /** Whether the run was there before. */
  reused: boolean;
  /** Step id to its metrics. */
  metrics: { [stepId: string]: JsonObject };
}

export interface MatrixRunResult {
  status: "completed" | "failed" | "canceled";
  recipe_name: string;
  canonical_matrix: MatrixExpansion["canonical_matrix"];
  /** The selected variants, in the order of the matrix. */
  rows: MatrixRow[];
  /** Warnings and infos of compiler and planner. */
  diagnostics: Diagnostic[];
}

/**
 * Runs the variants of a recipe with a matrix. All are compiled, and those that are to run planned, before the first
 * one starts; the worker limit holds for each by itself.
 *
 * @returns how each variant ended; without `continueOnError` a failed one is the last
 * @throws SvcError `execution_invalid`, `recipe_invalid` or `plan_invalid` with all diagnostics,
 *   `matrix_definition_invalid` where there is no matrix, `usage_invalid` for points that it does not have,
 *   all before anything is written
 */
export async function runMatrix(options: MatrixRunOptions): Promise<MatrixRunResult> {
  const { workspace, cancellation, onEvent = () => {} } = options;
  checkExecution({
    ...(options.parallelWorkers === undefined ? {} : { parallel_workers: options.parallelWorkers }),
    ...(options.usePlanCache === undefined ? {} : { use_plan_cache: options.usePlanCache }),
  });
  const { expansion, points, diagnostics } = await prepare(options);
  const count = expansion.points.length;
  const known = options.rerun ? [] : listRuns(workspace).filter(({ status }) => status === "completed");

  const rows: MatrixRow[] = points.map(({ index, variant_id, selection, recipe }) => ({
    index,
    variant_id,
    selection,
    recipe_name: recipe.name,
    run_id: null,
    status: "skipped",
    reused: false,
    metrics: {},
  }));
  const report = (kind: "matrix_variant_started" | "matrix_variant_completed", row: MatrixRow) => {
    const { index, variant_id, run_id, status, reused } = row;
    const ended = kind === "matrix_variant_completed";
    onEvent({
      kind,
      level: ended && status === "failed" ? "error" : ended && status === "canceled" ? "warning" : "info",
      message: `Variant ${index + 1} of ${count} (${coordinatesText(row.selection)}) ${ended ? status : "started"}`,
      fields: { index, count, variant_id, run_id, ...(ended ? { status, reused } : {}) },
    });
  };

  // One pool for all, so that threads and the modules in them are loaded once.
  const pool = options.execute === undefined ? new WorkerPool() : undefined;
  try {
    for (const [at, point] of points.entries()) {
      if (cancellation.isCancelled) break;
      const row = rows[at];
      const found = await completedRun(workspace, known, point);
      if (found !== null) {
        Object.assign(row, { run_id: found.run_id, status: "completed", reused: true, metrics: found.metrics });
        report("matrix_variant_started", row);
      } else {
        pool?.warmUp();
        await runVariant(point, row);
      }
      report("matrix_variant_completed", row);
      if (row.status === "failed" && !options.continueOnError) break;
    }
  } finally {
    pool?.close();
  }
  const failed = rows.some(({ status }) => status === "failed");
  return {
    status: cancellation.isCancelled ? "canceled" : failed ? "failed" : "completed",
    recipe_name: expansion.recipe!.name,
    canonical_matrix: expansion.canonical_matrix,
    rows,
    diagnostics,
  };

  async function runVariant(point: PlannedPoint, row: MatrixRow): Promise<void> {
    try {
      const result = await runRecipe({
        ...options,
        raw: point.recipe,
        locate: point.locate,
        execute: options.execute ?? ((execution) => executePlan({ ...execution, pool })),
        onEvent(event) {
          if (event.kind === "run_created") {
            row.run_id = String(event.fields.run_id);
            report("matrix_variant_started", row);
          }
          onEvent(event);
        },
      });
      row.status = result.status;
      row.metrics = metricsOf(result.summary);
      if (result.status === "failed") {
        const { code } = (result.summary.failure ?? {}) as { code?: string };
        row.error = { code: code ?? "run_failed", message: String(result.summary.error ?? "") };
      }
    } catch (error) {
      // A variant that is refused after all, as when a file it reads has gone, fails alone; a defect does not pass as that.
      if (!(error instanceof SvcError)) throw error;
      row.status = "failed";
      row.error = { code: error.code, message: messageOf(error) };
    }
  }
}

/** Expands, selects and plans. */
async function prepare(options: MatrixRunOptions) {
  const { raw, registry, locate, strictLegacy } = options;
  const expansion = expandMatrix(raw, { registry, locate, strictLegacy });
  const { authored, canonical_matrix: { source }, diagnostics } = expansion;
  if (expansion.status === "invalid") {
    throw refusal(
      "recipe_invalid",
      authored.status === "invalid" ? "Cannot compile the recipe" : "Cannot compile the points of the matrix",
      diagnostics,
    );
  }
  if (expansion.points.length === 0) {
    const [message, hint] = source === "none"
      ? ["Cannot run a matrix: the recipe has none", "Run it with svc recipe run"]
      : [`Cannot run a matrix: metadata.${source} names nothing to sweep`, "Write metadata.matrix"];
    throw new SvcError("matrix_definition_invalid", message, { hint, diagnostics });
  }
  const wanted = options.points === undefined ? expansion.points : selectPoints(expansion.points, options.points);
  const { runner, backend, implementation, readiness, usePlanCache, planCache: cache } = options;
  const planning = { registry, runner, backend, implementation, readiness, usePlanCache, cache };
  const plan = await planMatrix(expansion, planning, wanted);
  if (plan.status === "refused") {
    throw refusal("plan_invalid", "Cannot plan the points of the matrix", plan.diagnostics);
  }
  return { expansion, points: plan.points, diagnostics: plan.diagnostics };
}

/**
 * A run that need not be repeated: complete, of the same effective recipe, bound to the same entries with the same adapters and
 * trained artifacts, and unaltered.
 *
 * @param known completed runs, newest first
 */
async function completedRun(workspace: Workspace, known: readonly RunRow[], { planned: { plan } }: PlannedPoint) {
  for (const { run_id, effective_recipe_sha256 } of known) {
    if (effective_recipe_sha256 !== plan.recipe.sha256) continue;
    try {
      const { summary } = showRun(workspace, run_id);
      const entries = (summary.steps as JsonObject[]).map(({ execution_binding }) =>
        isObject(execution_binding) ? bindingText(execution_binding) : null
      );
      if (plan.steps.some((step, index) => bindingText(step) !== entries[index])) continue;
      if ((await verifyRun(workspace, run_id)).status === "valid") return { run_id, metrics: metricsOf(summary) };
    } catch (error) {
      // It was removed meanwhile, or cannot be read: then it proves nothing.
      if (!(error instanceof SvcError)) throw error;
    }
  }
  return null;
}

/** What a step was bound to, with all that comes from outside the program: a changed adapter is another method. */
function bindingText({ materialization_id, implementation_metadata: metadata }: JsonObject): string {
  const { external_adapter_sdk = null, trained_artifact = null, models = null } = isObject(metadata) ? metadata : {};
  return canonicalJson([materialization_id, external_adapter_sdk, trained_artifact, models]);
}

function metricsOf(summary: JsonObject): { [stepId: string]: JsonObject } {
  const steps = Array.isArray(summary.steps) ? summary.steps as JsonObject[] : [];
  return Object.fromEntries(steps.map((step) => [String(step.id), (step.metrics ?? {}) as JsonObject]));
}
