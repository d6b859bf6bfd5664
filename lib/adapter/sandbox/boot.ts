/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/**
 * The outer half of a sandbox: a Deno worker with the permissions of the adapter. It runs no code of the adapter; it
 * starts the thread that does, which inherits the permissions and has its own heap limit, and says when that thread has
 * ended.
 */
import { Worker } from "node:worker_threads";
import type { BootReply, BootRequest } from "./protocol.ts";

let thread: Worker | undefined;

self.onmessage = ({ data }: MessageEvent<BootRequest>) => {
  if (data.type === "end") {
    // A thread that loops is not stopped by this, and a thread that was terminated can no longer end itself: so this is the last
    // resort, after the time at which its guard interrupts any code.
    setTimeout(() => thread?.terminate(), data.afterMs);
    return;
  }
  const { port, init, heapMb } = data;
  thread = new Worker(new URL("./thread.ts", import.meta.url), {
    // Without this the environment would be copied, which needs the permission to read it.
    env: {},
    workerData: { port, init },
    transferList: [port as never],
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 16 },
  });
  const lost = (error: unknown) => {
    const { code } = error as { code?: unknown };
    const outOfMemory = code === "ERR_WORKER_OUT_OF_MEMORY";
    self.postMessage({ type: "lost", message: String(error).slice(0, 1000), outOfMemory } satisfies BootReply);
  };
  thread.on("error", lost);
  thread.on("exit", () => {
    lost("its thread ended");
    self.postMessage({ type: "ended" } satisfies BootReply);
  });
};
