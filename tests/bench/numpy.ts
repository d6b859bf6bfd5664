/** Timing against NumPy: both sides report the median of their own repetitions, one process each, one after the other. */
import { median, ms, row, sized, timesOf } from "./measure.ts";

/** Milliseconds by name. */
export type Timings = Record<string, number>;

/** Median milliseconds of `rounds` runs after a warm-up. */
export const medianMs = (run: () => unknown, rounds = 7): number => median(timesOf(rounds, run, 3));

const PRELUDE = `
import json, statistics, time
import numpy as np
timings = {}
def measure(name, run, rounds=7):
    if ${sized(1, 0)}: run()
    times = []
    for _ in range(rounds if ${sized(1, 0)} else 1):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    timings[name] = statistics.median(times) * 1e3
`;

/**
 * Runs Python code that calls `measure(name, function)`.
 *
 * @returns NumPy's version and timings, or the reason why there are none
 */
export function numpyTimings(code: string): { version: string; timings: Timings } | { skipped: string } {
  const script = `${PRELUDE}${code}\nprint(json.dumps({"version": np.__version__, "timings": timings}))\n`;
  try {
    const { success, stdout, stderr } = new Deno.Command("python3", { args: ["-c", script] }).outputSync();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
    return success ? JSON.parse(text(stdout)) : { skipped: text(stderr).split("\n").at(-1) ?? "python3 failed" };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { skipped: "python3 is not installed" };
    throw error;
  }
}

/** Rows with NumPy's times; a ratio above 1 is faster than NumPy. What follows a comma tells our ways of the same work apart. */
export function printComparison(ours: Timings, numpy: ReturnType<typeof numpyTimings>): void {
  const skipped = "skipped" in numpy;
  if (skipped) console.log(`NumPy skipped: ${numpy.skipped}`);
  for (const [name, taken] of Object.entries(ours)) {
    const theirs = skipped ? undefined : numpy.timings[name] ?? numpy.timings[name.split(",")[0]];
    const note = theirs === undefined ? "" : `NumPy ${ms(theirs)}, ${(theirs / taken).toFixed(2)} times ours`;
    row(name, ms(taken), note);
  }
}
