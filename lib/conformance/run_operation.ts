/**
 * Runs one operation as the executor would: defaults materialised, parameters checked, inputs decoded from bytes,
 * outputs encoded to bytes and decoded again for the next one.
 */
import assert from "node:assert/strict";
import { checkContents, checkForm } from "../artifact/array_form.ts";
import { decodeArtifact, encodeArtifact } from "../artifact/codec.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { canonicalJson } from "../contract/json.ts";
import {
  type FileAccess,
  type InputArtifact,
  type Metrics,
  type ModelRequest,
  type Operation,
  type OutputArtifact,
  UNWATCHED,
} from "../contract/operation.ts";
import { outputKinds } from "../contract/output_kinds.ts";
import { checkValue, isEffective, plainParams } from "../contract/schema.ts";
import { cloneValue, isObject, type JsonObject, type Value } from "../contract/value.ts";
import { abiOf, learnedRun } from "../execute/learned.ts";
import { type StepModels, stepModels } from "../execute/models.ts";
import type { ModelTask } from "../execute/protocol.ts";
import type { NdArray } from "../numeric/array/ndarray.ts";
import { Generator } from "../numeric/random/random.ts";
import { hasNativeKernels, isRefusal, materialize } from "../plan/materialize.ts";

/** What an input may be: an output of an earlier run, or an artifact described in place (of the port's first kind). */
export type GivenInput = InputArtifact | (OutputArtifact & { kind?: string });

export interface RunOptions {
  inputs?: Record<string, GivenInput>;
  params?: JsonObject;
  /** Seed of the random stream; the operation's `seed` parameter when left out. */
  seed?: number | bigint;
  /** Files by path, or a file access of one's own; bundled files are named `<dataset>/<path>`. */
  files?: Record<string, Uint8Array | string> | FileAccess;
  /** What the planner would choose, when left out. */
  backend?: string;
  implementation?: string;
  /** 1 when left out. */
  threads?: number;
  /** Stands for the trained artifact of a learned mode. */
  model?: Model;
  /** The files of the models that the parameters name, by role: their bytes, or the folder that they lie in. */
  models?: Record<string, string | Record<string, Uint8Array>>;
}

/** A trained artifact as a function of its inputs. */
export type Model = (feeds: Record<string, NdArray>) => Record<string, NdArray> | Promise<Record<string, NdArray>>;

export interface RunResult {
  /** Outputs as the next operation sees them. */
  outputs: Record<string, InputArtifact>;
  /** The encoded files. */
  bytes: Record<string, Uint8Array>;
  metrics: Metrics;
  /** Facts for the step row. */
  metadata: JsonObject;
  params: JsonObject;
}

/** Parameters with the defaults of every active parameter. */
export function materialise(schema: JsonObject, given: JsonObject = {}): JsonObject {
  const properties = (schema.properties ?? {}) as JsonObject;
  const params = cloneValue(given);
  for (const [name, node] of Object.entries(properties)) {
    if (!isObject(node)) continue;
    const stands = node["x-svc-effective-when"] === undefined || isEffective(schema, name, given);
    if (params[name] === undefined && node.default !== undefined && stands) {
      params[name] = cloneValue(node.default);
    }
    params[name] = materialiseInside(node, params[name]);
    if (params[name] === undefined) delete params[name];
  }
  return params;
}

function materialiseInside(node: JsonObject, value: Value | undefined): Value {
  if (isObject(value) && isObject(node.properties)) return materialise(node, value);
  const { items } = node;
  if (Array.isArray(value) && isObject(items)) return value.map((item) => materialiseInside(items, item));
  return value as Value;
}

