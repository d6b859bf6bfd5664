/** Files of the project as data: folders, previews with known answers, manifests, and paths that are refused. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { makeLinesManifest } from "../../../lib/artifact/text_lines_file.ts";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { prettyJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { openTestServer } from "./support.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const PICTURE = new URL("../../../recipes/samples/camera.png", import.meta.url);
const numbers = (list: unknown[]) => list.map(Number);

Deno.test("a folder of images has thumbnails and a manifest, which is listed and not replaced", async () => {
  await using server = await openTestServer({ files: { "photos/bad.png": "no image", "photos/.hidden.png": "x" } });
  await Deno.copyFile(PICTURE, join(server.folder, "photos/camera.png"));
  const listed = (await server.get("/api/data/files?folder=photos")).json;
  assert.deepEqual(listed.files.map(({ path, kind }: { path: string; kind: string }) => [path, kind]), [
    ["photos/bad.png", "image"],
    ["photos/camera.png", "image"],
  ]);
  const { preview } = (await server.get("/api/data/preview?path=photos")).json;
  assert.equal(Number(preview.count), 2);
  assert.match(preview.images[0].problem, /neither PNG nor JPEG/);
  const png = Uint8Array.fromBase64(preview.images[1].png), size = new DataView(png.buffer);
  assert.equal(Math.min(size.getUint32(16), size.getUint32(20)), 72);
  assert.equal((await server.post("/api/data/manifests", { path: "photos" })).status, 400);
  const made = (await server.post("/api/data/manifests", { path: "photos", skip_unreadable: true })).json;
  assert.deepEqual([made.path, made.id, Number(made.sample_count)], ["photos/manifest.json", "photos", 1]);
  assert.equal(made.warnings.length, 1);
  assert.equal(made.kind, "svc.image_dataset_manifest");
  const again = await server.post("/api/data/manifests", { path: "photos", skip_unreadable: true });
  assert.deepEqual([again.status, again.json.code], [400, "manifest_exists"]);
  assert.ok((await server.get("/api/data/files?folder=photos")).text.includes('"manifest"'));
});

Deno.test("a tone, two paths and a text are shown as they were written", async () => {
  await using server = await openTestServer({
    files: {
      "texts.jsonl": '{"text": "one"}\n{"text": "two"}\n',
      "tone.sigmf-meta": JSON.stringify({
        global: { "core:datatype": "cf32_le", "core:sample_rate": 1e6, "core:version": "1.2.0" },
        captures: [{ "core:sample_start": 0 }],
        annotations: [],
      }),
    },
  });
  const write = (name: string, bytes: Uint8Array) => Deno.writeFile(join(server.folder, name), bytes.slice());
  const preview = async (path: string) => (await server.get(`/api/data/preview?path=${path}`)).json;
  // Of 1/8 of the sample rate.
  const tone = Float32Array.from(
    { length: 4096 },
    (_, i) => (i % 2 === 0 ? Math.cos : Math.sin)(Math.PI / 4 * (i >> 1)),
  );
  await write("tone.sigmf-data", new Uint8Array(tone.buffer));
  const spectrum = await preview("tone.sigmf-meta");
  const levels = numbers(spectrum.preview.level_db), at = levels.indexOf(0);
  assert.equal(Number(spectrum.preview.x[at]), 125_000);
  // The Hann window has its neighbours at -6 dB, and nothing beyond.
  assert.deepEqual(numbers([levels[at - 1], levels[at + 1]]), [-6, -6]);
  assert.ok(Math.max(...levels.filter((_, i) => Math.abs(i - at) > 1)) < -100);
  assert.equal(Number(spectrum.description.sample_count), 2048);

  const width = 16, h = new Float32Array(2 * width);
  for (let k = 0; k < width; k++) {
    const angle = -2 * Math.PI * 3 * k / width;
    h.set([1 + 0.5 * Math.cos(angle), 0.5 * Math.sin(angle)], 2 * k);
  }
  await write("h.npz", writeNpz({ h: ndarray("complex64", h, [1, width]) }));
  const profile = (await preview("h.npz")).preview;
  assert.deepEqual(numbers(profile.level_db).slice(0, 4).map((level) => Math.max(level, -100)), [0, -100, -100, -6]);
  const paths = writeNpz({
    a: ndarray("complex64", Float32Array.of(0.1, 0, 0, 1), [1, 2]),
    tau: ndarray("float64", Float64Array.of(3e-7, 1e-7), [1, 2]),
  });
  await write("paths.npz", paths);
  const { x, level_db } = (await preview("paths.npz")).preview;
  assert.deepEqual([numbers(x).map(Math.round), numbers(level_db)], [[100, 300], [0, -20]]);
  assert.deepEqual((await preview("texts.jsonl")).preview.lines.slice(0, 2), ['{"text": "one"}', '{"text": "two"}']);
});

Deno.test("hidden paths, links, ways out of the project and damaged files are refused with a code", async () => {
  const outside = temporaryFolder();
  await using server = await openTestServer({
    files: { ".svc/key.txt": "secret", "a/b.npz": "PK", "one.sigmf-meta": "{}" },
  });
  await Deno.writeTextFile(join(outside, "secret.txt"), "secret");
  await Deno.symlink(join(outside, "secret.txt"), join(server.folder, "a/link.txt"));
  await Deno.symlink(outside, join(server.folder, "linked"));
  await Deno.symlink(join(outside, "secret.txt"), join(server.folder, "one.sigmf-data"));
  for (
    const path of [
      "../secret.txt",
      "/etc/passwd",
      ".svc/key.txt",
      "a/.x.txt",
      "a/link.txt",
      "linked/secret.txt",
      "linked",
    ]
  ) {
    for (
      const reply of [
        await server.get(`/api/data/files?folder=${encodeURIComponent(path)}`),
        await server.get(`/api/data/preview?path=${encodeURIComponent(path)}`),
        await server.post("/api/data/manifests", { path }),
      ]
    ) {
      assert.deepEqual([reply.status, reply.json.code], [403, "path_forbidden"], path);
      assert.ok(!reply.text.includes('"secret"'), path);
    }
  }
  const codeOf = async (path: string) => (await server.get(`/api/data/preview?path=${path}`)).json.code;
  assert.equal(await codeOf("one.sigmf-meta"), "path_forbidden");
  assert.equal(await codeOf("a/b.npz"), "artifact_archive_invalid");
  assert.equal(await codeOf("absent.npz"), "not_found");
  await Deno.writeFile(join(server.folder, "a/nan.cf32"), new Uint8Array(new Float32Array(2048).fill(NaN).buffer));
  await Deno.writeFile(join(server.folder, "a/cut.cf32"), new Uint8Array(8195));
  for (const [name, code] of [["nan", "boundary_non_finite"], ["cut", "recording_invalid"]]) {
    const { status, json } = await server.get(`/api/data/preview?path=a/${name}.cf32`);
    assert.deepEqual([status, json.code], [400, code]);
  }
  assert.ok(!(await server.get("/api/data/files?folder=a")).text.includes("link.txt"));
});

Deno.test("manifests of the project are listed with the state of their files, and no path of theirs leaves the project", async () => {
  const outside = temporaryFolder();
  await using server = await openTestServer({
    files: {
      "words/a.txt": "one",
      "words/b.txt": "two",
      "tone.cf32": "12345678",
      "broken/manifest.json": "{",
      "other/x.manifest.json":
        '{"kind": "svc.bit_payload_manifest", "items": [{"id": "a", "path": "a.bin", "sha256": "0"}]}',
      "other/code.alist": "x",
      ".hidden/manifest.json": "{",
    },
  });
  await Deno.mkdir(join(server.folder, "photos"));
  for (const name of ["camera", "second"]) await Deno.copyFile(PICTURE, join(server.folder, `photos/${name}.png`));
  for (const path of ["photos", "words"]) {
    assert.equal((await server.post("/api/data/manifests", { path })).status, 200);
  }
  await Deno.writeTextFile(join(server.folder, "corpus.en"), "one\n\ntwo\n");
  const lines = prettyJson(makeLinesManifest(join(server.folder, "corpus.en")) as unknown as JsonObject);
  await Deno.writeTextFile(join(server.folder, "corpus.en.manifest.json"), lines);
  const rows = async (): Promise<JsonObject[]> => (await server.get("/api/data/sets")).json.sets;
  const states = async () =>
    Object.fromEntries((await rows()).map(({ path, kind, state }) => [path, `${kind} ${state}`]));
  assert.deepEqual(await states(), {
    "corpus.en.manifest.json": "texts unchanged",
    "tone.cf32": "recording not_checked",
    "broken/manifest.json": "images unreadable",
    "photos/manifest.json": "images unchanged",
    "words/manifest.json": "texts unchanged",
    "other/code.alist": "code not_checked",
    "other/x.manifest.json": "bits changed",
  });
  const manifest = await Deno.readFile(join(server.folder, "photos/manifest.json"));
  const row = (await rows()).find(({ path }) => path === "photos/manifest.json")!;
  assert.deepEqual([row.id, row.sha256, Number(row.sample_count)], ["photos", sha256Hex(manifest), 2]);
  const { description, preview } = (await server.get("/api/data/preview?path=photos/manifest.json")).json;
  assert.deepEqual(preview.images.map(({ id }: { id: string }) => id), description.sample_ids);
  assert.equal(preview.images.length, 2);

  const corpus = (await rows()).find(({ path }) => path === "corpus.en.manifest.json")!;
  assert.deepEqual([corpus.id, corpus.sha256, Number(corpus.sample_count)], ["corpus.en", sha256Hex(lines), 2]);

  const code = (await server.get("/api/data/preview?path=other/code.alist")).json;
  assert.deepEqual([code.kind, code.description.sha256], ["code", sha256Hex("x")]);

  await Deno.writeTextFile(join(server.folder, "words/a.txt"), "another");
  await Deno.writeTextFile(join(server.folder, "corpus.en"), "one\n\nTwo\n");
  await Deno.remove(join(server.folder, "photos/second.png"));
  const changed = await states();
  assert.equal(changed["words/manifest.json"], "texts changed");
  assert.equal(changed["corpus.en.manifest.json"], "texts changed");
  assert.equal(changed["photos/manifest.json"], "images changed");
  // A file of the same bytes outside is not read: neither by a link nor by the root of the manifest.
  await Deno.copyFile(PICTURE, join(outside, "second.png"));
  await Deno.symlink(join(outside, "second.png"), join(server.folder, "photos/second.png"));
  assert.equal((await states())["photos/manifest.json"], "images changed");
  await Deno.copyFile(PICTURE, join(outside, "camera.png"));
  const moved = { ...JSON.parse(new TextDecoder().decode(manifest)), root: outside };
  await Deno.writeTextFile(join(server.folder, "photos/manifest.json"), JSON.stringify(moved));
  const [leaving] = (await rows()).filter(({ path }) => path === "photos/manifest.json");
  assert.notEqual(leaving.state, "unchanged");
  assert.ok(!(await server.get("/api/data/preview?path=photos/manifest.json")).text.includes('"png"'));
});
