/** Uploaded files: kinds by content, names and folders of others, limits, and nothing half-written. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { MAX_UPLOAD_BYTES } from "../../../lib/http/data_upload.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { until } from "../../support/until.ts";
import { openTestServer, type TestServer, withServer } from "./support.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const PICTURE = await Deno.readFile(new URL("../../../recipes/samples/camera.png", import.meta.url));
const utf8 = (text: string) => new TextEncoder().encode(text);
const META = utf8(JSON.stringify({
  global: { "core:datatype": "ci8", "core:sample_rate": 1e6, "core:version": "1.2.0" },
  captures: [{ "core:sample_start": 0 }],
  annotations: [],
}));

async function send(
  server: TestServer,
  name: string,
  bytes: Uint8Array<ArrayBuffer>,
  { folder = "set", headers = {} }: { folder?: string; headers?: Record<string, string> } = {},
) {
  const response = await server.request(`/api/data/uploads?${new URLSearchParams({ folder, name })}`, {
    method: "POST",
    headers: { "content-type": "application/octet-stream", ...headers },
    body: bytes,
  });
  // deno-lint-ignore no-explicit-any -- documents of two shapes
  return { status: response.status, json: await response.json() as any };
}

/** All paths below the project's folder of uploads, hidden ones included. */
async function uploaded(folder: string): Promise<string[]> {
  const found: string[] = [];
  const walk = async (below: string) => {
    for await (const { name, isDirectory } of Deno.readDir(join(folder, below))) {
      found.push(`${below}/${name}`);
      if (isDirectory) await walk(`${below}/${name}`);
    }
  };
  await walk("uploads").catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  return found.sort();
}

/** An IDX file of one image of 2 x 2 pixels. */
const idx = (magic: number) => Uint8Array.of(0, 0, 8, magic, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4);

Deno.test("files of each kind are stored with their bytes, and a second upload of the same bytes changes nothing", async () => {
  await using server = await openTestServer();
  const files: Record<string, Uint8Array<ArrayBuffer>> = {
    "one.png": PICTURE,
    "two.txt": utf8("A sentence, ä\n"),
    "three.jsonl": utf8('{"text": "one"}\n'),
    "four.sigmf-meta": META,
    "four.sigmf-data": new Uint8Array(8),
    "five.cf32": new Uint8Array(16),
    "six.npz": writeNpz({ h: ndarray("complex64", new Float32Array(8), [1, 4]) }).slice(),
    "t10k-images-idx3-ubyte": idx(3),
    "test_batch.bin": new Uint8Array(2 * 3073).fill(9),
  };
  for (const [name, bytes] of Object.entries(files)) {
    const { status, json } = await send(server, name, bytes);
    assert.deepEqual([status, json.path, json.sha256], [201, `uploads/set/${name}`, sha256Hex(bytes)], name);
    assert.deepEqual(await Deno.readFile(join(server.folder, json.path)), bytes);
  }
  const before = await uploaded(server.folder);
  assert.equal(before.length, 1 + Object.keys(files).length);
  const again = await send(server, "one.png", PICTURE);
  assert.deepEqual([again.status, again.json.outcome], [200, "present"]);
  assert.deepEqual(await uploaded(server.folder), before);
  const other = await send(server, "two.txt", utf8("Another sentence\n"));
  assert.deepEqual([other.status, other.json.code], [409, "upload_exists"]);
  assert.equal(await Deno.readTextFile(join(server.folder, "uploads/set/two.txt")), "A sentence, ä\n");
});

Deno.test("names are cleaned, and those that name another place are refused", async () => {
  await using server = await openTestServer();
  const clean = await send(server, "My photo (1) é.PNG", PICTURE, { folder: "Fotos_ü" });
  assert.equal(clean.json.path, "uploads/Fotos_ü/My_photo__1__é.png");
  const before = await uploaded(server.folder);
  const names = ["../a.png", "a/b.png", "a\\b.png", ".a.png", "", " a.png", "a.png ", "a.png.", "a\0.png", "a\n.png"];
  for (const name of [...names, "con.png", "LPT1.png", "x".repeat(300) + ".png"]) {
    const { status, json } = await send(server, name, PICTURE);
    assert.deepEqual([status, json.code], [400, "upload_refused"], name);
  }
  for (const folder of ["..", "../x", "a/b", "", ".svc", ".staged", "a b", "nul"]) {
    const { status, json } = await send(server, "a.png", PICTURE, { folder });
    assert.deepEqual([status, json.code], [400, "upload_refused"], folder);
  }
  assert.deepEqual(await uploaded(server.folder), before);
});

Deno.test("content that its name does not promise is refused, and leaves no file", async () => {
  await using server = await openTestServer();
  const hostile: Record<string, Uint8Array<ArrayBuffer>> = {
    "text.png": utf8("no image"),
    "png.jpg": PICTURE,
    "cut.png": PICTURE.slice(0, 2000),
    "empty.png": new Uint8Array(),
    "latin.txt": Uint8Array.of(0x41, 0xe4),
    "nul.csv": utf8("a\0b"),
    "bad.sigmf-meta": utf8("{"),
    "lonely.sigmf-data": new Uint8Array(8),
    "odd.cf32": new Uint8Array(9),
    "bad.npz": utf8("PK no archive"),
    "bad.npy": utf8("no array"),
    "bad.h5": utf8("no HDF5"),
    "bad.mat": utf8("no MAT"),
    "t10k-images-idx3-ubyte": idx(1),
    "test_batch.bin": new Uint8Array(3073).fill(10),
    "run.sh": utf8("#!/bin/sh\n"),
    "page.html": utf8("<script>"),
    "manifest.json": utf8("{}"),
    "recipe.yaml": utf8("name: x"),
  };
  for (const [name, bytes] of Object.entries(hostile)) {
    const { status, json } = await send(server, name, bytes);
    assert.deepEqual([status, json.code], [400, "upload_refused"], name);
    assert.ok(!json.detail.includes(server.folder), json.detail);
  }
  assert.equal((await send(server, "pair.sigmf-meta", META)).status, 201);
  assert.equal((await send(server, "pair.sigmf-data", new Uint8Array(7))).json.code, "upload_refused");
  assert.deepEqual(await uploaded(server.folder), ["uploads/set", "uploads/set/pair.sigmf-meta"]);
});