/**
 * Runs an operation.
 *
 * @param operation built in or of one's own
 * @param options inputs by port, parameters and what the planner would choose
 * @returns outputs as the next operation sees them, their bytes, metrics and metadata
 * @throws SvcError what the operation throws, `params_invalid`, or the code of its cross-field check
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import randomBits from "../../ops/source/random_bits.ts";
 * import { runOperation } from "./run_operation.ts";
 *
 * const { outputs } = await runOperation(randomBits, { params: { bit_count: 8 }, seed: 1 });
 * assert.equal(outputs.bits.array().data.length, 8);
 * ```
 */
export async function runOperation(operation: Operation, options: RunOptions = {}): Promise<RunResult> {
  const { definition, contract } = operation;
  const params = materialise(contract.params_schema, options.params);
  const diagnostics = checkValue(contract.params_schema, params, ["params"]);
  if (diagnostics.length > 0) throw new SvcError("params_invalid", diagnostics[0].message, { diagnostics });
  const plain = plainParams(params);
  const [conflict] = definition.check?.(plain, new Set(Object.keys(options.inputs ?? {}))) ?? [];
  if (conflict) throw new SvcError(conflict.code ?? "params_conflict", conflict.message, { hint: conflict.hint });

  const declared: Record<string, readonly string[]> = { ...definition.inputs, ...definition.optionalInputs };
  for (const port of Object.keys(definition.inputs ?? {})) {
    if (options.inputs?.[port] === undefined) throw new SvcError("input_missing", `The input ${port} is missing`);
  }
  const inputs: Record<string, ReturnType<typeof decodeArtifact>> = {};
  for (const [port, given] of Object.entries(options.inputs ?? {})) {
    const kinds = declared[port];
    if (kinds === undefined) throw new SvcError("input_unexpected", `The input ${port} is not declared`);
    const kind = given.kind ?? kinds[0];
    assert.ok(kinds.includes(kind), `${operation.id} takes no ${kind} at ${port}`);
    inputs[port] = decodeArtifact(
      kind,
      encodeArtifact(port, kind, isInput(given) ? outputOf(given) : given).bytes,
      true,
    );
  }

  const nativeKernels = hasNativeKernels(definition, params);
  const choice = materialize(contract, params, { runner: "benchmark_run", authored: params, nativeKernels });
  const entry = isRefusal(choice) ? undefined : choice.entry;
  const seed = options.seed ?? (plain.seed as number | bigint | undefined) ?? 0;
  let generator: Generator | undefined;
  const models = modelsOf(definition.models?.(plain) ?? [], options.models ?? {});
  const result = await Promise.try(() =>
    definition.run({
      inputs,
      params: plain,
      get generator() {
        assert.ok("seed" in (contract.params_schema.properties as JsonObject), "a generator needs a seed parameter");
        return generator ??= Generator.seeded(BigInt(seed));
      },
      ...UNWATCHED,
      files: fileAccess(options.files ?? {}),
      get learned() {
        const { model } = options;
        assert.ok(model !== undefined, "a learned mode needs a model");
        const abi = abiOf(operation);
        const run = (feeds: Readonly<Record<string, NdArray>>) => Promise.resolve(model({ ...feeds }));
        return {
          run: learnedRun({ inputs: abi.inputs, run }, abi, UNWATCHED.cancellation),
          takes: (name: string) => abi.inputs.some((input) => input.name === name),
          record: { package_sha256: "0".repeat(64) },
        };
      },
      model: (role) => models.model(role),
      openGraph: (bytes, runtime) => models.openGraph(bytes, runtime),
      backend: options.backend ?? entry?.backend ?? contract.backends.benchmark_run[0],
      implementation: options.implementation ?? entry?.implementation ?? "default",
      threads: options.threads ?? 1,
    })
  ).finally(() => models.release());

  for (const [port, input] of Object.entries(inputs)) {
    assert.equal(input.modified(), null, `${operation.id} altered its input ${port}`);
  }
  assert.deepEqual(Object.keys(result.outputs).sort(), Object.keys(definition.outputs).sort());
  const bytes: Record<string, Uint8Array> = {};
  const outputs: Record<string, InputArtifact> = {};
  const kinds = outputKinds(definition.outputs, definition.outputSameKindAs, (port) => inputs[port]?.kind)!;
  for (const [port, kind] of Object.entries(kinds)) {
    const { array, items } = result.outputs[port];
    checkForm(port, kind, { array, items });
    for (const { data } of items ?? (array === undefined ? [] : [array])) checkContents(port, kind, data);
    bytes[port] = encodeArtifact(port, kind, result.outputs[port]).bytes;
    outputs[port] = decodeArtifact(kind, bytes[port]);
  }
  return { outputs, bytes, metrics: result.metrics ?? {}, metadata: result.metadata ?? {}, params };
}

