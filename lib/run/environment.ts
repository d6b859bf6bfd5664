/** Environment of a run: runtime, machine, program, dependencies, project files and git state. */
import { join } from "node:path";
import { versions } from "node:process";
import { hashFile } from "../artifact/hash_file.ts";
import { programFolder } from "../artifact/program.ts";
import { messageOf } from "../contract/error.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { nativeExtension } from "../numeric/native/extension.ts";
import { buildSha256 } from "../plan/implementation_source.ts";
import { readGitState } from "./git.ts";
import { version } from "./version.ts";

/** Project configuration and lock files whose hashes are recorded. */
const PROJECT_FILES = [
  "deno.json",
  "deno.jsonc",
  "deno.lock",
  "package.json",
  "package-lock.json",
  "pnpm-lock.yaml",
  "pyproject.toml",
  "uv.lock",
  "requirements.txt",
  "yarn.lock",
];

/**
 * Captures `environment` of a manifest. A value without read permission is null, with the reason.
 * @param projectRoot absolute path of the project
 */
export async function captureEnvironment(projectRoot: string): Promise<JsonObject> {
  const program = await programFacts();
  return {
    captured_at_utc: new Date().toISOString(),
    runtime: program.runtime,
    python: null,
    platform: program.platform,
    hardware: program.hardware,
    process: { pid: Deno.pid, cwd: Deno.cwd() },
    svc: program.svc,
    dependencies: program.dependencies,
    native: nativeFacts(),
    project_files: projectFiles(projectRoot),
    git: await readGitState(projectRoot),
  };
}

let facts: Promise<JsonObject> | undefined;

/** Facts that are constant for the process. */
function programFacts(): Promise<JsonObject> {
  return facts ??= (async () => ({
    runtime: {
      name: "deno",
      version: Deno.version.deno,
      engine: `v8 ${Deno.version.v8}`,
      typescript: Deno.version.typescript,
      // It splits texts into words and orders them.
      icu: versions.icu ?? null,
    },
    platform: { os: Deno.build.os, arch: Deno.build.arch },
    hardware: await hardware(),
    svc: await programIdentity(),
    dependencies: dependencies(),
  }))();
}

/** Not cached: the native extension may be built while the process runs. */
function nativeFacts(): JsonObject {
  const { hint: _, ...facts } = nativeExtension();
  return facts;
}

async function hardware(): Promise<JsonObject> {
  const reasons: string[] = [];
  /** Reads only with a granted permission: a request could block the program at a prompt. */
  const ask = <T>(kind: "cpus" | "systemMemoryInfo", read: () => T): T | null => {
    // The type lacks the sys permission kind `cpus`.
    const permission = { name: "sys", kind } as Deno.SysPermissionDescriptor;
    try {
      if (Deno.permissions.querySync(permission).state === "granted") return read();
      reasons.push(`the permission sys=${kind} is not granted`);
    } catch (error) {
      reasons.push(messageOf(error));
    }
    return null;
  };
  const { cpus } = await import("node:os");
  const processors = ask("cpus", cpus);
  const memory = ask("systemMemoryInfo", () => Deno.systemMemoryInfo().total);
  return {
    cpu: processors?.[0]?.model.trim() ?? null,
    cpu_count: processors?.length ?? navigator.hardwareConcurrency,
    memory_bytes: memory,
    accelerators: [],
    ...(reasons.length === 0 ? {} : { reason: reasons.join("; ") }),
  };
}

async function programIdentity(): Promise<JsonObject> {
  try {
    return { version, build_sha256: await buildSha256() };
  } catch (error) {
    return { version, build_sha256: null, reason: messageOf(error) };
  }
}

/** Package name to version from the lock file; several versions of one name are joined. */
function dependencies(): JsonObject {
  const program = programFolder();
  if (program === null) return {};
  let lock;
  try {
    // Of which the keys alone are read, so that numbers need no types.
    lock = JSON.parse(Deno.readTextFileSync(join(program, "deno.lock")));
  } catch {
    return {};
  }
  const versions = new Map<string, Set<string>>();
  for (const registry of ["npm", "jsr"]) {
    const packages = isObject(lock) ? lock[registry] : undefined;
    for (const key of isObject(packages) ? Object.keys(packages) : []) {
      // `@scope/name@1.2.3_peer@4.5.6`: the version follows the first @ after the first character.
      const at = key.indexOf("@", 1);
      const name = key.slice(0, at);
      versions.set(name, (versions.get(name) ?? new Set()).add(key.slice(at + 1)));
    }
  }
  return Object.fromEntries(
    [...versions].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, set]) => [name, [...set].join(", ")]),
  );
}

function projectFiles(projectRoot: string): JsonObject {
  const files: JsonObject = {};
  for (const name of PROJECT_FILES) {
    try {
      files[name] = { ...hashFile(join(projectRoot, name)) };
    } catch {
      // Files that do not exist are left out.
    }
  }
  return files;
}
