/** Bytes on real sockets: targets and headers as they are sent, connections that stay half-open or idle. */
import assert from "node:assert/strict";
import { withServer } from "./support.ts";
import { until } from "../../support/until.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";

/** Everything that a connection answers until the server closes it; a hint of the test's where it never does. */
async function untilClosed(connection: Deno.Conn): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  const guard = setTimeout(() => {
    text += "(still open)";
    connection.close();
  }, 60_000);
  try {
    for (const bytes = new Uint8Array(65536);;) {
      const count = await connection.read(bytes);
      if (count === null) return text;
      text += decoder.decode(bytes.subarray(0, count), { stream: true });
    }
  } catch {
    return text;
  } finally {
    clearTimeout(guard);
  }
}

async function open(port: number, text: string): Promise<Deno.Conn> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(text));
  return connection;
}

/** Status and body of the one reply to a request. */
async function ask(
  port: number,
  head: string,
  host = `Host: 127.0.0.1:${port}\r\n`,
): Promise<{ status: number; body: string }> {
  using connection = await open(port, `${head} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
  const text = await untilClosed(connection);
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), body: text.slice(text.indexOf("\r\n\r\n") + 4) };
}

Deno.test("targets of the request line are refused in every form", () =>
  withServer({}, async ({ port }) => {
    const missing = [
      "/../../etc/passwd",
      "/static/../server.json",
      "/%2e%2e/%2e%2e/etc/passwd",
      "//etc/passwd",
      "/api/runs/..%2f..%2fserver.json",
      "/api/runs/%ff",
      "/api/ops/%00",
      "http://127.0.0.1/nothing",
      "*",
    ];
    for (const target of missing) assert.equal((await ask(port, `GET ${target}`)).status, 404, target);
  }));

Deno.test("without the token no form of a target reaches a protected route", () =>
  withServer({ token: TOKEN }, async ({ port, service }) => {
    const refused: [string, number][] = [
      ["GET /%61pi/runs", 401],
      ["POST /%61pi/run-jobs", 401],
      ["GET /%6detrics", 401],
      ["GET /./api/runs", 401],
      ["GET /api/health/../runs", 401],
      ["GET /static/%2e%2e/api/runs", 401],
      ["GET //api/runs", 401],
      ["GET /api//runs", 401],
      ["GET /api\\runs", 401],
      ["GET /api/runs#/api/health", 401],
      ["GET http://127.0.0.1/api/runs", 401],
      ["GET http://evil.example/api/health/../runs", 401],
      ["GET http:///api/runs", 401],
      ["OPTIONS *", 401],
      ["OPTIONS /api/runs", 401],
      ["PROPFIND /api/runs", 401],
      ["TRACE /api/runs", 405],
      ["GET \\api\\runs", 400],
      ["GET /api/\x01runs", 400],
      ["NOTHING /api/runs", 400],
    ];
    for (const [head, status] of refused) {
      const reply = await ask(port, head);
      assert.equal(reply.status, status, `${head}: ${reply.body}`);
      assert.match(JSON.parse(reply.body).code, /^(unauthorized|method_not_allowed|request_malformed)$/);
    }
    assert.equal((await ask(port, "CONNECT 127.0.0.1:1")).body, "");
    assert.equal((await ask(port, "GET /%61pi/health")).status, 200);
    assert.equal((await ask(port, "HEAD /api/health")).body, "");
    assert.deepEqual(service.jobs.list(), []);
  }));

Deno.test("a malformed Host header is refused with a code, and the log holds no stack trace", async () => {
  const lines: Record<string, unknown>[] = [];
  await withServer({ log: (line) => lines.push(line) }, async ({ port }) => {
    const hosts = [
      "",
      "a b",
      "[",
      "[::1",
      "%zz",
      "<>",
      "127.0.0.1:99999999",
      "x/api/health?",
      "@",
      "é",
      "http://x",
      "a\x01",
    ];
    const cases = [
      ...hosts.map((host) => `Host: ${host}\r\n`),
      "",
      `Host: 127.0.0.1:${port}\r\nHost: evil.example\r\n`,
      `Host : 127.0.0.1:${port}\r\n`,
    ];
    for (const host of cases) {
      const { status, body } = await ask(port, "GET /api/health", host);
      const { code } = JSON.parse(body);
      assert.ok(
        (status === 403 && code === "host_refused") || (status === 400 && code === "request_malformed"),
        `${JSON.stringify(host)}: ${status} ${body}`,
      );
    }
    const long = await ask(port, "GET /api/health", `Host: 127.0.0.1:${port}\r\nX-Long: ${"a".repeat(20_000)}\r\n`);
    assert.equal(long.status, 431);
  });
  assert.deepEqual(lines.filter(({ level, stack }) => level === "error" || stack !== undefined), []);
});

Deno.test("a failure outside of every handler is a coded reply, and the log has the rest", async () => {
  const lines: Record<string, unknown>[] = [];
  await withServer({ log: (line) => lines.push(line) }, async ({ port, service }) => {
    service.counters.request = () => {
      throw new Error("a private path /home/me");
    };
    const { status, body } = await ask(port, "GET /api/health");
    const { code, instance } = JSON.parse(body);
    assert.deepEqual([status, code], [500, "internal_error"]);
    assert.ok(!body.includes("/home/me"));
    const line = lines.find(({ request }) => instance === `urn:svc:request:${request}`);
    assert.match(String(line?.message), /home\/me/);
  });
});

Deno.test("a kept reply is sent whole each time, and without its body for HEAD", () =>
  withServer({}, async ({ port }) => {
    const [first, again] = [await ask(port, "GET /api/ops"), await ask(port, "GET /api/ops")];
    assert.equal(again.body, first.body);
    const { operations } = JSON.parse(first.body);
    assert.ok(operations.length > 100);
    assert.deepEqual(await ask(port, "HEAD /api/ops"), { status: 200, body: "" });
  }));

Deno.test("half-open connections are closed, and others are answered meanwhile", () =>
  withServer({ limits: { headersTimeoutMs: 300 } }, async ({ port, url }) => {
    const beginnings = ["", "G", "GET / HTTP/1.1\r\n", `GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX: `];
    const ends = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        using connection = await open(port, beginnings[index % beginnings.length]);
        return await untilClosed(connection);
      }).concat(fetch(`${url}/api/health`).then((response) => response.text())),
    );
    assert.equal(JSON.parse(ends.pop()!).status, "ok");
    // One that sent nothing, and one whose request had begun.
    for (const end of ends) assert.match(end, /^(|HTTP\/1\.1 408 [^]*"code":"request_timeout"[^]*)$/);
    assert.ok(ends.some((end) => end !== ""));
  }));

Deno.test("a body that does not arrive ends with 408 and closes the connection", () =>
  withServer({ bodyTimeoutMs: 100 }, async ({ port }) => {
    const head = `POST /api/recipe/validate HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
    using connection = await open(port, head);
    assert.match(await untilClosed(connection), /^HTTP\/1\.1 408 [^]*"code":"body_timeout"/);
  }));

