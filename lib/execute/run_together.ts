/**
 * Runs steps one after another inside a worker thread. Each reads the outputs of those before it, and the scheduler gets the
 * results of short steps in one message. It hears of them before a step begins that may be long.
 */
import { SvcError } from "../contract/error.ts";
import type { Operation } from "../contract/operation.ts";
import { type StepTask, type TaskInput, wholeFile, type WrittenStep } from "./protocol.ts";
import { type Report, runStep } from "./run_step.ts";

/** A step counts as short where its operation last took less. */
const SHORT_STEP_MS = 5;

/** Asks for the steps since the last call of `onWritten` to run one after another. */
export class RunAgain extends Error {
  constructor(override readonly cause: SvcError) {
    super(cause.message);
  }
}

/** The last times of operations on this thread. */
const times = new Map<string, number>();

/**
 * Executes tasks in order, and none after a request to cancel.
 * @param given `onWritten` takes the steps that are complete when the next one starts
 * @returns the steps since the last call of `onWritten`
 * @throws SvcError as `runStep`; steps before are reported first. RunAgain
 */
export async function runTogether(
  tasks: readonly StepTask[],
  load: (task: StepTask) => Promise<Operation>,
  { report, onWritten }: { report: Report; onWritten: (steps: WrittenStep[]) => void },
): Promise<WrittenStep[]> {
  const all: WrittenStep[] = [], startedAt = performance.now();
  let told = 0;
  const tell = () => {
    if (told < all.length) onWritten(all.slice(told));
    told = all.length;
  };
  for (const task of tasks) {
    if (all.length > 0 && Atomics.load(task.cancelFlag, 0) !== 0) break;
    if (!(times.get(task.operationId)! < SHORT_STEP_MS)) tell();
    const from = performance.now();
    try {
      const given = { ...task, inputs: task.inputs.map((input) => resolved(input, all)) };
      const written = await runStep(await load(task), given, (progress) => {
        tell();
        report(progress);
      });
      const took = performance.now() - from;
      times.set(task.operationId, took);
      all.push({ ...written, seconds: took / 1000, offset: (from - startedAt) / 1000 });
    } catch (error) {
      // It changed the image of an output that is not reported yet.
      if (error instanceof SvcError && error.code === "input_modified" && told < all.length) throw new RunAgain(error);
      tell();
      throw error;
    }
  }
  return all.slice(told);
}

/** An input with the image of an output of an earlier step. */
function resolved(input: TaskInput, steps: readonly WrittenStep[]): TaskInput {
  if (input.from === null) return input;
  const { step, output } = input.from, found = steps[step].outputs.find(({ port }) => port === output)!;
  return { ...input, kind: found.kind, bytes: wholeFile(found), sha256: found.sha256! };
}
