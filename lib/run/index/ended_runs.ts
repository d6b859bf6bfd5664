/** The runs that a matrix may use again or replace. */
import { listRuns, runIds } from "../store.ts";
import type { Workspace } from "../workspace.ts";
import type { EndedRun } from "./runs.ts";

/** Up to so many bundles are read in less time than the index is opened. */
const FEW_RUNS = 100;

/**
 * Completed, canceled and interrupted runs, newest first: from the index, or from the bundles of few runs and where no index
 * can be kept. A row of the index can be of another time than its bundle, which the caller therefore reads before it
 * relies on it.
 * @param of digests of the effective recipes that matter; the bundles of few runs are listed with others
 * @param few number of runs up to which the bundles are read
 */
export async function endedRuns(workspace: Workspace, of?: readonly string[], few = FEW_RUNS): Promise<EndedRun[]> {
  if (!holdsMore(workspace, few) && runIds(workspace).length <= few) return listRuns(workspace);
  const { openRunIndex } = await import("./open.ts");
  let opened: ReturnType<typeof openRunIndex>;
  try {
    opened = openRunIndex(workspace);
  } catch {
    // On a read-only disk, or from a later version: the bundles say the same.
    return listRuns(workspace);
  }
  try {
    return await opened.index.ended(of);
  } catch (error) {
    const { isDamage } = await import("./database.ts");
    if (!isDamage(error)) throw error;
    return listRuns(workspace);
  } finally {
    opened.close();
  }
}

/** Whether the folder of the runs has more folders for sure, by its number of links, which not every file system counts. */
function holdsMore({ runs }: Workspace, few: number): boolean {
  try {
    return (Deno.lstatSync(runs).nlink ?? 0) > few + 2;
  } catch {
    return false;
  }
}
