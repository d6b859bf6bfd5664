import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { loadBenchmarkPack } from "../../support/session.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { recipeOfReplicate } from "../../../lib/study/pack/load_pack.ts";
import { open } from "../../../mod.ts";
import { LINK, twoLinks, withPack } from "./packs.ts";
import { temporaryFolder } from "../../support/temporary.ts";

/** Codes of the errors and warnings that a pack gets. */
async function codesOf(pack: JsonObject): Promise<string[]> {
  let codes: string[] = [];
  await withPack(pack, async ({ pack, projectRoot }) => {
    const { diagnostics } = await loadBenchmarkPack(pack, { projectRoot }).catch((error) => error);
    codes = diagnostics.map(({ code }: { code: string }) => code);
  });
  return codes;
}

const sweep = (params: JsonObject) =>
  twoLinks({ baselines: [], recipes: [{ id: "point", path: "sweep.yaml", params }] });

Deno.test("a sound pack has no findings, and says what it will run", async () => {
  await withPack(twoLinks({ replication: { replicates: 2, base_seed: 5 } }), async ({ pack, projectRoot }) => {
    const loaded = await loadBenchmarkPack(pack, { projectRoot });
    assert.deepEqual(loaded.diagnostics.map(({ code, severity }) => [code, severity]), [[
      "comparison_underpowered",
      "warning",
    ]]);
    assert.match(loaded.diagnostics[0].hint!, /at least 6 pairs/);
    assert.ok(loaded.valid);
    assert.deepEqual(loaded.recipes.map(({ recipe }) => recipe!.name), ["link__low", "link__high"]);
    assert.equal(loaded.pack.metrics[0].statistic, "rate");
    assert.deepEqual(loaded.pack.metrics[0].counts, {
      events: "channel.error_count",
      trials: "channel.compare_bit_count",
    });
    assert.equal(loaded.replication!.replicates, 2);
  });
});

Deno.test("all problems are reported at once, each at its place", async () => {
  const broken = twoLinks({
    metrics: ["channel.bre", "bpp"],
    baselines: ["lwo"],
    dataset: { id: "svc_sample_images", modality: "image" },
    recipes: [
      { id: "low", path: "link.yaml" },
      { id: "low", path: "../../../etc/passwd" },
      { id: "gone", path: "gone.yaml" },
      { id: "step", path: "link.yaml", params: { step_params: { lnik: { snr_db: float(1) } } } },
    ],
  });
  await withPack(broken, async ({ pack, projectRoot }) => {
    const { valid, diagnostics } = await loadBenchmarkPack(pack, { projectRoot });
    assert.equal(valid, false);
    const found = diagnostics.map(({ code, path }) => `${code} ${path}`);
    for (
      const expected of [
        "pack_metric_unknown $.metrics[0]",
        "metric_deprecated $.metrics[1]",
        "pack_baseline_unknown $.baselines[0]",
        "pack_invalid $.recipes[1].id",
        "pack_path_outside $.recipes[1].path",
        "recipe_not_found $.recipes[2].path",
        "pack_invalid $.recipes[3].params.step_params.lnik",
        "pack_dataset_mismatch $.recipes[0]",
      ]
    ) assert.ok(found.includes(expected), `${expected} is not among\n${found.join("\n")}`);
    assert.ok(diagnostics.every(({ location }) => location !== undefined), "each has a line");
    assert.equal(diagnostics.find(({ code }) => code === "pack_baseline_unknown")?.hint, "Did you mean low?");
  });
});

Deno.test("the name of a shipped recipe or the id of a template stands for its file, a near name is offered", async () => {
  const problems = async (path: string) => {
    let found: unknown[] = [];
    await withPack(twoLinks({ baselines: [], recipes: [{ id: "one", path }] }), async ({ pack, projectRoot }) => {
      const { recipes, diagnostics } = await loadBenchmarkPack(pack, { projectRoot });
      const { hint } = diagnostics.find(({ path }) => path === "$.recipes[0].path") ?? {};
      found = [recipes.map(({ recipe }) => recipe?.name.replace("__one", "") ?? null), hint];
    });
    return found;
  };
  assert.deepEqual(await problems("quickstart"), [["quickstart"], undefined]);
  assert.deepEqual(await problems("recipes/quickstart.yaml"), [["quickstart"], undefined]);
  assert.deepEqual(await problems("semantic_comm.image_reconstruction.default"), [["image_codec_default"], undefined]);
  assert.deepEqual(await problems("quickstrat"), [[null], "Did you mean quickstart?"]);
  const root = temporaryFolder("svc-names-");
  await using svc = await open({ projectRoot: root, stateDir: join(root, ".svc") });
  const ids = async (name: string) => (await svc.benchmarks.load(name)).pack?.id;
  assert.equal(await ids("quickstart"), "quickstart");
  assert.equal(await ids("semantic_comm.image_reconstruction.default"), "image_codec_default");
  await assert.rejects(ids("quickstrat"), { code: "pack_not_found" });
});

