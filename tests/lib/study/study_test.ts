/** Studies: points of a grid, a file or a sample, in packs. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type BenchmarkEvent, createCancellation } from "../../../mod.ts";
import { float, type JsonObject, toNumber, type Value } from "../../../lib/contract/value.ts";
import { variantId } from "../../../lib/recipe/variant.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { packOfRecord } from "../../../lib/study/pack/pack_record.ts";
import type { PackRecord } from "../../../lib/study/pack/types.ts";
import { INLINE_ROWS, PACK_RECORD_FILE, RESULT_FILE } from "../../../lib/study/pack/types.ts";
import { exportBenchmark, plotBenchmark } from "../../../lib/study/report/reports.ts";
import { showBenchmarkResult } from "../../../lib/study/rows/store.ts";
import { allRows, recipeRows } from "../../../lib/study/rows/stored_rows.ts";
import { readDocument } from "../../../lib/run/read.ts";
import { lasting } from "../../support/benchmark.ts";
import { sizeOf } from "../../support/sample.ts";
import { loadBenchmarkPack, runBenchmark, verifyBenchmark } from "../../support/session.ts";
import { twoLinks, withPack } from "./packs.ts";

const BINDINGS: JsonObject = { link: { snr_db: { matrix: "snr_db" } }, data: { bit_count: { matrix: "bits" } } };

/** A pack of one link over a study. */
const studied = (study: JsonObject, entry: JsonObject = {}, members: JsonObject = {}) =>
  twoLinks({
    baselines: [],
    recipes: [{ id: "a", path: "link.yaml", matrix: { step_params: BINDINGS, ...study }, ...entry }],
    ...members,
  });

const GRID: JsonObject = { grid: { snr_db: [float(0), float(6)], bits: [100, 200] } };

const selections = async (pack: string, projectRoot: string) => {
  const { recipes, valid, diagnostics } = await loadBenchmarkPack(pack, { projectRoot });
  assert.ok(valid, JSON.stringify(diagnostics));
  return recipes.map(({ recipe }) => recipe!.metadata.matrix_selection as JsonObject);
};

Deno.test("grid, file and matrix of equal points give equal recipes", async () => {
  await withPack(studied(GRID), async ({ pack, projectRoot, write }) => {
    const recipes = async () =>
      (await loadBenchmarkPack(pack, { projectRoot })).recipes.map(({ entry, recipe }) => [entry, recipe]);
    const grid = await recipes();
    assert.deepEqual(grid.map(([entry]) => (entry as { id: string }).id), [
      "a@link__bits_100__snr_db_0.0",
      "a@link__bits_100__snr_db_6.0",
      "a@link__bits_200__snr_db_0.0",
      "a@link__bits_200__snr_db_6.0",
    ]);
    const metadata = (grid[1][1] as { metadata: JsonObject }).metadata;
    assert.equal(metadata.matrix_variant_id, variantId({ bits: 100, snr_db: float(6) }));
    assert.equal(metadata.matrix_index, 1);
    write(studied({ dimensions: GRID.grid }));
    const plain = (list: unknown[][]) =>
      list.map(([entry, recipe]) => [{ ...entry as JsonObject, matrix: null }, recipe]);
    assert.deepEqual(plain(await recipes()), plain(grid));
    write(studied({ points: "points.csv" }));
    Deno.writeTextFileSync(
      join(projectRoot, "points.csv"),
      "snr_db,bits\r\n0.0,100\r\n6.0, 100\r\n0.0,200\r\n\r\n6.0,200\r\n",
    );
    assert.deepEqual(plain(await recipes()), plain(grid));
  });
});

Deno.test("a copy of a point is without the other points", async () => {
  await withPack(studied(GRID), async ({ pack, projectRoot }) => {
    const { recipes: [point] } = await loadBenchmarkPack(pack, { projectRoot });
    assert.equal(point.study!.points.length, 4);
    assert.deepEqual(Object.keys(point).sort(), ["entry", "method_sha256", "recipe", "resources"]);
  });
});

Deno.test("a Latin hypercube has one point in each stratum, equal to NumPy's draws", async () => {
  const ranges = {
    bits: { min: 100, max: 10000, scale: "log" },
    snr_db: { min: float(-5), max: float(15) },
  };
  const sample = (more: JsonObject = {}) => studied({ sample: { n: 50, seed: 7, ranges, ...more } });
  await withPack(sample(), async ({ pack, projectRoot, write }) => {
    const points = await selections(pack, projectRoot);
    const strata = (of: (point: JsonObject) => number) =>
      points.map((point) => Math.floor(50 * of(point))).sort((a, b) => a - b);
    const all = Array.from({ length: 50 }, (_, n) => n);
    assert.deepEqual(strata(({ snr_db }) => (toNumber(snr_db as number) + 5) / 20), all);
    // Whole numbers, whose logarithm may fall below the edge of its stratum by less than one.
    const bits = points.map(({ bits }) => bits as number).sort((a, b) => a - b);
    assert.ok(bits.every((count) => Number.isInteger(count) && count >= 100 && count <= 10000));
    bits.forEach((count, n) => {
      const edge = (at: number) => 100 * 100.01 ** (at / 50);
      assert.ok(count + 1 > edge(n) && count <= edge(n + 1), `${count} in stratum ${n}`);
    });
    // rng = numpy.random.default_rng(7); rng.permutation(50); rng.random(50); s = rng.permutation(50)[0]; u = rng.random(50)[0]
    assert.deepEqual(points.slice(0, 2).map(({ snr_db }) => snr_db), NUMPY);
    assert.deepEqual(await selections(pack, projectRoot), points);
    write(sample({ seed: 8 }));
    assert.notDeepEqual(await selections(pack, projectRoot), points);
  });
});
/** -5 + 20 (pi_i + u_i) / 50 of NumPy. */
const NUMPY: Value[] = [float(10.654705620617033), float(13.967561460365275)];

