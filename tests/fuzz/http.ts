/** The HTTP service: hostile paths, queries, headers and bodies against every route, and bytes on a socket. */
import { problemOf } from "../../lib/http/problem.ts";
import { openApi } from "../../lib/http/openapi.ts";
import { ROUTES } from "../../lib/http/routes/index.ts";
import type { Route } from "../../lib/http/route.ts";
import { createApp } from "../../lib/http/app.ts";
import { listen } from "../../lib/http/listen.ts";
import { parseJson } from "../../lib/contract/json.ts";
import type { JsonObject, Value } from "../../lib/contract/value.ts";
import { BITS, BITS_YAML, LINK, openTestServer, packOf, type TestServer } from "../lib/http/support.ts";
import { damage } from "../lib/artifact/_fuzz.ts";
import { changed, checkSize, type Fuzzer, hostile, looseJson, pick, type Random, TEXTS } from "./inputs.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const FILES = {
  "recipes/link.yaml": JSON.stringify(LINK),
  "benchmarks/p/p.yaml": JSON.stringify(packOf("p", ["bits.yaml"])),
};
const LIMITS = { maxConnections: 64, headersTimeoutMs: 500, requestTimeoutMs: 2000, keepAliveMs: 500, idleMs: 3000 };

const typed = (document: unknown): Value => parseJson(JSON.stringify(document));
/** Sound bodies by member name; a route takes those that its schema names. */
const MEMBERS: Record<string, Value> = {
  recipe: typed(BITS),
  raw_recipe: typed(BITS),
  before: typed(BITS),
  after: typed(LINK),
  a: typed(BITS),
  b: typed(LINK),
  path: "recipes/bits.yaml",
  text: BITS_YAML,
  yaml: BITS_YAML,
  step: "data",
  split: "train",
  samples: 2,
  out: "d",
  execution: { parallel_workers: 1 },
};
const HEADERS: Record<string, readonly string[]> = {
  "content-type": [
    "application/json",
    "application/json; charset=utf-8",
    "text/plain",
    "application/octet-stream",
    "",
    ";",
  ],
  accept: ["*/*", "text/html", ";q=", "text/event-stream"],
  "accept-encoding": ["gzip", "br", "gzip;q=0", "*;q=0.5", ";;", "identity;q=0, *;q=0"],
  "if-none-match": ["*", '""', 'W/"x"', "x".repeat(5000)],
  "if-match": ["*", '"0"', ""],
  "last-event-id": ["0", "-1", "99999999999999999999", "x"],
  origin: ["http://127.0.0.1:8765", "null", "http://evil.example", "://"],
  "sec-fetch-site": ["cross-site", "same-origin", "x"],
  host: ["evil.example", "", "[", "127.0.0.1:8765", "%zz", "@", "a b"],
  authorization: ["Bearer", `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, "Basic x", "Bearer " + "x".repeat(5000)],
  range: ["bytes=0-1", "bytes=-"],
  "content-length": ["-1", "1e9", "99999999999"],
};

export async function open(): Promise<Fuzzer> {
  const openServer = await openTestServer({ files: FILES });
  const guarded = await openTestServer({ files: FILES, token: TOKEN });
  const run = await openServer.service.session.recipes.run(LINK);
  const ids = [run.run_id, "bits", "p", "source.random_bits", "link", "channel.ber", "recipes/bits.yaml"];
  const described = openApi(ROUTES, { version: "0", tokenNeeded: false }).paths as Record<string, JsonObject>;

  const target = (route: Route, random: Random): string => {
    const value = () => random(3) ? pick(random, ids) : pick(random, TEXTS.filter((text) => text.isWellFormed()));
    const path = route.path.replaceAll(/:(\w+)/g, () => encodeURIComponent(value()));
    const { parameters = [] } = described[route.path.replaceAll(/:(\w+)/g, "{$1}")][route.method] as JsonObject;
    const query = (parameters as JsonObject[]).filter((parameter) => parameter.in === "query" && random(2) === 0)
      .map(({ name }) => `${name}=${encodeURIComponent(random(3) ? value() : String(random(1000) - 2))}`);
    if (random(8) === 0) query.push(pick(random, ["x=1", "%", "=", "path=%ff", "a".repeat(9000), "path=1&path=2"]));
    return path + (query.length > 0 ? `?${query.join("&")}` : "");
  };
  const body = (route: Route, random: Random): BodyInit => {
    if (route.upload !== undefined) return damage(new Uint8Array(200), random) as Uint8Array<ArrayBuffer>;
    const { requestBody } = described[route.path.replaceAll(/:(\w+)/g, "{$1}")].post as { requestBody: JsonObject };
    const { properties = {} } = Object.values(requestBody.content as Record<string, JsonObject>)[0]
      .schema as JsonObject;
    const sound = Object.fromEntries(
      Object.keys(properties as JsonObject).filter((name) => Object.hasOwn(MEMBERS, name)).map((
        name,
      ) => [name, MEMBERS[name]]),
    );
    const kind = random(10);
    if (kind === 0) return looseJson(hostile(random));
    if (kind === 1) return damage(new TextEncoder().encode(looseJson(sound)), random) as Uint8Array<ArrayBuffer>;
    if (kind === 2) {
      return pick(random, ["", "{", "[".repeat(5000), '{"a":1,"a":2}', "null", '{"recipe":"\\ud800"}', "\ufeff{}"]);
    }
    return looseJson(kind === 3 ? sound : changed(sound, random));
  };

  const ask = async (server: TestServer, path: string, init: RequestInit, open: boolean) => {
    const logged = server.log.length;
    const reply = await server.request(path, init);
    const what = `${init.method ?? "GET"} ${path.slice(0, 300)} with ${JSON.stringify(init).slice(0, 1500)}`;
    if (reply.headers.get("content-type")?.startsWith("text/event-stream")) await reply.body?.cancel();
    else {
      const text = await reply.text();
      checkSize(`The reply to ${what}`, text);
      if (reply.status >= 400 && init.method !== "HEAD" && typeof JSON.parse(text).code !== "string") {
        throw new Error(`${reply.status} without a code: ${what}`);
      }
      // A job would still run during the next cases.
      if (reply.status === 202) await server.post(`${path.split("?")[0]}/${JSON.parse(text).job_id}/cancel`, {});
    }
    const defect = server.log.slice(logged).find(({ stack }) => stack !== undefined && stack !== null);
    server.log.length = 0;
    if (defect !== undefined || reply.status === 500) {
      throw new Error(`${reply.status}: ${what}\n${defect?.stack ?? ""}`);
    }
    if (!open && reply.status < 400 && reply.status !== 304) {
      throw new Error(`${reply.status} without the token: ${what}`);
    }
  };

  const lines: Record<string, unknown>[] = [];
  const app = createApp(guarded.service, { port: 8765, log: (line) => lines.push(line) });
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    limits: LIMITS,
    handlers: {
      fetch: (request) => app.fetch(request),
      refuse(error) {
        const { status, document } = problemOf(error, "r");
        return { status, headers: {}, body: JSON.stringify(document) };
      },
      failed: (error) => lines.push({ stack: String((error as Error).stack) }),
    },
  });
  const bytes = async (input: Uint8Array) => {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
    await connection.write(input).catch(() => 0);
    await connection.closeWrite().catch(() => {});
    let text = "";
    for (const buffer = new Uint8Array(65536);;) {
      const count = await connection.read(buffer).catch(() => null);
      if (count === null) break;
      checkSize("The reply on a socket", text += new TextDecoder().decode(buffer.subarray(0, count)));
    }
    const defect = lines.find(({ stack }) => stack !== undefined && stack !== null);
    lines.length = 0;
    if (defect !== undefined || /^HTTP\/1\.1 500|internal_error/m.test(text)) {
      throw new Error(`${JSON.stringify(new TextDecoder().decode(input))}: ${text.slice(0, 500)} ${defect?.stack}`);
    }
  };
  const raw = (head: string, host = "127.0.0.1:8765") =>
    `${head} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

  return {
    corpus: {
      ...Object.fromEntries(
        ["GET /%61pi/runs", "POST /%61pi/run-jobs", "POST /%61pi/recipe/save", "GET /%6detrics", "GET //api/runs"].map((
          head,
        ) => [head, async () => {
          const [method, path] = head.split(" ");
          await ask(guarded, path, { method, ...(method === "POST" ? { body: "{}" } : {}) }, false);
          await bytes(new TextEncoder().encode(raw(head)));
        }]),
      ),
      "an artifact id of 300 characters": () => ask(openServer, `/api/artifacts/${"a".repeat(300)}`, {}, true),
      "a malformed Host": () => bytes(new TextEncoder().encode(raw("GET /api/health", "a b"))),
      "a key of 70,000 characters over 3,000 unknown ones": () => {
        const deep = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`k${n}`, n]));
        const steps = [{ id: "k".repeat(70_000), op: "source.random_bits", params: deep }];
        const metadata = { matrix: { dimensions: { d: [1] }, step_params: { ["s".repeat(70_000)]: deep } } };
        const init = { method: "POST", headers: { "content-type": "application/json" } };
        return ask(openServer, "/api/recipe/validate", {
          ...init,
          body: JSON.stringify({ recipe: { name: "r", steps, metadata } }),
        }, true);
      },
    },
    async perform(random) {
      const route = pick(random, ROUTES), path = target(route, random);
      const headers: Record<string, string> = route.method === "post" && route.upload === undefined
        ? { "content-type": "application/json" }
        : {};
      for (let count = random(4); count > 0; count--) {
        const name = pick(random, Object.keys(HEADERS));
        headers[name] = pick(random, HEADERS[name]);
      }
      const method = random(10)
        ? route.method.toUpperCase()
        : pick(random, ["HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"]);
      if (random(12) === 0) {
        const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
        const text = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:8765\r\n${head}\r\n{}`;
        return await bytes(damage(new TextEncoder().encode(text), random));
      }
      const init = { method, headers, ...(method === "POST" ? { body: body(route, random) } : {}) };
      const secret = random(4) === 0;
      await ask(secret ? guarded : openServer, path, init, !secret || route.access === "public");
    },
    async close() {
      listener.abort();
      await listener.close();
      for (const server of [openServer, guarded]) await server[Symbol.asyncDispose]();
    },
  };
}
