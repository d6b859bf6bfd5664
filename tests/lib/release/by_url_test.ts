/** The program by its URL: its files are fetched once, and then it is as complete as in a folder. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { fetchProgram } from "../../../lib/fetch/program.ts";
import { npmCache } from "../../../lib/release/packages.ts";
import { codeBlocks } from "../../docs/blocks.ts";
import { inFolder } from "../../support/cli.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import { serveTree } from "../../support/serve_tree.ts";
import { call, type Installed, plans, walk } from "./walk.ts";

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

/** The program by URL, without its files so far. */
function installed(root: string): Installed {
  return {
    command: [
      ...[Deno.execPath(), "run", "-A", "--no-config", "--no-lock", "--no-check", "--quiet"],
      ...["--unstable-worker-options", "--unstable-raw-imports", `${tree.url}cli.ts`],
    ],
    env: { HOME: join(root, "home"), XDG_CACHE_HOME: join(root, "cache"), DENO_DIR: denoDir },
    adapter: join(ROOT_PATH, "adapters/dct_slices"),
  };
}

Deno.test(
  "by URL the program runs adapters, models, packs, samples and the page, and plans as the checkout does",
  inFolder(async (root) => {
    const byUrl = installed(root), project = await walk(byUrl, root);
    assert.deepEqual(
      await plans(byUrl, project),
      await plans({ command: [], adapter: byUrl.adapter }, project),
    );
    await commandsOfGuide(byUrl, tree.url, project);
    // Modules and files are there now: the origin is not asked again.
    tree.requests.clear();
    assert.equal((await call(byUrl, ["recipe", "plan", "quickstart"], project)).code, 0);
    assert.deepEqual([...tree.requests], []);
    // Without the features of deno.json a network cannot run, and that is known before a step runs.
    const learned = join(ROOT_PATH, "recipes/neural_receiver_qpsk_phase_tracking_learned.yaml");
    const network = ["recipe", "plan", learned, "--set", "tracker=learned_artifact", "--set", "snr_db=6.0"];
    const unstable = byUrl.command.filter((word) => !word.startsWith("--unstable"));
    assert.match(
      (await call({ ...byUrl, command: unstable }, network, root)).stderr,
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
    const byUrl = installed(root), file = join(root, "bits.yaml");
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
    const refused = await call(byUrl, ["recipe", "plan", file, "--json"], root);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stdout, /dataset_unavailable/);
    assert.match(refused.stdout, /svc data fetch svc_sample_images/);
    const adapter = await call(byUrl, ["--adapter", byUrl.adapter, "recipe", "plan", file], root);
    // The process of an adapter starts from the modules of the program, which are there.
    assert.match(adapter.stderr, /dataset_unavailable/);
    assert.doesNotMatch(adapter.stderr, /adapter_/);
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
