/** Finds snapshots without a row in their result, left by a process that was killed between the two. */
import { entryInside, inside, removeEntry } from "../../artifact/inside.ts";
import { entriesOf, entryInfo } from "../../artifact/path_kind.ts";
import { tryLockRun } from "../../run/lock.ts";
import { type Garbage, garbageAt } from "../../run/gc.ts";
import type { Workspace } from "../../run/workspace.ts";
import { benchmarkWorkspace, resultIds, settleResult } from "./store.ts";
import { allRows } from "./stored_rows.ts";
import { EVIDENCE_FOLDER } from "../pack/types.ts";

/** Finds and, unless `dryRun`, removes snapshots without a row. Results in progress are skipped. */
export function collectEvidence(workspace: Workspace, dryRun: boolean): Garbage {
  const places = benchmarkWorkspace(workspace);
  return resultIds(workspace).flatMap((id) =>
    garbageAt(`benchmarks/${id}`, () => {
      const result = settleResult(workspace, id);
      const lock = result.status === "running" ? null : tryLockRun(places, id);
      if (lock === null) return [];
      try {
        const folder = inside(places.runs, id, EVIDENCE_FOLDER), entries = entriesOf(folder);
        if (entries.length === 0) return [];
        const named = new Set<unknown>();
        for (const { run_evidence_snapshot: snapshot } of allRows(result)) named.add(snapshot?.relative_path);
        return entries.map(({ name }) => `${EVIDENCE_FOLDER}/${name}`)
          .filter((path) => !named.has(path)).sort().map((path): Garbage[number] => {
            const full = entryInside(places.runs, id, path), size_bytes = entryInfo(full)?.size ?? 0;
            if (!dryRun) removeEntry(full);
            return { what: "evidence", path: `benchmarks/${id}/${path}`, size_bytes };
          });
      } finally {
        lock.release();
      }
    })
  );
}
