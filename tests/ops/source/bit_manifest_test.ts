import assert from "node:assert/strict";
import bitManifest from "../../../ops/source/bit_manifest.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import type { JsonObject, Value } from "../../../lib/contract/value.ts";
import { refuses, runOperation } from "../harness.ts";

const packed = { a: Uint8Array.of(0xa5), b: Uint8Array.of(0xff, 0x80) };
const ITEMS: JsonObject[] = [
  { id: "a", bit_count: 8, bits_hex: "A5", sha256: sha256Hex(packed.a) },
  { id: "b", bit_count: 9, path: "payloads/b.bin", sha256: sha256Hex(packed.b) },
];

function manifest(changes: JsonObject = {}): JsonObject {
  return { schema_version: 1, kind: "svc.bit_payload_manifest", items: ITEMS, selections: { last: ["b"] }, ...changes };
}

function read(document: Value | string, params: JsonObject = {}, path = "data/bits.json", digest?: string) {
  const text = typeof document === "string" ? document : canonicalJson(document);
  return runOperation(bitManifest, {
    params: { manifest_path: path, manifest_sha256: digest ?? sha256Hex(text), ...params },
    files: { [path]: text, "data/payloads/b.bin": packed.b },
  });
}

const bitsOf = async (result: ReturnType<typeof read>) =>
  ((await result).outputs.bits.array().data as Uint8Array).join("");

Deno.test("items come in the order asked for, from the manifest or from files beside it", async () => {
  assert.equal(await bitsOf(read(manifest())), "10100101" + "111111111");
  assert.equal(await bitsOf(read(manifest(), { item_ids: ["b", "a", "b"] })), "111111111" + "10100101" + "111111111");
  assert.equal(await bitsOf(read(manifest(), { selection: "last" })), "111111111");
  const { metadata } = (await read(manifest())).outputs.bits;
  assert.deepEqual(metadata.source_item_counts, [8, 9]);
  assert.deepEqual(metadata.source_item_ids, ["a", "b"]);
});

Deno.test("YAML says the same as JSON", async () => {
  const yaml = [
    "schema_version: 1",
    "kind: svc.bit_payload_manifest",
    "items:",
    `  - {id: a, bit_count: 8, bits_hex: "A5", sha256: "${sha256Hex(packed.a)}"}`,
    "  - id: b",
    "    bit_count: 9",
    "    path: payloads/b.bin",
    `    sha256: ${sha256Hex(packed.b)}`,
  ].join("\n");
  assert.equal(await bitsOf(read(yaml, {}, "data/bits.yaml")), await bitsOf(read(manifest())));
});

Deno.test("digests, padding and counts are held to", async () => {
  await refuses("boundary_hash_mismatch", () => read(manifest(), {}, "data/bits.json", "0".repeat(64)));
  const item = (changes: JsonObject) => manifest({ items: [{ ...ITEMS[0], ...changes }], selections: {} });
  await refuses("boundary_hash_mismatch", () => read(item({ bits_hex: "A4" })));
  await refuses("boundary_count_mismatch", () => read(item({ bit_count: 9 })));
  await refuses("boundary_value_invalid", () => read(item({ bit_count: 7 })));
  await refuses("boundary_count_not_integer", () => read(item({ bit_count: 8.5 })));
});

Deno.test("malformed manifests and unknown names are refused", async () => {
  const bad: (Value | string)[] = [
    [],
    manifest({ kind: "other" }),
    manifest({ schema_version: 2 }),
    manifest({ items: 4 }),
    manifest({ items: [...ITEMS, ITEMS[0]] }),
    manifest({ selections: { x: ["c"] } }),
    manifest({ extra: 1 }),
    manifest({ items: [{ ...ITEMS[1], path: "../b.bin" }] }),
    manifest({ items: [{ ...ITEMS[1], path: "/b.bin" }] }),
    manifest({ items: [{ ...ITEMS[1], path: "https://x/b.bin" }] }),
    manifest({ items: [{ ...ITEMS[0], path: "b.bin" }] }),
    manifest({ items: [{ ...ITEMS[0], bits_hex: "A" }] }),
    "{broken",
    "a: &x 1\nb: *x",
    "a: !tag 1",
  ];
  for (const document of bad) await refuses("boundary_value_invalid", () => read(document));
  await refuses("boundary_value_invalid", () => read(manifest(), { item_ids: ["c"] }));
  await refuses("boundary_value_invalid", () => read(manifest(), { selection: "first" }));
  await refuses("params_conflict", () => read(manifest(), { item_ids: ["a"], selection: "last" }));
  await refuses(
    "boundary_file_missing",
    () => read(manifest({ items: [{ ...ITEMS[1], path: "payloads/c.bin" }], selections: {} })),
  );
});
