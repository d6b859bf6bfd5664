/** The runs of a workspace: listing, looking up, showing and removing them. Bundles are the truth. */
import { join } from "node:path";
import { messageOf, SvcError } from "../contract/error.ts";
import { nearestName } from "../contract/nearest.ts";
import { isInteger, isObject, type JsonObject } from "../contract/value.ts";
import { AUTHORED_FILE, MANIFEST_FILE, RUN_STATUSES, type RunStatus } from "./documents.ts";
import { type BundleFiles, DISK, listFiles } from "./files.ts";
import { tryLockRun } from "./lock.ts";
import { readDocument } from "./read.ts";
import { settleRun, sweepTransit } from "./recover.ts";
import { exists, isRunId } from "./reservation.ts";
import type { Workspace } from "./workspace.ts";

/** A run in a list. */
export interface RunRow extends JsonObject {
  run_id: string;
  status: RunStatus;
  recipe_name: string | null;
  /** Id of the suite that the recipe names. */
  suite: string | null;
  created_at_utc: string | null;
  completed_at_utc: string | null;
  effective_recipe_sha256: string | null;
  step_count: number;
  /** All files of the bundle. */
  size_bytes: number;
  /** Task that the recipe is about. */
  task_id: string | null;
  /** How it ran: `sequential` or `parallel`, and with how many workers. */
  mode: string | null;
  parallel_workers: number | null;
  /** What the plan cache did: `hit`, `miss` or `bypass`. */
  plan_cache: string | null;
}

/**
 * Lists the runs, newest first. Interrupted runs are settled on the way.
 *
 * @returns one row per bundle; `problem` says why a row could not be filled
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { listRuns, openWorkspace, run } from "../../mod.ts";
 *
 * const stateDir = await Deno.makeTempDir();
 * const recipe = { name: "bits", steps: [{ id: "data", op: "source.random_bits" }] };
 * const { run_id } = await run(recipe, { stateDir });
 * const rows = listRuns(openWorkspace({ stateDir }));
 * assert.deepEqual(rows.map((row) => [row.run_id, row.status]), [[run_id, "completed"]]);
 * await Deno.remove(stateDir, { recursive: true });
 * ```
 */
export function listRuns(workspace: Workspace, files: BundleFiles = DISK): RunRow[] {
  sweepTransit(workspace, files);
  const rows = runIds(workspace).map((id) => readRunRow(workspace, id, files)).filter((row) => row !== null);
  return rows.sort((a, b) => compare(sortKey(b), sortKey(a)));
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Rises with time, then with the number that a collision added to the id, then with the id. */
export function sortKey(row: RunRow): string {
  const collision = /_(\d+)$/.exec(row.run_id)?.[1] ?? "1";
  return `${row.created_at_utc ?? timeOfId(row.run_id)}|${collision.slice(0, 20).padStart(20, "0")}|${row.run_id}`;
}

function timeOfId(runId: string): string {
  return runId.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, "$1-$2-$3T$4:$5:$6.000Z");
}

