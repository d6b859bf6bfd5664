/** Storage that fails under a server: it lives, says so, loses nothing that it acknowledged, and recovers. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { SvcError } from "../../../lib/contract/error.ts";
import { canonicalJson, parseJson } from "../../../lib/contract/json.ts";
import { JobStore, MAX_PENDING_EVENTS } from "../../../lib/http/jobs/store.ts";
import type { JobDocument } from "../../../lib/http/jobs/types.ts";
import { Storage } from "../../../lib/http/storage.ts";
import { openDatabase } from "../../../lib/run/index/database.ts";
import { Faults, faultyDatabase, faultyFiles, sqliteError, systemError } from "../../support/faults.ts";
import { isSampled, sizeOf } from "../../support/sample.ts";
import { type Asked, BITS, openTestServer, type TestServer } from "./support.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const FULL = sqliteError(13, "database or disk is full");
const opener = (faults: Faults): typeof openDatabase => (stateDir, options) => {
  faults.pass();
  const opened = openDatabase(stateDir, options);
  return { ...opened, database: faultyDatabase(opened.database, faults) };
};

/** A reply is what was asked for, or says that storage failed. */
function served(reply: Asked, status: number): boolean {
  if (reply.status === status) return true;
  assert.ok(reply.status === 503 || reply.status === 507, `${reply.status} ${reply.text}`);
  assert.equal(reply.json.code, "storage_unavailable", reply.text);
  assert.ok(Number(reply.headers.get("retry-after")) > 0);
  return false;
}

const health = async (server: TestServer) => (await server.get("/api/health")).json;

/** Jobs and events on the disk are those in memory. */
function assertStored(server: TestServer): void {
  const { database } = openDatabase(server.service.session.workspace.stateDir);
  const documents = (table: string, order: string) =>
    database.prepare(`SELECT document FROM ${table} ORDER BY ${order}`).all().map(({ document }) => String(document));
  const jobs = server.service.jobs.list();
  assert.deepEqual(documents("jobs", "job_id"), jobs.map(({ document }) => canonicalJson(document)).sort(byJobId));
  const events = jobs.flatMap((job) => job.events).sort((a, b) => a.id - b.id);
  assert.deepEqual(documents("job_events", "id"), events.map((event) => canonicalJson(event)));
  database.close();
}

const byJobId = (a: string, b: string) => {
  const id = (text: string) => String((parseJson(text) as JobDocument).job_id);
  return id(a) < id(b) ? -1 : 1;
};

const MODES: [string, () => Error, number, number][] = [
  ["full disk", FULL, Infinity, 507],
  ["one refused write", FULL, 1, 507],
  ["I/O error", sqliteError(10, "disk I/O error"), Infinity, 503],
  ["read-only file system", sqliteError(8, "attempt to write a readonly database"), Infinity, 503],
  ["damage", sqliteError(11, "database disk image is malformed"), 3, 503],
];

for (const [mode, [name, error, count, status]] of MODES.entries()) {
  Deno.test(`${name} at every operation of the index: the server lives and recovers`, async () => {
    const faults = new Faults();
    // No job starts: all that happens is what is written of jobs.
    await using server = await openTestServer({ openDatabase: opener(faults), maxRunningJobs: 0 });
    const submit = async () => await server.post("/api/run-jobs", { recipe: BITS });
    let degraded = 0, refused = 0;
    // Every operation fails with the first two errors, and every third one with each of the others.
    const step = mode < 2 ? 1 : sizeOf(3, 1);
    for (let operation = 0, reached = true; reached; operation += step) {
      faults.arm(operation, count, error);
      const taken: string[] = [];
      for (let i = 0; i < 2; i++) {
        const reply = await submit();
        if (served(reply, 202)) taken.push(reply.json.job_id);
        else refused++, assert.equal(reply.status, status);
      }
      // What is in memory changes whatever the disk does.
      for (const id of taken) {
        assert.equal((await server.post(`/api/run-jobs/${id}/cancel`, {})).json.state, "canceled");
      }
      served(await server.get("/api/runs"), 200);
      reached = faults.failed > 0;
      const { status: state, reason } = await health(server);
      if (reached && count === Infinity) assert.equal(state, "degraded");
      if (state === "degraded") degraded++, assert.equal(reason.code, "storage_unavailable");
      faults.disarm();
      server.service.storage.probe();
      assert.deepEqual([(await health(server)).status, (await health(server)).reason], ["ok", undefined]);
      assert.ok(taken.every((id) => server.service.jobs.get(id).document.state === "canceled"));
      assertStored(server);
    }
    assert.ok(refused > 5 / step, String(refused));
    assert.ok(count === 1 || degraded > 20 / step, String(degraded));
  });
}

