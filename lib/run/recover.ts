/**
 * Recovery after a process ended early: a bundle with status `running` and a free lock becomes `incomplete`; unfinished
 * bundles in transit are removed.
 */
import { discardEntry, entryInside, inside, type InsidePath } from "../artifact/inside.ts";
import { entriesOf } from "../artifact/path_kind.ts";
import { asObject } from "../contract/json.ts";
import { systemCodeOf } from "../contract/system_error.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { stagingPaths } from "../execute/staging.ts";
import type { PlanCacheEvidence } from "../plan/types.ts";
import { documentTexts } from "./bundle.ts";
import type { SummaryDocument } from "./bundle_schema.ts";
import {
  AUTHORED_FILE,
  MANIFEST_FILE,
  PLAN_FILE,
  RECIPE_FILE,
  type RunRecord,
  SUMMARY_FILE,
  SUMS_FILE,
  warningsBefore,
} from "./documents.ts";
import { type BundleFiles, DISK, replaceFile, TEMPORARY_SUFFIX } from "./files.ts";
import { tryLockRun } from "./lock.ts";
import { readDocument } from "./read.ts";
import { emptyTrash, UNDO_MS } from "./trash.ts";
import type { Workspace } from "./workspace.ts";

/**
 * Reads the summary of a run; an interrupted run's bundle is first rewritten as incomplete.
 * @param runId id of an existing bundle
 * @returns the summary; its status is `running` only while a process executes the run
 * @throws SvcError `bundle_file_missing` or `bundle_schema_invalid` without a readable summary
 */
export function settleRun(workspace: Workspace, runId: string, files: BundleFiles = DISK): SummaryDocument {
  const directory = inside(workspace.runs, runId);
  const summary = readDocument(directory, SUMMARY_FILE);
  if (summary.status !== "running") return summary;
  const lock = tryLockRun(workspace, runId);
  if (lock === null) return summary;
  try {
    // The run may have ended before the lock was taken.
    const current = readDocument(directory, SUMMARY_FILE);
    return current.status === "running" ? markInterrupted(directory, current, files) : current;
  } finally {
    lock.release();
  }
}

/** Order matters: while the summary says `running`, all of this can be repeated. */
function markInterrupted(directory: InsidePath, summary: SummaryDocument, files: BundleFiles): SummaryDocument {
  for (const path of stagingPaths(directory)) files.remove(path);
  files.remove(entryInside(directory, SUMS_FILE));
  for (const { name } of entriesOf(directory)) {
    if (name.endsWith(TEMPORARY_SUFFIX)) files.remove(entryInside(directory, name));
  }
  const evidence = asObject(asObject(summary.measurement_evidence)["memory.run.rss"]);
  const { document, ...texts } = documentTexts(recordOf(directory, summary), {
    status: "incomplete",
    // The time of the end is unknown.
    completedAtUtc: null,
    rows: summary.steps,
    metrics: {},
    measurementEvidence: {
      "memory.run.rss": { ...evidence, status: "unavailable", available: false, error: "The run was interrupted" },
    },
    error: "The process ended before the run did",
    failure: { kind: "interrupted", code: "run_interrupted" },
  });
  replaceFile(files, inside(directory, MANIFEST_FILE), texts.manifest, true);
  files.sync(directory);
  replaceFile(files, inside(directory, SUMMARY_FILE), texts.summary, true);
  files.sync(directory);
  return document;
}

/** The record from which a bundle was written. */
function recordOf(directory: string, summary: SummaryDocument): RunRecord {
  const manifest = readDocument(directory, MANIFEST_FILE);
  const { cache } = asObject(summary.execution_plan);
  const plan = readDocument(directory, PLAN_FILE);
  return {
    runId: summary.run_id,
    jobId: summary.job_id,
    createdAtUtc: summary.created_at_utc,
    authored: readDocument(directory, AUTHORED_FILE),
    authoredSha256: summary.authored_recipe_sha256,
    recipe: readDocument(directory, RECIPE_FILE),
    recipeSha256: summary.effective_recipe_sha256,
    plan,
    planCache: isObject(cache) ? cache as PlanCacheEvidence : null,
    execution: asObject(summary.execution),
    seedPolicy: summary.seed_policy,
    research: manifest.recipe.research as JsonObject | null,
    environment: manifest.environment,
    warnings: warningsBefore(summary, plan),
  };
}

/** Removes bundles in transit whose process ended, and ends removals that can no longer be taken back. */
export function sweepTransit(workspace: Workspace, files: BundleFiles = DISK): void {
  for (const { name } of entriesOf(workspace.transit)) {
    const lock = tryLockRun(workspace, name);
    if (lock === null) continue;
    try {
      // A list is not refused for remains that the storage does not let go.
      discardEntry(entryInside(workspace.transit, name), files.remove);
    } finally {
      lock.release();
    }
  }
  try {
    emptyTrash(workspace, Date.now() - UNDO_MS, files);
  } catch (error) {
    if (systemCodeOf(error) === null) throw error;
  }
}
