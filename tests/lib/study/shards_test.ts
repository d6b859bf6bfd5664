/** Rows that several machines make give the result of one: the same view, valid, with every row once. */
import { inside } from "../../../lib/artifact/inside.ts";
import assert from "node:assert/strict";
import { join } from "node:path";
import { createCancellation, open, type Session } from "../../../mod.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { exists } from "../../../lib/artifact/path_kind.ts";
import { LedgerIndex } from "../../../lib/study/rows/ledger.ts";
import { shardResult } from "../../../lib/study/rows/shards.ts";
import { LEDGER_FILE } from "../../../lib/study/pack/types.ts";
import { twoLinks, withPack } from "./packs.ts";

/** Three recipes, so that the rows of one recipe go to different shards. */
const THREE: JsonObject = {
  recipes: [
    { id: "low", path: "link.yaml" },
    { id: "high", path: "link.yaml", params: { step_params: { link: { snr_db: float(6) } } } },
    { id: "later", path: "nowhere.yaml", role: "placeholder_baseline" },
  ],
};

interface Project {
  svc: Session;
  pack: string;
  folder(name: string): string;
  shard(
    index: number,
    count: number,
    out: string,
    more?: { wave?: number; peers?: string[]; least?: number },
  ): Promise<void>;
  write(pack: JsonObject): string;
  projectRoot: string;
}

async function inProject(document: JsonObject, test: (project: Project) => Promise<void>): Promise<void> {
  await withPack(twoLinks(document), async ({ pack, projectRoot, write }) => {
    await using svc = await open({ projectRoot });
    const folder = (name: string) => join(projectRoot, name);
    await test({
      svc,
      pack,
      folder,
      write,
      projectRoot,
      async shard(index, count, out, more = {}) {
        const { result } = await svc.benchmarks.shard(pack, { shard: { index, count, ...more }, out: folder(out) });
        assert.equal(result.status, "completed");
      },
    });
  });
}

Deno.test("three shards give the view of one machine, with random digits in the ids of their runs", () =>
  inProject({ ...THREE, replication: { replicates: 4 } }, async ({ svc, pack, folder, shard }) => {
    const { result: whole } = await svc.benchmarks.run(pack);
    const folders = [0, 1, 2].map((index) => folder(`s${index}`));
    for (const index of [0, 1, 2]) await shard(index, 3, `s${index}`);
    const { result } = await svc.benchmarks.merge(pack, folders);
    assert.equal(result.view_sha256, whole.view_sha256);
    assert.notEqual(result.view_sha256, undefined);
    assert.deepEqual(result.aggregates, whole.aggregates);
    assert.deepEqual(result.comparisons, whole.comparisons);
    assert.deepEqual((await svc.benchmarks.verify(result.result_id)).errors, []);
    const ids = result.recipes.flatMap(({ run_id }) => run_id ?? []);
    assert.equal(new Set(ids).size, 8);
    for (const id of ids) assert.match(id, /^\d{8}T\d{6}Z_.+_[0-9a-f]{6}$/);
    const { a_view_sha256: a, b_view_sha256: b } = await svc.benchmarks.compare(whole.result_id, result.result_id);
    assert.equal(a, b);
  }));

Deno.test("a missing row is named, and a shard that runs again makes it alone", () =>
  inProject({ ...THREE, replication: { replicates: 3 } }, async ({ svc, pack, folder, shard }) => {
    await shard(0, 2, "s0");
    const cancellation = createCancellation();
    const cut = svc.benchmarks.shard(pack, {
      shard: { index: 1, count: 2 },
      out: folder("s1"),
      cancellation,
      onEvent: ({ kind }) => kind === "benchmark_row_completed" && cancellation.cancel(),
    });
    assert.equal((await cut).result.status, "incomplete");
    const folders = [folder("s0"), folder("s1")];
    await assert.rejects(svc.benchmarks.merge(pack, folders), { code: "shard_incomplete", message: /high r2/ });
    await assert.rejects(svc.benchmarks.merge(pack, [folder("s0")]), { code: "shard_incomplete" });
    await assert.rejects(svc.benchmarks.merge(pack, [folder("nothing")]), { code: "shard_incomplete" });
    await shard(1, 2, "s1");
    const { result } = await svc.benchmarks.merge(pack, folders, { into: "20260101T000000Z_merged" });
    assert.equal(result.result_id, "20260101T000000Z_merged");
    assert.equal((await svc.benchmarks.verify(result.result_id)).status, "valid");
    const again = svc.benchmarks.merge(pack, folders, { into: "20260101T000000Z_merged" });
    await assert.rejects(again, { code: "shard_conflict" });
  }));

