/** Opens, runs and releases 100 models and prints by how many megabytes the process grew over the last 80. */
import assert from "node:assert/strict";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { closeOnnxSessions, openOnnxSession } from "../../../lib/onnx/session.ts";
import { linearModel } from "../../support/onnx_graphs.ts";

// 4 MB of weights. One of them changes from cycle to cycle, so that no model is found in the cache.
const columns = 1024;
const model = linearModel(Array(columns * columns).fill(1), columns);
const first = weightsOffset(model, 4 * columns * columns);

async function cycle(index: number): Promise<void> {
  new DataView(model.buffer).setFloat32(first, index, true);
  const session = await openOnnxSession(model);
  const { y } = await session.run({ x: ndarray("float32", new Float32Array(columns).fill(1), [1, columns]) });
  assert.equal(y.data[0], columns - 1 + index);
  await session.release();
}

/** Where the one large run of data of a model begins: its first weight is 1, as are all others. */
function weightsOffset(bytes: Uint8Array<ArrayBuffer>, size: number): number {
  const view = new DataView(bytes.buffer);
  for (let at = 0; at + size <= bytes.length; at++) {
    if (view.getFloat32(at, true) === 1 && view.getFloat32(at + size - 4, true) === 1) return at;
  }
  throw new RangeError("No weights are in the model");
}

for (let i = 0; i < 20; i++) await cycle(i);
const before = Deno.memoryUsage().rss;
for (let i = 20; i < 100; i++) await cycle(i);
console.log((Deno.memoryUsage().rss - before) / 2 ** 20);
await closeOnnxSessions();
