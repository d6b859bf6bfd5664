import assert from "node:assert/strict";
import { SvcError } from "../../../lib/contract/error.ts";
import { readOnnxGraph } from "../../../lib/onnx/graph.ts";
import { onnxProblems } from "../../../lib/onnx/safety.ts";
import {
  bytesOf,
  field,
  graph,
  integerField,
  onnxModel,
  scalingModel,
  tensor,
  varint,
} from "../../support/onnx_writer.ts";
import { damage, seeded } from "../artifact/_fuzz.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const floats = (count: number) => new Float32Array(count);
const unsafe = { code: "artifact_onnx_unsafe" };
const reasons = (model: Uint8Array) => onnxProblems(readOnnxGraph(model), ["components", 0], "model.onnx");

Deno.test("the facts of a model are read", () => {
  const facts = readOnnxGraph(scalingModel(["batch", 2, null], 3));
  assert.deepEqual(facts, DATA.CASES);
});

Deno.test("what the exporter wrote beside the graph is read by its keys", () => {
  const entry = (key: string, value: string) => field(14, bytesOf(field(1, key), field(2, value)));
  const model = bytesOf(
    onnxModel({ nodes: [], inputs: [], outputs: [] }),
    entry("names", "{0: 'cat'}"),
    entry("task", ""),
  );
  assert.deepEqual(readOnnxGraph(model).metadata, { names: "{0: 'cat'}", task: "" });
});

Deno.test("an input with an initialiser need not be given", () => {
  const model = onnxModel({
    inputs: [{ name: "x", shape: [1] }, { name: "w", shape: [2, 3] }],
    initializers: [{ name: "w", shape: [2, 3], data: floats(6) }],
  });
  const { inputs, parameterCount } = readOnnxGraph(model);
  assert.deepEqual([inputs.map(({ name }) => name), parameterCount], [["x"], 6]);
});

Deno.test("types, open ranks and negative sizes are read as what they are", () => {
  const sequence = bytesOf(field(1, "s"), field(2, field(4, new Uint8Array(0))));
  const model = onnxModel({
    inputs: [{ name: "rankless", type: 10 }, { name: "open", type: 7, shape: [-1] }, {
      name: "odd",
      type: 99,
      shape: [],
    }],
  });
  const extra = bytesOf(integerField(1, 8), field(7, field(11, sequence)));
  assert.deepEqual(readOnnxGraph(model).inputs, [
    { name: "rankless", dtype: "float16", shape: null },
    { name: "open", dtype: "int64", shape: [null] },
    { name: "odd", dtype: "unknown", shape: [] },
  ]);
  assert.deepEqual(readOnnxGraph(extra).inputs, [{ name: "s", dtype: "sequence", shape: null }]);
});

Deno.test("nodes of subgraphs, functions and training graphs count", () => {
  const branch = graph({
    nodes: [{ op: "Relu" }, { op: "If", attributes: { then_branch: graph({ nodes: [{ op: "Neg" }] }) } }],
  });
  const body = field(7, bytesOf(field(4, "Abs")));
  const model = onnxModel({
    nodes: [{ op: "If", attributes: { then_branch: branch, else_branch: branch } }],
    extra: bytesOf(field(25, bytesOf(field(10, "mine"), body)), field(20, field(2, graph({ nodes: [{ op: "Sin" }] })))),
  });
  const facts = readOnnxGraph(model);
  assert.deepEqual(facts.operators, { Abs: 1, If: 3, Neg: 2, Relu: 2, Sin: 1 });
  assert.deepEqual([facts.nodeCount, facts.functionCount, facts.domains], [9, 1, ["", "mine"]]);
  assert.throws(() => readOnnxGraph(model, "m", { maxNodes: 8 }), { code: "artifact_limit_exceeded" });
});

Deno.test("data in another file are found wherever a tensor may stand", () => {
  const away = { name: "w", shape: [1], data: floats(1), external: "../weights.bin" };
  const sparse = field(15, bytesOf(field(1, tensor(away)), field(2, tensor({ ...away, name: "i" }))));
  const places: [string, Uint8Array][] = [
    ["initialiser", onnxModel({ initializers: [away] })],
    ["attribute", onnxModel({ nodes: [{ op: "Constant", attributes: { value: away } }] })],
    [
      "subgraph",
      onnxModel({ nodes: [{ op: "If", attributes: { then_branch: graph({ initializers: [away] }) } }] }),
    ],
    ["sparse initialiser", bytesOf(integerField(1, 8), field(7, sparse))],
    // A location without the flag, and the flag without a location.
    ["no flag", bytesOf(integerField(1, 8), field(7, field(5, field(13, field(1, "location")))))],
    ["no location", bytesOf(integerField(1, 8), field(7, field(5, integerField(14, 1))))],
  ];
  for (const [place, model] of places) {
    assert.deepEqual(reasons(model).map(({ code, path }) => [code, path]), [
      ["artifact_onnx_unsafe", "$.components[0]"],
    ], place);
  }
  assert.match(reasons(places[3][1])[0].message, /w and 1 more/);
});