Deno.test("a client that sends too much reads its reply all the same", () =>
  withServer({ jsonBodyLimit: 1000 }, async ({ url }) => {
    const send = (body: BodyInit) =>
      fetch(`${url}/api/recipe/validate`, { method: "POST", headers: { "content-type": "application/json" }, body });
    const parts = () =>
      ReadableStream.from((function* () {
        for (let i = 0; i < 100; i++) yield new Uint8Array(65536);
      })());
    for (const body of [new Uint8Array(6_000_000), parts()]) {
      const reply = await send(body);
      assert.deepEqual([reply.status, (await reply.json()).code], [413, "body_too_large"]);
    }
  }));

Deno.test("a body that is refused unread does not hold its connection", () =>
  withServer({ token: TOKEN, limits: { headersTimeoutMs: 100 }, bodyTimeoutMs: 100 }, async ({ port }) => {
    const head = `POST /api/run-jobs HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 1000000000\r\n\r\n`;
    using connection = await open(port, head);
    const timer = setInterval(() => connection.write(new Uint8Array(1000)).catch(() => {}), 20);
    assert.match(await untilClosed(connection), /^HTTP\/1\.1 401 [^]*[^)]$/);
    clearInterval(timer);
  }));

Deno.test("connections beyond the limit are closed at once, and a place that becomes free is given again", () =>
  withServer({ limits: { maxConnections: 4 } }, async ({ port, url }) => {
    const held = await Promise.all([0, 1, 2, 3].map(() => open(port, "GET /")));
    assert.equal((await ask(port, "GET /api/health").catch(() => ({ body: "" }))).body, "");
    for (const connection of held) connection.close();
    // The server sees the end of a connection a moment later.
    const answers = async () => (await fetch(`${url}/favicon.ico`).catch(() => ({ status: 0 }))).status === 204;
    await until("a place is free", answers);
  }));

Deno.test("an idle connection is closed, between two requests and within one", () =>
  withServer({ limits: { keepAliveMs: 50, idleMs: 200 }, heartbeatMs: 1e9 }, async ({ port, service }) => {
    const get = (path: string) => open(port, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    using between = await get("/api/health");
    assert.match(await untilClosed(between), /^HTTP\/1\.1 200 [^]*\}$/);
    using within = await get("/api/events");
    assert.match(await untilClosed(within), /^HTTP\/1\.1 200 [^]*retry: 2000/);
    assert.equal(service.events.streams, 0);
  }));
