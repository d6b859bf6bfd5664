import assert from "node:assert/strict";
import { type NdArray, ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { chunked } from "../../../lib/onnx/chunked.ts";
import { closeOnnxSessions, openOnnxSession } from "../../../lib/onnx/session.ts";
import { linearModel } from "../../support/onnx_graphs.ts";

/** Doubles x row by row and remembers how many rows came at a time. */
function doubling() {
  const seen: number[] = [];
  const infer = ({ x, offset }: Record<string, NdArray>) => {
    seen.push(x.shape[0]);
    const add = offset ? (offset.data[0] as number) : 0;
    const y = Float32Array.from(x.data as Float32Array, (value) => 2 * value + add);
    return Promise.resolve({ y: ndarray("float32", y, x.shape) });
  };
  return { seen, infer };
}

const x = ndarray("float32", Float32Array.from({ length: 14 }, (_, i) => i), [7, 2]);
const doubled = ndarray("float32", Float32Array.from({ length: 14 }, (_, i) => 2 * i), [7, 2]);

Deno.test("rows keep their order whatever the chunk", async () => {
  for (const [rows, calls] of [[1, [1, 1, 1, 1, 1, 1, 1]], [3, [3, 3, 1]], [7, [7]], [100, [7]]] as const) {
    const { seen, infer } = doubling();
    assert.deepEqual((await chunked(infer, { x }, { rows })).y, doubled);
    assert.deepEqual(seen, calls);
  }
});

Deno.test("inputs without a batch go along with every chunk", async () => {
  const { infer } = doubling();
  const offset = ndarray("float32", Float32Array.of(1));
  const { y } = await chunked(infer, { x, offset }, { rows: 2, whole: ["offset"] });
  assert.deepEqual([...y.data], [...doubled.data].map((value) => Number(value) + 1));
});

Deno.test("an empty batch gives an empty result", async () => {
  const { infer } = doubling();
  const { y } = await chunked(infer, { x: ndarray("float32", new Float32Array(0), [0, 2]) }, { rows: 4 });
  assert.deepEqual(y.shape, [0, 2]);
});

Deno.test("inputs of different lengths and outputs without a row each are refused", async () => {
  const { infer } = doubling();
  const short = ndarray("float32", new Float32Array(2), [1, 2]);
  await assert.rejects(chunked(infer, { x, short }, { rows: 2 }), RangeError);
  const scalar = () => Promise.resolve({ y: ndarray("float32", Float32Array.of(1), []) });
  await assert.rejects(chunked(scalar, { x }, { rows: 2 }), /no rows for 2 rows/);
});

Deno.test("a graph that works row by row gives the same bits for every chunk size", async () => {
  const columns = 16;
  const weights = [...Generator.seeded(3n).standardNormal(columns * 5)];
  const session = await openOnnxSession(linearModel(weights, columns));
  const values = Float32Array.from(Generator.seeded(4n).standardNormal(1000 * columns));
  const feeds = { x: ndarray("float32", values, [1000, columns]) };
  const whole = await chunked(session.run, feeds, { rows: 1000 });
  for (const rows of [1, 7, 64, 999]) assert.deepEqual(await chunked(session.run, feeds, { rows }), whole);
  await session.release();
  await closeOnnxSessions();
});
