/** The shipped models: each ONNX file computes what the PyTorch model computed, and all of them are small. */
import assert from "node:assert/strict";
import { closeOnnxSessions } from "../../lib/onnx/session.ts";
import { assertGivesStoredAnswer } from "../support/stored_reference.ts";

const MODELS = new URL("../../recipes/models/", import.meta.url);
const ADAPTERS = new URL("../../adapters/", import.meta.url);

/** Component, and the stored answer beside its training script. */
const STORED: readonly [root: URL, model: string, reference: string][] = [
  [MODELS, "qpsk-iq-receiver-v1/receiver.onnx", "qpsk-iq-receiver-v1/training/reference.json"],
  [ADAPTERS, "text_classifier/models/classifier.onnx", "text_classifier/training/reference.json"],
];

for (const [root, model, reference] of STORED) {
  Deno.test(`${model} gives the stored PyTorch answer`, async () => {
    await assertGivesStoredAnswer(new URL(model, root), new URL(reference, root));
    await closeOnnxSessions();
  });
}

Deno.test("slot artifacts stay below 200 kB and everything below 8 MiB together", async () => {
  let total = 0;
  for await (const { path, size } of filesOf(MODELS)) {
    total += size;
    if (/\/qpsk-[^/]+\/[^/]+\.onnx$/.test(path)) assert.ok(size < 200_000, `${path} has ${size} bytes`);
    if (path.endsWith(".onnx")) assert.ok(size < 2 * 2 ** 20, `${path} has ${size} bytes`);
  }
  assert.ok(total < 8 * 2 ** 20, `${total} bytes`);
});

async function* filesOf(folder: URL): AsyncGenerator<{ path: string; size: number }> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = new URL(isDirectory ? `${name}/` : name, folder);
    if (isDirectory) yield* filesOf(path);
    else yield { path: path.pathname, size: (await Deno.stat(path)).size };
  }
}
