/** The runs of a workspace: list, look up, show and remove. The bundles are authoritative. */
import { entryInside, inside, type InsidePath, makeFolder, makeFolderOf } from "../artifact/inside.ts";
import { entriesOf, entryInfo, exists } from "../artifact/path_kind.ts";
import { join } from "node:path";
import { messageOf, SvcError } from "../contract/error.ts";
import { nearestName } from "../contract/nearest.ts";
import { isInteger, isObject, type JsonObject } from "../contract/value.ts";
import { releaseContents } from "../execute/contents.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import type { ManifestDocument, SummaryDocument } from "./bundle_schema.ts";
import { AUTHORED_FILE, MANIFEST_FILE, PRUNED_FILE, RUN_STATUSES, type RunStatus } from "./documents.ts";
import { type BundleFiles, DISK, listFiles } from "./files.ts";
import { type RunLock, tryLockRun } from "./lock.ts";
import { digestsOf } from "./prune.ts";
import { readDocument } from "./read.ts";
import { settleRun, sweepTransit } from "./recover.ts";
import { isRunId, markRemoved } from "./reservation.ts";
import { removedRun } from "./trash.ts";
import type { Workspace } from "./workspace.ts";

export interface RunRow extends JsonObject {
  run_id: string;
  status: RunStatus;
  recipe_name: string | null;
  /** Name of the recipe whose matrix made the run, where `recipe_name` is the id of the variant. */
  matrix_recipe: string | null;
  /** Id of the recipe's suite. */
  suite: string | null;
  created_at_utc: string | null;
  completed_at_utc: string | null;
  effective_recipe_sha256: string | null;
  step_count: number;
  /** Total size of the bundle's files. */
  size_bytes: number;
  task_id: string | null;
  /** `sequential` or `parallel`, and the number of workers. */
  mode: string | null;
  parallel_workers: number | null;
  /** Outcome of the plan cache: `hit`, `miss` or `bypass`. */
  plan_cache: string | null;
  /** `pruned` when artifacts were removed that `runs restore` makes again. */
  artifacts: "complete" | "pruned";
}

/** Names of the variants of a recipe begin with its name and this. */
const VARIANT_MARK = "__";

/**
 * Whether a run belongs to a recipe or to a variant of its matrix, whose name is `<recipe>__<dimension>_<value>` or the
 * id of the variant.
 */
export const isOfRecipe = ({ recipe_name: name, matrix_recipe }: RunRow, recipe: string): boolean =>
  name === recipe || matrix_recipe === recipe || name?.startsWith(recipe + VARIANT_MARK) === true;

/** The recipes that a run belongs to, as {@link isOfRecipe} has it. */
export function recipesOf({ recipe_name: name, matrix_recipe }: RunRow): string[] {
  const parts = name?.split(VARIANT_MARK) ?? [];
  const names = parts.map((_, at) => parts.slice(0, at + 1).join(VARIANT_MARK));
  return [...new Set(matrix_recipe === null ? names : [...names, matrix_recipe])];
}

/**
 * Lists the runs, newest first. Interrupted runs are settled first.
 * @returns one row per bundle; `problem` gives the reason of an incomplete row
 */
export function listRuns(workspace: Workspace, files: BundleFiles = DISK): RunRow[] {
  sweepTransit(workspace, files);
  const rows = runIds(workspace).map((id) => readRunRow(workspace, id, files)).filter((row) => row !== null);
  return rows.sort((a, b) => compare(sortKey(b), sortKey(a)));
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Orders by time, then by collision number, then by id. */
export function sortKey(row: RunRow): string {
  const collision = /_(\d+)$/.exec(row.run_id)?.[1] ?? "1";
  return `${row.created_at_utc ?? timeOfId(row.run_id)}|${collision.slice(0, 20).padStart(20, "0")}|${row.run_id}`;
}

function timeOfId(runId: string): string {
  return runId.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, "$1-$2-$3T$4:$5:$6.000Z");
}

/** Ids of all bundles; links are excluded. */
export function runIds(workspace: Workspace): string[] {
  return entriesOf(workspace.runs).filter((entry) => entry.isDirectory && isRunId(entry.name)).map(({ name }) => name);
}

/**
 * The row of one bundle, settled if it was interrupted; null when it was removed meanwhile.
 * @param onDocuments receives the summary and the authored recipe of the row
 */
export function readRunRow(
  workspace: Workspace,
  runId: string,
  files: BundleFiles = DISK,
  onDocuments: (summary: SummaryDocument, recipe: RecipeDocument) => void = () => {},
): RunRow | null {
  const directory = inside(workspace.runs, runId);
  const row = unknownRow(runId);
  if (exists(join(directory, PRUNED_FILE))) row.artifacts = "pruned";
  try {
    row.size_bytes = listFiles(directory).reduce((total, { size }) => total + size, 0);
    const summary = settleRun(workspace, runId, files);
    describe(row, summary, {});
    const authored = readDocument(directory, AUTHORED_FILE);
    onDocuments(summary, authored);
    describe(row, summary, authored);
  } catch (error) {
    // Removed meanwhile.
    if (error instanceof Deno.errors.NotFound) return null;
    row.problem = messageOf(error);
  }
  return row;
}

