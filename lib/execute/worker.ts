/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** Worker thread of the executor: loads operations on first use and runs one step at a time. */
import { setProgramFolder } from "../artifact/program.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { asObject, parseJson } from "../contract/json.ts";
import type { Operation } from "../contract/operation.ts";
import { codeOf } from "../contract/system_error.ts";
import type { JsonObject } from "../contract/value.ts";
import { collectDropped, dropShared } from "./memory.ts";
import type { StepTask, WorkerReply } from "./protocol.ts";
import { runStep } from "./run_step.ts";

const loaded = new Map<string, Promise<Operation>>();

async function load({ moduleUrl, operationId, binding }: StepTask): Promise<Operation> {
  const module = await import(moduleUrl) as { default?: Operation; operationOf?(binding: JsonObject): Operation };
  const operation = binding === null ? module.default : module.operationOf?.(asObject(parseJson(binding)));
  if (operation?.id !== operationId) {
    throw new SvcError(
      "implementation_changed",
      `The module ${moduleUrl} does not export ${operationId} as its default`,
    );
  }
  return operation;
}

const send = (reply: WorkerReply) => self.postMessage(reply);

self.onmessage = async ({ data: task }: MessageEvent<StepTask>) => {
  const { taskId } = task;
  collectDropped();
  setProgramFolder(task.program);
  try {
    const key = task.binding ?? task.moduleUrl;
    let operation = loaded.get(key);
    if (operation === undefined) loaded.set(key, operation = load(task));
    const written = await runStep(await operation, task, (progress) => send({ type: "progress", taskId, ...progress }));
    send({ type: "written", taskId, ...written });
    const total = written.outputs.reduce((sum, { bytes }) => sum + bytes.length, 0);
    dropShared(task.inputs.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), total));
  } catch (error) {
    send({
      type: "failed",
      taskId,
      ...codeOf(error, "operation_failed"),
      message: messageOf(error),
      hint: error instanceof SvcError ? error.hint : null,
      errorType: error instanceof Error ? error.name : typeof error,
    });
  }
};

send({ type: "ready" });
