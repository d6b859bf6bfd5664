import assert from "node:assert/strict";
import { verifyRun } from "../../../lib/run/verify.ts";
import { decoding, LONG } from "../../support/long_recipe.ts";
import { BITS, BITS_YAML, openTestServer, readStream, removeLeft, type TestServer } from "./support.ts";
import { until, within } from "../../support/until.ts";

/** One server: the first job of each starts a thread, which takes longer than most of these steps. */
Deno.test("jobs of one server", async (t) => {
  const files = { "recipes/pruned.yaml": BITS_YAML.replace("name: bits", "name: pruned") };
  await using server = await openTestServer({ files, maxActiveJobs: 4, heartbeatMs: 20 });
  await t.step("a run job is taken, runs, tells every event once and leaves a bundle that verifies", async () => {
    const taken = await server.post("/api/run-jobs", { recipe: BITS, execution: { parallel_workers: 2 } });
    assert.equal(taken.status, 202, taken.text);
    const { job_id } = taken.json;
    assert.match(job_id, /^[0-9a-f]{32}$/);
    assert.equal(taken.headers.get("location"), `/api/run-jobs/${job_id}`);
    assert.ok(["queued", "running"].includes(taken.json.state));
    const ended = (await server.get(`/api/run-jobs/${job_id}/wait?timeout_seconds=60`)).json;
    assert.equal(ended.state, "completed", JSON.stringify(ended.error));
    const kinds = ended.events.map(({ kind }: { kind: string }) => kind);
    assert.deepEqual(kinds.slice(0, 2), ["queued", "job_started"]);
    assert.deepEqual(kinds.slice(-2), ["run_completed", "job_completed"]);
    for (const kind of ["execution_plan_cache", "run_created", "run_started", "step_started", "step_completed"]) {
      assert.ok(kinds.includes(kind), kind);
    }
    assert.deepEqual(ended.events.map(({ seq }: { seq: number }) => seq), kinds.map((_: string, i: number) => i + 1));
    assert.equal(ended.summary_path, `runs/${ended.run_id}/summary.json`);
    const report = await verifyRun(server.service.session.workspace, ended.run_id);
    assert.equal(report.status, "valid");
    const { summary } = (await server.get(`/api/runs/${ended.run_id}`)).json;
    assert.equal(summary.job_id, job_id);
  });
  await t.step("polling gives each event once, and says when older ones are gone", async () => {
    const { job_id } = (await server.post("/api/run-jobs", { recipe: BITS })).json;
    await server.get(`/api/run-jobs/${job_id}/wait`);
    const seen: number[] = [];
    for (let after = 0;;) {
      const page = (await server.get(`/api/run-jobs/${job_id}?after_seq=${after}&event_limit=3`)).json;
      if (page.events.length === 0) break;
      assert.ok(page.events.length <= 3);
      seen.push(...page.events.map(({ seq }: { seq: number }) => seq));
      after = page.next_event_seq;
    }
    assert.deepEqual(seen, seen.map((_, index) => index + 1));
    const job = server.service.jobs.get(job_id);
    job.events.splice(0, 4);
    assert.equal((await server.get(`/api/run-jobs/${job_id}?after_seq=0`)).json.events_truncated, true);
    assert.equal((await server.get(`/api/run-jobs/${job_id}?after_seq=4`)).json.events_truncated, false);
    const stream = await readStream(await server.request(`/api/run-jobs/${job_id}/events`));
    assert.deepEqual([stream[0].event, stream[0].data.oldest_seq], ["truncated", 5]);
  });
  await t.step("a stream ends with its job, resumes by Last-Event-ID, and answers 204 behind the end", async () => {
    const { job_id } = (await server.post("/api/run-jobs", { recipe: BITS })).json;
    const path = `/api/run-jobs/${job_id}/events`;
    const live = await server.request(path);
    assert.equal(live.headers.get("content-type"), "text/event-stream; charset=utf-8");
    assert.equal(live.headers.get("content-encoding"), null);
    const messages = await readStream(live);
    assert.equal(messages.at(-1)!.event, "job_completed");
    assert.deepEqual(messages.map(({ id }) => Number(id)), messages.map((_, index) => index + 1));
    const half = Math.floor(messages.length / 2);
    const rest = await readStream(await server.request(path, { headers: { "last-event-id": String(half) } }));
    assert.deepEqual(rest, messages.slice(half));
    const behind = await server.request(path, { headers: { "last-event-id": String(messages.length) } });
    assert.equal(behind.status, 204);
    assert.equal(server.service.events.streams, 0);
  });
  await t.step("a recipe of an older form is planned and run where mode asks for it", async () => {
    const recipe = { name: "old", zoom: 2, steps: [{ op: "source.random_bits", params: { bit_count: 64 } }] };
    const asked = { recipe, mode: "compat" };
    for (const path of ["/api/recipe/plan", "/api/recipe/run-payload", "/api/run-jobs"]) {
      assert.deepEqual((await server.post(path, { recipe })).status, 400, path);
    }
    const { plan } = (await server.post("/api/recipe/plan", asked)).json;
    assert.equal(plan.steps[0].step_id, "step_1");
    const run = (await server.post("/api/recipe/run-payload", asked)).json;
    assert.equal(run.status, "completed");
    assert.deepEqual(
      run.warnings.map(({ code }: { code: string }) => code).slice(0, 2),
      ["unknown_recipe_field", "implicit_recipe_step_id"],
    );
    const metadata = { sweeps: { "step_1.bit_count": [16, 32] } };
    const swept = { ...asked, recipe: { ...recipe, metadata } };
    const { job_id } = (await server.post("/api/matrix-jobs", swept)).json;
    const ended = (await server.get(`/api/run-jobs/${job_id}/wait`)).json;
    assert.equal(ended.state, "completed", JSON.stringify(ended));
  });
  await t.step("a synchronous run gives its outcome, and a reproduction its report", async () => {
    const run = await server.post("/api/recipe/run", { path: "recipes/bits.yaml" });
    assert.equal(run.status, 200, run.text);
    assert.equal(run.json.status, "completed");
    assert.equal(run.json.execution.parallel_workers, 1);
    const taken = await server.post(`/api/runs/${run.json.run_id}/reproduce`, {});
    assert.equal(taken.status, 202, taken.text);
    const ended = (await server.get(`/api/run-jobs/${taken.json.job_id}/wait`)).json;
    assert.equal(ended.result.report.status, "identical");
    assert.equal((await server.post("/api/runs/nothing/reproduce", {})).status, 404);
  });
  await t.step("warnings come with the run, with its job and with a sweep", async () => {
    const steps = [
      { id: "data", op: "source.random_bits", params: { bit_count: 64 } },
      {
        id: "modulator",
        op: "modulation.digital_modulate",
        inputs: { bits: "data.bits" },
        params: { modulation: "qpsk" },
      },
      { id: "channel", op: "wireless.channel", inputs: { symbols: "modulator.symbols" }, params: { snr_db: 200 } },
    ];
    const recipe = { name: "link", steps }, codes = (found: { code: string }[]) => found.map(({ code }) => code);
    const run = await server.post("/api/recipe/run-payload", { recipe });
    assert.deepEqual(codes(run.json.warnings), ["value_implausible"], run.text);
    assert.deepEqual((await server.get(`/api/runs/${run.json.run_id}`)).json.summary.warnings, run.json.warnings);
    const matrix = { dimensions: { bits: [64, 128] }, step_params: { data: { bit_count: { matrix: "bits" } } } };
    const { job_id } = (await server.post("/api/matrix-jobs", { recipe: { ...recipe, metadata: { matrix } } })).json;
    const swept = (await server.get(`/api/run-jobs/${job_id}/wait?timeout_seconds=60`)).json;
    assert.deepEqual(codes(swept.result.warnings), ["value_implausible"]);
  });
  await t.step(
    "a sweep is one job: progress by variant, results with counts, kept metrics, resumed and refused",
    async () => {
      const matrix = { dimensions: { count: [8, 16] }, step_params: { data: { bit_count: { matrix: "count" } } } };
      const recipe = { ...BITS, metadata: { seed: 7, matrix } };
      const submit = async (body: object) => await server.post("/api/matrix-jobs", { recipe, ...body });
      const ended = async (id: string) => (await server.get(`/api/run-jobs/${id}/wait?timeout_seconds=60`)).json;
      const taken = await submit({ keep: "metrics", execution: { parallel_points: 2 } });
      assert.equal(taken.status, 202, taken.text);
      assert.equal(taken.headers.get("location"), `/api/run-jobs/${taken.json.job_id}`);
      const job = await ended(taken.json.job_id);
      assert.deepEqual(
        [job.kind, job.state, job.run_id, job.error],
        ["matrix", "completed", null, null],
        JSON.stringify(job),
      );
      const { rows } = job.result;
      assert.ok(rows.length > 1);
      const { count, variants } = job.progress;
      assert.equal(count, rows.length);
      for (const { variant_id, index, run_id } of rows) {
        assert.deepEqual(variants[variant_id], { index, run_id, status: "completed", reused: false });
        const [listed] =
          (await server.get(`/api/runs?fields=artifacts&limit=1&recipe_name=${rows[index].recipe_name}`)).json.runs;
        assert.deepEqual([listed.run_id, listed.artifacts], [run_id, "pruned"]);
      }
      // The server remembers the sweep, and a second one uses its runs.
      const { jobs } = (await server.get("/api/run-jobs")).json;
      assert.equal(jobs[0].progress.count, rows.length);
      const again = await ended((await submit({ points: ["1"] })).json.job_id);
      assert.deepEqual(
        again.result.rows.map(({ run_id, reused }: { run_id: string; reused: boolean }) => [run_id, reused]),
        [[
          rows[1].run_id,
          true,
        ]],
      );
      for (
        const [body, code] of [
          [{ points: ["99"] }, "usage_invalid"],
          [{ drop: ["nothing"] }, "execution_invalid"],
          [{ recipe: BITS }, "matrix_definition_invalid"],
        ] as const
      ) {
        const refused = await submit(body);
        assert.deepEqual([refused.status, refused.json.code], [400, code]);
      }
      const stopped = (await submit({ rerun: true })).json.job_id;
      await server.post(`/api/run-jobs/${stopped}/cancel`, {});
      assert.equal((await ended(stopped)).state, "canceled");
    },
  );
  await t.step("the stream of all jobs has rising ids over several jobs and resumes", async () => {
    const last = server.service.events.latestId;
    const all = readStream(
      await server.request(`/api/events?after_seq=${last}`),
      (messages) => messages.filter(({ event }) => event === "job_completed").length === 2,
    );
    await server.post("/api/run-jobs", { recipe: BITS });
    await server.post("/api/run-jobs", { recipe: BITS });
    const messages = await all;
    const ids = messages.map(({ id }) => Number(id));
    assert.ok(ids.every((id, index) => index === 0 || id > ids[index - 1]), String(ids));
    assert.equal(new Set(messages.map(({ data }) => data.job_id)).size, 2);
    const resumed = await readStream(
      await server.request("/api/events", { headers: { "last-event-id": String(ids[3]) } }),
      (some) => some.length === messages.length - 4,
    );
    assert.deepEqual(resumed, messages.slice(4));
  });
  await t.step("a run that cannot fit is refused, unless its estimate is to be ignored", async () => {
    const recipe = {
      name: "large",
      steps: [{ id: "data", op: "source.random_bits", params: { bit_count: 10 ** 15 } }],
    };
    const jobs = async () => (await server.get("/api/run-jobs")).json.jobs.length, before = await jobs();
    for (const path of ["/api/run-jobs", "/api/recipe/run-payload"]) {
      const refused = await server.post(path, { recipe });
      assert.deepEqual([refused.status, refused.json.code], [400, "resources_insufficient"], refused.text);
      assert.match(
        refused.json.detail,
        /Cannot run data: the run needs 1\.8 PiB of memory, and [\d.]+ [MG]iB are available/,
      );
    }
    assert.equal(await jobs(), before);
    const tried = await server.post("/api/recipe/run-payload", { recipe, ignore_estimate: true });
    assert.deepEqual([tried.status, tried.json.code], [422, "run_failed"], tried.text);
    // The code of the operation that failed, and its step.
    assert.deepEqual([tried.json.failure.code, tried.json.failure.step_id], ["operation_failed", "data"], tried.text);
  });
  await t.step("a run is pruned, its artifacts are named as pruned, and a job restores it", async () => {
    const { run_id } = (await server.post("/api/recipe/run", { path: "recipes/pruned.yaml", keep: "metrics" })).json;
    const wrong = await server.post("/api/recipe/run", { path: "recipes/pruned.yaml", drop: ["nothing"] });
    assert.deepEqual([wrong.status, wrong.json.code], [400, "execution_invalid"]);
    const verify = async () => (await server.get(`/api/runs/${run_id}/verify`)).json;
    const artifact = `/api/artifact?path=runs/${run_id}/artifacts/data/bits.npz`;
    assert.equal((await verify()).artifacts, "pruned");
    const missing = await server.get(artifact);
    assert.deepEqual([missing.status, missing.json.code], [404, "run_pruned"], missing.text);
    const restore = async () => {
      const { job_id } = (await server.post(`/api/runs/${run_id}/restore`, {})).json;
      const { state, result } = (await server.get(`/api/run-jobs/${job_id}/wait`)).json;
      return [state, result.report.status];
    };
    assert.deepEqual(await restore(), ["completed", "restored"]);
    assert.equal((await server.get(artifact)).status, 200);
    assert.equal((await verify()).artifacts, "present");
    const pruned = (await server.post("/api/runs/prune", { recipe: "pruned", larger_than: "1kB" })).json;
    assert.deepEqual(pruned.runs.map((row: { run_id: string }) => row.run_id), [run_id]);
    // Equal requests get one reply, until something changes.
    const listed = async () => {
      const { json, headers } = await server.get("/api/runs?fields=size_bytes&recipe_name=pruned");
      return [json.runs.map((row: { run_id: string }) => row.run_id), headers.get("etag")];
    };
    const before = await listed();
    assert.deepEqual([before[0], await listed()], [[run_id], before]);
    assert.equal((await server.post("/api/runs/remove", { ids: [run_id] })).json.runs.length, 1);
    assert.deepEqual((await listed())[0], []);
    assert.equal((await server.get(`/api/runs/${run_id}`)).status, 404);
  });
  await t.step("a job beyond the limit is refused with Retry-After, and a canceled one frees its place", async () => {
    const jobs: string[] = [];
    for (let i = 0; i < 4; i++) jobs.push((await server.post("/api/run-jobs", { recipe: LONG })).json.job_id);
    const fifth = await server.post("/api/run-jobs", { recipe: BITS });
    assert.equal(fifth.status, 429);
    assert.equal(fifth.json.code, "job_capacity");
    assert.ok(Number(fifth.headers.get("retry-after")) > 0);
    // One that waits is canceled at once; one that runs, at its next checkpoint.
    const waiting = (await server.post(`/api/run-jobs/${jobs[3]}/cancel`, {})).json;
    assert.equal(waiting.state, "canceled");
    for (const id of jobs.slice(0, 3)) await server.post(`/api/run-jobs/${id}/cancel`, {});
    const again = await server.post(`/api/run-jobs/${jobs[0]}/cancel`, {});
    assert.equal(again.status, 200);
    const ended = (await server.get(`/api/run-jobs/${jobs[0]}/wait`)).json;
    assert.equal(ended.state, "canceled");
    assert.equal(ended.events.filter(({ kind }: { kind: string }) => kind === "stop_requested").length, 1);
  });
});

