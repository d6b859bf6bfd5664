/** Benchmarks in the page: an adaptive pack counts its errors, and its result is a table of Es/N0 by method with gains in dB. */
import assert from "node:assert/strict";
import { float } from "../../lib/contract/value.ts";
import { gainOf, methodGrid, type Row, targetsOf } from "../../ui/pages/benchmarks/method_grid.ts";
import { liveFigure } from "../../ui/pages/benchmarks/live_figure.ts";
import type { StopProgress } from "../../ui/state/benchmarks.ts";
import { browserTest } from "./browser.ts";
import { LINK, press } from "./editor_scene.ts";

/** Rows of two methods with rates that fall by a decade in 2.5 dB, the second one 2 dB earlier. */
function twoMethods() {
  const made = [0, 5, 10].flatMap((snr_db) =>
    [0, 2].map((gain) => {
      const method = gain === 0 ? "plain" : "coded", rate = float(10 ** (-(snr_db + gain) / 2.5 - 0.5));
      const row = {
        id: `${method}@${snr_db}`,
        label: `${method}, snr_db=${snr_db}.0`,
        role: gain === 0 ? "baseline" : "candidate",
        method_id: method,
        baseline_id: null,
        recipe_path: "link.yaml",
        matrix_selection: { snr_db: float(snr_db), method },
        metrics: { "channel.ber": rate, "channel.ebn0_db": float(snr_db + (gain === 0 ? 0 : 3)) },
      };
      return { row, aggregate: { recipe_id: row.id, metric: "channel.ber", mean: rate } };
    })
  );
  // deno-lint-ignore no-explicit-any -- a result in the members that the grid reads
  return { recipes: made.map(({ row }) => row), aggregates: made.map(({ aggregate }) => aggregate) } as any;
}

Deno.test("methods stand along Es/N0, and their gain is the distance of their curves at a rate", () => {
  const result = twoMethods(), grid = methodGrid<Row>(result)!;
  assert.deepEqual([grid.coordinate, grid.places, grid.methods.map(({ name }) => name)], [
    "snr_db",
    [0, 5, 10],
    ["plain", "coded"],
  ]);
  // The one reaches 10^-0.5 to 10^-4.5 and the other 10^-1.3 to 10^-5.3: decades first, of which the smallest is the default.
  assert.deepEqual(targetsOf(result, grid, "channel.ber").slice(0, 5), [1e-4, 1e-3, 1e-2, 2e-4, 2e-3]);
  const [, coded] = grid.methods, wanted = { metric: "channel.ber", target: 1e-2 };
  assert.ok(Math.abs(gainOf(result, grid, coded, { ...wanted, axis: "Es/N0" })! - 2) < 1e-9);
  // Its bits cost 3 dB more: over Eb/N0 the gain is a loss of 1 dB.
  assert.ok(Math.abs(gainOf(result, grid, coded, { ...wanted, axis: "Eb/N0" })! + 1) < 1e-9);
  assert.equal(gainOf(result, grid, coded, { ...wanted, target: 1e-6, axis: "Es/N0" }), null);
});

Deno.test("a result without a channel condition has no such table", () => {
  const { recipes } = twoMethods();
  for (const row of recipes) row.matrix_selection = { quality: 75 };
  assert.equal(methodGrid({ recipes }), null);
});

Deno.test("the figure of a running pack has the points that are complete, in the order of the axis", () => {
  const { recipes } = twoMethods(), grid = methodGrid<Row>({ recipes })!;
  const progress = (replicates: number, mean: number | null, more: Partial<StopProgress> = {}): StopProgress => ({
    replicates,
    errors: null,
    trials: null,
    mean,
    ci_low: mean && mean / 2,
    ci_high: mean && mean * 2,
    upper_bound: null,
    ...more,
  });
  const matrix = { rows: new Map(), replicates: 10, resultId: null, ended: null };
  const figureAt = (known: readonly [string, StopProgress][]) =>
    liveFigure({ grid, metric: "channel.ber", entry: undefined, matrix: { ...matrix, progress: new Map(known) } });
  assert.equal(figureAt([["plain@0", progress(9, 0.1)]]), null);
  const figure = figureAt([
    ["coded@5", progress(3, null, { upper_bound: 1e-4, stop_reason: "max_bits" })],
    ["plain@5", progress(10, 0.01)],
    ["plain@0", progress(10, 0.1)],
    ["plain@10", progress(2, 0.001)],
  ])!;
  assert.deepEqual(
    figure.series.map(({ label, kind, points }) => [label, kind, points.map(({ x, y, low }) => [x, y, low])]),
    [["plain", "baseline", [[0, 0.1, 0.05], [5, 0.01, 0.005]]], ["coded", "measured", [[5, null, null]]]],
  );
  assert.deepEqual([figure.subtitle, figure.x.domain, figure.series[1].points[0].bound], [
    "3 of 6 points complete",
    [0, 10],
    1e-4,
  ]);
});

