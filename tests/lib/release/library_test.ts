/** The library for Node 20 and browsers: equal digests and findings there, its size, and its types. */
import assert from "node:assert/strict";
import { join } from "node:path";
import ts from "npm:typescript@^6.0.3";
import { open } from "../../../mod.ts";
import { nodeZlib } from "../../../lib/contract/node_builtins.ts";
import { buildLibrary, LIBRARY, libraryModule, lowered } from "../../../lib/release/library.ts";
import { codeBlocks } from "../../docs/blocks.ts";
import { inFolder, svc } from "../../support/cli.ts";
import { needs } from "../../support/needs.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import { serve } from "../../support/served.ts";
import { CHROMIUM, chromium, needsChromium } from "../../ui/playwright.ts";

const recipe = (name: string) => Deno.readTextFileSync(join(ROOT_PATH, `recipes/${name}.yaml`));
const QUICKSTART = recipe("quickstart");
const TEXTS = [
  QUICKSTART,
  recipe("recipe_starters/ofdm_estimated_link"),
  QUICKSTART.replace("channel: awgn", "channel: awng"),
  QUICKSTART.replace("modulation: qpsk", "modulation: qpsk, rate: 3"),
];

/** What a script of the library sees of the recipes; it runs in Node and in a page. */
const LOOK = `async (svc, texts) => {
  const seen = [];
  for (const text of texts) {
    const compiled = svc.compile(text), { issues, status } = svc.lint(text), points = svc.expand(text).points;
    const planned = await svc.plan(points.length > 0 ? points[0].recipe : text);
    seen.push({
      compiled: [compiled.status, compiled.effective_sha256],
      planned: [planned.status, planned.plan?.sha256, planned.diagnostics.map(({ code, path, hint, message }) => [code, path, hint, message])],
      lint: [status, issues.map(({ code, path }) => [code, path])],
      points: points.length,
      drawn: svc.graphSvg(svc.graph(texts[0])).length,
    });
  }
  return JSON.stringify(seen);
}`;

/** The same of the program. */
async function expected(): Promise<unknown> {
  await using svc = await open({ stateDir: await Deno.makeTempDir() });
  const { recipes } = svc;
  const seen = [];
  const { graphSvg } = await import("../../../mod.ts");
  for (const text of TEXTS) {
    const [compiled, lint, { points }] = [
      await recipes.compile(text),
      await recipes.lint(text),
      await recipes.expand(text),
    ];
    const planned = await recipes.plan(points.length > 0 ? points[0].recipe as never : text);
    seen.push({
      compiled: [compiled.status, compiled.effective_sha256],
      planned: [
        planned.status,
        planned.status === "planned" ? planned.plan.sha256 : undefined,
        planned.diagnostics.map(({ code, path, hint, message }) => [code, path, hint, message]),
      ],
      lint: [lint.status, lint.issues.map(({ code, path }) => [code, path])],
      points: points.length,
      drawn: graphSvg(await recipes.graph(TEXTS[0])).length,
    });
  }
  return JSON.parse(JSON.stringify(seen));
}

const [module, wanted] = await Promise.all([libraryModule(), expected()]);

Deno.test("the library is one module of limited size that Node 20 can read", () => {
  const { statements } = ts.createSourceFile("svc.js", module, ts.ScriptTarget.ES2022);
  assert.deepEqual(statements.filter(ts.isImportDeclaration).length, 0, "it imports nothing when it is loaded");
  assert.doesNotMatch(module, /[;{}](?:await )?using [\w$]+=/);
  assert.ok(module.length < 2_520_000, String(module.length));
  const zipped = nodeZlib().gzipSync(module).length;
  assert.ok(zipped < 845_000, String(zipped));
});

Deno.test("a module of Node that is called says that the library lacks it", async () => {
  const text = 'import { join } from "node:path"; import process from "node:process"; export { join, process };';
  const file = `data:text/javascript,${encodeURIComponent(lowered(text))}`;
  const { join, process } = await import(file);
  assert.deepEqual(process.env, {});
  assert.throws(() => join("a", "b"), /The library for Node and browsers has no node:path\.join/);
});

const node = await new Deno.Command("node", { args: ["--version"] }).output().then(
  ({ success }) => success,
  () => false,
);

Deno.test({
  name: "in Node the library compiles, plans, lints and expands as the program does",
  ...needs("Node.js", node),
  fn: inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "svc.mjs"), module);
    const script = `import * as svc from "./svc.mjs";\nconsole.log(await (${LOOK})(svc, ${JSON.stringify(TEXTS)}));\n`;
    await Deno.writeTextFile(join(folder, "script.mjs"), script);
    const { success, stdout, stderr } = await new Deno.Command("node", { args: [join(folder, "script.mjs")] }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    assert.deepEqual(JSON.parse(new TextDecoder().decode(stdout)), wanted);
  }),
});

