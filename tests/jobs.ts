/**
 * Number of test files that run at a time: one more than processors, where each has 3 GiB of memory. Tests wait for
 * servers, browsers and disks, so that one file for each processor leaves them idle for a part of the time; more files
 * than this disturb tests that measure the memory of their process.
 */
const GIB = 2 ** 30;

export function jobs(): number {
  const cores = navigator.hardwareConcurrency;
  const fitting = Math.floor(Deno.systemMemoryInfo().total / (3 * GIB));
  return Math.max(cores, Math.min(cores + 1, fitting));
}
