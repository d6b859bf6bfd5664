import assert from "node:assert/strict";
import { join } from "node:path";
import { chosenLines, parseTexts, readLines, type TextLinesManifest } from "../../../lib/artifact/text_lines.ts";
import { checkLinesFile, makeLinesManifest, type MakeLinesOptions } from "../../../lib/artifact/text_lines_file.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";

const scratch = Deno.makeTempDirSync();
Deno.test.afterAll(() => Deno.removeSync(scratch, { recursive: true }));
const bytesOf = (content: string | Uint8Array) =>
  typeof content === "string" ? new TextEncoder().encode(content) : content;
const refusedWith = (code: string, message = /./) => (error: unknown) => {
  assert.ok(error instanceof SvcError, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, message);
  return true;
};

/** The manifest of a file, as a run reads it. */
function made(content: string | Uint8Array, options: MakeLinesOptions = {}, name = "t.txt"): TextLinesManifest {
  const path = join(scratch, name);
  Deno.writeFileSync(path, bytesOf(content));
  const manifest = makeLinesManifest(path, options);
  checkLinesFile(manifest, scratch);
  assert.deepEqual(parseTexts(bytesOf(canonicalJson(manifest))), manifest);
  return manifest;
}

/** A file in blocks of a size. */
const blocks = (content: string | Uint8Array, size: number) => {
  const bytes = bytesOf(content);
  return Array.from(
    { length: Math.ceil(bytes.length / size) },
    (_, at) => bytes.subarray(at * size, at * size + size),
  );
};
const all = { ids: [], split: "", draw: null };
const CONTENT = "\ufeffone\r\n\n  zwei ü\n \t\r\nthree\nfour";

Deno.test("ranges name the lines with text, counted from 1, with or without an end of the last line", () => {
  const { kind: _, schema_version: _version, ...manifest } = made(CONTENT);
  assert.deepEqual(manifest, {
    id: "t",
    version: "1",
    path: "t.txt",
    sha256: sha256Hex(CONTENT),
    size_bytes: bytesOf(CONTENT).length,
    line_count: 6,
    splits: { test: [[1, 1], [3, 3], [5, 6]] },
  });
  assert.deepEqual(made("a\nb\n").line_count, 2);
  assert.deepEqual(made("a\nb", {}, "t.en"), { ...made("a\nb", {}, "t.en"), id: "t.en", language: "en" });
  const splits = made(CONTENT, { splits: "train:1-4, dev:5-5,test:6-,dev:3-3" }).splits;
  assert.deepEqual(splits, { train: [[1, 1], [3, 3]], dev: [[3, 3], [5, 5]], test: [[6, 6]] });
});

Deno.test("the chosen lines are read from blocks of any size, each without the white space around it", async () => {
  const manifest = made(CONTENT), lines = chosenLines(manifest, all);
  assert.deepEqual(lines, [1, 3, 5, 6]);
  for (const size of [1, 2, 7, 1000]) {
    const texts = await readLines(manifest, lines, blocks(CONTENT, size));
    assert.deepEqual([...texts], [[1, "one"], [3, "zwei ü"], [5, "three"], [6, "four"]]);
  }
  const draw = () => [1, 2];
  assert.deepEqual(chosenLines(manifest, { ...all, draw }), [3, 5]);
  assert.deepEqual(chosenLines(manifest, { ids: ["line_6", "line_1", "line_3"], split: "", draw }), [1, 3]);
  for (const id of ["line_2", "line_7", "line_0", "line_01", "one"]) {
    assert.throws(() => chosenLines(manifest, { ...all, ids: [id] }), refusedWith("dataset_sample_unknown"));
  }
  assert.throws(() => chosenLines(manifest, { ...all, split: "dev" }), refusedWith("dataset_split_unknown"));
});

Deno.test("a place among 300 ranges is the line of a list of all lines, and splits that overlap count once", () => {
  const ranges = Array.from({ length: 300 }, (_, at) => [5 * at + 1, 5 * at + 1 + at % 4]);
  const manifest = { ...made("a\n"), line_count: 1500, splits: { a: ranges, b: [[1, 3], [1499, 1500]] } };
  const lines = ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at));
  assert.deepEqual(chosenLines(manifest, { ...all, split: "a" }), lines);
  const every = [...new Set([...lines, 1, 2, 3, 1499, 1500])].sort((a, b) => a - b);
  assert.deepEqual(chosenLines(manifest, all), every);
});

