/** The build of the page: the same files from every working directory, and a digest that covers them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { BuiltPage } from "../../ui/build.ts";
import { BESIDE, closureOf, groupsOf, joined } from "../../ui/join.ts";
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
    // The page that all tests share is built in the folder of the checkout.
    const folder = await putBuiltPage(join(root, "first/.svc")),
      files = await contents(folder),
      deep = join(root, "first/deep/er");
    await Deno.mkdir(deep, { recursive: true });
    const digest = await Deno.readTextFile(join(folder, "digest"));
    // Files that are there are taken, and built again where one of them was altered.
    const stamp = async () => (await Deno.stat(join(folder, "main.js"))).mtime;
    const builtAt = await stamp(), first = await build("/", join(root, "first/.svc"));
    assert.deepEqual([first.folder, first.digest, await stamp()], [folder, digest, builtAt]);
    await Deno.writeTextFile(join(folder, "main.js"), "broken");
    assert.deepEqual(await build(deep, join(root, "first/.svc")), first);
    const again = await contents(folder);
    assert.deepEqual([...again.keys()], [...files.keys()]);
    for (const [name, bytes] of files) assert.ok(again.get(name) === bytes, `${name} differs`);

    // The content policy of the page forbids WebAssembly: what the page imports has no kernels.
    for (const [name, bytes] of files) {
      const text = new TextDecoder().decode(Uint8Array.fromHex(bytes));
      assert.ok(!/WebAssembly\.(Module|Instance|compile|instantiate)/.test(text), `${name} compiles WebAssembly`);
    }

    // A program in a folder whose name is not its own form in a URL.
    await Deno.symlink(ROOT_PATH, join(root, "a b%20ü"));
    const module = new URL(encodeURI(join(root, "a b%20ü", "ui/build.ts")), "file:///").href;
    assert.equal((await build(root, join(root, "third/.svc"), module)).digest, first.digest);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("chunks of the views become one file where that saves requests, and never files that import each other", () => {
  const long = "x".repeat(9000);
  const scripts = new Map([
    ["main.js", `import{a as b}from"./chunk-1.js";f({runs:()=>import("./runs.js"),editor:()=>import("./editor.js")})`],
    ["chunk-1.js", "export{q as a}"],
    ["runs.js", `import{a as c}from"./chunk-2.js";import{a as d}from"./chunk-4.js";export{e as default}`],
    ["editor.js", `import{a as c}from"./chunk-2.js";import{a as d}from"./chunk-3.js";export{e as default}`],
    ["chunk-2.js", `import{a as b}from"./chunk-1.js";var c=b;export{c as a}`],
    ["chunk-3.js", `${long};export{c as a}`],
    ["chunk-4.js", `import"./chunk-2.js";${long};export{c as a}`],
    ["part.js", `import{a as b}from"./chunk-2.js"`],
  ]);
  assert.deepEqual(Object.fromEntries(groupsOf(scripts, "main.js")), {
    "main.js": ["main.js", "chunk-1.js", "chunk-2.js"],
    "editor.js": ["chunk-3.js", "editor.js"],
    "runs.js": ["chunk-4.js", "runs.js"],
  });
  // Two views take chunk-5, which imports what only one of them has: in the file of that view it would be imported back.
  const round = new Map([
    ["main.js", `f({runs:()=>import("./runs.js"),editor:()=>import("./editor.js")})`],
    ["runs.js", `import"./chunk-5.js";import"./chunk-6.js";export{e as default}`],
    ["editor.js", `${long.repeat(9)}export{e as default}`],
    ["chunk-5.js", `import"./chunk-6.js";${long}`],
    ["chunk-6.js", `import"./chunk-7.js"`],
    ["chunk-7.js", long],
  ]);
  for (const [home, members] of groupsOf(round, "main.js")) {
    const later = members.flatMap((name) => [...closureOf(round, name)]).filter((name) => !members.includes(name));
    for (const name of later) {
      assert.ok(![...closureOf(round, name)].some((other) => members.includes(other)), `${home} and ${name}`);
    }
  }
});

Deno.test("a file of several scripts names what others import from them", async () => {
  const scripts = new Map([
    ["main.js", `import{a as b}from"./chunk-1.js";b();f({runs:()=>import("./runs.js")})`],
    ["chunk-1.js", "var q=1;export{q as a,q as b}"],
    ["runs.js", `import{b as c}from"./chunk-1.js";import"./main.js";export{c as default}`],
    ["part.js", `import{a,b as c}from"./chunk-1.js";import("./runs.js")`],
  ]);
  let given = new Map<string, string>();
  const files = await joined(scripts, "main.js", (texts, entries) => {
    given = new Map(texts);
    return Promise.resolve(new Map(entries.map((name) => [name, `import("${BESIDE}runs.js")`])));
  });
  assert.equal(
    given.get("joined-main.js"),
    'import"./main.js";import"./chunk-1.js";export{b as $0}from"./chunk-1.js";export{a as $1}from"./chunk-1.js";',
  );
  assert.equal(files.get("main.js"), 'import("./runs.js")', "what lies beside keeps its name");
  assert.equal(files.get("runs.js"), 'import{$0 as c}from"./main.js";import"./main.js";export{c as default}');
  assert.equal(files.get("part.js"), 'import{$1 as a,$0 as c}from"./main.js";import("./runs.js")');
  assert.deepEqual([...files.keys()].sort(), ["main.js", "part.js", "runs.js"]);
  const inside = new Map([...scripts, ["part.js", 'import("./chunk-1.js")']]);
  await assert.rejects(
    joined(inside, "main.js", () => Promise.resolve(new Map())),
    /chunk-1\.js is a part of main\.js/,
  );
});

/** Sizes of a script and of all that it imports at once, compressed with gzip. */
function sizesOf(files: ReadonlyMap<string, string>, name: string, found = new Map<string, number>()) {
  if (found.has(name)) return found;
  found.set(name, files.get(`${name}.gz`)!.length / 2);
  const text = new TextDecoder().decode(Uint8Array.fromHex(files.get(name)!));
  for (const [, other] of text.matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g)) sizesOf(files, other, found);
  return found;
}

Deno.test("budgets: 60 KiB until the editor is there, 30 KiB of them for the editor itself", async () => {
  const stateDir = await Deno.makeTempDir({ prefix: "svc-page-" });
  try {
    const files = await contents(await putBuiltPage(stateDir));
    const sum = (sizes: Iterable<number>) => [...sizes].reduce((total, size) => total + size, 0);
    const frame = sizesOf(files, "main.js");
    const editor = sizesOf(files, [...files.keys()].find((name) => /^editor-\d+\.js$/.test(name))!);
    const own = sum([...editor].filter(([name]) => !frame.has(name)).map(([, size]) => size));
    assert.ok(
      editor.size > frame.size && editor.size <= 6,
      `${editor.size} scripts: joined, and their imports are found`,
    );
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
  assert.deepEqual(ahead, ["main.js"]);
  assert.ok(text.indexOf("boot.js") < text.indexOf("main.css"), "the first script waits for no styles");
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