Deno.test("cells are YAML scalars", async () => {
  const study = {
    points: "points.csv",
    step_params: { link: { snr_db: { matrix: "snr" }, channel: { matrix: "c" } } },
  };
  await withPack(studied(study), async ({ pack, projectRoot }) => {
    const csv = 'c,snr\nawgn,3.0\n"awgn",-1e1\nflat_rayleigh,0x10\nawgn,.5\n';
    Deno.writeTextFileSync(join(projectRoot, "points.csv"), csv);
    assert.deepEqual((await selections(pack, projectRoot)).map(({ c, snr }) => [c, snr]), [
      ["awgn", float(3)],
      ["awgn", float(-10)],
      ["flat_rayleigh", 16],
      ["awgn", float(0.5)],
    ]);
  });
});

Deno.test("every problem of a study is reported before anything is written", async () => {
  const cases: [JsonObject, RegExp, string?, JsonObject?][] = [
    [{ ...GRID, points: "points.csv" }, /study_invalid .*grid and points together/],
    [{ grid: {} }, /study_invalid .*without a dimension/],
    [
      { grid: { snr_db: [float(0)], bits: [100], more: [1], extra: [2] } },
      /matrix_dimension_unused .*extra[^]*matrix_dimension_unused .*more/,
    ],
    [{ grid: { snr_db: [float(0)] } }, /matrix_dimension_unknown .*bits/],
    [{ grid: { snr_db: [float(0), float(0)], bits: [1] } }, /matrix_values_duplicate .*point 1 .*point 0/],
    [
      { grid: { snr_db: Array.from({ length: 300 }, (_, n) => n), bits: Array.from({ length: 300 }, (_, n) => n) } },
      /matrix_too_large .*90000 points \(300 × 300\)/,
    ],
    [{ grid: { snr_db: ["loud", float(0)], bits: [100] } }, /operation_params_schema_invalid .*loud/],
    [
      { sample: { n: 3, ranges: { snr_db: { min: 1, max: 0 }, bits: { min: 0, max: 9, scale: "log" } } } },
      /bits: a log scale[^]*snr_db: its minimum 1/,
    ],
    [{ sample: { n: 70000, ranges: { snr_db: { min: 0, max: 1 } } } }, /pack_invalid .*65536/],
    [{ points: "nowhere.csv" }, /file_not_found .*nowhere\.csv/],
    [{ points: "../../../etc/passwd" }, /pack_path_outside/],
    [{ points: "points.csv" }, /study_invalid .*line 3 has another number of fields/, "snr_db,bits\n0.0,100\n1.0\n"],
    [
      { points: "points.csv" },
      /study_invalid .*"" in the column bits of point 0[^]*"\[1\]" in the column snr_db of point 1/,
      "snr_db,bits\n0.0,\n[1],5\n",
    ],
    [{ points: "points.csv" }, /study_invalid .*column bits is repeated/, "bits,bits\n1,2\n"],
    [{ points: "points.csv" }, /study_invalid .*Cannot find a point/, "snr_db,bits\n"],
    [GRID, /pack_selection_conflict .*Cannot fix bits/, undefined, { params: { matrix_selection: { bits: 3 } } }],
    [GRID, /pack_selection_conflict .*link\.snr_db/, undefined, { params: { step_params: { link: { snr_db: 3 } } } }],
    [GRID, /pack_invalid .*a step named nothing/, undefined, { params: { step_params: { nothing: { x: 3 } } } }],
  ];
  for (const [study, expected, csv, entry] of cases) {
    await withPack(studied(study, entry), async ({ pack, projectRoot }) => {
      if (csv !== undefined) Deno.writeTextFileSync(join(projectRoot, "points.csv"), csv);
      await assert.rejects(
        runBenchmark(pack, { projectRoot }),
        (error: { code: string; diagnostics: { code: string; message: string }[] }) => {
          const found = error.diagnostics.map(({ code, message }) => `${code} ${message}`).join("\n");
          assert.equal(error.code, "pack_invalid");
          assert.match(found, expected);
          return true;
        },
      );
      await assert.rejects(Deno.stat(join(projectRoot, ".svc")), Deno.errors.NotFound);
    });
  }
});

