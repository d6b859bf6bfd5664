import assert from "node:assert/strict";
import { join } from "node:path";
import { createGuard } from "../../../lib/http/security.ts";
import { putBuiltPage } from "../../support/built_page.ts";
import { BITS, openTestServer } from "./support.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";

Deno.test("only hosts on the list are answered", async () => {
  await using server = await openTestServer({ allowHosts: ["lab.example"] });
  for (
    const host of [
      "127.0.0.1:8765",
      "localhost:8765",
      "LOCALHOST:8765",
      "[::1]:8765",
      "lab.example",
      "lab.example:8765",
    ]
  ) {
    assert.equal((await server.get("/api/health", { host })).status, 200, host);
  }
  for (
    const host of ["evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8765.evil.example", "", "lab.example:1"]
  ) {
    const refused = await server.get("/api/health", { host });
    assert.deepEqual([refused.status, refused.json.code], [403, "host_refused"], host);
  }
});

Deno.test("pages of other sites are refused, the page itself can be followed to", async () => {
  await using server = await openTestServer({ allowOrigins: ["https://notebook.example"] });
  server.service.page = () =>
    Promise.resolve({ digest: "some", folder: server.folder, scripts: { frame: [], views: {} } });
  const own = { origin: "http://127.0.0.1:8765" };
  assert.equal((await server.post("/api/recipe/validate", { recipe: BITS }, own)).status, 200);
  const friend = { origin: "https://notebook.example", "sec-fetch-site": "cross-site" };
  const answered = await server.post("/api/recipe/validate", { recipe: BITS }, friend);
  assert.equal(answered.status, 200);
  assert.equal(answered.headers.get("access-control-allow-origin"), null);
  for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1", "http://127.0.0.1:8765.evil.example"]) {
    const refused = await server.post("/api/run-jobs", { recipe: BITS }, { origin });
    assert.deepEqual([refused.status, refused.json.code], [403, "origin_refused"], origin);
  }
  const cross = { "sec-fetch-site": "cross-site" };
  assert.equal((await server.get("/api/runs", cross)).status, 403);
  assert.equal((await server.get("/", cross)).status, 403, "an image or a frame of another site");
  assert.equal((await server.get("/", { ...cross, "sec-fetch-mode": "navigate" })).status, 200);
  assert.deepEqual((await server.get("/api/run-jobs")).json.jobs, []);
});

