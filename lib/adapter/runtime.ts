/**
 * Calls into adapters: each step has a process of its own, which ends with it; failures become errors with a hint.
 */
import { join } from "node:path";
import { placedError, SvcError } from "../contract/error.ts";
import type { Cancellation } from "../contract/operation.ts";
import { isObject } from "../contract/value.ts";
import type { NdArray } from "../numeric/array/ndarray.ts";
import { type OnnxSession, openOnnxSession, startOnnxSandbox } from "../onnx/session.ts";
import { type AdapterBinding, modelLimits } from "./binding.ts";
import { readFolder } from "./folder.ts";
import { grantFlag } from "./grants.ts";
import { checkedArray } from "./results.ts";
import { isTaskWrap } from "./wraps.ts";
import { AdapterSandbox, type CallOutcome, MODEL_LIMITS, type SandboxCall, SandboxFailure } from "./sandbox.ts";
import type { Refusal } from "./process/protocol.ts";
import { adapterModels, adapterSources } from "./sources.ts";

const MIB = 2 ** 20;

interface Live {
  sandbox: AdapterSandbox;
  models: ReadonlyMap<string, Uint8Array>;
}

export interface AdapterCall extends Pick<SandboxCall, "args" | "floats" | "seed"> {
  cancellation?: Cancellation;
  progress?(completed: number, total: number, message: string | null): void;
}

/** The result of a call, and its time in seconds. */
export interface AdapterAnswer extends CallOutcome {
  seconds: number;
}

/**
 * Calls the callable of an adapter's operation.
 * @throws SvcError with the codes of section 17.7 of the annexed list: `adapter_isolation_unavailable`,
 *   `adapter_changed`, `adapter_load_failed`, `adapter_callable_missing`, `adapter_permission_refused`,
 *   `adapter_timeout`, `adapter_memory_exceeded`, `adapter_call_failed`, `adapter_result_invalid`
 */
export async function callAdapter(binding: AdapterBinding, call: AdapterCall): Promise<AdapterAnswer> {
  const { path: module, callable } = binding.operation.adapter;
  try {
    const { sandbox, models } = await start(binding, [module]);
    try {
      await sandbox.load(module, [callable]);
      // The start of the engine is not part of the call.
      if (models.size > 0) await startOnnxSandbox(modelLimits(binding.limits));
      const begun = performance.now();
      const outcome = await sandbox.call({ module, callable, ...call }, {
        cancellation: call.cancellation,
        progress: call.progress,
        infer: (model, feeds, cancellation) => infer(binding, models, { model, feeds, cancellation }),
      });
      return { ...outcome, seconds: (performance.now() - begun) / 1000 };
    } finally {
      await sandbox.close();
    }
  } catch (error) {
    throw error instanceof SandboxFailure ? explained(binding, error) : error;
  }
}

/**
 * Loads the module of an operation, finds its callable, and ends the sandbox.
 * @throws SvcError as {@link callAdapter}
 */
export async function tryLoad(bindings: readonly AdapterBinding[]): Promise<void> {
  const [first] = bindings;
  if (first === undefined) return;
  const { sandbox } = await start(first, bindings.map(({ operation }) => operation.adapter.path));
  try {
    for (const binding of bindings) {
      try {
        await sandbox.load(binding.operation.adapter.path, [binding.operation.adapter.callable]);
      } catch (error) {
        throw error instanceof SandboxFailure ? explained(binding, error) : error;
      }
    }
  } finally {
    await sandbox.close();
  }
}

/** Starts a sandbox if the folder is unchanged since its registration. */
async function start(binding: AdapterBinding, modules: readonly string[]): Promise<Live> {
  const { name, root, limits, granted, python } = binding;
  const { folder, diagnostics } = readFolder(root);
  if (folder === null || folder.folder_sha256 !== binding.folder_sha256) {
    throw new SvcError(
      "adapter_changed",
      `Cannot run the adapter ${name}: its folder has changed since it was loaded`,
      {
        hint: diagnostics[0]?.message ?? "Load it again; grants do not apply to a changed folder",
      },
    );
  }
  const sources = adapterSources(folder, modules);
  const models = binding.models.map(({ id, path, sha256 }) => ({ id, path: join(root, path), sha256 }));
  const contents = adapterModels(folder, binding.models);
  const { hidden } = folder, arrays = !isTaskWrap(binding.operation.wraps);
  const sandbox = await AdapterSandbox.start({ name, root, sources, models, granted, limits, hidden, python, arrays });
  return { sandbox, models: contents };
}

