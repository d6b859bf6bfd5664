import assert from "node:assert/strict";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { type Dtype, type NdArray, ndarray, type TypedData } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { closeOnnxSessions, openOnnxSession } from "../../../lib/onnx/session.ts";
import { identityModel, linearModel, perceptron } from "../../support/onnx_graphs.ts";
import { onnxModel } from "../../support/onnx_writer.ts";

/** A test that ends the sandbox it started. */
function sandboxed(name: string, body: (t: Deno.TestContext) => Promise<void>): void {
  Deno.test(name, async (t) => {
    try {
      await body(t);
    } finally {
      await closeOnnxSessions();
    }
  });
}

const rows = (values: number[], columns: number) =>
  ndarray("float32", Float32Array.from(values), [values.length / columns, columns]);

sandboxed("a session computes and says what it takes", async () => {
  const model = linearModel([2, 0, 0, 3], 2);
  const session = await openOnnxSession(model, { sha256: sha256Hex(model) });
  assert.deepEqual(session.inputs, [{ name: "x", dtype: "float32", shape: ["n", 2] }]);
  assert.deepEqual(session.outputs, [{ name: "y", dtype: "float32", shape: ["n", 2] }]);
  const { y } = await session.run({ x: rows([1, 2, 3, 4], 2) });
  assert.deepEqual(y, rows([2, 6, 6, 12], 2));
  await session.release();
  await assert.rejects(session.run({ x: rows([1, 2], 2) }), TypeError);
});

sandboxed("arrays of every size go in and come out whole, and the caller keeps its own", async () => {
  const session = await openOnnxSession(linearModel([2], 1));
  for (const count of [1, 8191, 8192, 8193, 100_000]) {
    const values = Float32Array.from({ length: count }, (_, n) => n);
    const { y } = await session.run({ x: ndarray("float32", values, [count, 1]) });
    assert.deepEqual(y.shape, [count, 1]);
    assert.ok(y.data.every((value, n) => value === 2 * n), String(count));
    assert.equal(values.length, count);
  }
  await session.release();
});

sandboxed("every type goes in and comes out as it is", async () => {
  const values: [Dtype, TypedData][] = [
    ["float32", Float32Array.of(1.5, -0, 3e38, 1e-45)],
    ["float64", Float64Array.of(0.1, -0, 1e308, 5e-324)],
    ["float16", Float16Array.of(0.1, -0, 65504, 6e-8)],
    ["int8", Int8Array.of(-128, 127)],
    ["int16", Int16Array.of(-32768, 32767)],
    ["int32", Int32Array.of(-2147483648, 2147483647)],
    ["int64", BigInt64Array.of(-9223372036854775808n, 9007199254740993n)],
    ["uint8", Uint8Array.of(0, 255)],
    ["uint16", Uint16Array.of(65535)],
    ["uint32", Uint32Array.of(4294967295)],
    ["uint64", BigUint64Array.of(18446744073709551615n)],
    ["bool", Uint8Array.of(0, 1, 1)],
  ];
  for (const [dtype, data] of values) {
    const session = await openOnnxSession(identityModel(dtype));
    const { y } = await session.run({ x: ndarray(dtype, data) });
    assert.equal(y.data.constructor, data.constructor, dtype);
    assert.deepEqual(y, ndarray(dtype, data), dtype);
    await session.release();
  }
});

sandboxed("a part of a larger array, or of shared memory, is fed as it stands, and stays its owner's", async () => {
  const session = await openOnnxSession(identityModel("float32"));
  const large = Float32Array.from({ length: 100 }, (_, i) => i);
  const part = ndarray("float32", large.subarray(10, 13));
  assert.deepEqual((await session.run({ x: part })).y, ndarray("float32", Float32Array.of(10, 11, 12)));
  assert.equal(large[99], 99);
  const shared = new Float32Array(new SharedArrayBuffer(8));
  shared.set([7, 8]);
  assert.deepEqual((await session.run({ x: ndarray("float32", shared) })).y.data, Float32Array.of(7, 8));
  await session.release();
});

sandboxed("the same inputs give the same bits, in a new sandbox too", async () => {
  const x = ndarray("float32", Float32Array.from(Generator.seeded(9n).standardNormal(24 * 333)), [333, 24]);
  const answers: NdArray[] = [];
  for (let round = 0; round < 2; round++) {
    const session = await openOnnxSession(perceptron([24, 48, 3]));
    answers.push((await session.run({ x })).y, (await session.run({ x })).y);
    await session.release();
    await closeOnnxSessions();
  }
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
});

