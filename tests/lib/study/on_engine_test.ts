/** Records of submitted benchmarks; the engines themselves are in tests/e2e/engines_test.ts. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { SubmittedBenchmark } from "../../../lib/study/engine/on_engine.ts";
import { open } from "../../../mod.ts";
import { twoLinks, withPack } from "./packs.ts";
import { temporaryFolder } from "../../support/temporary.ts";

Deno.test("a damaged record of a submitted benchmark is named, and never followed", async () => {
  const stateDir = temporaryFolder("svc-engine-");
  const id = "20260101T120000Z_pack", folder = join(stateDir, "engine", id), path = join(folder, "job.json");
  await Deno.mkdir(folder, { recursive: true });
  await using svc = await open({ stateDir });
  const foreign = {
    schema_version: 1,
    kind: "svc.engine_job",
    result_id: id,
    engine: "slurm",
    created_at_utc: "2026-01-01T12:00:00.000Z",
    job: { name: "svc", directory: join(stateDir, "victim"), cwd: stateDir, retries: 2 },
    plan: { program: ["svc"], pack: "p.yaml", shards: 1, folder: join(stateDir, "victim/shards"), options: [] },
    replication: {},
    submissions: [],
  };
  for (
    const text of [
      JSON.stringify(foreign),
      '{"kind": "svc.engine_job"',
      "[]",
      '{"kind": "svc.engine_job", "job": {}, "plan": {}}',
    ]
  ) {
    await Deno.writeTextFile(path, text);
    await assert.rejects(
      svc.benchmarks.status(id),
      { code: "bundle_schema_invalid", message: new RegExp(path) },
      text,
    );
  }
});

/** The one benchmark on an engine. */
async function only(svc: Awaited<ReturnType<typeof open>>): Promise<SubmittedBenchmark> {
  const [one, ...others] = await svc.benchmarks.submitted();
  assert.deepEqual(others, []);
  assert.ok(!("problem" in one));
  return one;
}

Deno.test("a benchmark on an engine has the errors, the value and its interval of each recipe while its shards run", () =>
  withPack(twoLinks({ replication: { replicates: 4 } }), async ({ pack, projectRoot }) => {
    await using svc = await open({ projectRoot });
    const { stateDir } = svc.workspace, id = "20260101T120000Z_links", directory = join(stateDir, "engine", id);
    const record = {
      schema_version: 1,
      kind: "svc.engine_job",
      result_id: id,
      engine: "slurm",
      created_at_utc: "2026-01-01T12:00:00.000Z",
      job: { name: "svc", directory, cwd: projectRoot, retries: 2 },
      plan: { program: ["svc"], pack, shards: 2, folder: join(directory, "shards"), options: [] },
      replication: {},
      submissions: [],
    };
    await Deno.mkdir(directory, { recursive: true });
    await Deno.writeTextFile(join(directory, "job.json"), JSON.stringify(record));
    const begun = await only(svc);
    assert.deepEqual([begun.result_id, begun.engine, begun.rows, begun.recipes], [id, "slurm", 0, []]);

    // Rows r = 0, 2, 4, 6 of two recipes: all replicates of the first one.
    await svc.benchmarks.shard(pack, { shard: { index: 0, count: 2 }, out: join(directory, "shards", "0") });
    const half = await only(svc);
    assert.deepEqual([half.rows, half.replicates, half.recipes.length], [4, 4, 1]);
    const [{ id: recipe, progress }] = half.recipes;
    await svc.benchmarks.shard(pack, { shard: { index: 1, count: 2 }, out: join(directory, "shards", "1") });
    assert.equal((await only(svc)).recipes.length, 2);
    // The same numbers as in the result.
    const { result } = await svc.benchmarks.merge(pack, [0, 1].map((index) => join(directory, "shards", `${index}`)));
    const aggregate = result.aggregates.find((one) => one.recipe_id === recipe && one.metric === "channel.ber")!;
    assert.equal(Number(progress.replicates), 4);
    assert.ok(Number(progress.errors) > 0 && Number(progress.trials) > Number(progress.errors));
    assert.equal(String(progress.mean), String(aggregate.mean));
    // A damaged record is named beside the others.
    const damaged = join(stateDir, "engine", "20260102T120000Z_links");
    await Deno.mkdir(damaged);
    await Deno.writeTextFile(join(damaged, "job.json"), '{"kind": "svc.engine_job"');
    const [first, second, ...others] = await svc.benchmarks.submitted();
    assert.deepEqual([first.result_id, second.result_id, others], ["20260102T120000Z_links", id, []]);
    assert.match("problem" in first ? first.problem : "", new RegExp(`^Cannot use ${join(damaged, "job.json")}: `));
    assert.equal("problem" in second, false);
    await Deno.remove(damaged, { recursive: true });
    await Deno.writeTextFile(join(directory, "canceled"), "");
    assert.deepEqual(await svc.benchmarks.submitted(), []);
  }));
