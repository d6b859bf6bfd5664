import assert from "node:assert/strict";
import { join } from "node:path";
import { parseJson } from "../../../lib/contract/json.ts";
import { float } from "../../../lib/contract/value.ts";
import { runsTableCsv, runsTableText } from "../../../lib/study/report/runs_table.ts";
import { recordedRate } from "../../../lib/contract/metric_metadata.ts";
import { rateEstimate } from "../../../lib/numeric/scores/rate_interval.ts";
import type { CurveFigure } from "../../../lib/figure/types.ts";
import type { MatrixRow } from "../../../lib/study/run_matrix.ts";
import { sharedSession } from "../../support/session.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const link = (name: string, bits = 4000, matrix = true) => ({
  name,
  metadata: {
    seed: 5,
    ...(matrix
      ? {
        matrix: {
          dimensions: { snr_db: [float(0), float(60)], modulation: ["qpsk", "qam16"] },
          step_params: {
            modulator: { modulation: { matrix: "modulation" } },
            wireless_channel: { snr_db: { matrix: "snr_db" } },
          },
        },
      }
      : {}),
  },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: bits } },
    {
      id: "modulator",
      op: "modulation.digital_modulate",
      params: { modulation: "qpsk" },
      inputs: { bits: "data.bits" },
    },
    {
      id: "wireless_channel",
      op: "wireless.channel",
      params: { channel: "awgn", snr_db: float(3) },
      inputs: { symbols: "modulator.symbols" },
    },
    { id: "demodulator", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "wireless_channel.rx_symbols" } },
    {
      id: "evaluation",
      op: "metrics.bit_error_rate",
      inputs: { reference: "data.bits", candidate: "demodulator.bits" },
    },
  ],
});

const { test, session } = sharedSession();

/** The runs that the tests look at; a test that adds runs does so under a name of its own. */
let rows: MatrixRow[];
Deno.test.beforeAll(async () => {
  const { recipes } = await session();
  ({ rows } = await recipes.runMatrix(link("sweep")));
  await recipes.run(link("sweeper", 4000, false));
});

test("a table of a sweep has a row per variant with its point, its metric and its interval", async (svc) => {
  const table = await svc.runs.table({ recipe: "sweep" });
  assert.deepEqual(table.coordinates, ["modulation", "snr_db"]);
  assert.deepEqual(table.metrics.map(({ id }) => id), ["channel.ber"]);
  assert.deepEqual(table.rows.map(({ run_id }) => run_id), rows.map(({ run_id }) => run_id).reverse());
  for (const { run_id, selection, metric_metadata } of rows) {
    const row = table.rows.find((row) => row.run_id === run_id)!;
    assert.deepEqual(row.coordinates, selection);
    const counts = recordedRate({ metric_metadata: metric_metadata.evaluation }, "channel.ber")!;
    const expected = rateEstimate(counts, 0.95)!;
    const { mean, ci_low, ci_high, upper_bound } = row.metrics["channel.ber"];
    assert.deepEqual(
      [mean, ci_low, ci_high, upper_bound],
      [expected.mean, expected.low, expected.high, expected.bound ?? null].map((value) =>
        value === null ? null : float(value)
      ),
    );
  }
  const [head, first] = runsTableCsv(table).split("\n");
  assert.match(head, /^run_id,recipe_name,status,created_at_utc,modulation,snr_db,channel\.ber,channel\.ber\.ci_low,/);
  assert.match(first, /,qam16,60\.0,,,,0\.000/);
  assert.match(runsTableText(table, "md"), /\| qpsk \| 60 \| 0 errors in 4.000 bits: BER at most /);
  assert.match(runsTableText(table, "tex"), /qpsk & \$60\$ & 0 errors in 4\\,000 bits: BER at most \$/);
});

test("a table selects by a coordinate, a parameter or a metric, and names what it does not know", async (svc) => {
  const chosen = await svc.runs.table({
    recipe: "sweep",
    where: { modulation: "qpsk", "wireless_channel.snr_db": "0" },
  });
  assert.deepEqual(chosen.rows.map(({ recipe_name }) => recipe_name), ["sweep__modulation_qpsk__snr_db_0.0"]);
  const { metrics } = await svc.runs.table({ recipe: "sweep", metrics: ["channel.error_count"] });
  assert.deepEqual(metrics.map(({ id }) => id), ["channel.error_count"]);
  await assert.rejects(svc.runs.table({ recipe: "sweep", metrics: ["channel.bre"] }), {
    code: "usage_invalid",
    hint: "Did you mean channel.ber?",
  });
  await assert.rejects(svc.runs.table({ recipe: "swep" }), { code: "run_not_found", hint: "Did you mean sweep?" });
  await assert.rejects(svc.runs.table({ where: { modulation: "none" } }), { code: "usage_invalid" });
});

