/** The trained artifact of a step in its worker thread: opened by digest, and checked against the operation's ABI. */
import { SvcError } from "../contract/error.ts";
import { asObject, parseJson } from "../contract/json.ts";
import type { Cancellation, LearnedModel, Operation, OperationAbi } from "../contract/operation.ts";
import type { NdArray } from "../numeric/array/ndarray.ts";
import { chunked } from "../onnx/chunked.ts";
import type { SessionLimits } from "../onnx/limits.ts";
import { type OnnxAccelerator, type OnnxSession, openOnnxSession } from "../onnx/session.ts";
import { misfit, type TensorInfo } from "../onnx/tensors.ts";
import type { LearnedTask } from "./protocol.ts";

/** A model, open for one step. */
export interface OpenModel {
  learned: LearnedModel;
  release(): Promise<void>;
}

/** Inputs and outputs of an entry point, from the ABI of an operation. */
export interface EntrypointAbi {
  inputs: readonly (TensorInfo & { optional?: true })[];
  outputs: readonly (TensorInfo & { optional?: true })[];
}

/**
 * @throws SvcError `artifact_hash_mismatch` for a file that differs from the plan, and the errors of opening a session
 */
export async function openLearned(
  operation: Operation,
  { path, sha256, record }: LearnedTask,
  cancellation: Cancellation,
): Promise<OpenModel> {
  const { limits, ...known } = asObject(parseJson(record));
  const session = await openOnnxSession(await Deno.readFile(path), {
    sha256,
    accelerator: known.accelerator as OnnxAccelerator | undefined,
    limits: limits as SessionLimits | undefined,
  });
  return {
    learned: {
      run: learnedRun(session, abiOf(operation), cancellation),
      takes: (name) => session.inputs.some((input) => input.name === name),
      record: known,
    },
    release: () => session.release(),
  };
}

/** Tensors in and out of the artifact of a trainable component. */
export function abiOf({ definition }: Operation): EntrypointAbi {
  const { inputs = {}, outputs = {} } = definition.trainedArtifactAbi ?? {};
  const tensorsOf = (declared: OperationAbi["inputs"]) =>
    Object.entries(declared).map(([name, tensor]) => ({ name, ...tensor }));
  return { inputs: tensorsOf(inputs), outputs: tensorsOf(outputs) };
}

/** A session's `run` with checked inputs and outputs. */
export function learnedRun(
  session: Pick<OnnxSession, "run" | "inputs">,
  abi: EntrypointAbi,
  cancellation: Cancellation,
): LearnedModel["run"] {
  const known = new Set(session.inputs.map(({ name }) => name));
  const lacking = new Set(
    abi.inputs.filter(({ name, optional }) => optional && !known.has(name)).map(({ name }) => name),
  );
  const infer = async (given: Record<string, NdArray>) => {
    cancellation.throwIfCancelled();
    const feeds = Object.fromEntries(Object.entries(given).filter(([name]) => !lacking.has(name)));
    const results = await session.run(feeds, { cancellation });
    checkOutputs(results, abi, feeds);
    return results;
  };
  return (feeds, { rows } = {}) => rows === undefined ? infer(feeds) : chunked(infer, feeds, { rows });
}

/**
 * Checks names, dtypes, shapes and values; a symbolic dimension has the size that the inputs give it.
 * @throws SvcError `artifact_output_invalid` with all problems
 */
function checkOutputs(
  results: Readonly<Record<string, NdArray>>,
  { inputs, outputs }: EntrypointAbi,
  feeds: Readonly<Record<string, NdArray>>,
): void {
  const sizes = new Map<string, number>();
  for (const info of inputs) if (feeds[info.name] !== undefined) misfit(feeds[info.name], info, sizes);
  const problems = outputs.flatMap((info) => {
    const result = results[info.name];
    if (result === undefined) return info.optional ? [] : `${info.name} is missing`;
    const wrong = misfit(result, info, sizes);
    if (wrong !== null) return wrong;
    const at = firstNonFinite(result);
    return at < 0 ? [] : `element ${at} of ${info.name} is ${result.data[at]}`;
  });
  const known = new Set(outputs.map(({ name }) => name));
  for (const name of Object.keys(results)) if (!known.has(name)) problems.push(`${name} is not in the ABI`);
  if (problems.length > 0) {
    throw new SvcError(
      "artifact_output_invalid",
      `Cannot use the output of the trained artifact: ${problems.join("; ")}`,
    );
  }
}

function firstNonFinite({ dtype, data }: NdArray): number {
  if (!dtype.startsWith("float")) return -1;
  for (let i = 0; i < data.length; i++) if (!Number.isFinite(data[i] as number)) return i;
  return -1;
}
