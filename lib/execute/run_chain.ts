/**
 * Runs the steps of a chain inside a worker thread, block by block: every block goes through all steps while it is in the
 * processor's cache, and arrays go to their files, or are hashed without one, in the same pass. Files, metrics and metadata equal those of the steps
 * one after another.
 */
import { join } from "node:path";
import { checkContents, checkForm } from "../artifact/array_form.ts";
import {
  arrayMetadata,
  decodeArtifact,
  type DecodedArtifact,
  encodeArtifact,
  METADATA_MEMBER,
} from "../artifact/codec.ts";
import { joinBytes } from "../artifact/join_bytes.ts";
import { NpzBlocks } from "../artifact/npz_blocks.ts";
import { SvcError } from "../contract/error.ts";
import { asObject, canonicalJson, parseJson } from "../contract/json.ts";
import type { Operation, OperationStream, PlainDefinition, StreamedArray, StreamInput } from "../contract/operation.ts";
import { outputKinds } from "../contract/output_kinds.ts";
import { plainParams } from "../contract/schema.ts";
import { bytesOf, type Dtype, DTYPES, elementCount, type NdArray } from "../numeric/array/ndarray.ts";
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
  port: string;
  kind: string;
  /** As stored. */
  metadata: StreamedArray["metadata"];
  file: NpzBlocks;
  /** Elements whose values were checked. */
  checked: number;
}

/** Elements of one array that wait for a step. */
class Waiting {
  readonly total: number;
  readonly #dtype: Dtype;
  /** Blocks in order; the last one is valid until the step that makes it computes its next block. */
  #blocks: NdArray["data"][] = [];

  /** @param name as in the blocks of a step */
  constructor(readonly name: string, { dtype, shape }: Pick<NdArray, "dtype" | "shape">) {
    this.#dtype = dtype;
    this.total = elementCount(shape);
  }

  get count(): number {
    return this.#blocks.reduce((sum, { length }) => sum + length, 0) / DTYPES[this.#dtype].slots;
  }

  put(block: NdArray["data"]): void {
    this.#blocks.push(block);
  }

  /** The next elements; the rest is kept. */
  take(count: number): NdArray {
    const dtype = this.#dtype, { slots, make } = DTYPES[dtype], end = count * slots, shape = [count];
    if (count === 0) {
      const last = this.#blocks.pop();
      if (last !== undefined) this.#blocks.push(last.slice());
      return { dtype, shape, data: make(new ArrayBuffer(0), 0, 0) };
    }
    const [first, ...more] = this.#blocks, bytes = more.length === 0 ? null : joinBytes(this.#blocks.map(bytesOfBlock));
    const data = bytes === null ? first : make(bytes.buffer, 0, bytes.length / DTYPES[dtype].itemSize * slots);
    this.#blocks = end === data.length ? [] : [data.slice(end)];
    return { dtype, shape, data: data.subarray(0, end) as typeof data };
  }
}

const bytesOfBlock = (data: NdArray["data"]): Uint8Array => bytesOf({ data });

/** An input of a step that arrives in blocks, with its companions. */
interface OpenInput {
  main: Waiting;
  companions: readonly Waiting[];
}

interface OpenStep {
  definition: PlainDefinition;
  task: StepTask;
  kinds: Readonly<Record<string, string>>;
  stream: OperationStream;
  arrays: ReadonlyMap<string, OpenArray>;
  /** Outputs that are complete, as other steps read them. */
  whole: ReadonlyMap<string, DecodedArtifact>;
  inputs: readonly OpenInput[];
  /** Where the blocks of an array go, by its name in them. */
  readers: Map<string, Waiting[]>;
  seconds: number;
}

/**
 * Executes the tasks of a chain.
 * @returns the written outputs of each step, without their digests; null where a step needs whole arrays
 * @throws SvcError of an operation, or as `runStep`
 */
export async function runChain(
  operations: readonly Operation[],
  tasks: readonly StepTask[],
  report: Report,
): Promise<WrittenStep[] | null> {
  const cancellation = cancellationOf(tasks[0].cancelFlag);
  using files = new DisposableStack();
  const steps: OpenStep[] = [];
  for (const [index, { definition }] of operations.entries()) {
    // A refusal before the first block is that of the step alone.
    const step = await openStep(definition, tasks[index], steps, files).catch((error) => {
      if (error instanceof SvcError) return null;
      throw error;
    });
    if (step === null) return null;
    steps.push(step);
  }
  const lengths = steps.filter(({ task }) => task.chained.length === 0).flatMap(({ arrays }) => [...arrays.values()])
    .map(({ length }) => length);
  const [total] = lengths;
  if (lengths.some((length) => length !== total)) return null;
  let lastReport = -Infinity;
  for (let at = 0; at < total; at += BLOCK) {
    const count = Math.min(BLOCK, total - at);
    for (const step of steps) {
      cancellation.throwIfCancelled();
      advance(step, count, at + count === total);
    }
    const now = performance.now();
    if (now - lastReport < PROGRESS_INTERVAL_MS) continue;
    lastReport = now;
    report({ completed: at + count, total, phase: null, unit: null });
  }
  return steps.map(finish);
}

