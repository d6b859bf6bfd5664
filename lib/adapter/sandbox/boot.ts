/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/**
 * The outer half of a sandbox: a Deno worker whose permissions are those of the adapter. It runs none of the adapter's
 * code; it starts the thread that does, which inherits the permissions and has a limit of its own on its heap, and it
 * ends that thread when it is told to. A thread in an endless loop outlives a worker that is merely terminated.
 */
import { Worker } from "node:worker_threads";
import type { BootReply, BootRequest } from "./protocol.ts";

let thread: Worker | undefined;

self.onmessage = async ({ data }: MessageEvent<BootRequest>) => {
  if (data.type === "end") {
    await thread?.terminate();
    self.postMessage({ type: "ended" });
    return;
  }
  const { port, init, heapMb } = data;
  thread = new Worker(new URL("./thread.ts", import.meta.url), {
    // Left out, the environment would be copied, which asks for the permission to read it.
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
  thread.on("exit", () => lost("its thread ended"));
};