Deno.test("what has no such shape is refused with every field that is wrong", async () => {
  assert.deepEqual(await codesOf({ ...twoLinks(), metrics: [], surprise: 1, version: 3 }), [
    "pack_invalid",
    "pack_invalid",
    "pack_invalid",
  ]);
});

Deno.test("a point of a matrix is chosen completely and in range", async () => {
  assert.deepEqual(await codesOf(sweep({ matrix_selection: { snr_db: float(6), bits: 200 } })), []);
  assert.deepEqual(await codesOf(sweep({ sweep_values: { snr_db: float(6), bits: 200 } })), []);
  assert.deepEqual(await codesOf(sweep({ matrix_selection: { snr_db: float(6) } })), ["pack_selection_incomplete"]);
  assert.deepEqual(await codesOf(sweep({ matrix_selection: { snr_db: 6, bits: 300 } })), [
    "pack_selection_out_of_range",
    "pack_selection_out_of_range",
  ]);
  const selection = { snr_db: float(6), bits: 200 };
  assert.deepEqual(
    await codesOf(sweep({ matrix_selection: selection, step_params: { link: { snr_db: float(0) } } })),
    ["pack_selection_conflict"],
  );
  assert.deepEqual(
    await codesOf(sweep({ matrix_selection: selection, step_params: { link: { snr_db: float(6) } } })),
    [],
  );
  assert.deepEqual(
    await codesOf(sweep({ matrix_selection: selection, sweep_values: { snr_db: float(0), bits: 200 } })),
    [
      "pack_sweep_values_conflict",
    ],
  );
});

Deno.test("an entry expands to the points of its matrix, of which a selection fixes dimensions", async () => {
  const rows = async (entry: JsonObject) => {
    let found: { id: string; label: string; params: { matrix_selection: JsonObject | null; metadata: JsonObject } }[] =
      [];
    const pack = twoLinks({ baselines: ["s"], recipes: [{ id: "s", path: "sweep.yaml", ...entry }] });
    await withPack(pack, async ({ pack, projectRoot }) => {
      const loaded = await loadBenchmarkPack(pack, { projectRoot });
      assert.deepEqual(loaded.diagnostics, []);
      assert.deepEqual(loaded.pack.recipes, loaded.recipes.map(({ entry }) => entry));
      assert.ok(loaded.pack.recipes.every(({ params }) => params.baseline_id === "s"), "the entry names the baseline");
      found = loaded.pack.recipes;
    });
    return found;
  };
  const whole = await rows({});
  assert.deepEqual(whole.map(({ id }) => id), [
    "s@sweep__bits_100__snr_db_0.0",
    "s@sweep__bits_100__snr_db_6.0",
    "s@sweep__bits_200__snr_db_0.0",
    "s@sweep__bits_200__snr_db_6.0",
  ]);
  assert.deepEqual((await rows({ matrix: "inherit" })).map(({ id }) => id), whole.map(({ id }) => id));
  const fixed = await rows({
    label: "Link",
    matrix: "inherit",
    params: { matrix_selection: { bits: 200 }, metadata: { aggregation_cell_id: "a" } },
  });
  assert.deepEqual(fixed.map(({ label, params }) => [label, params.metadata.aggregation_cell_id]), [
    ["Link, snr_db=0.0", "a/snr_db=0.0"],
    ["Link, snr_db=6.0", "a/snr_db=6.0"],
  ]);
  assert.deepEqual(fixed[0].params.matrix_selection, { bits: 200, snr_db: float(0) });
  const own = await rows({
    matrix: { dimensions: { snr_db: [float(1), float(2), float(3)] } },
    params: { matrix_selection: { bits: 100 } },
  });
  assert.deepEqual(own.map(({ params }) => params.matrix_selection!.snr_db), [float(1), float(2), float(3)]);
  const other = await rows({
    path: "link.yaml",
    matrix: { dimensions: { count: [10, 20] }, step_params: { data: { bit_count: { matrix: "count" } } } },
  });
  assert.deepEqual(other.map(({ id }) => id), ["s@link__count_10", "s@link__count_20"]);
});

