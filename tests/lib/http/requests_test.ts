import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { readBody } from "../../../lib/http/body.ts";
import { BITS, openTestServer } from "./support.ts";

Deno.test("numbers keep their type through a request and its reply", async () => {
  await using server = await openTestServer();
  const recipe = (value: string) =>
    `{"name": "numbers", "metadata": {"seed": 9223372036854775807, "gain": 1e3, "one": 1.0},
      "steps": [{"id": "data", "op": "source.random_bits", "params": {"bit_count": ${value}}}]}`;
  const valid = await server.post("/api/recipe/validate", `{"recipe": ${recipe("64")}}`);
  assert.equal(valid.status, 200, valid.text);
  assert.match(valid.text, /"seed":9223372036854775807/);
  assert.match(valid.text, /"gain":1000\.0/);
  assert.match(valid.text, /"one":1\.0/);
  const float = await server.post("/api/recipe/validate", `{"recipe": ${recipe("64.0")}}`);
  assert.equal(float.status, 400);
  assert.equal(float.json.diagnostics[0].code, "operation_params_schema_invalid");
});

Deno.test("what is wrong with a body is said with its code and place", async () => {
  await using server = await openTestServer();
  const post = (body: string) => server.post("/api/recipe/validate", body);
  const cases: [string, string][] = [
    ["{", "body_invalid_json"],
    ['{"recipe": 1, "recipe": 2}', "body_invalid_json"],
    ['{"recipe": 01}', "body_invalid_json"],
    ['{"recipe": "\\ud800"}', "body_invalid_json"],
    ["[]", "body_invalid_json"],
    ["null", "body_invalid_json"],
    ["{'recipe': 1}", "body_invalid_json"],
    [`{"recipe": ${"[".repeat(3000)}${"]".repeat(3000)}}`, "body_invalid_json"],
    ["{}", "body_field_missing"],
    ["", "body_field_missing"],
    ['{"recipe": {}, "recepi": 1}', "body_unknown_field"],
    ['{"recipe": {}, "mode": "lax"}', "body_field_invalid"],
    ['{"recipe": {}, "mode": true}', "body_field_invalid"],
    ['{"recipe": 3}', "recipe_invalid"],
    ['{"recipe": {"name": "x", "steps": []}}', "recipe_invalid"],
  ];
  for (const [body, code] of cases) {
    const reply = await post(body);
    assert.deepEqual([reply.status, reply.json.code], [400, code], body.slice(0, 60));
    assert.equal(reply.headers.get("content-type"), "application/problem+json");
    assert.equal(reply.json.type, `urn:svc:problem:${code}`);
    assert.ok(reply.json.diagnostics.length > 0, body.slice(0, 60));
  }
  const unknown = await post('{"recipe": {}, "mod": 1, "extra": 2}');
  assert.deepEqual(unknown.json.diagnostics.map(({ pointer }: { pointer: string }) => pointer), ["/mod", "/extra"]);
  assert.equal(unknown.json.diagnostics[0].hint, "Did you mean mode?");
});

Deno.test("queries are checked: unknown, repeated, malformed and missing parameters", async () => {
  await using server = await openTestServer();
  for (
    const query of [
      "limit=0",
      "limit=501",
      "limit=1.5",
      "limit=1e2",
      "limit=",
      "limit=1&limit=2",
      "status=fine",
      "limt=3",
      "cursor=AAAA",
      "cursor=%00",
      "fields=secrets",
    ]
  ) {
    const reply = await server.get(`/api/runs?${query}`);
    assert.deepEqual([reply.status, reply.json.code], [400, "query_invalid"], query);
  }
  const missing = await server.get("/api/recipe");
  assert.equal(missing.json.diagnostics[0].pointer, "/path");
  for (const seconds of ["61", "1e999", "-1e999", "NaN"]) {
    const reply = await server.get(`/api/run-jobs/x/wait?timeout_seconds=${seconds}`);
    assert.deepEqual([reply.status, reply.json.code], [400, "query_invalid"], seconds);
  }
});

