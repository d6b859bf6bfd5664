import { inside } from "../../../lib/artifact/inside.ts";
import assert from "node:assert/strict";
import { join } from "node:path";
import { type BenchmarkEvent, type BenchmarkRunResult, createCancellation, open, parseJson } from "../../../mod.ts";
import { runBenchmark, verifyBenchmark } from "../../support/session.ts";
import { listBenchmarkResults, showBenchmarkResult } from "../../../lib/study/rows/store.ts";
import { exists } from "../../../lib/artifact/path_kind.ts";
import { listRuns } from "../../../lib/run/store.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { collectEvidence } from "../../../lib/study/rows/evidence_garbage.ts";
import { verifyRun } from "../../../lib/run/verify.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { deriveSeed } from "../../../lib/recipe/seeds.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { Ledger } from "../../../lib/study/rows/ledger.ts";
import { LEDGER_FILE } from "../../../lib/study/pack/types.ts";
import { readSnapshot } from "../../../lib/study/rows/evidence.ts";
import { lasting } from "../../support/benchmark.ts";
import { twoLinks, withPack } from "./packs.ts";

Deno.test("a score on which no seed acts is compared exactly, one after noise is tested", async () => {
  const codec = (quality: number): JsonObject => ({
    id: `q${quality}`,
    path: "codec.yaml",
    params: { step_params: { sender: { quality } } },
  });
  const document = twoLinks({
    dataset: { id: "svc_sample_images" },
    task: { id: "image_reconstruction" },
    metrics: ["quality.psnr_db"],
    baselines: ["q90"],
    replication: { replicates: 2 },
    recipes: [codec(90), codec(20)],
  });
  await withPack(document, async ({ pack, projectRoot, write }) => {
    await Deno.writeTextFile(
      join(projectRoot, "codec.yaml"),
      `name: codec
metadata: {research: {task: {id: image_reconstruction}}}
steps:
  - {id: data, op: source.image_dataset, params: {dataset: svc_sample_images, image_ids: coffee, crop_size: 64}}
  - {id: sender, op: model.jpeg_encode, inputs: {images: data.images}}
  - {id: receiver, op: model.jpeg_decode, inputs: {bits: sender.bits}}
  - {id: evaluation, op: metrics.image_reconstruction, inputs: {reference: data.images, reconstruction: receiver.images}}
`,
    );
    const { result } = await runBenchmark(pack, { projectRoot });
    assert.ok(result.recipes.every((row) => String(row.unseeded_metrics) === "quality.psnr_db"));
    const [{ reason, p_value, better, mean_difference }] = result.comparisons;
    assert.deepEqual([reason, p_value, better, Number(mean_difference) < 0], [
      "exact_constant",
      null,
      "baseline",
      true,
    ]);
    const { errors } = await verifyBenchmark(openWorkspace({ projectRoot }), result.result_id);
    assert.deepEqual(errors, []);
    const noisy = await runBenchmark(write(twoLinks({ replication: { replicates: 2 } })), { projectRoot });
    assert.ok(noisy.result.recipes.every((row) => row.unseeded_metrics === undefined));
    assert.deepEqual(noisy.result.comparisons.map(({ reason, p_value }) => [reason, Number(p_value)]), [[
      undefined,
      0.5,
    ]]);
  });
});

Deno.test("replicates share their noise between recipes, and their seeds follow the pack", async () => {
  const document = twoLinks({ replication: { replicates: 2, base_seed: 5 } });
  await withPack(document, async ({ pack, projectRoot }) => {
    const { result, directory } = await runBenchmark(pack, { projectRoot });
    assert.equal(result.status, "completed");
    assert.deepEqual(result.recipes.map(({ id, replicate }) => `${id} ${replicate}`), [
      "low 0",
      "high 0",
      "low 1",
      "high 1",
    ]);
    const recipes = result.recipes.map((row) =>
      parseJson(readSnapshot(directory, row.run_evidence_snapshot!).documents["recipe.json"]) as {
        metadata: JsonObject;
        steps: { id: string; params: JsonObject }[];
      }
    );
    const master = Number(BigInt("0x" + sha256Hex("two_links|1|5|replicate|1")) % 2147483647n);
    assert.equal(recipes[2].metadata.seed, master);
    assert.equal(recipes[2].steps[1].params.seed, deriveSeed(master, "two_links", "link"));
    assert.equal(recipes[3].steps[1].params.seed, recipes[2].steps[1].params.seed);
    assert.notEqual(recipes[0].steps[1].params.seed, recipes[2].steps[1].params.seed);
    // What the replicates of a recipe share has one digest, what they run has another.
    const [low0, high0, low1] = result.recipes;
    assert.equal(low0.semantic_recipe_sha256, low1.semantic_recipe_sha256);
    assert.notEqual(low0.recipe_sha256, low1.recipe_sha256);
    assert.notEqual(low0.semantic_recipe_sha256, high0.semantic_recipe_sha256);
  });
});

