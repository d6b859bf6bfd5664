/** The receiver that PyTorch runs, beside the same network as ONNX: equal to 1e-5, and both the same in every run. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { decodeArtifact } from "../../lib/artifact/codec.ts";
import { LLR } from "../../lib/contract/kinds.ts";
import { open } from "../../mod.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { needsPython, pythonWith } from "../support/python.ts";
import { sizeOf } from "../support/sample.ts";

const python = await pythonWith("torch", "numpy");

Deno.test({
  name: "a network in PyTorch equals itself as ONNX to 1e-5, and both give the same bytes again",
  ...needsPython(python, "PyTorch"),
  fn: async () => {
    const folder = join(ROOT_PATH, "adapters/torch_receiver"), stateDir = await Deno.makeTempDir();
    try {
      await using svc = await open({ projectRoot: ROOT_PATH, stateDir, python: python!, adapters: [{ folder }] });
      const whole = await Deno.readTextFile(join(folder, "recipe.yaml")), items = sizeOf(8, 64);
      const text = whole.replace("batch_size: 64", `batch_size: ${items}`);
      const runs: Record<string, Uint8Array>[] = [];
      for (let i = 0; i < 2; i++) {
        const { status, directory, summary } = await svc.recipes.run(text.replace(/ {2}matrix:\n(?: {4}.*\n)+/, ""));
        assert.equal(status, "completed", String(summary.error));
        const read = (step: string) => Deno.readFileSync(join(directory, "artifacts", step, "llr.npz"));
        runs.push({ torch: read("torch"), onnx: read("onnx") });
      }
      assert.deepEqual(runs[0], runs[1]);
      const [torch, onnx] = [runs[0].torch, runs[0].onnx].map((bytes) =>
        decodeArtifact(LLR, bytes, true).array().data as Float32Array
      );
      assert.equal(torch.length, 4096 * items);
      const wrong = torch.findIndex((value, i) => Math.abs(value - onnx[i]) > 1e-5 * (1 + Math.abs(onnx[i])));
      assert.equal(wrong, -1, `${torch[wrong]} and ${onnx[wrong]}`);
    } finally {
      await Deno.remove(stateDir, { recursive: true });
    }
  },
});
