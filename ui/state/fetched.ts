/** What a view reads from the server: the document, or why there is none, read anew when the address changes. */
import { connection, get } from "../api.ts";
import { useEffect, useState } from "../preact.ts";

export interface Fetched<T> {
  data: T | null;
  problem: string | null;
  again(): void;
}

/** @param path null where there is nothing to ask yet */
export function useFetched<T>(path: string | null): Fetched<T> {
  const [found, setFound] = useState<{ path: string | null; data: T | null; problem: string | null }>(
    { path, data: null, problem: null },
  );
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    get<T>(path, stop.signal).then(
      (data) => setFound({ path, data, problem: null }),
      (error) => stop.signal.aborted || setFound({ path, data: null, problem: error.message }),
    );
    return () => stop.abort();
  }, [path, turn]);
  const back = connection.value === "ok";
  // What could not be read while the server was away is read when it comes back.
  useEffect(() => {
    if (back && found.problem !== null) setTurn(turn + 1);
  }, [back]);
  // What was found of another address is not shown under this one.
  const current = found.path === path ? found : { data: null, problem: null };
  return { data: current.data, problem: current.problem, again: () => setTurn(turn + 1) };
}