Deno.test("without replication the recipes run once, with their own seeds", async () => {
  await withPack(twoLinks(), async ({ pack, projectRoot }) => {
    const { result } = await runBenchmark(pack, { projectRoot });
    assert.equal(result.replication, null);
    assert.equal(result.recipes.length, 2);
    assert.equal(result.aggregates.some(({ ci_method }) => ci_method === "student_t"), false);
  });
});

Deno.test("equal authored seeds of two methods stay equal in every replicate; kept ones leave no interval", async () => {
  const entry = (id: string, snr_db: number) => ({
    id,
    path: "link.yaml",
    params: { step_params: { data: { seed: 3 }, link: { snr_db: float(snr_db), seed: 4 } } },
  });
  const run = async (replication: JsonObject) => {
    let made: BenchmarkRunResult["result"] | undefined;
    const seeds: unknown[] = [];
    await withPack(twoLinks({ recipes: [entry("low", 0), entry("high", 6)], replication }), async (folder) => {
      const { result, directory } = await runBenchmark(folder.pack, { projectRoot: folder.projectRoot });
      for (const { run_evidence_snapshot } of result.recipes) {
        const { documents } = readSnapshot(directory, run_evidence_snapshot!);
        const { steps } = parseJson(documents["recipe.json"]) as { steps: { params: JsonObject }[] };
        seeds.push(steps.slice(0, 2).map(({ params }) => params.seed));
      }
      const verified = await verifyBenchmark(openWorkspace({ projectRoot: folder.projectRoot }), result.result_id);
      assert.deepEqual(verified.errors, []);
      made = result;
    });
    return { result: made!, seeds };
  };
  const released = await run({ replicates: 2 });
  const [low0, high0, low1, high1] = released.seeds;
  assert.deepEqual([low0, high0], [[3, 4], [3, 4]]);
  assert.deepEqual(high1, low1);
  assert.notDeepEqual(low1, low0);
  assert.ok(released.result.aggregates.every(({ ci_low, reason }) => ci_low !== null && reason === undefined));

  const kept = await run({ replicates: 2, keep_authored_seeds: true });
  assert.deepEqual(kept.seeds, [low0, low0, low0, low0]);
  const { aggregates, comparisons } = kept.result;
  assert.ok(aggregates.length === 2 && comparisons.length === 1);
  for (const { interval, reason, ci_low, ci_high } of [...aggregates, ...comparisons]) {
    assert.deepEqual([interval, reason, ci_low, ci_high], [null, "replicates_not_independent", null, null]);
  }
  assert.equal(comparisons[0].p_value, null);
});

Deno.test("every number has a provenance, and counts follow the rate they belong to", async () => {
  await withPack(twoLinks({ replication: { replicates: 2 } }), async ({ pack, projectRoot }) => {
    const { result } = await runBenchmark(pack, { projectRoot });
    const [row] = result.recipes;
    assert.equal(Number(row.metrics["channel.compare_bit_count"]), 2000);
    assert.equal(row.metrics["channel.ber"], row.metrics["steps.ber.channel.ber"]);
    assert.deepEqual(row.metric_provenance["channel.ber"], row.metric_provenance["channel.error_count"]);
    assert.equal(row.metric_provenance["channel.ber"].operation_id, "metrics.bit_error_rate");
    const bare = Object.keys(row.metrics).filter((id) => !id.startsWith("steps."));
    assert.deepEqual(bare.filter((id) => row.metric_provenance[id] === undefined), []);
    // A metric of every step is nobody's: it is not promoted.
    assert.equal(row.metrics["timing.step.wall_time_s"], undefined);
    assert.ok(row.metrics["steps.data.timing.step.wall_time_s"] !== undefined);
  });
});