Deno.test("no link in the folder of uploads is followed", async () => {
  const outside = temporaryFolder();
  for (const link of ["uploads", "uploads/set", "uploads/set/a.png"]) {
    await using server = await openTestServer();
    await Deno.mkdir(join(server.folder, link, ".."), { recursive: true });
    await Deno.symlink(link.endsWith(".png") ? join(outside, "a.png") : outside, join(server.folder, link));
    const { status, json } = await send(server, "a.png", PICTURE);
    assert.deepEqual([status, json.code], [403, "path_forbidden"], link);
  }
  // A link in place of the hidden folder is removed itself.
  await using server = await openTestServer();
  await Deno.mkdir(join(server.folder, "uploads"));
  await Deno.writeTextFile(join(outside, "kept.txt"), "kept");
  await Deno.symlink(outside, join(server.folder, "uploads/.staged"));
  assert.equal((await send(server, "a.png", PICTURE)).status, 201);
  assert.deepEqual([...Deno.readDirSync(outside)].map(({ name }) => name), ["kept.txt"]);
  await Deno.writeTextFile(join(server.folder, "uploads/file"), "");
  assert.equal((await send(server, "a.png", PICTURE, { folder: "file" })).json.code, "path_forbidden");
});

Deno.test("other sites, a read-only server and JSON cannot store files", async () => {
  await using server = await openTestServer({ token: "t".repeat(32) });
  const authorization = `Bearer ${"t".repeat(32)}`;
  const codeOf = async (headers: Record<string, string>) =>
    (await send(server, "a.png", PICTURE, { headers })).json.code;
  assert.equal(await codeOf({}), "unauthorized");
  assert.equal(await codeOf({ authorization, origin: "https://example.org" }), "origin_refused");
  assert.equal(await codeOf({ authorization, "sec-fetch-site": "cross-site" }), "origin_refused");
  assert.equal(await codeOf({ authorization, "content-type": "multipart/form-data" }), "media_type_unsupported");
  assert.equal(await codeOf({ authorization, "content-type": "application/json" }), "media_type_unsupported");
  await using reader = await openTestServer({ readOnly: true });
  assert.equal((await send(reader, "a.png", PICTURE)).json.code, "read_only");
  assert.deepEqual([...await uploaded(server.folder), ...await uploaded(reader.folder)], []);
});

Deno.test("the size of a file and the number of files have limits", async () => {
  await using server = await openTestServer();
  const large = await send(server, "a.txt", new Uint8Array(MAX_UPLOAD_BYTES + 1));
  assert.deepEqual([large.status, large.json.code], [413, "body_too_large"]);
  assert.match(large.json.hint, /folder of the project/);
  assert.deepEqual(await uploaded(server.folder), []);
  await Deno.mkdir(join(server.folder, "uploads/full"), { recursive: true });
  for (let i = 0; i < 4999; i++) Deno.writeTextFileSync(join(server.folder, `uploads/full/${i}.txt`), "");
  assert.equal((await send(server, "a.txt", utf8("a"))).status, 201);
  const { status, json } = await send(server, "b.txt", utf8("b"));
  assert.deepEqual([status, json.code], [409, "upload_limit_exceeded"]);
});

Deno.test("all bytes together have a limit", async () => {
  await using server = await openTestServer({ files: { "uploads/full/a.txt": "" } });
  // Without blocks on the disk.
  await Deno.truncate(join(server.folder, "uploads/full/a.txt"), 2 ** 32 - 1);
  assert.equal((await send(server, "a.txt", utf8("a"))).status, 201);
  assert.equal((await send(server, "b.txt", utf8("b"))).json.code, "upload_limit_exceeded");
});

Deno.test("an upload that is cut off, or whose process ended, leaves no file; two at once store one", async () => {
  await withServer({}, async ({ url }, folder) => {
    const { hostname, port } = new URL(url);
    const connection = await Deno.connect({ hostname, port: Number(port) });
    const head = `POST /api/data/uploads?folder=set&name=a.png HTTP/1.1\r\nHost: ${hostname}:${port}\r\n` +
      `Content-Type: application/octet-stream\r\nContent-Length: ${PICTURE.length}\r\n\r\n`;
    await connection.write(utf8(head));
    await connection.write(PICTURE.subarray(0, 1000));
    connection.close();
    // A process that ended while it wrote.
    await Deno.mkdir(join(folder, "uploads/.staged"), { recursive: true });
    await Deno.writeFile(join(folder, "uploads/.staged/old.png"), PICTURE.subarray(0, 1000));
    const post = async (bytes: Uint8Array<ArrayBuffer>) => {
      const response = await fetch(`${url}/api/data/uploads?folder=set&name=b.txt`, {
        method: "POST",
        headers: { "content-type": "application/octet-stream" },
        body: bytes,
      });
      await response.body?.cancel();
      return response.status;
    };
    const statuses = await Promise.all(["one", "two", "three"].map((text) => post(utf8(text))));
    assert.deepEqual(statuses.sort(), [201, 409, 409]);
    await until("only the whole file is there", async () => {
      const found = await uploaded(folder);
      return found.join() === "uploads/set,uploads/set/b.txt";
    });
  });
});