Deno.test("64 jobs of a kind are queued, a further one is refused, and other kinds have places of their own", async () => {
  await using server = await openTestServer({ maxRunningJobs: 0 });
  const statuses: number[] = [];
  for (let i = 0; i < 65; i++) statuses.push((await server.post("/api/run-jobs", { recipe: BITS })).status);
  assert.deepEqual(statuses, [...new Array(64).fill(202), 429]);
  const other = await server.post("/api/dataset-capture-jobs", { recipe: BITS, split: "train" });
  assert.notEqual(other.json.code, "job_capacity");
});

Deno.test("a refused recipe leaves neither a job nor a run", async () => {
  await using server = await openTestServer();
  const recipe = { name: "refused", steps: [{ id: "a", op: "nope" }] };
  const refused = await server.post("/api/recipe/run-payload", { recipe });
  assert.equal(refused.status, 400);
  assert.equal(refused.json.code, "recipe_invalid");
  assert.equal(refused.json.diagnostics[0].pointer, "/steps/0/op");
  assert.deepEqual((await server.get("/api/run-jobs")).json.jobs, []);
  assert.deepEqual((await server.get("/api/runs")).json.runs, []);
});

Deno.test("execution is taken exactly", async () => {
  await using server = await openTestServer();
  const wrong = [
    '{"workers": 2}',
    '{"parallel_workers": true}',
    '{"parallel_workers": 0}',
    '{"parallel_workers": 33}',
    '{"parallel_workers": 1.5}',
    '{"parallel_workers": 2.0}',
    '{"parallel_workers": "2"}',
    // A single run has no points.
    '{"parallel_points": 2}',
    '{"use_plan_cache": 1}',
    '{"use_plan_cache": "true"}',
    "[]",
    "3",
  ];
  const recipe = JSON.stringify(BITS);
  for (const execution of wrong) {
    for (const path of ["/api/run-jobs", "/api/recipe/run-payload"]) {
      const reply = await server.post(path, `{"recipe": ${recipe}, "execution": ${execution}}`);
      assert.deepEqual([reply.status, reply.json.code], [400, "execution_invalid"], `${path} ${execution}`);
    }
  }
  assert.deepEqual((await server.get("/api/run-jobs")).json.jobs, []);
});

