import assert from "node:assert/strict";
import { hostname } from "node:os";
import { join } from "node:path";
import { exists } from "../../../lib/artifact/path_kind.ts";
import { hostFile, networkFileSystem, sharingHost } from "../../../lib/run/file_system.ts";
import { openRunIndex } from "../../../lib/run/index/open.ts";
import { isRunLocked, tryLockRun } from "../../../lib/run/lock.ts";
import { settleRun } from "../../../lib/run/recover.ts";
import { openWorkspace, type Workspace } from "../../../lib/run/workspace.ts";
import { runSmall } from "./fixture.ts";
import { temporaryFolder } from "../../support/temporary.ts";

Deno.test("network file systems are told from local ones, by types with and without a sign", () => {
  const named = (type: number) => networkFileSystem("/state", () => type);
  assert.deepEqual([0x6969, 0x0bd00bd0, 0xff534d42, 0xff534d42 | 0].map(named), ["NFS", "Lustre", "CIFS", "CIFS"]);
  // ext4, XFS, tmpfs, overlay.
  assert.deepEqual([0xef53, 0x58465342, 0x01021994, 0x794c7630].map(named), [null, null, null, null]);
});

Deno.test("a folder that is not there yet has the file system of its nearest ancestor", () => {
  const asked: string[] = [];
  const typeOf = (path: string) => {
    asked.push(path);
    if (path !== "/home") throw Object.assign(new Error("no such folder"), { code: "ENOENT" });
    return 0x6969;
  };
  assert.equal(networkFileSystem("/home/project/.svc", typeOf), "NFS");
  assert.deepEqual(asked, ["/home/project/.svc", "/home/project", "/home"]);
  assert.equal(sharingHost("/home/project/.svc", typeOf), hostname());
  assert.equal(sharingHost("/home", () => 0xef53), undefined);
  assert.equal(
    networkFileSystem("/home", () => {
      throw Object.assign(new Error("not permitted"), { code: "EPERM" });
    }),
    null,
  );
});

/** Two hosts with one state directory on a network file system. */
async function onHosts(body: (a: Workspace, b: Workspace) => unknown): Promise<void> {
  const stateDir = temporaryFolder("svc-hosts-");
  const [a, b] = ["a.cluster", "b.cluster"].map((host) => openWorkspace({ projectRoot: stateDir, stateDir, host }));
  await body(a, b);
}

Deno.test("hosts that share a state directory have an index each, without a write-ahead log, with the runs of all", () =>
  onHosts(async (a, b) => {
    const ids = [(await runSmall(a)).run_id, (await runSmall(b)).run_id];
    for (const workspace of [a, b]) {
      const { index, database, close } = openRunIndex(workspace);
      const { rows } = await index.list({ limit: 10 });
      assert.deepEqual(rows.map(({ run_id }) => run_id).sort(), ids.toSorted());
      assert.equal(database.prepare("PRAGMA journal_mode").get()!.journal_mode, "delete");
      assert.ok(exists(hostFile(a.stateDir, "index.sqlite3", workspace.host)));
      close();
    }
    const local = openWorkspace({ projectRoot: a.stateDir, stateDir: a.stateDir });
    assert.equal(local.host, undefined);
    const { database, close } = openRunIndex(local);
    assert.equal(database.prepare("PRAGMA journal_mode").get()!.journal_mode, "wal");
    close();
    const made = [...Deno.readDirSync(a.stateDir)].map(({ name }) => name).filter((name) => name.endsWith("sqlite3"));
    assert.deepEqual(made.sort(), ["index.a.cluster.sqlite3", "index.b.cluster.sqlite3", "index.sqlite3"]);
  }));

Deno.test("a run of one host is never taken for interrupted on another, also where locks do not reach other hosts", () =>
  onHosts(async (a, b) => {
    const { run_id } = await runSmall(a);
    const summary = join(a.runs, run_id, "summary.json"), lock = join(a.locks, `${run_id}.lock`);
    Deno.writeTextFileSync(summary, Deno.readTextFileSync(summary).replace('"completed"', '"running"'));
    const held = tryLockRun(a, run_id)!;
    assert.equal(Deno.readTextFileSync(lock), "a.cluster");
    assert.deepEqual([tryLockRun(b, run_id), isRunLocked(b, run_id), isRunLocked(a, run_id)], [null, true, true]);
    held.release();
    assert.deepEqual([isRunLocked(b, run_id), [...Deno.readDirSync(a.locks)]], [false, []]);
    // As a crash on host a leaves it, and as host b sees a lock that does not reach it.
    Deno.writeTextFileSync(lock, "a.cluster");
    assert.deepEqual([tryLockRun(b, run_id), isRunLocked(b, run_id)], [null, true]);
    assert.equal(settleRun(b, run_id).status, "running");
    assert.equal(settleRun(a, run_id).status, "incomplete");
    assert.ok(!exists(lock));
    assert.equal(settleRun(b, run_id).status, "incomplete");
  }));
