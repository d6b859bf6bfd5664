/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** Worker thread of the executor: loads operations on first use and runs one step at a time. */
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import type { Operation } from "../contract/operation.ts";
import type { StepTask, WorkerReply } from "./protocol.ts";
import { runStep } from "./run_step.ts";

/** Up to this many bytes the digests travel with the outputs; beyond, the scheduler starts its own check meanwhile. */
const INLINE_HASH_BYTES = 1 << 18;

const loaded = new Map<string, Promise<Operation>>();

async function load(url: string, id: string): Promise<Operation> {
  const module = await import(url) as { default?: Operation };
  if (module.default?.id !== id) {
    throw new SvcError("implementation_changed", `The module ${url} does not export ${id} as its default`);
  }
  return module.default;
}

const send = (reply: WorkerReply) => self.postMessage(reply);

self.onmessage = async ({ data: task }: MessageEvent<StepTask>) => {
  const { taskId } = task;
  try {
    let operation = loaded.get(task.moduleUrl);
    if (operation === undefined) loaded.set(task.moduleUrl, operation = load(task.moduleUrl, task.operationId));
    const written = await runStep(await operation, task, (progress) => send({ type: "progress", taskId, ...progress }));
    const digests = () => Object.fromEntries(written.outputs.map(({ port, bytes }) => [port, sha256Hex(bytes)]));
    const total = written.outputs.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (total <= INLINE_HASH_BYTES) {
      send({ type: "written", taskId, ...written, sha256: digests() });
    } else {
      send({ type: "written", taskId, ...written });
      send({ type: "hashed", taskId, sha256: digests() });
    }
  } catch (error) {
    const known = error instanceof SvcError;
    send({
      type: "failed",
      taskId,
      code: known ? error.code : "operation_failed",
      message: messageOf(error),
      hint: known ? error.hint : null,
      errorType: error instanceof Error ? error.name : typeof error,
    });
  }
};

send({ type: "ready" });