const started = ({ get }: TestServer, id: string) =>
  until("the job starts", async () => (await get(`/api/run-jobs/${id}`)).json.state !== "queued");

Deno.test("jobs and events outlive the server; what was unfinished becomes incomplete", async () => {
  const folder = await Deno.makeTempDir({ prefix: "svc-http-" });
  try {
    const first = await openTestServer({ folder });
    const done = (await first.post("/api/run-jobs", { recipe: BITS })).json.job_id;
    await first.get(`/api/run-jobs/${done}/wait`);
    const running = (await first.post("/api/run-jobs", { recipe: LONG })).json.job_id;
    await started(first, running);
    // The process dies: nothing is drained, only what was written is there.
    first.service.close();
    await using second = await openTestServer({ folder });
    const kept = (await second.get(`/api/run-jobs/${done}`)).json;
    assert.equal(kept.state, "completed");
    assert.equal(kept.events.at(-1).kind, "job_completed");
    assert.deepEqual((await second.get(`/api/run-jobs/${done}/recipe`)).json, {
      recipe: JSON.parse(JSON.stringify(BITS)),
    });
    const lost = (await second.get(`/api/run-jobs/${running}`)).json;
    assert.equal(lost.state, "incomplete");
    assert.equal(lost.interruption, "server_restart");
    assert.equal(lost.events.at(-1).kind, "job_incomplete");
    assert.ok(lost.events.at(-1).id > kept.events.at(-1).id);
  } finally {
    await removeLeft(folder);
  }
});

