/** The Python that has PyTorch, for tests of training exports. */
import { join } from "node:path";
import { LineHost } from "./line_host.ts";
import { needs } from "./needs.ts";
import { ROOT_PATH } from "./paths.ts";
import { withModules } from "./python.ts";

/** Options of a test that needs it. */
export const needsTorch = (python: string | null) =>
  needs("a Python with torch, numpy and onnx (SVC_TORCH_PYTHON)", python);

/** Path of the interpreter, or null where there is none. */
export async function torchPython(): Promise<string | null> {
  const [first, venv] = [
    Deno.env.get("SVC_TORCH_PYTHON") ?? "python3",
    `${Deno.env.get("HOME")}/.cache/svc-torch/bin/python`,
  ];
  return await withModules(first, "torch", "numpy") ?? await withModules(venv, "torch", "numpy");
}

interface PythonResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Python programs that start with PyTorch loaded, one after another on one thread; `end` ends what loaded it. */
export function torchPrograms(python: string) {
  const host = new LineHost<{ cwd: string; args: string[] }, PythonResult>(python, {
    args: [join(ROOT_PATH, "tests/support/torch_host.py")],
    env: { OMP_NUM_THREADS: "1" },
  });
  return {
    async run(cwd: string, args: string[]): Promise<PythonResult> {
      const result = await host.ask({ cwd, args });
      if (result === null) throw new Error(`Python ended before ${args[0]}`);
      return result;
    },
    end: () => host.end(),
  };
}