Deno.test("backing runs go when their snapshot is kept, or stay when asked for", async () => {
  await withPack(twoLinks(), async ({ pack, projectRoot }) => {
    const workspace = openWorkspace({ projectRoot });
    const seen: boolean[] = [];
    const pruned = await runBenchmark(pack, {
      projectRoot,
      onEvent: ({ kind, fields }) => {
        if (kind === "run_completed") seen.push(exists(join(workspace.runs, String(fields.run_id))));
      },
    });
    assert.deepEqual(listRuns(workspace), []);
    // The run of a small row makes no file at all.
    assert.deepEqual(seen, [false, false]);
    assert.equal(exists(workspace.reservations), false);
    assert.equal(pruned.result.storage.backing_run_policy, "pruned_after_snapshot");
    const kept = await runBenchmark(pack, { projectRoot, retainBackingRuns: true });
    assert.equal(listRuns(workspace).length, 2);
    assert.equal((await verifyRun(workspace, kept.result.recipes[0].run_id!)).status, "valid");
    assert.deepEqual(
      [
        await verifyBenchmark(workspace, pruned.result.result_id),
        await verifyBenchmark(workspace, kept.result.result_id),
      ]
        .map(({ status, errors }) => [status, errors.length]),
      [["valid", 0], ["valid", 0]],
    );
    assert.equal(listBenchmarkResults(workspace).length, 2);

    // A process that is killed between a snapshot and its row leaves a snapshot without a row.
    const evidence = join(workspace.stateDir, "benchmarks", pruned.result.result_id, "evidence");
    const before = [...Deno.readDirSync(evidence)].map(({ name }) => name).sort();
    Deno.writeTextFileSync(join(evidence, "part-00001.tar.gz"), "orphan");
    const found = collectEvidence(workspace, true);
    assert.deepEqual(found.map(({ what, path, size_bytes }) => [what, path.split("/").at(-1), size_bytes]), [
      ["evidence", "part-00001.tar.gz", 6],
    ]);
    assert.deepEqual(collectEvidence(workspace, false), found);
    assert.deepEqual([...Deno.readDirSync(evidence)].map(({ name }) => name).sort(), before);
    assert.equal((await verifyBenchmark(workspace, pruned.result.result_id)).status, "valid");
  });
});

const FAILING: JsonObject = {
  recipes: [
    { id: "low", path: "link.yaml" },
    // Ambiguity is only known when it ran: two steps give the same metric.
    { id: "broken", path: "broken.yaml" },
    { id: "high", path: "link.yaml", params: { step_params: { link: { snr_db: float(6) } } } },
  ],
};
const BROKEN = `name: broken
metadata: {research: {task: {id: bit_transport}, dataset: {id: synthetic_random_bits}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 2000}}
  - {id: coded, op: channel.repetition_encoder, inputs: {bits: data.bits}}
  - {id: cut, op: channel.repetition_decoder, params: {factor: 7}, inputs: {coded_bits: coded.coded_bits}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: cut.bits}}
`;

Deno.test("a failing row loses nothing: with continueOnError the rest runs, without it what finished stays", async () => {
  await withPack(twoLinks({ ...FAILING, replication: { replicates: 2 } }), async ({ pack, projectRoot }) => {
    Deno.writeTextFileSync(join(projectRoot, "broken.yaml"), BROKEN);
    const workspace = openWorkspace({ projectRoot });
    const stopped = (await runBenchmark(pack, { projectRoot })).result;
    assert.deepEqual([stopped.status, stopped.recipes.map(({ status }) => status)], ["failed", [
      "completed",
      "failed",
    ]]);
    assert.equal(stopped.error?.code, "boundary_count_mismatch");
    assert.equal(stopped.aggregates[0].n, 1);
    const whole = (await runBenchmark(pack, { projectRoot, continueOnError: true })).result;
    assert.equal(whole.status, "failed");
    assert.deepEqual(whole.recipes.map(({ id, status }) => `${id} ${status}`), [
      "low completed",
      "broken failed",
      "high completed",
      "low completed",
      "broken failed",
      "high completed",
    ]);
    assert.deepEqual([...new Set(whole.aggregates.map(({ recipe_id, n }) => `${recipe_id} ${n}`))], [
      "low 2",
      "high 2",
    ]);
    // The run of a failed row stays, to be looked at.
    const kept = listRuns(workspace);
    assert.deepEqual(kept.map(({ status }) => status), ["failed", "failed", "failed"]);
    for (const { run_id } of kept) {
      const { status, errors } = await verifyRun(workspace, run_id);
      assert.deepEqual([status, errors], ["valid", []]);
      const artifacts = [...Deno.readDirSync(join(workspace.runs, run_id, "artifacts"))].map(({ name }) => name);
      assert.deepEqual(artifacts.sort(), ["coded", "data"]);
    }
    assert.equal((await verifyBenchmark(workspace, whole.result_id)).status, "valid");
  });
});

