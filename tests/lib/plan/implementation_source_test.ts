import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { PROGRAM_ROOT } from "../../../lib/artifact/program.ts";
import { sha256Hex, sha256Json } from "../../../lib/contract/hash.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import {
  computeBuildSha256,
  pathFrom,
  programSources,
  SourceFiles,
  type SourceList,
} from "../../../lib/plan/implementation_source.ts";
import { generateSourceHashes } from "../../../lib/release/generate_source_hashes.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { isYoung } from "../../../lib/plan/digest_file.ts";
import { localSpecifiers } from "../../../lib/plan/scan_imports.ts";
import { tables } from "../../support/tables.ts";
import { until } from "../../support/until.ts";

const DATA = tables(import.meta.url);

const SAMPLE = DATA.SAMPLE;

Deno.test("the scanner finds what a module names, and nothing else", () => {
  assert.deepEqual(localSpecifiers(SAMPLE).sort(), DATA.IMPORTS);
});

Deno.test("a text counts by the words before it, as the patterns of imports and assets say", () => {
  const pieces = [
    "from",
    "import",
    "new",
    "URL",
    "(",
    ")",
    '"./a.ts"',
    "'../b.ts'",
    '"',
    "'",
    "./c",
    ",",
    "\n",
    " ",
    "x",
  ];
  const all = [...pieces, "import.meta.url", "//", "/*", "*/", "$"], draws = Generator.seeded(2n);
  const patterns = [
    /\bfrom\s*["'](\.[^"'\n]*)["']/g,
    /\bimport\s*\(?\s*["'](\.[^"'\n]*)["']/g,
    /\bnew\s+URL\s*\(\s*["'](\.[^"'\n]*)["']\s*,\s*import\.meta\.url\s*,?\s*\)/g,
  ];
  let count = 0;
  for (let text = 0; text < 20_000; text++) {
    const chosen = Array.from(draws.integers(0, all.length, 12, "uint8"), (index) => all[Number(index)]).join("");
    // Most texts that are drawn are no asset.
    const source = text % 2 === 0 ? chosen : `${chosen}new URL("./d.ts",${chosen}import.meta.url)`;
    const code = source.replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, "").replace(/^[ \t]*\/\/.*$/gm, "");
    const wanted = new Set(
      patterns.flatMap((pattern) => [...code.matchAll(pattern)].map(([, specifier]) => specifier)),
    );
    count += wanted.size;
    assert.deepEqual(localSpecifiers(source).sort(), [...wanted].sort(), JSON.stringify(source));
  }
  assert.ok(count > 1000, String(count));
});

Deno.test("comments hide what they name exactly as the patterns of comments say", () => {
  const pieces = [
    "/*",
    "*/",
    "//",
    "/",
    "*",
    "\n",
    "\r",
    "\u2028",
    " ",
    "\t",
    "x",
    'from "./a.ts"',
    'import("./b.ts")',
  ];
  const draws = Generator.seeded(1n);
  for (let text = 0; text < 20_000; text++) {
    const source = Array.from(draws.integers(0, pieces.length, 12, "uint8"), (index) => pieces[Number(index)]).join("");
    const code = source.replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, "").replace(/^[ \t]*\/\/.*$/gm, "");
    const wanted = [code.includes('from "./a.ts"') && "./a.ts", code.includes('import("./b.ts")') && "./b.ts"];
    const found = localSpecifiers(source).sort();
    // A letter before the word makes another word of it.
    if (!/x(from|import)/.test(code)) assert.deepEqual(found, wanted.filter(Boolean), JSON.stringify(source));
  }
});