Deno.test("storage that fails while jobs run: what was taken ends, waiting jobs wait, and all of it is written", async () => {
  const faults = new Faults();
  await using server = await openTestServer({ openDatabase: opener(faults) });
  for (let operation = 0, reached = true; reached; operation += 7) {
    faults.arm(operation, Infinity, FULL);
    const replies = await Promise.all([1, 2, 3].map(() => server.post("/api/run-jobs", { recipe: BITS })));
    const taken = replies.filter((reply) => served(reply, 202)).map(({ json }) => json.job_id as string);
    const [first] = taken;
    if (first !== undefined && server.service.jobs.get(first).document.state === "running") {
      await server.service.jobs.ended(first);
    }
    reached = faults.failed > 0;
    if (reached) {
      assert.equal((await health(server)).status, "degraded");
      for (const id of taken.slice(1)) assert.equal(server.service.jobs.get(id).document.state, "queued");
    }
    faults.disarm();
    server.service.storage.probe();
    for (const id of taken) {
      await server.service.jobs.ended(id);
      assert.equal(server.service.jobs.get(id).document.state, "completed");
    }
    assertStored(server);
  }
});

Deno.test("files that fail at every operation: no reply is a defect, and what was acknowledged is there", async () => {
  const faults = new Faults();
  await using server = await openTestServer({ maxRunningJobs: 0 });
  assert.equal((await server.get("/api/recipes")).status, 200);
  const errors = [
    systemError("ENOSPC", "No space left on device (os error 28)"),
    systemError("EIO", "Input/output error (os error 5)"),
    systemError("EROFS", "Read-only file system (os error 30)"),
  ];
  let refused = 0;
  for (const [round, error] of errors.entries()) {
    const ask: Record<string, [number, (seed: number) => Promise<Asked>]> = {
      job: [202, () => server.post("/api/run-jobs", { path: "recipes/bits.yaml" })],
      save: [200, (seed) => {
        const recipe = { ...BITS, metadata: { seed } };
        return server.post("/api/recipe/save", { recipe, filename: "saved.yaml" });
      }],
      read: [200, () => server.get("/api/recipe?path=recipes/bits.yaml")],
      recipes: [200, () => server.get("/api/recipes")],
      runs: [200, () => server.get("/api/runs")],
    };
    for (const [name, [status, send]] of Object.entries(ask)) {
      for (let operation = 0, reached = true; reached; operation++) {
        // The first operations fail with every error; a list reads hundreds of files, each with the same operations.
        if (operation >= 12 && operation % errors.length !== round) continue;
        if (name === "recipes" && operation >= 60 && !isSampled(operation, 7)) continue;
        const seed = 1000 * round + operation;
        let reply: Asked;
        {
          using _ = faultyFiles(faults);
          faults.arm(operation, Infinity, error);
          reply = await send(seed);
          reached = faults.failed > 0;
          faults.disarm();
        }
        if (!served(reply, status)) {
          refused++;
          assert.equal(reply.status, round === 0 ? 507 : 503, `${name} ${reply.text}`);
          server.service.storage.probe();
        } else if (name === "job") {
          await server.post(`/api/run-jobs/${reply.json.job_id}/cancel`, {});
        } else if (name === "save") {
          const { recipe: saved } = (await server.get("/api/recipe?path=recipes/saved.yaml")).json;
          assert.equal(saved.metadata.seed, seed);
        }
        assert.equal((await health(server)).status, "ok");
        assertStored(server);
      }
    }
  }
  assert.ok(refused > 60, String(refused));
});

Deno.test("of events that wait too long the oldest of each job make room, with a notice; records of jobs stay", async () => {
  const stateDir = await Deno.makeTempDir();
  const faults = new Faults();
  const storage = new Storage({ stateDir, log() {}, open: opener(faults) });
  const store = new JobStore(storage);
  faults.arm(0, Infinity, FULL);
  storage.probe();
  assert.equal(storage.fault?.code, "storage_unavailable");
  const ids = ["a", "b", "c"], time = new Date().toISOString();
  const total = MAX_PENDING_EVENTS + 3000;
  for (let i = 0; i < total; i++) {
    const job_id = ids[i % 3], seq = 1 + Math.floor(i / 3);
    store.addEvent({ id: store.nextEventId(), seq, job_id, time, kind: "note", level: "info", message: "" });
    const document = { job_id, kind: "run", state: "running", created_at_utc: time, next_event_seq: seq + 1 };
    store.putJob({ document: document as JobDocument, request: null, events: [] });
  }
  assert.equal(store.save(), false);
  faults.disarm();
  storage.probe();
  assert.equal(storage.fault, null);
  const stored = new JobStore(storage).load();
  assert.deepEqual(stored.map(({ document }) => document.job_id), ids);
  assert.equal(stored.flatMap(({ events }) => events).length, MAX_PENDING_EVENTS + 3);
  for (const { document, events: [notice, ...kept] } of stored) {
    assert.equal(Number(notice.dropped) + kept.length, document.next_event_seq - 1);
    assert.deepEqual([notice.kind, notice.seq, notice.oldest_seq], ["truncated", kept[0].seq - 1, kept[0].seq]);
    assert.ok(kept.every(({ kind, seq }, i) => kind === "note" && seq === kept[0].seq + i));
  }
  storage.close();
  await Deno.remove(stateDir, { recursive: true });
});

