/**
 * Runs steps one after another inside a worker thread. Each reads the outputs of those before it, and the scheduler gets the
 * results of short steps in one message. It hears of them before a step begins that may be long: one with parameters or sizes that
 * this thread has not seen yet.
 */
import { SvcError } from "../contract/error.ts";
import type { Operation } from "../contract/operation.ts";
import { type StepTask, type TaskInput, wholeFile, type WrittenStep } from "./protocol.ts";
import { type Report, runStep } from "./run_step.ts";

/** A step counts as short where the same one last took less: a kill while it runs loses the steps before it. */
const SHORT_STEP_MS = 5;
const MOST_TIMES = 1000;

/** Asks for the steps since the last call of `onWritten` to run one after another. */
export class RunAgain extends Error {
  constructor(override readonly cause: SvcError) {
    super(cause.message);
  }
}

/** The last times of steps on this thread, by all that their time may follow but the contents of arrays. */
const times = new Map<string, number>();

function workOf({ operationId, backend, implementation, threads, params, seed, inputs }: StepTask): string {
  const sizes = inputs.map(({ bytes }) => bytes?.length);
  return [operationId, backend, implementation, threads, sizes, params.replace(`"seed":${seed}`, "")].join(" ");
}

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
    const inputs = task.inputs.map((input) => resolved(input, all)), work = workOf({ ...task, inputs });
    if (!(times.get(work)! < SHORT_STEP_MS)) tell();
    const from = performance.now();
    try {
      // The scheduler has this image too, so the step may not change it.
      const given = {
        ...task,
        inputs: inputs.map((input) => (input.from?.step ?? told) < told ? { ...input, sole: false } : input),
      };
      const written = await runStep(await load(task), given, (progress) => {
        tell();
        report(progress);
      });
      const took = performance.now() - from;
      if (times.size >= MOST_TIMES) times.clear();
      times.set(work, took);
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
