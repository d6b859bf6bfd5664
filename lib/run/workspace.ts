/**
 * The state directory and the project root: where runs, their reservations and their locks lie.
 *
 * State directory: the given one, else the environment variable SVC_WORKSPACE, else `.svc` under the project root.
 * Project root: the given one, else the current directory. Relative paths that are given start at the current
 * directory, as on every command line.
 */
import { join, resolve } from "node:path";
import type { OnnxAccelerator } from "../onnx/session.ts";

export interface Workspace {
  /** Absolute; relative paths in parameters start here. */
  readonly projectRoot: string;
  /** Absolute; holds everything the program writes by itself. */
  readonly stateDir: string;
  /** Bundles, one folder a run. */
  readonly runs: string;
  /** One empty file per run id that was ever given out. */
  readonly reservations: string;
  /** One file per executing run, locked by its process. */
  readonly locks: string;
  /** The native runtime for trained artifacts, where it was asked for. */
  readonly onnxAccelerator?: OnnxAccelerator;
  /** Bundles whose first files are being written, and bundles that are being removed. */
  readonly transit: string;
}

/**
 * Resolves the workspace; nothing is created before a run needs it.
 *
 * @param options `projectRoot` and `stateDir` as given on the command line
 * @returns absolute paths
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { join, resolve } from "node:path";
 * import { openWorkspace } from "./workspace.ts";
 *
 * const { projectRoot, runs } = openWorkspace({ projectRoot: "fading_study", stateDir: "fading_study/.svc" });
 * assert.equal(projectRoot, resolve("fading_study"));
 * assert.equal(runs, join(projectRoot, ".svc", "runs"));
 * ```
 */
export function openWorkspace(
  options: { projectRoot?: string; stateDir?: string; onnxAccelerator?: OnnxAccelerator } = {},
): Workspace {
  const projectRoot = resolve(options.projectRoot ?? Deno.cwd());
  const chosen = options.stateDir ?? environmentValue("SVC_WORKSPACE");
  const stateDir = chosen === undefined ? join(projectRoot, ".svc") : resolve(chosen);
  const runs = join(stateDir, "runs");
  return {
    projectRoot,
    stateDir,
    runs,
    reservations: join(runs, ".run-id-reservations"),
    locks: join(runs, ".locks"),
    transit: join(runs, ".transit"),
    ...(options.onnxAccelerator === undefined ? {} : { onnxAccelerator: options.onnxAccelerator }),
  };
}

/** A refused variable counts as unset. */
function environmentValue(name: string): string | undefined {
  if (Deno.permissions.querySync({ name: "env", variable: name }).state !== "granted") return undefined;
  return Deno.env.get(name) || undefined;
}
