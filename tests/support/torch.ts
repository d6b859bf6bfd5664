/** The Python that has PyTorch, for tests of training exports. */
import { needs } from "./needs.ts";

/** Options of a test that needs it. */
export const needsTorch = (python: string | null) =>
  needs("a Python with torch, numpy and onnx (SVC_TORCH_PYTHON)", python);

/** Path of the interpreter, or null where there is none. */
export async function torchPython(): Promise<string | null> {
  const named = Deno.env.get("SVC_TORCH_PYTHON");
  for (const python of [named ?? "python3", `${Deno.env.get("HOME")}/.cache/svc-torch/bin/python`]) {
    try {
      const { success } = await new Deno.Command(python, {
        args: ["-c", "import torch, numpy"],
        stdout: "null",
        stderr: "null",
      }).output();
      if (success) return python;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return null;
}
