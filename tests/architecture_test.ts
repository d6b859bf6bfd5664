import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path/posix";
import denoJson from "../deno.json" with { type: "json" };
import budget from "./budget.json" with { type: "json" };
import {
  exportedNames,
  importCircles,
  type ModuleGraph,
  reachedFrom,
  readModuleGraph,
} from "./support/module_graph.ts";
import { ROOT_PATH } from "./support/paths.ts";

/** Modules from the lowest layer to the highest: a module imports from itself and from lower layers. */
const LAYERS: string[][] = [
  ["lib/numeric"],
  ["lib/contract"],
  ["lib/artifact"],
  ["lib/onnx"],
  ["lib/recipe"],
  ["lib/research"],
  ["lib/training", "lib/model"],
  ["lib/fetch"],
  ["lib/plan"],
  ["lib/execute"],
  ["lib/run"],
  ["lib/figure"],
  ["lib/template", "lib/study", "lib/adapter", "lib/capture", "lib/conformance"],
  ["lib/exchange"],
  ["lib/api"],
  ["lib/http"],
  ["lib/mcp"],
  // `svc ui serve` starts the server.
  ["lib/cli", "lib/library"],
];
/** Parts of large modules, from the lowest to the highest: a part imports from itself and from lower parts. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  "lib/numeric": [
    "kernels",
    "array",
    "random",
    "linalg",
    "scores",
    "coding",
    "link",
    "antenna",
    "channel",
    "image",
    "native",
    "parallel",
  ],
  "lib/study": ["pack", "rows", "report", "", "engine", "validation"],
};
const OPERATIONS_MAY_USE = ["lib/contract", "lib/numeric", "lib/artifact"];
const BRING_OPERATIONS = ["lib/api", "lib/http", "lib/cli", "lib/library"];
const PAGE_MAY_USE = ["lib/contract", "lib/numeric", "lib/figure"];
const ENTRY_POINTS = ["mod.ts", "cli.ts", "server.ts"];
/** The library for Node and browsers; `deno task library` builds it. */
const LIBRARY_ENTRY_POINT = "lib/library/mod.ts";
const PAGE_ENTRY_POINTS = ["ui/main.tsx", "ui/events_worker.ts", "ui/boot.ts"];
/** Programs that write files under version control and that no task of deno.json starts. */
const GENERATORS = [
  "ops/codec/_train_toy_codebook.ts",
  "lib/artifact/jpeg/generate_shared_huffman.ts",
  "recipes/draw_scenes.ts",
  "recipes/draw_signs.ts",
  "recipes/figures/make_digital_cliff.ts",
  "recipes/models/generate_packages.ts",
  "recipes/models/training/codec_rate_distortion.ts",
  "recipes/models/csi-feedback-24-v1/training/export_csi.ts",
  "recipes/models/csi-feedback-64-v1/training/export_csi.ts",
  "recipes/models/svc-tiny-scene-features-v1/training/export_pictures.ts",
  "recipes/models/svc-tiny-scene-objects-v1/training/export_pictures.ts",
  "recipes/models/svc-tiny-text-transceiver-v1/training/export_sentences.ts",
  "recipes/models/training/export_scenes.ts",
  "recipes/models/deepjscc-film-v1/training/compare.ts",
  "recipes/models/training/shrink_photographs.ts",
];