const RECIPE = LINK.replace("bit_count: 100, batch_size: 20", "bit_count: 400").replace(
  "ui_configured: true}",
  "matrix: {dimensions: {modulation: [qpsk, bpsk], snr_db: [0.0, 2.0, 4.0]}, step_params: {chan: {snr_db: {matrix: snr_db}}, " +
    "modulator: {modulation: {matrix: modulation}}}}}",
);
const PACK = `schema_version: 1
id: adaptive
version: "1"
name: Adaptive pack
dataset: {id: synthetic_random_bits, modality: bits, version: synthetic_random_bits-v1}
task: {id: bit_transport, kind: transport_integrity, modality: bits}
metrics: [channel.ber]
baselines: [qpsk]
replication: {base_seed: 23, confidence_level: 0.95, min_replicates: 10, until_errors: 40, max_bits: 1000000}
metadata: {benchmark_tier: smoke, channel_uses: unequal}
recipes:
  - {id: qpsk, label: QPSK, role: baseline, path: ../recipes/link.yaml, matrix: inherit, params: {method_id: qpsk, matrix_selection: {modulation: qpsk}}}
  - {id: bpsk, label: BPSK, role: candidate, path: ../recipes/link.yaml, matrix: inherit, params: {method_id: bpsk, matrix_selection: {modulation: bpsk}}}
`;

browserTest(
  "an adaptive pack shows errors on the way to its stop, then values, differences and gains",
  async (scene) => {
    const { page, open, shot } = scene;
    await open("#/benchmarks");
    const headings = page.getByRole("heading", { level: 2 });
    await headings.nth(1).waitFor();
    assert.deepEqual(await headings.allTextContents(), ["Results", "Packs"]);
    await page.getByRole("link", { name: "Adaptive pack" }).click();
    await page.getByText("until 40 errors or 1 000 000 trials of channel.ber, at least 10, at most 10 000").waitFor();
    await press(scene, "Run the pack");
    await page.getByRole("region", { name: "Figure" }).getByText("6 of 6 points complete").waitFor();
    await page.getByText("enough errors").nth(5).waitFor();
    await shot("benchmark_adaptive");
    assert.equal(await page.getByText(/waiting/).count(), 0);
    await page.getByText(/\d+ errors in [\d\s]+ \(40 wanted\)/).nth(5).waitFor();
    await page.getByRole("link", { name: "Open the result" }).click();
    const table = page.getByRole("group", { name: "Values by method" });
    await table.getByRole("columnheader", { name: "QPSK, baseline" }).waitFor();
    assert.equal(await table.getByRole("row").count(), 4);
    await table.getByText(/^p 0\.\d+/).first().waitFor();
    await table.getByText(/^[\d\s]+ of [\d\s]+$/).nth(5).waitFor();
    // At equal Es/N0 BPSK has 3 dB more for each bit: the gain is about that, and none over Eb/N0 where no run counts it.
    const gain = page.getByRole("row", { name: /^BPSK/ }).last();
    const text = await gain.textContent();
    assert.match(text!, /^BPSK\d+(\.\d+)? dB–$/);
    assert.ok(Math.abs(Number(/BPSK([\d.]+)/.exec(text!)![1]) - 3) < 1, text!);
    await shot("benchmark_result");
  },
  { files: { "recipes/link.yaml": RECIPE, "benchmarks/adaptive.yaml": PACK } },
);