Deno.test("a sweep continues after its server died or was shut down, and uses the variants that were done", async () => {
  const folder = await Deno.makeTempDir({ prefix: "svc-http-" });
  try {
    const matrix = {
      dimensions: { count: [16_136, 322_720] },
      step_params: { data: { bit_count: { matrix: "count" } } },
    };
    const recipe = { ...decoding("swept", 6), metadata: { seed: 7, matrix } };
    const first = await openTestServer({ folder });
    const id = (await first.post("/api/matrix-jobs", { recipe })).json.job_id;
    let kept: string | undefined;
    await until("a variant is completed", async () => {
      const { variants = {} } = (await first.get(`/api/run-jobs/${id}`)).json.progress;
      const all = Object.values<{ status: string; run_id: string }>(variants);
      kept = all.find(({ status }) => status === "completed")?.run_id;
      return kept !== undefined;
    });
    // The process dies: nothing is drained, only what was written is there.
    first.service.close();
    const second = await openTestServer({ folder });
    second.service.jobs.resume();
    await started(second, id);
    await second.service.jobs.drain();
    await second[Symbol.asyncDispose]();
    await using third = await openTestServer({ folder });
    third.service.jobs.resume();
    const job = (await third.get(`/api/run-jobs/${id}/wait?timeout_seconds=60`)).json;
    assert.equal(job.state, "completed", JSON.stringify(job));
    assert.deepEqual(
      job.result.rows.map(({ run_id, reused }: { run_id: string; reused: boolean }) => [run_id === kept, reused])[0],
      [true, true],
    );
    assert.equal(job.events.filter(({ kind }: { kind: string }) => kind === "job_started").length, 3);
  } finally {
    await removeLeft(folder);
  }
});

