import assert from "node:assert/strict";
import { checkValue } from "../../../lib/contract/schema.ts";
import { parseJson } from "../../../lib/contract/json.ts";
import { isObject, type JsonObject } from "../../../lib/contract/value.ts";
import { schemaOf } from "../../../lib/http/answer.ts";
import { tryLockRun } from "../../../lib/run/lock.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { nameOf, type Route } from "../../../lib/http/route.ts";
import { ROUTES } from "../../../lib/http/routes/index.ts";
import { MAX_STREAMS } from "../../../lib/http/stream.ts";
import { putBuiltPage } from "../../support/built_page.ts";
import { packageFiles, zipOf } from "../training/_package.ts";
import { walkHastyTraining, walkTraining } from "./_training_walk.ts";
import { BITS, BITS_YAML, LINK, openTestServer, packOf, readStream, type TestServer } from "./support.ts";
import { LONG } from "../../support/long_recipe.ts";

Deno.test("routes have different names, and each says what it answers", () => {
  assert.equal(new Set(ROUTES.map(nameOf)).size, ROUTES.length);
  for (const route of ROUTES) {
    assert.ok(route.summary !== "", nameOf(route));
    assert.ok(Object.keys(route.replies).some((status) => Number(status) < 300), nameOf(route));
    for (const description of Object.values(route.replies)) {
      if (description.schema) assert.ok(isObject(schemaOf(description.schema)));
    }
  }
});

