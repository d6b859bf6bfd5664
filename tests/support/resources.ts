/** Processor time and memory of this process. */
import process from "node:process";

/** Use of a piece of work. */
export interface Resources {
  /** Of all threads; unlike the elapsed time, other processes do not lengthen it. */
  cpuMs: number;
  /** Largest resident memory of the process so far, above that at its start. */
  peakBytes: number;
}

const START_BYTES = Deno.memoryUsage().rss;
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Begins to measure. @returns a function that gives the use since then */
export function measureResources(): () => Resources {
  const before = cpuMs();
  return () => ({ cpuMs: cpuMs() - before, peakBytes: 1024 * process.resourceUsage().maxRSS - START_BYTES });
}
