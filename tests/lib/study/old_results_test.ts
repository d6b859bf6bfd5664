/**
 * A result of schema version 2, made by the program before version 3: a coded link that stopped at the half-width of its
 * interval `cluster_t`, which its rows do not hold enough to compute.
 */
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "../../../lib/contract/json.ts";
import { toNumber } from "../../../lib/contract/value.ts";
import { estimateOf } from "../../../lib/study/rows/estimates.ts";
import { shardResult } from "../../../lib/study/rows/shards.ts";
import { benchmarkWorkspace, settleResult } from "../../../lib/study/rows/store.ts";
import { type BenchmarkResult, RESULT_FILE } from "../../../lib/study/pack/types.ts";
import { verifyBenchmark } from "../../../lib/study/verify.ts";
import { openWorkspace, type Workspace } from "../../../lib/run/workspace.ts";
import { open } from "../../../mod.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import { twoLinks, withPack } from "./packs.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const STORED = join(ROOT_PATH, "tests/data/results/schema_2");

async function withStored(test: (workspace: Workspace, result: BenchmarkResult) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  const workspace = openWorkspace({ projectRoot: folder });
  const { result_id } = JSON.parse(await Deno.readTextFile(join(STORED, RESULT_FILE)));
  cpSync(STORED, join(benchmarkWorkspace(workspace).runs, result_id), { recursive: true });
  await test(workspace, settleResult(workspace, result_id));
}

Deno.test("an older result shows the interval that it stored, and verifies", () =>
  withStored(async (workspace, result) => {
    const { low, high, method } = estimateOf(result, "faded", "channel.ber")!;
    const [stored] = result.aggregates;
    assert.equal(result.schema_version, 2);
    assert.deepEqual([low, high, method], [toNumber(stored.ci_low!), toNumber(stored.ci_high!), "cluster_t"]);
    assert.deepEqual((await verifyBenchmark(workspace, result.result_id)).errors, []);
  }));

Deno.test("in an older result the counts and values of a rate are still compared with its rows", () =>
  withStored(async (workspace, { result_id }) => {
    const path = join(benchmarkWorkspace(workspace).runs, result_id, RESULT_FILE);
    const text = await Deno.readTextFile(path);
    const changed = text.replace(/"events": 726/, '"events": 725');
    assert.notEqual(changed, text);
    await Deno.writeTextFile(path, changed);
    const { errors } = await verifyBenchmark(workspace, result_id);
    assert.ok(errors.some(({ message }) => /aggregates do not follow/.test(message)), JSON.stringify(errors));
  }));

Deno.test("rows of an older version are merged with none of this one, and not resumed", () =>
  withPack(twoLinks({ replication: { replicates: 2 } }), async ({ pack, projectRoot }) => {
    await using svc = await open({ projectRoot });
    const folders = ["s0", "s1"].map((name) => join(projectRoot, name));
    for (const [index, out] of folders.entries()) {
      await svc.benchmarks.shard(pack, { shard: { index, count: 2 }, out });
    }
    const path = join(shardResult(folders[1])!.directory, RESULT_FILE), text = await Deno.readTextFile(path);
    assert.equal((parseJson(text) as unknown as BenchmarkResult).schema_version, 3);
    await Deno.writeTextFile(path, text.replace('"schema_version": 3,\n', '"schema_version": 2,\n'));
    await assert.rejects(svc.benchmarks.merge(pack, folders), { code: "result_schema_old", message: /s1.*version 2/ });
    const again = svc.benchmarks.shard(pack, { shard: { index: 1, count: 2 }, out: folders[1] });
    await assert.rejects(again, { code: "result_schema_old" });
    await Deno.writeTextFile(path, text);
    assert.equal((await svc.benchmarks.merge(pack, folders)).result.status, "completed");
  }));