/** The module that opens, writes, moves and removes by checked paths. */
const INSIDE = "lib/artifact/inside.ts";
/** Other modules that do so by paths of their own, each with the reason why no path of a document and no link leads them. */
const OWN_PATHS: Readonly<Record<string, string>> = {
  "lib/artifact/write_file.ts": "a random name beside the target, which a rename replaces",
  "lib/artifact/read_file.ts": "reads regular files up to a limit",
  "lib/artifact/byte_source.ts": "reads regular files up to a limit, by range",
  "lib/artifact/hash_file.ts": "reads regular files, and follows no link",
  "lib/artifact/npz_blocks.ts": "makes a new file in the private folder of a step",
  "lib/artifact/bundled.ts": "file names of the program's own list",
  "lib/execute/bundle_files.ts": "syncs files that were written by checked paths",
  "lib/execute/run_step.ts": "makes a new file in the private folder of a step",
  "lib/execute/staging.ts": "reads and protects the files of a step that was checked",
  "lib/execute/contents.ts": "protects a copy that it made by checked paths",
  "lib/run/git.ts": "reads the tracked files of the user's repository, lstat before each",
  "lib/run/prune.ts": "sets the time of a checked path",
  "lib/run/signature.ts": "a new folder with a copy of the signature, for ssh-keygen",
  "lib/run/index/database.ts": "names of the index, checked before it is opened",
  "lib/recipe/read.ts": "reads a file that the user named, up to a limit",
  "lib/fetch/bring.ts": "the folder of a download, named by the catalogue; files in it have checked paths",
  "lib/fetch/download.ts": "a checked target, and names beside it",
  "lib/fetch/models.ts": "a folder named by a checked digest",
  "lib/fetch/program.ts": "a new folder with file names of the program's own list",
  "lib/training/source.ts": "reads a package: links are refused, and files are opened without following one",
  "lib/capture/folder.ts": "random names beside a folder that the user named",
  "lib/capture/perform_run.ts": "a temporary folder of its own",
  "lib/capture/export_project.ts": "file names of the program in a folder that the user named",
  "lib/adapter/trust.ts": "the trust file of the user",
  "lib/adapter/scaffold.ts": "new files in a folder that the user named",
  "lib/conformance/operation_file.ts": "new files in a folder that the user named",
  "lib/template/init.ts": "new files in a folder that the user named",
  "lib/cli/main.ts": "the trace of a defect in a temporary file",
  "lib/http/recipe_save.ts": "each part of the path is looked at before",
  "lib/numeric/native/build.ts": "a cache of compiled sources, named by their digest",
  "lib/study/rows/prune.ts": "folders of runs that it made",
  "lib/study/report/reports.ts": "a folder that the user named",
};
/** Programs that write their own sources or releases. */
const isBuilder = (path: string) =>
  path.startsWith("lib/release/") || path.startsWith("ui/") || GENERATORS.includes(path) ||
  /\/(generate_\w+|build_wasm)\.ts$/.test(path) || path.startsWith("recipes/");
const FILE_CALL =
  /\bDeno\.(remove|rename|copyFile|mkdir|open|create|writeFile|writeTextFile|link|symlink|truncate|chmod|utime)(Sync)?\(/;
const NODE_FILE_NAMES =
  /\b(rm|rmdir|unlink|rename|copyFile|cp|mkdir|mkdtemp|open|writeFile|appendFile|link|symlink|truncate)(Sync)?\b|\bcreateWriteStream\b/;

/** Whether a source calls file operations that take any path. */
function callsFiles(text: string): boolean {
  const code = text.split("\n").filter((line) => !/^\s*(\*|\/\/)/.test(line)).join("\n");
  const imported = [...code.matchAll(/import (?:\{([^}]*)\}|\* as \w+|\w+) from "node:fs(?:\/promises)?"/g)];
  return FILE_CALL.test(code) ||
    imported.some(([whole, names]) => names === undefined ? !whole.includes("type ") : NODE_FILE_NAMES.test(names));
}

const graph = await readModuleGraph();

const isTest = (path: string) => path.startsWith("tests/");
/** Adapters and scaffolds are examples of code outside this program. */
/** An operation of one's own to start from; it imports the library as its user does. */
const isOwnOperation = (path: string) => path.startsWith("recipes/scaffolds/own_limiter/");
const isAdapter = (path: string) =>
  path.startsWith("adapters/") || path.startsWith("recipes/scaffolds/") && !isOwnOperation(path);
