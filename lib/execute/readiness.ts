/**
 * Available parts of this machine for the planner: datasets, trained artifacts and the native extension, with the
 * command that fetches a missing one.
 */
import { join } from "node:path";
import { BUNDLED_DATASETS, isBundledDatasetPresent } from "../artifact/bundled.ts";
import { programFolder, programForm } from "../artifact/program.ts";
import { publishedDataset } from "../artifact/published_datasets.ts";
import { diagnostic, SvcError } from "../contract/error.ts";
import { canonicalJson } from "../contract/json.ts";
import type { JsonObject } from "../contract/value.ts";
import { nativeExtension } from "../numeric/native/extension.ts";
import { NATIVE_EXTENSION } from "../plan/backends.ts";
import { isModel, resolveModel } from "../model/resolve.ts";
import { acceleratorLack } from "../onnx/accelerator.ts";
import { ISOLATION_HINT } from "../contract/isolation.ts";
import type { OnnxAccelerator } from "../onnx/session.ts";
import type { Lacking, ModelLookup, Readiness } from "../plan/types.ts";
import { isResolved, type ResolvedArtifact, resolveTrainedArtifact } from "../training/resolve.ts";
import { resolveRecipePath } from "./files.ts";

const NO_SANDBOX = "workers cannot be started without permissions here";

/** Readiness for one workspace. */
export function readinessOf(
  { stateDir, projectRoot, onnxAccelerator, sandbox = true }: {
    stateDir: string;
    projectRoot: string;
    onnxAccelerator?: OnnxAccelerator;
    /** Whether workers without permissions can be started; the portable runtime of networks needs one. */
    sandbox?: boolean;
  },
): Readiness {
  const runs = sandbox || onnxAccelerator !== undefined;
  const places = { stateDir, projectRoot, programRoot: programFolder() ?? undefined };
  return {
    trainedArtifact(binding) {
      const found = resolveTrainedArtifact(binding, places);
      if (isResolved(found) && !runs) {
        const place = binding.place ?? ["params"];
        return [
          diagnostic("runtime_unavailable", place, `Cannot run a network: ${NO_SANDBOX}`, { hint: ISOLATION_HINT }),
        ];
      }
      return isResolved(found) ? accelerated(found, onnxAccelerator) : found;
    },
    model(request) {
      const found = resolveModel(request, places);
      if (
        isModel(found) && !runs && request.optional !== true && request.files.some((file) => file.endsWith(".onnx"))
      ) {
        return { code: "runtime_unavailable", reason: NO_SANDBOX, hint: ISOLATION_HINT, fetch: null };
      }
      return isModel(found) ? accelerated(found, onnxAccelerator) : found;
    },
    missing({ kind, id }) {
      if (kind === "file") return missingFile(id, { stateDir, projectRoot });
      if (kind === NATIVE_EXTENSION.kind && id === NATIVE_EXTENSION.id) return missingExtension();
      if (kind === "runtime") return acceleratorLack();
      if (kind === "adapter") return missingAdapter(id);
      if (kind !== "dataset") return { reason: `no known ${kind} has this name`, hint: null };
      if (Object.hasOwn(BUNDLED_DATASETS, id)) {
        if (isBundledDatasetPresent(id, { stateDir })) return null;
        const { files } = BUNDLED_DATASETS[id];
        return {
          reason: "it is part of the program, but not fetched to this machine",
          hint: `Run svc data fetch ${id}, or call svc.data.fetch("${id}") of a session`,
          fetch: `svc data fetch ${id}`,
          sha256: files["manifest.json"].sha256,
          size_bytes: Object.values(files).reduce((sum, { size_bytes }) => sum + size_bytes, 0),
        };
      }
      const published = publishedDataset(id);
      const folder = join(stateDir, "datasets", published?.folder ?? id);
      try {
        if (Deno.statSync(folder).isDirectory) return null;
      } catch {
        // Any read error makes the folder unusable.
      }
      if (published !== undefined && Object.keys(published.files).length > 0) {
        const fetch = `svc data fetch ${published.id}`;
        return {
          reason: `it is not at ${folder}`,
          hint: `Run ${fetch}, or put it in this folder: ${published.layout}`,
          fetch,
        };
      }
      return { reason: `it is not at ${folder}`, hint: "Put its files there, or name another dataset" };
    },
  };
}

/** A readiness that keeps what it found, for many recipes that are checked at once. */
export function keptReadiness(readiness: Readiness): Readiness {
  const models = new Map<string, ReturnType<ModelLookup>>(), artifacts = new Map<string, ResolvedArtifact>();
  return {
    missing: (requirement) => readiness.missing(requirement),
    model: readiness.model && ((request) => {
      const key = canonicalJson({ ...request });
      const found = models.get(key) ?? readiness.model!(request);
      models.set(key, found);
      return found;
    }),
    trainedArtifact: readiness.trainedArtifact && ((binding) => {
      const { contract, place: _, params = {}, ...named } = binding;
      const key = canonicalJson({ ...named, operation: contract.id, params });
      const found = artifacts.get(key) ?? readiness.trainedArtifact!(binding);
      // Problems name the place in their own recipe.
      if (isResolved(found)) artifacts.set(key, found);
      return found;
    }),
  };
}

/** The plan records the runtime: results differ in the last digits, and the native runtime has no limits. */
function accelerated<T extends { record: JsonObject }>(found: T, accelerator: OnnxAccelerator | undefined): T {
  if (accelerator === undefined) return found;
  const { limits: _, ...record } = found.record;
  return { ...found, record: { ...record, accelerator } };
}

/** Contracts that adapters wrap cannot run on their own. */
function missingAdapter(wraps: string): Lacking {
  const scaffold = /(bits|indices|latents|classification_dataset)$/.exec(wraps)?.[1] ??
    (wraps === "model.external_read_texts" ? "text_reader" : null) ??
    (wraps.startsWith("metrics.") ? "classification_metric" : "deepjscc_symbols");
  return {
    reason: "a recipe names code by the operation of an adapter, never by a path",
    hint: `Set op to that operation; svc adapter scaffold ${scaffold} <folder> writes an adapter to start from`,
  };
}

function missingExtension(): Lacking | null {
  const { available, path, reason, hint } = nativeExtension();
  if (available) return null;
  if (programForm() !== "folder") {
    return {
      reason: reason!,
      hint: "Choose the portable implementation: only a checkout of svc can build the native extension",
    };
  }
  return { reason: reason!, hint, ...(path === null ? { fetch: "deno task build:native" } : {}) };
}

function missingFile(path: string, roots: { stateDir: string; projectRoot: string }) {
  try {
    const full = resolveRecipePath(path, roots);
    if (Deno.statSync(full).isFile) return null;
    return { reason: `${path} is not a regular file`, hint: null };
  } catch (error) {
    if (error instanceof SvcError) return { reason: error.message, hint: error.hint };
    if (!(error instanceof Deno.errors.NotFound)) return null;
    return { reason: `the file ${path} does not exist`, hint: `Relative paths start at ${roots.projectRoot}` };
  }
}