Deno.test("the description lists every route with its parameters, bodies and replies", async () => {
  await using server = await openTestServer();
  const { status, json: document } = await server.get("/api/openapi.json");
  assert.equal(status, 200);
  assert.equal(document.openapi, "3.1.0");
  const listed = Object.entries(document.paths as Record<string, Record<string, JsonObject>>).flatMap((
    [path, methods],
  ) => Object.keys(methods).map((method) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`));
  assert.deepEqual(listed.sort(), ROUTES.map(nameOf).sort());
  const operations = Object.values(document.paths as Record<string, Record<string, JsonObject>>)
    .flatMap((methods) => Object.values(methods));
  assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
  const text = JSON.stringify(document);
  for (const [, reference] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
    assert.ok(document.components.schemas[reference], reference);
  }
});

/**
 * Statuses that every route may answer besides its own, the `default` reply of each operation: the checks before it, a
 * defect, and storage that failed.
 */
const COMMON_STATUSES: readonly number[] = [304, 400, 401, 403, 404, 408, 413, 415, 500, 503, 507];

/** Answers that were seen: status and, for JSON, whether the body has the shape that is described. */
class Witness {
  readonly seen = new Map<string, Set<number>>();

  take(route: Route, status: number, media: string | null, text: string): void {
    const name = nameOf(route);
    this.seen.set(name, (this.seen.get(name) ?? new Set()).add(status));
    const described = route.replies[status];
    if (described === undefined) {
      return assert.ok(
        COMMON_STATUSES.includes(status),
        `${name} answered ${status}, which nothing describes: ${text}`,
      );
    }
    if (described.schema === undefined) return;
    assert.equal(media?.split(";")[0], described.media ?? "application/json", name);
    const problems = checkValue(schemaOf(described.schema), parseJson(text), []);
    assert.deepEqual(problems, [], `${name} ${status}`);
  }
}

/** The route that a path belongs to. */
function routeOf(method: string, path: string): Route {
  const pathname = path.split("?")[0];
  const found = ROUTES.find((route) =>
    route.method === method && new RegExp(`^${route.path.replaceAll(/:\w+/g, "[^/]+")}$`).test(pathname)
  );
  assert.ok(found, `${method} ${path}`);
  return found;
}

Deno.test("every documented status is seen of its route, and no other", async () => {
  const witness = new Witness();
  const taker = (server: TestServer) => ({
    async get(path: string, headers: Record<string, string> = {}) {
      const reply = await server.get(path, headers);
      witness.take(routeOf("get", path), reply.status, reply.headers.get("content-type"), reply.text);
      return reply;
    },
    async post(path: string, body: unknown, headers: Record<string, string> = {}) {
      const reply = await server.post(path, body, headers);
      witness.take(routeOf("post", path), reply.status, reply.headers.get("content-type"), reply.text);
      return reply;
    },
    async stream(path: string, headers: Record<string, string> = {}, messages = 1) {
      const response = await server.request(path, { headers });
      const text = response.status === 200 ? "" : await response.text();
      witness.take(routeOf("get", path), response.status, response.headers.get("content-type"), text);
      if (response.status === 200) await readStream(response, (seen) => seen.length >= messages);
    },
  });
  const measured = {
    id: "ber",
    op: "metrics.bit_error_rate",
    inputs: { candidate: "decoder_0.bits", reference: "data.bits" },
  };
  const files = {
    "recipes/broken.yaml": "name: [",
    // Takes the place of a template, and is no recipe.
    "recipes/image_codec_default.yaml": "name: [",
    "recipes/matrix.yaml": MATRIX,
    "recipes/long.json": JSON.stringify(LONG),
    "recipes/endless.json": JSON.stringify({ ...LONG, name: "endless", steps: [...LONG.steps, measured] }),
    "recipes/link.json": JSON.stringify(LINK),
    "recipes/other.json": JSON.stringify(LINK),
    "benchmarks/tiny.json": JSON.stringify(packOf("tiny", ["link.json", "other.json"])),
    "benchmarks/long.json": JSON.stringify(packOf("long", ["endless.json"])),
    "benchmarks/wrong.json": JSON.stringify(packOf("wrong", ["nothing.json"])),
  };
  await using server = await openTestServer({ files, maxActiveJobs: 4 });
  await putBuiltPage(`${server.folder}/.svc`);
  const { get, post, stream } = taker(server);
  const recipe = BITS;

  for (
    const path of [
      "/",
      "/favicon.ico",
      "/metrics",
      "/api/health",
      "/api/openapi.json",
      "/api/doctor",
      "/api/ops",
      "/api/recipes",
    ]
  ) {
    await get(path);
  }
  const [style] = /\/static\/[^"]+\.css/.exec((await server.get("/")).text)!;
  await get(style);
  await get(style.replace("main", "other"));
  const cards = "/api/validation/cards";
  for (
    const path of [
      cards,
      `${cards}?operation=wireless.channel`,
      `${cards}?figures=true`,
      `${cards}/qam16_awgn`,
      `${cards}/none`,
    ]
  ) {
    await get(path);
  }
  const broken = `${server.folder}/benchmarks/validation`;
  await Deno.mkdir(broken);
  await Deno.writeTextFile(`${broken}/broken.yaml`, "id: broken\n");
  for (const path of [cards, `${cards}/broken`]) await get(path);
  await Deno.remove(broken, { recursive: true });
  for (const path of ["/api/research/catalog", "/api/execution-profiles", "/api/recipe-templates", "/api/suites"]) {
    if (ROUTES.some((route) => route.path === path)) await get(path);
  }
  for (const id of ["wireless.channel", "nothing"]) await get(`/api/ops/${id}`);
  for (const query of ["", "?folder=none", "?folder=../x", "?folder=recipes/bits.yaml"]) {
    await get(`/api/data/files${query}`);
  }
  for (const query of ["?path=recipes", "?path=none", "?path=.svc", ""]) await get(`/api/data/preview${query}`);
  await get("/api/data/sets");
  await get("/api/datasets/images?dataset=svc_sample_images");
  await get("/api/datasets/images");
  await get("/api/datasets/images?dataset=nothing");
  await get("/api/datasets/images?dataset=x&dataset_dir=../x");
  for (const path of ["/api/recipe", "/api/recipe/graph", "/api/recipe/matrix"]) {
    const target = path.endsWith("matrix") ? "recipes/matrix.yaml" : "recipes/bits.yaml";
    for (
      const query of [`?path=${target}`, "", "?path=recipes/broken.yaml", "?path=../x.yaml", "?path=recipes/no.yaml"]
    ) {
      await get(path + query);
    }
  }
  for (const path of ["recipes", "none", "../x"]) await post("/api/data/manifests", { path });
  await Deno.writeTextFile(`${server.folder}/texts.txt`, "A text\n");
  await post("/api/data/manifests", { path: "texts.txt" });
  const octets = { "content-type": "application/octet-stream" };
  for (const text of ["one", "one", "two"]) await post("/api/data/uploads?folder=set&name=a.txt", text, octets);
  await post("/api/data/uploads?folder=set&name=a.sh", "one", octets);
  await Deno.symlink("recipes", `${server.folder}/uploads/linked`);
  await post("/api/data/uploads?folder=linked&name=a.txt", "one", octets);
  await post("/api/recipe-templates/instantiate", { template_id: "nothing" });
  const { templates } = (await server.get("/api/recipe-templates")).json;
  const row = (available: boolean) => templates.find((item: { available: boolean }) => item.available === available);
  await post("/api/recipe-templates/instantiate", { template_id: row(true).id });
  await post("/api/recipe-templates/instantiate", { template_id: row(true).id, step_params: { nothing: {} } });
  await post("/api/recipe-templates/instantiate", { template_id: row(false).id });
  for (const path of ["check", "validate", "lint", "plan", "matrix/expand", "save"]) {
    await post(`/api/recipe/${path}`, { recipe });
    await post(`/api/recipe/${path}`, { recipe: { steps: 3 }, nothing: 1 });
  }
  await post("/api/recipe/diff", { a: recipe, b: {} });
  await post("/api/recipe/diff", { a: recipe });
  await post("/api/recipe/save", { recipe, filename: "../x.yaml" });
  await post("/api/recipe/save", { recipe, filename: "bits.yaml" }, { "if-match": '"stale"' });

  const run = (await post("/api/recipe/run", { path: "recipes/bits.yaml" })).json;
  await post("/api/recipe/run", {});
  await post("/api/recipe/run", { path: "../x.yaml" });
  await post("/api/recipe/run", { path: "recipes/no.yaml" });
  await post("/api/recipe/run-payload", { recipe });
  await post("/api/recipe/run-payload", { recipe: 1 });
  for (const path of ["../x.yaml", "recipes/no.yaml", "recipes/broken.yaml"]) await post("/api/run-jobs", { path });
  const { job_id } = (await post("/api/run-jobs", { recipe })).json;
  await get(`/api/run-jobs/${job_id}/wait`);
  await get("/api/run-jobs/nothing/wait");
  await get("/api/run-jobs");
  const swept = (await post("/api/matrix-jobs", { path: "recipes/matrix.yaml", points: ["0"] })).json;
  await get(`/api/run-jobs/${swept.job_id}/wait`);
  for (const path of ["../x.yaml", "recipes/no.yaml", "recipes/bits.yaml"]) await post("/api/matrix-jobs", { path });
  for (const id of [job_id, "nothing"]) {
    await get(`/api/run-jobs/${id}`);
    await get(`/api/run-jobs/${id}/recipe`);
    await post(`/api/run-jobs/${id}/cancel`, {});
    await stream(`/api/run-jobs/${id}/events`);
  }
  await stream(`/api/run-jobs/${job_id}/events`, { "last-event-id": "9999" });
  await stream("/api/events?after_seq=0");
  server.service.events.streams += MAX_STREAMS;
  await stream("/api/events");
  await stream(`/api/run-jobs/${job_id}/events`);
  server.service.events.streams -= MAX_STREAMS;

  await get("/api/runs?fields=metrics,size_bytes");
  await get("/api/runs?limit=0");
  for (const id of [run.run_id, "nothing"]) {
    await get(`/api/runs/${id}`);
    await get(`/api/runs/${id}/verify`);
    await get(`/api/runs/diff?a=${id}&b=${run.run_id}`);
    const taken = (await post(`/api/runs/${id}/reproduce`, {})).json;
    if (taken.job_id) await server.get(`/api/run-jobs/${taken.job_id}/wait`);
  }
  await get("/api/runs/diff");
  await get(`/api/runs/documents?ids=${run.run_id},nothing`);
  await get("/api/runs/documents?ids=,");
  for (const query of ["", "?recipe=nothing", "?where=x", "?where=data.bit_count=3"]) {
    await get(`/api/runs/table${query}`);
    await get(`/api/runs/figure${query}`);
  }
  await get("/api/runs/table?metrics=steps.data.source.bit_count");
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>';
  await post("/api/figures/pdf", { svg });
  await post("/api/figures/pdf", { svg: svg.replace("><", "><script><") });
  await get("/api/runs/marks");
  await post("/api/runs/marks", { ids: [run.run_id], starred: true, add_tags: ["paper"], note: "first" });
  await post("/api/runs/marks", { ids: ["nothing"], starred: true });
  await post("/api/runs/marks", { ids: [run.run_id], add_tags: ["two words"] });
  await post("/api/runs/views", { name: "starred", query: "q=is:starred" });
  await post("/api/runs/views", { name: "" });
  const marked = `${server.folder}/.svc/run_marks.json`;
  const written = JSON.parse(await Deno.readTextFile(marked));
  assert.deepEqual(written.runs, { [run.run_id]: { starred: true, tags: ["paper"], note: "first" } });
  await Deno.writeTextFile(marked, "{}");
  await get("/api/runs/marks");
  await post("/api/runs/marks", { ids: [run.run_id], starred: false });
  await post("/api/runs/views", { name: "starred", query: null });
  await Deno.remove(marked);
  for (const path of ["reproduce", "restore"]) await post(`/api/runs/${run.run_id}/${path}`, { execution: 3 });
  await post("/api/runs/nothing/restore", {});
  for (const path of ["prune", "remove"]) {
    await post(`/api/runs/${path}`, { ids: [run.run_id], dry_run: true });
    await post(`/api/runs/${path}`, {});
    await post(`/api/runs/${path}`, { ids: ["nothing"] });
  }
  const workspace = openWorkspace({ projectRoot: server.folder, stateDir: `${server.folder}/.svc` });
  for (const body of [{}, { removal: 3 }]) await post("/api/runs/undo", body);
  const { removal } = (await post("/api/runs/prune", { ids: [run.run_id], undoable: true })).json;
  const undoing = tryLockRun(workspace, removal)!;
  await post("/api/runs/undo", {});
  undoing.release();
  await post("/api/runs/undo", { removal });
  await post("/api/runs/gc", { dry_run: true });
  await post("/api/runs/gc", { incomplete: "long" });
  const collecting = tryLockRun(workspace, "gc")!;
  await post("/api/runs/gc", {});
  collecting.release();
  const artifact = `runs/${run.run_id}/artifacts/data/bits.npz`, document = `runs/${run.run_id}/summary.json`;
  for (const path of [artifact, document, "runs/none/x.npz", "../x", ""]) {
    for (const place of ["/api/artifact", "/api/array", "/api/image", "/api/series"]) {
      await get(path === "" ? place : `${place}?path=${path}`);
    }
  }
  await Deno.writeTextFile(`${server.folder}/.svc/runs/${run.run_id}/torn.npz`, "PK");
  await get(`/api/artifact?path=runs/${run.run_id}/torn.npz`);
  for (const range of ["bytes=0-3", "bytes=99999999-"]) {
    await get(`/api/artifact?path=${artifact}&download=1`, { range });
  }
  const image = {
    name: "image",
    steps: [{ id: "data", op: "source.image_dataset", params: { dataset: "svc_sample_images", image_ids: "camera" } }],
  };
  const pictured = (await server.post("/api/recipe/run-payload", { recipe: image })).json;
  const { summary } = (await server.get(`/api/runs/${pictured.run_id}`)).json;
  const { path: pictures } = Object.values(summary.steps[0].outputs)[0] as { path: string };
  await get(`/api/image?path=${pictures}`);

  const scenes = {
    name: "scenes",
    steps: [
      { id: "data", op: "source.synthetic_scenes", params: { example_count: 1, image_size: 64 } },
      ...["detection", "segmentation"].map((task) => {
        const truth = `data.${task === "detection" ? "detections" : task}`;
        return { id: task, op: `metrics.${task}`, inputs: { candidate: truth, reference: truth } };
      }),
    ],
  };
  const drawn = (await server.post("/api/recipe/run-payload", { recipe: scenes })).json;
  for (const task of ["detection", "segmentation"]) {
    for (const id of [drawn.run_id, "nothing"]) await get(`/api/runs/${id}/${task}-overlay?kind=reference`);
    await get(`/api/runs/${drawn.run_id}/${task}-overlay?index=7`);
  }
  const images = `${server.folder}/.svc/runs/${drawn.run_id}/artifacts/data/images.npz`;
  await Deno.chmod(images, 0o644);
  await Deno.writeTextFile(images, "PK");
  for (const task of ["detection", "segmentation"]) await get(`/api/runs/${drawn.run_id}/${task}-overlay`);

  await get("/api/benchmarks/packs");
  for (const path of ["tiny", "wrong", "nothing", "benchmarks/../recipes/bits.yaml"]) {
    await get(`/api/benchmarks/pack?path=${path}`);
  }
  await get("/api/benchmarks/pack");
  await get("/api/benchmark-jobs");
  for (const path of ["wrong", "nothing", "benchmarks/../recipes/bits.yaml"]) {
    await post("/api/benchmark-jobs", { path });
  }
  const benchmark = (await post("/api/benchmark-jobs", { path: "tiny", execution: { parallel_points: 2 } })).json;
  const ended = (await get(`/api/benchmark-jobs/${benchmark.job_id}/wait?timeout_seconds=60`)).json;
  assert.deepEqual([ended.state, ended.run_id], ["completed", null]);
  assert.equal(ended.state, "completed", JSON.stringify(ended.error));
  assert.ok(ended.events.some(({ kind }: { kind: string }) => kind === "benchmark_row_completed"));
  const { result_id } = ended.result;
  await get("/api/benchmarks/submitted");
  await get("/api/benchmarks/results");
  for (const id of [result_id, "nothing"]) {
    await get(`/api/benchmarks/results/${id}`);
    await get(`/api/benchmarks/results/${id}/verify`);
    await get(`/api/benchmarks/results/${id}/export`);
    for (const recipe of ["link.json", "none.json"]) {
      await get(
        `/api/benchmarks/results/${id}/rate-differences?x=channel.ber&y=channel.ber&group=recipe&baseline=${recipe}`,
      );
    }
    for (const query of ["plot=cdf&y=channel.ber", "plot=pie"]) {
      await get(`/api/benchmarks/results/${id}/figure?${query}`);
    }
    await get(`/api/benchmarks/compare?a=${id}&b=${result_id}`);
  }
  await get("/api/benchmarks/compare?a=1");
  const page = (await get(`/api/benchmarks/results/${result_id}?rows_after=1&limit=1`)).json;
  assert.deepEqual([page.recipes.length, page.page.next_rows_after], [
    Math.min(1, page.page.count - 1),
    page.page.count > 2 ? 2 : null,
  ]);
  await get(`/api/benchmarks/results/${result_id}?limit=0`);
  const { recipes: rows } = (await server.get(`/api/benchmarks/results/${result_id}`)).json;
  const evidence = `/api/benchmarks/results/${result_id}/runs/${rows[0].run_id}`;
  await get(evidence);
  await get(`/api/benchmarks/results/${result_id}/runs/nothing`);
  await Deno.writeTextFile(
    `${server.folder}/.svc/benchmarks/${result_id}/${rows[0].run_evidence_snapshot.relative_path}`,
    "altered",
  );
  await get(evidence);
  for (const id of [benchmark.job_id, "nothing"]) {
    await get(`/api/benchmark-jobs/${id}`);
    await get(`/api/benchmark-jobs/${id}/wait`);
    await stream(`/api/benchmark-jobs/${id}/events`);
    await post(`/api/benchmark-jobs/${id}/cancel`, {});
  }
  await stream(`/api/benchmark-jobs/${benchmark.job_id}/events`, { "last-event-id": "9999" });
  server.service.events.streams += MAX_STREAMS;
  await stream(`/api/benchmark-jobs/${benchmark.job_id}/events`);
  server.service.events.streams -= MAX_STREAMS;
  for (let i = 0; i < 5; i++) await post("/api/benchmark-jobs", { path: "long" });
  const long = await readStream(
    await server.request("/api/events?after_seq=0"),
    (seen) => seen.some(({ event, data }) => event === "benchmark_row_started" && data.job_id !== benchmark.job_id),
  );
  assert.ok(long.length > 0);
  const [going] = (await server.get("/api/benchmarks/results")).json.results;
  await get(`/api/benchmarks/results/${going.result_id}/verify`);
  for (const { document } of server.service.jobs.list(["benchmark"])) server.service.jobs.cancel(document.job_id);

  await get("/api/adapters");
  for (const query of ["", "?operation=nothing"]) await get(`/api/trained-artifacts${query}`);
  await post("/api/trained-artifacts/import", "no archive", octets);
  await post("/api/trained-artifacts/import?labl=x", "x", octets);
  await post("/api/trained-artifacts/import?operation=nothing", "x", octets);
  const imported = await server.request("/api/trained-artifacts/import", {
    method: "POST",
    headers: octets,
    body: new Uint8Array(zipOf(packageFiles())),
  });
  const stored = await imported.text();
  witness.take(
    routeOf("post", "/api/trained-artifacts/import"),
    imported.status,
    imported.headers.get("content-type"),
    stored,
  );
  for (const id of [JSON.parse(stored).artifact.package_sha256, "nothing"]) {
    await get(`/api/trained-artifacts/${id}`);
    await get(`/api/trained-artifacts/${id}/verify`);
  }

  await walkTraining(server, { get, post, stream });

  // A run under way: a synchronous one that is stopped, its bundle while it executes, and no more than four jobs.
  const stopped = post("/api/recipe/run-payload", { recipe: LONG });
  const named = post("/api/recipe/run", { path: "recipes/long.json" });
  const seen = await readStream(
    await server.request("/api/events?after_seq=0"),
    (messages) => messages.some(({ event, data }) => event === "run_created" && String(data.run_id).endsWith("long")),
  );
  const running = seen.find(({ event, data }) => event === "run_created" && String(data.run_id).endsWith("long"))!.data;
  await get(`/api/runs/${running.run_id}/verify`);
  for (const path of ["reproduce", "restore"]) await post(`/api/runs/${running.run_id}/${path}`, {});
  for (const path of ["prune", "remove"]) await post(`/api/runs/${path}`, { ids: [running.run_id] });
  while (server.service.jobs.list(["run"]).filter(({ document }) => /queued|running/.test(document.state)).length < 4) {
    await server.post("/api/run-jobs", { recipe: LONG });
  }
  await post("/api/run-jobs", { recipe });
  await post("/api/recipe/run-payload", { recipe });
  for (let i = 0; i < 5; i++) await post("/api/matrix-jobs", { path: "recipes/matrix.yaml" });
  await post("/api/recipe/run", { path: "recipes/bits.yaml" });
  for (const path of ["reproduce", "restore"]) {
    for (let i = 0; i < 5; i++) await post(`/api/runs/${run.run_id}/${path}`, {});
  }
  for (const { document } of server.service.jobs.list()) server.service.jobs.cancel(document.job_id);
  await stopped;
  await named;

  // A synchronous run that lasts longer than its client waits.
  await using hasty = await openTestServer({ synchronousMs: 0 });
  await taker(hasty).post("/api/recipe/run", { path: "recipes/bits.yaml" });
  await taker(hasty).post("/api/recipe/run-payload", { recipe });
  await walkHastyTraining(taker(hasty));
  const unseen = ROUTES.flatMap((route) =>
    Object.keys(route.replies).map(Number)
      .filter((status) => !witness.seen.get(nameOf(route))?.has(status))
      .map((status) => `${nameOf(route)} ${status}`)
  );
  assert.deepEqual(unseen, []);
});

const MATRIX = `${BITS_YAML}
`.replace(
  "metadata:\n",
  "metadata:\n  matrix:\n    dimensions: { count: [8, 16] }\n    step_params: { data: { bit_count: { matrix: count } } }\n",
);