Deno.test("a declared metric that two steps produce fails the row; naming the step settles it", async () => {
  const twice = BROKEN.replace("factor: 7", "factor: 3") +
    "  - {id: again, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: data.bits}}\n";
  const recipes = [{ id: "twice", path: "twice.yaml" }];
  const declared = (metric: JsonObject | string) => twoLinks({ recipes, baselines: [], metrics: [metric] });
  await withPack(declared("channel.ber"), async ({ pack, projectRoot, write }) => {
    Deno.writeTextFileSync(join(projectRoot, "twice.yaml"), twice);
    await assert.rejects(
      runBenchmark(pack, { projectRoot }),
      (error: { diagnostics: { code: string }[] }) =>
        error.diagnostics.some(({ code }) => code === "metric_source_ambiguous"),
    );
    write(declared({ id: "channel.ber", source_step: "again" }));
    const { result } = await runBenchmark(pack, { projectRoot });
    assert.equal(result.recipes[0].metric_provenance["channel.ber"].step_id, "again");
    write(declared("quality.psnr_db"));
    await assert.rejects(runBenchmark(pack, { projectRoot }), { code: "pack_invalid" });
    write(declared("channel.snr_db"));
    const missing = (await runBenchmark(pack, { projectRoot })).result;
    assert.deepEqual([missing.recipes[0].status, missing.recipes[0].error?.code], ["failed", "metric_source_missing"]);
  });
});

Deno.test("a row over its resource budget is rejected with what was observed", async () => {
  const budget = { metric: "channel.compare_bit_count", maximum: 1500, tolerance: 100 };
  const document = twoLinks({
    recipes: [
      { id: "low", path: "link.yaml", params: { resource_budget: budget } },
      { id: "high", path: "link.yaml", params: { resource_budget: { ...budget, maximum: 1950 } } },
    ],
  });
  await withPack(document, async ({ pack, projectRoot }) => {
    const { result } = await runBenchmark(pack, { projectRoot });
    assert.deepEqual(result.recipes.map(({ status }) => status), ["rejected_resource_budget", "completed"]);
    const [low, high] = result.recipes;
    const of = (row: typeof low, member: string) => Number(row.metrics[`benchmark.resource_budget.${member}`]);
    assert.deepEqual(["admitted", "observed", "maximum", "excess"].map((member) => of(low, member)), [
      0,
      2000,
      1500,
      500,
    ]);
    assert.deepEqual(["admitted", "excess"].map((member) => of(high, member)), [1, 50]);
    assert.equal(result.attempt_ledger.expected_terminal_status, "resource_rejected");
    assert.ok(!result.aggregates.some(({ recipe_id }) => recipe_id === "low"));
  });
});

Deno.test("placeholders and skipped recipes are rows of their own", async () => {
  const document = twoLinks({
    recipes: [
      { id: "low", path: "link.yaml" },
      { id: "later", path: "nowhere.yaml", role: "placeholder_baseline" },
      { id: "no", path: "nowhere.yaml", params: { skip: true, skip_reason: "Its weights are not here" } },
    ],
  });
  await withPack(document, async ({ pack, projectRoot }) => {
    const { result } = await runBenchmark(pack, { projectRoot });
    assert.equal(result.status, "completed");
    assert.deepEqual(result.recipes.map(({ status, skip_reason }) => [status, skip_reason]), [
      ["completed", undefined],
      ["skipped", "It is a placeholder"],
      ["skipped", "Its weights are not here"],
    ]);
  });
});

