import assert from "node:assert/strict";
import { join } from "node:path";
import { SvcError } from "../../../lib/contract/error.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { holdsBits, makeBitManifest } from "../../../lib/artifact/bit_manifest_file.ts";
import { parseTextManifest, selectTexts } from "../../../lib/artifact/text_manifest.ts";
import { holdsTexts, makeTextManifest, type MakeTextOptions } from "../../../lib/artifact/text_manifest_files.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const refusedWith = (code: string, message = /./) => (error: unknown) => {
  assert.ok(error instanceof SvcError, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, message);
  return true;
};

/** The manifest of a folder with these files, or of one of them. */
function made(files: Record<string, string | Uint8Array>, options: MakeTextOptions = {}, of = "") {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    if (name.includes("/")) Deno.mkdirSync(join(folder, name, ".."), { recursive: true });
    if (typeof content === "string") Deno.writeTextFileSync(join(folder, name), content);
    else Deno.writeFileSync(join(folder, name), content);
  }
  assert.ok(holdsTexts(join(folder, of)));
  const manifest = makeTextManifest(join(folder, of), options);
  // What is made can be read.
  assert.deepEqual(parseTextManifest(new TextEncoder().encode(canonicalJson(manifest))), manifest);
  return manifest;
}

const samples = (manifest: ReturnType<typeof made>) =>
  manifest.samples.map(({ sample_id, sha256: _, ...rest }) => [sample_id, rest]);

Deno.test("a folder gives one text a file, named by its path, or its lines", () => {
  const files = {
    "b one.txt": "Grüße\n",
    "a.txt": "x",
    "sub/a.txt": "y\r\n\r\nz",
    ".hidden.txt": "no",
    "notes.md": "no",
  };
  const manifest = made(files, { id: "mine", split: "train" });
  assert.deepEqual(samples(manifest), [
    ["a", { path: "a.txt" }],
    ["b_one", { path: "b one.txt" }],
    ["a_2", { path: "sub/a.txt" }],
  ]);
  assert.deepEqual(manifest.splits, { train: ["a", "b_one", "a_2"] });
  assert.equal(manifest.samples[1].sha256, sha256Hex("Grüße\n"));
  assert.deepEqual(samples(made(files, { lines: true })).slice(2), [
    ["a_1_2", { text: "y" }],
    ["a_3", { text: "z" }],
  ]);
  assert.deepEqual(samples(made(files, { inline: true }))[0], ["a", { text: "x" }]);
});

Deno.test("rows of JSON Lines and CSV keep ids and languages", () => {
  const lines = '{"id":"one","text":"hello","language":"en","more":1}\n\n"plain"\n{"sample_id":"x y","text":""}\n';
  assert.deepEqual(samples(made({ "d.jsonl": lines }, {}, "d.jsonl")), [
    ["one", { text: "hello", language: "en" }],
    ["row_3", { text: "plain" }],
    ["x_y", { text: "" }],
  ]);
  const numbered = '{"id":7,"text":"a: \\"b\\":"}\n{"id":8,"text":"{\\"text\\":1}"}\n';
  assert.deepEqual(samples(made({ "d.jsonl": numbered }, {}, "d.jsonl")), [
    ["7", { text: 'a: "b":' }],
    ["8", { text: '{"text":1}' }],
  ]);
  const csv = 'id,"cap ""tion""",language\r\n1,"two\nlines, ""quoted""",\r\n,plain,de\r\n';
  assert.deepEqual(samples(made({ "d.csv": csv }, { column: 'cap "tion"' }, "d.csv")), [
    ["1", { text: 'two\nlines, "quoted"' }],
    ["row_3", { text: "plain", language: "de" }],
  ]);
});

