/**
 * Runs the steps of a chain inside a worker thread, block by block: every block goes through all steps while it is in the
 * processor's cache, and arrays go to their files, or are hashed without one, in the same pass. Files, metrics and metadata equal those of the steps
 * one after another.
 */
import { join } from "node:path";
import { checkContents, checkForm } from "../artifact/array_form.ts";
import { arrayMetadata, METADATA_MEMBER } from "../artifact/codec.ts";
import { NpzBlocks } from "../artifact/npz_blocks.ts";
import { SvcError } from "../contract/error.ts";
import { asObject, canonicalJson, parseJson } from "../contract/json.ts";
import type { Operation, OperationStream, PlainDefinition, StreamedArray, StreamInput } from "../contract/operation.ts";
import { outputKinds } from "../contract/output_kinds.ts";
import { plainParams } from "../contract/schema.ts";
import { type Dtype, DTYPES, type NdArray } from "../numeric/array/ndarray.ts";
import { Generator } from "../numeric/random/random.ts";
import { cancellationOf } from "./cancellation.ts";
import type { StepTask, WrittenOutput, WrittenStep } from "./protocol.ts";
import {
  checkGuarantees,
  checkRequiredMetadata,
  PROGRESS_INTERVAL_MS,
  type Report,
  stepRecord,
  writeOutput,
} from "./run_step.ts";

/** Elements that a source makes at a time; the blocks of a few steps fit in a second-level cache. */
const BLOCK = 24 << 12;

interface OpenArray extends StreamedArray {
  kind: string;
  /** As stored. */
  metadata: StreamedArray["metadata"];
  file: NpzBlocks;
  block: NdArray | null;
  /** Elements whose values were checked. */
  checked: number;
}

interface OpenStep {
  definition: PlainDefinition;
  task: StepTask;
  kinds: Readonly<Record<string, string>>;
  stream: OperationStream;
  arrays: ReadonlyMap<string, OpenArray>;
  /** Arrays of earlier steps by input. */
  inputs: readonly (readonly [port: string, array: OpenArray])[];
  seconds: number;
}

/**
 * Executes the tasks of a chain.
 * @returns the written outputs of each step, without their digests; null where a step needs whole arrays
 * @throws SvcError of an operation, or as `runStep`
 */
export function runChain(
  operations: readonly Operation[],
  tasks: readonly StepTask[],
  report: Report,
): WrittenStep[] | null {
  const cancellation = cancellationOf(tasks[0].cancelFlag);
  using files = new DisposableStack();
  const steps: OpenStep[] = [];
  for (const [index, { definition }] of operations.entries()) {
    const step = openStep(definition, tasks[index], steps, files);
    if (step === null) return null;
    steps.push(step);
  }
  const lengths = steps.filter(({ inputs }) => inputs.length === 0).flatMap(({ arrays }) => [...arrays.values()])
    .map(({ length }) => length);
  const [total] = lengths;
  if (lengths.some((length) => length !== total)) return null;
  let lastReport = -Infinity;
  for (let at = 0; at < total; at += BLOCK) {
    cancellation.throwIfCancelled();
    const count = Math.min(BLOCK, total - at);
    for (const step of steps) advance(step, count);
    const now = performance.now();
    if (now - lastReport < PROGRESS_INTERVAL_MS) continue;
    lastReport = now;
    report({ completed: at + count, total, phase: null, unit: null });
  }
  return steps.map(finish);
}

function openStep(
  definition: PlainDefinition,
  task: StepTask,
  before: readonly OpenStep[],
  files: DisposableStack,
): OpenStep | null {
  const started = performance.now();
  const inputs = task.chained.map(({ port, step, output }) => [port, before[step].arrays.get(output)!] as const);
  const shown = new Map(inputs.map(([port, array]) => [port, streamInput(port, array)]));
  checkRequiredMetadata(definition, shown);
  let generator: Generator | undefined;
  const stream = definition.streaming!.open({
    inputs: Object.fromEntries(shown),
    params: plainParams(asObject(parseJson(task.params))),
    get generator() {
      if (task.seed === null) throw new TypeError(`${task.operationId} draws random numbers without a seed parameter`);
      return generator ??= Generator.seeded(BigInt(task.seed));
    },
    backend: task.backend,
  });
  if (stream === null) return null;
  const kinds = outputKinds(definition.outputs, definition.outputSameKindAs, (port) => shown.get(port)?.kind)!;
  const arrays = Object.entries(stream.arrays).map(([port, array]): [string, OpenArray] => {
    const { dtype, length } = array, kind = kinds[port], form = emptyArray(dtype, length);
    const { value: metadata, text } = arrayMetadata(port, form, array.metadata);
    checkForm(port, kind, { array: form });
    checkGuarantees(definition, port, metadata);
    const path = task.unwritten.includes(port) ? null : join(task.staging!, `${port}.npz`);
    const file = files.use(new NpzBlocks(path, { name: port, dtype, length }, { [METADATA_MEMBER]: text }, task.spare));
    return [port, { ...array, metadata, kind, file, block: null, checked: 0 }];
  });
  const seconds = (performance.now() - started) / 1000;
  return { definition, task, kinds, stream, arrays: new Map(arrays), inputs, seconds };
}

const emptyArray = (dtype: Dtype, length: number): NdArray => ({
  dtype,
  shape: [length],
  data: DTYPES[dtype].make(new ArrayBuffer(0), 0, 0),
});

function streamInput(port: string, { kind, metadata, length }: OpenArray): StreamInput {
  const refuse = (): never => {
    throw new TypeError(`The input ${port} arrives in blocks`);
  };
  return { kind, metadata, length, arrayNames: [String(metadata.array)], array: refuse, json: refuse };
}

/** Makes and writes the next block of a step. */
function advance(step: OpenStep, count: number): void {
  const started = performance.now();
  const blocks = Object.fromEntries(step.inputs.map(([port, { block }]) => [port, block!]));
  for (const [port, data] of Object.entries(step.stream.next(blocks, count))) {
    const array = step.arrays.get(port)!, { dtype, kind } = array;
    checkContents(port, kind, data, array.checked);
    array.checked += data.length;
    array.file.write(data);
    array.block = { dtype, shape: [data.length / DTYPES[dtype].slots], data };
  }
  step.seconds += (performance.now() - started) / 1000;
}

function finish({ definition, task, kinds, stream, arrays, seconds }: OpenStep): WrittenStep {
  const started = performance.now();
  const { outputs = {}, ...record } = stream.end?.() ?? {};
  const written = Object.entries(kinds).map(([port, kind]): WrittenOutput => {
    const array = arrays.get(port);
    if (array !== undefined) {
      const metadata = canonicalJson(array.metadata);
      return { port, kind, fileName: `${port}.npz`, ...array.file.finish(), metadata };
    }
    if (outputs[port] === undefined) {
      throw new SvcError("output_missing", `The operation did not return its output ${port}`);
    }
    return writeOutput(definition, port, kind, outputs[port], task);
  });
  return { outputs: written, ...stepRecord(record), seconds: seconds + (performance.now() - started) / 1000 };
}