Deno.test("a cancelled benchmark resumes, and ends with the numbers it would have had", async () => {
  const document = twoLinks({ replication: { replicates: 4, until_errors: 600 } });
  await withPack(document, async ({ pack, projectRoot }) => {
    const workspace = openWorkspace({ projectRoot });
    const whole = (await runBenchmark(pack, { projectRoot })).result;
    for (const stopAfter of [1, 2, 4]) {
      const cancellation = createCancellation();
      let completed = 0;
      const stopped = (await runBenchmark(pack, {
        projectRoot,
        cancellation,
        onEvent: ({ kind }: BenchmarkEvent) => {
          if (kind === "benchmark_row_completed" && ++completed === stopAfter) cancellation.cancel();
        },
      })).result;
      assert.deepEqual([stopped.status, stopped.incomplete_reason], ["incomplete", "canceled"]);
      assert.equal((await verifyBenchmark(workspace, stopped.result_id)).status, "valid");
      const { result } = await runBenchmark(pack, { projectRoot, resume: stopped.result_id });
      assert.equal(result.result_id, stopped.result_id);
      assert.equal(result.resume!.reused_rows, stopAfter);
      assert.deepEqual(lasting(result), lasting(whole));
      assert.equal((await verifyBenchmark(workspace, result.result_id)).status, "valid");
    }
  });
});

Deno.test("a benchmark resumes only as it began", async () => {
  await withPack(twoLinks({ replication: { replicates: 2 } }), async ({ pack, projectRoot, write }) => {
    const cancellation = createCancellation();
    const onEvent = ({ kind }: BenchmarkEvent) => kind === "benchmark_row_completed" && cancellation.cancel();
    const { result: { result_id: resume } } = await runBenchmark(pack, { projectRoot, cancellation, onEvent });
    const refused = (options: Parameters<typeof runBenchmark>[1], why: RegExp) =>
      assert.rejects(
        runBenchmark(pack, { projectRoot, resume, ...options }),
        (error: { code: string; message: string }) =>
          error.code === "benchmark_resume_mismatch" && why.test(error.message),
      );
    await refused({ parallelWorkers: 2 }, /execution settings/);
    await refused({ replicates: 3 }, /replication/);
    const link = join(projectRoot, "link.yaml"), text = Deno.readTextFileSync(link);
    Deno.writeTextFileSync(link, text.replace("2000", "2001"));
    await refused({}, /a recipe changed/);
    Deno.writeTextFileSync(link, text);
    write(twoLinks({ replication: { replicates: 2 }, name: "renamed" }));
    await refused({}, /the pack changed/);
    write(twoLinks({ replication: { replicates: 2 } }));
    const { result } = await runBenchmark(pack, { projectRoot, resume });
    assert.equal(result.status, "completed");
    await refused({}, /is complete/);
  });
});

Deno.test("a resumed benchmark may make fewer replicates, but keeps all that exist", async () => {
  for (const replication of [{ replicates: 9 }, { replicates: 9, until_errors: 1_000_000 }] as JsonObject[]) {
    await withPack(twoLinks({ replication }), async ({ pack, projectRoot }) => {
      const workspace = openWorkspace({ projectRoot });
      const whole = (await runBenchmark(pack, { projectRoot, replicates: 4 })).result;
      const stopped = async (rows: number) => {
        const cancellation = createCancellation();
        let ended = 0;
        const onEvent = ({ kind }: BenchmarkEvent) =>
          kind === "benchmark_row_completed" && ++ended === rows && cancellation.cancel();
        return (await runBenchmark(pack, { projectRoot, cancellation, onEvent })).result.result_id;
      };
      const resume = await stopped(3);
      const { result, diagnostics } = await runBenchmark(pack, { projectRoot, resume, replicates: 4 });
      assert.deepEqual(lasting(result), lasting(whole));
      assert.deepEqual(diagnostics.filter(({ code }) => code === "replicate_exists"), []);
      assert.deepEqual((await verifyBenchmark(workspace, resume)).errors, []);

      // Two of three replicates that exist would be a choice by their values.
      const later = await stopped(5);
      const kept = await runBenchmark(pack, { projectRoot, resume: later, replicates: 2 });
      assert.equal(kept.result.status, "completed");
      assert.deepEqual(kept.result.aggregates.map(({ n }) => n), [3, 3]);
      assert.deepEqual(
        kept.diagnostics.filter(({ code }) => code === "replicate_exists").map(({ severity }) => severity),
        ["warning"],
      );
      assert.deepEqual((await verifyBenchmark(workspace, later)).errors, []);
    });
  }
});