Deno.test("what is no text is refused with its place", () => {
  const refused = (files: Record<string, string | Uint8Array>, of: string, message: RegExp, options = {}) =>
    assert.throws(() => made(files, options, of), refusedWith("text_manifest_invalid", message));
  refused({ "a.txt": Uint8Array.of(0xff) }, "", /a\.txt.*UTF-8/);
  refused({ "a.txt": "x".repeat((1 << 20) + 1) }, "", /a\.txt.*1048577 bytes/);
  refused({ "a.txt": "\n" }, "a.txt", /holds no text/, { lines: true });
  refused({ "d.csv": "a,b\n1,2\n" }, "d.csv", /no column text; name one with --column: a, b/);
  for (
    const [rows, line] of [
      ['1,5" disk\n2,ok\n', 2],
      ['1,he said "hi" twice\n', 2],
      ["1,Hello, world\n", 2],
      ["1,ok\n2\n", 3],
      ['1,"a"b\n', 2],
      ['1,ok\n2,"open\n', 3],
    ] as const
  ) refused({ "d.csv": `id,text\n${rows}` }, "d.csv", new RegExp(`line ${line} of .*d\\.csv has `));
  refused({ "d.csv": "text,text\na,b\n" }, "d.csv", /the column text more than once/);
  refused({ "d.jsonl": '{"text":"a","text":"b"}\n' }, "d.jsonl", /line 1 of .* has a key more than once/);
  refused({ "d.jsonl": '"ok"\n{"text":"a","more":[{"k":1,"k":2}]}\n' }, "d.jsonl", /line 2 of .* more than once/);
  refused({ "d.jsonl": '{"text":"x"}\n{' }, "d.jsonl", /line 2 of .* is no JSON/);
  refused({ "d.jsonl": '{"caption":"x"}' }, "d.jsonl", /row 1 .* no text in text/);
});

Deno.test("a manifest that contradicts itself is refused with every problem", () => {
  const text = "x", sha256 = sha256Hex(text), sample = { sample_id: "a", text, sha256 };
  const base = {
    schema_version: 1,
    kind: "svc.text_dataset_manifest",
    id: "t",
    version: 1,
    splits: {},
    samples: [sample],
  };
  const problems = (changes: JsonObject) => {
    try {
      parseTextManifest(new TextEncoder().encode(canonicalJson({ ...base, ...changes })));
    } catch (error) {
      assert.ok(refusedWith("text_manifest_invalid")(error));
      return (error as SvcError).diagnostics.map(({ path }) => path);
    }
    return [];
  };
  assert.deepEqual(problems({}), []);
  assert.deepEqual(problems({ samples: [sample, sample] }), ["$.samples[1].sample_id"]);
  assert.deepEqual(problems({ samples: [{ ...sample, text: "y" }] }), ["$.samples[0].text"]);
  assert.deepEqual(problems({ samples: [{ ...sample, path: "x.txt" }, { sample_id: "b", sha256 }] }), [
    "$.samples[0]",
    "$.samples[1]",
  ]);
  assert.deepEqual(problems({ samples: [{ sample_id: "a", path: "../x.txt", sha256 }] }), ["$.samples[0].path"]);
  assert.deepEqual(problems({ splits: { test: ["a", "b"] } }), ["$.splits.test[1]"]);
  assert.equal(problems({ kind: "svc.image_dataset_manifest", more: 1 }).length, 2);
});

Deno.test("texts are selected by ids, by split, or all", () => {
  const manifest = made({ "a.txt": "1", "b.txt": "2" });
  const ids = (selection: Parameters<typeof selectTexts>[1]) =>
    selectTexts(manifest, selection).map((s) => s.sample_id);
  assert.deepEqual(ids({ ids: [], split: "" }), ["a", "b"]);
  assert.deepEqual(ids({ ids: ["b"], split: "" }), ["b"]);
  assert.deepEqual(ids({ ids: [], split: "test" }), ["a", "b"]);
  assert.throws(() => ids({ ids: [], split: "tset" }), refusedWith("dataset_split_unknown"));
  assert.throws(() => ids({ ids: ["c"], split: "" }), refusedWith("dataset_sample_unknown"));
});

