/**
 * What is on this machine, for the planner: data sets, trained artifacts and the native extension, and the command that
 * brings what is not.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUNDLED_DATASETS, isBundledDatasetPresent } from "../artifact/bundled.ts";
import { publishedDataset } from "../artifact/published_datasets.ts";
import { SvcError } from "../contract/error.ts";
import { nativeExtension } from "../numeric/native/extension.ts";
import { NATIVE_EXTENSION } from "../plan/backends.ts";
import { PROGRAM_ROOT } from "../plan/implementation_source.ts";
import { isModel, resolveModel } from "../model/resolve.ts";
import type { OnnxAccelerator } from "../onnx/session.ts";
import type { Lacking, Readiness } from "../plan/types.ts";
import { isResolved, resolveTrainedArtifact } from "../training/resolve.ts";
import { resolveRecipePath } from "./files.ts";

/** The program's own folder, whose bundled packages any project may name; none where it was not loaded from files. */
const PROGRAM_FOLDER = PROGRAM_ROOT.startsWith("file:") ? fileURLToPath(PROGRAM_ROOT) : undefined;

/** Answers for one workspace. */
export function readinessOf(
  { stateDir, projectRoot, onnxAccelerator }: {
    stateDir: string;
    projectRoot: string;
    onnxAccelerator?: OnnxAccelerator;
  },
): Readiness {
  const places = { stateDir, projectRoot, programRoot: PROGRAM_FOLDER };
  return {
    trainedArtifact(binding) {
      const found = resolveTrainedArtifact(binding, places);
      if (onnxAccelerator === undefined || !isResolved(found)) return found;
      // The plan says what runs the model: results differ in the last digits.
      return { ...found, record: { ...found.record, accelerator: onnxAccelerator } };
    },
    model(request) {
      const found = resolveModel(request, places);
      if (onnxAccelerator === undefined || !isModel(found)) return found;
      return { ...found, record: { ...found.record, accelerator: onnxAccelerator } };
    },
    missing({ kind, id }) {
      if (kind === "file") return missingFile(id, { stateDir, projectRoot });
      if (kind === NATIVE_EXTENSION.kind && id === NATIVE_EXTENSION.id) return missingExtension();
      if (kind === "adapter") return missingAdapter(id);
      if (kind !== "dataset") return { reason: `no ${kind} of that name is known here`, hint: null };
      if (Object.hasOwn(BUNDLED_DATASETS, id)) {
        if (isBundledDatasetPresent(id, { stateDir })) return null;
        const { files } = BUNDLED_DATASETS[id];
        return {
          reason: "it comes with the program, but has not been fetched to this machine",
          hint: `Run svc data fetch ${id}, or call fetchBundledDataset("${id}", { stateDir })`,
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
        // Whatever keeps the folder from being read, it is not usable.
      }
      if (published !== undefined && Object.keys(published.files).length > 0) {
        const fetch = `svc data fetch ${published.id}`;
        return { reason: `it is not at ${folder}`, hint: `Run ${fetch}, or put it there: ${published.layout}`, fetch };
      }
      return { reason: `it is not at ${folder}`, hint: "Put its files there, or name another data set" };
    },
  };
}

/** Contracts that adapters wrap never run by themselves. */
function missingAdapter(wraps: string): Lacking {
  const scaffold = /(bits|indices|latents|classification_dataset)$/.exec(wraps)?.[1] ??
    (wraps.startsWith("metrics.") ? "classification_metric" : "deepjscc_symbols");
  return {
    reason: "a recipe names code by the operation of an adapter, never by a path",
    hint: `Name that operation as op; svc adapter scaffold ${scaffold} <folder> writes an adapter to start from`,
  };
}

function missingExtension(): Lacking | null {
  const { available, path, reason, hint } = nativeExtension();
  if (available) return null;
  return { reason: reason!, hint, ...(path === null ? { fetch: "deno task build:native" } : {}) };
}

function missingFile(path: string, roots: { stateDir: string; projectRoot: string }) {
  try {
    const full = resolveRecipePath(path, roots);
    if (Deno.statSync(full).isFile) return null;
    return { reason: `${path} is no regular file`, hint: null };
  } catch (error) {
    if (error instanceof SvcError) return { reason: error.message, hint: error.hint };
    if (!(error instanceof Deno.errors.NotFound)) return null;
    return { reason: `there is no file ${path}`, hint: `Relative paths start at ${roots.projectRoot}` };
  }
}