Deno.test("an interrupted resumption with fewer replicates keeps their number", async () => {
  await withPack(twoLinks({ replication: { replicates: 9 } }), async ({ pack, projectRoot }) => {
    const cut = async (options: { resume?: string; replicates?: number }) => {
      const cancellation = createCancellation();
      const onEvent = ({ kind, fields }: BenchmarkEvent) =>
        kind === "benchmark_row_completed" && fields.reused !== true && cancellation.cancel();
      return (await runBenchmark(pack, { projectRoot, cancellation, onEvent, ...options })).result;
    };
    const { result_id: resume } = await cut({});
    assert.equal((await cut({ resume, replicates: 3 })).replication!.replicates, 3);
    await assert.rejects(runBenchmark(pack, { projectRoot, resume, replicates: 4 }), {
      code: "benchmark_resume_mismatch",
    });
    const { result } = await runBenchmark(pack, { projectRoot, resume });
    assert.deepEqual(result.aggregates.map(({ n }) => n), [3, 3]);
    assert.deepEqual((await verifyBenchmark(openWorkspace({ projectRoot }), resume)).errors, []);
  });
});

Deno.test("rows of an operation whose code changed are neither resumed nor merged with those before", async () => {
  await withPack(twoLinks({ replication: { replicates: 2 } }), async ({ pack, projectRoot }) => {
    const file = join(projectRoot, "flip.ts"), lib = new URL("../../../lib", import.meta.url);
    const source = `import { defineOperation } from "${lib}/contract/define.ts";
import { bitsArtifact, bitsOf } from "${lib}/artifact/values.ts";
import { z } from "${lib}/contract/zod.ts";
export default defineOperation({
  id: "test.flip",
  name: "Flip",
  description: "Flips the first bit",
  inputs: { bits: ["channel.payload_bits.numpy"] },
  outputs: { bits: "channel.payload_bits.numpy" },
  params: z.strictObject({}),
  threadSafe: true,
  run({ inputs }) {
    const bits = bitsOf(inputs.bits).slice();
    bits[0] ^= 1;
    return { outputs: { bits: bitsArtifact(bits, {}, "payload.bits") } };
  },
});
`;
    // Sources that were read just now count as unchanged.
    const write = async (text: string) => {
      await new Promise((resolve) => setTimeout(resolve, 150));
      Deno.writeTextFileSync(file, text);
    };
    const link = join(projectRoot, "link.yaml"), text = Deno.readTextFileSync(link);
    Deno.writeTextFileSync(
      link,
      text.replace("candidate: link.bits", "candidate: flip.bits")
        .replace("  - {id: ber", "  - {id: flip, op: test.flip, inputs: {bits: link.bits}}\n  - {id: ber"),
    );
    const options = { projectRoot, operations: [file] };
    await write(source);
    const cancellation = createCancellation();
    const onEvent = ({ kind }: BenchmarkEvent) => kind === "benchmark_row_completed" && cancellation.cancel();
    const { result: { result_id: resume } } = await runBenchmark(pack, { ...options, cancellation, onEvent });
    const folders = [0, 1].map((index) => join(projectRoot, `shard${index}`));
    const shard = async (index: number) => {
      await using svc = await open(options);
      return await svc.benchmarks.shard(pack, { shard: { index, count: 2 }, out: folders[index] });
    };
    await shard(0);
    await write(source.replace("bits[0] ^= 1", "bits[1] ^= 1"));
    const changed = { code: "benchmark_resume_mismatch", message: /the code of an operation.*changed/ };
    await assert.rejects(runBenchmark(pack, { ...options, resume }), changed);
    await assert.rejects(shard(0), changed);
    await shard(1);
    await using svc = await open(options);
    await assert.rejects(svc.benchmarks.merge(pack, folders), {
      code: "shard_conflict",
      message: /shard0 .*other code/,
    });
    await write(source);
    assert.equal((await runBenchmark(pack, { ...options, resume })).result.status, "completed");
  });
});

