/** Pages of the list of runs, appended as they are wanted. */
import { FIRST_RUNS } from "../ahead.ts";
import { get, messageOf } from "../api.ts";
import { useLayoutEffect, useRef, useState } from "../preact.ts";
import type { RunRow } from "./filter.ts";

/** Later pages are larger: they are read for a search. */
const LATER_PAGE = 400;

export interface Listing {
  rows: readonly RunRow[];
  /** Null when all is there. */
  cursor: string | null;
  state: "loading" | "ready" | "failed";
  problem: string | null;
  /** Asks for the next page; nothing where one is on its way. */
  more(): void;
}

/**
 * The runs that a query names.
 *
 * @param refresh another number reads anew
 */
export function useRuns(
  query: { status?: string; recipe_name?: string; suite?: string; where?: string },
  refresh: number,
): Listing {
  const key = JSON.stringify(query);
  const [pages, setPages] = useState<{ key: string; rows: RunRow[]; cursor: string | null } | null>(null);
  const [state, setState] = useState<Listing["state"]>("loading"),
    [problem, setProblem] = useState<string | null>(null);
  const running = useRef<AbortController | null>(null);
  const load = (before: RunRow[], cursor: string | null) => {
    const stop = running.current = new AbortController();
    setState("loading");
    const page = { ...FIRST_RUNS, ...(cursor === null ? {} : { limit: LATER_PAGE }), cursor };
    get("/api/runs", { query: { ...query, ...page }, signal: stop.signal }).then(({ runs, next_cursor }) => {
      if (stop.signal.aborted) return;
      // A run that came meanwhile may push a row onto the next page.
      const known = new Set(before.map(({ run_id }) => run_id));
      setPages({ key, rows: [...before, ...runs.filter(({ run_id }) => !known.has(run_id))], cursor: next_cursor });
      setState("ready");
      setProblem(null);
    }, (error) => {
      if (stop.signal.aborted) return;
      setState("failed");
      setProblem(messageOf(error));
    }).finally(() => {
      if (running.current === stop) running.current = null;
    });
  };
  // Before the painting: the first page may have come ahead.
  useLayoutEffect(() => {
    running.current?.abort();
    load([], null);
    return () => running.current?.abort();
  }, [key, refresh]);
  const present = pages?.key === key ? pages : null;
  return {
    rows: present?.rows ?? [],
    cursor: present?.cursor ?? null,
    state,
    problem,
    more() {
      if (running.current === null && present !== null && present.cursor !== null) load(present.rows, present.cursor);
    },
  };
}