Deno.test("queued jobs of an earlier server keep their order; a server that never resumes them leaves them queued", async () => {
  const folder = await Deno.makeTempDir({ prefix: "svc-http-" });
  try {
    const first = await openTestServer({ folder, maxRunningJobs: 0 });
    const jobs: string[] = [];
    for (let i = 0; i < 4; i++) jobs.push((await first.post("/api/run-jobs", { recipe: BITS })).json.job_id);
    first.service.close();
    const idle = await openTestServer({ folder, readOnly: true });
    assert.equal((await idle.get(`/api/run-jobs/${jobs[0]}`)).json.state, "queued");
    await idle[Symbol.asyncDispose]();
    await using second = await openTestServer({ folder });
    second.service.jobs.resume();
    const snapshots = [];
    for (const id of jobs) snapshots.push((await second.get(`/api/run-jobs/${id}/wait?timeout_seconds=60`)).json);
    assert.deepEqual(snapshots.map(({ state }) => state), jobs.map(() => "completed"));
    const starts = snapshots.map(({ events }) =>
      events.find(({ kind }: { kind: string }) => kind === "job_started").id
    );
    assert.deepEqual(starts, starts.toSorted((a, b) => a - b));
    assert.deepEqual(snapshots[0].events.slice(0, 3).map(({ kind }: { kind: string }) => kind), [
      "queued",
      "queued",
      "job_started",
    ]);
  } finally {
    await removeLeft(folder);
  }
});