Deno.test("a matrix of an entry that selects nothing, or is none, is refused", async () => {
  const entry = (members: JsonObject) => codesOf(twoLinks({ baselines: [], recipes: [{ id: "s", ...members }] }));
  const none = { path: "sweep.yaml", matrix: "inherit", params: { matrix_selection: { snr_db: float(9) } } };
  assert.deepEqual(await entry(none), ["pack_selection_out_of_range"]);
  assert.deepEqual(await entry({ path: "sweep.yaml", matrix: "some" }), ["pack_invalid"]);
  const unknown = { matrix: { dimensions: { a: [1] }, step_params: { nothing: { x: { matrix: "a" } } } } };
  assert.ok((await entry({ path: "link.yaml", ...unknown })).length > 0);
});

Deno.test("recipes are the methods of one pack, with a row for each point of their matrices", async () => {
  await withPack(twoLinks(), async ({ pack, projectRoot }) => {
    const at = (name: string) => join(projectRoot, name);
    const { pack: made, recipes, diagnostics } = await loadBenchmarkPack([at("sweep.yaml"), at("link.yaml")], {
      projectRoot,
    });
    assert.deepEqual(diagnostics, []);
    assert.deepEqual([made.id, made.dataset.id, made.task.id], [
      "sweep_link",
      "synthetic_random_bits",
      "bit_transport",
    ]);
    assert.deepEqual(made.metrics.map(({ id }) => id), ["channel.ber"]);
    assert.match(made.version, /^[0-9a-f]{12}$/);
    assert.equal(recipes.length, 5);
    assert.equal(recipes[4].entry.id, "link");
    const mixed = loadBenchmarkPack([pack, at("link.yaml")], { projectRoot });
    await assert.rejects(mixed, { code: "usage_invalid", message: /only recipes make a pack together/ });
    await Deno.writeTextFile(at("none.yaml"), LINK.replace("{task:", "{metrics: [own.score], task:"));
    await assert.rejects(loadBenchmarkPack(at("none.yaml"), { projectRoot }), { code: "pack_invalid" });
  });
});

Deno.test("the matrix is gone from a chosen point, its coordinates and others are kept", async () => {
  const pack = sweep({ matrix_selection: { snr_db: float(6), bits: 200, site: "roof" } });
  await withPack(pack, async ({ pack, projectRoot }) => {
    const { recipes: [{ recipe }] } = await loadBenchmarkPack(pack, { projectRoot });
    const { metadata, steps } = recipe!;
    assert.equal(metadata.matrix, undefined);
    assert.deepEqual(metadata.matrix_selection, { snr_db: float(6), bits: 200, site: "roof" });
    assert.equal(metadata.matrix_index, 3);
    assert.match(String(metadata.matrix_variant_id), /^mxv1-/);
    assert.deepEqual(steps.map(({ params }) => params), [{ bit_count: 200 }, { snr_db: float(6) }, {}]);
  });
});

const authored = (members: JsonObject) =>
  twoLinks({
    ...members,
    recipes: [{ id: "low", path: "link.yaml", params: { step_params: { data: { seed: 3 } } } }],
  });

Deno.test("an authored seed that replicates release is pointed out", async () => {
  assert.deepEqual(await codesOf(authored({ replication: { replicates: 2 } })), ["replicate_seed_released"]);
  assert.deepEqual(await codesOf(authored({ replication: { replicates: 1 } })), []);
  assert.deepEqual(await codesOf(authored({ replication: { replicates: 2, keep_authored_seeds: true } })), []);
  assert.deepEqual(await codesOf(authored({})), []);
});

