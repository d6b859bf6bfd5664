/** Waits for single events, each with a cause and a limit. A computation has no limit: it always ends. */

const LIMIT_MS = 60_000, INTERVAL_MS = 20;

/**
 * Waits until a condition holds that another program or thread brings about.
 *
 * @param what what is waited for, as a statement: "the server answers"
 * @throws Error after a minute; time in which this process itself did not run does not count
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  let waitedMs = 0;
  for (let lastMs = performance.now(); !await holds();) {
    if (waitedMs > LIMIT_MS) throw new Error(`Waited a minute in vain: ${what}`);
    await new Promise((done) => setTimeout(done, INTERVAL_MS));
    const nowMs = performance.now();
    waitedMs += Math.min(nowMs - lastMs, 5 * INTERVAL_MS);
    lastMs = nowMs;
  }
}