Deno.test("wrong methods, types and places", async () => {
  await using server = await openTestServer({ jsonBodyLimit: 1000 });
  const put = await server.request("/api/ops", { method: "PUT" });
  assert.equal(put.status, 405);
  assert.equal(put.headers.get("allow"), "GET, HEAD");
  assert.equal((await put.json()).code, "method_not_allowed");
  assert.equal((await server.request("/api/recipe/validate")).status, 405);
  assert.equal((await server.request("/api/ops", { method: "OPTIONS" })).status, 405);
  await server.request("/api/ops", { method: "MADEUP" });
  const counted = (await server.get("/metrics")).text;
  assert.ok(
    counted.includes('method="other"') && !counted.includes("MADEUP"),
    "methods of clients are counted together",
  );
  assert.equal((await server.get("/api/nothing")).json.code, "not_found");
  assert.equal((await server.get("/static/")).status, 404);
  assert.equal((await server.get("/api/ops/nothing.at.all")).json.code, "unknown_operation");
  assert.equal((await server.get("/api/ops/wireless.channel")).json.id, "wireless.channel");
  const head = await server.request("/api/ops", { method: "HEAD" });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]) {
    const reply = await server.post("/api/recipe/validate", "{}", { "content-type": type });
    assert.deepEqual([reply.status, reply.json.code], [415, "media_type_unsupported"], type);
  }
  for (const coding of ["gzip", "br", "identity, gzip"]) {
    const reply = await server.post("/api/recipe/validate", "{}", { "content-encoding": coding });
    assert.deepEqual([reply.status, reply.json.code], [415, "media_type_unsupported"], coding);
  }
  assert.equal((await server.post("/api/recipe/lint", { recipe: {} }, { "content-encoding": "identity" })).status, 200);
  assert.equal(
    (await server.post("/api/recipe/lint", { recipe: {} }, { "content-type": "application/json; charset=utf-8" }))
      .status,
    200,
  );
  const large = await server.post("/api/recipe/validate", { recipe: "x".repeat(1000) });
  assert.deepEqual([large.status, large.json.code], [413, "body_too_large"]);
});

Deno.test("a body counts as it arrives, and may not take for ever", async () => {
  const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(600)) });
  await assert.rejects(readBody(endless, { limit: 1000, timeoutMs: 1000 }), { code: "body_too_large" });
  const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
  await assert.rejects(readBody(silent, { limit: 1000, timeoutMs: 10 }), { code: "body_timeout" });
  await assert.rejects(readBody(null, { limit: 10, timeoutMs: 10, length: "11" }), { code: "body_too_large" });
  assert.equal((await readBody(new Response("abc").body, { limit: 3, timeoutMs: 1000 })).length, 3);
});

Deno.test("stable replies have a tag, long ones are compressed for those who ask", async () => {
  await using server = await openTestServer();
  const plain = await server.get("/api/ops");
  const tag = plain.headers.get("etag")!;
  assert.match(tag, /^W\/"[0-9a-f]{32}"$/);
  assert.equal(plain.headers.get("content-encoding"), null);
  for (const header of [tag, tag.slice(2), `"other", ${tag}`, "*"]) {
    const again = await server.get("/api/ops", { "if-none-match": header });
    assert.deepEqual([again.status, again.text, again.headers.get("etag")], [304, "", tag], header);
  }
  assert.equal((await server.get("/api/ops", { "if-none-match": '"other"' })).status, 200);
  const packed = await server.request("/api/ops", { headers: { "accept-encoding": "br, gzip" } });
  assert.equal(packed.headers.get("content-encoding"), "gzip");
  assert.equal(packed.headers.get("vary"), "accept-encoding");
  assert.equal(gunzipSync(await packed.bytes()).toString(), plain.text);
  const refused = await server.request("/api/ops", { headers: { "accept-encoding": "gzip;q=0" } });
  assert.equal(refused.headers.get("content-encoding"), null);
  await refused.body?.cancel();
  const short = await server.request("/api/health", { headers: { "accept-encoding": "gzip" } });
  assert.equal(short.headers.get("content-encoding"), null);
  await short.body?.cancel();
});

Deno.test("an error that nobody foresaw tells the client a reference and the log the rest", async () => {
  await using server = await openTestServer();
  server.service.index.list = () => Promise.reject(new Error("a private path /home/me"));
  const reply = await server.get("/api/runs");
  assert.equal(reply.status, 500);
  assert.equal(reply.json.code, "internal_error");
  assert.ok(!reply.text.includes("/home/me"));
  const reference = reply.headers.get("x-request-id");
  assert.equal(reply.json.instance, `urn:svc:request:${reference}`);
  const line = server.log.find(({ request, message }) => request === reference && message !== undefined)!;
  assert.match(String(line.message), /home\/me/);
});

Deno.test("the log has a line for each request, by reference", async () => {
  await using server = await openTestServer();
  const { headers } = await server.get("/api/recipe?path=recipes/bits.yaml");
  const line = server.log.find(({ request }) => request === headers.get("x-request-id"))!;
  assert.deepEqual([line.method, line.path, line.status, line.level], ["GET", "/api/recipe", 200, "info"]);
});

