/** Damage of what a state directory keeps by digest, and its repair. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { exists } from "../../../lib/artifact/path_kind.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { contentsPath } from "../../../lib/execute/contents.ts";
import { SUMMARY_FILE } from "../../../lib/run/documents.ts";
import { open, type Session } from "../../../mod.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const RECIPE = { steps: [{ id: "data", op: "source.random_bits", params: { seed: 5 } }] };

async function inSession(body: (svc: Session, folder: string) => Promise<void>): Promise<void> {
  const folder = temporaryFolder("svc-store-");
  await using svc = await open({ projectRoot: folder, stateDir: join(folder, "state") });
  await body(svc, folder);
}

const artifactOf = (svc: Session, id: string) => join(svc.workspace.runs, id, "artifacts/data/bits.npz");

function damage(path: string): void {
  const bytes = Deno.readFileSync(path);
  bytes[bytes.length >> 1] ^= 1;
  Deno.chmodSync(path, 0o644);
  Deno.writeFileSync(path, bytes);
}

const outcomes = async (svc: Session, repair = false) =>
  (await svc.system.checkStore({ repair })).items.map(({ what, status, files }) => [what, status, files.length]);

Deno.test("a damaged artifact is repaired from an intact copy, or its link is removed and its run computed again", () =>
  inSession(async (svc) => {
    const ids: string[] = [];
    for (const name of ["one", "two"]) ids.push((await svc.recipes.run({ name, ...RECIPE })).run_id!);
    const [one, two] = ids.map((id) => artifactOf(svc, id));
    const sha256 = sha256Hex(Deno.readFileSync(one)), shared = contentsPath(svc.workspace.contents, sha256);
    assert.equal(Deno.statSync(one).ino, Deno.statSync(shared).ino);
    assert.deepEqual(await outcomes(svc), []);

    // The second run has a copy of its own, as on a file system without links.
    Deno.copyFileSync(two, `${two}.copy`);
    Deno.renameSync(`${two}.copy`, two);
    damage(one);
    assert.deepEqual(await outcomes(svc), [["content", "damaged", 2]]);
    assert.deepEqual(await outcomes(svc), [["content", "damaged", 2]], "a check changes nothing");
    assert.deepEqual(await outcomes(svc, true), [["content", "repaired", 2]]);
    assert.deepEqual(await outcomes(svc), []);
    for (const id of ids) assert.equal((await svc.runs.verify(id)).status, "valid");
    assert.equal(Deno.statSync(shared).ino, Deno.statSync(two).ino);

    // No intact copy is left.
    damage(one);
    const { items: [lost] } = await svc.system.checkStore({ repair: true });
    assert.deepEqual([lost.status, lost.id, lost.files.length], ["lost", sha256, 3]);
    assert.match(lost.hint!, /^Compute it again: svc runs prune .*, then svc runs restore /);
    assert.ok(!exists(shared) && exists(one) && exists(two));
    const third = (await svc.recipes.run({ name: "three", ...RECIPE })).run_id!;
    assert.equal((await svc.runs.verify(third)).status, "valid");
    assert.deepEqual(await outcomes(svc, true), [["content", "repaired", 2]]);
    for (const id of ids) assert.equal((await svc.runs.verify(id)).status, "valid");

    for (const id of [...ids, third]) damage(artifactOf(svc, id));
    assert.deepEqual((await outcomes(svc, true)).map(([, status]) => status), ["lost"]);
    await svc.runs.prune({ ids: [ids[0]] });
    await svc.runs.restore(ids[0]);
    assert.deepEqual((await outcomes(svc, true)).map(([, status]) => status), ["repaired"]);
    assert.deepEqual(await outcomes(svc), []);
    for (const id of [...ids, third]) assert.equal((await svc.runs.verify(id)).status, "valid");
  }));

Deno.test("paths of a bundle that lead outside or to pipes are no artifacts", () =>
  inSession(async (svc, folder) => {
    const id = (await svc.recipes.run({ name: "one", ...RECIPE })).run_id!;
    const outside = join(folder, "outside"), path = join(svc.workspace.runs, id, SUMMARY_FILE);
    await Deno.writeTextFile(outside, "mine");
    const summary = JSON.parse(await Deno.readTextFile(path));
    const [output] = Object.values(summary.steps[0].outputs) as { path: string }[];
    for (const bad of ["../../../outside", outside, "artifacts/link", "artifacts/pipe", "", null, { toString: 1 }]) {
      summary.steps[0].outputs = { bits: { ...output, path: bad }, other: null };
      await Deno.writeTextFile(path, JSON.stringify(summary));
      if (bad === "artifacts/link") await Deno.symlink(outside, join(svc.workspace.runs, id, bad));
      if (bad === "artifacts/pipe") {
        await new Deno.Command("mkfifo", { args: [join(svc.workspace.runs, id, bad)] }).output();
      }
      await svc.system.checkStore({ repair: true });
      assert.equal(await Deno.readTextFile(outside), "mine");
    }
  }));

Deno.test("damaged files of fetched models are fetched again, and the intact ones stay where that fails", () =>
  inSession(async (svc) => {
    const files = new Map([["a.onnx", "first"], ["b.onnx", "second"]]), requested: string[] = [];
    let down = false;
    await using host = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
      const name = new URL(request.url).pathname.slice(1), text = down ? undefined : files.get(name);
      requested.push(name);
      return text === undefined ? new Response(null, { status: 404 }) : new Response(text);
    });
    const from = `http://127.0.0.1:${host.addr.port}`, revision = "c".repeat(40);
    const { folder } = await svc.models.fetch("org/net", { from, revision, files: [...files.keys()] });
    const { folder: single } = await svc.models.fetch(`${from}/a.onnx`, { sha256: sha256Hex("first") });
    assert.deepEqual(await outcomes(svc), []);
    requested.length = 0;
    damage(join(folder, "b.onnx"));
    assert.deepEqual(await outcomes(svc), [["model", "damaged", 1]]);
    down = true;
    assert.deepEqual(await outcomes(svc, true), [["model", "lost", 1]]);
    assert.equal(Deno.readTextFileSync(join(folder, "a.onnx")), "first");
    down = false;
    files.set("b.onnx", "another");
    assert.deepEqual(await outcomes(svc, true), [["model", "lost", 1]], "other bytes stay out");
    files.set("b.onnx", "second");
    assert.deepEqual(await outcomes(svc, true), [["model", "repaired", 1]]);
    assert.deepEqual([...new Set(requested)], ["b.onnx"]);
    assert.deepEqual((await svc.models.verify()).map(({ status }) => status), ["valid"]);
    Deno.removeSync(join(folder, "a.onnx"));
    assert.deepEqual(await outcomes(svc, true), [["model", "repaired", 1]]);
    assert.equal(Deno.readTextFileSync(join(folder, "a.onnx")), "first");

    damage(join(single, "a.onnx"));
    assert.deepEqual(await outcomes(svc, true), [["model", "lost", 1]]);
    await svc.models.fetch(`${from}/a.onnx`, { sha256: sha256Hex("first") });
    const record = join(folder, "fetch.json");
    Deno.writeTextFileSync(record, Deno.readTextFileSync(record).replace(sha256Hex("first"), sha256Hex("other")));
    assert.deepEqual(await outcomes(svc, true), [["model", "lost", 1]]);
  }));
