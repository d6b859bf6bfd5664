/** Documents that a view reads from the server: the value, or the problem, read again when the question changes. */
import { addressOf, get, messageOf, type Readable, type Reply, type Request } from "../api.ts";
import { useEffect, useState } from "../preact.ts";

export interface Loaded<T> {
  value: T | null;
  problem: string | null;
  /** Reads again; the present value stays meanwhile. */
  again(): void;
}

/**
 * The result of a promise; a result whose question is no longer asked is dropped.
 *
 * @param key of the question; null while there is nothing to read
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, key: string | null): Loaded<T> {
  const [found, setFound] = useState<{ key: string | null; value: T | null; problem: string | null }>(
    { key, value: null, problem: null },
  );
  const [turn, setTurn] = useState(0), again = () => setTurn((before) => before + 1);
  useEffect(() => {
    if (key === null) return;
    const stop = new AbortController();
    load(stop.signal).then(
      (value) => stop.signal.aborted || setFound({ key, value, problem: null }),
      (error) =>
        stop.signal.aborted ||
        setFound((before) => ({ key, value: before.key === key ? before.value : null, problem: messageOf(error) })),
    );
    return () => stop.abort();
  }, [key, turn]);
  const { value, problem } = found.key === key ? found : { value: null, problem: null };
  return { value, problem, again };
}

/** The document of a route. @param path null while there is nothing to read */
export const useFetched = <Path extends Readable>(path: Path | null, request: Request = {}): Loaded<Reply<Path>> =>
  useLoaded((signal) => get(path!, { ...request, signal }), path === null ? null : addressOf(path, request));