/** An NPY file of version 1. */
Deno.test("rows of JSON Lines and CSV files name their split, and others are in that of the option", () => {
  const rows = [{ id: "a", text: "one", split: "train" }, { id: "b", text: "two" }, {
    id: "c",
    text: "three",
    split: "train",
  }];
  const lines = rows.map((row) => JSON.stringify(row)).join("\n");
  assert.deepEqual(made({ "t.jsonl": lines }, { split: "dev" }, "t.jsonl").splits, { train: ["a", "c"], dev: ["b"] });
  const table = "id,text,split\na,one,train\nb,two,\n";
  assert.deepEqual(made({ "t.csv": table }, {}, "t.csv").splits, { train: ["a"], test: ["b"] });
  const odd = made({ "t.jsonl": '{"id":"a","text":"x","split":"__proto__"}' }, {}, "t.jsonl").splits;
  assert.deepEqual(Object.entries(odd), [["__proto__", ["a"]]]);
});

Deno.test("sentences are texts, and keep language and split of their row", () => {
  const text = "Hello there. How are\nyou?  Fine!\n\nA heading\n\nThe end";
  const cut = made({ "t.txt": text }, { sentences: true }, "t.txt");
  const wanted = ["Hello there.", "How are you?", "Fine!", "A heading", "The end"];
  assert.deepEqual(cut.samples.map((sample) => (sample as { text: string }).text), wanted);
  assert.deepEqual(cut.splits.test, [1, 2, 3, 4, 5].map((number) => `t_${number}`));
  const row = JSON.stringify({ id: "r", text: "Ein Satz. Noch einer.", language: "de", split: "train" });
  const rows = made({ "t.jsonl": row }, { sentences: true }, "t.jsonl");
  assert.deepEqual(rows.splits, { train: ["r_1", "r_2"] });
  assert.deepEqual(rows.samples.map((sample) => (sample as { language?: string }).language), ["de", "de"]);
});