/** A program in a temporary folder, by path and text. */
function withProgram(
  files: Record<string, string>,
  check: (root: URL, write: (path: string, text: string) => void) => Promise<void>,
) {
  return async () => {
    const folder = Deno.makeTempDirSync();
    const root = new URL(`file://${folder}/`);
    let clock = 1_700_000_000;
    const write = (path: string, text: string) => {
      const url = new URL(path, root);
      Deno.mkdirSync(new URL("./", url), { recursive: true });
      Deno.writeTextFileSync(url, text);
      // Distinct times, whatever the file system's resolution.
      Deno.utimeSync(url, ++clock, clock);
    };
    for (const [path, text] of Object.entries(files)) write(path, text);
    try {
      await check(root, write);
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  };
}

const PROGRAM = {
  "ops/a.ts": `import "../lib/one.ts"; import "npm:zod@^4"; import "./gone.ts"; new URL("../lib/", import.meta.url);`,
  "lib/one.ts": `import "./two.ts"; export const one = 1;`,
  "lib/two.ts": `import "./one.ts"; new URL("./table.bin", import.meta.url);`,
  "lib/table.bin": "import './ignored.ts'",
  "lib/ignored.ts": "",
  "lib/other.ts": "",
};

Deno.test(
  "the digest covers the module and its local imports, sorted by path, cycles and assets included",
  withProgram(PROGRAM, async (root) => {
    const url = new URL("ops/a.ts", root).href;
    const source = (await new SourceFiles(root.href).describe([url])).get(url)!;
    const paths = ["lib/one.ts", "lib/table.bin", "lib/two.ts", "ops/a.ts"] as const;
    assert.deepEqual(source, {
      source_module: "ops/a.ts",
      source_sha256: sha256Json(paths.map((path) => [path, sha256Hex(PROGRAM[path])])),
    });
  }),
);

Deno.test(
  "a changed import changes the digest, a file that is not reached does not",
  withProgram(PROGRAM, async (root, write) => {
    const url = new URL("ops/a.ts", root).href;
    const files = new SourceFiles(root.href);
    const digest = async () => (await files.describe([url])).get(url)!.source_sha256;
    const before = await digest();
    write("lib/other.ts", "export const changed = true;");
    assert.equal(await digest(), before);
    write("lib/table.bin", "import './ignored_ts'");
    const after = await digest();
    assert.notEqual(after, before);
    write("lib/two.ts", `import "./other.ts";`);
    assert.notEqual(await digest(), after);
    write("lib/table.bin", PROGRAM["lib/table.bin"]);
    write("lib/two.ts", PROGRAM["lib/two.ts"]);
    assert.equal(await digest(), before);
  }),
);

Deno.test(
  "a module elsewhere is named by its file, and what it takes from the program is left out",
  withProgram({ "mine/part.ts": "", "common.ts": "" }, async (root, write) => {
    const program = pathFrom(new URL("mine/", root).href, new URL("lib/contract/value.ts", PROGRAM_ROOT).href);
    write("mine/my_op.ts", `import "./part.ts"; import "../common.ts"; import "${program}";`);
    const url = new URL("mine/my_op.ts", root).href;
    const source = (await (await programSources()).describe([url])).get(url)!;
    assert.equal(source.source_module, "my_op.ts");
    const text = Deno.readTextFileSync(new URL(url));
    assert.equal(
      source.source_sha256,
      sha256Json([["../common.ts", sha256Hex("")], ["my_op.ts", sha256Hex(text)], ["part.ts", sha256Hex("")]]),
    );
  }),
);

Deno.test("modules that are no files: a data URL holds its text, another scheme nothing that can be hashed", async () => {
  const plain = "data:text/typescript,export%20default%201",
    coded = `data:text/javascript;base64,${btoa("export default 1")}`;
  const remote = "https://example.org/ops/my_op.ts";
  const found = await (await programSources()).describe([plain, coded, remote]);
  const digest = sha256Json([["data:", sha256Hex("export default 1")]]);
  assert.deepEqual(found.get(plain), { source_module: "data:", source_sha256: digest });
  assert.deepEqual(found.get(coded), { source_module: "data:", source_sha256: digest });
  assert.deepEqual(found.get(remote), { source_module: "my_op.ts", source_sha256: null });
});

Deno.test("a module that has gone is a coded error", async () => {
  const url = new URL("no/such_operation.ts", PROGRAM_ROOT).href;
  await assert.rejects(
    () => new SourceFiles().describe([url]),
    (error) => error instanceof SvcError && error.code === "implementation_changed",
  );
});

Deno.test("a file that changes within a tick of the clock is read again", async () => {
  const folder = await Deno.makeTempDir({ prefix: "svc-source-" }), path = `${folder}/own.ts`;
  const sources = new SourceFiles(`file://${folder}/`);
  const digest = async (text: string) => {
    Deno.writeTextFileSync(path, text);
    // The same time for every text, as young as can be.
    Deno.utimeSync(path, 4e9, 4e9);
    return (await sources.describe([`file://${path}`])).get(`file://${path}`)!.source_sha256;
  };
  assert.notEqual(await digest("export const gain = 1;\n"), await digest("export const gain = 2;\n"));
  await Deno.remove(folder, { recursive: true });
});

Deno.test("paths start from a folder, and climb out of it", () => {
  assert.equal(pathFrom("file:///a/b/", "file:///a/b/c/d.ts"), "c/d.ts");
  assert.equal(pathFrom("file:///a/b/", "file:///a/x%20y.ts"), "../x y.ts");
});

Deno.test(
  "the build covers what the faces reach, and the lock file",
  withProgram({
    "mod.ts": `import "./lib/a.ts";`,
    "cli.ts": `import "./mod.ts";`,
    "lib/a.ts": "",
    "lib/b.ts": "",
    "deno.lock": "{}",
  }, (root, write) => {
    const files = new SourceFiles(root.href);
    const build = () => computeBuildSha256(files, root.href);
    const before = build();
    assert.equal(
      before,
      sha256Json(
        [["cli.ts", `import "./mod.ts";`], ["deno.lock", "{}"], ["lib/a.ts", ""], ["mod.ts", `import "./lib/a.ts";`]]
          .map(([path, text]) => [path, sha256Hex(text)]),
      ),
    );
    write("lib/b.ts", "changed");
    assert.equal(build(), before);
    write("deno.lock", "{ }");
    assert.notEqual(build(), before);
    return Promise.resolve();
  }),
);

Deno.test("source_hashes.json is what its generator writes: run deno task generate", async () => {
  const stored: SourceList = JSON.parse(Deno.readTextFileSync(new URL("lib/plan/source_hashes.json", PROGRAM_ROOT)));
  const { modules, ...rest } = await generateSourceHashes();
  assert.deepEqual(Object.keys(stored.modules), Object.keys(modules));
  assert.deepEqual(Object.keys(modules).filter((path) => stored.modules[path] !== modules[path]), []);
  assert.deepEqual({ schema_version: stored.schema_version, build_sha256: stored.build_sha256 }, rest);
});

Deno.test(
  "digests kept in a folder spare reading unchanged files, and a changed, replaced or damaged one is read",
  withProgram({ ...PROGRAM, "cli.ts": `import "./ops/a.ts";`, "state/old": "" }, async (root, write) => {
    const state = fileURLToPath(new URL("state", root)), kept = `${state}/source_digests.json`;
    const url = new URL("ops/a.ts", root).href;
    const start = (folder?: string) => {
      const files = new SourceFiles(root.href);
      if (folder !== undefined) files.keepIn(folder);
      return files;
    };
    const build = (files: SourceFiles) => computeBuildSha256(files, root.href);
    // A file that changed in this moment may change again with equal times, and is not kept.
    await until("the files are old enough", () => !isYoung(Deno.statSync(new URL("lib/table.bin", root))));
    const first = start(state), before = build(first);
    first.store();
    const rows = JSON.parse(Deno.readTextFileSync(kept));
    assert.deepEqual(rows.files.map(([path]: string[]) => path).sort(), [
      "cli.ts",
      "lib/one.ts",
      "lib/table.bin",
      "lib/two.ts",
      "ops/a.ts",
    ]);
    // A digest that no file has shows that the document is used.
    const marked = structuredClone(rows);
    for (const row of marked.files) row[2] = sha256Hex(`kept ${row[0]}`);
    Deno.writeTextFileSync(kept, JSON.stringify(marked));
    assert.notEqual(build(start(state)), before);
    assert.equal(build(start()), before);
    for (const text of ["{", "[]", JSON.stringify({ ...marked, root: "file:///elsewhere/" })]) {
      Deno.writeTextFileSync(kept, text);
      assert.equal(build(start(state)), before, text);
    }
    // The same size and time of modification: the time of change tells.
    first.store();
    const { mtime } = Deno.statSync(new URL("lib/table.bin", root));
    write("lib/table.bin", "import './IGNORED.ts'");
    Deno.utimeSync(new URL("lib/table.bin", root), mtime!, mtime!);
    Deno.writeTextFileSync(kept, JSON.stringify(rows));
    assert.equal(build(start(state)), build(start()));
    assert.notEqual(build(start(state)), before);
    // Nothing is made outside an existing state directory.
    const none = start(`${state}/missing`);
    await none.describe([url]);
    none.store();
    assert.deepEqual([...Deno.readDirSync(state)].map(({ name }) => name).sort(), ["old", "source_digests.json"]);
  }),
);

Deno.test("a call that waits keeps its sources while the next one forgets what is no longer recent", async () => {
  const sources = await programSources(), { now } = performance;
  const modules = ["lib/plan/bind.ts", "lib/plan/build.ts"].map((path) => new URL(path, PROGRAM_ROOT).href);
  try {
    // Ten seconds a call: what the first call looked at is no longer recent in the second.
    let at = now.call(performance);
    performance.now = () => at += 10_000;
    await sources.describe(modules);
    const first = sources.describe(modules), second = sources.describe(modules);
    for (const described of await Promise.all([first, second])) {
      assert.deepEqual([...described.values()].map((source) => source?.source_module), [
        "lib/plan/bind.ts",
        "lib/plan/build.ts",
      ]);
    }
    // The first finds all in memory and the second forgets it.
    at = now.call(performance) + 1e6;
    let calls = 0;
    performance.now = () => at + [0, 50, 500][Math.min(calls++, 2)];
    await sources.describe(modules);
    const [kept, again] = await Promise.all([sources.describe(modules), sources.describe(modules)]);
    assert.deepEqual(kept, again);
    assert.ok([...kept.values()].every((source) => source !== undefined));
  } finally {
    performance.now = now;
  }
});