Deno.test("a job that takes too long is asked to stop and ends as timed out", async () => {
  await using server = await openTestServer({ jobTimeoutS: 0.3 });
  const { job_id } = (await server.post("/api/run-jobs", { recipe: LONG })).json;
  const ended = (await server.get(`/api/run-jobs/${job_id}/wait`)).json;
  assert.equal(ended.state, "timed_out");
  assert.deepEqual(ended.events.slice(-1).map(({ kind }: { kind: string }) => kind), ["job_timed_out"]);
});

Deno.test("when memory runs short the running job is stopped, and its snapshot says so", async () => {
  const GIB = 2 ** 30;
  let available = 10 * GIB;
  await using server = await openTestServer({ memory: () => ({ total: 16 * GIB, available }) });
  const { job_id, resource_guard } = (await server.post("/api/run-jobs", { recipe: LONG })).json;
  assert.deepEqual(resource_guard, { reserve_bytes: 2 * GIB, sampler_interval_s: 0.5, tripped: false });
  available = GIB;
  const ended = (await server.get(`/api/run-jobs/${job_id}/wait`)).json;
  assert.equal(ended.state, "resource_exhausted");
  assert.equal(ended.resource_guard.tripped, true);
  // Without the permission to look there is no guard, and the snapshot tells.
  await using blind = await openTestServer({
    memory() {
      throw new Deno.errors.NotCapable("no");
    },
  });
  assert.equal((await blind.post("/api/run-jobs", { recipe: BITS })).json.resource_guard.reserve_bytes, null);
});

Deno.test("a stream that nobody reads is closed, and one that is read stays", async () => {
  await using server = await openTestServer({ heartbeatMs: 20 });
  const { events } = server.service;
  const abandoned = await server.request("/api/events");
  const read = await server.request("/api/events");
  const reader = read.body!.getReader();
  for (let comments = 0; comments < 8; comments++) {
    assert.equal((await within("the next heartbeat", reader.read())).done, false);
  }
  assert.equal(events.streams, 1);
  await reader.cancel();
  assert.equal(events.streams, 0);
  await abandoned.body?.cancel();
});
