/** Checks of the installation, with a hint for each problem. */
import { join } from "node:path";
import { inside, makeUserFolder, removeEntry, writeFile } from "../artifact/inside.ts";
import { BUNDLED_DATASETS, isBundledDatasetPresent } from "../artifact/bundled.ts";
import { ownExecutable, programForm, RUN_FLAG } from "../artifact/program.ts";
import { messageOf } from "../contract/error.ts";
import type { JsonObject } from "../contract/value.ts";
import { nativeExtension } from "../numeric/native/extension.ts";
import { canRestrictWorkers, ISOLATION_HINT } from "../contract/isolation.ts";
import { networkFileSystem } from "./file_system.ts";
import { version } from "./version.ts";
import { memoryReserve } from "./resources.ts";
import type { Workspace } from "./workspace.ts";

/** A check. A warning concerns a part that most work does not need. */
export interface Check extends JsonObject {
  id: string;
  status: "passed" | "warning" | "failed";
  detail: string;
  /** Null when nothing has to be done. */
  hint: string | null;
}

export interface Diagnosis {
  schema_version: 1;
  status: Check["status"];
  version: string;
  checks: Check[];
}

/** The supported version of Deno. */
const WANTED_DENO = [2, 9] as const;
const GIB = 2 ** 30;

/** Starts a process as for an adapter. @returns its launcher, and the reasons why stronger ones are not used */
export type LauncherProbe = () => Promise<{ launcher: string; failures: string[] }>;

/** Checks the runtime, permissions, folders, free memory and optional parts. */
export async function diagnose(workspace: Workspace, probe: LauncherProbe): Promise<Diagnosis> {
  const checks = [
    runtime(),
    ...permissions(workspace),
    projectRoot(workspace),
    stateDirectory(workspace),
    await index(workspace),
    await sandbox(),
    await ownProcess(probe),
    memory(),
    native(),
    ...datasets(workspace),
  ];
  const worst = ["failed", "warning", "passed"] as const;
  const status = worst.find((wanted) => checks.some((check) => check.status === wanted))!;
  return { schema_version: 1, status, version, checks };
}

const passed = (id: string, detail: string): Check => ({ id, status: "passed", detail, hint: null });
const warning = (id: string, detail: string, hint: string | null): Check => ({ id, status: "warning", detail, hint });
const failed = (id: string, detail: string, hint: string | null): Check => ({ id, status: "failed", detail, hint });

function runtime(): Check {
  const { deno, v8 } = Deno.version;
  const [major, minor] = deno.split(".").map(Number);
  const [wantedMajor, wantedMinor] = WANTED_DENO;
  const detail = `Deno ${deno}, V8 ${v8}, ${Deno.build.os} ${Deno.build.arch}`;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return passed("runtime", detail);
  return failed("runtime", detail, `Use Deno ${WANTED_DENO.join(".")} or later`);
}

function permissions({ projectRoot, stateDir }: Workspace): Check[] {
  const state = (descriptor: Deno.PermissionDescriptor) => Deno.permissions.querySync(descriptor).state === "granted";
  const checks: [string, Deno.PermissionDescriptor, boolean, string][] = [
    ["permission_read_project", { name: "read", path: projectRoot }, true, `--allow-read=${projectRoot}`],
    ["permission_write_state", { name: "write", path: stateDir }, true, `--allow-write=${stateDir}`],
    ["permission_sys", { name: "sys" }, false, "--allow-sys"],
    ["permission_ffi", { name: "ffi" }, false, "--allow-ffi"],
  ];
  return checks.map(([id, descriptor, needed, flag]) => {
    if (state(descriptor)) return passed(id, "granted");
    return (needed ? failed : warning)(id, "not granted", `Start the program with ${flag}`);
  });
}

function projectRoot({ projectRoot }: Workspace): Check {
  const recipes = join(projectRoot, "recipes");
  try {
    if (Deno.statSync(recipes).isDirectory) return passed("project_root", projectRoot);
  } catch {
    // The project has no recipes folder, or it is not readable.
  }
  return warning(
    "project_root",
    `${projectRoot} has no recipes/`,
    "Set --project-root, or create the folder",
  );
}