/** Ids of all bundles; links are none. */
export function runIds(workspace: Workspace): string[] {
  try {
    return [...Deno.readDirSync(workspace.runs)].filter((entry) => entry.isDirectory && isRunId(entry.name))
      .map((entry) => entry.name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/**
 * The row of one bundle, settled if it was interrupted; null when it was removed while we looked.
 *
 * @param onSummary gets the summary that the row was made from, for those who want more of it
 */
export function readRunRow(
  workspace: Workspace,
  runId: string,
  files: BundleFiles = DISK,
  onSummary: (summary: JsonObject) => void = () => {},
): RunRow | null {
  const directory = join(workspace.runs, runId);
  const row: RunRow = {
    run_id: runId,
    status: "incomplete",
    recipe_name: null,
    suite: null,
    created_at_utc: null,
    completed_at_utc: null,
    effective_recipe_sha256: null,
    step_count: 0,
    size_bytes: 0,
    task_id: null,
    mode: null,
    parallel_workers: null,
    plan_cache: null,
  };
  try {
    row.size_bytes = listFiles(directory).reduce((total, { size }) => total + size, 0);
    const summary = settleRun(workspace, runId, files);
    onSummary(summary);
    const text = (value: unknown) => (typeof value === "string" ? value : null);
    if (RUN_STATUSES.includes(summary.status as RunStatus)) row.status = summary.status as RunStatus;
    row.recipe_name = text(summary.recipe_name);
    row.created_at_utc = text(summary.created_at_utc);
    row.completed_at_utc = text(summary.completed_at_utc);
    row.effective_recipe_sha256 = text(summary.effective_recipe_sha256);
    row.step_count = Array.isArray(summary.steps) ? summary.steps.length : 0;
    const { execution, execution_plan: plan } = summary;
    if (isObject(execution)) {
      row.mode = text(execution.mode);
      row.parallel_workers = isInteger(execution.parallel_workers) ? Number(execution.parallel_workers) : null;
    }
    row.plan_cache = isObject(plan) && isObject(plan.cache) ? text(plan.cache.outcome) : null;
    const { suite, metadata } = readDocument(directory, AUTHORED_FILE);
    row.suite = isObject(suite) ? text(suite.id) : null;
    const research = isObject(metadata) ? metadata.research : null;
    const task = isObject(research) ? research.task : null;
    row.task_id = isObject(task) ? text(task.id) : text(task);
  } catch (error) {
    // Removed while we looked.
    if (error instanceof Deno.errors.NotFound) return null;
    row.problem = messageOf(error);
  }
  return row;
}

/**
 * The run id that a person means.
 *
 * @param wanted a whole id, or a beginning that only one id has
 * @throws SvcError `run_not_found` with the nearest ids
 */
export function resolveRunId(workspace: Workspace, wanted: string): string {
  const ids = runIds(workspace);
  if (ids.includes(wanted)) return wanted;
  // An id that was given out once means that run alone, even when the id of a later one begins with it.
  const removed = isRunId(wanted) && exists(join(workspace.reservations, wanted));
  const matches = wanted === "" || removed ? [] : ids.filter((id) => id.startsWith(wanted)).sort();
  if (matches.length === 1) return matches[0];
  if (matches.length > 1) {
    const shown = matches.slice(0, 5).join(", ") + (matches.length > 5 ? ", …" : "");
    throw new SvcError("run_not_found", `Cannot tell which of ${matches.length} runs ${wanted} means`, {
      hint: `Write more of the id: ${shown}`,
    });
  }
  if (isRunId(wanted) && isLink(join(workspace.runs, wanted))) {
    throw new SvcError("run_not_found", `Cannot use ${wanted} as a run: its folder is a symbolic link`, {
      hint: "Copy the bundle itself into the workspace",
    });
  }
  // The name of the recipe is what people remember.
  const near = nearestName(wanted, ids) ?? ids.sort().reverse().find((id) => wanted !== "" && id.includes(wanted)) ??
    null;
  throw new SvcError("run_not_found", `Cannot find a run named ${wanted || "(empty)"}`, {
    hint: near === null ? "List the runs with: svc runs list" : `Did you mean ${near}?`,
  });
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch {
    return false;
  }
}

/** A run as its two documents tell it. */
export interface ShownRun {
  run_id: string;
  /** Absolute. */
  directory: string;
  summary: JsonObject;
  manifest: JsonObject;
}

/**
 * Reads a run; an interrupted one is settled first.
 *
 * @param wanted run id or a unique beginning of one
 * @throws SvcError `run_not_found`, `bundle_file_missing`, `bundle_schema_invalid`
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { openWorkspace, run, showRun } from "../../mod.ts";
 *
 * const stateDir = await Deno.makeTempDir();
 * const recipe = { name: "bits", steps: [{ id: "data", op: "source.random_bits" }] };
 * const { run_id } = await run(recipe, { stateDir });
 * const { summary, directory } = showRun(openWorkspace({ stateDir }), run_id);
 * assert.equal(summary.recipe_name, "bits");
 * assert.ok(Array.from(Deno.readDirSync(directory), ({ name }) => name).includes("artifacts"));
 * await Deno.remove(stateDir, { recursive: true });
 * ```
 */
export function showRun(workspace: Workspace, wanted: string): ShownRun {
  const runId = resolveRunId(workspace, wanted);
  const directory = join(workspace.runs, runId);
  const summary = settleRun(workspace, runId);
  return { run_id: runId, directory, summary, manifest: readDocument(directory, MANIFEST_FILE) };
}

/**
 * Removes finished runs, all or none; their ids stay reserved.
 *
 * @param wanted run ids or unique beginnings of them
 * @returns the ids, in full
 * @throws SvcError `run_not_found`, or `run_still_executing` before anything is removed
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { listRuns, openWorkspace, removeRuns, run } from "../../mod.ts";
 *
 * const stateDir = await Deno.makeTempDir();
 * const recipe = { name: "bits", steps: [{ id: "data", op: "source.random_bits" }] };
 * const { run_id } = await run(recipe, { stateDir });
 * const workspace = openWorkspace({ stateDir });
 * assert.deepEqual(removeRuns(workspace, [run_id]), [run_id]);
 * assert.deepEqual(listRuns(workspace), []);
 * await Deno.remove(stateDir, { recursive: true });
 * ```
 */
export function removeRuns(workspace: Workspace, wanted: readonly string[], files: BundleFiles = DISK): string[] {
  const ids = [...new Set(wanted.map((id) => resolveRunId(workspace, id)))];
  const locks = new Map<string, ReturnType<typeof tryLockRun>>();
  try {
    for (const id of ids) {
      const lock = tryLockRun(workspace, id);
      if (lock === null) throw stillExecuting(id, "remove");
      locks.set(id, lock);
    }
    Deno.mkdirSync(workspace.transit, { recursive: true });
    for (const id of ids) {
      files.remove(join(workspace.transit, id));
      // Out of sight in one step: nobody ever sees half a bundle.
      files.rename(join(workspace.runs, id), join(workspace.transit, id));
      files.remove(join(workspace.transit, id));
    }
    return ids;
  } finally {
    for (const lock of locks.values()) lock?.release();
  }
}

/** The error for what can only be done with a run that ended. */
export function stillExecuting(runId: string, verb: string): SvcError {
  return new SvcError("run_still_executing", `Cannot ${verb} ${runId} while it is executing`, {
    hint: "Wait for its end, or cancel it",
    extra: { run_id: runId },
  });
}