Deno.test({
  name: "in Node the script of docs/guides/node_and_browsers.md runs with the package, and submits a job to a server",
  ...needs("Node.js", node),
  fn: inFolder(async (folder) => {
    const library = join(folder, "node_modules", LIBRARY.name);
    await Deno.mkdir(library, { recursive: true });
    await Deno.writeTextFile(join(library, "package.json"), JSON.stringify(LIBRARY));
    await Deno.writeTextFile(join(library, "svc.js"), module);
    await svc(["init", "project"], { cwd: folder });
    await using server = await serve(join(folder, "project"));
    const guide = await Deno.readTextFile(join(ROOT_PATH, "docs/guides/node_and_browsers.md"));
    const [script] = codeBlocks(guide, "js"),
      check = "console.log(compile(text).status, planned.status, reply.status);";
    await Deno.writeTextFile(
      join(folder, "script.mjs"),
      `${script.replace("http://127.0.0.1:8765", server.url)}\n${check}`,
    );
    const { stdout, stderr } = await new Deno.Command("node", { args: ["script.mjs"], cwd: folder }).output();
    assert.equal(
      new TextDecoder().decode(stdout).trim(),
      "valid planned 202",
      new TextDecoder().decode(stderr),
    );
  }),
});

Deno.test({
  name: "in a browser the library compiles, plans, lints and expands as the program does",
  ...needsChromium(),
  async fn() {
    const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
      const script = request.url.endsWith("/svc.js");
      return new Response(script ? module : "<!doctype html><title>svc</title>", {
        headers: { "content-type": script ? "text/javascript" : "text/html" },
      });
    });
    const opened = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
    try {
      const page = await opened.newPage(), errors: string[] = [];
      page.on("pageerror", (error) => errors.push(String(error)));
      await page.goto(`http://127.0.0.1:${server.addr.port}/`);
      const call = `import("/svc.js").then((svc) => (${LOOK})(svc, ${JSON.stringify(TEXTS)}))`;
      assert.deepEqual(JSON.parse(await page.evaluate(call) as string), wanted);
      assert.deepEqual(errors, []);
    } finally {
      await opened.close();
      await server.shutdown();
    }
  },
});

/** A script of a user of the package. */
const USE = `
import { compile, createClient, expand, float, graph, graphSvg, lint, plan, SvcError } from "svc-library";
const recipe = { name: "bits", steps: [{ id: "data", op: "source.random_bits", params: { bit_count: 64 } }] };
const id: string | undefined = compile(recipe).effective?.steps[0].id;
const planned = await plan(recipe, { lint: true });
if (planned.status === "planned") {
  const digest: string = planned.plan.sha256;
  // @ts-expect-error a digest is no number
  const wrong: number = planned.plan.sha256;
}
const count: number = lint(recipe).issues.length + expand(recipe).points.length;
const svg: string = graphSvg(graph(recipe));
const reply = await createClient("http://127.0.0.1:8765").api.runs.$get({ query: { limit: 3 } });
if (reply.status === 200) {
  const run: string = (await reply.json()).runs[0].run_id;
  // @ts-expect-error an id is no number
  const wrong: number = (await reply.json()).runs[0].run_id;
}
// @ts-expect-error there is no such option
compile(recipe, { mood: "strict" });
throw new SvcError("usage_invalid", String(float(1)));
`;

const release = Deno.env.get("SVC_RELEASE_TESTS") === "1";

Deno.test({
  name: "the package has the types of its sources, for scripts in strict mode",
  ...needs("SVC_RELEASE_TESTS=1: it takes half a minute", release),
  fn: inFolder(async (folder) => {
    const library = join(folder, "node_modules/svc-library");
    await buildLibrary(library);
    const { dependencies } = JSON.parse(Deno.readTextFileSync(join(library, "package.json")));
    for (const [name, version] of Object.entries(dependencies)) await linkPackage(folder, name, String(version));
    await Deno.writeTextFile(join(folder, "package.json"), '{"type": "module"}');
    await Deno.writeTextFile(join(folder, "use.ts"), USE);
    const program = ts.createProgram([join(folder, "use.ts")], {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      preserveSymlinks: true,
      lib: ["lib.es2024.d.ts", "lib.dom.d.ts"],
      types: [],
    });
    const found = ts.getPreEmitDiagnostics(program).map(({ messageText }) =>
      ts.flattenDiagnosticMessageText(messageText, "\n")
    );
    assert.deepEqual(found, []);
  }),
});

async function linkPackage(folder: string, name: string, version: string): Promise<void> {
  const { npmCache } = await import("../../../lib/release/packages.ts");
  const link = join(folder, "node_modules", name);
  await Deno.mkdir(join(link, ".."), { recursive: true });
  await Deno.symlink(join(await npmCache(), "registry.npmjs.org", name, version), link, { type: "dir" });
}
