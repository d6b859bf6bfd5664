/**
 * The index of stored results: lists results without reading each. A row is a copy of its result.json, and is read
 * again when that file changes, and while the benchmark runs.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, parseJson } from "../../contract/json.ts";
import { type DatabaseSync, openDatabase, transaction } from "../../run/index/database.ts";
import { sweepTransit } from "../../run/recover.ts";
import type { Workspace } from "../../run/workspace.ts";
import { benchmarkWorkspace, listRow, newestFirst, resultIds, type ResultListRow } from "./store.ts";
import { RESULT_FILE } from "../pack/types.ts";

type Stored = {
  result_id: string;
  mtime: string;
  size: number;
  status: string;
  document: string;
};

/**
 * Lists the stored results, newest first, from the index, after synchronising it with the results. Exported for tests.
 * @param database of the state directory
 */
export function listIndexedResults(workspace: Workspace, database: DatabaseSync): ResultListRow[] {
  const places = benchmarkWorkspace(workspace);
  sweepTransit(places);
  const stored = database.prepare("SELECT * FROM benchmark_results").all() as Stored[];
  const known = new Map(stored.map((row) => [row.result_id, row]));
  const read: Stored[] = [];
  const rows = resultIds(workspace).map((id) => {
    // The stamp is read first, so that the next pass notices a result replaced in between.
    const stamp = stampOf(join(places.runs, id, RESULT_FILE));
    const row = known.get(id);
    known.delete(id);
    if (
      row !== undefined && row.status !== "running" && stamp.size >= 0 && row.mtime === stamp.mtime &&
      row.size === stamp.size
    ) {
      return parseJson(row.document) as ResultListRow;
    }
    const fresh = listRow(workspace, id);
    read.push({ result_id: id, ...stamp, status: fresh.status, document: canonicalJson({ ...fresh }) });
    return fresh;
  });
  if (read.length + known.size > 0) {
    transaction(database, () => {
      const put = database.prepare(
        "INSERT OR REPLACE INTO benchmark_results VALUES (:result_id, :mtime, :size, :status, :document)",
      );
      for (const row of read) put.run({ ...row });
      const remove = database.prepare("DELETE FROM benchmark_results WHERE result_id = ?");
      for (const id of known.keys()) remove.run(id);
    });
  }
  return rows.sort(newestFirst);
}

/** Deletes all rows and reads every result again. @returns the number of results */
export function rebuildResultIndex(workspace: Workspace, database: DatabaseSync): number {
  database.exec("DELETE FROM benchmark_results");
  return listIndexedResults(workspace, database).length;
}

/** As {@link listIndexedResults}, without an open database. @throws SvcError as `openDatabase` */
export function listResultsFromIndex(workspace: Workspace): ResultListRow[] {
  const { database } = openDatabase(workspace.stateDir, workspace);
  try {
    database.exec("PRAGMA synchronous = NORMAL");
    return listIndexedResults(workspace, database);
  } finally {
    database.close();
  }
}

function stampOf(path: string): { mtime: string; size: number } {
  try {
    const { mtimeNs, size } = statSync(path, { bigint: true });
    return { mtime: String(mtimeNs), size: Number(size) };
  } catch {
    // The row itself reports the problem of the folder, and is read each time.
    return { mtime: "", size: -1 };
  }
}