sandboxed("all that does not fit a graph is said at once", async () => {
  const session = await openOnnxSession(onnxModel({
    nodes: [{ op: "Add", inputs: ["a", "b"], outputs: ["y"] }],
    inputs: [{ name: "a", shape: ["n", 2] }, { name: "b", shape: ["n", 2] }],
    outputs: [{ name: "y", shape: ["n", 2] }],
  }));
  await assert.rejects(session.run({ a: ndarray("float64", new Float64Array(2), [1, 2]), c: rows([1], 1) }), {
    code: "artifact_abi_mismatch",
    message: "Cannot feed the model: a is float64 and should be float32; b is missing; it has no input c",
  });
  await assert.rejects(session.run({ a: rows([1, 2], 2), b: rows([1, 2, 3], 3) }), {
    message: "Cannot feed the model: b has the shape [1,3] and should have [n,2]",
  });
  await assert.rejects(session.run({ a: rows([1, 2], 2), b: rows([1, 2, 3, 4], 2) }), {
    message: "Cannot feed the model: b has the shape [2,2] and should have [n,2], where n is 1",
  });
  await session.release();
});

sandboxed("bytes that are no model, another digest, and an operator nobody has are refused", async () => {
  await assert.rejects(openOnnxSession(Uint8Array.of(1, 2, 3)), { code: "runtime_unavailable" });
  await assert.rejects(openOnnxSession(linearModel([1], 1), { sha256: "0".repeat(64) }), {
    code: "artifact_hash_mismatch",
  });
  const foreign = onnxModel({
    nodes: [{ op: "Nothing", inputs: ["x"], outputs: ["y"] }],
    inputs: [{ name: "x", shape: [1] }],
    outputs: [{ name: "y", shape: [1] }],
  });
  await assert.rejects(openOnnxSession(foreign), { code: "runtime_unavailable", message: /Nothing/ });
  // The sandbox serves on.
  const session = await openOnnxSession(linearModel([2], 1));
  assert.deepEqual((await session.run({ x: rows([4], 1) })).y.data, Float32Array.of(8));
  await session.release();
});

sandboxed("a failure while running is an error in the words of the runtime", async () => {
  const model = onnxModel({
    nodes: [{ op: "Reshape", inputs: ["x", "shape"], outputs: ["y"] }],
    inputs: [{ name: "x", shape: ["n"] }],
    outputs: [{ name: "y", shape: [3] }],
    initializers: [{ name: "shape", data: BigInt64Array.of(3n), shape: [1] }],
  });
  const session = await openOnnxSession(model);
  await assert.rejects(session.run({ x: ndarray("float32", new Float32Array(2)) }), {
    code: "operation_failed",
    message: /^Cannot run the model: .*Reshape/,
  });
  assert.equal((await session.run({ x: ndarray("float32", new Float32Array(3)) })).y.data.length, 3);
  await session.release();
});

sandboxed("a session is loaded once for all holders of one owner", async () => {
  const model = linearModel([2], 1), owner = {};
  const [one, two] = await Promise.all([openOnnxSession(model, { owner }), openOnnxSession(model, { owner })]);
  await one.release();
  await one.release();
  assert.deepEqual((await two.run({ x: rows([4], 1) })).y.data, Float32Array.of(8));
  await two.release();
});

/** A loop that takes minutes: matrix products, many times over. */
function endless(): Uint8Array {
  const size = 256, nodes = [];
  for (let i = 0; i < 400; i++) nodes.push({ op: "MatMul", inputs: [`v${i}`, "w"], outputs: [`v${i + 1}`] });
  return onnxModel({
    nodes,
    inputs: [{ name: "v0", shape: ["n", size] }],
    outputs: [{ name: `v${nodes.length}`, shape: ["n", size] }],
    initializers: [{ name: "w", data: new Float32Array(size * size).fill(1 / size), shape: [size, size] }],
  });
}

sandboxed("a cancelled run is stopped where it is, and the next one starts afresh", async () => {
  const session = await openOnnxSession(endless());
  let asked = false;
  const cancellation = {
    get isCancelled() {
      return asked;
    },
    throwIfCancelled() {},
  };
  const run = session.run({ v0: ndarray("float32", new Float32Array(16384 * 256), [16384, 256]) }, { cancellation });
  asked = true;
  await assert.rejects(run, { code: "operation_canceled" });
  await assert.rejects(session.run({ v0: ndarray("float32", new Float32Array(256), [1, 256]) }), {
    code: "operation_canceled",
  });
  await session.release();
  const next = await openOnnxSession(linearModel([2], 1));
  assert.deepEqual((await next.run({ x: rows([4], 1) })).y.data, Float32Array.of(8));
  await next.release();
});

Deno.test("100 sessions opened, run and released leave no memory behind", async () => {
  // In a process of its own: other tests use memory at the same time.
  const script = new URL("./memory_case.ts", import.meta.url).pathname;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: ["run", "-A", script] }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  const grown = Number(new TextDecoder().decode(stdout));
  // Kept, the 80 models would hold 320 MB and as much again in copies of the runtime's own.
  assert.ok(grown < 250, `${grown.toFixed(0)} MB were left`);
});
