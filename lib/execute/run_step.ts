/**
 * Runs one step inside a worker thread: decodes its inputs into private memory, calls the operation, checks the result
 * against the contract, and writes the outputs into the staging directory.
 */
import { join } from "../contract/paths.ts";
import { checkContents, checkForm } from "../artifact/array_form.ts";
import { decodeArtifact, encodeArtifact } from "../artifact/codec.ts";
import { typedMetrics } from "../artifact/values.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { canonicalJson, parseJson } from "../contract/json.ts";
import {
  checkpoints,
  type InputArtifact,
  type Operation,
  type OperationDefinition,
  type OperationResult,
  type OutputArtifact,
  type PlainDefinition,
  type Progress,
} from "../contract/operation.ts";
import { outputKinds } from "../contract/output_kinds.ts";
import { plainParams } from "../contract/schema.ts";
import { asObject } from "../contract/json.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { Generator } from "../numeric/random/random.ts";
import { cancellationOf } from "./cancellation.ts";
import { fileAccess } from "./files.ts";
import type { ProgressReply, StepTask, TaskInput, WrittenOutput, WrittenStep } from "./protocol.ts";

/** Least time between two progress messages of a step. */
export const PROGRESS_INTERVAL_MS = 100;

export type Report = (progress: Omit<ProgressReply, "type" | "taskId">) => void;

/**
 * Executes a task.
 * @param report receives progress
 * @returns the written outputs without their digests
 * @throws SvcError with the codes of step checks: `input_modified`, `output_missing`, …
 */
export async function runStep(
  operation: Operation,
  task: StepTask,
  report: Report,
): Promise<WrittenStep> {
  const { definition } = operation;
  const inputs = task.inputs.map((input) => ({
    port: input.port,
    artifact: decodeArtifact(input.kind, load(input), input.sole),
  }));
  checkRequiredMetadata(definition, new Map(inputs.map(({ port, artifact }) => [port, artifact])));
  const cancellation = cancellationOf(task.cancelFlag);
  let generator: Generator | undefined;
  let lastReport = -Infinity;

  // Loaded only for a step with an artifact, before the timing of the operation starts.
  const model = task.learned === null
    ? null
    : await (await import("./learned.ts")).openLearned(operation, task.learned, cancellation);
  let models = task.models.length === 0 ? null : (await import("./models.ts")).stepModels(task.models, cancellation);
  const shown = model === null ? inputs : inputs.filter(({ port }) => !definition.secretInputs.includes(port));

  const progress: Progress = (completed, total, more = {}) => {
    cancellation.throwIfCancelled();
    const now = performance.now();
    if (now - lastReport < PROGRESS_INTERVAL_MS && completed < total) return;
    lastReport = now;
    report({ completed, total, phase: more.phase ?? null, unit: more.unit ?? null });
  };

  const started = performance.now();
  const result = await Promise.try(() =>
    definition.run({
      inputs: Object.fromEntries(shown.map(({ port, artifact }) => [port, artifact])) as Record<string, InputArtifact>,
      params: plainParams(asObject(parseJson(task.params))),
      get generator() {
        if (task.seed === null) throw new TypeError(`${operation.id} draws random numbers without a seed parameter`);
        return generator ??= Generator.seeded(BigInt(task.seed));
      },
      ...checkpoints(progress, cancellation),
      files: fileAccess(task),
      get learned() {
        if (model === null) throw new TypeError(`${operation.id} uses a trained artifact without a binding`);
        return model.learned;
      },
      model(role) {
        if (models === null) throw new TypeError(`${operation.id} uses the model ${role} without requesting it`);
        return models.model(role);
      },
      async openGraph(bytes, runtime) {
        models ??= (await import("./models.ts")).stepModels([], cancellation);
        return await models.openGraph(bytes, runtime);
      },
      backend: task.backend,
      implementation: task.implementation,
      threads: task.threads,
    })
  ).finally(() => Promise.all([model?.release(), models?.release()]));
  const runTime = (performance.now() - started) / 1000;

  for (const { port, artifact } of inputs) {
    const altered = artifact.modified();
    if (altered !== null) {
      throw new SvcError("input_modified", `The operation changed ${altered} of its input ${port}`, {
        hint: "Copy an input before changing it",
      });
    }
  }
  const kinds = new Map(task.inputs.map(({ port, kind }) => [port, kind]));
  const timing = definition.timingMetric === undefined ? {} : { [definition.timingMetric]: runTime };
  return {
    seconds: null,
    offset: 0,
    outputs: writeOutputs(definition, kinds, result, task),
    ...stepRecord(result, timing),
  };
}

/** Metrics and metadata of a result as checked JSON text. */
export function stepRecord(
  result: Pick<OperationResult, "metrics" | "metadata">,
  timing: Readonly<Record<string, number>> = {},
): Pick<WrittenStep, "metrics" | "metadata"> {
  return {
    metrics: canonicalJson(typedMetrics({ ...checkMetrics(result), ...timing })),
    metadata: stepMetadata(result.metadata ?? {}),
  };
}

