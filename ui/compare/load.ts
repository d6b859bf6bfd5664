/** The runs of a comparison, some at a time, in the order that was asked for. */
import { get, messageOf } from "../api.ts";
import { useEffect, useRef, useState } from "../preact.ts";
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
  const wanted = useRef(ids), busy = useRef(false), left = useRef<AbortController | null>(null);
  wanted.current = ids;
  const [answered, setAnswered] = useState<ReadonlyMap<string, string | null>>(new Map());
  useEffect(() => {
    const stop = left.current = new AbortController();
    return () => stop.abort();
  }, []);
  useEffect(() => {
    // A request that is on its way ends before the next one: runs that follow each other soon would stop it for ever.
    if (busy.current) return;
    const { signal } = left.current!, asked = new Set<string>();
    const work = async () => {
      for (let size = FIRST;; size = AT_ONCE) {
        const next = wanted.current.filter((id) => !known.has(id) && !asked.has(id)).slice(0, size);
        busy.current = next.length > 0 && !signal.aborted;
        if (!busy.current) return;
        for (const id of next) asked.add(id);
        const found = new Map<string, string | null>(next.map((id) => [id, null]));
        try {
          const { runs, problems } = await get("/api/runs/documents", { query: { ids: next.join(",") }, signal });
          for (const documents of runs) {
            const run = comparedRun(documents);
            // What still runs is read again next time.
            if (run.status !== "running") known.set(run.id, run);
          }
          for (const { run_id, message } of problems) found.set(run_id, message);
        } catch (error) {
          for (const id of next) found.set(id, messageOf(error));
        }
        if (!signal.aborted) setAnswered((before) => new Map([...before, ...found]));
      }
    };
    void work();
  }, [ids.join(",")]);
  return {
    runs: ids.flatMap((id) => known.get(id) ?? []),
    loading: ids.filter((id) => !known.has(id) && !answered.has(id)).length,
    problems: ids.flatMap((id) => known.has(id) || !answered.get(id) ? [] : [`${id}: ${answered.get(id)}`]),
  };
}
