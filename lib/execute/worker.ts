/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** Worker thread of the executor: loads operations on first use and runs one step at a time. */
import { ownPlace } from "../artifact/code_place.ts";
import { endWhenAsked } from "../contract/end_thread.ts";
import { setProgramFolder } from "../artifact/program.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { asObject, parseJson } from "../contract/json.ts";
import type { Operation } from "../contract/operation.ts";
import { exportedOperation } from "../contract/registry.ts";
import { codeOf } from "../contract/system_error.ts";
import type { JsonObject } from "../contract/value.ts";
import { collectDropped, dropShared } from "./memory.ts";
import { type ProgressReply, type StepTask, type Task, wholeFile, type WorkerReply } from "./protocol.ts";
import { runStep } from "./run_step.ts";

const loaded = new Map<string, Promise<Operation>>();

async function loadOperation({ moduleUrl, operationId, binding }: StepTask): Promise<Operation> {
  const module = await import(moduleUrl) as { default?: Operation; operationOf?(binding: JsonObject): Operation };
  const operation = binding === null
    ? exportedOperation(module, operationId)
    : module.operationOf?.(asObject(parseJson(binding)));
  if (operation?.id !== operationId) {
    throw new SvcError(
      "implementation_changed",
      `The module ${moduleUrl} does not export ${operationId} as its default`,
    );
  }
  return operation;
}

const send = (reply: WorkerReply) => self.postMessage(reply);

function load(task: StepTask): Promise<Operation> {
  const key = task.binding ?? `${task.moduleUrl} ${task.operationId}`;
  let operation = loaded.get(key);
  if (operation === undefined) loaded.set(key, operation = loadOperation(task));
  return operation;
}

endWhenAsked();
self.onmessage = async ({ data: { taskId, steps } }: MessageEvent<Task>) => {
  collectDropped();
  setProgramFolder(steps[0].program);
  const report = (progress: Omit<ProgressReply, "type" | "taskId">) => send({ type: "progress", taskId, ...progress });
  try {
    const operations = await Promise.all(steps.map(load));
    if (steps.length > 1) {
      const { runChain } = await import("./run_chain.ts");
      return send({ type: "written", taskId, steps: await runChain(operations, steps, report) });
    }
    const [step] = steps, written = await runStep(operations[0], step, report);
    send({ type: "written", taskId, steps: [written] });
    const total = written.outputs.reduce((sum, output) => sum + (wholeFile(output)?.length ?? 0), 0);
    dropShared(step.inputs.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), total));
  } catch (error) {
    send({
      type: "failed",
      taskId,
      ...codeOf(error, "operation_failed"),
      message: messageOf(error),
      hint: error instanceof SvcError ? error.hint : null,
      location: ownPlace(error, steps[0].projectRoot),
      errorType: error instanceof Error ? error.name : typeof error,
    });
  }
};

send({ type: "ready" });
