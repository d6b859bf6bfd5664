/** The trained artifact of a step, in the thread that runs it: opened by its digest, and held to the operation's ABI. */
import { SvcError } from "../contract/error.ts";
import { asObject, parseJson } from "../contract/json.ts";
import type { Cancellation, LearnedModel, Operation } from "../contract/operation.ts";
import { isObject } from "../contract/value.ts";
import type { NdArray } from "../numeric/ndarray.ts";
import { chunked } from "../onnx/chunked.ts";
import { type OnnxAccelerator, type OnnxSession, openOnnxSession } from "../onnx/session.ts";
import { misfit, type TensorInfo } from "../onnx/tensors.ts";
import type { LearnedTask } from "./protocol.ts";

/** A model for the time of one step. */
export interface OpenModel {
  learned: LearnedModel;
  release(): Promise<void>;
}

/** Inputs and outputs of an entry point, as the ABI of an operation declares them. */
export interface EntrypointAbi {
  inputs: readonly TensorInfo[];
  outputs: readonly TensorInfo[];
}

/** @throws SvcError `artifact_hash_mismatch` when the file is not what was planned, or what opening a session throws */
export async function openLearned(
  operation: Operation,
  { path, sha256, record }: LearnedTask,
  cancellation: Cancellation,
): Promise<OpenModel> {
  const known = asObject(parseJson(record));
  const accelerator = known.accelerator as OnnxAccelerator | undefined;
  const session = await openOnnxSession(await Deno.readFile(path), { sha256, accelerator });
  return {
    learned: { run: learnedRun(session, abiOf(operation), cancellation), record: known },
    release: () => session.release(),
  };
}

/** The entry point of an operation's ABI. */
export function abiOf({ definition }: Operation): EntrypointAbi {
  const { inputs, outputs } = definition.trainedArtifactAbi ?? {};
  return { inputs: tensorsOf(inputs), outputs: tensorsOf(outputs) };
}

function tensorsOf(declared: unknown): TensorInfo[] {
  if (!isObject(declared)) return [];
  return Object.entries(declared).map(([name, value]) => ({ name, ...value as object }) as TensorInfo);
}

/** A session's `run`, with inputs and outputs held to an ABI. */
export function learnedRun(
  session: Pick<OnnxSession, "run">,
  abi: EntrypointAbi,
  cancellation: Cancellation,
): LearnedModel["run"] {
  const infer = async (feeds: Record<string, NdArray>) => {
    cancellation.throwIfCancelled();
    const results = await session.run(feeds, { cancellation });
    checkOutputs(results, abi, feeds);
    return results;
  };
  return (feeds, { rows } = {}) => rows === undefined ? infer(feeds) : chunked(infer, feeds, { rows });
}

/**
 * Checks names, types, shapes and values; a dimension that an input names has the size that it has there.
 *
 * @throws SvcError `artifact_output_invalid` with everything that is wrong
 */
export function checkOutputs(
  results: Readonly<Record<string, NdArray>>,
  { inputs, outputs }: EntrypointAbi,
  feeds: Readonly<Record<string, NdArray>>,
): void {
  const sizes = new Map<string, number>();
  for (const info of inputs) if (feeds[info.name] !== undefined) misfit(feeds[info.name], info, sizes);
  const problems = outputs.flatMap((info) => {
    const result = results[info.name];
    if (result === undefined) return `${info.name} is missing`;
    const wrong = misfit(result, info, sizes);
    if (wrong !== null) return wrong;
    const at = firstNonFinite(result);
    return at < 0 ? [] : `element ${at} of ${info.name} is ${result.data[at]}`;
  });
  const known = new Set(outputs.map(({ name }) => name));
  for (const name of Object.keys(results)) if (!known.has(name)) problems.push(`${name} is not in the ABI`);
  if (problems.length > 0) {
    throw new SvcError("artifact_output_invalid", `Cannot use what the trained artifact gave: ${problems.join("; ")}`);
  }
}

function firstNonFinite({ dtype, data }: NdArray): number {
  if (!dtype.startsWith("float")) return -1;
  for (let i = 0; i < data.length; i++) if (!Number.isFinite(data[i] as number)) return i;
  return -1;
}
