/** Waits for single events, each with a cause and a limit. A computation has no limit: it always ends. */

/** Limit of one wait, in time of a free processor: it is later on a loaded machine. Only a fault takes this long. */
export const LIMIT_MS = 60_000;
const INTERVAL_MS = 20;

/** Share of a processor that each program has now: where four want two processors, all take twice as long. */
const share = (): number => Math.min(1, navigator.hardwareConcurrency / Deno.loadavg()[0]);

/** What is waited for now, with its start. */
export const waits = new Set<{ what: string; since: number }>();

/** The limit of one wait in time of the clock, for programs that take no other. */
export const limitNowMs = (): number => LIMIT_MS / share();

/** Adds up the time of a wait as on a free processor, of looks at an interval. */
export function stopwatch(intervalMs = INTERVAL_MS): () => number {
  let waitedMs = 0, lastMs = performance.now();
  return () => {
    const nowMs = performance.now();
    // A machine that slept counts as little as one that was busy.
    waitedMs += Math.min(nowMs - lastMs, 5 * intervalMs) * share();
    lastMs = nowMs;
    return waitedMs;
  };
}

/**
 * Waits until a condition holds that another program or thread brings about.
 *
 * @param what what is waited for, as a statement: "the server answers"
 * @param intervalMs between two looks; longer where a look starts programs
 * @throws Error after a minute of a free processor, so later on a loaded machine
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  intervalMs = INTERVAL_MS,
): Promise<void> {
  for (const waitedMs = stopwatch(intervalMs); !await holds();) {
    if (waitedMs() > LIMIT_MS) throw new Error(`Waited a minute in vain: ${what}`);
    await new Promise((done) => setTimeout(done, intervalMs));
  }
}

/**
 * Waits for work.
 *
 * @param what is waited for
 * @throws Error that names it, after the limit on a free processor, so later on a loaded machine
 */
export async function within<T>(what: string, work: PromiseLike<T>, limitMs = LIMIT_MS): Promise<T> {
  const over = Promise.withResolvers<never>(), error = new Error(`No end within ${limitMs / 1000} s: ${what}`);
  const waitedMs = stopwatch(), wait = { what, since: performance.now() };
  const timer = setInterval(() => waitedMs() > limitMs && over.reject(error), INTERVAL_MS);
  waits.add(wait);
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    clearInterval(timer);
    waits.delete(wait);
  }
}