Deno.test("a process that ended right after it resumed leaves a result that is valid and resumes", async () => {
  await withPack(twoLinks({ replication: { replicates: 2 } }), async ({ pack, projectRoot }) => {
    let resume: string | undefined;
    // After the first attempt, and after one that was resumed itself.
    for (const reused_rows of [1, 2]) {
      const cancellation = createCancellation();
      let completed = 0;
      const onEvent = ({ kind }: BenchmarkEvent) => {
        // A resumption tells of earlier rows too.
        if (kind === "benchmark_row_completed" && ++completed === reused_rows) cancellation.cancel();
      };
      const { result, directory } = await runBenchmark(pack, { projectRoot, cancellation, onEvent, resume });
      resume = result.result_id;
      const ledger = Ledger.open(inside(directory, LEDGER_FILE), "of the ended process");
      assert.equal(ledger.index.completedCount, reused_rows);
      ledger.append("attempt_resumed", { reused_rows, repaired_bytes: 0 });
      ledger.close();
      const workspace = openWorkspace({ projectRoot });
      const { status, incomplete_reason } = showBenchmarkResult(workspace, resume).result;
      assert.deepEqual([status, incomplete_reason], ["incomplete", "interrupted"]);
      const report = await verifyBenchmark(workspace, resume);
      assert.equal(report.status, "valid", JSON.stringify(report.errors));
    }
    assert.equal((await runBenchmark(pack, { projectRoot, resume })).result.status, "completed");
  });
});

Deno.test("each point stops for its own reason, and says so", async () => {
  const document = twoLinks({ replication: { replicates: 6, min_replicates: 1, until_errors: 500, max_bits: 5000 } });
  await withPack(document, async ({ pack, projectRoot }) => {
    const { result } = await runBenchmark(pack, { projectRoot });
    const reasons = Object.fromEntries(
      result.aggregates.map(({ recipe_id, stop_reason, n }) => [recipe_id, [stop_reason, n]]),
    );
    // 16 % of 2000 bits at 0 dB, 2.3 % at 6 dB.
    assert.deepEqual(reasons, { low: ["errors", 2], high: ["max_bits", 3] });
    const narrow =
      (await runBenchmark(pack, { projectRoot, untilErrors: 1e9, maxBits: 1e9, untilHalfwidth: 0.006 })).result;
    const stops = Object.fromEntries(
      narrow.aggregates.map(({ recipe_id, stop_reason, n }) => [recipe_id, [stop_reason, n]]),
    );
    assert.deepEqual(stops, { low: ["replicates", 6], high: ["halfwidth", 2] });
  });
});

Deno.test("parallel and sequential runs give equal rows at any stop", async () => {
  const document = twoLinks({ replication: { replicates: 6, min_replicates: 1, until_errors: 500, max_bits: 5000 } });
  const numbers = ({ recipes, aggregates }: BenchmarkRunResult["result"]) => ({
    rows: recipes.map(({ id, replicate, status, recipe_sha256, metrics, run_evidence_snapshot }) => [
      id,
      replicate,
      status,
      recipe_sha256,
      Object.entries(metrics).filter(([name]) => !/timing\.|memory\./.test(name)),
      run_evidence_snapshot?.relative_path,
    ]),
    stops: aggregates.map(({ recipe_id, metric, n, mean, stop_reason }) => [recipe_id, metric, n, mean, stop_reason]),
  });
  await withPack(document, async ({ pack, projectRoot }) => {
    const workspace = openWorkspace({ projectRoot });
    const one = (await runBenchmark(pack, { projectRoot })).result;
    for (const parallelPoints of [2, 8]) {
      const started = new Set<unknown>();
      const { result, directory } = await runBenchmark(pack, {
        projectRoot,
        parallelPoints,
        onEvent: ({ kind, fields }) => kind === "benchmark_row_started" && started.add(fields.point),
      });
      assert.deepEqual(numbers(result), numbers(one));
      assert.ok(started.size > result.recipes.length, "rows that the stops made useless had started");
      // They leave nothing: no run, and no snapshot.
      assert.deepEqual(listRuns(workspace), []);
      const sizes = result.recipes.map(({ run_evidence_snapshot: snapshot }) => Number(snapshot!.size_bytes));
      const archive = Deno.statSync(join(directory, "evidence", "part-00000.tar.gz"));
      assert.equal(archive.size, sizes.reduce((sum, size) => sum + size));
      const { errors } = await verifyBenchmark(workspace, result.result_id);
      assert.deepEqual(errors, []);
    }
  });
  await withPack(twoLinks({ ...FAILING, replication: { replicates: 2 } }), async ({ pack, projectRoot }) => {
    Deno.writeTextFileSync(join(projectRoot, "broken.yaml"), BROKEN);
    const { result } = await runBenchmark(pack, { projectRoot, parallelPoints: 4 });
    assert.deepEqual(result.recipes.map(({ id, status }) => `${id} ${status}`), ["low completed", "broken failed"]);
    // The run of the failed row alone stays.
    assert.deepEqual(listRuns(openWorkspace({ projectRoot })).map(({ run_id }) => run_id), [result.recipes[1].run_id]);
  });
});