browserTest(
  "a pack of fixed replicates shows its figure, and the value with interval of each recipe on the way",
  async (scene) => {
    const { page, open, shot } = scene;
    await open("#/benchmarks");
    await page.getByRole("link", { name: "Adaptive pack" }).click();
    await press(scene, "Run the pack");
    const figure = page.getByRole("region", { name: "Figure" });
    await figure.getByText("6 of 6 points complete").waitFor();
    const rows = page.getByRole("group", { name: "Recipes" }).getByRole("row");
    await rows.filter({ hasText: /3 of 3 replicates/ }).nth(5).waitFor();
    const first = await rows.nth(1).textContent();
    assert.match(first!, /[1-9]\d* errors in 1\s?200\d.*(\[|±)/u, first!);
    await shot("benchmark_fixed");
    // Another visit reads the events again.
    await page.reload();
    await figure.getByText("6 of 6 points complete").waitFor();
  },
  {
    files: {
      "recipes/link.yaml": RECIPE,
      "benchmarks/adaptive.yaml": PACK.replace(
        /replication: .*/,
        "replication: {base_seed: 23, replicates: 3, confidence_level: 0.95}",
      ),
    },
  },
);

const IMAGES = `schema_version: 1
name: images
execution_profile: {id: custom}
metadata: {seed: 23, rate_count_fixed_point: sender.bits}
steps:
  - {id: data, op: source.image_dataset, params: {dataset: svc_sample_images, image_ids: "coffee,chelsea", crop_size: 64}}
  - {id: sender, op: model.jpeg_encode, params: {wire_format: compact_binary_v1}, inputs: {images: data.images}}
  - {id: receiver, op: model.jpeg_decode, inputs: {bits: sender.bits}}
  - {id: evaluation, op: metrics.image_reconstruction, inputs: {reference: data.images, reconstruction: receiver.images}}
`;
const CURVES = `schema_version: 1
id: curves
version: "1"
name: Rate and distortion
dataset: {id: svc_sample_images}
task: {id: image_reconstruction}
metrics: [quality.psnr_db, rate.payload_bpp]
metadata:
  benchmark_tier: smoke
  channel_uses: unequal
  default_plot: {plot: rate-distortion, x: rate.payload_bpp, y: quality.psnr_db}
recipes:
${
  ["420", "444"].flatMap((subsampling) =>
    [20, 50, 80].map((quality) =>
      `  - {id: s${subsampling}_${quality}, label: "${subsampling}, quality ${quality}", role: candidate, path: ../recipes/images.yaml, params: {method_id: s${subsampling}, step_params: {sender: {subsampling: "${subsampling}", quality: ${quality}}}}}`
    )
  ).join("\n")
}
`;

browserTest(
  "a rate-distortion result has the mean differences of its curves from any one of them",
  async (scene) => {
    const { page, open, shot } = scene;
    await open("#/benchmarks");
    await page.getByRole("link", { name: "Rate and distortion" }).click();
    await press(scene, "Run the pack");
    await page.getByRole("link", { name: "Open the result" }).click();
    const table = page.getByRole("group", { name: "Mean differences of the curves" });
    await table.getByRole("columnheader", { name: "BD-PSNR (dB)" }).waitFor();
    const row = async (method: string) => {
      const found = table.getByRole("row", { name: new RegExp(`^${method}`) });
      await found.waitFor();
      return await found.locator("th, td").allTextContents();
    };
    const [, rate, single] = await row("s444");
    assert.ok(Math.abs(Number(rate.replace("−", "-"))) > 1, rate);
    assert.match(single, /\[.*\] of 2 items|± .* of 2 items/);
    await page.getByRole("combobox", { name: "from" }).selectOption("444");
    const [, inverse] = await row("s420");
    const back = 1 / (1 + Number(rate.replace("−", "-")) / 100) - 1;
    assert.ok(Math.abs(Number(inverse.replace("−", "-")) / 100 - back) < 0.01, `${rate} ${inverse}`);
    await scene.checkAccessibility();
    await table.scrollIntoViewIfNeeded();
    await shot("benchmark_curves");
  },
  { files: { "recipes/images.yaml": IMAGES, "benchmarks/curves.yaml": CURVES } },
);
