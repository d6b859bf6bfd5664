/** Who may call which route: the matched route decides, however its path is spelled and whatever the method. */
import assert from "node:assert/strict";
import { nameOf, type Route } from "../../../lib/http/route.ts";
import { ROUTES } from "../../../lib/http/routes/index.ts";
import { openTestServer } from "./support.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const PUBLIC = ["get /", "get /api/health", "get /favicon.ico", "get /static/:digest/:file"];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "get", "Foo"];

const encoded = (letter: string) => `%${letter.charCodeAt(0).toString(16).padStart(2, "0")}`;

/** A path and every other spelling of it, those that lead nowhere included. */
export function spellings(path: string): string[] {
  const letters = [...path].flatMap((letter, at) => {
    if (at === 0) return [];
    const put = (text: string) => path.slice(0, at) + text + path.slice(at + 1);
    const code = encoded(letter);
    return [put(code), put(code.toUpperCase()), put(code.replace("%", "%25")), put(code.replace("%", "%2525"))];
  });
  const slashes = [...path.matchAll(/\//g)].flatMap(({ index }) =>
    ["//", "/./", "/%2e/", "/x/../", "/x/%2e%2e/", "/x/%2E./", "\\", "%5c", "%2f", "%2F", "%252f", "/;/", ";/", "/\t"]
      .map((text) => path.slice(0, index) + text + path.slice(index + 1))
  ).filter((text) => text.startsWith("/"));
  const ends = [
    "/",
    "//",
    "/.",
    "/%2e",
    ";",
    ";x=1",
    "%3b",
    "%00",
    "%20",
    "%",
    "%zz",
    "%ff",
    "?",
    "?x=%2f",
    "#x",
    "\\",
  ];
  return [
    path,
    path.toUpperCase(),
    [path[0], ...[...path.slice(1)].map(encoded)].join(""),
    ...letters,
    ...slashes,
    ...ends.map((end) => path + end),
    `/static/..${path}`,
    `/static/%2e%2e${path}`,
    `/api/health/../..${path}`,
    `/api/health/%2e%2e/%2e%2e${path}`,
  ];
}

/** A path that the route matches. */
const pathOf = ({ path }: Route) => path.replaceAll(/:\w+/g, "some");

Deno.test("public are the page, its files, its icon and the health, and nothing else", () => {
  assert.deepEqual(ROUTES.filter(({ access }) => access === "public").map(nameOf).sort(), PUBLIC);
});

Deno.test("without the token a protected route answers 401 in every spelling of its path", async () => {
  await using server = await openTestServer({ token: TOKEN });
  for (const route of ROUTES.filter((r) => !PUBLIC.includes(nameOf(r)))) {
    for (const path of spellings(pathOf(route))) {
      const method = route.method.toUpperCase();
      const reply = await server.request(path, { method, ...(method === "POST" ? { body: "{}" } : {}) });
      assert.equal(reply.status, 401, `${method} ${JSON.stringify(path)}`);
      assert.equal((await reply.json()).code, "unauthorized");
    }
  }
  assert.deepEqual(server.service.jobs.list(), []);
});

Deno.test("a path answers 401 without the token whatever the method, unless it is public", async () => {
  await using server = await openTestServer({ token: TOKEN });
  server.service.page = () =>
    Promise.resolve({
      digest: "some",
      folder: server.folder,
      scripts: { frame: [], views: {} },
    });
  for (const path of new Set(ROUTES.map(pathOf))) {
    const open = ROUTES.some((route) => pathOf(route) === path && PUBLIC.includes(nameOf(route)));
    for (const method of METHODS) {
      const { status } = await server.request(path, { method });
      if (!open) assert.equal(status, 401, `${method} ${path}`);
      else assert.ok(status === 405 || (/^(get|head)$/i.test(method) && status !== 401), `${method} ${path} ${status}`);
    }
  }
});

Deno.test("an unmatched path tells nothing without the token, and is missing with it", async () => {
  await using server = await openTestServer({ token: TOKEN });
  for (
    const path of ["/nothing", "/api", "/api/", "/api/nothing", "/static", "/static/", "/static/x", "//", "/index.html"]
  ) {
    assert.equal((await server.get(path)).status, 401, path);
    const { status, json } = await server.get(path, { authorization: `Bearer ${TOKEN}` });
    assert.deepEqual([status, json.code], [404, "not_found"], path);
  }
  await using open = await openTestServer();
  assert.equal((await open.get("/api/nothing")).status, 404);
});

Deno.test("with the token an encoded path reaches its route", async () => {
  await using server = await openTestServer({ token: TOKEN });
  const authorization = `Bearer ${TOKEN}`;
  for (const path of ["/api/runs", "/%61pi/runs", "/api/%72%75%6E%73"]) {
    assert.deepEqual((await server.get(path, { authorization })).json.runs, [], path);
  }
  assert.equal((await server.get("/%6detrics", { authorization })).status, 200);
  assert.equal((await server.get("/%61pi/health")).json.status, "ok");
});

Deno.test("only following a link to the page itself is open to other sites", async () => {
  await using server = await openTestServer({ token: TOKEN });
  server.service.page = () =>
    Promise.resolve({
      digest: "some",
      folder: server.folder,
      scripts: { frame: [], views: {} },
    });
  const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
  assert.equal((await server.get("/", link)).status, 200);
  for (const path of ["/api/health", "/favicon.ico", "/static/some/main.js", "/nothing", "/%2f", "//", "/api/runs"]) {
    const { status, json } = await server.get(path, { ...link, authorization: `Bearer ${TOKEN}` });
    assert.deepEqual([status, json.code], [403, "origin_refused"], path);
  }
  assert.equal((await server.request("/", { method: "POST", headers: link })).status, 403);
});