async function openStep(
  definition: PlainDefinition,
  task: StepTask,
  before: readonly OpenStep[],
  files: DisposableStack,
): Promise<OpenStep | null> {
  const started = performance.now(), { whole: read = [], companions: known = [], open } = definition.streaming!;
  const shown = new Map<string, StreamInput>(), inputs: OpenInput[] = [];
  const queues: [step: OpenStep, name: string, queue: Waiting][] = [];
  for (const { port, step, output } of task.chained) {
    const { arrays, whole } = before[step], array = arrays.get(output), made = whole.get(output);
    if (read.includes(port) !== (made !== undefined)) return null;
    if (made !== undefined) {
      const { shape } = made.array();
      shown.set(port, Object.assign(made, { shape, length: elementCount(shape) }));
    }
    if (array === undefined && made === undefined) return null;
    if (array === undefined) continue;
    const companions = Object.entries(array.companions ?? {});
    if (companions.some(([name]) => !known.includes(name))) return null;
    shown.set(port, streamInput(array));
    const wait = (name: string, form: Pick<NdArray, "dtype" | "shape">) => {
      const own = new Waiting(port + name, form);
      queues.push([before[step], output + name, own]);
      return own;
    };
    inputs.push({
      main: wait("", { dtype: array.dtype, shape: [array.length] }),
      companions: companions.map(([name, form]) => wait(`.${name}`, form)),
    });
  }
  if (task.chained.length > 0 && inputs.length === 0) return null;
  checkRequiredMetadata(definition, shown);
  let generator: Generator | undefined;
  const stream = await open({
    inputs: Object.fromEntries(shown),
    params: plainParams(asObject(parseJson(task.params))),
    get generator() {
      if (task.seed === null) throw new TypeError(`${task.operationId} draws random numbers without a seed parameter`);
      return generator ??= Generator.seeded(BigInt(task.seed));
    },
    backend: task.backend,
    threads: task.threads,
  });
  if (stream === null) return null;
  if (stream.next !== undefined) {
    for (const [{ readers }, name, queue] of queues) readers.set(name, [...readers.get(name) ?? [], queue]);
  }
  const kinds = outputKinds(definition.outputs, definition.outputSameKindAs, (port) => shown.get(port)?.kind)!;
  const arrays = Object.entries(stream.arrays).map(([port, array]): [string, OpenArray] => {
    const { dtype, length, shape = [length], companions } = array, kind = kinds[port];
    const form = { dtype, shape: [...shape], data: DTYPES[dtype].make(new ArrayBuffer(0), 0, 0) };
    const { value: metadata, text } = arrayMetadata(port, form, array.metadata);
    checkForm(port, kind, { array: form });
    checkGuarantees(definition, port, metadata);
    const path = task.unwritten.includes(port) ? null : join(task.staging!, `${port}.npz`);
    const file = files.use(
      new NpzBlocks(path, { [port]: form, ...companions }, { [METADATA_MEMBER]: text }, task.spare),
    );
    return [port, { ...array, port, metadata, kind, file, checked: 0 }];
  });
  const whole = Object.entries(stream.whole ?? {}).map(([port, output]): [string, DecodedArtifact] => {
    return [port, decodeArtifact(kinds[port], encodeArtifact(port, kinds[port], output).bytes)];
  });
  const seconds = (performance.now() - started) / 1000;
  return {
    definition,
    task,
    kinds,
    stream,
    arrays: new Map(arrays),
    whole: new Map(whole),
    inputs,
    readers: new Map(),
    seconds,
  };
}

function streamInput({ port, kind, metadata, length, shape = [length], companions = {} }: OpenArray): StreamInput {
  const refuse = (): never => {
    throw new TypeError(`The input ${port} arrives in blocks`);
  };
  const arrayNames = [String(metadata.array), ...Object.keys(companions)];
  return { kind, metadata, length, shape, companions, arrayNames, array: refuse, json: refuse };
}

/** Makes, writes and passes on the next block of a step. @param last whether its inputs are complete */
function advance(step: OpenStep, count: number, last: boolean): void {
  if (step.stream.next === undefined) return;
  const started = performance.now(), blocks = step.inputs.length === 0 ? {} : nextBlocks(step, last);
  if (blocks !== null) {
    for (const [name, data] of Object.entries(step.stream.next(blocks, count))) {
      const [port, companion] = name.split("."), array = step.arrays.get(port)!;
      if (companion === undefined) {
        checkContents(port, array.kind, data, array.checked);
        array.checked += data.length;
      }
      array.file.write(companion ?? port, data);
      for (const queue of step.readers.get(name) ?? []) queue.put(data);
    }
  }
  step.seconds += (performance.now() - started) / 1000;
}

/** What a step can use of its inputs; null for nothing. */
function nextBlocks({ inputs, stream: { unit } }: OpenStep, last: boolean): Record<string, NdArray> | null {
  const units = inputs.map(({ main }) => unit?.[main.name] ?? 1);
  const whole = Math.min(...inputs.map(({ main }, i) => Math.floor(main.count / units[i])));
  const counts = inputs.map(({ main }, i) => last ? main.count : whole * units[i]);
  const blocks = inputs.flatMap(({ main, companions }, i) => [
    [main.name, main.take(counts[i])] as const,
    ...companions.map((own) => [own.name, own.take(counts[i] * own.total / main.total)] as const),
  ]);
  return counts.some((count) => count > 0) ? Object.fromEntries(blocks) : null;
}

function finish({ definition, task, kinds, stream, arrays, whole, seconds }: OpenStep): WrittenStep {
  const started = performance.now();
  const { outputs: made = {}, ...record } = stream.end?.() ?? {}, outputs = { ...stream.whole, ...made };
  for (const [port, artifact] of whole) {
    const altered = artifact.modified();
    if (altered === null) continue;
    throw new SvcError("input_modified", `An operation changed ${altered} of ${task.operationId}.${port}`);
  }
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
  return {
    outputs: written,
    ...stepRecord(record),
    seconds: seconds + (performance.now() - started) / 1000,
    offset: 0,
  };
}
