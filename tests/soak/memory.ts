/**
 * Server memory after mixed jobs.
 *
 *     deno task soak [jobs, 200 by default] [minutes, 20 by default]
 *
 * A server of its own takes mixed jobs over HTTP: recipes of different sizes, matrices, benchmarks, captures and
 * reproductions, jobs that fail and jobs that are cancelled, with views of artifacts between. The program prints the
 * resident set of the server at its start, after each fifth of the jobs, at its peak, and in the seconds after the last
 * job. It exits with 1 when a job ends in another state than expected, when the jobs take longer than the minutes given,
 * or when the resident set 30 s after the last job is above 1.5 times the set at the start plus 100 MiB. Linux only.
 */
import { join } from "node:path";
import { canonicalJson, parseJson, type Value } from "../../lib/contract/json.ts";
import { link } from "../lib/capture/_link.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { serve } from "../support/served.ts";

const [total, minutes] = [Number(Deno.args[0] ?? 200), Number(Deno.args[1] ?? 20)];
const SETTLE_S = 30;
/** Jobs that are queued or running at a time. */
const ACTIVE = 4;

const linkOf = (seed: number, bits: number, modulation = "qpsk") => {
  const recipe = link({ seed });
  recipe.steps[0].params = { bit_count: bits };
  recipe.steps[1].params = { modulation };
  return recipe;
};
const swept = (seed: number) => {
  const dimensions = { count: [100, 10_000, 1_000_000] };
  return link({ seed, matrix: { dimensions, step_params: { data: { bit_count: { matrix: "count" } } } } });
};

interface Job {
  path: string;
  body: unknown;
  ends: "completed" | "failed" | "canceled";
}
const run = (body: Record<string, unknown>, ends: Job["ends"] = "completed"): Job => {
  return { path: "/api/run-jobs", body, ends };
};
const file = (name: string, workers = 1) =>
  run({ path: `recipes/${name}.yaml`, execution: { parallel_workers: workers } });
const pack = (name: string): Job => {
  return { path: "/api/benchmark-jobs", body: { path: `benchmarks/${name}.yaml` }, ends: "completed" };
};

/** What is asked for in turn; a function of the number of the turn. */
const TURNS: ((seed: number) => Job[] | Promise<Job[]>)[] = [
  (seed) => [run({ recipe: linkOf(seed, 64) })],
  (seed) => [run({ recipe: linkOf(seed, 4_000_000), execution: { parallel_workers: 2 } })],
  () => [file("image_jpeg_nr_ldpc_awgn", 2)],
  (seed) => [{ path: "/api/dataset-capture-jobs", body: captureOf(seed), ends: "completed" }],
  (seed) => [run({ recipe: linkOf(seed, 64, "bpsk") }, "failed")],
  () => [pack("beamforming_precoding/beam_selection_v1")],
  () => firstPoint("detection_scenes_deepjscc_awgn"),
  (seed) => [run({ recipe: linkOf(seed, 40_000_000) }, "canceled")],
  async (seed) => (await variants(swept(seed))).map((recipe) => run({ recipe })),
  () => [file("bit_transport_nr_ldpc_tdl", 2)],
  () => firstPoint("neural_receiver_qpsk_iq_learned"),
  () => runs.slice(-1).map((id) => ({ path: `/api/runs/${id}/reproduce`, body: {}, ends: "completed" })),
  () => [pack("channel_estimation/pilot_awgn_v1")],
  (seed) => [run({ recipe: linkOf(seed, 40_000_000), execution: { parallel_workers: 4 } })],
  () => [file("bit_transport_awgn")],
];

const captureOf = (seed: number) => ({ recipe: linkOf(seed, 4096), split: "train", samples: 20, out: `soak/${seed}` });

const variants = async (recipe: unknown): Promise<unknown[]> =>
  (await post("/api/recipe/matrix/expand", { recipe })).recipes;

async function firstPoint(name: string): Promise<Job[]> {
  const { recipe } = await get(`/api/recipe?path=recipes/${name}.yaml`);
  return [run({ recipe: (await variants(recipe))[0] })];
}