Deno.test("an index or a state directory that goes away under the server is written again when it can be", async () => {
  await using server = await openTestServer({ maxRunningJobs: 0 });
  const { stateDir } = server.service.session.workspace;
  const submit = async () => await server.post("/api/run-jobs", { recipe: BITS });
  assert.equal((await submit()).status, 202);
  const index = join(stateDir, "index.sqlite3");
  for (const suffix of ["", "-wal", "-shm"]) await Deno.remove(index + suffix);
  assert.equal((await submit()).status, 202);
  assertStored(server);
  // Another program takes the index for damaged and puts it aside; the server writes the new one.
  for (const suffix of ["", "-wal", "-shm"]) await Deno.rename(index + suffix, `${index}.damaged${suffix}`);
  openDatabase(stateDir).database.close();
  assert.equal((await submit()).status, 202);
  assertStored(server);
  await Deno.rename(stateDir, `${stateDir}.away`);
  const reply = await submit();
  assert.deepEqual([reply.status, reply.json.code, reply.json.system_code], [503, "storage_unavailable", "ENOENT"]);
  assert.equal((await health(server)).status, "degraded");
  assert.equal((await server.get("/api/run-jobs")).json.jobs.length, 3);
  await Deno.rename(`${stateDir}.away`, stateDir);
  server.service.storage.probe();
  assert.equal((await health(server)).status, "ok");
  assert.equal((await submit()).status, 202);
  assertStored(server);
});

Deno.test("a damaged index at start is made anew with the jobs that can still be read", async () => {
  const folder = temporaryFolder("svc-http-");
  const first = await openTestServer({ folder, maxRunningJobs: 0 });
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push((await first.post("/api/run-jobs", { recipe: BITS })).json.job_id);
  first.service.close();
  const { database, path } = openDatabase(join(folder, ".svc"));
  const { page } = database.prepare("SELECT rootpage AS page FROM sqlite_master WHERE name = 'runs'").get() as {
    page: number;
  };
  const { page_size } = database.prepare("PRAGMA page_size").get() as { page_size: number };
  database.close();
  const bytes = await Deno.readFile(path);
  await Deno.writeFile(path, bytes.fill(0xa5, (page - 1) * page_size, page * page_size));
  await using second = await openTestServer({ folder });
  assert.ok(second.log.some(({ put_aside }) => put_aside !== undefined));
  second.service.jobs.resume();
  for (const id of ids) {
    await second.service.jobs.ended(id);
    assert.equal((await second.get(`/api/run-jobs/${id}`)).json.state, "completed");
  }
});

Deno.test("an error of a job that is storage's has its status, whichever thread it comes from", async () => {
  const { errorOf, errorRecord, problemOf } = await import("../../../lib/http/problem.ts");
  await using server = await openTestServer();
  const problem = (error: unknown) => problemOf(server.service.storage.judge(errorOf(errorRecord(error))), "x");
  const full = systemError("ENOSPC", "No space left on device (os error 28)")();
  const cases: [unknown, number, string][] = [
    [full, 507, "storage_unavailable"],
    [FULL(), 507, "storage_unavailable"],
    [systemError("EROFS", "Read-only file system (os error 30)")(), 503, "storage_unavailable"],
    [new SvcError("file_write_failed", "Cannot write", { cause: full }), 507, "storage_unavailable"],
    [new SvcError("run_failed", "Run failed", { extra: { system_code: "ENOSPC" } }), 507, "storage_unavailable"],
    [systemError("EACCES", "Permission denied (os error 13)")(), 500, "file_system_error"],
    [new Error("x is not a function"), 500, "internal_error"],
    [new SvcError("run_failed", "Run failed"), 422, "run_failed"],
  ];
  for (const [error, status, code] of cases) {
    const { status: found, document } = problem(error);
    assert.deepEqual([found, document.code], [status, code]);
  }
});
