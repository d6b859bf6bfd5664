/** Names and paths that callers choose: whatever stands in an id, a query or a body, the answer is not a server fault. */
import assert from "node:assert/strict";
import { schemaOf } from "../../../lib/http/answer.ts";
import { nameOf, type Route } from "../../../lib/http/route.ts";
import { ROUTES } from "../../../lib/http/routes/index.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { isSampled } from "../../support/sample.ts";
import { BITS, openTestServer, type TestServer } from "./support.ts";

const HOSTILE = [
  "a".repeat(250),
  "a".repeat(300),
  "a".repeat(5000),
  "ä".repeat(200),
  ...["recipes", "benchmarks"].flatMap((folder) => [250, 300].map((n) => `${folder}/${"a".repeat(n)}.yaml`)),
  ...["runs", "training_projects", "dataset_captures"].map((folder) => `${folder}/${"a".repeat(300)}/summary.json`),
  `recipes/${"a/".repeat(2000)}a.yaml`,
  "\0",
  "..",
  "a/../../b",
  "\\",
  "%00",
  "__proto__",
  "0".repeat(64),
  "\n",
];

const statusOf = async (server: TestServer, route: Route, path: string, body?: JsonObject): Promise<number> => {
  const bytes = route.upload !== undefined;
  const reply = await server.request(path, {
    method: route.method.toUpperCase(),
    ...(route.method === "post"
      ? {
        headers: { "content-type": bytes ? "application/octet-stream" : "application/json" },
        body: bytes ? "no package" : JSON.stringify(body ?? {}),
      }
      : {}),
  });
  await reply.body?.cancel();
  return reply.status;
};

/** Strings that a schema takes: its own properties, without those that must be one of a list. */
const texts = (schema: JsonObject) =>
  Object.entries((schema.properties ?? {}) as Record<string, JsonObject>)
    .filter(([, { type, enum: one }]) => type === "string" && one === undefined).map(([name]) => name);

Deno.test("no id of a path, query or body makes the server fail", async () => {
  await using server = await openTestServer();
  server.service.page = () =>
    Promise.resolve({ digest: "some", folder: server.folder, scripts: { frame: [], views: {} } });
  const failures: string[] = [];
  for (const [number, route] of ROUTES.entries()) {
    const fixed = route.path.replaceAll(/:\w+/g, "some");
    const note = (status: number, where: string, text: string) => {
      if (status >= 500) {
        failures.push(`${nameOf(route)} ${where} ${JSON.stringify(text.slice(0, 40))} (${text.length}): ${status}`);
      }
    };
    // Each field gets a fifth of the texts, its neighbours the others.
    for (const [index, text] of HOSTILE.entries()) {
      if (fixed !== route.path) {
        note(await statusOf(server, route, route.path.replaceAll(/:\w+/g, encodeURIComponent(text))), "path", text);
      }
      for (const [at, name] of (route.query === undefined ? [] : texts(schemaOf(route.query))).entries()) {
        if (!isSampled(number + at + index, 5)) continue;
        const query = new URLSearchParams(
          Object.fromEntries([...(schemaOf(route.query!).required ?? []) as string[], name].map((key) => [key, text])),
        );
        note(await statusOf(server, route, `${fixed}?${query}`), `?${name}`, text);
      }
      for (const [at, name] of (route.body === undefined ? [] : texts(schemaOf(route.body))).entries()) {
        if (!isSampled(number + at + index, 5)) continue;
        const { required = [], properties = {} } = schemaOf(route.body!) as {
          required?: string[];
          properties?: JsonObject;
        };
        const body = Object.fromEntries(required.map((key) => [key, text]));
        if (Object.hasOwn(properties, "recipe") && name !== "path") body.recipe = BITS as never;
        note(await statusOf(server, route, fixed, { ...body, [name]: text }), `{${name}}`, text);
      }
    }
  }
  assert.deepEqual(failures, []);
});

Deno.test("a path that is as long as the system allows, or longer, is saved or refused", async () => {
  await using server = await openTestServer();
  const statuses = new Set<number>();
  for (let length = 4000; length < 4110; length += 5) {
    // The length of the absolute path; a temporary file beside it is longer.
    const left = length - server.folder.length - "/recipes/".length - "/c.yaml".length;
    const folders = `${"a".repeat(100)}/`.repeat(Math.floor((left - 20) / 101));
    const filename = `recipes/${folders}${"b".repeat(left - folders.length)}/c.yaml`;
    const { status, json } = await server.post("/api/recipe/save", { recipe: BITS, filename });
    statuses.add(status);
    if (status !== 200) assert.deepEqual([status, json.code], [403, "path_forbidden"], `${length}`);
  }
  assert.deepEqual([...statuses].sort(), [200, 403]);
});

Deno.test("a name of any length in a recipe makes no server fault", async () => {
  await using server = await openTestServer();
  for (const name of ["a".repeat(250), "a".repeat(300), "ä".repeat(200), "a/b", "..", "."]) {
    const recipe = { ...BITS, name };
    for (const path of ["save", "run-payload", "differentiable-export", "dataset-capture-run"]) {
      const { status, text } = await server.post(`/api/recipe/${path}`, { recipe });
      assert.ok(status < 500, `${path} ${name.slice(0, 9)} (${name.length}): ${status} ${text}`);
    }
  }
});

Deno.test("the id of an artifact is never a path", async () => {
  await using server = await openTestServer();
  // A folder of the current directory, as a reference of the command line would find it.
  for (const path of ["recipes", "deno.json", "recipes/models"]) {
    for (const rest of ["", "/verify"]) {
      const { status, json } = await server.get(`/api/trained-artifacts/${encodeURIComponent(path)}${rest}`);
      assert.deepEqual([status, json.code], [404, "artifact_not_found"], path);
    }
  }
});