/** Fills in a row from the summary and the authored recipe of its bundle. */
export function describe(row: RunRow, summary: JsonObject, { suite, metadata }: JsonObject): void {
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
  row.suite = isObject(suite) ? text(suite.id) : null;
  row.matrix_recipe = isObject(metadata) ? text(metadata.matrix_recipe) : null;
  const research = isObject(metadata) ? metadata.research : null;
  const task = isObject(research) ? research.task : null;
  row.task_id = isObject(task) ? text(task.id) : text(task);
}

/** The row of a run of which nothing is known. */
export const unknownRow = (run_id: string): RunRow => ({
  run_id,
  status: "incomplete",
  recipe_name: null,
  matrix_recipe: null,
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
  artifacts: "complete",
});

/**
 * Resolves a run id.
 * @param wanted a whole id or a unique prefix
 * @throws SvcError `run_not_found` with the nearest ids
 */
export function resolveRunId(workspace: Workspace, wanted: string): string {
  const ids = runIds(workspace);
  if (ids.includes(wanted)) return wanted;
  // A used id means that run alone, even if the id of a later run begins with it.
  const removed = isRunId(wanted) && exists(join(workspace.reservations, wanted));
  const matches = wanted === "" || removed ? [] : ids.filter((id) => id.startsWith(wanted)).sort();
  if (matches.length === 1) return matches[0];
  if (matches.length > 1) {
    const shown = matches.slice(0, 5).join(", ") + (matches.length > 5 ? ", …" : "");
    throw new SvcError("run_not_found", `Ambiguous run id ${wanted}: ${matches.length} runs match`, {
      hint: `Write more of the id: ${shown}`,
    });
  }
  if (isRunId(wanted) && entryInfo(join(workspace.runs, wanted))?.isSymlink) {
    throw new SvcError("run_not_found", `Cannot use ${wanted} as a run: its folder is a symbolic link`, {
      hint: "Copy the bundle itself into the workspace",
    });
  }
  // Users remember the name of the recipe.
  const near = nearestName(wanted, ids) ?? ids.sort().reverse().find((id) => wanted !== "" && id.includes(wanted)) ??
    null;
  throw new SvcError("run_not_found", `Cannot find a run named ${wanted || "(empty)"}`, {
    hint: near === null ? "List the runs with: svc runs list" : `Did you mean ${near}?`,
  });
}

/** Summary and manifest of a run. */
export interface ShownRun {
  run_id: string;
  /** Absolute. */
  directory: InsidePath;
  summary: SummaryDocument;
  manifest: ManifestDocument;
}

/**
 * Reads a run; an interrupted one is settled first.
 * @param wanted run id or a unique prefix
 * @throws SvcError `run_not_found`, `bundle_file_missing`, `bundle_schema_invalid`
 */
export function showRun(workspace: Workspace, wanted: string): ShownRun {
  const runId = resolveRunId(workspace, wanted);
  const directory = inside(workspace.runs, runId);
  const summary = settleRun(workspace, runId);
  return { run_id: runId, directory, summary, manifest: readDocument(directory, MANIFEST_FILE) };
}

/**
 * Removes finished runs, all or none; their ids stay reserved.
 * @param wanted run ids or unique prefixes
 * @param removal name under which they can be taken back for some time; they are deleted without it
 * @returns the full ids
 * @throws SvcError `run_not_found`, or `run_still_executing` before anything is removed
 */
export function removeRuns(
  workspace: Workspace,
  wanted: readonly string[],
  files: BundleFiles = DISK,
  removal?: string,
): string[] {
  const ids = [...new Set(wanted.map((id) => resolveRunId(workspace, id)))];
  using _locks = lockRuns(workspace, ids, "remove");
  makeFolder(workspace.transit);
  for (const id of ids) {
    const directory = inside(workspace.runs, id);
    if (removal !== undefined) {
      const kept = removedRun(workspace, removal, id);
      makeFolderOf(kept);
      markRemoved(workspace, id, files);
      files.rename(directory, kept);
      continue;
    }
    const hidden = entryInside(workspace.transit, id);
    const digests = digestsOf(directory);
    files.remove(hidden);
    markRemoved(workspace, id, files);
    // One rename hides the whole bundle, so readers never see a part of it.
    files.rename(directory, hidden);
    files.remove(hidden);
    releaseContents(workspace.contents, digests);
  }
  return ids;
}

/** Locks runs until the result is disposed. @throws SvcError `run_still_executing` */
export function lockRuns(workspace: Workspace, ids: readonly string[], verb: string): Disposable {
  const locks: RunLock[] = [];
  const release = () => locks.forEach((lock) => lock.release());
  for (const id of ids) {
    const lock = tryLockRun(workspace, id);
    if (lock === null) {
      release();
      throw stillExecuting(id, verb);
    }
    locks.push(lock);
  }
  return { [Symbol.dispose]: release };
}

/** The error for a command that needs a finished run. */
export function stillExecuting(runId: string, verb: string): SvcError {
  return new SvcError("run_still_executing", `Cannot ${verb} ${runId} while it is executing`, {
    hint: "Wait for its end, or cancel it",
    extra: { run_id: runId },
  });
}
