/** The program by its URL: its files are fetched once, and then it is as complete as in a folder. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { fetchProgram } from "../../../lib/fetch/program.ts";
import { npmCache } from "../../../lib/release/packages.ts";
import { codeBlocks } from "../../docs/blocks.ts";
import { commandHost, inFolder } from "../../support/cli.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import { serveTree } from "../../support/serve_tree.ts";
import { call, checkout, type Installed, plans, walk } from "./walk.ts";

const missing = new Set<string>(), tree = serveTree((path) => missing.has(path));
/** The origin does not have this path meanwhile. */
function absent(path: string): Disposable {
  missing.add(path);
  return { [Symbol.dispose]: () => void missing.delete(path) };
}
/** A cache of modules, which are fetched and compiled once for all tests; packages of npm are those of this machine. */
const denoDir = await Deno.makeTempDir({ prefix: "svc-deno-" });
await Deno.symlink(await npmCache(), join(denoDir, "npm"), { type: "dir" });
Deno.test.afterAll(async () => {
  await tree[Symbol.asyncDispose]();
  await Deno.remove(denoDir, { recursive: true });
});

const FLAGS = ["run", "-A", "--no-config", "--no-lock", "--no-check", "--quiet"];
const UNSTABLE = ["--unstable-worker-options", "--unstable-raw-imports"];

/** The program by URL, without its files so far; its commands share a process. */
function installed(root: string): Required<Installed> & AsyncDisposable {
  const env = { HOME: join(root, "home"), XDG_CACHE_HOME: join(root, "cache"), DENO_DIR: denoDir };
  const host = commandHost([...FLAGS, ...UNSTABLE], { cwd: root, env }, `${tree.url}lib/cli/main.ts`);
  return {
    ...host,
    command: [Deno.execPath(), ...FLAGS, ...UNSTABLE, `${tree.url}cli.ts`],
    env,
    adapter: join(ROOT_PATH, "adapters/dct_slices"),
  };
}

Deno.test(
  "by URL the program runs adapters, models, packs, samples and the page, and plans as the checkout does",
  inFolder(async (root) => {
    await using byUrl = installed(root);
    const project = await walk(byUrl, root), { command, env, adapter } = byUrl;
    assert.deepEqual(await plans(byUrl, project), await plans(checkout(adapter), project));
    await commandsOfGuide(byUrl, tree.url, project);
    // Modules and files are there now: the origin is not asked again.
    tree.requests.clear();
    assert.equal((await call({ command, env, adapter }, ["recipe", "plan", "quickstart"], project)).code, 0);
    assert.deepEqual([...tree.requests], []);
    // Without the features of deno.json a network cannot run, and that is known before a step runs.
    const learned = join(ROOT_PATH, "recipes/neural_receiver_qpsk_phase_tracking_learned.yaml");
    const network = ["recipe", "plan", learned, "--set", "tracker=learned_artifact", "--set", "snr_db=6.0"];
    const without = [Deno.execPath(), ...FLAGS, `${tree.url}cli.ts`];
    assert.match(
      (await call({ command: without, env, adapter }, network, root)).stderr,
      /runtime_unavailable[^]*Run with --unstable-worker-options/,
    );
  }),
);

/** The commands of docs/guides/run_by_url.md: a run, and an installation under a name. */
async function commandsOfGuide({ env }: Installed, url: string, project: string): Promise<void> {
  const [block] = codeBlocks(await Deno.readTextFile(join(ROOT_PATH, "docs/guides/run_by_url.md")), "console");
  const lines = block.replaceAll("https://…/", url).replaceAll(/^deno /gm, `'${Deno.execPath()}' `).split("\n");
  assert.equal(lines.length, 2);
  const root = join(project, "installed"), script = [...lines, "installed/bin/svc recipe plan quickstart"].join(" && ");
  const installedBy = { command: ["bash", "-c"], env: { ...env, DENO_INSTALL_ROOT: root }, adapter: "" };
  const { code, stdout, stderr } = await call(installedBy, [script], project);
  assert.equal(code, 0, stdout + stderr);
}

Deno.test(
  "without its files a program by URL runs what needs none, and the plan says what cannot run",
  inFolder(async (root) => {
    using _ = absent("/recipes/samples/camera.png");
    await using byUrl = installed(root);
    const file = join(root, "bits.yaml");
    await Deno.writeTextFile(
      file,
      "name: bits\nmetadata: {seed: 1}\nsteps:\n  - {id: data, op: source.random_bits, params: {bit_count: 64}}\n",
    );
    const bits = await call(byUrl, ["recipe", "run", file], root);
    assert.equal(bits.code, 0, bits.stderr);
    assert.match(bits.stderr, /program_files_unavailable[^]*camera\.png answered 404/);
    await Deno.writeTextFile(
      file,
      "name: photos\nsteps:\n  - {id: data, op: source.image_dataset, params: {dataset: svc_sample_images, image_ids: chelsea, crop_size: 64}}\n",
    );
    const refused = await call(byUrl, ["--adapter", byUrl.adapter, "recipe", "plan", file, "--json"], root);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stdout, /dataset_unavailable/);
    assert.match(refused.stdout, /svc data fetch svc_sample_images/);
    // The process of an adapter starts from the modules of the program, which are there.
    assert.doesNotMatch(refused.stdout + refused.stderr, /adapter_/);
  }),
);

