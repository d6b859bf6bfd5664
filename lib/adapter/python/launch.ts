/** The process of a Python adapter: how it starts, confined by namespaces and a filter of system calls. */
import type { ChildSpec } from "../process/child.ts";
import type { PermissionSet } from "../manifest_schema.ts";
import { filterOf } from "./seccomp.ts";
import type { PythonRuntime } from "./interpreter.ts";

/** System folders of an interpreter; NumPy finds its linear algebra through the alternatives. */
const SYSTEM = ["/usr", "/etc/alternatives", "/etc/ld.so.cache"];

/** One thread gives the same bits whatever the number of processors; texts hash alike in every process. */
const ENVIRONMENT = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/tmp",
  LANG: "C.UTF-8",
  PYTHONHASHSEED: "0",
  OMP_NUM_THREADS: "1",
  OPENBLAS_NUM_THREADS: "1",
  MKL_NUM_THREADS: "1",
};

/** Program, arguments and surroundings of the child; `-I` would ignore the seed of hashes. */
export async function pythonChild(
  { program, folders, confined }: PythonRuntime,
  { read }: PermissionSet,
): Promise<Pick<ChildSpec, "program" | "permitted" | "args" | "env" | "system" | "read" | "network" | "confined">> {
  const { default: guest } = await import("./guest.py", { with: { type: "text" } });
  return {
    program,
    permitted: program,
    args: ["-s", "-B", "-X", "utf8", "-c", String(guest), confined ? filterOf() : ""],
    env: ENVIRONMENT,
    system: [...SYSTEM, ...folders],
    // A second mount of a system folder would hide what is below it.
    read: read.filter((path) => !SYSTEM.includes(path)),
    network: !confined,
    confined,
  };
}
