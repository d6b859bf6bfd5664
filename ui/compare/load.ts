/** The runs of a comparison, a few at a time, in the order that was asked for. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { get, messageOf } from "../api.ts";
import { json } from "../runs/fetch_artifact.ts";
import { useEffect, useState } from "../preact.ts";
import { type ComparedRun, comparedRun } from "./table.ts";

const AT_ONCE = 4;

export interface ComparedRuns {
  runs: readonly ComparedRun[];
  loading: number;
  /** Runs that cannot be read, with the reason. */
  problems: readonly string[];
}

const known = new Map<string, ComparedRun>();

export function useComparedRuns(ids: readonly string[]): ComparedRuns {
  const [, setCount] = useState(0);
  const [problems, setProblems] = useState<readonly string[]>([]);
  useEffect(() => {
    const stop = new AbortController(), queue = ids.filter((id) => !known.has(id));
    setProblems([]);
    const work = async () => {
      for (let id = queue.shift(); id !== undefined && !stop.signal.aborted; id = queue.shift()) {
        try {
          const documents = await get("/api/runs/:run_id", { params: { run_id: id }, signal: stop.signal });
          const recipe = await json<JsonObject>(`runs/${documents.summary.run_id}/recipe.json`, stop.signal);
          const run = comparedRun(documents, recipe);
          // What still runs is read again next time.
          if (run.status !== "running") known.set(id, run);
          setCount((count) => count + 1);
        } catch (error) {
          if (!stop.signal.aborted) setProblems((all) => [...all, `${id}: ${messageOf(error)}`]);
        }
      }
    };
    for (let i = 0; i < AT_ONCE; i++) work();
    return () => stop.abort();
  }, [ids.join(",")]);
  const runs = ids.flatMap((id) => known.get(id) ?? []);
  return { runs, loading: ids.length - runs.length - problems.length, problems };
}
