/** The server as its own process: with the permissions it needs and no more, killed at random moments, ended by signals. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { canonicalJson, prettyJson } from "../../lib/contract/json.ts";
import { readRecipeText } from "../../lib/recipe/read.ts";
import { verifyRun } from "../../lib/run/verify.ts";
import { openWorkspace } from "../../lib/run/workspace.ts";
import { codeBlocks } from "../docs/blocks.ts";
import { inFolder, svc } from "../support/cli.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { serve } from "../support/served.ts";
import { LINK, twoLinks } from "../lib/study/packs.ts";
import { BITS, BITS_YAML, openTestServer } from "../lib/http/support.ts";
import { OPTIONS, RECIPE } from "../lib/api/fixture.ts";
import { LONG } from "../support/long_recipe.ts";
import { endedJob } from "../support/ended_job.ts";
import { sizeOf } from "../support/sample.ts";
import { until } from "../support/until.ts";

const post = (url: string, body: unknown) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

/** A step of an adapter, which starts a process. */
const CODED_YAML = `name: coded
metadata: {seed: 1}
steps:
  - {id: data, op: source.image_dataset, params: {dataset: svc_sample_images, image_ids: camera, crop_size: 64}}
  - {id: sender, op: dct_slices.encode, params: {bits_per_pixel: 1.0}, inputs: {images: data.images}}
`;

async function project(folder: string): Promise<void> {
  await Deno.mkdir(join(folder, "recipes"), { recursive: true });
  await Deno.writeTextFile(join(folder, "recipes/bits.yaml"), BITS_YAML);
}

Deno.test(
  "the permissions that the documentation names are enough, and none is asked for",
  inFolder(async (folder) => {
    await project(folder);
    const state = join(folder, ".svc");
    await Deno.mkdir(state);
    const [block] = codeBlocks(await Deno.readTextFile(join(ROOT_PATH, "docs/explanation/server_threats.md")), "sh");
    const [, words] = /^deno run ([^]*?) cli\.ts /.exec(block)!;
    const flags = words.replaceAll("\\\n", " ").replaceAll("<program>", ROOT_PATH).replaceAll("<project>", folder)
      .split(/ +/);
    assert.ok(flags.length > 4 && flags.every((flag) => flag.startsWith("--") && flag !== "-A"), words);
    await Deno.writeTextFile(join(folder, "recipes/coded.yaml"), CODED_YAML);
    await using server = await serve(folder, { flags, globals: ["--adapter", join(ROOT_PATH, "adapters/dct_slices")] });
    const { url } = server;
    for (
      const path of [
        "/",
        "/api/health",
        "/api/ops",
        "/api/recipes",
        "/api/recipe-templates",
        "/api/datasets/images?dataset=svc_sample_images",
        "/api/benchmarks/packs",
        "/metrics",
      ]
    ) {
      const reply = await fetch(url + path);
      assert.equal(reply.status, 200, `${path}: ${await reply.text()}`);
    }
    const run = await (await post(`${url}/api/recipe/run`, { path: "recipes/bits.yaml" })).json();
    assert.equal(run.status, "completed", JSON.stringify(run));
    const verified = await (await fetch(`${url}/api/runs/${run.run_id}/verify`)).json();
    assert.equal(verified.status, "valid");
    const external = await (await post(`${url}/api/recipe/run`, { path: "recipes/coded.yaml" })).json();
    assert.equal(external.status, "completed", JSON.stringify(external));
    const saved = await post(`${url}/api/recipe/save`, { recipe: BITS, filename: "other.yaml" });
    assert.equal(saved.status, 200, await saved.text());
    const { checks } = await (await fetch(`${url}/api/doctor`)).json();
    const failed = checks.filter(({ status }: { status: string }) => status === "failed");
    assert.deepEqual(failed, []);
  }),
);

