/** The build of the page: the same files from every working directory, and a digest that covers them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { BuiltPage } from "../../ui/build.ts";
import { openTestServer } from "../lib/http/support.ts";
import { putBuiltPage } from "../support/built_page.ts";
import { ROOT_PATH } from "../support/paths.ts";

const BUILD = new URL("../../ui/build.ts", import.meta.url).href;

/** Builds the page in a process of its own: a process has one working directory, and settings found from there. */
async function build(cwd: string, stateDir: string, module = BUILD): Promise<BuiltPage> {
  const script = `const { buildPage } = await import("${module}");
    console.log(JSON.stringify(await buildPage("${stateDir}")));`;
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", script],
    cwd,
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

async function contents(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const { name } of Deno.readDir(folder)) files.set(name, (await Deno.readFile(join(folder, name))).toHex());
  return new Map([...files].sort());
}

Deno.test("the page has the same bytes and digest from any working directory and in any project", async () => {
  const root = await Deno.makeTempDir({ prefix: "svc-page-" });
  try {
    await Deno.mkdir(join(root, "first/deep/er"), { recursive: true });
    const first = await build(join(root, "first/deep/er"), join(root, "first/.svc"));
    const second = await build(ROOT_PATH, join(root, "second/.svc"));
    assert.equal(first.digest, second.digest);
    const [files, others] = [await contents(first.folder), await contents(second.folder)];
    assert.deepEqual([...files.keys()], [...others.keys()]);
    for (const [name, bytes] of files) assert.ok(others.get(name) === bytes, `${name} differs`);

    // The content policy of the page forbids WebAssembly: what the page imports has no kernels.
    for (const [name, bytes] of files) {
      const text = new TextDecoder().decode(Uint8Array.fromHex(bytes));
      assert.ok(!/WebAssembly\.(Module|Instance|compile|instantiate)/.test(text), `${name} compiles WebAssembly`);
    }

    // A later start takes the files that are there, and builds again where one of them was altered.
    const stamp = async () => (await Deno.stat(join(first.folder, "main.js"))).mtime;
    const builtAt = await stamp();
    assert.deepEqual(await build("/", join(root, "first/.svc")), first);
    assert.deepEqual(await stamp(), builtAt);
    await Deno.writeTextFile(join(first.folder, "main.js"), "broken");
    assert.deepEqual(await build("/", join(root, "first/.svc")), first);
    assert.deepEqual(await contents(first.folder), files);

    // A program in a folder whose name is not its own form in a URL.
    await Deno.symlink(ROOT_PATH, join(root, "a b%20ü"));
    const module = new URL(encodeURI(join(root, "a b%20ü", "ui/build.ts")), "file:///").href;
    assert.equal((await build(root, join(root, "third/.svc"), module)).digest, first.digest);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

/** Sizes of a script and of all that it imports at once, compressed with gzip. */
function closureOf(files: ReadonlyMap<string, string>, name: string, found = new Map<string, number>()) {
  if (found.has(name)) return found;
  found.set(name, files.get(`${name}.gz`)!.length / 2);
  const text = new TextDecoder().decode(Uint8Array.fromHex(files.get(name)!));
  for (const [, other] of text.matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g)) closureOf(files, other, found);
  return found;
}

Deno.test("budgets: 60 KiB until the editor is there, 30 KiB of them for the editor itself", async () => {
  const stateDir = await Deno.makeTempDir({ prefix: "svc-page-" });
  try {
    const files = await contents(await putBuiltPage(stateDir));
    const sum = (sizes: Iterable<number>) => [...sizes].reduce((total, size) => total + size, 0);
    const frame = closureOf(files, "main.js");
    const editor = closureOf(files, [...files.keys()].find((name) => /^editor-\d+\.js$/.test(name))!);
    const own = sum([...editor].filter(([name]) => !frame.has(name)).map(([, size]) => size));
    assert.ok(frame.size > 5 && editor.size > 5, "the imports are found");
    assert.ok(own < 30 * 1024, `The editor has ${own} bytes`);
    assert.ok(sum(frame.values()) + own < 60 * 1024, `The first load has ${sum(frame.values()) + own} bytes`);
    const sheet = new TextDecoder().decode(Uint8Array.fromHex(files.get("main.css")!));
    assert.doesNotMatch(sheet, /\/\*|\n|\{\}/, "comments, lines and empty rules are not sent");
    assert.equal(sheet.split("{").length, sheet.split("}").length);
    // As a browser asks for them, with the style sheet.
    const sent = sum(
      [...frame.keys(), ...editor.keys(), "boot.js", "main.css"].filter((name, at, all) => all.indexOf(name) === at)
        .map((name) => files.get(`${name}.br`)!.length / 2),
    );
    assert.ok(sent < 60_000, `Scripts and styles of the first load have ${sent} bytes`);
  } finally {
    await Deno.remove(stateDir, { recursive: true });
  }
});

Deno.test("scripts and styles are sent with the coding that the client takes, each with its own tag", async () => {
  await using server = await openTestServer();
  await putBuiltPage(join(server.folder, ".svc"));
  const [base] = /\/static\/\w+/.exec((await server.get("/")).text)!;
  const ask = async (file: string, headers: Record<string, string>) => {
    const response = await server.request(`${base}/${file}`, { headers });
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, bytes, header: (name: string) => response.headers.get(name) };
  };
  for (const file of ["main.js", "main.css"]) {
    const plain = await ask(file, {});
    assert.equal(plain.header("content-encoding"), null);
    const brotli = await ask(file, { "accept-encoding": "gzip, deflate, br" });
    assert.equal(brotli.header("content-encoding"), "br");
    assert.deepEqual(new Uint8Array(brotliDecompressSync(brotli.bytes)), plain.bytes);
    const gzip = await ask(file, { "accept-encoding": "br;q=0, *" });
    assert.equal(gzip.header("content-encoding"), "gzip");
    assert.deepEqual(new Uint8Array(gunzipSync(gzip.bytes)), plain.bytes);
    assert.equal((await ask(file, { "accept-encoding": "identity, *;q=0" })).header("content-encoding"), null);

    const replies = [plain, brotli, gzip];
    assert.equal(new Set(replies.map(({ header }) => header("etag"))).size, 3);
    for (const { header } of replies) {
      assert.equal(header("vary"), "accept-encoding");
      assert.match(header("cache-control")!, /immutable/);
      assert.match(header("etag")!, /^"/);
    }
    const again = await ask(file, { "accept-encoding": "gzip", "if-none-match": gzip.header("etag")! });
    assert.deepEqual([again.status, again.bytes.length], [304, 0]);
    assert.match(again.header("cache-control")!, /immutable/);
    const other = await ask(file, { "accept-encoding": "br", "if-none-match": gzip.header("etag")! });
    assert.equal(other.status, 200);
  }
  const font = await ask("inter.woff2", { "accept-encoding": "gzip, br" });
  assert.deepEqual([font.status, font.header("content-encoding")], [200, null]);
  for (const file of ["main.js.gz", "main.js.br", "digest"]) assert.equal((await ask(file, {})).status, 404, file);
});

Deno.test("the document names all scripts of the frame, and those of each view", async () => {
  await using server = await openTestServer();
  await putBuiltPage(join(server.folder, ".svc"));
  const { text } = await server.get("/"), base = /\/static\/\w+/.exec(text)![0];
  const ahead = [...text.matchAll(/<link rel="modulepreload" href="[^"]*\/([\w-]+\.js)">/g)].map(([, name]) => name);
  const views = new Map([...text.matchAll(/ data-(\w+)="([\w-]+\.js[^"]*)"/g)].map(([, view, names]) => [view, names]));
  const frame = await Deno.readTextFile(new URL("../../ui/frame.tsx", import.meta.url));
  assert.deepEqual(
    [...views.keys()],
    [...frame.matchAll(/^ {2}(\w+): \(\) => import\("\.\/pages\//gm)].map(([, view]) => view),
  );
  assert.ok(ahead.includes("main.js") && ahead.length > 5);
  const importsOf = async (name: string) => {
    const script = await (await server.request(`${base}/${name}`)).text();
    return [...script.matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g)].map(([, other]) => other);
  };
  for (const [view, names] of [["frame", ahead.join(" ")], ...views]) {
    const found = names.split(" ");
    for (const name of found) {
      const late = (await importsOf(name)).filter((other) => !found.includes(other) && !ahead.includes(other));
      assert.deepEqual(late, [], `${name} of ${view} imports what is not fetched beside it`);
    }
  }
});