test("a figure of a sweep has a line for each modulation, and a changed parameter is a line of its own", async (svc) => {
  const drawn = await svc.runs.figure({ recipe: "sweep", x: "snr_db", y: "channel.ber" });
  const lines = (figure: unknown) =>
    (figure as CurveFigure).series.filter(({ kind }) => kind === "measured").map(({ label, points }) => ({
      label,
      x: points.map(({ x }) => x),
    }));
  assert.deepEqual(lines(drawn.figure), [
    { label: "sweep, qpsk", x: [0, 60] },
    { label: "sweep, qam16", x: [0, 60] },
  ]);
  assert.equal((drawn.figure as CurveFigure).series[0].points[1].y, null);
  assert.ok((drawn.figure as CurveFigure).series[0].points[1].bound! > 0);
  const record = parseJson(String(drawn.files[`${drawn.name}.plot.json`])) as { kind: string; runs: string[] };
  assert.equal(record.kind, "svc.runs_plot");
  assert.equal(record.runs.length, 4);

  for (const bits of [4000, 2000]) {
    await svc.recipes.runMatrix(link("changed", bits), { points: ["modulation=qpsk"] });
  }
  const both = await svc.runs.figure({ recipe: "changed", x: "wireless_channel.snr_db" });
  assert.deepEqual(lines(both.figure).map(({ label }) => label), [
    "changed, data.bit_count = 4000",
    "changed, data.bit_count = 2000",
  ]);
});

test("runs of one point with other seeds are replicates; a repeated one counts once", async (svc) => {
  for (const seed of [1, 2, 2]) {
    const { metadata, ...rest } = link("repeated", 1000, false);
    await svc.recipes.run({ ...rest, metadata: { ...metadata, seed } });
  }
  const { figure, runs } = await svc.runs.figure({ recipe: "repeated", x: "wireless_channel.snr_db" });
  assert.equal(runs.length, 2);
  assert.deepEqual((figure as CurveFigure).series[0].points.map(({ x, n }) => [x, n]), [[3, 2]]);
});

test("runs of one point that repeat an authored seed have no interval", async (svc) => {
  for (const [name, authored] of [["free", {}], ["frozen", { seed: 9 }]] as const) {
    for (const seed of [1, 2]) {
      const { metadata, steps, ...rest } = link(name, 1000, false);
      const noise = { ...steps[2], params: { ...steps[2].params, ...authored } };
      await svc.recipes.run({
        ...rest,
        metadata: { ...metadata, seed },
        steps: steps.map((step) => step.id === noise.id ? noise : step),
      });
    }
    const { figure } = await svc.runs.figure({ recipe: name, x: "wireless_channel.snr_db" });
    const [{ n, low }] = (figure as CurveFigure).series[0].points;
    assert.deepEqual([n, low === null], [2, name === "frozen"]);
  }
});

test("runs list finds variants by the name of their recipe and marks pruned runs", async (svc) => {
  const of = async (recipe: string) => (await svc.runs.list({ recipe })).map(({ recipe_name }) => recipe_name);
  assert.equal((await of("sweep")).length, 4);
  assert.deepEqual(await of("sweeper"), ["sweeper"]);
  const before = (await svc.runs.list({ recipe: "sweeper" }))[0];
  assert.equal(before.artifacts, "complete");
  await svc.runs.prune({ ids: [before.run_id] });
  const [pruned] = await svc.runs.list({ recipe: "sweeper" });
  assert.equal(pruned.artifacts, "pruned");
  assert.ok(pruned.size_bytes < before.size_bytes);
  // A table and a figure need the documents only.
  assert.equal((await svc.runs.table({ recipe: "sweeper" })).rows.length, 1);
  await svc.runs.restore(pruned.run_id);
  assert.deepEqual((await svc.runs.list({ recipe: "sweeper" }))[0], before);
});

test("plot writes the files", async (svc) => {
  const out = temporaryFolder("svc-plot-");
  const { files } = await svc.runs.plot({ recipe: "sweep", where: { modulation: "qpsk" }, out, name: "ber" });
  assert.deepEqual(
    files,
    "vl.json svg png csv caption.txt caption.tex plot.json".split(" ").map((end) => `ber.${end}`),
  );
  for (const name of files) assert.ok((await Deno.stat(join(out, name))).size > 100);
});

test("tables and plots take runs by id, and by the paths of bundles on the command line alone", async (svc) => {
  const folder = temporaryFolder("svc-bundles-");
  const rows = (await svc.runs.list({ recipe: "sweep" })).filter(({ recipe_name }) => /qpsk/.test(String(recipe_name)));
  const paths = rows.map(({ run_id }) => join(folder, run_id));
  for (const [at, { run_id }] of rows.entries()) {
    const { directory } = await svc.runs.show(run_id);
    await copyFolder(directory, paths[at]);
  }
  const byIds = await svc.runs.table({ runs: rows.map(({ run_id }) => run_id) });
  assert.deepEqual(byIds.rows.map(({ run_id }) => run_id), rows.map(({ run_id }) => run_id));
  assert.deepEqual(await svc.runs.table({ runs: paths, paths: true }), byIds);
  assert.deepEqual((await svc.runs.table({ runs: [paths[0], paths[0]], paths: true })).rows.length, 1);
  const request = { plot: "error-rate", x: "snr_db" } as const;
  const [mine, theirs] = [
    await svc.runs.figure({ ...request, runs: rows.map(({ run_id }) => run_id) }),
    await svc.runs.figure({ ...request, runs: paths, paths: true }),
  ];
  assert.deepEqual(theirs.files, mine.files);
  assert.deepEqual([...theirs.runs].sort(), rows.map(({ run_id }) => run_id).sort());
  await assert.rejects(svc.runs.table({ runs: paths }), { code: "run_not_found" });
  const twice = svc.runs.table({ runs: [rows[0].run_id, paths[0]], paths: true });
  await assert.rejects(twice, { code: "usage_invalid", message: /two bundles with the id/ });
  await assert.rejects(svc.runs.table({ runs: ["./nothing"], paths: true }), { code: "run_not_found" });
});

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyFolder(join(from, name), join(to, name));
    else await Deno.copyFile(join(from, name), join(to, name));
  }
}