Deno.test(
  "global options apply to requests; a signal drains the server: what ran is canceled, what was taken is remembered, the exit code is 0",
  inFolder(async (folder) => {
    await project(folder);
    const [{ folder: adapter }] = OPTIONS.adapters;
    await using server = await serve(folder, {
      globals: ["--adapter", adapter, "--onnx-accelerator", OPTIONS.accelerator],
    });
    const { value: recipe } = readRecipeText(RECIPE.replace(/ {2}- id: indices\n.*\n/, ""), { file: "own.yaml" });
    const reply = await fetch(`${server.url}/api/recipe/plan`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: canonicalJson({ recipe }),
    });
    const text = await reply.text();
    assert.equal(reply.status, 200, text);
    for (const part of ['"name":"dct-slices"', '"accelerator":"onnxruntime-node"']) {
      assert.ok(text.includes(part), part);
    }

    const { job_id } = await (await post(`${server.url}/api/run-jobs`, { recipe: LONG })).json();
    const state = async () => (await (await fetch(`${server.url}/api/run-jobs/${job_id}`)).json()).state;
    await until("the job starts", async () => await state() !== "queued");
    server.child.kill("SIGTERM");
    const { code, signal } = await server.child.status;
    assert.deepEqual([code, signal], [0, null], await server.stderr);
    await using again = await openTestServer({ folder, readOnly: true });
    assert.equal((await again.get(`/api/run-jobs/${job_id}`)).json.state, "canceled");
  }),
);

Deno.test(
  "killed at random moments, the server loses nothing that it acknowledged",
  inFolder(async (folder) => {
    await project(folder);
    const saved = new Map<string, number>();
    const jobs = new Set<string>(), runs = new Set<string>();
    for (let round = 0; round < sizeOf(1, 4); round++) {
      const taken = jobs.size, done = runs.size;
      const server = await serve(folder, { args: ["--max-active-jobs", "4"] });
      const killed = server.child.status;
      // Somewhere in the middle of writing, once every kind of work has been acknowledged.
      const before = saved.size + jobs.size + runs.size;
      let killer: ReturnType<typeof setTimeout> | undefined;
      const acknowledged = () => {
        if (killer !== undefined || runs.size <= round || saved.size + jobs.size + runs.size < before + 3) return;
        killer = setTimeout(() => server.child.kill("SIGKILL"), Math.random() * sizeOf(500, 1500));
      };
      // A server remembers 128 jobs of runs, those behind run-payload among them: four rounds of 20 and 8, and the few that no
      // reply told of, are fewer.
      const enough = async () => {
        if (killer !== undefined) server.child.kill("SIGKILL");
        await killed;
      };
      const work = [
        async (turn: number) => {
          const filename = `saved_${round}_${turn}.yaml`;
          const reply = await post(`${server.url}/api/recipe/save`, {
            recipe: { ...BITS, metadata: { seed: turn } },
            filename,
          });
          if (reply.status === 200) saved.set(filename, turn);
          await reply.body?.cancel();
        },
        async () => {
          const reply = await post(`${server.url}/api/run-jobs`, { recipe: BITS });
          const { job_id } = await reply.json();
          if (reply.status === 202) jobs.add(job_id);
          if (jobs.size - taken >= 20) await enough();
        },
        async () => {
          const reply = await post(`${server.url}/api/recipe/run-payload`, { recipe: BITS });
          const { run_id, status } = await reply.json();
          if (status === "completed") runs.add(run_id);
          if (runs.size - done >= 8) await enough();
        },
      ];
      await Promise.all(work.map(async (act) => {
        try {
          for (let turn = 0;; turn++) {
            await act(turn);
            acknowledged();
          }
        } catch {
          // The connection broke: the server is dead.
        }
      }));
      clearTimeout(killer);
      await killed;
      await server.stderr;
    }
    assert.ok(saved.size > 0 && jobs.size > 0 && runs.size > 0, `${saved.size} ${jobs.size} ${runs.size}`);
    await using server = await serve(folder);
    for (const [filename, seed] of saved) {
      const { recipe } = await (await fetch(`${server.url}/api/recipe?path=recipes/${filename}`)).json();
      assert.equal(recipe.metadata.seed, seed, filename);
    }
    for (const id of jobs) {
      const snapshot = await endedJob(server.url, `run-jobs/${id}`), { state, events } = snapshot;
      assert.ok(["completed", "incomplete"].includes(state), `${id} ${JSON.stringify(snapshot)}`);
      assert.equal(events.at(-1).kind, `job_${state}`);
    }
    // Jobs whose acknowledgement did not arrive were kept as well, and run now.
    const { jobs: kept } = await (await fetch(`${server.url}/api/run-jobs`)).json();
    for (const { job_id } of kept) await endedJob(server.url, `run-jobs/${job_id}`);
    const workspace = openWorkspace({ projectRoot: folder });
    const { runs: rows } = await (await fetch(`${server.url}/api/runs?limit=500`)).json();
    const listed = new Set(rows.map(({ run_id }: { run_id: string }) => run_id));
    for (const id of runs) {
      assert.ok(listed.has(id), id);
      assert.equal((await verifyRun(workspace, id)).status, "valid", id);
    }
    // Runs that nobody was told of are there as well, and settled: none claims to be running.
    const open = rows.filter(({ status }: { status: string }) => status !== "completed" && status !== "incomplete");
    assert.deepEqual(open, []);
    const names = [...Deno.readDirSync(join(folder, "recipes"))].map(({ name }) => name);
    assert.ok(names.every((name) => !name.endsWith(".yaml") || name === "bits.yaml" || /^saved_/.test(name)));
  }),
);