function stateDirectory({ stateDir }: Workspace): Check {
  const probe = inside(stateDir, `.doctor-${crypto.randomUUID()}`);
  try {
    makeUserFolder(stateDir);
    writeFile(probe, "");
    removeEntry(probe);
    const network = networkFileSystem(stateDir);
    if (network === null) return passed("state_directory", stateDir);
    return warning(
      "state_directory",
      `${stateDir} is on ${network}: each host has an index and locks of its own there, and the index is slower`,
      "For many runs give each host a state directory on its own disk (--workspace), and merge: svc benchmark shard, " +
        "svc benchmark merge",
    );
  } catch (error) {
    return failed(
      "state_directory",
      `${stateDir} cannot be written: ${messageOf(error)}`,
      "Check its permissions, or set another with --workspace",
    );
  }
}

async function index(workspace: Workspace): Promise<Check> {
  try {
    const { damageOf } = await import("./index/database.ts");
    const damage = damageOf(workspace);
    if (damage === null) return passed("index", "no damage found");
    return failed("index", `the index is damaged: ${damage}`, "Run svc index rebuild");
  } catch (error) {
    return failed("index", messageOf(error), "Check the file and its permissions");
  }
}

/** Networks run in workers without permissions, which need a flag of the runtime. */
async function sandbox(): Promise<Check> {
  if (await canRestrictWorkers()) return passed("sandbox", "workers with restricted permissions are available");
  return warning("sandbox", "workers cannot be started with fewer permissions", ISOLATION_HINT);
}

/** Each step of an adapter runs in a process of this program. */
async function ownProcess(probe: LauncherProbe): Promise<Check> {
  const id = "adapter_process", withLimits = `Start the program with ${RUN_FLAG},sh`;
  if (ownExecutable() === null) {
    return warning(id, "this program may not start its own executable, so it refuses adapters", withLimits);
  }
  try {
    const { launcher, failures } = await probe();
    const limits = launcher === "plain" ? "without limits of the operating system" : "with limits by sh";
    const confined = launcher === "bwrap" || launcher === "setpriv" ? ` and ${launcher}` : "";
    const detail = ["processes of adapters start " + limits + confined, ...failures].join("; ");
    if (launcher === "bwrap" || Deno.build.os === "windows") return passed(id, detail);
    if (launcher === "plain") return warning(id, detail, withLimits);
    return Deno.build.os === "linux" ? warning(id, detail, BWRAP_HINT) : passed(id, detail);
  } catch (error) {
    return warning(id, `no process of an adapter starts: ${messageOf(error)}`, withLimits);
  }
}

const BWRAP_HINT = "Install bubblewrap, and allow user namespaces";

function memory(): Check {
  try {
    const { total, available } = Deno.systemMemoryInfo();
    const reserve = memoryReserve(total);
    const detail = `${(available / GIB).toFixed(1)} of ${(total / GIB).toFixed(1)} GiB available`;
    if (available > reserve) return passed("memory", detail);
    return warning("memory", detail, `Jobs of the server are stopped below ${(reserve / GIB).toFixed(1)} GiB`);
  } catch {
    return warning(
      "memory",
      "memory cannot be read",
      "Start the program with --allow-sys; without it jobs have no memory guard",
    );
  }
}

function native(): Check {
  const { available, path, reason, hint } = nativeExtension();
  if (available) return passed("native_extension", String(path));
  const packaged = "Only a checkout of svc can build it; results are the same without it";
  return warning("native_extension", `not used: ${reason}`, programForm() === "folder" ? hint : packaged);
}

function datasets({ stateDir }: Workspace): Check[] {
  return Object.keys(BUNDLED_DATASETS).map((id) => {
    if (isBundledDatasetPresent(id, { stateDir })) return passed(`dataset_${id}`, "present");
    return warning(`dataset_${id}`, "not fetched", `Run svc data fetch ${id}`);
  });
}
