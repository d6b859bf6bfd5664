/** Waits for single events, each with a cause and a limit. A computation has no limit: it always ends. */

const LIMIT_MS = 60_000, INTERVAL_MS = 20;

/** Share of a processor that each program has now: where four want two processors, all take twice as long. */
const share = (): number => Math.min(1, navigator.hardwareConcurrency / Deno.loadavg()[0]);

/**
 * Waits until a condition holds that another program or thread brings about.
 *
 * @param what what is waited for, as a statement: "the server answers"
 * @throws Error after a minute of a free processor, so later on a loaded machine
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  let waitedMs = 0;
  for (let lastMs = performance.now(); !await holds();) {
    if (waitedMs > LIMIT_MS) throw new Error(`Waited a minute in vain: ${what}`);
    await new Promise((done) => setTimeout(done, INTERVAL_MS));
    const nowMs = performance.now();
    // A machine that slept counts as little as one that was busy.
    waitedMs += Math.min(nowMs - lastMs, 5 * INTERVAL_MS) * share();
    lastMs = nowMs;
  }
}

/** The result of a promise, which `until` waits for. */
export async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  let settled = false;
  const seen = promise.then(() => {}, () => {}).then(() => settled = true);
  await until(what, () => settled);
  await seen;
  return await promise;
}
