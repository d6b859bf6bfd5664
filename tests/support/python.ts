/** Interpreters of Python with modules, and the one for tests of adapters, under a sandbox that works here. */
import { bubblewrapFailure } from "../../lib/adapter/process/child.ts";
import { needs } from "./needs.ts";

/** Prints the path of the interpreter that has all modules, which are not imported: that takes seconds of processor time. */
const FINDS = `import sys
from importlib.util import find_spec
print(sys.executable if all(map(find_spec, sys.argv[1:])) else "")`;

/** Path of an interpreter that has modules, by its name or path, or null. */
export async function withModules(python: string, ...modules: string[]): Promise<string | null> {
  try {
    const { stdout } = await new Deno.Command(python, { args: ["-c", FINDS, ...modules], stderr: "null" }).output();
    return new TextDecoder().decode(stdout).trim() || null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Path of an interpreter that has modules, or null where there is none. */
export async function pythonWith(...modules: string[]): Promise<string | null> {
  const home = Deno.env.get("HOME"), named = Deno.env.get("SVC_PYTHON");
  const venv = Deno.env.get("SVC_TORCH_PYTHON") ?? `${home}/.cache/svc-torch/bin/python`;
  for (const python of [...(named === undefined ? [] : [named]), "python3", "/usr/bin/python3", venv]) {
    const found = await withModules(python, ...modules);
    if (found !== null) return found;
  }
  return null;
}

/** Options of a test that runs a Python adapter in its sandbox. */
export const needsPython = (python: string | null, what = "NumPy") =>
  needs(`bubblewrap that works, and a Python with ${what}`, bubblewrapFailure() === null ? python : null);
