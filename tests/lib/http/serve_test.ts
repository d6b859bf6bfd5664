import assert from "node:assert/strict";
import { join } from "node:path";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { Float, float } from "../../../lib/contract/value.ts";
import { createClient } from "../../../lib/http/client.ts";
import { startServer } from "../../../lib/http/serve.ts";
import { BITS, withServer } from "./support.ts";
import { LONG } from "../../support/long_recipe.ts";
import { until, within } from "../../support/until.ts";
import { temporaryFolder } from "../../support/temporary.ts";

Deno.test("the typed client: paths, bodies and replies have types, and 1.0 stays 1.0 both ways", () =>
  withServer({}, async ({ url }) => {
    const client = createClient(url);
    const health = await (await client.api.health.$get()).json();
    assert.equal(health.status, "ok");
    const recipe = { ...BITS, metadata: { seed: 2n ** 62n, gain: float(1), whole: 1, fraction: 0.5 } };
    const reply = await client.api.recipe.validate.$post({ json: { recipe } });
    assert.equal(reply.status, 200);
    const valid = await reply.json();
    assert.ok("recipe" in valid);
    const metadata = valid.recipe.metadata as Record<string, unknown>;
    assert.ok(metadata.gain instanceof Float);
    assert.equal(metadata.whole, 1);
    assert.equal(metadata.seed, 2n ** 62n);
    assert.equal(metadata.fraction, 0.5);
    const run = await (await client.api.recipe["run-payload"].$post({ json: { recipe: BITS } })).json();
    assert.ok("run_id" in run && typeof run.run_id === "string");
    const { runs } = await (await client.api.runs.$get({ query: { limit: 1, fields: "metrics" } })).json() as {
      runs: { run_id: string }[];
    };
    assert.equal(runs[0].run_id, run.run_id);
    const shown = await client.api.runs[":run_id"].$get({ param: { run_id: run.run_id } });
    assert.match(canonicalJson(await shown.json() as never), /"sampler_interval_s":0\.05/);
    const unknown = await client.api["run-jobs"][":job_id"].$get({ param: { job_id: "none" } });
    assert.equal(unknown.status, 404);
  }));

Deno.test("a token is sent by the client and asked for by the server, wherever it listens", async () => {
  const token = "f".repeat(64);
  await assert.rejects(startServer({ host: "0.0.0.0", port: 0, log() {} }), { code: "token_required" });
  await assert.rejects(startServer({ port: 0, token: "short", log() {} }), { code: "token_too_short" });
  await withServer({ host: "0.0.0.0", token, allowHosts: ["lab.example"] }, async ({ port }) => {
    const url = `http://127.0.0.1:${port}`;
    assert.equal((await createClient(url).api.ops.$get()).status as number, 401);
    const reply = await createClient(url, { token }).api.health.$get();
    assert.equal((await reply.json()).auth_required, true);
  });
});

Deno.test("one server has a state directory, and the next one may have it when it has ended", () =>
  withServer({}, async ({ url }, folder) => {
    const taken = startServer({ projectRoot: folder, port: 0, log() {} });
    await assert.rejects(taken, { code: "server_running", message: new RegExp(`a server answers at ${url}`) });
    const other = await startServer({ projectRoot: folder, stateDir: join(folder, "other"), port: 0, log() {} });
    const place = JSON.parse(await Deno.readTextFile(join(folder, "other/server.json")));
    assert.deepEqual([place.url, place.pid], [other.url, Deno.pid]);
    await other.stop();
    const again = await startServer({ projectRoot: folder, stateDir: join(folder, "other"), port: 0, log() {} });
    await again.stop();
  }));

Deno.test("a link in place of the file of the server is refused, and its target is left alone", async () => {
  const folder = temporaryFolder("svc-serve-");
  await Deno.mkdir(join(folder, ".svc"));
  await Deno.writeTextFile(join(folder, "canary"), "kept");
  await Deno.symlink(join(folder, "canary"), join(folder, ".svc/server.json"));
  await assert.rejects(startServer({ projectRoot: folder, port: 0, log() {} }), { code: "path_refused" });
  assert.equal(await Deno.readTextFile(join(folder, "canary")), "kept");
});