Deno.test("a wrong token is refused, and none is logged", async () => {
  await using server = await openTestServer({ token: TOKEN });
  const refused = await server.get("/api/runs");
  assert.equal(refused.headers.get("www-authenticate"), "Bearer");
  for (const wrong of [`Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, "Bearer ", `Basic ${TOKEN}`, TOKEN]) {
    assert.equal((await server.get("/api/runs", { authorization: wrong })).status, 401, wrong);
  }
  assert.equal((await server.get("/api/runs", { authorization: `Bearer ${TOKEN}` })).status, 200);
  assert.equal((await server.get("/api/runs", { authorization: `bearer ${TOKEN}` })).status, 200);
  assert.ok(!JSON.stringify(server.log).includes(TOKEN));
});

Deno.test("the guard compares whole tokens", () => {
  const guard = createGuard({ port: 1, allowHosts: [], allowOrigins: [], token: TOKEN });
  const pass = (token: string) =>
    guard(
      { path: "/api", access: "token" },
      "GET",
      new Headers({ host: "localhost:1", authorization: `Bearer ${token}` }),
    );
  pass(TOKEN);
  for (const wrong of ["", TOKEN.slice(0, -1), TOKEN + "0", TOKEN.toUpperCase()]) {
    assert.throws(() => pass(wrong), { code: "unauthorized" });
  }
});

Deno.test("every reply carries the headers that keep browsers in", async () => {
  await using server = await openTestServer();
  await putBuiltPage(join(server.folder, ".svc"));
  for (const path of ["/", "/api/health", "/api/nothing", "/metrics"]) {
    const { headers } = await server.get(path);
    assert.match(
      headers.get("content-security-policy")!,
      /^default-src 'self'; img-src 'self' blob: data:; style-src 'self'/,
    );
    assert.match(
      headers.get("content-security-policy")!,
      /; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    assert.equal(headers.get("cross-origin-resource-policy"), "same-origin");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.match(headers.get("x-request-id")!, /^[0-9a-f]{16}$/);
  }
  const nonces = await Promise.all([0, 1].map(async () => {
    const { headers, text } = await server.get("/");
    const nonce = /'nonce-([^']+)'/.exec(headers.get("content-security-policy")!)![1];
    assert.ok(text.includes(`data-nonce="${nonce}"`));
    assert.ok(!/<style|<script(?!( type="module")? src="\/static\/)|\son\w+=|\sstyle=/.test(text));
    return nonce;
  }));
  assert.notEqual(nonces[0], nonces[1]);
});

/** Spellings of a way out; each is put where a path is asked for. */
const WAYS_OUT = [
  "../secret.txt",
  "..%2fsecret.txt",
  "%2e%2e/secret.txt",
  "%2e%2e%2fsecret.txt",
  "%252e%252e%252fsecret.txt",
  "..\\secret.txt",
  "..%5csecret.txt",
  "runs/../../secret.txt",
  "runs/..%2f..%2fsecret.txt",
  "recipes/../secret.txt",
  "recipes/../../secret.yaml",
  "recipes//../secret.yaml",
  "recipes/./bits.yaml",
  "recipes/%2e%2e/secret.yaml",
  "/etc/passwd",
  "%2fetc%2fpasswd",
  "//etc/passwd",
  "file:///etc/passwd",
  "C:\\secret.txt",
  "C:/secret.txt",
  "runs/link/secret.txt",
  "recipes/link.yaml",
  "recipes/linked/secret.yaml",
  "runs/\0/secret.txt",
  "runs/%00",
  "runs/.run-id-reservations/x",
  "index.sqlite3",
  "server.json",
  "%c0%ae%c0%ae/secret.txt",
  "\u2025/secret.txt",
  "．．/secret.txt",
  "runs",
  "",
  ".",
  "..",
];

Deno.test("no spelling of a path leads out of its folder, and a link is not followed", async () => {
  await using server = await openTestServer({ files: { "secret.txt": "secret", "secret.yaml": "name: secret" } });
  const { folder } = server;
  const outside = await Deno.makeTempDir();
  await Deno.writeTextFile(join(outside, "secret.txt"), "secret");
  await Deno.writeTextFile(join(outside, "secret.yaml"), "name: secret\nsteps: []\n");
  await Deno.mkdir(join(folder, ".svc/runs"), { recursive: true });
  await Deno.symlink(outside, join(folder, ".svc/runs/link"));
  await Deno.symlink(outside, join(folder, "recipes/linked"));
  await Deno.symlink(join(outside, "secret.yaml"), join(folder, "recipes/link.yaml"));
  const places = [
    (path: string) => server.get(`/api/artifact?path=${path}`),
    (path: string) => server.get(`/api/artifact?download=1&path=${path}`),
    (path: string) => server.get(`/api/image?path=${path}`),
    (path: string) => server.get(`/api/series?path=${path}`),
    (path: string) => server.get(`/api/array?path=${path}`),
    (path: string) => server.get(`/api/recipe?path=${path}`),
    (path: string) => server.get(`/api/recipe/graph?path=${path}`),
    (path: string) => server.get(`/api/recipe/matrix?path=${path}`),
    (path: string) => server.get(`/api/datasets/images?dataset=x&dataset_dir=${path}`),
    (path: string) => server.post("/api/recipe/run", { path: decoded(path) }),
    (path: string) => server.post("/api/run-jobs", { path: decoded(path) }),
    (path: string) => server.post("/api/recipe/save", { recipe: BITS, filename: decoded(path) }),
  ];
  for (const way of WAYS_OUT) {
    for (const [index, place] of places.entries()) {
      const spelled = index < 9 ? way.replaceAll("\0", "%00").replaceAll("\\", "%5c") : way;
      const reply = await place(spelled);
      const saving = index === 11;
      if (saving && reply.status === 200) {
        // A name without a way in it is a name: `recipes/` is put before it.
        assert.ok(!/\.\.|link/.test(decoded(way)), way);
        continue;
      }
      assert.ok(
        [400, 403, 404].includes(reply.status),
        `${index} ${JSON.stringify(way)} ${reply.status} ${reply.text}`,
      );
      assert.ok(!reply.text.includes("secret\\n") && !reply.text.includes('"name":"secret"'), reply.text);
    }
  }
  assert.equal(await Deno.readTextFile(join(outside, "secret.yaml")), "name: secret\nsteps: []\n");
  assert.equal(await Deno.readTextFile(join(folder, "secret.yaml")), "name: secret");
  const listed = (await server.get("/api/recipes")).json.recipes.map(({ path }: { path: string }) => path);
  assert.ok(!listed.some((path: string) => /\/link(ed)?(\.yaml|\/)/.test(path)), String(listed));
  await Deno.remove(outside, { recursive: true });
});

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

Deno.test("a read-only server answers questions and refuses the rest", async () => {
  await using server = await openTestServer({ readOnly: true });
  for (const path of ["validate", "lint", "plan", "matrix/expand"]) {
    assert.equal((await server.post(`/api/recipe/${path}`, { recipe: BITS })).status, 200, path);
  }
  assert.equal((await server.post("/api/recipe/diff", { a: BITS, b: BITS })).status, 200);
  assert.equal((await server.post("/api/recipe-templates/instantiate", { template_id: "none" })).status, 404);
  const refused: [string, unknown][] = [
    ["/api/recipe/save", { recipe: BITS }],
    ["/api/recipe/run", { path: "recipes/bits.yaml" }],
    ["/api/recipe/run-payload", { recipe: BITS }],
    ["/api/run-jobs", { recipe: BITS }],
    ["/api/run-jobs/x/cancel", {}],
    ["/api/runs/x/reproduce", {}],
    ["/api/runs/x/restore", {}],
    ["/api/runs/prune", {}],
    ["/api/runs/remove", {}],
    ["/api/runs/gc", {}],
    ["/api/dataset-capture-jobs", { recipe: BITS }],
    ["/api/recipe/dataset-capture-run", { recipe: BITS }],
    ["/api/recipe/differentiable-export", { recipe: BITS }],
  ];
  for (const [path, body] of refused) {
    const reply = await server.post(path, body);
    assert.deepEqual([reply.status, reply.json.code], [403, "read_only"], path);
  }
  assert.deepEqual([...Deno.readDirSync(join(server.folder, "recipes"))].map(({ name }) => name), ["bits.yaml"]);
});

Deno.test("a client names runs by ids: the path of a bundle that exists finds none", async () => {
  await using server = await openTestServer();
  const { run_id } = (await server.post("/api/recipe/run-payload", { recipe: BITS })).json;
  const folder = join(server.service.session.workspace.runs, run_id), path = encodeURIComponent(folder);
  for (const address of [`runs/${path}`, `runs/${path}/verify`, `runs/diff?a=${path}&b=${path}`]) {
    const reply = await server.get(`/api/${address}`);
    assert.deepEqual([reply.status, reply.json.code], [404, "run_not_found"], address);
  }
  const again = await server.post(`/api/runs/${path}/reproduce`, {});
  assert.deepEqual([again.status, again.json.code], [404, "run_not_found"]);
});