function npy(descr: string, shape: string, data: Uint8Array): Uint8Array {
  const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape}), }`.padEnd(117) + "\n";
  const head = new TextEncoder().encode(header);
  return Uint8Array.of(0x93, ...new TextEncoder().encode("NUMPY"), 1, 0, head.length, 0, ...head, ...data);
}

Deno.test("two files of translations give manifests of equal ids, without lines that are empty in either", () => {
  const folder = Deno.makeTempDirSync(), at = (name: string) => join(folder, name);
  try {
    Deno.writeTextFileSync(at("ep.de-en.en"), "Resumption of the session\r\n\nThank you .\nOnly here\n");
    Deno.writeTextFileSync(at("ep.de-en.de"), "Wiederaufnahme der Sitzungsperiode\nNur hier\nVielen Dank .\n \n");
    const [english, german] = [["en", "de"], ["de", "en"]].map(([own, other]) =>
      makeTextManifest(at(`ep.de-en.${own}`), { parallel: at(`ep.de-en.${other}`) })
    );
    assert.deepEqual(samples(english), [
      ["line_1", { text: "Resumption of the session", language: "en" }],
      ["line_3", { text: "Thank you .", language: "en" }],
    ]);
    assert.deepEqual(samples(german).map(([id]) => id), ["line_1", "line_3"]);
    assert.deepEqual([english.id, german.id], ["ep.de-en.en", "ep.de-en.de"]);
    Deno.writeTextFileSync(at("short.de"), "eins\n");
    assert.throws(
      () => makeTextManifest(at("ep.de-en.en"), { parallel: at("short.de") }),
      refusedWith("text_manifest_invalid", /has 4 lines, and .* has 1/),
    );
    assert.throws(
      () => makeTextManifest(at("ep.de-en.en"), { parallel: at("none.de") }),
      refusedWith("file_not_found"),
    );
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("bits are read from arrays, from lines of 0 and 1, and from bytes", () => {
  const items = (bytes: Uint8Array, file: string, beside = true) => {
    const { manifest, files } = makeBitManifest(bytes, file, beside);
    return [(manifest.items as JsonObject[]).map(({ sha256: _, ...item }) => item), [...files.keys()]];
  };
  assert.ok(holdsBits("a.npy") && holdsBits("a.bin") && !holdsBits("a.txt"));
  const rows = npy("|u1", "2, 3", Uint8Array.of(1, 0, 1, 1, 1, 0));
  assert.deepEqual(items(rows, "a.npy"), [
    [{ id: "a_1", bit_count: 3, bits_hex: "a0" }, { id: "a_2", bit_count: 3, bits_hex: "c0" }],
    [],
  ]);
  assert.deepEqual(items(new TextEncoder().encode("01\r\n11\n"), "a.txt")[0], [
    { id: "a_1", bit_count: 2, bits_hex: "40" },
    { id: "a_2", bit_count: 2, bits_hex: "c0" },
  ]);
  const bits = (text: string) => items(new TextEncoder().encode(text), "d.bits")[0];
  assert.deepEqual(bits("0 1 0 1\n"), [{ id: "d", bit_count: 4, bits_hex: "50" }]);
  assert.deepEqual(bits("01\n\n1\t1 1\r\n"), [
    { id: "d_1", bit_count: 2, bits_hex: "40" },
    { id: "d_2", bit_count: 3, bits_hex: "e0" },
  ]);
  for (const text of ["0102\n", "01\n0x1\n", "\u00e9", "\0"]) {
    assert.throws(() => bits(text), refusedWith("payload_text_invalid", /line [12] of d\.bits/));
  }
  // Packed bytes may look like a text.
  assert.deepEqual(items(new TextEncoder().encode("01"), "t.bin")[0], [{ id: "t", bit_count: 16, bits_hex: "3031" }]);
  assert.deepEqual(items(Uint8Array.of(0xa5), "x y.bin")[0], [{ id: "x_y", bit_count: 8, bits_hex: "a5" }]);
  const large = new Uint8Array(5000).fill(7);
  assert.deepEqual(items(large, "p.bin"), [[{ id: "p", bit_count: 40000, path: "p.bin" }], []]);
  assert.deepEqual(items(large, "p.bin", false), [[{ id: "p", bit_count: 40000, path: "p.bin" }], ["p.bin"]]);
  const values = npy("<f8", "2,", new Uint8Array(Float64Array.of(0, 0.5).buffer));
  assert.throws(() => makeBitManifest(values, "v.npy", true), refusedWith("boundary_value_invalid", /value 0\.5/));
  assert.throws(() => makeBitManifest(new Uint8Array(), "v.bin", true), refusedWith("boundary_shape_invalid"));
});

Deno.test("files beyond the limits are refused before their texts are made", () => {
  const folder = Deno.makeTempDirSync();
  const refused = (name: string, text: string, message: RegExp, code = "text_manifest_invalid") => {
    const path = join(folder, name);
    Deno.writeTextFileSync(path, text);
    assert.throws(() => makeTextManifest(path, { lines: true }), refusedWith(code, message));
    Deno.removeSync(path);
  };
  try {
    // Each opens a quote that no other closes.
    refused("open.csv", 'text\n"' + "a".repeat(20_000_000), /end of the file inside of quotes/);
    refused("quotes.csv", "text\n" + '"a\n'.repeat(100_001), /quote/);
    refused("after.csv", 'text\n"a"b\n', /text after a closing quote/);
    refused("rows.csv", "text\n" + "a\n".repeat(100_001), /more than 100000 texts/);
    refused("lines.txt", "a\n".repeat(100_001), /more than 100000 texts/);
    refused("lines.jsonl", '"a"\n'.repeat(100_001), /more than 100000 texts/);
    refused("large.txt", "a".repeat(64 * 2 ** 20 + 1), /more than 67108864 bytes/, "artifact_limit_exceeded");
    // As many equal ids as texts are allowed.
    Deno.writeTextFileSync(join(folder, "ids.csv"), "id,text\n" + "x,a\n".repeat(100_000));
    const { samples } = makeTextManifest(join(folder, "ids.csv"));
    assert.deepEqual([samples.length, samples[1].sample_id, samples.at(-1)!.sample_id], [100_000, "x_2", "x_100000"]);
    if (Deno.build.os === "windows") return;
    for (const name of ["pipe.csv", "pipe.txt", "pipe.jsonl"]) {
      assert.ok(new Deno.Command("mkfifo", { args: [join(folder, name)] }).outputSync().success);
      assert.throws(() => makeTextManifest(join(folder, name)), refusedWith("path_refused", /not a regular file/));
    }
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
