/** Finds snapshots without a row in their result, left by a process that was killed between the two. */
import { entryInside, inside, removeEntry } from "../artifact/inside.ts";
import { join } from "node:path";
import { SvcError } from "../contract/error.ts";
import { tryLockRun } from "../run/lock.ts";
import { sizeOf } from "../run/prune.ts";
import type { Garbage } from "../run/gc.ts";
import type { Workspace } from "../run/workspace.ts";
import { benchmarkWorkspace, resultIds, settleResult } from "./store.ts";
import { allRows } from "./stored_rows.ts";
import { type BenchmarkResult, EVIDENCE_FOLDER } from "./types.ts";

/** Finds and, unless `dryRun`, removes snapshots without a row. Results in progress are skipped. */
export function collectEvidence(workspace: Workspace, dryRun: boolean): Garbage {
  const places = benchmarkWorkspace(workspace);
  return resultIds(workspace).flatMap((id) => {
    const result = settledOrNull(workspace, id);
    // A damaged result keeps what it has.
    if (result === null) return [];
    const lock = result.status === "running" ? null : tryLockRun(places, id);
    if (lock === null) return [];
    try {
      const folder = inside(places.runs, id, EVIDENCE_FOLDER);
      if (sizeOf(folder) === null) return [];
      const named = new Set<unknown>();
      for (const { run_evidence_snapshot: snapshot } of allRows(result)) named.add(snapshot?.relative_path);
      return [...Deno.readDirSync(folder)].map(({ name }) => `${EVIDENCE_FOLDER}/${name}`)
        .filter((path) => !named.has(path)).sort().map((path): Garbage[number] => {
          const full = join(places.runs, id, path), size_bytes = sizeOf(full) ?? 0;
          if (!dryRun) removeEntry(entryInside(places.runs, id, path));
          return { what: "evidence", path: `benchmarks/${id}/${path}`, size_bytes };
        });
    } finally {
      lock.release();
    }
  });
}

function settledOrNull(workspace: Workspace, id: string): BenchmarkResult | null {
  try {
    return settleResult(workspace, id);
  } catch (error) {
    if (error instanceof SvcError) return null;
    throw error;
  }
}
