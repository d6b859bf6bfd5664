/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** A helper thread: works through the jobs it is sent and ends when there have been none for a while. */
import { claimChunks, type Job } from "./job.ts";
import { TASKS } from "./tasks.ts";

/** Long enough to serve calls that follow each other, short enough that a program's end is not felt to wait. */
const IDLE_MS = 250;

/** Set to 1 when the helper takes no more jobs. A job that comes too late is done by the others. */
let gone: Int32Array;
let idle: ReturnType<typeof setTimeout> | undefined;

function end() {
  Atomics.store(gone, 0, 1);
  self.close();
}

self.onmessage = ({ data }: MessageEvent<Int32Array | Job>) => {
  clearTimeout(idle);
  if (data instanceof Int32Array) gone = data;
  else claimChunks(data, TASKS.get(data.task)!);
  idle = setTimeout(end, IDLE_MS);
};