const moduleOf = (path: string) => path.split("/").slice(0, /^(lib|adapters)\//.test(path) ? 2 : 1).join("/");
const layerOf = (module: string) => LAYERS.findIndex((modules) => modules.includes(module));

/** The reason why an import is not allowed, or null. */
function objection(from: string, to: string): string | null {
  const [source, target] = [moduleOf(from), moduleOf(to)];
  if (isTest(from)) return null;
  if (isTest(to)) return "only tests import tests";
  if (isAdapter(from)) return isAdapter(to) && source === target ? null : "an adapter stands alone";
  if (isOwnOperation(from)) {
    return to === "mod.ts" || isOwnOperation(to) ? null : "an operation of one's own imports mod.ts";
  }
  if (source === target) {
    const parts = PARTS[source];
    if (parts === undefined || !/\.tsx?$/.test(to)) return null;
    const [below, above] = [to, from].map((path) => parts.indexOf(path.split("/").slice(2, -1)[0] ?? ""));
    if (below < 0 || above < 0) return "a file is in no part of its module";
    return below <= above ? null : "imports point to lower parts";
  }
  // Data files are not code: every module may import them.
  if (!/\.tsx?$/.test(to)) return null;
  if (ENTRY_POINTS.includes(source)) return target === "ui" ? "the page is served by lib/http" : null;
  // They pack and describe the finished program.
  if (source === "lib/release") return null;
  if (source === "recipes" || source === "benchmarks") return target === "ui" ? "generators do not use the page" : null;
  if (source === "ops") {
    // The registry hands the operations to the modules above.
    return OPERATIONS_MAY_USE.includes(target) ? null : "operations use contract, numeric and artifact only";
  }
  if (to === "ui/build.ts") return source === "lib/http" ? null : "only the server builds the page";
  if (source === "ui") {
    // What a template change keeps is one pure rule for page and library.
    if (to === "lib/template/working_copy.ts") return null;
    // The page has the types of its documents from the routes.
    if (from === "ui/api.ts" && to === "lib/http/client.ts") return null;
    return PAGE_MAY_USE.includes(target) ? null : "the page uses HTTP";
  }
  if (target === "ops") return BRING_OPERATIONS.includes(source) ? null : "operations are handed down from above";
  const [below, above] = [layerOf(target), layerOf(source)];
  if (below < 0 || above < 0) return "a module is in no layer";
  return below < above ? null : "imports point to lower layers";
}

/** Source files that the manifests of the adapters name. */
async function adapterModules(): Promise<string[]> {
  const modules: string[] = [];
  for (const { name } of readdirSync(join(ROOT_PATH, "adapters"), { withFileTypes: true })) {
    const manifest = await Deno.readTextFile(join(ROOT_PATH, "adapters", name, "svc_adapter.yaml"));
    for (const [, path] of manifest.matchAll(/\bpath: ([\w./]+\.ts)/g)) modules.push(`adapters/${name}/${path}`);
  }
  return modules;
}

const programsOfTasks = Object.values(denoJson.tasks)
  .flatMap((task) => [...task.matchAll(/deno run [^&]*?([\w/]+\.ts)/g)].map(([, path]) => path));
/** Everything that runs apart from the tests; workers follow from the URLs by which they are started. */
const productEntries = [
  ...ENTRY_POINTS,
  ...PAGE_ENTRY_POINTS,
  LIBRARY_ENTRY_POINT,
  ...GENERATORS,
  ...programsOfTasks.filter((path) => !isTest(path)),
  ...await adapterModules(),
  ...[...graph.keys()].filter((path) => /^lib\/numeric\/kernels\/assembly\/\w+\.ts$/.test(path)),
];
const testEntries = [...graph.keys()].filter((path) =>
  /_(test|bench)\.ts$/.test(path) || path.startsWith("tests/soak/")
);

Deno.test("imports point to lower layers", () => {
  const wrong = new Set<string>();
  for (const [from, { imports }] of graph) {
    for (const to of imports) {
      const reason = objection(from, to);
      if (reason !== null) wrong.add(`${from} -> ${to}: ${reason}`);
    }
  }
  assert.deepEqual([...wrong], []);
});

Deno.test("the rule of layers objects to wrong imports", () => {
  assert.equal(objection("lib/numeric/a.ts", "lib/run/b.ts"), "imports point to lower layers");
  assert.equal(objection("lib/research/a.ts", "lib/plan/b.ts"), "imports point to lower layers");
  assert.equal(objection("lib/study/rows/a.ts", "lib/api/b.ts"), "imports point to lower layers");
  assert.equal(objection("ops/channel/a.ts", "lib/plan/b.ts"), "operations use contract, numeric and artifact only");
  assert.equal(objection("lib/plan/a.ts", "ops/index.ts"), "operations are handed down from above");
  assert.equal(objection("ui/main.tsx", "lib/run/a.ts"), "the page uses HTTP");
  assert.equal(objection("lib/run/a.ts", "tests/support/b.ts"), "only tests import tests");
  assert.equal(objection("adapters/a/a.ts", "lib/contract/b.ts"), "an adapter stands alone");
  assert.equal(objection("lib/new/a.ts", "lib/contract/b.ts"), "a module is in no layer");
  for (const from of ["mod.ts", "lib/http/a.ts", "lib/cli/a.ts"]) {
    assert.equal(objection(from, "lib/api/open.ts"), null);
  }
  assert.equal(objection("lib/run/a.ts", "lib/plan/b.ts"), null);
  assert.equal(objection("lib/study/pack/a.ts", "lib/study/rows/b.ts"), "imports point to lower parts");
  assert.equal(objection("lib/study/verify.ts", "lib/study/rows/b.ts"), null);
  assert.equal(objection("lib/numeric/a.ts", "lib/numeric/link/b.ts"), "a file is in no part of its module");
});

/** The module whose budget a file counts in: `lib/run`, `lib/numeric/link`, `ops/codec`, `ui`. */
function budgetOf(path: string): string | null {
  if (!/^(lib|ops|ui)\//.test(path)) return null;
  const [top, module, part] = path.split("/").slice(0, -1);
  if (top === "ui" || module === undefined) return top;
  return PARTS[`${top}/${module}`] && part !== undefined ? `${top}/${module}/${part}` : `${top}/${module}`;
}

Deno.test("no module has more lines than its budget, and no budget is larger than its module needs", () => {
  const lines: Record<string, number> = {};
  for (const [path, { text }] of graph) {
    const module = budgetOf(path);
    if (module !== null) lines[module] = (lines[module] ?? 0) + text.split("\n").length - 1;
  }
  // A module that became smaller by a twentieth gives its lines back.
  const wrong = [...new Set([...Object.keys(lines), ...Object.keys(budget)])].filter((module) => {
    const allowed = (budget as Record<string, number>)[module] ?? 0, used = lines[module] ?? 0;
    return used > allowed || used < 0.95 * allowed - 20;
  });
  assert.deepEqual(
    wrong.map((module) =>
      `${module}: ${lines[module] ?? 0} lines, budget ${(budget as Record<string, number>)[module] ?? 0}`
    ),
    [],
    "tests/budget.json: a commit that raises a line says why",
  );
});

/** Sizes of folders with weights, in bytes: a clone and a compiled program carry them. */
const LARGEST = { "recipes/models": 16 * 2 ** 20, adapters: 9 * 2 ** 20 };

for (const [folder, limit] of Object.entries(LARGEST)) {
  Deno.test(`${folder} has at most ${limit} bytes`, () => {
    const files = readdirSync(join(ROOT_PATH, folder), { recursive: true, withFileTypes: true });
    const total = files.filter((file) => file.isFile())
      .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
    assert.ok(total > limit / 4 && total <= limit, `${folder} has ${total} bytes`);
  });
}

Deno.test("files are opened, written, moved and removed by checked paths, but for modules with a reason", () => {
  const callers = [...graph].filter(([path, { text }]) => !isTest(path) && callsFiles(text)).map(([path]) => path);
  const product = callers.filter((path) => !isAdapter(path) && !isOwnOperation(path) && !isBuilder(path));
  assert.deepEqual(product.filter((path) => path !== INSIDE && !Object.hasOwn(OWN_PATHS, path)), []);
  assert.deepEqual(Object.keys(OWN_PATHS).filter((path) => !product.includes(path)), [], "modules that need no reason");
});

Deno.test("calls of file operations are found", () => {
  for (
    const text of [
      "Deno.removeSync(join(a, b));",
      "await Deno.rename(a, b)",
      'import { rmSync } from "node:fs";',
      'import { cp } from "node:fs/promises";',
      'import * as fs from "node:fs";',
      'import fs from "node:fs";',
    ]
  ) assert.ok(callsFiles(text), text);
  for (const text of [" * Deno.removeSync(a)", "Deno.readDirSync(a)", 'import { lstatSync } from "node:fs";']) {
    assert.ok(!callsFiles(text), text);
  }
});

Deno.test("no file imports itself by way of others, types included", () => {
  assert.deepEqual(importCircles(graph), []);
});

Deno.test("circles are found", () => {
  const edges = { a: ["b"], b: ["c"], c: ["b", "d"], d: [], e: ["e"] };
  const small: ModuleGraph = new Map(
    Object.entries(edges).map(([path, imports]) => [
      path,
      { text: "", imports: new Set(imports), urls: new Set(), packages: new Set() },
    ]),
  );
  assert.deepEqual(importCircles(small), [["b", "c"], ["e"]]);
});

Deno.test("every source file is in the graph of an entry point", () => {
  const product = reachedFrom(graph, productEntries);
  const tests = reachedFrom(graph, [...testEntries, ...programsOfTasks]);
  const lost = [...graph.keys()].filter((path) => isTest(path) ? !tests.has(path) : !product.has(path));
  assert.deepEqual(lost, []);
});

Deno.test("each npm dependency is named in one place", () => {
  const places = new Map<string, string[]>();
  for (const [path, { packages }] of graph) {
    if (isTest(path)) continue;
    for (const name of packages) places.set(name, [...places.get(name) ?? [], path]);
  }
  assert.ok(places.has("zod"));
  assert.deepEqual([...places].filter(([, files]) => files.length > 1), []);
});

Deno.test("every export has a user outside its file and the tests, or states that it is exported for tests", () => {
  const unused: string[] = [], wronglyForTests: string[] = [];
  for (const { path, name, usedBy, forTests } of exportedNames(graph, [...ENTRY_POINTS, LIBRARY_ENTRY_POINT])) {
    if (isAdapter(path) || testEntries.includes(path)) continue;
    if (path.startsWith("lib/numeric/kernels/assembly/")) continue;
    const users = [...usedBy], inProgram = users.some((user) => !isTest(user));
    if (isTest(path) || forTests ? users.length === 0 : !inProgram) unused.push(`${path}: ${name}`);
    else if (forTests && inProgram) wronglyForTests.push(`${path}: ${name}`);
  }
  assert.deepEqual(unused, [], "unused exports");
  assert.deepEqual(wronglyForTests, [], "the program uses these exports too");
});

Deno.test("tests/ops mirrors ops, and every operation has a test", () => {
  const operations = [...graph.keys()].filter((path) => /^ops\/\w+\/[a-z]\w*\.ts$/.test(path));
  const tests = [...graph.keys()].filter((path) => /^tests\/ops\/\w+\/\w+_test\.ts$/.test(path));
  const groupOf = (path: string) => path.match(/ops\/(\w+)\//)?.[1];
  const imports = (test: string, wanted: (path: string) => boolean) => [...graph.get(test)!.imports].some(wanted);
  assert.deepEqual(
    tests.filter((test) => !imports(test, (path) => path.startsWith("ops/") && groupOf(path) === groupOf(test))),
    [],
    "tests that use no operation of the group whose folder they are in",
  );
  // Adapters wrap the external operations: tests/lib/adapter.
  const wrapped = (path: string) => graph.get(path)!.imports.has("ops/_external.ts");
  assert.deepEqual(
    operations.filter((operation) =>
      !wrapped(operation) && !tests.some((test) => graph.get(test)!.imports.has(operation))
    ),
    [],
    "operations without a test",
  );
});

/** Files that write to the streams of the process themselves, with the reason. */
const WRITES_STREAMS: Readonly<Record<string, string>> = {
  "lib/cli/terminal.ts": "the exits of the command line",
  "lib/http/log.ts": "the log of the server, a line of JSON without invisible characters",
  "ui/state/drafts.ts": "the console of a browser is no terminal",
};
/** Files that ask on the terminal; the question is on one visible line. */
const ASKS = ["lib/cli/context.ts", "lib/cli/commands/benchmark.ts"];
/** Files with the markup of a target; each value in it goes through an escaper. */
const WRITES_MARKUP: Readonly<Record<string, string>> = {
  "lib/artifact/tokenizer.ts": "tokens of a vocabulary",
  "lib/study/report/table.ts": "tables of results",
  "lib/study/report/publish.ts": "page of a result",
  "lib/capture/project_documents.ts": "README of a training project; ids are checked patterns",
  "lib/contract/escape.ts": "the escapers",
  "lib/figure/display.ts": "tables of notebooks",
  "lib/figure/latex.ts": "tables",
  "lib/figure/pgfplots.ts": "figures for LaTeX",
  "lib/figure/svg.ts": "figures",
  "lib/http/dashboard_page.ts": "the document of the page; only values of the program",
  "lib/http/landing_page.ts": "the page without a dashboard",
  "lib/figure/overlay_image.ts": "boxes over an image",
  "lib/figure/graph/svg.ts": "graph of a recipe",
  "lib/api/calls/benchmarks.ts": "headings of tables in notebooks; titles of the program",
  "ui/state/files.ts": "fonts of a figure; only files of the program",
  "ui/compare/pivot.ts": "comment of a LaTeX table; only values of the program",
};

/** The code of a file: without comments, and regular expressions as they are. */
const codeOf = (text: string) => text.replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, "");
/** Without the process of an adapter, whose streams end at its parent, and the tools of a release. */
const ownCode = [...graph].filter(([path]) =>
  /^(lib|ops|ui|mod|cli|server)\b/.test(path) && !isAdapter(path) && !isOwnOperation(path) &&
  !/^lib\/(numeric\/kernels\/assembly|release|adapter\/process)\//.test(path)
).map(([path, { text }]) => [path, codeOf(text)] as const);
/** Generators and builders run in the sources of the program, on its own texts; they print in their main block alone. */
const withoutMain = (text: string) => text.split("if (import.meta.main)")[0];

const STREAMS = /\bconsole\.\w+\(|\b(?:Deno|process)\.std(?:out|err)\b|\b(?:std(?:out|err)|stream)\.write(?:Sync)?\(/;
const MARKUP = /<\/[a-z]|<\w+ [\w-]+="|\\\\(?:begin|caption|usepackage|addplot)\b|\|\s?---|"---:?"/;

Deno.test("the streams of the process are written by the exits of the terminal alone", () => {
  const found = ownCode.filter(([path, text]) => STREAMS.test(withoutMain(text)) && !GENERATORS.includes(path));
  assert.deepEqual(found.map(([path]) => path).sort(), Object.keys(WRITES_STREAMS).sort());
  const asking = ownCode.filter(([path, text]) =>
    !path.startsWith("ui/") && /(?<![.\w])(?:confirm|prompt|alert)\(/.test(text)
  );
  assert.deepEqual(asking.map(([path]) => path).sort(), ASKS.toSorted());
  for (const [path, text] of asking) {
    assert.doesNotMatch(text, /(?<![.\w])(?:confirm|prompt|alert)\((?!visibleLine\()/, path);
  }
});

Deno.test("markup of LaTeX, Markdown, HTML and SVG is written by its writers alone", () => {
  // JSX is text nodes: Preact escapes them.
  const found = ownCode.filter(([path, text]) => path.endsWith(".ts") && MARKUP.test(withoutMain(text)));
  assert.deepEqual(found.map(([path]) => path).sort(), Object.keys(WRITES_MARKUP).sort());
});

Deno.test("the page makes no markup of texts", () => {
  const found = ownCode.filter(([path, text]) =>
    path.startsWith("ui/") &&
    /dangerouslySetInnerHTML|\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write/.test(text)
  );
  assert.deepEqual(found.map(([path]) => path), []);
});

Deno.test("the rules of streams and markup object to what they forbid", () => {
  for (const code of ['console.log("x")', "Deno.stderr.writeSync(b)", "process.stdout.write(x)"]) {
    assert.match(code, STREAMS);
  }
  for (const code of ["`<td>${x}</td>`", '`<a href="${x}">`', '"\\\\begin{table}"', '"| --- |"']) {
    assert.match(code, MARKUP);
  }
});

Deno.test("each file of tests that runs in part is one of deno task soak whole", () => {
  const read = (path: string) => Deno.readTextFileSync(join(ROOT_PATH, path));
  const listed = [...read("tests/soak/whole.ts").matchAll(/"(tests\/\S+_test\.ts)"/g)].map(([, path]) => path);
  const files = (readdirSync(join(ROOT_PATH, "tests"), { recursive: true }) as string[]).map((path) => `tests/${path}`);
  const inPart = files.filter((path) =>
    path.endsWith("_test.ts") && /^import .*\b(?:isSampled|sizeOf|testWhole|FULL_SIZE|packOfEnds)\b/m.test(read(path))
  );
  assert.deepEqual(listed.toSorted(), inPart.toSorted());
});
