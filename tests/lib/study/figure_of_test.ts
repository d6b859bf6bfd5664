import assert from "node:assert/strict";
import { confusionOf } from "../../../lib/figure/confusion_of.ts";
import { benchmarkFigure } from "../../../lib/study/report/figure/figure_of.ts";
import { NO_EVIDENCE, type PlotRequest, type RowEvidence } from "../../../lib/study/report/figure/types.ts";
import { exportTexts } from "../../../lib/study/report/export.ts";
import { plotFiles } from "../../../lib/study/report/plot_files.ts";
import { publishPage } from "../../../lib/study/report/publish.ts";
import type { BenchmarkResult } from "../../../lib/study/pack/types.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { asObject, parseJson } from "../../../lib/contract/json.ts";
import { float, type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { figureCsv } from "../../../lib/figure/figure_csv.ts";
import { pgfplots } from "../../../lib/figure/pgfplots.ts";
import { figureSpec } from "../../../lib/figure/spec.ts";
import { STYLES } from "../../../lib/figure/style.ts";
import type { BarFigure, BoxFigure, CurveFigure, HeatFigure, MatrixFigure } from "../../../lib/figure/types.ts";
import { errorRateResult, linkRecipe, LINKS, qualityResult, resultOf } from "./result_fixture.ts";

const SHA = "5a".repeat(32);
const ERRORS = errorRateResult();
const QUALITY = qualityResult();

const EVIDENCE: RowEvidence = {
  recipe: (row) => {
    const link = LINKS.find(({ method }) => method === row.method_id)!;
    return linkRecipe(link.modulation, link.channel, toNumber(row.matrix_selection.snr_db as number));
  },
  reports: () => [],
};

const curves = (result: BenchmarkResult, request: PlotRequest = {}, evidence = NO_EVIDENCE) =>
  benchmarkFigure(result, SHA, request, evidence).figure as CurveFigure;
const labels = (figure: CurveFigure) => figure.series.map(({ label }) => label);

Deno.test("error rates: one series a method, baselines marked, points without errors as bounds", () => {
  const { figure, plot, x, y } = benchmarkFigure(ERRORS, SHA);
  assert.deepEqual([plot, x, y], ["error-rate", "channel.snr_db", "channel.ber"]);
  const drawn = figure as CurveFigure;
  assert.deepEqual(labels(drawn), ["qpsk_awgn", "qam16_awgn", "qpsk_rayleigh"]);
  assert.deepEqual(drawn.series.map(({ kind }) => kind), ["measured", "measured", "baseline"]);
  const last = drawn.series[0].points.at(-1)!;
  const bound = 3 / 25_000;
  const none = { unit: "bit", units: 25_000, bound, complement: false, confidence: 0.95 };
  assert.deepEqual(last, { x: 12, y: null, low: null, high: null, bound, n: 5, none });
  const first = drawn.series[0].points[0];
  assert.ok(first.low! < first.y! && first.y! < first.high!);
  assert.deepEqual(drawn.source.result_sha256, SHA);
});

Deno.test("curves show any metric over any coordinate, error rates on a logarithmic axis", () => {
  const of = (result: BenchmarkResult, request: PlotRequest) => curves(result, { plot: "curves", ...request });
  const rates = of(ERRORS, { y: "channel.ber" }), asked = curves(ERRORS, { y: "channel.ber" });
  assert.deepEqual([rates.y, rates.series], [asked.y, asked.series]);
  assert.equal(of(QUALITY, { y: "quality.psnr_db" }).y.scale, "linear");
  assert.equal(of(QUALITY, {}).y.title, curves(QUALITY, { y: QUALITY.benchmark.metrics[0].id }).y.title);
});

Deno.test("a caption names what the intervals are over", () => {
  assert.match(curves(ERRORS).subtitle, / · 95 % intervals over bits$/);
  assert.match(curves(qualityResult(5), { y: "quality.psnr_db" }).subtitle, / · 95 % intervals over replicates$/);
  const aggregates = ERRORS.aggregates.map((row) =>
    row.recipe_id.startsWith("qpsk_rayleigh") ? { ...row, unit: "fading_block" as const } : row
  );
  const fading = { ...ERRORS, aggregates };
  assert.match(curves(fading).subtitle, /over bits and fading blocks$/);
  const awgn = fading.recipes.map(({ id }) => id).filter((id) => !id.startsWith("qpsk_rayleigh"));
  assert.match(curves(fading, { recipes: awgn }).subtitle, / · 95 % intervals over bits$/, "only of what is drawn");
});

Deno.test("intervals over items average the replicates of an item first", () => {
  const metric = "quality.psnr_db", result = qualityResult(2);
  const [first] = result.recipes, values = [[30, 34], [32, 40], [28, 32]];
  const recipes = result.recipes.map((row) =>
    row.id !== first.id ? row : {
      ...row,
      item_metrics: {
        [metric]: Object.fromEntries(values.map((pair, item) => [`i${item}`, float(pair[Number(row.replicate)])])),
      },
    }
  );
  const drawn = curves({ ...result, recipes }, { y: metric, intervals: "items" });
  const valued = ({ series }: CurveFigure) => series.flatMap(({ points }) => points).filter(({ y }) => y !== null);
  const points = valued(drawn);
  assert.equal(points.length, 1, "recipes without values of items have none");
  // Means of the items 32, 36, 30; Student's factor of two degrees of freedom.
  const mean = 98 / 3,
    reach = 4.302652729911275 * Math.sqrt(((32 - mean) ** 2 + (36 - mean) ** 2 + (30 - mean) ** 2) / 2 / 3);
  const [{ y, low, high, n }] = points;
  assert.ok(
    Math.abs(y! - mean) < 1e-12 && Math.abs(low! - mean + reach) < 1e-9 && Math.abs(high! - mean - reach) < 1e-9,
  );
  assert.equal(n, 3);
  assert.match(drawn.subtitle, /95 % intervals over source items$/);
  assert.ok(valued(curves(result, { y: metric })).length > 1);
});

Deno.test("theory stands beside a link that it is about, and beside no other", () => {
  assert.deepEqual(labels(curves(ERRORS, {}, EVIDENCE)).slice(3), [
    "Theory: QPSK, AWGN",
    "Theory: 16QAM, AWGN",
    "Theory: QPSK, Rayleigh",
  ]);
  const markersOnly = curves(ERRORS, {}, EVIDENCE).series.filter(({ joined }) => joined === false);
  assert.ok(markersOnly.length > 0 && markersOnly.every(({ kind }) => kind !== "theory"), "theory is the line");
  assert.equal(curves(ERRORS).series.length, 3, "unknown recipes have no theory");
  const changed = (change: (recipe: JsonObject) => void): RowEvidence => ({
    ...EVIDENCE,
    recipe: (row) => {
      const recipe = EVIDENCE.recipe(row)!;
      change(recipe);
      return recipe;
    },
  });
  const modulator = (recipe: JsonObject) => (recipe.steps as { params: JsonObject }[])[1];
  const other = changed((recipe) => modulator(recipe).params.modulation = "psk8");
  assert.equal(curves(ERRORS, {}, other).series.length, 3, "a modulation without a closed form here");
});

Deno.test("lost images are marked where nothing came through", () => {
  const figure = curves(QUALITY, { plot: "graceful-degradation" });
  const digital = figure.series.find(({ label }) => label === "jpeg_ldpc")!;
  assert.deepEqual(digital.points[0], { x: -2, y: null, low: null, high: null, outage: 1 });
  assert.ok(digital.points.some(({ y, outage }) => y !== null && outage === 0.25));
  assert.equal(figure.y.unit, "dB");
  assert.equal(figure.lost, true);
  const { vconcat: [{ vconcat: [, share] }] } = figureSpec(figure, STYLES.ieee) as unknown as {
    vconcat: { vconcat: { data: { values: { series: string; x: number; outage: number }[] } }[] }[];
  };
  const shares = share.data.values.filter(({ series }) => series === "jpeg_ldpc").map(({ outage }) => outage);
  assert.deepEqual(shares, [1, 1, 1, 0.25, 0, 0, 0, 0]);
  assert.ok(pgfplots(figure, STYLES.ieee)!.includes("(-2,1) (1,1) (4,1) (7,0.25) (10,0)"));
  assert.equal(curves(QUALITY, { plot: "graceful-degradation", recipes: ["deepjscc_0.5_10db"] }).lost, undefined);
});

Deno.test("rate and distortion: the front is that of cost and quality, and says what it mixes", () => {
  const figure = curves(QUALITY, { plot: "rate-distortion" });
  assert.match(figure.subtitle, /Es\/N0 from −2 to 19 dB together/);
  const one = curves(QUALITY, { plot: "rate-distortion", where: { snr_db: 13 } });
  assert.doesNotMatch(one.subtitle, /together/);
  assert.equal(one.front, "after");
  const front = one.series.filter(({ points }) => points.some((point) => point.front)).map(({ label }) => label);
  assert.deepEqual(front, ["deepjscc_0.25", "deepjscc_0.5", "deepjscc_0.75"]);
});

Deno.test("rate, distortion and perception: the rate stands beside each point, in every form", () => {
  const score = "channel.outage_rate", request = { plot: "rate-distortion-perception", y: score } as const;
  const { figure, x, value } = benchmarkFigure(QUALITY, SHA, request), drawn = figure as CurveFigure;
  assert.deepEqual([x, value], ["quality.psnr_db", "channel.uses_per_pixel"]);
  // Much of the one and little of the other are both better.
  assert.equal(drawn.front, "before");
  const [label] = drawn.series.find((one) => one.label === "deepjscc_0.25")!.points.map((point) => point.label);
  assert.equal(label, "0.25");
  assert.match(drawn.subtitle, /beside the points: channel uses of a pixel in/);
  assert.ok(JSON.stringify(figureSpec(drawn, STYLES.ieee)).includes('"label":"0.25"'));
  assert.match(pgfplots(drawn, STYLES.ieee)!, /\\node\[[^\]]*\] at \(axis cs:[^)]*\) \{0\.25\};/);
  const [head, first] = figureCsv(drawn).split(/\r?\n/);
  assert.ok(head.endsWith(",label") && /,0\.\d+$/.test(first));
  const bits = curves(QUALITY, { ...request, value: "channel.channel_use_count" });
  assert.notEqual(bits.series[0].points[0].label, drawn.series[0].points[0].label);
  assert.throws(() => curves(QUALITY, { ...request, value: "rate.nothing" }), { code: "usage_invalid" });
});

