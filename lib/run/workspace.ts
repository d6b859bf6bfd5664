/**
 * State directory and project root: the location of runs, reservations and locks.
 *
 * State directory: the given one, else the environment variable SVC_WORKSPACE, else `.svc` under the project root.
 * Project root: the given one, else the current directory. Given relative paths start at the current directory.
 */
import { join, resolve } from "../contract/paths.ts";
import { inside, type InsidePath } from "../artifact/inside.ts";
import type { OnnxAccelerator } from "../onnx/session.ts";
import { sharingHost } from "./file_system.ts";

export interface Workspace {
  /** Absolute; base of relative paths in parameters. */
  readonly projectRoot: string;
  /** Absolute; holds everything the program writes on its own. */
  readonly stateDir: string;
  /** One folder per bundle. */
  readonly runs: InsidePath;
  /** One file per reserved run id. */
  readonly reservations: InsidePath;
  /** One file per executing run, locked by its process. */
  readonly locks: InsidePath;
  /** Name of this host where the state directory is on a network file system, which other hosts may use as well. */
  readonly host?: string;
  /** The requested native runtime for trained artifacts. */
  readonly onnxAccelerator?: OnnxAccelerator;
  /** Bundles being created or removed. */
  readonly transit: InsidePath;
  /** Removed runs and artifacts that can be taken back. */
  readonly trash: InsidePath;
  /** A link to each distinct artifact, by its SHA-256. */
  readonly contents: InsidePath;
}

/**
 * Resolves the workspace without creating it.
 * @param options `projectRoot` and `stateDir` as given on the command line; `host` replaces the detection
 * @returns absolute paths
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
  options: { projectRoot?: string; stateDir?: string; onnxAccelerator?: OnnxAccelerator; host?: string } = {},
): Workspace {
  const projectRoot = resolve(options.projectRoot ?? Deno.cwd());
  const chosen = options.stateDir ?? environmentValue("SVC_WORKSPACE");
  const stateDir = chosen === undefined ? join(projectRoot, ".svc") : resolve(chosen);
  let host: { name: string | undefined } | undefined;
  return {
    projectRoot,
    stateDir,
    // Looked at with each use: none of these folders may be a link.
    get runs() {
      return inside(stateDir, "runs");
    },
    get reservations() {
      return inside(stateDir, "runs/.run-id-reservations");
    },
    get locks() {
      return inside(stateDir, "runs/.locks");
    },
    get transit() {
      return inside(stateDir, "runs/.transit");
    },
    get trash() {
      return inside(stateDir, "runs/.trash");
    },
    get contents() {
      return inside(stateDir, "runs/.contents");
    },
    // Asked for at the first lock or index: listing operations needs neither.
    get host() {
      return (host ??= { name: options.host ?? sharingHost(stateDir) }).name;
    },
    ...(options.onnxAccelerator === undefined ? {} : { onnxAccelerator: options.onnxAccelerator }),
  };
}

/** A variable of the environment; without permission it counts as unset. */
export function environmentValue(name: string): string | undefined {
  if (Deno.permissions.querySync({ name: "env", variable: name }).state !== "granted") return undefined;
  return Deno.env.get(name) || undefined;
}
