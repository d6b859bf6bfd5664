/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** Worker thread of the executor: loads operations on first use and runs one step at a time. */
import { ownPlace } from "../artifact/code_place.ts";
import { setProgramFolder } from "../artifact/program.ts";
import { messageOf, type SourceLocation, SvcError } from "../contract/error.ts";
import { asObject, parseJson } from "../contract/json.ts";
import type { Operation } from "../contract/operation.ts";
import { exportedOperation } from "../contract/registry.ts";
import { codeOf } from "../contract/system_error.ts";
import { serveStarter } from "../numeric/parallel/thread.ts";
import type { JsonObject } from "../contract/value.ts";
import { collectDropped, dropShared } from "./memory.ts";
import {
  type LoadedOperation,
  type LoadTask,
  type ProgressReply,
  type SaveTask,
  type StoreTask,
  type Task,
  wholeFile,
  type WorkerReply,
} from "./protocol.ts";
import { runStep } from "./run_step.ts";
import { RunAgain, runTogether } from "./run_together.ts";

const loaded = new Map<string, Promise<Operation>>();

async function loadOperation({ moduleUrl, operationId, binding }: LoadedOperation): Promise<Operation> {
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

function load(task: LoadedOperation): Promise<Operation> {
  const key = task.binding ?? `${task.moduleUrl} ${task.operationId}`;
  let operation = loaded.get(key);
  if (operation === undefined) loaded.set(key, operation = loadOperation(task));
  return operation;
}

/** One after the other: imports at once read the modules that they share each. */
async function loadAhead({ operations }: LoadTask): Promise<void> {
  // The step itself reports a failure.
  for (const operation of operations) await load(operation).catch(() => {});
}

function fail(taskId: number, error: unknown, { again = false, location = null as SourceLocation | null } = {}): void {
  send({
    type: "failed",
    taskId,
    ...codeOf(error, "operation_failed"),
    message: messageOf(error),
    hint: error instanceof SvcError ? error.hint : null,
    location,
    errorType: error instanceof Error ? error.name : typeof error,
    again,
  });
}

async function save({ taskId, job }: SaveTask): Promise<void> {
  try {
    const { writeJob } = await import("./bundle_files.ts");
    await writeJob(job, () => send({ type: "free", taskId }));
    send({ type: "written", taskId, steps: null, more: false });
  } catch (error) {
    fail(taskId, error);
  }
}

async function store({ taskId, job }: StoreTask): Promise<void> {
  try {
    const { storeFile } = await import("./contents.ts");
    send({ type: "stored", taskId, sha256: await storeFile(job) });
  } catch (error) {
    fail(taskId, error);
  }
}

const send = serveStarter<Task | SaveTask | StoreTask | LoadTask, WorkerReply>(async (data) => {
  if (data.type === "load") return await loadAhead(data);
  if (data.type === "save") return await save(data);
  if (data.type === "store") return await store(data);
  const { taskId, chain, steps } = data;
  collectDropped();
  setProgramFolder(steps[0].program);
  const report = (progress: Omit<ProgressReply, "type" | "taskId">) => send({ type: "progress", taskId, ...progress });
  try {
    if (chain) {
      const operations = await Promise.all(steps.map(load)), { runChain } = await import("./run_chain.ts");
      return send({ type: "written", taskId, steps: await runChain(operations, steps, report), more: false });
    }
    const written = steps.length > 1
      ? await runTogether(steps, load, {
        report,
        onWritten: (steps) => send({ type: "written", taskId, steps, more: true }),
      })
      : [await runStep(await load(steps[0]), steps[0], report)];
    send({ type: "written", taskId, steps: written, more: false });
    const images = [
      ...written.flatMap(({ outputs }) => outputs.map(wholeFile)),
      ...steps.flatMap(({ inputs }) => inputs.map(({ bytes }) => bytes)),
    ];
    dropShared(images.reduce((sum, bytes) => sum + (bytes?.length ?? 0), 0));
  } catch (thrown) {
    const again = thrown instanceof RunAgain, error = again ? thrown.cause : thrown;
    fail(taskId, error, { again, location: ownPlace(error, steps[0].projectRoot) });
  }
});

send({ type: "ready" });
