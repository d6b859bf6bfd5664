import assert from "node:assert/strict";
import { SvcError } from "../../../lib/contract/error.ts";
import { decodeArtifact, encodeArtifact } from "../../../lib/artifact/codec.ts";
import type { OutputArtifact } from "../../../lib/contract/operation.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { openNpz, writeNpz } from "../../../lib/artifact/npz.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import vectors from "../../data/npy/vectors.json" with { type: "json" };
import { bytesFrom, damage, seeded } from "./_fuzz.ts";

const SYMBOLS = "channel.symbols.complex_numpy", REPORT = "metrics.report";
const code = (expected: string) => (error: unknown) => error instanceof SvcError && error.code === expected;

function symbols(): OutputArtifact {
  return {
    array: ndarray("complex64", new Float32Array([1, -1, 0.5, 2])),
    companions: { noise_variance: ndarray("float64", new Float64Array([0.25]), []) },
    metadata: { snr_db: float(6), boundary_contract: "channel.symbols", label: "é" },
  };
}

function report(metadata: JsonObject = {}): OutputArtifact {
  return {
    json: { kind: "metrics.report", schema_version: 1, operation: "x.y", metrics: { a: float(1), b: 1 } },
    metadata,
  };
}

Deno.test("an NPZ artifact holds its arrays by name and canonical metadata", () => {
  const encoded = encodeArtifact("rx", SYMBOLS, symbols());
  assert.equal(encoded.fileName, "rx.npz");
  assert.ok(encoded.bytes.buffer instanceof SharedArrayBuffer);
  assert.deepEqual([encoded.array, encoded.dtype, encoded.shape], ["rx", "complex64", [2]]);
  const file = openNpz(encoded.bytes);
  assert.deepEqual(file.names, ["metadata_json", "noise_variance", "rx"]);
  assert.equal(
    file.text("metadata_json"),
    '{"array":"rx","boundary_contract":"channel.symbols","dtype":"complex64","label":"é","shape":[2],"snr_db":6.0}',
  );
  assert.deepEqual(encoded.metadata.snr_db, float(6));
});

Deno.test("the bytes of an artifact are those that Python's zipfile and NumPy make of the same contents", () => {
  const { bytes } = encodeArtifact("bits", "channel.bits.numpy", {
    array: ndarray("uint8", new Uint8Array([1, 0, 1, 1])),
    companions: { noise_variance: ndarray("float64", new Float64Array([0.5]), []) },
    metadata: { boundary_contract: "channel.bits", label: "é😀", snr_db: float(6) },
  });
  assert.deepEqual(bytes.slice(), bytesFrom(vectors.artifact));
});

Deno.test("an artifact is read back with the main array first", () => {
  const decoded = decodeArtifact(SYMBOLS, encodeArtifact("rx", SYMBOLS, symbols()).bytes);
  assert.deepEqual(decoded.arrayNames, ["rx", "noise_variance"]);
  assert.deepEqual([...decoded.array().data], [1, -1, 0.5, 2]);
  assert.deepEqual(decoded.array("noise_variance").shape, []);
  assert.equal(decoded.array(), decoded.array("rx"));
  assert.deepEqual(decoded.metadata.snr_db, float(6));
  assert.throws(() => decoded.array("absent"), code("artifact_array_missing"));
  assert.throws(() => decoded.array("metadata_json"), code("artifact_array_missing"));
  assert.throws(() => decoded.json(), SvcError);
});

Deno.test("what an operation alters is named, and what it only reads is not", () => {
  const { bytes } = encodeArtifact("rx", SYMBOLS, symbols());
  const before = bytes.slice();
  const read = decodeArtifact(SYMBOLS, bytes);
  read.array(), read.array("noise_variance"), read.metadata.label;
  assert.equal(read.modified(), null);

  const main = decodeArtifact(SYMBOLS, bytes);
  (main.array().data as Float32Array)[3] = -2;
  assert.equal(main.modified(), "the array rx");
  const companion = decodeArtifact(SYMBOLS, bytes);
  (companion.array("noise_variance").data as Float64Array)[0] = 0;
  assert.equal(companion.modified(), "the array noise_variance");
  for (
    const alter of [
      (metadata: JsonObject) => metadata.label = "e",
      (metadata: JsonObject) => metadata.snr_db = 6,
      (metadata: JsonObject) => delete metadata.label,
      (metadata: JsonObject) => (metadata.shape as number[]).push(1),
      (metadata: JsonObject) => metadata.snr_db = NaN,
    ]
  ) {
    const altered = decodeArtifact(SYMBOLS, bytes);
    alter(altered.metadata);
    assert.equal(altered.modified(), "the metadata", String(alter));
  }
  assert.deepEqual(bytes.slice(), before, "the file itself is never written to");
});

