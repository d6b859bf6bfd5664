/** What is on this machine, for the planner: data sets that lie here, and the command that brings the others. */
import { join } from "node:path";
import { BUNDLED_DATASETS, isBundledDatasetPresent } from "../artifact/bundled.ts";
import type { Readiness } from "../plan/types.ts";
import { resolveRecipePath } from "./files.ts";

/** Answers for one workspace. */
export function readinessOf({ stateDir, projectRoot }: { stateDir: string; projectRoot: string }): Readiness {
  return {
    missing({ kind, id }) {
      if (kind === "file") return missingFile(id, { stateDir, projectRoot });
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
      const folder = join(stateDir, "datasets", id);
      try {
        if (Deno.statSync(folder).isDirectory) return null;
      } catch {
        // Whatever keeps the folder from being read, it is not usable.
      }
      return { reason: `it is not at ${folder}`, hint: "Put its files there, or name another data set" };
    },
  };
}

/** A refused path is left to the step that reads it: its error says why. */
function missingFile(path: string, roots: { stateDir: string; projectRoot: string }) {
  try {
    const full = resolveRecipePath(path, roots);
    if (Deno.statSync(full).isFile) return null;
    return { reason: `${path} is no regular file`, hint: null };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) return null;
    return { reason: `there is no file ${path}`, hint: `Relative paths start at ${roots.projectRoot}` };
  }
}
