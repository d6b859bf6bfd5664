/**
 * Recovery after a process ended early: a bundle with status `running` and a free lock becomes `incomplete`; unfinished
 * bundles in transit are removed.
 */
import { join } from "node:path";
import { asObject } from "../contract/json.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { stagingPaths } from "../execute/staging.ts";
import type { StepRow } from "../execute/types.ts";
import type { ExecutionPlan, PlanCacheEvidence } from "../plan/types.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { documentTexts } from "./bundle.ts";
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
import type { Workspace } from "./workspace.ts";

/**
 * Reads the summary of a run; an interrupted run's bundle is first rewritten as incomplete.
 * @param runId id of an existing bundle
 * @returns the summary; its status is `running` only while a process executes the run
 * @throws SvcError `bundle_file_missing` or `bundle_schema_invalid` without a readable summary
 */
export function settleRun(workspace: Workspace, runId: string, files: BundleFiles = DISK): JsonObject {
  const directory = join(workspace.runs, runId);
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
function markInterrupted(directory: string, summary: JsonObject, files: BundleFiles): JsonObject {
  for (const path of stagingPaths(directory)) files.remove(path);
  files.remove(join(directory, SUMS_FILE));
  for (const { name } of [...Deno.readDirSync(directory)]) {
    if (name.endsWith(TEMPORARY_SUFFIX)) files.remove(join(directory, name));
  }
  const evidence = asObject(asObject(summary.measurement_evidence)["memory.run.rss"]);
  const { document, ...texts } = documentTexts(recordOf(directory, summary), {
    status: "incomplete",
    // The time of the end is unknown.
    completedAtUtc: null,
    rows: summary.steps as StepRow[],
    metrics: {},
    measurementEvidence: {
      "memory.run.rss": { ...evidence, status: "unavailable", available: false, error: "The run was interrupted" },
    },
    error: "The process ended before the run did",
    failure: { kind: "interrupted", code: "run_interrupted" },
  });
  replaceFile(files, join(directory, MANIFEST_FILE), texts.manifest, true);
  files.sync(directory);
  replaceFile(files, join(directory, SUMMARY_FILE), texts.summary, true);
  files.sync(directory);
  return document;
}

/** The record from which a bundle was written. */
function recordOf(directory: string, summary: JsonObject): RunRecord {
  const manifest = readDocument(directory, MANIFEST_FILE);
  const { cache } = asObject(summary.execution_plan);
  const plan = readDocument(directory, PLAN_FILE) as ExecutionPlan;
  return {
    runId: summary.run_id as string,
    jobId: summary.job_id as string | null,
    createdAtUtc: summary.created_at_utc as string,
    authored: readDocument(directory, AUTHORED_FILE) as RecipeDocument,
    authoredSha256: summary.authored_recipe_sha256 as string,
    recipe: readDocument(directory, RECIPE_FILE) as RecipeDocument,
    recipeSha256: summary.effective_recipe_sha256 as string,
    plan,
    planCache: isObject(cache) ? cache as PlanCacheEvidence : null,
    execution: asObject(summary.execution),
    seedPolicy: asObject(summary.seed_policy),
    research: asObject(manifest.recipe).research as JsonObject | null,
    environment: asObject(manifest.environment),
    warnings: warningsBefore(summary, plan),
  };
}

/** Removes bundles in transit whose process ended. */
export function sweepTransit(workspace: Workspace, files: BundleFiles = DISK): void {
  let names: string[];
  try {
    names = [...Deno.readDirSync(workspace.transit)].map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  for (const name of names) {
    const lock = tryLockRun(workspace, name);
    if (lock === null) continue;
    try {
      files.remove(join(workspace.transit, name));
    } finally {
      lock.release();
    }
  }
}