Deno.test("a fixed dimension of the recipe stands beside those of the study", async () => {
  const entry = { path: "sweep.yaml", params: { matrix_selection: { bits: 200 } } };
  await withPack(studied({ grid: { snr_db: [float(1), float(2)] }, step_params: {} }, entry), async (folder) => {
    assert.deepEqual(await selections(folder.pack, folder.projectRoot), [
      { bits: 200, snr_db: float(1) },
      { bits: 200, snr_db: float(2) },
    ]);
  });
});

Deno.test("methods over one study are compared point by point", async () => {
  const entry = (id: string, params: JsonObject = {}) => ({
    id,
    path: "link.yaml",
    matrix: { grid: { snr_db: [float(0), float(3)] }, step_params: { link: { snr_db: { matrix: "snr_db" } } } },
    params,
  });
  const document = twoLinks({
    recipes: [entry("low"), entry("more", { step_params: { data: { bit_count: 4000 } } })],
    replication: { replicates: 2 },
  });
  await withPack(document, async ({ pack, projectRoot }) => {
    const { result } = await runBenchmark(pack, { projectRoot });
    assert.deepEqual(result.comparisons.map(({ candidate_id, baseline_id }) => [candidate_id, baseline_id]), [
      ["more@link__snr_db_0.0", "low@link__snr_db_0.0"],
      ["more@link__snr_db_3.0", "low@link__snr_db_3.0"],
    ]);
    assert.deepEqual((await verifyBenchmark(openWorkspace({ projectRoot }), result.result_id)).errors, []);
  });
});

// Rows of large results beside the document, without their runs, are those of stored_rows_test.ts.
Deno.test("a study of many points runs, resumes, verifies, exports and plots", async () => {
  const bits = Array.from({ length: sizeOf(60, 1100) }, (_, n) => 8 + n), isLarge = bits.length > INLINE_ROWS;
  const study = { grid: { snr_db: [float(0)], bits } };
  await withPack(studied(study), async ({ pack, projectRoot }) => {
    const workspace = openWorkspace({ projectRoot }), cancellation = createCancellation();
    let ended = 0;
    const onEvent = ({ kind }: BenchmarkEvent) =>
      kind === "benchmark_row_completed" && ++ended === 30 && cancellation.cancel();
    const { result: { result_id: resume } } = await runBenchmark(pack, { projectRoot, cancellation, onEvent });
    assert.deepEqual((await verifyBenchmark(workspace, resume)).errors, []);
    const { directory } = await runBenchmark(pack, { projectRoot, resume, parallelPoints: 2 });
    const { result } = showBenchmarkResult(workspace, resume);
    assert.deepEqual([result.status, result.aggregates.length], ["completed", bits.length]);
    assert.equal(result.rows?.completed, isLarge ? bits.length : undefined);
    // A large document holds neither rows nor recipes of single points.
    const { recipes } = readDocument(directory, RESULT_FILE) as { recipes: Value[] };
    assert.equal(recipes.length, isLarge ? 0 : bits.length);
    const record = readDocument(directory, PACK_RECORD_FILE) as object as PackRecord;
    assert.deepEqual([record.recipes, record.studies!.length, record.studies![0].points.length], [[], 1, bits.length]);
    assert.ok(Deno.statSync(join(directory, PACK_RECORD_FILE)).size < 100_000);
    assert.equal(packOfRecord(record).recipes.length, bits.length);
    const rows = recipeRows(result);
    assert.deepEqual(rows.map(({ matrix_selection }) => matrix_selection.bits), bits);
    assert.deepEqual([...allRows(result)].map(({ id }) => id), rows.map(({ id }) => id));
    assert.deepEqual((await verifyBenchmark(workspace, resume)).errors, []);
    const out = join(projectRoot, "tables");
    exportBenchmark(workspace, resume, { out });
    assert.equal(Deno.readTextFileSync(join(out, "recipes.csv")).trim().split("\n").length, bits.length + 1);
    const plotted = await plotBenchmark(workspace, resume, { plot: "error-rate", x: "bits" });
    const csv = plotted.files.find((name) => name.endsWith(".csv"))!;
    assert.equal(Deno.readTextFileSync(join(plotted.directory, csv)).trim().split("\n").length, bits.length + 1);

    // Other points than those of the pack are no result of it.
    record.studies![0].points[0] = [9999, float(0)];
    assert.throws(() => packOfRecord(record), { code: "bundle_link_mismatch" });
  });
});

Deno.test("shards and a merge of a study equal one machine", async () => {
  await withPack(studied(GRID, {}, { replication: { replicates: 2 } }), async ({ pack, projectRoot }) => {
    const whole = (await runBenchmark(pack, { projectRoot })).result;
    const { open } = await import("../../../mod.ts");
    await using svc = await open({ projectRoot });
    const folders = [0, 1].map((index) => join(projectRoot, `shard${index}`));
    for (const [index, out] of folders.entries()) await svc.benchmarks.shard(pack, { shard: { index, count: 2 }, out });
    const { result } = await svc.benchmarks.merge(pack, folders);
    assert.deepEqual(lasting(result), lasting(whole));
    assert.deepEqual((await verifyBenchmark(openWorkspace({ projectRoot }), result.result_id)).errors, []);
  });
});