Deno.test("files of translations have equal ranges: lines with text in both", () => {
  Deno.writeTextFileSync(join(scratch, "ep.de"), "Wiederaufnahme\nNur hier\nVielen Dank .\n \nEnde");
  const english = made("Resumption\r\n\nThank you .\nOnly here\nEnd\n", { parallel: join(scratch, "ep.de") }, "ep.en");
  const german = makeLinesManifest(join(scratch, "ep.de"), { parallel: join(scratch, "ep.en") });
  assert.deepEqual(english.splits, { test: [[1, 1], [3, 3], [5, 5]] });
  assert.deepEqual(german.splits, english.splits);
  assert.deepEqual([english.language, german.language], ["en", "de"]);
  for (const other of ["a\nb\n", "a\nb\nc\nd\ne\nf\n"]) {
    Deno.writeTextFileSync(join(scratch, "other.de"), other);
    assert.throws(
      () => makeLinesManifest(join(scratch, "ep.en"), { parallel: join(scratch, "other.de") }),
      refusedWith("text_manifest_invalid", /different numbers of lines/),
    );
  }
});

Deno.test("what is no text is refused with its line, in a block or across two", () => {
  const refused = (content: string | Uint8Array, message: RegExp, options: MakeLinesOptions = {}) =>
    assert.throws(() => made(content, options), refusedWith("text_manifest_invalid", message));
  const block = 2 ** 20, long = "x".repeat(block);
  assert.equal(made(`a\n${long}\nb`).line_count, 3);
  refused(`a\n${long}x\nb`, /t\.txt:2 has more than 1048576 bytes/);
  refused(`a\n${long}${long}${long}`, /t\.txt:2 has more than/);
  refused(Uint8Array.of(97, 10, 10, 0xff, 10, 97), /t\.txt:3 is no valid UTF-8/);
  // The first byte of a character at the end of a block, without its second one.
  const cut = new Uint8Array(block + 4).fill(97);
  cut.set([10], block - 5);
  cut.set([0xc3, 97], block - 1);
  refused(cut, /t\.txt:2 is no valid UTF-8/);
  cut.set([0xc3, 0xbc], block - 1);
  assert.equal(made(cut).line_count, 2);
  refused("", /holds no text/);
  refused("\n \n", /holds no text/);
  refused("a\n", /split late hold no text: .* has 1 lines/, { splits: "test:1-1,late:2-" });
  refused("a\n\n".repeat(100_001), /more than 100000 ranges/);
  for (const splits of ["train", "a:2-1", "a:0-1", "a:1-2,a:2-3", ""]) {
    assert.throws(() => made("a\n", { splits }), refusedWith("usage_invalid"));
  }
  assert.throws(() => makeLinesManifest(join(scratch, "none.txt")), refusedWith("file_not_found"));
  if (Deno.build.os === "windows") return;
  Deno.symlinkSync(join(scratch, "t.txt"), join(scratch, "link.txt"));
  assert.throws(() => makeLinesManifest(join(scratch, "link.txt")), refusedWith("path_refused"));
});