Deno.test(
  "program files are fetched once, whole or not at all, and an altered byte is refused",
  inFolder(async (root) => {
    const encoder = new TextEncoder(), contents = new Map([["a.txt", "one"], ["b/c.txt", "two"]]);
    const files = Object.fromEntries([...contents].map(([path, text]) => [
      path,
      { size_bytes: text.length, sha256: sha256Hex(encoder.encode(text)) },
    ]));
    let requests = 0;
    const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ url }) => {
      requests++;
      const text = contents.get(new URL(url).pathname.slice(1));
      return text === undefined ? new Response(null, { status: 404 }) : new Response(text);
    });
    try {
      const origin = `http://127.0.0.1:${server.addr.port}/`, cache = join(root, "cache");
      contents.set("b/c.txt", "twO");
      await assert.rejects(fetchProgram(origin, files, cache), {
        code: "program_files_unavailable",
        message: /b\/c\.txt differs from the file of this version/,
      });
      assert.deepEqual([...Deno.readDirSync(cache)], []);
      contents.set("b/c.txt", "two");
      requests = 0;
      const folders = await Promise.all([1, 2, 3].map(() => fetchProgram(origin, files, cache)));
      assert.equal(new Set(folders).size, 1);
      assert.equal(await Deno.readTextFile(join(folders[0], "b/c.txt")), "two");
      assert.deepEqual([...Deno.readDirSync(cache)].map(({ name }) => name), [folders[0].split("/").at(-1)]);
      requests = 0;
      assert.equal(await fetchProgram(origin, files, cache), folders[0]);
      assert.equal(requests, 0);
    } finally {
      await server.shutdown();
    }
  }),
);

const OWN_OPERATION = (root: string) => `
import { bitsArtifact, bitsOf, defineOperation, kinds, travel, z } from "${root}mod.ts";

export default defineOperation({
  id: "my.invert",
  name: "Invert bits",
  inputs: { bits: kinds.BITS_ANY },
  outputs: { bits: kinds.BITS },
  params: z.strictObject({}),
  threadSafe: true,
  run: ({ inputs }) => ({
    outputs: { bits: bitsArtifact(bitsOf(inputs.bits).map((bit) => 1 - bit), travel(inputs.bits.metadata)) },
  }),
});
`;

const SCRIPT = (root: string) => `
import { compile, open, run } from "${root}mod.ts";

const operations = [new URL("./my_op.ts", import.meta.url)];
const recipe = {
  name: "by_url",
  metadata: { seed: 23 },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: 4096 } },
    { id: "inverted", op: "my.invert", inputs: { bits: "data.bits" } },
    { id: "evaluation", op: "metrics.bit_error_rate", inputs: { candidate: "inverted.bits", reference: "data.bits" } },
  ],
};
const compilation = await compile(recipe, { operations });
const result = await run(recipe, { operations, parallelWorkers: 2 });
await using svc = await open();
const report = await svc.runs.verify(result.run_id);
const evaluation = result.summary.steps.find((step) => step.id === "evaluation");
const plan = JSON.parse(Deno.readTextFileSync(result.directory + "/execution-plan.json"));

const photographs = {
  name: "photos",
  metadata: { seed: 23 },
  steps: [{
    id: "data",
    op: "source.image_dataset",
    params: { dataset: "svc_sample_images", image_ids: "chelsea", crop_size: 64 },
  }],
};
const pictures = await run(photographs);
const { templates } = await svc.templates.list();
const codec = templates.find(({ id }) => id === "semantic_comm.image_reconstruction.default");
const texts = await svc.templates.instantiate("semantic_comm.text_semantic_similarity.default", { name: "texts" });
console.log(JSON.stringify({
  compiled: compilation.status,
  status: result.status,
  verified: report.status,
  ber: Number(evaluation.metrics["channel.ber"]),
  modules: plan.steps.map((step) => step.implementation_metadata.source_module),
  digests: plan.steps.map((step) => step.implementation_metadata.source_sha256),
  pictures: pictures.status,
  available: templates.filter((row) => row.available).length,
  missing: codec.run_readiness.missing,
  source: codec.source,
  template: texts.recipe.name,
  text: texts.text.split("\\n")[0],
}));
`;

Deno.test("a script in an empty folder imports the library by URL, adds an operation, runs, and has its photographs and templates", async () => {
  const folder = await Deno.makeTempDir({ prefix: "svc-by-url-" });
  try {
    await Deno.writeTextFile(join(folder, "my_op.ts"), OWN_OPERATION(tree.url));
    await Deno.writeTextFile(join(folder, "script.ts"), SCRIPT(tree.url));
    const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-lock", "--no-check", "script.ts"],
      cwd: folder,
      env: { NO_COLOR: "1", XDG_CACHE_HOME: join(folder, "cache"), DENO_DIR: denoDir },
    }).output();
    const text = new TextDecoder();
    assert.ok(success, text.decode(stderr));
    const seen = JSON.parse(text.decode(stdout).trim().split("\n").pop()!);
    assert.equal(seen.compiled, "valid");
    assert.equal(seen.status, "completed");
    assert.equal(seen.verified, "valid");
    assert.equal(seen.ber, 1);
    assert.ok(seen.modules[1].endsWith("my_op.ts"), seen.modules[1]);
    // The built-in sources cannot be read from a URL: their digests come from the generated list.
    for (const digest of seen.digests) assert.match(digest, /^[0-9a-f]{64}$/);
    assert.equal(seen.pictures, "completed");
    assert.ok(tree.requests.has("/recipes/samples/chelsea.png"));
    // The templates come with the library, and so does the data that they read.
    assert.ok(seen.available >= 3);
    assert.equal(seen.source.reference, "svc_pkg:recipe_starters/image_codec_default.yaml");
    assert.deepEqual(seen.missing, []);
    assert.deepEqual([seen.template, seen.text.startsWith("# Sentences as UTF-8")], ["texts", true]);
    const files = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
    assert.deepEqual(files, [".svc", "cache", "my_op.ts", "script.ts"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