Deno.test("operators outside the standard are refused, whoever names them", () => {
  const models = [
    onnxModel({ nodes: [{ op: "Gelu", domain: "com.microsoft" }] }),
    onnxModel({ imports: { "com.microsoft": 1 } }),
    onnxModel({ nodes: [{ op: "If", attributes: { t: graph({ nodes: [{ op: "Evil", domain: "x" }] }) } }] }),
    onnxModel({ extra: field(25, bytesOf(field(1, "f"), field(10, "mine"))) }),
    onnxModel({ extra: field(25, field(1, "f")) }),
  ];
  for (const model of models) assert.deepEqual(reasons(model).map(({ code }) => code), ["artifact_onnx_unsafe"]);
  const standard = onnxModel({ nodes: [{ op: "Relu", domain: "ai.onnx" }], imports: { "ai.onnx.ml": 3 } });
  assert.deepEqual(reasons(standard), []);
});

Deno.test("bytes that are no model are refused", () => {
  const nested = (levels: number) => {
    const whole = Array.from({ length: levels }).reduce<Uint8Array>(
      (inner) => graph({ nodes: [{ op: "If", attributes: { then_branch: inner } }] }),
      graph({}),
    );
    return bytesOf(integerField(1, 8), field(7, whole));
  };
  assert.equal(readOnnxGraph(nested(32)).nodeCount, 32);
  const hostile: Record<string, Uint8Array> = {
    empty: new Uint8Array(0),
    "no graph": integerField(1, 8),
    "no IR version": field(7, graph({})),
    "IR version out of range": bytesOf(integerField(1, -1), field(7, graph({}))),
    "two graphs": bytesOf(integerField(1, 8), field(7, graph({})), field(7, graph({}))),
    "field number zero": new Uint8Array([0, 0]),
    group: new Uint8Array([0x0b, 0x0c]),
    "endless varint": new Uint8Array(12).fill(0xff),
    "length beyond the end": bytesOf(varint(7 * 8 + 2), varint(2n ** 63n)),
    "graph as a number": bytesOf(integerField(1, 8), integerField(7, 1)),
    "version as a text": field(1, "8"),
    "text that is no UTF-8": bytesOf(integerField(1, 8), field(2, new Uint8Array([0xff]))),
    "deep nesting": nested(33),
    "runtime format": bytesOf(integerField(1, 8), field(2, "ORTM".padEnd(64)), field(7, graph({}))),
    html: new TextEncoder().encode("<!doctype html><title>404</title>"),
  };
  for (const [name, bytes] of Object.entries(hostile)) assert.throws(() => readOnnxGraph(bytes), unsafe, name);
  const many = bytesOf(integerField(1, 8), field(7, new Uint8Array(400_004).map((_, i) => (i % 2 ? 0 : 11 * 8 + 2))));
  assert.throws(() => readOnnxGraph(many), { code: "artifact_onnx_unsafe", message: /more than 100000 inputs/ });
});

Deno.test("sizes that no file can hold leave the count a number", () => {
  const dims = bytesOf(integerField(1, 2n ** 62n), integerField(1, 2n ** 62n), integerField(1, 2n ** 62n));
  const packed = field(1, bytesOf(varint(2n ** 63n), varint(0)));
  const model = bytesOf(integerField(1, 8), field(7, bytesOf(field(5, dims), field(5, packed))));
  assert.equal(readOnnxGraph(model).parameterCount, Number.MAX_SAFE_INTEGER);
});

Deno.test("a model in shared memory is read like any other", () => {
  const model = scalingModel([2]);
  const shared = new Uint8Array(new SharedArrayBuffer(model.length));
  shared.set(model);
  assert.deepEqual(readOnnxGraph(shared), readOnnxGraph(model));
});

Deno.test("a model that is cut short anywhere is refused or read, never more", () => {
  const model = onnxModel({
    nodes: [{ op: "If", attributes: { then_branch: graph({ nodes: [{ op: "Relu" }] }), axes: [1, 2] } }],
    initializers: [{ name: "w", shape: [2, 2], data: floats(4) }],
    inputs: [{ name: "x", shape: ["n", 2] }],
    outputs: [{ name: "y", shape: ["n", 2] }],
  });
  let refused = 0;
  for (let length = 0; length < model.length; length++) refused += outcome(model.subarray(0, length)) === null ? 1 : 0;
  assert.ok(refused > model.length * 0.9, `${refused} of ${model.length}`);
});

Deno.test("damaged models end in a coded error or in facts", () => {
  const random = seeded(20261);
  const model = bytesOf(onnxModel({
    nodes: [
      { op: "Gemm", inputs: ["x", "w"], outputs: ["h"], attributes: { transB: 1 } },
      { op: "Loop", attributes: { body: graph({ nodes: [{ op: "Add" }], inputs: [{ name: "i", shape: [] }] }) } },
    ],
    initializers: [{ name: "w", shape: [3, 2], data: floats(6) }],
    inputs: [{ name: "x", shape: ["batch", 2] }],
    outputs: [{ name: "h", shape: ["batch", 3] }],
  }));
  const seen = new Set<string>();
  for (let round = 0; round < 20_000; round++) {
    const facts = outcome(damage(model, random));
    seen.add(facts === null ? "refused" : "read");
    if (facts !== null) onnxProblems(facts, [], "model");
  }
  assert.deepEqual([...seen].sort(), ["read", "refused"]);
});

/** Facts, or null for a coded refusal; anything else fails the test. */
function outcome(bytes: Uint8Array) {
  try {
    return readOnnxGraph(bytes);
  } catch (error) {
    assert.ok(error instanceof SvcError && /^artifact_(onnx_unsafe|limit_exceeded)$/.test(error.code), String(error));
    return null;
  }
}