/** Sessions of given files, as the executor opens them. */
function modelsOf(requests: readonly ModelRequest[], given: NonNullable<RunOptions["models"]>): StepModels {
  const contents = new Map<string, Uint8Array>();
  const tasks = requests.map(({ role, id, files, optionalFiles = [], optional }): ModelTask => {
    const source = given[role];
    if (optional && source === undefined) return { role, record: canonicalJson({ id }), files: {}, accelerator: null };
    assert.ok(source !== undefined, `the model ${role} (${id}) needs files`);
    const read = (name: string) => typeof source === "string" ? readIfThere(`${source}/${name}`) : source[name];
    const found = [...files, ...optionalFiles].flatMap((name) => {
      const bytes = read(name);
      assert.ok(bytes !== undefined || !files.includes(name), `the model ${role} has no file ${name}`);
      if (bytes === undefined) return [];
      contents.set(`${role}/${name}`, bytes);
      return [[name, { path: `${role}/${name}`, sha256: sha256Hex(bytes) }] as const];
    });
    const digests = Object.fromEntries(found.map(([name, { sha256 }]) => [name, { sha256 }]));
    const record = canonicalJson({ id, files: digests });
    return { role, record, files: Object.fromEntries(found), accelerator: null };
  });
  return stepModels(tasks, UNWATCHED.cancellation, (path) => Promise.resolve(contents.get(path)!));
}

function readIfThere(path: string): Uint8Array | undefined {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function isInput(given: GivenInput): given is InputArtifact {
  return "arrayNames" in given;
}

/** An input artifact in the form of an output, so that it can be written again. */
export function outputOf(input: InputArtifact): OutputArtifact {
  const [main, ...others] = input.arrayNames;
  if (input.files !== undefined) {
    return { json: input.json(), files: Object.fromEntries(input.files), metadata: input.metadata };
  }
  if (main === undefined) return { json: input.json(), metadata: input.metadata };
  const companions = Object.fromEntries(others.map((name) => [name, input.array(name)]));
  return { array: input.array(), companions, metadata: input.metadata };
}

function fileAccess(files: Record<string, Uint8Array | string> | FileAccess): FileAccess {
  if (typeof files.read === "function") return files as FileAccess;
  const read = (path: string): Promise<Uint8Array> => {
    const content = (files as Record<string, Uint8Array | string>)[path];
    if (content === undefined) {
      return Promise.reject(new SvcError("boundary_file_missing", `Cannot find the file ${path}`));
    }
    return Promise.resolve(typeof content === "string" ? new TextEncoder().encode(content) : content);
  };
  const list = (folder: string): Promise<string[]> => {
    const inside = Object.keys(files).filter((path) => path.startsWith(`${folder}/`));
    if (inside.length === 0) {
      return Promise.reject(new SvcError("boundary_file_missing", `Cannot find the folder ${folder}`));
    }
    const names = inside.map((path) => path.slice(folder.length + 1)).filter((name) => !name.includes("/"));
    return Promise.resolve(names.sort());
  };
  const blocks = async function* (path: string) {
    const bytes = await read(path), size = 2 ** 20;
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  return { read, blocks, list, bundled: (dataset, path) => read(`${dataset}/${path}`) };
}