Deno.test("while a heavy run is on, answers come as they come from an idle server", () =>
  withServer({ threads: 1 }, async ({ url }) => {
    const get = async (path: string) => {
      const started = performance.now();
      const response = await fetch(url + path);
      await response.body?.cancel();
      return { ms: performance.now() - started, status: response.status };
    };
    const client = createClient(url);
    // The threads are there before anything is measured.
    await client.api.recipe["run-payload"].$post({ json: { recipe: BITS } });
    const { job_id } = await (await client.api["run-jobs"].$post({ json: { recipe: LONG } })).json() as {
      job_id: string;
    };
    const job = async () => (await (await fetch(`${url}/api/run-jobs/${job_id}`)).json());
    const ended = ({ events }: { events: { kind: string }[] }) =>
      events.filter(({ kind }) => kind === "step_completed").length;
    // Past the short steps before the decoders.
    await until("the first decoder ends", async () => ended(await job()) > 5);
    const before = ended(await job()), startedAt = performance.now();
    const times: number[] = [];
    while (times.length < 120) {
      for (const path of ["/api/health", "/api/runs", "/api/run-jobs"]) {
        const { ms, status } = await get(path);
        assert.equal(status, 200);
        times.push(ms);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const now = await job(), stepMs = (performance.now() - startedAt) / Math.max(1, ended(now) - before);
    assert.equal(now.state, "running");
    times.sort((a, b) => a - b);
    // A blocked event loop would answer between steps only, so once a step.
    const median = times[times.length >> 1];
    assert.ok(3 * median < stepMs, `median ${median.toFixed(1)} ms, where a step takes ${stepMs.toFixed(0)} ms`);
  }));

Deno.test("clients that go away leave no stream behind, and one that comes back misses nothing", () =>
  withServer({ heartbeatMs: 20 }, async ({ url, service }) => {
    const leave = await Promise.all(Array.from({ length: 20 }, async () => {
      const controller = new AbortController();
      const response = await fetch(`${url}/api/events`, { signal: controller.signal });
      const reader = response.body!.getReader();
      await within("the stream begins", reader.read());
      return () => {
        controller.abort();
        reader.cancel().catch(() => {});
      };
    }));
    assert.equal(service.events.streams, 20);
    for (const go of leave) go();
    await until("the server sees that all streams ended", () => service.events.streams === 0);
  }));

Deno.test("shutting down refuses new work, stops what runs and keeps what was written", async () => {
  const folder = await Deno.makeTempDir({ prefix: "svc-serve-" });
  const server = await startServer({ projectRoot: folder, port: 0, threads: 1, log() {} });
  const client = createClient(server.url);
  const { job_id } = await (await client.api["run-jobs"].$post({ json: { recipe: LONG } })).json() as {
    job_id: string;
  };
  const events = await fetch(`${server.url}/api/run-jobs/${job_id}/events`);
  const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; !text.includes("run_started");) {
    text += (await within("the run starts", reader.read())).value ?? "";
  }
  const stopped = server.stop();
  const refused = await client.api["run-jobs"].$post({ json: { recipe: BITS } }).catch(() => null);
  if (refused !== null) assert.equal(refused.status as number, 503);
  await reader.cancel();
  await stopped;
  await server.finished;
  const again = await startServer({ projectRoot: folder, port: 0, threads: 1, log() {} });
  const job = await (await fetch(`${again.url}/api/run-jobs/${job_id}`)).json();
  assert.equal(job.state, "canceled");
  const { runs } = await (await fetch(`${again.url}/api/runs`)).json();
  assert.deepEqual(runs.map(({ status }: { status: string }) => status), ["canceled"]);
  const report = await (await fetch(`${again.url}/api/runs/${runs[0].run_id}/verify`)).json();
  assert.equal(report.status, "valid");
  await again.stop();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("requests beyond what the threads can hold are told to come back, and the rest is answered", () =>
  withServer({ threads: 1 }, async ({ url }) => {
    const statuses = await Promise.all(Array.from({ length: 100 }, async () => {
      const response = await fetch(`${url}/api/data/sets`);
      await response.body?.cancel();
      if (response.status === 503) assert.equal(response.headers.get("retry-after"), "1");
      return response.status;
    }));
    // How many are refused depends on how fast they come; none gets anything else.
    assert.ok(statuses.every((status) => status === 200 || status === 503), String(statuses));
    assert.equal((await fetch(`${url}/api/health`).then((response) => response.json())).status, "ok");
    assert.ok(statuses.filter((status) => status === 200).length >= 64);
  }));