Deno.test("a JSON artifact is canonical JSON and a newline; metadata stand inside, when there are any", () => {
  const text = (output: OutputArtifact) =>
    new TextDecoder().decode(encodeArtifact("report", REPORT, output).bytes.slice());
  const core = '"metrics":{"a":1.0,"b":1},"operation":"x.y","schema_version":1}\n';
  assert.equal(text(report()), `{"kind":"metrics.report",${core}`);
  assert.equal(text(report({ k: [] })), `{"kind":"metrics.report","metadata":{"k":[]},${core}`);
  const encoded = encodeArtifact("report", REPORT, report({ k: 1 }));
  assert.deepEqual([encoded.fileName, encoded.array, encoded.dtype, encoded.shape], ["report.json", null, null, null]);
  const decoded = decodeArtifact(REPORT, encoded.bytes);
  assert.deepEqual(decoded.metadata, { k: 1 });
  assert.deepEqual(Object.keys(decoded.json()).sort(), ["kind", "metrics", "operation", "schema_version"]);
  assert.equal(decoded.modified(), null);
  assert.deepEqual(
    encodeArtifact("report", REPORT, { json: decoded.json(), metadata: decoded.metadata }).bytes,
    encoded.bytes,
  );
  (decoded.json().metrics as JsonObject).a = 1;
  assert.equal(decoded.modified(), "the document");
  assert.throws(() => decoded.array(), code("artifact_array_missing"));
});

Deno.test("an output that is not of its kind is refused", () => {
  const array = ndarray("uint8", new Uint8Array(2));
  const wrong: [string, string, OutputArtifact][] = [
    ["no array", SYMBOLS, { metadata: {} }],
    ["a document in place of an array", SYMBOLS, report()],
    ["both", SYMBOLS, { ...symbols(), ...report() }],
    ["no document", REPORT, {}],
    ["an array in place of a document", REPORT, symbols()],
    ["another kind of document", "text.batch.json", report()],
    ["a reserved name", SYMBOLS, { array, companions: { metadata_json: array } }],
    ["the name of the main array", SYMBOLS, { array, companions: { out: array } }],
    ["no name", SYMBOLS, { array, companions: { "a/b": array } }],
    ["a wrong shape", SYMBOLS, { array: { ...array, shape: [3] } }],
    ["a negative shape", SYMBOLS, { array: { ...array, shape: [-1, -2] } }],
    ["a wrong type", SYMBOLS, { array: { ...array, dtype: "float32" } }],
    ["an unknown type", SYMBOLS, { array: { ...array, dtype: "object" as "uint8" } }],
    ["no data", SYMBOLS, { array: { ...array, data: [1, 2] as never } }],
    ["a truth value of 2", SYMBOLS, { array: ndarray("bool", new Uint8Array([2])) }],
    ["metadata in two places", REPORT, { json: { ...report().json, metadata: { a: 1 } }, metadata: { b: 1 } }],
  ];
  for (const [name, kind, output] of wrong) {
    assert.throws(() => encodeArtifact("out", kind, output), code("output_kind_mismatch"), name);
  }
});

Deno.test("metadata and documents that are no strict finite JSON are refused", () => {
  const cyclic: JsonObject = {};
  cyclic.self = cyclic;
  const bad: unknown[] = [NaN, Infinity, float(NaN), "\ud800", new Date(0), () => 1, Symbol("x"), cyclic, new Map(), [
    undefined,
  ]];
  for (const value of bad) {
    const metadata = { value } as JsonObject;
    assert.throws(
      () => encodeArtifact("rx", SYMBOLS, { ...symbols(), metadata }),
      code("output_metadata_invalid"),
      String(value && (value as object).constructor?.name),
    );
    assert.throws(
      () => encodeArtifact("report", REPORT, { json: { ...report().json, value: value as null } }),
      code("output_metadata_invalid"),
    );
  }
});

Deno.test("files that are not what their kind says are refused with a code", () => {
  const utf8 = (text: string) => new TextEncoder().encode(text);
  for (
    const text of ["", "[]", "{", '{"kind":"text.batch"}', '{"kind":"metrics.report","a":1e999}', "[".repeat(100_000)]
  ) {
    assert.throws(() => decodeArtifact(REPORT, utf8(text)), code("artifact_json_invalid"), text.slice(0, 40));
  }
  assert.throws(() => decodeArtifact(REPORT, new Uint8Array([0x22, 0xff, 0x22])), code("artifact_json_invalid"));
  assert.throws(() => decodeArtifact(SYMBOLS, utf8("{}")), code("artifact_archive_invalid"));
  assert.throws(() => decodeArtifact(SYMBOLS, writeNpz({ metadata_json: "{}" })), code("artifact_array_missing"));
  assert.throws(
    () => decodeArtifact(SYMBOLS, writeNpz({ metadata_json: '{"array":"x"}' })),
    code("artifact_array_missing"),
  );
  assert.throws(() => decodeArtifact(SYMBOLS, writeNpz({ metadata_json: "[]" })), code("artifact_json_invalid"));
});

Deno.test("damaged artifacts are read or refused with a code, never otherwise", () => {
  const random = seeded(3);
  const artifacts: [string, Uint8Array][] = [
    [SYMBOLS, encodeArtifact("rx", SYMBOLS, symbols()).bytes],
    [REPORT, encodeArtifact("report", REPORT, report({ k: 1 })).bytes],
  ];
  let refused = 0;
  for (let round = 0; round < 4000; round++) {
    const [kind, bytes] = artifacts[round % 2];
    try {
      const decoded = decodeArtifact(kind, damage(bytes, random));
      if (kind === SYMBOLS) decoded.array();
      decoded.modified();
    } catch (error) {
      assert.ok(error instanceof SvcError, String((error as Error).stack));
      refused++;
    }
  }
  assert.ok(refused > 2000);
});
