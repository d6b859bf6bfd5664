/**
 * Work in chunks on several threads. A task is a function of shared memory and a chunk number; the calling thread and
 * its helpers claim chunks in rising order until none is left. Results do not depend on which thread runs a chunk.
 *
 * Helper threads start at the first call that uses them and end after a quarter of a second without work, so no caller
 * closes them. The caller never waits for a helper to start: it runs chunks itself meanwhile, all of them if no thread
 * can be started. Starting one takes the caller about 20 ms.
 */
import { Thread } from "./thread.ts";
import { awaitChunks, claimChunks, newJob, type Task } from "./job.ts";

interface Helper {
  thread: Thread;
  /** 1 when it takes no more jobs. */
  gone: Int32Array<SharedArrayBuffer>;
}

const helpers: Helper[] = [];

/** Threads that can run at once. */
export function availableThreads(): number {
  return navigator.hardwareConcurrency;
}

/** Whether a helper takes jobs. */
const runs = (helper: Helper) => Atomics.load(helper.gone, 0) === 0;

/** Starting a helper takes as long as this many of the shortest jobs that are worth sharing with a running one. */
const START = 32;

/**
 * Threads that shorten a job: helpers are started for a long one only, a shorter one takes those that run.
 * @param size size of the job
 * @param least size from which on a running helper shortens it
 * @param threads maximum number
 */
export function worthwhileThreads(size: number, least: number, threads: number): number {
  if (size < least) return 1;
  if (size >= START * least) return threads;
  const idle = helpers.findIndex((helper) => !runs(helper));
  return Math.min(threads, 1 + (idle < 0 ? helpers.length : idle));
}

/** The helper of a number, started on first use; undefined if this program may not start it. */
function helper(number: number): Helper | undefined {
  const known = helpers[number];
  if (known && runs(known)) return known;
  const url = new URL("./helper.ts", import.meta.url);
  // A refused module would be reported on the terminal, although the caller then does all the work.
  if (url.protocol === "file:" && Deno.permissions.querySync({ name: "read", path: url }).state !== "granted") return;
  const thread = new Thread(url, { name: "svc helper" }), gone = new Int32Array(new SharedArrayBuffer(4));
  thread.onerror = () => void Atomics.store(gone, 0, 1);
  thread.port.postMessage(gone);
  return helpers[number] = { thread, gone };
}

/**
 * Runs a task over the chunks 0 … chunks - 1.
 * @param threads maximum number, this one included
 * @returns number of chunks that this thread ran itself
 * @throws the error of a chunk
 */
export function runChunks<Args>(task: Task<Args>, args: Args, chunks: number, threads: number): number {
  const job = newJob(task, args, chunks);
  for (let i = 0; i < Math.min(threads, chunks) - 1; i++) helper(i)?.thread.port.postMessage(job);
  const own = claimChunks(job, task);
  awaitChunks(job);
  return own;
}