Deno.test("an authored seed counts for the first replicate; after it the stream of seed and replicate does", async () => {
  const seedsOf = async (pack: JsonObject) => {
    let seeds: unknown[] = [];
    await withPack(pack, async ({ pack: file, projectRoot }) => {
      const { pack, recipes: [{ recipe }], replication } = await loadBenchmarkPack(file, { projectRoot });
      seeds = [0, 1, 2].map((r) => recipeOfReplicate(pack, recipe!, replication, r).steps[0].params.seed ?? null);
    });
    return seeds;
  };
  const replication = { replicates: 3, base_seed: 8 };
  const released = [1, 2].map((replicate) =>
    Number(BigInt(`0x${createHash("sha256").update(`3|replicate|${replicate}`).digest("hex")}`) % (2n ** 31n - 1n))
  );
  assert.deepEqual(await seedsOf(authored({ replication })), [3, ...released]);
  // Neither pack nor base seed has a part in it: the author's number decides.
  assert.deepEqual(await seedsOf(authored({ id: "other", replication: { replicates: 3 } })), [3, ...released]);
  assert.deepEqual(await seedsOf(authored({ replication: { ...replication, keep_authored_seeds: true } })), [3, 3, 3]);
  assert.deepEqual(await seedsOf(twoLinks({ replication })), [null, null, null]);

  // So does the name of a stream of fading, and no other parameter of that name.
  await withPack(authored({ replication }), async ({ pack: file, projectRoot }) => {
    const { pack, recipes: [{ recipe }], replication } = await loadBenchmarkPack(file, { projectRoot });
    const streamOf = (params: JsonObject, replicate: number) => {
      const [step, ...others] = recipe!.steps, named = { ...step, params: { ...step.params, ...params } };
      return recipeOfReplicate(pack, { ...recipe!, steps: [named, ...others] }, replication, replicate).steps[0].params
        .stream;
    };
    const moving = { time_variation: "doppler", stream: "link" };
    const streams = [0, 1, 2].map((replicate) => streamOf(moving, replicate));
    assert.equal(streams[0], "link");
    assert.equal(new Set(streams).size, 3);
    assert.equal(streamOf(moving, 1), streams[1]);
    assert.equal(streamOf({ stream: "abbreviated" }, 1), "abbreviated");
  });

  // Results of before say nothing: their replicates kept the seed, and verification makes their recipes again.
  await withPack(authored({ replication }), async ({ pack: file, projectRoot }) => {
    const { pack, recipes: [{ recipe }], replication } = await loadBenchmarkPack(file, { projectRoot });
    const { keep_authored_seeds: _, ...before } = replication!;
    assert.equal(recipeOfReplicate(pack, recipe!, before, 2).steps[0].params.seed, 3);
  });

  // Seeds that the pack sets for a cell stay what they are; an operation that it would pair without a cell does not.
  const conditions = { common_conditions: { randomness: { paired_operation_ids: ["source.random_bits"] } } };
  const entry = (metadata: JsonObject) => ({
    id: "low",
    path: "link.yaml",
    params: { step_params: { data: { seed: 3 } }, metadata },
  });
  const paired = await seedsOf(
    twoLinks({
      replication,
      metadata: conditions,
      recipes: [entry({ aggregation_cell_id: "a", pairing_id: "p" })],
    }),
  );
  assert.equal(new Set([3, ...released, ...paired]).size, 6);
  const unpaired = twoLinks({ replication, metadata: conditions, recipes: [entry({})] });
  assert.deepEqual(await seedsOf(unpaired), [3, ...released]);
});

Deno.test("a pack whose candidates meet no baseline is refused; the coordinate of a method is none of the point", async () => {
  const at = (id: string, matrix_selection: JsonObject) => ({ id, path: "link.yaml", params: { matrix_selection } });
  const codes = (...recipes: JsonObject[]) => codesOf(twoLinks({ recipes }));
  const snr = (value: number) => ({ snr_db: float(value) });
  assert.deepEqual(await codes(at("low", snr(1)), at("high", snr(9))), ["pack_baseline_unmet"]);
  assert.deepEqual(await codes(at("low", { ...snr(1), code: 1 }), at("high", { ...snr(9), code: 3 })), [
    "pack_baseline_unmet",
  ]);
  assert.deepEqual(await codes(at("low", { ...snr(1), code: 1 }), at("high", { ...snr(1), code: 3 })), [
    "comparison_underpowered",
  ]);
  const cell = (id: string, aggregation_cell_id: string) => ({
    id,
    path: "link.yaml",
    params: { metadata: { aggregation_cell_id } },
  });
  assert.deepEqual(await codes(cell("low", "a"), cell("high", "b")), ["pack_baseline_unmet"]);
  assert.deepEqual(await codes(at("low", snr(1))), []);

  // One candidate without a baseline beside others is a warning; a row of another role is a reference.
  const third = (role: string) => codes(at("low", snr(1)), at("high", snr(1)), { ...at("other", snr(9)), role });
  assert.deepEqual(await third("candidate"), ["pack_baseline_unmet", "comparison_underpowered"]);
  assert.deepEqual(await third("upper_bound"), ["comparison_underpowered"]);

  // So is a baseline that no candidate meets beside another one.
  const baselines = (...snrs: number[]) =>
    codesOf(twoLinks({
      baselines: snrs.map((_, index) => `low${index}`),
      recipes: [...snrs.map((value, index) => at(`low${index}`, snr(value))), at("high", snr(1))],
    }));
  assert.deepEqual(await baselines(1, 9), ["pack_baseline_unmet", "comparison_underpowered"]);
  assert.deepEqual(await baselines(1, 1), ["comparison_underpowered"]);
});

