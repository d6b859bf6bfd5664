/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** A helper thread: runs the jobs it receives and ends after a time without jobs. */
import { closeOwnThread, serveStarter } from "./thread.ts";
import { claimChunks, type Job } from "./job.ts";
import { TASKS } from "./tasks.ts";

/** Long enough to serve consecutive calls, short enough not to delay the end of a program. */
const IDLE_MS = 250;

/** Set to 1 when the helper takes no more jobs. Other threads run a job that arrives later. */
let gone: Int32Array;
let idle: ReturnType<typeof setTimeout> | undefined;

function end() {
  Atomics.store(gone, 0, 1);
  closeOwnThread();
}

serveStarter((message: Int32Array | Job) => {
  clearTimeout(idle);
  if (message instanceof Int32Array) gone = message;
  else claimChunks(message, TASKS.get(message.task)!);
  idle = setTimeout(end, IDLE_MS);
});
