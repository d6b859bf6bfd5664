/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** A helper thread: runs the jobs it receives and ends after a time without jobs. */
import { claimChunks, type Job } from "./job.ts";
import { TASKS } from "./tasks.ts";
import type { HelperStart } from "./team.ts";

/** Long enough to serve consecutive calls, short enough not to delay the end of a program. */
const IDLE_MS = 250;

/** Set to 1 when the helper takes no more jobs. Other threads run a job that arrives later. */
let gone: Int32Array;
let idle: ReturnType<typeof setTimeout> | undefined;

function end() {
  Atomics.store(gone, 0, 1);
  self.close();
}

self.onmessage = ({ data: start }: MessageEvent<HelperStart>) => {
  gone = start.gone;
  idle = setTimeout(end, IDLE_MS);
  start.jobs.onmessage = ({ data: job }: MessageEvent<Job>) => {
    clearTimeout(idle);
    claimChunks(job, TASKS.get(job.task)!);
    idle = setTimeout(end, IDLE_MS);
  };
};