Deno.test("a benchmark with rows side by side is cancelled and resumes with the same numbers", async () => {
  await withPack(twoLinks({ replication: { replicates: 4 } }), async ({ pack, projectRoot }) => {
    const whole = (await runBenchmark(pack, { projectRoot })).result;
    const cancellation = createCancellation();
    let completed = 0;
    const { result: first } = await runBenchmark(pack, {
      projectRoot,
      parallelPoints: 3,
      cancellation,
      onEvent: ({ kind }) => kind === "benchmark_row_completed" && ++completed === 2 && cancellation.cancel(),
    });
    assert.equal(first.status, "incomplete");
    assert.equal(first.recipes.length, 2);
    const { result } = await runBenchmark(pack, { projectRoot, parallelPoints: 2, resume: first.result_id });
    const errors = (rows: typeof result.recipes) =>
      rows.map(({ id, replicate, metrics }) => [id, replicate, metrics["channel.error_count"]]);
    assert.deepEqual(errors(result.recipes), errors(whole.recipes));
  });
});

Deno.test("verification finds what was altered", async () => {
  await withPack(twoLinks({ replication: { replicates: 2 } }), async ({ pack, projectRoot }) => {
    const workspace = openWorkspace({ projectRoot });
    const { result, directory } = await runBenchmark(pack, { projectRoot });
    const check = async (file: string, change: (text: string) => string, code: string) => {
      const path = join(directory, file), text = Deno.readTextFileSync(path);
      Deno.writeTextFileSync(path, change(text));
      const report = await verifyBenchmark(workspace, result.result_id);
      Deno.writeTextFileSync(path, text);
      assert.equal(report.status, "invalid", file);
      assert.ok(report.errors.some((item) => item.code === code), `${file}: ${JSON.stringify(report.errors)}`);
    };
    await check(
      "result.json",
      (text) => text.replace('"channel.ber": 0.', '"channel.ber": 0.1'),
      "bundle_link_mismatch",
    );
    await check(
      "result.json",
      (text) => text.replace('"mean_difference": -0.', '"mean_difference": -0.0'),
      "bundle_link_mismatch",
    );
    await check("result.json", (text) => text + " ", "bundle_hash_mismatch");
    await check(
      ".attempt-ledger",
      (text) => text.replace('"status":"completed"', '"status":"failed"'),
      "bundle_hash_mismatch",
    );
    await check("benchmark.json", (text) => text.replace("two_links", "one_links"), "bundle_hash_mismatch");
    const evidence = join(directory, String(result.recipes[1].run_evidence_snapshot!.relative_path));
    const bytes = Deno.readFileSync(evidence);
    Deno.writeFileSync(evidence, bytes.map((byte, at) => at === 200 ? byte ^ 1 : byte));
    assert.equal((await verifyBenchmark(workspace, result.result_id)).status, "invalid");
    Deno.removeSync(evidence);
    assert.ok(
      (await verifyBenchmark(workspace, result.result_id)).errors.some(({ code }) => code === "bundle_file_missing"),
    );
    Deno.writeFileSync(evidence, bytes);
    assert.equal((await verifyBenchmark(workspace, result.result_id)).status, "valid");
    assert.equal(showBenchmarkResult(workspace, result.result_id.slice(0, 20)).result.result_id, result.result_id);
  });
});