function load(input: TaskInput): Uint8Array {
  if (input.bytes !== null) return input.bytes;
  const bytes = Deno.readFileSync(input.path);
  if (sha256Hex(bytes) !== input.sha256) {
    throw new SvcError("output_hash_mismatch", `The file of input ${input.port} differs from the produced file`);
  }
  return bytes;
}

export function checkRequiredMetadata(
  definition: OperationDefinition,
  inputs: ReadonlyMap<string, InputArtifact>,
): void {
  for (const [port, requirement] of Object.entries(definition.inputMetadataRequirements ?? {})) {
    const metadata = inputs.get(port)?.metadata;
    if (metadata === undefined || requirement === undefined) continue;
    const has = (path: string) =>
      path.split(".").reduce<unknown>((place, key) => isObject(place) ? place[key] : undefined, metadata) !== undefined;
    const missing = (requirement.all_of ?? []).filter((path) => !has(path));
    const anyOf = requirement.any_of ?? [];
    if (anyOf.length > 0 && !anyOf.some(has)) missing.push(anyOf.join(" or "));
    if (missing.length > 0) {
      throw new SvcError("input_metadata_missing", `Cannot work without the metadata ${missing.join(", ")} of ${port}`);
    }
  }
}

function checkMetrics(result: Pick<OperationResult, "metrics">): Record<string, number | bigint> {
  const metrics: unknown = result.metrics ?? {};
  if (!isObject(metrics)) throw new SvcError("output_metrics_invalid", "Cannot use metrics that are not a mapping");
  for (const [id, value] of Object.entries(metrics)) {
    if (typeof value !== "bigint" && !(typeof value === "number" && Number.isFinite(value))) {
      throw new SvcError("output_metrics_invalid", `Cannot record ${String(value)} as the metric ${id}`, {
        hint: "A metric without a defined value must be left out",
      });
    }
  }
  return { ...metrics } as Record<string, number | bigint>;
}

function stepMetadata(metadata: JsonObject): string {
  try {
    return canonicalJson(metadata);
  } catch (error) {
    throw new SvcError("output_metadata_invalid", "Cannot record step metadata that is not strict finite JSON", {
      cause: error,
    });
  }
}

function writeOutputs(
  definition: PlainDefinition,
  inputKinds: ReadonlyMap<string, string>,
  result: OperationResult,
  task: StepTask,
): WrittenOutput[] {
  // A required input is wired, so every kind is known.
  const kinds = outputKinds(definition.outputs, definition.outputSameKindAs, (port) => inputKinds.get(port))!;
  const declared = Object.entries(kinds);
  const returned = result.outputs ?? {};
  const missing = declared.filter(([port]) => returned[port] === undefined).map(([port]) => port);
  if (missing.length > 0) {
    throw new SvcError("output_missing", `The operation did not return its output ${missing.join(", ")}`);
  }
  const extra = Object.keys(returned).filter((port) => !(port in definition.outputs));
  if (extra.length > 0) {
    throw new SvcError("output_unexpected", `The operation returned the undeclared ${extra.join(", ")}`);
  }
  return declared.map(([port, kind]) => writeOutput(definition, port, kind, returned[port], task));
}

/** Writes the file of an output as a whole, or hashes it where the run has no files. */
export function writeOutput(
  definition: PlainDefinition,
  port: string,
  kind: string,
  output: OutputArtifact,
  { staging, streamed }: Pick<StepTask, "staging" | "streamed">,
): WrittenOutput {
  const { fileName, bytes, metadata } = encodeArtifact(port, kind, output, streamed);
  checkForm(port, kind, output);
  for (const { data } of output.items ?? (output.array === undefined ? [] : [output.array])) {
    checkContents(port, kind, data);
  }
  checkGuarantees(definition, port, metadata);
  if (staging !== null) writeNew(join(staging, fileName), bytes);
  const sha256 = staging === null ? sha256Hex(bytes) : null;
  return { port, kind, fileName, parts: [bytes], sha256, metadata: canonicalJson(metadata) };
}

export function checkGuarantees(definition: PlainDefinition, port: string, metadata: JsonObject): void {
  const guaranteed = definition.outputMetadataGuarantees?.[port]?.keys ?? [];
  const lacking = guaranteed.filter((key) => metadata[key] === undefined);
  if (lacking.length > 0) {
    throw new SvcError("output_metadata_missing", `The output ${port} lacks the metadata ${lacking.join(", ")}`);
  }
}

function writeNew(path: string, bytes: Uint8Array): void {
  const file = Deno.openSync(path, { write: true, createNew: true });
  try {
    let offset = 0;
    while (offset < bytes.length) offset += file.writeSync(bytes.subarray(offset));
  } finally {
    file.close();
  }
}
