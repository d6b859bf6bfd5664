/**
 * Prints how many files of tests run at a time: DENO_JOBS, or one more than processors, where each file has 3 GiB of memory.
 * Tests wait for servers, browsers and disks, so that one file for each processor leaves them idle for a part of the time;
 * more files than this disturb tests that measure the memory of their process.
 */
const GIB = 2 ** 30, cores = navigator.hardwareConcurrency;
const fitting = Math.floor(Deno.systemMemoryInfo().total / (3 * GIB));
console.log(Deno.env.get("DENO_JOBS") ?? Math.max(cores, Math.min(cores + 1, fitting)));
