import assert from "node:assert/strict";
import { join } from "node:path";
import { open } from "../../../mod.ts";
import { type Diagnostic, SvcError } from "../../../lib/contract/error.ts";
import { encodeJpeg } from "../../../lib/artifact/jpeg/encoder.ts";
import { sha256Hex, sha256Json } from "../../../lib/contract/hash.ts";
import { parseJson, prettyJson } from "../../../lib/contract/json.ts";
import { float, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import {
  checkManifestFiles,
  makeImageManifest,
  parseImageManifest,
  samplePath,
  selectSamples,
} from "../../../lib/artifact/dataset_manifest.ts";
import { checkImageManifest } from "../../../lib/artifact/dataset_manifest_rules.ts";
import { writePng } from "../../../lib/artifact/png_encode.ts";
import { repeatedKey } from "../../../lib/artifact/dataset_manifest.ts";
import pictures from "../../data/pictures/vectors.json" with { type: "json" };
import { bytesFrom, damage, seeded } from "./_fuzz.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const code = (expected: string) => (error: unknown) => error instanceof SvcError && error.code === expected;

function sample(id: string, changes: JsonObject = {}): JsonObject {
  return {
    sample_id: id,
    path: `${id}.png`,
    sha256: sha256Hex(id),
    source_id: id,
    group_id: id,
    source_sha256: sha256Hex(id),
    ancestry_ids: [id],
    transform: { name: "identity" },
    transform_fingerprint_sha256: sha256Json({ name: "identity" }),
    ...changes,
  };
}

function manifest(changes: JsonObject = {}, b: JsonObject = {}): JsonObject {
  return {
    schema_version: 1,
    kind: "svc.image_dataset_manifest",
    id: "set",
    version: "1",
    root: ".",
    splits: { train: ["a"], test: ["b"] },
    samples: [sample("a"), sample("b", b), sample("unused")],
    ...changes,
  };
}

const codes = (document: Value) => checkImageManifest(document).map((found) => `${found.code} ${found.path}`);

Deno.test("a manifest with all its members is accepted", () => {
  assert.deepEqual(codes(manifest()), []);
  assert.deepEqual(
    codes(
      manifest({
        version: 3,
        source_page: "",
        license: { name: "CC0" },
        publication_ready: false,
        publication_blocker: "",
      }),
    ),
    [],
  );
  assert.deepEqual(codes(manifest({}, { post_transform_sha256: sha256Hex("x") })), []);
});

Deno.test("every breach of the schema is reported, each at its place", () => {
  const schema = (changes: JsonObject, b?: JsonObject) =>
    codes(manifest(changes, b)).map((found) => found.replace("manifest_schema_invalid ", ""));
  assert.deepEqual(schema({ schema_version: float(1) }), ["$.schema_version"]);
  assert.deepEqual(schema({ schema_version: 2 }), ["$.schema_version"]);
  assert.deepEqual(schema({ kind: "x" }), ["$.kind"]);
  assert.deepEqual(schema({ id: "" }), ["$.id"]);
  assert.deepEqual(schema({ version: float(1) }), ["$.version"]);
  assert.deepEqual(schema({ root: "" }), ["$.root"]);
  assert.deepEqual(schema({ licence: {} }), ["$.licence"]);
  assert.deepEqual(schema({ license: [] }), ["$.license"]);
  assert.deepEqual(schema({ publication_ready: "yes" }), ["$.publication_ready"]);
  assert.deepEqual(schema({ splits: {} }), ["$.splits"]);
  assert.deepEqual(schema({ splits: { test: [] } }), ["$.splits.test"]);
  assert.deepEqual(schema({ splits: { test: ["a", "a"] } }), ["$.splits.test[1]"]);
  assert.deepEqual(schema({ splits: { test: [""] } }), ["$.splits.test[0]"]);
  assert.deepEqual(schema({ samples: [] }), ["$.samples"]);
  const at = (member: string) => `$.samples[1].${member}`;
  assert.deepEqual(schema({}, { sha256: "A".repeat(64) }), [at("sha256")]);
  assert.deepEqual(schema({}, { post_transform_sha256: "" }), [at("post_transform_sha256")]);
  assert.deepEqual(schema({}, { ancestry_ids: [] }), [at("ancestry_ids")]);
  assert.deepEqual(schema({}, { transform: {} }), [at("transform.name")]);
  assert.deepEqual(schema({}, { extra: 1, path: "", group_id: 1 }), [at("path"), at("group_id"), at("extra")]);
  for (const member of Object.keys(sample("b"))) {
    const { [member]: _left, ...rest } = sample("b");
    assert.deepEqual(schema({ samples: [sample("a"), rest] }), [at(member)]);
  }
  for (const member of Object.keys(manifest())) {
    const { [member]: _left, ...rest } = manifest();
    assert.deepEqual(codes(rest), [`manifest_schema_invalid $.${member}`]);
  }
  assert.deepEqual(codes([]), ["manifest_schema_invalid $"]);
});

Deno.test("rules between members are checked", () => {
  assert.deepEqual(codes(manifest({ splits: { test: ["c"] } })), ["manifest_split_sample_unknown $.splits.test[0]"]);
  assert.deepEqual(codes(manifest({ splits: { x: ["a"], y: ["b", "a"] } })), ["manifest_split_overlap $.splits.y[1]"]);
  const twice = manifest({ samples: [sample("a"), sample("b"), sample("b")] });
  assert.deepEqual(codes(twice), ["manifest_sample_duplicate $.samples[2].sample_id"]);
  const shares: JsonObject[] = [{ group_id: "a" }, { source_id: "a" }, { ancestry_ids: ["b", "a"] }];
  for (const shared of shares) {
    assert.deepEqual(codes(manifest({}, shared)), ["manifest_split_leak $.splits.test[0]"], JSON.stringify(shared));
    assert.deepEqual(codes(manifest({ splits: { all: ["a", "b"] } }, shared)), [], "one split may share");
    assert.deepEqual(codes(manifest({ splits: { test: ["b"] } }, shared)), [], "an unused sample may share");
  }
  for (const path of ["../b.png", "/b.png", "a/../b", "./b", "a//b", "a\\b", "file:b", "C:b", "a/"]) {
    assert.deepEqual(codes(manifest({}, { path })), ["manifest_path_unsafe $.samples[1].path"], path);
  }
  assert.deepEqual(codes(manifest({}, { path: "sub folder/b.c.png" })), []);
  assert.deepEqual(codes(manifest({}, { transform: { name: "identity", crop: float(1) } })), [
    "fingerprint_foreign $.samples[1].transform_fingerprint_sha256",
  ]);
});

Deno.test("a fingerprint of another program is a warning, and the manifest is used", async () => {
  const foreign = manifest({}, { transform_fingerprint_sha256: "0".repeat(64) });
  const [found, ...others] = checkImageManifest(foreign);
  assert.deepEqual([found.code, found.severity, others], ["fingerprint_foreign", "warning", []]);
  assert.equal(parseImageManifest(prettyJson(foreign)).samples.length, 3);
  const folder = temporaryFolder();
  await Deno.writeTextFile(join(folder, "manifest.json"), prettyJson(foreign));
  await using svc = await open({ projectRoot: folder });
  const { warnings } = await svc.data.checkManifest(join(folder, "manifest.json"), { files: false });
  assert.deepEqual(warnings.map(({ code, path }) => [code, path]), [
    ["fingerprint_foreign", "$.samples[1].transform_fingerprint_sha256"],
  ]);
});

Deno.test("a manifest file is read, or refused with everything that is wrong", () => {
  const text = prettyJson(manifest());
  assert.equal(parseImageManifest(new TextEncoder().encode(text)).samples.length, 3);
  for (const bad of ["", "[]", text.slice(1), text.replace('"id"', '"kind"'), new Uint8Array([0xff])]) {
    assert.throws(() => parseImageManifest(bad), code("dataset_manifest_invalid"));
  }
  assert.throws(
    () => parseImageManifest(prettyJson(manifest({ id: "", root: "" }))),
    (error) => error instanceof SvcError && error.diagnostics.length === 2 && error.message.includes("$.id"),
  );
});

Deno.test("a key that stands twice in one object is found", () => {
  assert.equal(repeatedKey('{"a":{"b":1},"c":[{"b":1},{"b":2}],"d":"\\"a\\":"}'), null);
  assert.equal(repeatedKey('{"x":[{"a":1, "a" :2}]}'), "a");
  assert.equal(repeatedKey('{"a":1,"\\u0061":2}'), "a");
});

Deno.test("samples are selected by ids or by split, and found from the manifest's path", () => {
  const set = parseImageManifest(prettyJson(manifest({ root: "images" })));
  const ids = (selection: Parameters<typeof selectSamples>[1]) => selectSamples(set, selection).map((s) => s.sample_id);
  assert.deepEqual(ids({ ids: ["b", "a", "b"], split: "train" }), ["b", "a", "b"]);
  assert.deepEqual(ids({ split: "test" }), ["b"]);
  assert.throws(() => ids({ ids: ["c"] }), code("dataset_sample_unknown"));
  assert.throws(() => ids({ split: "validation" }), code("dataset_split_unknown"));
  assert.deepEqual(ids({}), ids({ ids: [], split: "" }));
  assert.equal(ids({}).length, set.samples.length);
  assert.throws(() => ids({ split: "constructor" }), code("dataset_split_unknown"));
  assert.equal(samplePath("data/set/manifest.json", set, set.samples[0]), "data/set/images/a.png");
  assert.equal(samplePath("manifest.json", { ...set, root: "/pictures" }, set.samples[0]), "/pictures/a.png");
});

const inFolder = (test: (folder: string) => Promise<void>) => test(temporaryFolder());

const dot = (value: number) => writePng({ width: 1, height: 1, channels: 1, data: Uint8Array.from([value]) });

Deno.test("a folder of pictures becomes a valid manifest whose files check out", async () => {
  await inFolder(async (folder) => {
    Deno.mkdirSync(join(folder, "sub"));
    const jpeg = bytesFrom(pictures.jpegs[0].file);
    Deno.writeFileSync(join(folder, "b.PNG"), dot(1));
    Deno.writeFileSync(join(folder, "a b,c.png"), dot(2));
    Deno.writeFileSync(join(folder, "sub", "b.jpg"), jpeg);
    Deno.writeFileSync(join(folder, ".hidden.png"), dot(3));
    Deno.writeTextFileSync(join(folder, "notes.txt"), "");
    const made = await makeImageManifest(folder, { id: "mine" });
    assert.deepEqual(checkImageManifest(made), []);
    assert.deepEqual(parseImageManifest(prettyJson(made)), parseJson(prettyJson(made)));
    assert.deepEqual(made.samples.map((s) => [s.sample_id, s.path]), [
      ["a_b_c", "a b,c.png"],
      ["b", "b.PNG"],
      ["b_2", "sub/b.jpg"],
    ]);
    assert.deepEqual([made.id, made.version, made.root, made.splits], ["mine", "1", ".", {
      test: ["a_b_c", "b", "b_2"],
    }]);
    assert.equal(made.samples[2].sha256, sha256Hex(jpeg));
    assert.equal(made.samples[2].post_transform_sha256, sha256Hex(bytesFrom(pictures.jpegs[0].samples)));
    assert.deepEqual(await checkManifestFiles(made, folder, { decode: true }), []);
    assert.deepEqual(await makeImageManifest(folder, { id: "mine" }), made);

    Deno.writeFileSync(join(folder, "b.PNG"), dot(9));
    Deno.removeSync(join(folder, "a b,c.png"));
    Deno.renameSync(join(folder, "sub"), join(folder, "real"));
    Deno.symlinkSync(join(folder, "real"), join(folder, "sub"));
    const found = await checkManifestFiles(made, folder);
    assert.deepEqual(found.map((problem) => `${problem.code} ${problem.path}`), [
      "manifest_file_missing $.samples[0].path",
      "manifest_hash_mismatch $.samples[1].sha256",
      "manifest_path_unsafe $.samples[2].path",
    ]);
  });
});

Deno.test("decoded samples that differ from the record are found", async () => {
  await inFolder(async (folder) => {
    Deno.writeFileSync(join(folder, "a.png"), dot(1));
    const made = await makeImageManifest(folder);
    made.samples[0].post_transform_sha256 = sha256Hex("other");
    assert.deepEqual(await checkManifestFiles(made, folder), []);
    const [found] = await checkManifestFiles(made, folder, { decode: true });
    assert.equal(found.path, "$.samples[0].post_transform_sha256");
  });
});

Deno.test("unreadable files are named and left out where this is asked for, faults of readable ones are named", async () => {
  await inFolder(async (folder) => {
    const warnings: Diagnostic[] = [], onWarning = (finding: Diagnostic) => warnings.push(finding);
    const grey = { width: 8, height: 8, channels: 1 as const, data: new Uint8Array(64).fill(90) };
    const jpeg = encodeJpeg(grey, { quality: 75, subsampling: "444" });
    Deno.writeFileSync(join(folder, "cut.jpg"), jpeg.subarray(0, 60));
    const skipping = { skipUnreadable: true, onWarning };
    await assert.rejects(makeImageManifest(folder, skipping), code("dataset_manifest_invalid"));
    Deno.writeFileSync(join(folder, "open.jpg"), jpeg.subarray(0, -2));
    await assert.rejects(makeImageManifest(folder), code("dataset_manifest_invalid"));
    warnings.length = 0;
    const made = await makeImageManifest(folder, skipping);
    assert.deepEqual(made.samples.map(({ path }) => path), ["open.jpg"]);
    const found = warnings.map(({ code, path }) => [code, path]);
    assert.ok(found.some(([code, path]) => code === "image_file_damaged" && path === '$["open.jpg"]'), String(found));
    assert.ok(found.some(([code, path]) => code !== "image_file_damaged" && path === '$["cut.jpg"]'), String(found));
  });
});

Deno.test("folders without usable pictures are refused, with every file that is at fault", async () => {
  await inFolder(async (folder) => {
    await assert.rejects(makeImageManifest(folder), code("dataset_manifest_invalid"));
    await assert.rejects(makeImageManifest(join(folder, "absent")), code("dataset_manifest_invalid"));
    Deno.writeFileSync(join(folder, "a.png"), dot(1));
    Deno.writeTextFileSync(join(folder, "b.png"), "no picture");
    Deno.writeFileSync(join(folder, "c.png"), dot(1).subarray(0, 40));
    Deno.symlinkSync(join(folder, "a.png"), join(folder, "d.png"));
    await assert.rejects(
      makeImageManifest(folder),
      (error) =>
        error instanceof SvcError &&
        assert.deepEqual(error.diagnostics.map((problem) => problem.code).sort(), [
            "image_file_invalid",
            "image_file_unsupported",
            "manifest_path_unsafe",
          ]) === undefined,
    );
  });
});

Deno.test("the manifest of the bundled photographs holds, down to the decoded samples", async () => {
  const folder = new URL("../../../recipes/samples/", import.meta.url).pathname;
  const set = parseImageManifest(Deno.readFileSync(join(folder, "manifest.json")));
  assert.deepEqual(await checkManifestFiles(set, folder, { decode: true }), []);
});

Deno.test("damaged manifests are read or refused with a code, never otherwise", () => {
  const random = seeded(7), bytes = new TextEncoder().encode(prettyJson(manifest()));
  let refused = 0;
  for (let round = 0; round < 3000; round++) {
    try {
      parseImageManifest(damage(bytes, random));
    } catch (error) {
      assert.ok(error instanceof SvcError && error.code === "dataset_manifest_invalid", String((error as Error).stack));
      refused++;
    }
  }
  assert.ok(refused > 2000);
});