Deno.test("packet success, channel uses and distributions", () => {
  assert.deepEqual(curves(QUALITY, { plot: "packet-success" }).y.domain, [0, 1]);
  const bars = benchmarkFigure(QUALITY, SHA, { plot: "channel-uses", y: "channel.uses_per_pixel" }).figure as BarFigure;
  assert.deepEqual(bars.bars.map(({ value }) => value), [0.5, 0.4, 0.25, 0.5, 0.75]);
  assert.doesNotMatch(bars.subtitle, /%/, "what never varies has no interval");
  const cdf = curves(QUALITY, { plot: "cdf", y: "quality.psnr_db", where: { snr_db: 19 } });
  const { points } = cdf.series[0];
  assert.deepEqual(points.map(({ y }) => y), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.ok(points.every(({ low, high, y }) => low! <= y! && y! <= high!));
});

Deno.test("a distribution is that of the items where each row tells them apart", () => {
  const request = { plot: "cdf", y: "quality.psnr_db", recipes: ["deepjscc_0.5_10db"] } as const;
  const item = (value: number) => ({ id: "x", metrics: { "quality.psnr_db": value } });
  const report: JsonObject = { items: [item(30.5), item(31.5)] };
  const itemized = curves(QUALITY, request, { recipe: () => null, reports: () => [report, { items: [] }] });
  assert.equal(itemized.y.title, "Share of items at or below");
  assert.deepEqual(itemized.series[0].points.map(({ x, y, n }) => [x, y, n]), [[30.5, 0, 10], [30.5, 0.5, 10], [
    31.5,
    1,
    10,
  ]]);
  const tied: JsonObject = { items: [item(30.5), item(30.5), item(30.5), item(31.5)] };
  const { points } = curves(QUALITY, request, { recipe: () => null, reports: () => [tied] }).series[0];
  assert.deepEqual(points.map(({ x, y }) => [x, y]), [[30.5, 0], [30.5, 0.75], [31.5, 1]], "equal values are one step");
  const twice = curves(QUALITY, request, { recipe: () => null, reports: () => [report, report] });
  assert.equal(twice.y.title, "Share of rows at or below", "two reports say two things");
});

Deno.test("confusion matrices are added up over the rows", () => {
  const report: JsonObject = { class_names: ["a", "b"], confusion_matrix: [[3, 1], [0, 4]] };
  const evidence: RowEvidence = { recipe: () => null, reports: () => [{ other: 1 }, report] };
  const request = { plot: "confusion-matrix", recipes: ["deepjscc_0.5_10db"] } as const;
  const figure = benchmarkFigure(QUALITY, SHA, request, evidence).figure as MatrixFigure;
  assert.deepEqual([figure.labels, figure.counts], [["a", "b"], [[15, 5], [0, 20]]]);
  assert.throws(() => benchmarkFigure(QUALITY, SHA, request), { code: "usage_invalid" });
  assert.deepEqual(confusionOf({ confusion_matrix: { labels: ["x"], counts: [[float(2)]] } }), {
    labels: ["x"],
    counts: [[2]],
  });
  assert.equal(confusionOf({ confusion_matrix: [[1, 2]] }), null);
});

Deno.test("confusion matrices stand side by side: a row a method, a column an SNR bin in ascending order", () => {
  const bin = (low: number, hits: number) => ({
    snr_low_db: float(low),
    snr_high_db: float(low + 2),
    confusion_matrix: [[hits, 0], [0, hits]],
  });
  const report: JsonObject = {
    class_names: ["a", "b"],
    confusion_matrix: [[5, 0], [0, 5]],
    snr_bins: [bin(8, 3), bin(-2, 2)],
  };
  const evidence: RowEvidence = { recipe: () => null, reports: () => [report] };
  const recipes = ["deepjscc_0.5_10db", "deepjscc_0.25_10db"];
  const figure = benchmarkFigure(QUALITY, SHA, { plot: "confusion-matrix", recipes }, evidence).figure as MatrixFigure;
  const panels = figure.panels!.map(({ row, column, counts }) => [row, column, counts[0][0]]);
  assert.deepEqual(panels.map(([, column]) => column), ["−2 to 0 dB", "8 to 10 dB", "−2 to 0 dB", "8 to 10 dB"]);
  assert.equal(new Set(panels.map(([row]) => row)).size, 2);
  // Every replicate is added up.
  assert.deepEqual(panels.slice(0, 2).map(([, , hits]) => hits), [10, 15]);
  assert.equal(figure.counts[0][0], 50);
  const csv = figureCsv(figure).split("\n");
  assert.equal(csv[0], "series,condition,true_class,predicted_class,count,share_of_true_class");
  assert.equal(csv.length, 1 + 4 * 4 + 1);
  const spec = JSON.stringify(figureSpec(figure, STYLES.svc));
  assert.ok(spec.includes('"sort":["−2 to 0 dB","8 to 10 dB"]'), "columns in the order of the SNR");
});

Deno.test("a bound is drawn as theory over the places of the methods, and stretches the axis", () => {
  const result = resultOf(
    ["a", "b"].flatMap((method) =>
      [0, 10].map((snr) => ({
        id: `${method}_${snr}`,
        label: `Method ${method}, ${snr} dB`,
        method,
        selection: { snr_db: float(snr) },
        metrics: () => ({ "aoa.rmse_deg": 5, "aoa.cramer_rao_rmse_deg": 10 ** (-snr / 10) }),
      }))
    ),
    ["aoa.rmse_deg"],
  );
  const request = { plot: "error-rate", x: "snr_db", y: "aoa.rmse_deg", bound: "aoa.cramer_rao_rmse_deg" } as const;
  const { series } = curves(result, request);
  assert.deepEqual(series.map(({ label }) => label), ["Method a", "Method b", "Cramér-Rao bound of the angle RMSE"]);
  assert.deepEqual(series[2].points.map(({ x, y, low }) => [x, y, low]), [[0, 1, null], [10, 0.1, null]]);
  assert.deepEqual([series[2].kind, series[2].whole], ["theory", true]);
  assert.throws(() => curves(result, { ...request, bound: "aoa.nothing" }), { code: "usage_invalid" });
  result.benchmark.metadata.default_plot = { ...request };
  assert.equal(curves(result).series.length, 3);
  assert.equal(curves(result, { bound: "" }).series.length, 2);
});

Deno.test("series by role, recipe or value, in the order asked for", () => {
  assert.deepEqual(labels(curves(ERRORS, { methodOrder: ["qpsk_rayleigh"] })), [
    "qpsk_rayleigh",
    "qpsk_awgn",
    "qam16_awgn",
  ]);
  assert.equal(labels(curves(ERRORS, { group: "recipe" })).length, 21);
  assert.deepEqual(labels(curves(ERRORS, { group: "metric:snr_db", recipes: ["qpsk_awgn_0db", "qpsk_awgn_2db"] })), [
    "snr_db = 0 dB",
    "snr_db = 2 dB",
  ]);
  assert.throws(() => curves(ERRORS, { group: "role" }), /Cannot draw candidate as one line/);
  assert.throws(() => curves(ERRORS, { group: "colour" }), { code: "usage_invalid" });
  assert.throws(() => curves(ERRORS, { methodOrder: ["nothing"] }), /Cannot order nothing/);
});

Deno.test("a method that was measured twice at one place is told apart by what else differs", () => {
  const twice = resultOf(
    ["awgn", "flat_rayleigh"].flatMap((channel) =>
      [0, 6].map((snr) => ({
        id: `${channel}_${snr}`,
        method: "uncoded",
        selection: { channel, repetition: 1, snr_db: float(snr) },
        metrics: () => ({ "channel.ber": 0.1, "channel.snr_db": float(snr) }),
      }))
    ),
    ["channel.ber"],
  );
  assert.deepEqual(labels(curves(twice)), ["uncoded, awgn", "uncoded, flat_rayleigh"]);
  assert.deepEqual(labels(curves(twice, { where: { channel: "awgn" } })), ["uncoded"]);
  assert.throws(
    () => curves(twice, { where: { channel: "rician" } }),
    (error: { hint?: string }) => error.hint === "channel takes the values awgn, flat_rayleigh",
  );
});

Deno.test("what a result does not have is refused with what it has", () => {
  assert.throws(
    () => curves(ERRORS, { y: "channel.berr" }),
    (error: { code?: string; hint?: string }) =>
      error.code === "usage_invalid" && error.hint === "Did you mean channel.ber?",
  );
  assert.throws(
    () => curves(ERRORS, { x: "channel.ebn0_db" }),
    (error: { hint?: string }) =>
      error.hint?.startsWith("Add the step channel.communication_resource_accounting") ?? false,
  );
  assert.throws(() => curves(ERRORS, { plot: "packet-success" }), { code: "usage_invalid" });
  assert.throws(() => curves(ERRORS, { recipes: ["nothing"] }), /Cannot plot nothing/);
});

Deno.test("a pack says what to plot", () => {
  const default_plot = { plot: "rate-distortion", x: "channel.channel_use_count" };
  const asked = { ...QUALITY, benchmark: { ...QUALITY.benchmark, metadata: { default_plot } } };
  const { plot, x, y } = benchmarkFigure(asked, SHA);
  assert.deepEqual([plot, x, y], ["rate-distortion", "channel.channel_use_count", "quality.psnr_db"]);
  assert.equal(benchmarkFigure(asked, SHA, { plot: "graceful-degradation" }).x, "channel.snr_db");
});

Deno.test("an incomplete result is drawn and exported with a mark, and not published", async () => {
  const [first, ...others] = errorRateResult().recipes;
  const recipes = [first, { ...others[0], status: "failed" as const }];
  for (const status of ["running", "incomplete", "failed"] as const) {
    const result = { ...ERRORS, status, recipes }, mark = "incomplete: 1 of 105 rows";
    const evidence = { ...NO_EVIDENCE, planned: 105 };
    const { files, name } = await plotFiles(result, SHA, {}, { style: STYLES.ieee, format: ["svg", "pgf"], evidence });
    const texts = Object.fromEntries(
      Object.entries(files).map(([file, text]) => [file.slice(name.length + 1), String(text)]),
    );
    assert.match(texts.svg, new RegExp(`<text[^>]*>${mark}</text>`));
    assert.ok(texts.pgf.includes(`title={${mark}}`));
    assert.ok(texts["caption.txt"].includes("\nIncomplete: 1 of 105 rows.\n"));
    assert.equal(asObject(parseJson(texts["plot.json"])).status, mark);
    const tables = exportTexts(result, 105);
    assert.ok(tables["summary.tex"].includes(`Results of demo (${mark}).`));
    assert.ok(tables["summary.md"].includes("\nIncomplete: 1 of 105 rows.\n"));
    await assert.rejects(publishPage(result, SHA), { code: "benchmark_incomplete" });
  }
  assert.equal(curves(ERRORS).mark, undefined);
  const stopped = { ...ERRORS, status: "incomplete" as const };
  stopped.replication = { ...stopped.replication!, stop_metric: "channel.ber" };
  assert.equal(curves(stopped, {}, { ...NO_EVIDENCE, planned: 200 }).mark, "incomplete: 105 of at most 200 rows");
});

Deno.test("the record of a plot binds its files to the result", async () => {
  const { files, name } = await plotFiles(ERRORS, SHA, {}, { style: STYLES.compact, evidence: EVIDENCE });
  assert.equal(name, "error-rate_channel.ber_compact");
  const record = asObject(parseJson(files[`${name}.plot.json`] as string));
  assert.equal(record.kind, "svc.benchmark_plot");
  assert.equal(record.result_sha256, SHA);
  assert.deepEqual([record.plot, record.x, record.y, record.group], [
    "error-rate",
    "channel.snr_db",
    "channel.ber",
    "method",
  ]);
  assert.equal((record.theory as string[]).length, 3);
  const bound = record.files as { [name: string]: { sha256: string } };
  assert.deepEqual(
    Object.keys(bound),
    [".vl.json", ".svg", ".png", ".csv", ".caption.txt", ".caption.tex"].map((ending) => name + ending),
  );
  for (const [file, { sha256 }] of Object.entries(bound)) assert.equal(sha256Hex(files[file]), sha256, file);
  const again = await plotFiles(ERRORS, SHA, {}, { style: STYLES.compact, evidence: EVIDENCE });
  assert.deepEqual(again.files, files);
});

Deno.test("a page needs nothing but itself and trusts no name", async () => {
  const hostile: BenchmarkResult = {
    ...ERRORS,
    benchmark: { ...ERRORS.benchmark, name: '<script>alert("x")</script>' },
    recipes: ERRORS.recipes.map((row) => ({ ...row, label: `<img src=x> ${row.id}` })),
  };
  const page = await publishPage(hostile, SHA, EVIDENCE);
  assert.equal(await publishPage(hostile, SHA, EVIDENCE), page);
  assert.doesNotMatch(page, /<script|<img|<link|<iframe|@import|url\((?!data:|#)/);
  const addresses = [...page.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, address]) => address);
  assert.deepEqual(addresses.filter((address) => !address.startsWith("#")), []);
  assert.match(page, /Content-Security-Policy" content="default-src 'none'/);
  assert.ok(page.includes(SHA) && page.includes(hostile.benchmark.sha256));
  const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  assert.equal(new Set(ids).size, ids.length, "every name is given once");
  for (const [, id] of page.matchAll(/url\(#([^)]*)\)/g)) assert.ok(ids.includes(id), id);
  assert.match(page, /<th scope="row">/);
  assert.match(page, /role="img"/);
});

Deno.test("series and axes take names and units of the reader", () => {
  const plain = benchmarkFigure(ERRORS, SHA).figure as CurveFigure;
  const [first] = plain.series.filter(({ kind }) => kind !== "theory");
  const named = benchmarkFigure(ERRORS, SHA, {
    label: { [first.label]: "Proposed" },
    units: { "channel.snr_db": "dB re 1" },
  }).figure as CurveFigure;
  assert.deepEqual(named.series[plain.series.indexOf(first)], { ...first, label: "Proposed" });
  assert.deepEqual([named.x.unit, named.y.unit], ["dB re 1", plain.y.unit]);
  const wrong = (request: PlotRequest, message: RegExp) =>
    assert.throws(() => benchmarkFigure(ERRORS, SHA, request), { code: "usage_invalid", message });
  wrong({ label: { nothing: "x" } }, /rename nothing/);
  wrong({ units: { "rate.payload_bpp": "bit" } }, /rate.payload_bpp a unit/);
});

Deno.test("a plot is written in the wanted forms, each bound by its record", async () => {
  const { files, name } = await plotFiles(ERRORS, SHA, { label: {} }, { format: ["pgf", "pdf"], evidence: EVIDENCE });
  assert.deepEqual(
    Object.keys(files),
    [".vl.json", ".pdf", ".pgf", ".csv", ".caption.txt", ".caption.tex", ".plot.json"].map((end) => name + end),
  );
  const record = asObject(parseJson(files[`${name}.plot.json`] as string));
  assert.deepEqual(Object.keys(record.files as object).length, 6);
  assert.ok(!("label" in record));
  const gif = plotFiles(ERRORS, SHA, {}, { format: ["gif" as "png"] });
  await assert.rejects(gif, { code: "usage_invalid", message: /gif/ });
});

/** Two methods over two places, with replicates that differ by known amounts. */
const PAIRS = resultOf(
  ["plain", "coded"].flatMap((method) =>
    [0, 4].map((snr) => ({
      id: `${method}_${snr}`,
      label: `${method[0].toUpperCase()}${method.slice(1)} link, ${snr} dB`,
      method,
      role: method === "plain" ? "baseline" : "candidate",
      selection: { snr_db: float(snr), repetition: method === "plain" ? 1 : 3 },
      metrics: (replicate: number) => ({
        "quality.psnr_db": float(20 + snr + replicate ** 2 + (method === "coded" ? 1 + replicate + snr / 4 : 0)),
      }),
    }))
  ),
  ["quality.psnr_db"],
  3,
);

Deno.test("differences are those of pairs at one place, with the interval of the pairs", () => {
  const request = { plot: "difference", x: "snr_db", y: "quality.psnr_db" } as const;
  const figure = curves(PAIRS, request);
  assert.deepEqual(labels(figure), ["Coded link"]);
  assert.deepEqual(figure.guides, [{ axis: "y", at: 0, label: "Plain link", whole: true }]);
  assert.equal(figure.y.title, "Difference in PSNR");
  // Differences of 1, 2 and 3 dB, and 1 dB more at 4 dB: the spread of the replicates themselves cancels.
  const reach = 4.302652729911275 / Math.sqrt(3);
  figure.series[0].points.forEach(({ x, y, low, high, n }, i) => {
    assert.deepEqual([x, n], [4 * i, 3]);
    for (const [value, wanted] of [[y!, 2 + i], [low!, 2 + i - reach], [high!, 2 + i + reach]]) {
      assert.ok(Math.abs(value - wanted) < 1e-9, `${value} for ${wanted}`);
    }
  });
  assert.match(figure.subtitle, / · 95 % intervals over pairs of replicates · each minus Plain link$/);
  for (const baseline of ["coded", "Coded link", "3", "repetition=3"]) {
    const [{ label, points }] = curves(PAIRS, { ...request, baseline }).series;
    assert.deepEqual([label, Math.round(points[0].y!)], ["Plain link", -2], baseline);
  }
});

Deno.test("an unknown or ambiguous baseline is refused with the choices", () => {
  const refused = (result: BenchmarkResult, request: PlotRequest, message: RegExp, hint: RegExp) =>
    assert.throws(
      () => curves(result, { plot: "difference", y: "quality.psnr_db", x: "snr_db", ...request }),
      (error: { code?: string; message: string; hint?: string }) =>
        error.code === "usage_invalid" && message.test(error.message) && hint.test(error.hint!),
    );
  refused(PAIRS, { baseline: "nothing" }, /no series has this name/, /one of: plain, coded$/);
  refused(PAIRS, { where: { repetition: 3 } }, /differences of one series/, /--group/);
  refused(QUALITY, { x: "channel.snr_db" }, /the pack names 2 series/, /jpeg_ldpc, jpeg_oracle/);
});

Deno.test("a heat map has a cell for each pair of places, and refuses two recipes in one", () => {
  const request = { plot: "heat-map", value: "channel.ber", where: { method: "qpsk_awgn" } } as const;
  const speeds = [30, 5];
  const moved = (result: BenchmarkResult): BenchmarkResult => ({
    ...result,
    recipes: speeds.flatMap((speed) =>
      result.recipes.map((row) => ({
        ...row,
        id: `${row.id}_${speed}`,
        matrix_selection: { ...row.matrix_selection, speed },
      }))
    ),
    aggregates: speeds.flatMap((speed) =>
      result.aggregates.map((row) => ({ ...row, recipe_id: `${row.recipe_id}_${speed}` }))
    ),
  });
  const result = moved(ERRORS), outcome = benchmarkFigure(result, SHA, request), figure = outcome.figure as HeatFigure;
  assert.deepEqual([outcome.x, outcome.y, outcome.value], ["snr_db", "speed", "channel.ber"]);
  assert.deepEqual([figure.columns, figure.rows], [["0", "2", "4", "6", "8", "10", "12"], ["5", "30"]]);
  assert.deepEqual([figure.cells.length, figure.value.scale], [14, "log"]);
  const silent = figure.cells.find(({ column, row }) => column === 6 && row === 0)!;
  assert.deepEqual([silent.value, silent.bound], [null, 3 / 25_000]);
  assert.equal(figureCsv(figure).split("\n").length, 1 + 14 + 1);
  assert.throws(() => benchmarkFigure(result, SHA, { ...request, where: {} }), { message: /two recipes in one cell/ });
  assert.throws(() => benchmarkFigure(ERRORS, SHA, request), { message: /two dimensions/ });
  assert.throws(() => benchmarkFigure(result, SHA, { ...request, y: "nothing" }), { message: /over nothing/ });
});

Deno.test("boxes follow the rule of Tukey", () => {
  const item = (value: number) => ({ id: "x", metrics: { "quality.psnr_db": float(value) } });
  const report: JsonObject = { items: [1, 2, 3, 4, 5, 6, 7, 8, 30].map(item) };
  const evidence = { recipe: () => null, reports: () => [report] };
  const request = { plot: "box", y: "quality.psnr_db", recipes: ["deepjscc_0.5_10db"] } as const;
  const one = { ...QUALITY, recipes: QUALITY.recipes.filter(({ replicate }) => replicate === 0) };
  const figure = benchmarkFigure(one, SHA, request, evidence).figure as BoxFigure;
  // Quartiles 3 and 7: the whisker reaches at most 13.
  const box = { series: "deepjscc_0.5", place: "", n: 9, low: 1, q1: 3, median: 5, q3: 7, high: 8, outliers: [30] };
  assert.deepEqual([figure.boxes, figure.x], [[box], null]);
  assert.match(figure.subtitle, /of items · whiskers to the farthest value within 1\.5 interquartile ranges/);
  assert.equal(figureCsv(figure).split("\n")[1], "deepjscc_0.5,,9,1,3,5,7,8,30");
  const along = benchmarkFigure(one, SHA, { plot: "box", y: "quality.psnr_db", x: "snr_db" }, evidence).figure;
  assert.deepEqual((along as BoxFigure).places, ["-2", "1", "4", "7", "10", "13", "16", "19"]);
});

Deno.test("a caption has runs, replicates, intervals, units, signs and digests", async () => {
  const captionOf = async (result: BenchmarkResult, request: PlotRequest) => {
    const { files, name } = await plotFiles(result, SHA, request, { format: ["svg"] });
    return [files[`${name}.caption.txt`], files[`${name}.caption.tex`]].map(String);
  };
  const errors = errorRateResult();
  errors.recipes.filter(({ id }) => id === "qpsk_awgn_0db").forEach((row) =>
    row.semantic_recipe_sha256 = "12".repeat(32)
  );
  const [text, tex] = await captionOf(errors, { where: { method: "qpsk_awgn" } });
  assert.equal(
    text,
    [
      "Bit error rate over Es/N0.",
      "Demonstration, version 1.2.0; 5 replicates; 95 % intervals over bits.",
      "7 recipes of 5 replicates, 35 runs.",
      "Method of the intervals: Wilson.",
      "Arrows are upper bounds of rates of which no event was seen.",
      "Axes: Es/N0 in dB, Bit error rate.",
      `Result 20260101T000000Z_demo, SHA-256 ${SHA}.`,
      "",
      "Recipes, SHA-256 without names and seeds where the result has it:",
      ...[0, 2, 4, 6, 8, 10, 12].map((snr) => `${(snr === 0 ? "12" : "ab").repeat(32)}  qpsk_awgn_${snr}db`),
      "",
    ].join("\n"),
  );
  assert.ok(
    tex.startsWith(
      "\\caption{Bit error rate over $E_\\mathrm{s}/N_0$. Demonstration, version 1.2.0; 5 replicates; 95 \\% ",
    ),
  );
  assert.ok(
    tex.includes(`20260101T000000Z\\_demo, SHA-256 \\texttt{${SHA.slice(0, 12)}}.}\n% SHA-256 of the result ${SHA}\n`),
  );
  assert.ok(tex.trimEnd().split("\n").slice(1).every((line) => line.startsWith("% ")), "digests are comments");
  const [paired] = await captionOf(PAIRS, { plot: "difference", x: "snr_db" });
  assert.match(
    paired,
    /each minus Plain link\.\n4 recipes of 3 replicates, 12 runs\.\n.*: Student t of paired differences\./,
  );
});
