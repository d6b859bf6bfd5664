/** The Python for tests of adapters: one that has NumPy, under a sandbox that works here. */
import { bubblewrapFailure } from "../../lib/adapter/process/child.ts";
import { needs } from "./needs.ts";

async function answers(program: string, code: string): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(program, { args: ["-c", code], stdout: "null", stderr: "null" })
      .output();
    return success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Name or path of an interpreter that can import modules, or null where there is none. */
export async function pythonWith(...modules: string[]): Promise<string | null> {
  const home = Deno.env.get("HOME"), named = Deno.env.get("SVC_PYTHON");
  const venv = Deno.env.get("SVC_TORCH_PYTHON") ?? `${home}/.cache/svc-torch/bin/python`;
  for (const python of [...(named === undefined ? [] : [named]), "python3", "/usr/bin/python3", venv]) {
    if (await answers(python, `import ${modules.join(", ")}`)) return await pathOf(python);
  }
  return null;
}

/** The interpreter behind a name. */
async function pathOf(python: string): Promise<string> {
  const { stdout } = await new Deno.Command(python, { args: ["-c", "import sys; print(sys.executable)"] }).output();
  return new TextDecoder().decode(stdout).trim();
}

/** Options of a test that runs a Python adapter in its sandbox. */
export const needsPython = (python: string | null, what = "NumPy") =>
  needs(`bubblewrap that works, and a Python with ${what}`, bubblewrapFailure() === null ? python : null);