const folder = await Deno.makeTempDir({ prefix: "svc-soak-" });
const server = await serve(ROOT_PATH, { globals: ["--workspace", join(folder, ".svc")] });
/** Runs that completed, which can be reproduced and viewed. */
const runs: string[] = [];
const took = new Map<string, number>();
let wrong = 0, ended = 0, views = 0;
try {
  await get("/api/health");
  await sleep(2);
  const start = memory().resident;
  const limit = 1.5 * start + 100;
  console.log(`start: ${mib(start)}, limit after ${SETTLE_S} s of rest: ${mib(limit)}`);
  const began = performance.now();
  const elapsed = () => (performance.now() - began) / 1000;
  const active = new Set<Promise<void>>();
  let asked = 0;
  for (let turn = 0; asked < total; turn++) {
    for (const job of await TURNS[turn % TURNS.length](turn + 1)) {
      if (asked++ >= total) break;
      while (active.size >= ACTIVE) await Promise.race(active);
      if (elapsed() > 60 * minutes) throw new Error(`The jobs took longer than ${minutes} minutes`);
      const done = perform(job).catch((error) => {
        wrong++;
        console.log(String(error));
      }).finally(() => active.delete(done));
      active.add(done);
    }
  }
  await Promise.all(active);
  const { resident, peak } = memory();
  console.log(
    `${ended} jobs and ${views} views in ${elapsed().toFixed(0)} s; at the end ${mib(resident)}, peak ${mib(peak)}`,
  );
  for (const [path, seconds] of took) console.log(`  ${path}: ${seconds.toFixed(1)} s`);
  for (let second = 5; second <= SETTLE_S; second += 5) {
    await sleep(5);
    console.log(`  after ${second} s: ${mib(memory().resident)}`);
  }
  const rest = memory().resident;
  console.log(`${mib(rest)} at rest, limit ${mib(limit)}; jobs that ended otherwise than expected: ${wrong}`);
  if (rest > limit) wrong++;
} finally {
  await server[Symbol.asyncDispose]();
  await Deno.remove(folder, { recursive: true });
}
Deno.exit(wrong === 0 ? 0 : 1);

/** Sends a job, waits for its end and looks at what it left. */
async function perform({ path, body, ends }: Job): Promise<void> {
  const { job_id } = await post(path, body);
  const base = path.startsWith("/api/runs/") ? "/api/run-jobs" : path;
  if (ends === "canceled") await post(`${base}/${job_id}/cancel`, {});
  let job;
  do job = await get(`${base}/${job_id}/wait?timeout_seconds=60`); while (!job.completed_at_utc);
  const name = job.recipe_name ?? base;
  took.set(
    name,
    (took.get(name) ?? 0) +
      (Date.parse(job.completed_at_utc) - Date.parse(job.started_at_utc ?? job.completed_at_utc)) / 1000,
  );
  if (job.state !== ends) {
    wrong++;
    console.log(`${name}: ${job.state}, expected ${ends}: ${JSON.stringify(job.error)}`);
  }
  if (job.run_id !== null && job.state === "completed") {
    runs.push(job.run_id);
    await view(job.run_id);
  }
  if (++ended % Math.ceil(total / 5) === 0) console.log(`  after ${ended} jobs: ${mib(memory().resident)}`);
}

/** The views that the page opens on a run. */
async function view(id: string): Promise<void> {
  const { summary } = await get(`/api/runs/${id}`);
  for (const { outputs } of summary.steps) {
    for (const { path } of Object.values(outputs) as { path: string }[]) {
      const query = `path=${path}`;
      for (const route of ["artifact", "series", "array", "image"]) {
        const response = await fetch(`${server.url}/api/${route}?${query}`);
        await response.body?.cancel();
        if (response.ok) views++;
        // Not every file holds a picture or an array, and not every array is small enough to be sent whole.
        else if (response.status !== 422 && response.status !== 400) {
          throw new Error(`${route} of ${path} got ${response.status}`);
        }
      }
    }
  }
}

async function post(path: string, body: unknown) {
  for (;;) {
    const response = await fetch(server.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: canonicalJson(body as Value),
    });
    const document = typedJson(await response.text());
    if (response.ok) return document;
    if (response.status !== 429) throw new Error(`${path} got ${response.status}: ${JSON.stringify(document)}`);
    await sleep(Number(response.headers.get("retry-after") ?? 1));
  }
}

async function get(path: string) {
  const response = await fetch(server.url + path);
  if (!response.ok) throw new Error(`${path} got ${response.status}: ${await response.text()}`);
  return typedJson(await response.text());
}

/** Numbers keep their types, as a recipe that is sent back needs. */
// deno-lint-ignore no-explicit-any -- documents of every shape
function typedJson(text: string): any {
  return parseJson(text);
}

/** MiB of the server that are in memory, now and at most. */
function memory(): { resident: number; peak: number } {
  const text = Deno.readTextFileSync(`/proc/${server.child.pid}/status`);
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)![1]) / 1024;
  return { resident: of("VmRSS"), peak: of("VmHWM") };
}

function mib(value: number): string {
  return `${value.toFixed(0)} MiB`;
}

function sleep(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
