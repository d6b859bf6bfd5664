/** Restores a pruned run: executes its recipe again and stores artifacts with the recorded digests. */
import { dirname } from "node:path";
import { discardEntry, entryInside, inside, type InsidePath, makeFolder } from "../artifact/inside.ts";
import { hashFile } from "../artifact/hash_file.ts";
import { type Diagnostic, isWarning, SvcError } from "../contract/error.ts";
import type { JsonObject } from "../contract/value.ts";
import { executePlan } from "../execute/execute.ts";
import type { StepRow } from "../execute/types.ts";
import { PLAN_FILE, PRUNED_FILE, RECIPE_FILE } from "./documents.ts";
import { executionOf, type SummaryDocument } from "./bundle_schema.ts";
import { checkOptions } from "./execution.ts";
import { type BundleFiles, DISK } from "./files.ts";
import { type PrunedFile, readPruned, sizeOf, touchSummary } from "./prune.ts";
import { readDocument } from "./read.ts";
import type { ReproduceOptions } from "./reproduce.ts";
import { checkResources } from "./resources.ts";
import { chainedSteps } from "../plan/chains.ts";
import { prepareRun } from "./run.ts";
import { lockRuns, showRun, stillExecuting } from "./store.ts";
import type { Workspace } from "./workspace.ts";

export type RestoreOptions = Omit<ReproduceOptions, "jobId" | "sharedProcess"> & { files?: BundleFiles };

export interface RestoreReport extends JsonObject {
  run_id: string;
  /** `complete` when no file was missing. */
  status: "restored" | "complete";
  files: number;
  size_bytes: number;
  /** Of the plan by which the steps ran again. */
  warnings: Diagnostic[];
}

/**
 * Restores the artifacts of a pruned run. The bundle changes only when every digest equals the recorded one.
 * @param wanted run id or a unique prefix
 * @param options as for a run; the worker limit defaults to that of the original
 * @throws SvcError `run_not_found`, `run_still_executing`, `restore_mismatch` with the first step that differed,
 *   `run_canceled`, and the errors of planning a recipe
 */
export async function restoreRun(
  workspace: Workspace,
  wanted: string,
  options: RestoreOptions,
): Promise<RestoreReport> {
  const { run_id, directory, summary } = showRun(workspace, wanted);
  if (summary.status === "running") throw stillExecuting(run_id, "restore");
  using _lock = lockRuns(workspace, [run_id], "restore");
  const files = options.files ?? DISK;
  const pruned = readPruned(directory);
  if (pruned === null) return { run_id, status: "complete", files: 0, size_bytes: 0, warnings: [] };
  // An interrupted restore or prune leaves some files in place.
  const missing = pruned.files.filter(({ path, sha256 }) =>
    sizeOf(inside(directory, path)) === null || hashFile(inside(directory, path)).sha256 !== sha256
  );
  const scratch = inside(workspace.transit, run_id);
  let warnings: Diagnostic[] = [];
  try {
    if (missing.length > 0) {
      files.remove(scratch);
      makeFolder(scratch);
      warnings = await executeAgain(workspace, { directory, summary, scratch, missing, run_id }, options);
      putBack(directory, scratch, missing, files);
    }
    files.remove(entryInside(directory, PRUNED_FILE));
    files.sync(directory);
    touchSummary(directory);
  } finally {
    discardEntry(scratch, files.remove);
  }
  const size_bytes = missing.reduce((total, file) => total + file.size_bytes, 0);
  return { run_id, status: "restored", files: missing.length, size_bytes, warnings };
}

/** While `pruned.json` exists, the bundle claims none of these files. */
export function putBack(
  directory: InsidePath,
  scratch: InsidePath,
  missing: readonly { path: string }[],
  files: BundleFiles,
): void {
  const folders = new Set<string>();
  for (const { path } of missing) {
    const folder = inside(directory, dirname(path)), made = inside(scratch, path);
    makeFolder(folder);
    folders.add(folder).add(dirname(folder));
    files.sync(made);
    files.rename(made, inside(directory, path));
  }
  for (const folder of folders) files.sync(folder);
}

/** Executes the recipe in the folder `scratch`. @returns the warnings of its plan @throws SvcError where a missing file does not come out as recorded */
async function executeAgain(
  workspace: Workspace,
  { directory, summary, scratch, missing, run_id }: {
    directory: InsidePath;
    summary: SummaryDocument;
    scratch: InsidePath;
    missing: readonly PrunedFile[];
    run_id: string;
  },
  options: RestoreOptions,
): Promise<Diagnostic[]> {
  const planned = readDocument(directory, PLAN_FILE), { runner } = planned;
  const { parallel_workers, backend, implementation } = executionOf(summary);
  const { parallelWorkers } = checkOptions({
    ...options,
    parallelWorkers: options.parallelWorkers ?? parallel_workers,
  });
  const raw = readDocument(directory, RECIPE_FILE);
  // A run may be one of an older form.
  const mode = "compat",
    chained = chainedSteps(planned),
    asked = { raw, mode, runner, backend, implementation, chained } as const;
  const { planned: { plan, recipe, diagnostics } } = await prepareRun({ ...options, ...asked });
  if (!options.ignoreEstimate) checkResources(plan, workspace.stateDir);
  const rows: StepRow[] = [];
  const { registry, cancellation, readiness, execute = executePlan, onEvent } = options;
  onEvent?.({
    kind: "run_started",
    level: "info",
    message: `Restore of ${run_id} started`,
    fields: { run_id, step_count: plan.steps.length },
  });
  const outcome = await execute({
    plan,
    recipe,
    registry,
    bundle: scratch,
    projectRoot: workspace.projectRoot,
    stateDir: workspace.stateDir,
    contents: workspace.contents,
    parallelWorkers,
    cancellation,
    trainedArtifact: readiness?.trainedArtifact,
    findModel: readiness?.model,
    onEvent,
    onStep: (row) => rows.push(row),
  });
  if (cancellation.isCancelled) {
    throw new SvcError("run_canceled", `Canceled the restore of ${run_id}; the bundle did not change`);
  }
  const made = new Map(
    rows.flatMap(({ outputs }) => Object.values(outputs).map(({ path, sha256 }) => [path, sha256])),
  );
  const differing = missing.filter(({ path, sha256 }) => made.get(path) !== sha256);
  if (differing.length === 0) return diagnostics.filter(isWarning);
  const stepOf = ({ path }: PrunedFile) => path.split("/")[1];
  const order = plan.steps.map(({ step_id }) => step_id);
  const first = order.find((step) => differing.some((file) => stepOf(file) === step)) ?? stepOf(differing[0]);
  const why = made.has(differing.find((file) => stepOf(file) === first)!.path)
    ? "its output has another digest now"
    : `it gave no output${outcome.error === undefined ? "" : `: ${outcome.error}`}`;
  throw new SvcError("restore_mismatch", `Cannot restore ${run_id}: the step ${first} differs, ${why}`, {
    hint: "The bundle did not change. Compare program, adapters, models and input files with those of its manifest",
    extra: {
      run_id,
      first_difference: first,
      files: differing.map((file) => ({
        step_id: stepOf(file),
        path: file.path,
        expected_sha256: file.sha256,
        actual_sha256: made.get(file.path) ?? null,
      })),
    },
  });
}
