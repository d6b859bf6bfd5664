/** Threads of workers in this process, by the name that the runtime gives them (Linux). */
export function workerThreads(): number {
  let count = 0;
  for (const { name } of Deno.readDirSync("/proc/self/task")) {
    try {
      if (/^worker-/.test(Deno.readTextFileSync(`/proc/self/task/${name}/comm`))) count++;
    } catch (error) {
      // It has ended since the folder was read. Between its name and its end the system may say "no such process".
      if (!(error instanceof Deno.errors.NotFound) && !/os error 3\)/.test(String(error))) throw error;
    }
  }
  return count;
}