/** Runs a model of the manifest in a separate sandbox without permissions. */
async function infer(
  binding: AdapterBinding,
  models: ReadonlyMap<string, Uint8Array>,
  { model: id, feeds, cancellation }: { model: string; feeds: unknown; cancellation: Cancellation },
): Promise<Record<string, NdArray>> {
  const bytes = models.get(id);
  if (bytes === undefined) {
    throw new SvcError("adapter_model_missing", `the manifest lists no model ${id}`, {
      hint: `Known: ${[...models.keys()].join(", ")}`,
    });
  }
  if (!isObject(feeds)) throw new SvcError("adapter_result_invalid", "feeds are {input: {dtype, shape, data}}");
  const arrays = Object.entries(feeds).map(([name, value]): [string, NdArray] => [
    name,
    checkedArray(value, `the feed ${name}`, binding.limits.memory_mb * MIB),
  ]);
  let session: OnnxSession | undefined;
  try {
    session = await openOnnxSession(bytes, {
      sha256: binding.models.find((model) => model.id === id)!.sha256,
      owner: models,
      limits: modelLimits(binding.limits),
    });
    return await session.run(Object.fromEntries(arrays), { cancellation });
  } catch (error) {
    if (!(error instanceof SvcError) || !MODEL_LIMITS.has(error.code)) throw error;
    const message = error.message.replace("the model", `the model ${id} of the adapter ${binding.name}`);
    throw new SvcError(error.code, message, {
      hint: `Raise ${MODEL_LIMITS.get(error.code)} in its manifest, or pass it less data per call`,
    });
  } finally {
    await session?.release();
  }
}

/** The failure with a hint, and with the lines that the code printed. */
function explained(binding: AdapterBinding, failure: SandboxFailure): SvcError {
  const { refused } = failure.error;
  const printed = failure.log.slice(-3).map((line) => line.slice(0, 200));
  const hint = failure.code === "adapter_permission_refused" && refused !== null
    ? permissionHint(binding, refused)
    : failure.code === "adapter_result_invalid"
    ? "Return plain data: arrays, texts, numbers"
    : printed.length > 0
    ? `It printed: ${printed.join(" | ")}`
    : null;
  const message = failure.code === "adapter_permission_refused" && refused !== null
    ? `The adapter ${binding.name} was refused${ACCESS[refused.kind]}${refused.value}: ${failure.error.message}`
    : failure.message;
  return placedError(new SvcError(failure.code, message, { hint, extra: { adapter: binding.name } }), failure.location);
}

/** Messages of refused accesses, before the value. */
const ACCESS: Readonly<Record<Refusal["kind"], string>> = {
  net: " the connection to ",
  read: " reading ",
  env: " the environment variable ",
  import: " the import of ",
  other: "",
};

/** The manifest line that would request the access, or the flag that would grant a request. */
function permissionHint(binding: AdapterBinding, { kind, value }: Refusal): string {
  if (kind === "import") return "Put the code into the folder, for example bundled with deno bundle";
  if (kind === "other") {
    return binding.python === undefined
      ? "An adapter can request net, read and env only"
      : "A Python adapter can request read and env only: it has no network and starts no programs";
  }
  const { name, requested, manifest: { file, lines } } = binding;
  const asked = kind === "net"
    ? requested.net.find((request) => request === value || request === value.replace(/:[0-9]+$/, ""))
    : requested[kind].includes(value)
    ? value
    : undefined;
  if (asked !== undefined) return `Grant it with ${grantFlag(name, kind, asked)}`;
  return `To request it: ${file}:${lines[kind]} permissions.${kind}: [${JSON.stringify(value)}]`;
}
