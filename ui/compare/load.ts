/** The runs of a comparison, some at a time, in the order that was asked for. */
import { get, messageOf } from "../api.ts";
import { useEffect, useState } from "../preact.ts";
import { type ComparedRun, comparedRun } from "./table.ts";

/** Runs of a request. The first is small, so that something is shown soon. */
const FIRST = 8, AT_ONCE = 64;

export interface ComparedRuns {
  runs: readonly ComparedRun[];
  loading: number;
  /** Runs that cannot be read, with the reason. */
  problems: readonly string[];
}

const known = new Map<string, ComparedRun>();

export function useComparedRuns(ids: readonly string[]): ComparedRuns {
  const key = ids.join(",");
  const [read, setRead] = useState<{ key: string; pending: number }>({ key: "", pending: 0 });
  const [problems, setProblems] = useState<readonly string[]>([]);
  useEffect(() => {
    const stop = new AbortController(), queue = ids.filter((id) => !known.has(id));
    setProblems([]);
    const work = async () => {
      for (let size = FIRST; queue.length > 0 && !stop.signal.aborted; size = AT_ONCE) {
        const asked = queue.splice(0, size);
        const add = (texts: string[]) => stop.signal.aborted || setProblems((all) => [...all, ...texts]);
        try {
          const { runs, problems } = await get("/api/runs/documents", {
            query: { ids: asked.join(",") },
            signal: stop.signal,
          });
          for (const documents of runs) {
            const run = comparedRun(documents);
            // What still runs is read again next time.
            if (run.status !== "running") known.set(run.id, run);
          }
          add(problems.map(({ run_id, message }) => `${run_id}: ${message}`));
        } catch (error) {
          add(asked.map((id) => `${id}: ${messageOf(error)}`));
        }
        if (!stop.signal.aborted) setRead({ key, pending: queue.length });
      }
    };
    void work();
    return () => stop.abort();
  }, [key]);
  const runs = ids.flatMap((id) => known.get(id) ?? []);
  return { runs, loading: read.key === key ? read.pending : ids.length - runs.length, problems };
}