Deno.test(
  "after a kill, queued jobs run in their order, a running one is incomplete, and a benchmark names what resumes it",
  inFolder(async (folder) => {
    await project(folder);
    await Deno.mkdir(join(folder, "benchmarks"));
    await Deno.writeTextFile(join(folder, "recipes/link.yaml"), LINK);
    const pack = prettyJson(twoLinks({ replication: { replicates: 20 } }));
    await Deno.writeTextFile(
      join(folder, "benchmarks/pack.json"),
      pack.replaceAll("link.yaml", "../recipes/link.yaml"),
    );
    const submit = async (url: string, kind: string, body: unknown) => {
      const reply = await post(`${url}/api/${kind}`, body);
      const { job_id } = await reply.json();
      assert.equal(reply.status, 202);
      return `${kind}/${job_id}`;
    };
    const first = await serve(folder);
    const benchmark = await submit(first.url, "benchmark-jobs", { path: "pack" });
    const jobs: string[] = [];
    for (let i = 0; i < 4; i++) {
      jobs.push(await submit(first.url, "run-jobs", { recipe: { ...BITS, name: `bits_${i}` } }));
    }
    for (let rows = 0; rows < 2;) {
      const { events } = await (await fetch(`${first.url}/api/${benchmark}`)).json();
      rows = events.filter(({ kind }: { kind: string }) => kind === "benchmark_row_completed").length;
    }
    first.child.kill("SIGKILL");
    await first.child.status;
    await first.stderr;

    await using second = await serve(folder);
    const interrupted = await (await fetch(`${second.url}/api/${benchmark}`)).json();
    assert.deepEqual([interrupted.state, interrupted.interruption], ["incomplete", "server_restart"]);
    const snapshots = [];
    for (const job of jobs) snapshots.push(await endedJob(second.url, job));
    assert.deepEqual(snapshots.map(({ state }) => state), jobs.map(() => "completed"));
    const started = snapshots.map(({ started_at_utc }) => started_at_utc);
    assert.deepEqual(started, started.toSorted());
    const resumed = await submit(second.url, "benchmark-jobs", { path: "pack", resume: interrupted.resume.result_id });
    const { state, result, events } = await endedJob(second.url, resumed);
    assert.equal(state, "completed");
    assert.deepEqual(result, { ...interrupted.resume, warnings: [] });
    assert.ok(events.some(({ reused }: { reused?: boolean }) => reused), "rows of the interrupted benchmark are kept");
  }),
);

Deno.test(
  "flags that cannot be meant are refused before anything listens",
  inFolder(async (folder) => {
    const refused = async (...args: string[]) => {
      const globals = ["--project-root", folder, "--json"];
      const { code, json } = await svc([...globals, "ui", "serve", ...args], { env: { SVC_TOKEN: "" } });
      return [code, json.code];
    };
    assert.deepEqual(await refused("--host", "0.0.0.0"), [2, "token_required"]);
    assert.deepEqual(await refused("--port", "70000"), [2, "usage_invalid"]);
    assert.deepEqual(await refused("--max-running-jobs", "0"), [2, "usage_invalid"]);
    assert.deepEqual(await refused("--max-active-jobs", "0"), [2, "usage_invalid"]);
    await Deno.writeTextFile(join(folder, "token"), "short");
    assert.deepEqual(await refused("--token-file", join(folder, "token")), [2, "token_too_short"]);
    assert.deepEqual(await refused("--token-file", join(folder, "none")), [4, "file_not_found"]);
  }),
);