Deno.test("a file that changed is refused before its texts, and a manifest that promises too much after it", async () => {
  const manifest = made(CONTENT), lines = chosenLines(manifest, all);
  const read = (content: string | Uint8Array, changes: Partial<TextLinesManifest> = {}, numbers = lines) =>
    readLines({ ...manifest, sha256: sha256Hex(bytesOf(content)), ...changes }, numbers, blocks(content, 50));
  for (const content of [CONTENT.replace("four", "Four"), CONTENT.slice(0, -1), CONTENT + "\n"]) {
    await assert.rejects(read(content, { sha256: manifest.sha256 }), refusedWith("boundary_hash_mismatch"));
  }
  await assert.rejects(read(CONTENT, {}, [2]), refusedWith("text_manifest_invalid", /t\.txt:2 has no text/));
  await assert.rejects(read(CONTENT, {}, [7]), refusedWith("text_manifest_invalid", /fewer lines/));
  const size_bytes = 2 ** 24, bad = Uint8Array.of(97, 10, 0xff, 10);
  await assert.rejects(read(bad, { size_bytes }, [2]), refusedWith("text_manifest_invalid", /t\.txt:2.*UTF-8/));
  const long = "x".repeat(2 ** 20 + 1);
  await assert.rejects(read(`a\n${long}`, { size_bytes }, [2]), refusedWith("text_manifest_invalid", /1048577 bytes/));
  // A line that is not chosen may have any length.
  assert.deepEqual([...await read(`${long}\nb`, { size_bytes }, [2])], [[2, "b"]]);
  const check = (changes: Partial<TextLinesManifest>) => checkLinesFile({ ...manifest, ...changes }, scratch);
  assert.throws(() => check({ sha256: "0".repeat(64) }), refusedWith("boundary_hash_mismatch"));
  assert.throws(() => check({ line_count: 7 }), refusedWith("text_manifest_invalid", /has 6 lines, not 7/));
  assert.throws(
    () => check({ splits: { a: [[1, 1], [3, 4]] } }),
    refusedWith("text_manifest_invalid", /line 4 .* no text/),
  );
});

Deno.test("a manifest that contradicts itself is refused with every problem", () => {
  const base = made(CONTENT);
  const problems = (changes: Record<string, unknown>) => {
    try {
      parseTexts(bytesOf(JSON.stringify({ ...base, ...changes })));
    } catch (error) {
      assert.ok(refusedWith("text_manifest_invalid")(error));
      return (error as SvcError).diagnostics.map(({ path }) => path);
    }
    return [];
  };
  assert.deepEqual(problems({}), []);
  assert.deepEqual(problems({ path: "../t.txt" }), ["$.path"]);
  assert.deepEqual(
    problems({ splits: { a: [[1, 2], [2, 3], [5, 4], [6, 7]] } }),
    [1, 2, 3].map((at) => `$.splits.a[${at}]`),
  );
  assert.deepEqual(problems({ splits: { a: [[1]] } }), ["$.splits.a[0]"]);
  assert.deepEqual(problems({ line_count: 2 ** 31 }), ["$.line_count"]);
  const many = Array.from({ length: 100_001 }, (_, at) => [at + 1, at + 1]);
  assert.deepEqual(problems({ line_count: 2 ** 20, splits: { a: many } }), ["$.splits"]);
});

Deno.test("a batch holds at most 100,000 texts of 64 MiB, of a file without that limit", async () => {
  const manifest = { ...made("a\n"), line_count: 2 ** 31 - 1, splits: { test: [[1, 2 ** 31 - 1]] } };
  assert.throws(
    () => chosenLines(manifest, all),
    refusedWith("text_manifest_invalid", /2147483647 texts .* draw_count/),
  );
  assert.deepEqual(chosenLines(manifest, { ...all, draw: (n) => [0, n - 1] }), [1, 2 ** 31 - 1]);
  const line = new Uint8Array(2 ** 20).fill(97);
  line[2 ** 20 - 1] = 10;
  // 65 lines, of one block that is the same memory.
  const whole = { ...manifest, size_bytes: 2 ** 30, sha256: "0".repeat(64) };
  const file = function* () {
    for (let at = 0; at < 66; at++) yield line;
  };
  const lines = Array.from({ length: 66 }, (_, at) => at + 1);
  const { hint } = await readLines(whole, [], file()).then(() => assert.fail(), (error) => error as SvcError);
  assert.match(hint!, /another file/);
  const digest = /is ([0-9a-f]{64}),/.exec(
    await readLines(whole, [], file()).then(() => "", (error) => String(error.message)),
  )![1];
  await assert.rejects(
    readLines({ ...whole, sha256: digest }, lines, file()),
    refusedWith("text_manifest_invalid", /more than 67108864 bytes/),
  );
  assert.equal((await readLines({ ...whole, sha256: digest }, lines.slice(0, 64), file())).size, 64);
});
