import assert from "node:assert/strict";
import { join } from "node:path";
import { writeZip } from "../../../lib/artifact/zip_write.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { bring, verifyFetched } from "../../../lib/fetch/bring.ts";
import { fetchDataset } from "../../../lib/fetch/datasets.ts";
import { checkAddress, download } from "../../../lib/fetch/download.ts";
import { fetchModel, listModels, verifyModels } from "../../../lib/fetch/models.ts";
import { isModel, resolveModel } from "../../../lib/model/resolve.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const COMMIT = "a".repeat(40);

/** A server of files that knows ranges, and cuts the first answer of a file when it is told to. */
async function server(files: Record<string, string>, { cutAt = {} as Record<string, number> } = {}) {
  const folder = await Deno.makeTempDir({ prefix: "svc-fetch-" });
  const requests: { path: string; range: string | null }[] = [];
  const contents = new Map(Object.entries(files));
  const http = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    const path = new URL(request.url).pathname.slice(1);
    const text = contents.get(path);
    if (text === undefined) return new Response("no", { status: 404 });
    const bytes = new TextEncoder().encode(text), etag = `"${sha256Hex(text)}"`;
    const range = request.headers.get("range");
    requests.push({ path, range });
    const from = range !== null && request.headers.get("if-range") === etag ? Number(/\d+/.exec(range)![0]) : 0;
    if (from > bytes.length) return new Response(null, { status: 416 });
    const rest = bytes.subarray(from);
    const cut = cutAt[path];
    delete cutAt[path];
    const body = cut === undefined ? rest : new ReadableStream({
      async pull(controller) {
        controller.enqueue(rest.slice(0, cut));
        await new Promise((resolve) => setTimeout(resolve, 50));
        controller.error(new Error("cut"));
      },
    });
    return new Response(body, {
      status: from > 0 ? 206 : 200,
      headers: { etag, ...(cut === undefined ? { "content-length": String(rest.length) } : {}) },
    });
  });
  return {
    url: `http://127.0.0.1:${http.addr.port}`,
    folder,
    requests,
    put: (path: string, text: string) => contents.set(path, text),
    async [Symbol.asyncDispose]() {
      await http.shutdown();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

const CODE = { code: "model_unavailable" as const };
const LONG = "0123456789".repeat(500);

Deno.test("an interrupted download resumes at its last byte, and has the digest of the whole file", async () => {
  await using host = await server({ net: LONG }, { cutAt: { net: 1234 } });
  const target = join(host.folder, "net"), url = `${host.url}/net`;
  await assert.rejects(download(url, target, CODE), { code: "model_unavailable" });
  await assert.rejects(Deno.stat(target), Deno.errors.NotFound);
  const done = await download(url, target, { ...CODE, sha256: sha256Hex(LONG) });
  assert.deepEqual(done, { sha256: sha256Hex(LONG), size_bytes: 5000, resumed_from: 1234 });
  assert.deepEqual(host.requests.map(({ range }) => range), [null, "bytes=1234-"]);
  assert.equal(await Deno.readTextFile(target), LONG);
  assert.deepEqual([...Deno.readDirSync(host.folder)].map(({ name }) => name), ["net"]);
});

Deno.test("a file that changed between two attempts is brought from its beginning", async () => {
  await using host = await server({ net: LONG }, { cutAt: { net: 1234 } });
  const target = join(host.folder, "net"), url = `${host.url}/net`;
  await assert.rejects(download(url, target, CODE));
  host.put("net", "another");
  const { resumed_from } = await download(url, target, CODE);
  assert.equal(resumed_from, 0);
  assert.equal(await Deno.readTextFile(target), "another");
});

Deno.test("other bytes than were asked for stay out, and so does what the server does not have", async () => {
  await using host = await server({ net: "x" });
  const target = join(host.folder, "net");
  await assert.rejects(download(`${host.url}/net`, target, { ...CODE, sha256: sha256Hex("y") }), {
    code: "artifact_hash_mismatch",
  });
  await assert.rejects(download(`${host.url}/other`, target, CODE), /404/);
  assert.deepEqual([...Deno.readDirSync(host.folder)], []);
});

Deno.test("only https is trusted without a digest, and no address carries a password", () => {
  checkAddress("https://example.org/x");
  checkAddress("http://127.0.0.1:8000/x");
  checkAddress("http://example.org/x", sha256Hex("x"));
  for (
    const address of ["http://example.org/x", "ftp://example.org/x", "file:///x", "https://me:pw@example.org/x", "x"]
  ) {
    assert.throws(() => checkAddress(address), { code: "path_refused" }, address);
  }
});

Deno.test("a model is brought whole, found by its name, verified, and not fetched twice", async () => {
  await using host = await server({ "config.json": "{}", "onnx/model.onnx": "net" }, {
    cutAt: { "onnx/model.onnx": 1 },
  });
  const options = {
    stateDir: join(host.folder, "state"),
    revision: COMMIT,
    from: host.url,
    files: ["config.json", "onnx/model.onnx"],
  };
  await assert.rejects(fetchModel("org/net", options), { code: "model_unavailable" });
  assert.deepEqual(listModels(options).filter(({ id }) => id === "org/net"), []);
  const { folder, record } = await fetchModel("org/net", options);
  // What had arrived was not asked for again.
  assert.deepEqual(host.requests.map(({ path }) => path), ["config.json", "onnx/model.onnx", "onnx/model.onnx"]);
  assert.equal(record!.files["onnx/model.onnx"].sha256, sha256Hex("net"));
  assert.equal((await fetchModel("org/net", options)).fetched, false);

  const places = { projectRoot: host.folder, stateDir: options.stateDir };
  const found = resolveModel({ role: "net", id: "org/net", files: ["onnx/model.onnx"] }, places);
  assert.ok(isModel(found) && found.record.revision === COMMIT);
  const [row] = listModels(options).filter(({ id }) => id === "org/net");
  assert.deepEqual([row.status, row.revision, row.size_bytes], ["present", COMMIT, 5]);

  assert.deepEqual(verifyModels(options.stateDir).map(({ status }) => status), ["valid"]);
  await Deno.writeTextFile(join(folder, "config.json"), "[]");
  await Deno.writeTextFile(join(folder, "more.txt"), "");
  await Deno.remove(join(folder, "onnx/model.onnx"));
  assert.deepEqual(verifyModels(options.stateDir, "org/net")[0].files, [
    { path: "config.json", status: "differs" },
    { path: "onnx/model.onnx", status: "missing" },
    { path: "more.txt", status: "unexpected" },
  ]);
});

Deno.test("a model needs a commit, a file at an address its digest", async () => {
  await using host = await server({ "yolo.onnx": "net" });
  const stateDir = join(host.folder, "state");
  for (const revision of [undefined, "main", "abc123"]) {
    await assert.rejects(fetchModel("openai/clip-vit-base-patch32", { stateDir, revision }), { code: "usage_invalid" });
  }
  await assert.rejects(fetchModel("segmind/tiny-sd", { stateDir, revision: COMMIT }), { code: "model_unavailable" });
  await assert.rejects(fetchModel("org/unknown", { stateDir, revision: COMMIT }), { code: "not_found" });
  const url = `${host.url}/yolo.onnx`;
  await assert.rejects(fetchModel(url, { stateDir }), { code: "usage_invalid" });
  const sha256 = sha256Hex("net");
  assert.equal((await fetchModel(url, { stateDir, sha256 })).fetched, true);
  assert.equal((await fetchModel(url, { stateDir, sha256 })).fetched, false);
  const found = resolveModel({ role: "net", id: url, sha256, files: ["model.onnx"] }, {
    projectRoot: host.folder,
    stateDir,
  });
  assert.ok(isModel(found));
});

Deno.test("an archive is unpacked without its top folder, and no name in it leaves the folder", async () => {
  const zip = (entries: Record<string, string>) =>
    writeZip(Object.entries(entries).map(([name, text]) => ({ name, parts: [new TextEncoder().encode(text)] })))
      .slice();
  await using host = await server({});
  const serve = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) =>
      new Response(
        zip(new URL(request.url).pathname === "/good.zip" ? { "top/a.txt": "a", "top/b/c.txt": "c" } : { "../a": "a" }),
      ),
  );
  const url = (name: string) => `http://127.0.0.1:${serve.addr.port}/${name}.zip`;
  const bringing = (name: string, sha256?: string) => ({
    id: name,
    version: "1",
    url: url(name),
    files: { "all.zip": { url: url(name) } },
    unpack: true,
    sha256,
  });
  try {
    const folder = join(host.folder, "good");
    const record = await bring(bringing("good"), folder, { code: "dataset_unavailable" });
    assert.deepEqual(Object.keys(record.files), ["a.txt", "b/c.txt"]);
    assert.deepEqual(verifyFetched(folder, record).map(({ status }) => status), ["ok", "ok"]);
    const again = join(host.folder, "again");
    assert.equal(
      (await bring(bringing("good", record.sha256), again, { code: "dataset_unavailable" })).sha256,
      record.sha256,
    );
    const refused = bring(bringing("good", "0".repeat(64)), join(host.folder, "no"), { code: "dataset_unavailable" });
    await assert.rejects(refused, { code: "artifact_hash_mismatch" });
    await assert.rejects(bring(bringing("bad"), join(host.folder, "bad"), { code: "dataset_unavailable" }));
    await assert.rejects(Deno.stat(join(host.folder, "a")), Deno.errors.NotFound);
  } finally {
    await serve.shutdown();
  }
});

Deno.test("a data set without a known digest is not taken without a word", async () => {
  const stateDir = temporaryFolder();
  await assert.rejects(fetchDataset("kodak", { stateDir }), { code: "usage_invalid" });
  await assert.rejects(fetchDataset("vqa_small", { stateDir, acceptUnpinned: true }), {
    code: "dataset_unavailable",
  });
  await assert.rejects(fetchDataset("kodac", { stateDir }), /published dataset named kodac/);
  await Deno.mkdir(join(stateDir, "datasets/coco128"), { recursive: true });
  // Filled by hand: nothing to fetch, and nothing to say about its bytes.
  assert.deepEqual(await fetchDataset("coco128_detection", { stateDir }), {
    folder: join(stateDir, "datasets/coco128"),
    fetched: false,
    record: null,
  });
});