Deno.test("templates, catalogues and recipes answer over HTTP as on the command line", async () => {
  await using server = await openTestServer();
  const { templates } = (await server.get("/api/recipe-templates")).json;
  const usable = templates.find(({ available }: { available: boolean }) => available);
  const made = await server.post("/api/recipe-templates/instantiate", { template_id: usable.id, name: "mine" });
  assert.equal(made.status, 201, made.text);
  assert.equal(made.json.recipe.name, "mine");
  const unknown = await server.post("/api/recipe-templates/instantiate", {
    template_id: usable.id,
    step_params: { x: {} },
  });
  assert.deepEqual([unknown.status, unknown.json.code], [400, "template_override_invalid"]);
  assert.ok((await server.get("/api/research/catalog")).json.tasks.length > 10);
  assert.ok((await server.get("/api/execution-profiles")).json.profiles.length > 5);
  const images = (await server.get("/api/datasets/images?dataset=svc_sample_images")).json;
  assert.equal(images.available, true);
  assert.ok(images.images.every(({ width }: { width: number }) => width > 0));
  assert.equal((await server.get("/api/datasets/images?dataset=nothing")).status, 404);
  const { recipes } = (await server.get("/api/recipes")).json;
  const row = recipes.find(({ path }: { path: string }) => path === "recipes/bits.yaml");
  assert.deepEqual([row.place, row.name, row.status, row.step_count], ["project", "bits", "valid", 1]);
  const lint = (await server.post("/api/recipe/lint", { recipe: BITS })).json;
  assert.equal(lint.schema_version, 1);
  const plan = (await server.post("/api/recipe/plan", { recipe: BITS })).json;
  assert.equal(plan.plan.steps.length, 2);
  const again = (await server.post("/api/recipe/plan", { recipe: BITS })).json;
  assert.equal(again.cache.outcome, "hit");
  const graph = (await server.get("/api/recipe/graph?path=recipes/bits.yaml")).json;
  assert.equal(graph.nodes[0].op, "source.random_bits");
  const doctor = (await server.get("/api/doctor")).json;
  assert.ok(doctor.checks.every(({ id, status, detail }: Record<string, string>) => id && status && detail));
});

Deno.test("a check answers for a refused recipe too, and estimates time by runs of the same operations before", async () => {
  await using server = await openTestServer();
  const check = async (recipe: unknown, more = {}) => {
    const reply = await server.post("/api/recipe/check", { recipe, ...more });
    assert.equal(reply.status, 200, reply.text);
    return reply.json;
  };
  const [first, ...others] = BITS.steps as JsonObject[];
  const step = (params: JsonObject): JsonObject => ({ ...BITS, steps: [{ ...first, params }, ...others] });
  const refused = await check(step({ bit_count: -1 }));
  assert.deepEqual([refused.status, refused.forms, refused.estimate], ["invalid", null, null]);
  assert.equal(refused.diagnostics[0].code, "operation_params_schema_invalid");
  assert.equal((await check({ name: "nothing" })).status, "invalid");
  assert.equal((await server.post("/api/recipe/check", {})).status, 400);

  const recipe = step({ bit_count: 8000 }), before = (await check(recipe)).estimate;
  assert.deepEqual([before.runs, before.seconds], [1, null], "no run tells the time");
  assert.ok(before.memory_bytes > 0 && before.disk_bytes >= 8000, JSON.stringify(before));
  assert.equal((await check(recipe, { plan: false })).estimate, null);
  const { job_id } = (await server.post("/api/run-jobs", { recipe })).json;
  assert.equal((await server.get(`/api/run-jobs/${job_id}/wait?timeout_seconds=60`)).json.state, "completed");
  const { estimate: same } = await check(recipe), { estimate: larger } = await check(step({ bit_count: 80_000 }));
  assert.ok(same.seconds > 0);
  assert.deepEqual([before.rough, same.rough, larger.rough], [false, false, true], "another size is rough");
  const ratio = (1 + larger.disk_bytes) / (1 + same.disk_bytes);
  assert.ok(ratio > 5 && Math.abs(larger.seconds / same.seconds / ratio - 1) < 1e-9, JSON.stringify([same, larger]));
  const swept = {
    ...recipe,
    metadata: {
      ...(recipe.metadata as JsonObject),
      matrix: {
        dimensions: { bits: [8000, 16_000, 24_000] },
        step_params: { data: { bit_count: { matrix: "bits" } } },
      },
    },
  };
  const { estimate: sweep } = await check(swept);
  assert.equal(sweep.runs, 3);
  assert.ok(Math.abs(sweep.disk_bytes / same.disk_bytes - 6) < 0.5 && sweep.seconds > 4 * same.seconds);
  // Other operations have another time.
  const other = { ...recipe, steps: [first] };
  assert.equal((await check(other)).estimate.seconds, null);
});