Deno.test("a canonical pack asks for its protocol, a traceable one for more", async () => {
  const missing = await codesOf(twoLinks({ metadata: { benchmark_tier: "canonical" } }));
  assert.equal(missing.filter((code) => code === "pack_tier_requirement_missing").length, 7);
  const traceable = await codesOf(twoLinks({ metadata: { publication_ready: true } }));
  assert.equal(traceable.filter((code) => code === "pack_tier_requirement_missing").length, 11);
});

Deno.test("methods of a cell show one comparison identity", async () => {
  const entry = (id: string, snr_db: number, cell = "a", more: JsonObject = {}) => ({
    id,
    path: "link.yaml",
    params: {
      method_id: id,
      step_params: { link: { snr_db: float(snr_db), ...more } },
      metadata: { aggregation_cell_id: cell, pairing_id: "p" },
    },
  });
  const conditions = {
    metadata: { common_conditions: { randomness: { paired_operation_ids: ["source.random_bits"] } } },
  };
  const pack = (...recipes: JsonObject[]) => twoLinks({ ...conditions, baselines: [], recipes });
  assert.deepEqual(await codesOf(pack(entry("one", 3), entry("two", 3))), []);
  assert.deepEqual(await codesOf(pack(entry("one", 3), entry("two", 4))), ["pack_common_conditions_violated"]);
  const blind = entry("two", 3, "a", { receiver_processing: "none" });
  assert.deepEqual(await codesOf(pack(entry("one", 3), blind)), ["pack_common_conditions_violated"]);
  assert.deepEqual(await codesOf(pack(entry("one", 3), entry("two", 3, "b"))), [
    "pack_common_conditions_violated",
    "pack_common_conditions_violated",
  ]);
});

Deno.test("the error of a recipe that does not compile has its line", async () => {
  await withPack(twoLinks(), async ({ pack, projectRoot }) => {
    Deno.writeTextFileSync(
      join(projectRoot, "link.yaml"),
      "name: link\nsteps:\n  - {id: data, op: source.random_bist}\n",
    );
    const { diagnostics, valid } = await loadBenchmarkPack(pack, { projectRoot });
    assert.equal(valid, false);
    const [first] = diagnostics.filter(({ code }) => code === "unknown_operation");
    assert.match(first.message, /low: link\.yaml:3/);
  });
});

Deno.test("a rule that may stop before ten replicates is a warning", async () => {
  const found = async (replication: JsonObject) => {
    let warnings: string[] = [];
    await withPack(twoLinks({ baselines: [], replication }), async ({ pack, projectRoot }) => {
      const { diagnostics, valid } = await loadBenchmarkPack(pack, { projectRoot });
      assert.ok(valid);
      warnings = diagnostics.map(({ code, severity, path }) => `${severity} ${code} ${path}`);
    });
    return warnings;
  };
  const early = ["warning pack_replicates_too_few $.replication.min_replicates"];
  assert.deepEqual(await found({ until_errors: 100, min_replicates: 3 }), early);
  assert.deepEqual(await found({ until_halfwidth: float(0.1), min_replicates: 9 }), early);
  assert.deepEqual(await found({ until_errors: 100 }), []);
  assert.deepEqual(await found({ replicates: 3, min_replicates: 3 }), []);
});