Deno.test("a submission that is cancelled while its pack is read submits nothing", () =>
  inProject({}, async ({ svc, pack, projectRoot }) => {
    const cancellation = createCancellation();
    cancellation.cancel();
    const submitted = svc.benchmarks.runOn(pack, { on: "parallel", cancellation });
    await assert.rejects(submitted, { code: "operation_canceled" });
    assert.ok(!exists(join(projectRoot, ".svc/engine")));
  }));

Deno.test("shards that do not belong together are refused", () =>
  inProject({ replication: { replicates: 2 } }, async ({ svc, pack, folder, shard, write }) => {
    await shard(0, 2, "s0");
    await shard(1, 2, "s1");
    const other = svc.benchmarks.shard(pack, { shard: { index: 1, count: 2 }, out: folder("s2"), replicates: 3 });
    await other;
    const conflict = (folders: string[], message: RegExp) =>
      assert.rejects(svc.benchmarks.merge(pack, folders.map(folder)), { code: "shard_conflict", message });
    await conflict(["s0", "s2"], /another replication/);
    await assert.rejects(svc.benchmarks.shard(pack, { shard: { index: 0, count: 2 }, out: folder("s1") }), {
      code: "benchmark_resume_mismatch",
    });
    await assert.rejects(svc.benchmarks.shard(pack, { shard: { index: 2, count: 2 }, out: folder("s3") }), {
      code: "execution_invalid",
    });
    const ledger = inside(shardResult(folder("s1"))!.directory, LEDGER_FILE);
    const text = Deno.readTextFileSync(ledger);
    Deno.writeTextFileSync(ledger, text.replace('"replicate":0', '"replicate":1'));
    await conflict(["s0", "s1"], /Cannot use the shard/);
    Deno.writeTextFileSync(ledger, text);
    // The same rows twice are no conflict; other numbers are.
    await shard(1, 2, "twin");
    assert.equal((await svc.benchmarks.merge(pack, ["s0", "s1", "twin"].map(folder))).result.status, "completed");
    write(twoLinks({ replication: { replicates: 2 }, name: "renamed" }));
    await conflict(["s0", "s1"], /another pack/);
  }));

for (const rule of [{ until_errors: 600 }, { until_halfwidth: 0.02 }, { max_bits: 9000 }] as JsonObject[]) {
  Deno.test(`with ${Object.keys(rule)[0]} shards run waves, and the merge stops where one machine stops`, () =>
    inProject({ ...THREE, replication: { replicates: 40, min_replicates: 2, ...rule } }, async (project) => {
      const { svc, pack, folder, shard } = project;
      const { result: whole } = await svc.benchmarks.run(pack);
      const made = (name: string) => {
        const { directory } = shardResult(folder(name))!;
        return new LedgerIndex(inside(directory, LEDGER_FILE)).advance().rowCount;
      };
      const folders = ["s0", "s1"].map(folder);
      await shard(0, 2, "s0", { wave: 2 });
      await shard(1, 2, "s1", { wave: 2, peers: [folder("s0")] });
      const merge = async (least = 0): Promise<Awaited<ReturnType<Session["benchmarks"]["merge"]>>> => {
        try {
          return await svc.benchmarks.merge(pack, folders);
        } catch (error) {
          const asked = (error as { extra: { least: number } }).extra.least;
          assert.ok(asked > least, `asks for ${asked} after ${least}`);
          for (const index of [0, 1]) await shard(index, 2, `s${index}`, { wave: 2, least: asked });
          return await merge(asked);
        }
      };
      const { result } = await merge();
      assert.equal(result.view_sha256, whole.view_sha256);
      assert.equal((await svc.benchmarks.verify(result.result_id)).status, "valid");
      assert.ok(made("s0") + made("s1") >= result.recipes.length);
    }));
}

Deno.test("the points of one sweep go to different shards", () => {
  const matrix: JsonObject = {
    dimensions: { level: [0, 2, 4, 6].map(float) },
    step_params: { link: { snr_db: { matrix: "level" } } },
  };
  return inProject(
    { recipes: [{ id: "link", path: "link.yaml", matrix }], baselines: [] },
    async ({ svc, pack, folder }) => {
      for (const index of [0, 1]) {
        const { result } = await svc.benchmarks.shard(pack, { shard: { index, count: 2 }, out: folder(`s${index}`) });
        assert.deepEqual(result.recipes.map(({ matrix_selection }) => Number(matrix_selection.level)), [
          2 * index,
          2 * index + 4,
        ]);
      }
    },
  );
});
