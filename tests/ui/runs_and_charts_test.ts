/** What the views of runs compute without a browser: filters, pivots, differences, densities, and what becomes of a text. */
import assert from "node:assert/strict";
import { bitCounts } from "../support/rates.ts";
import { float, type JsonObject, type Value } from "../../lib/contract/value.ts";
import type { CurveFigure } from "../../lib/figure/types.ts";
import { densityPixels, viridis } from "../../ui/charts/density.ts";
import { difference, psnr } from "../../ui/charts/pixels.ts";
import { rateSentence, rateSteps } from "../../ui/charts/rates.ts";
import { csvText } from "../../ui/charts/csv.ts";
import { figureSentence, figureTable } from "../../ui/charts/table.ts";
import { diffTexts } from "../../ui/charts/text_diff.ts";
import { alignSteps } from "../../ui/compare/align.ts";
import { curveFigure } from "../../ui/compare/curve.ts";
import { durationsOf, listed, nameOf, sparkline, stateOf } from "../../ui/runs/groups.ts";
import { axesOf, importanceOf, positions } from "../../ui/compare/importance.ts";
import { methodsOf, missingNotice, rateNotice } from "../../ui/compare/methods.ts";
import { EBN0 } from "../../ui/compare/parameter_axis.ts";
import { pgfplots } from "../../lib/figure/pgfplots.ts";
import { pivotCsv, pivotLatex, pivotMarkdown, pivotOf } from "../../ui/compare/pivot.ts";
import { nameByRecipe } from "../../ui/runs/run_name.ts";
import { type ComparedRun, deltaOf, parametersOf, rowsOf, timingWarnings, varying } from "../../ui/compare/table.ts";
import { matches, parseFilter, type RunRow, secondsOf } from "../../ui/runs/filter.ts";

const row = (change: Partial<RunRow> = {}): RunRow => ({
  run_id: "20261122T004120Z_quickstart",
  status: "completed",
  recipe_name: "quickstart",
  suite: null,
  created_at_utc: "2026-11-22T00:41:20.779Z",
  completed_at_utc: "2026-11-22T00:41:24.029Z",
  metrics: { "channel.ber": 2e-4, "quality.psnr_db": 31 },
  ...change,
});

Deno.test("a filter is words and tokens, and names what it cannot use", () => {
  const filter = parseFilter('quick state:failed recipe:"two words" after:2026-11-01 metric.channel.ber<1e-3');
  assert.deepEqual(filter.query, { status: "failed", recipe_name: "two words" });
  assert.deepEqual(filter.words, ["quick"]);
  assert.equal(filter.after, "2026-11-01");
  assert.deepEqual(filter.metrics, [{ metric: "channel.ber", relation: "<", value: 1e-3 }]);
  assert.deepEqual(filter.problems, []);
  assert.deepEqual(parseFilter("snr_db=6 param.link.channel=awgn").query, { where: "snr_db=6,link.channel=awgn" });
  const { problems } = parseFilter("snr_db>6 state:done colour:red after:soon metric.ber<few");
  assert.equal(problems.length, 5);
  assert.match(problems[0], /with = only/);
  assert.match(problems[1], /states are running, completed/);
});

Deno.test("an empty filter keeps everything, a token sieves", () => {
  const kept = (text: string, given = row()) => matches(given, parseFilter(text));
  assert.ok(kept(""));
  assert.ok(kept("QUICK"));
  assert.ok(!kept("slow"));
  assert.ok(kept("metric.channel.ber<1e-3"));
  assert.ok(!kept("metric.channel.ber<1e-4"));
  assert.ok(kept("metric.ber<=2e-4"), "the last part of a name is enough");
  assert.ok(!kept("metric.loss<1"), "a run without the metric does not fit");
  assert.ok(kept("before:2026-11-22"), "a day is meant as a whole");
  assert.ok(!kept("before:2026-11-21"));
  assert.ok(kept("after:2026-11-22"));
  assert.ok(!kept("state:failed"));
  assert.equal(secondsOf(row()), 3.25);
  assert.equal(secondsOf(row({ completed_at_utc: null })), null);
});

const report = {
  accounting: {
    payload_bits: 1000,
    framing_bits: 24,
    fec_bits: 1024,
    modulation_padding_bits: 0,
    transmitted_bits: 2048,
    data_symbols: 1024,
    pilot_symbols: 76,
    header_symbols: 0,
    grid_padding_symbols: 0,
    channel_uses: 1100,
  },
};

Deno.test("the steps of a link add up to its channel uses, and what it lacks is no step", () => {
  const steps = rateSteps(report);
  assert.deepEqual(steps.map(({ label }) => label), [
    "Payload",
    "Framing",
    "Error protection",
    "Transmitted",
    "Data symbols",
    "Pilots",
    "Channel uses",
  ]);
  const protection = steps.find(({ label }) => label === "Error protection")!;
  assert.equal(protection.from + protection.amount, 2048);
  assert.match(rateSentence(steps), /0\.9091 payload bits a channel use/);
  assert.deepEqual(rateSteps({ metrics: {} }), []);
});

Deno.test("PSNR leaves opacity out, and the difference of pictures is opaque", () => {
  const a = Uint8ClampedArray.of(10, 20, 30, 255, 0, 0, 0, 255), b = Uint8ClampedArray.of(13, 20, 30, 0, 0, 0, 0, 0);
  assert.ok(Math.abs(psnr(a, b) - 10 * Math.log10(255 ** 2 * 6 / 9)) < 1e-12);
  assert.equal(psnr(a, a), Infinity);
  assert.deepEqual([...difference(a, b, 100).slice(0, 4)], [255, 0, 0, 255]);
});

Deno.test("a density has its first row at the bottom, empty cells see through, the fullest is brightest", () => {
  const pixels = densityPixels([[0, 9], [1, 0]]);
  assert.deepEqual([...pixels.slice(12, 16)], [...viridis(1), 255], "row 0 is the last row of the picture");
  assert.equal(pixels[3], 255, "one point is seen");
  assert.equal(pixels[7], 0, "none is not");
  assert.deepEqual(viridis(0), [68, 1, 84]);
  assert.deepEqual(viridis(2), [253, 231, 37]);
});

Deno.test("a text diff keeps the longest common run of words", () => {
  assert.deepEqual(diffTexts("rain will reach Lisbon", "rain [MASK] reach Porto"), [
    { kind: "kept", text: "rain" },
    { kind: "lost", text: "will" },
    { kind: "added", text: "[MASK]" },
    { kind: "kept", text: "reach" },
    { kind: "lost", text: "Lisbon" },
    { kind: "added", text: "Porto" },
  ]);
  assert.deepEqual(diffTexts("same words", "same words"), [{ kind: "kept", text: "same words" }]);
  assert.deepEqual(diffTexts("", ""), []);
});

/** A run at a signal to noise ratio, with errors among 10 000 bits. */
function compared(snr: number, errors: number, change: Partial<ComparedRun> = {}, seed = 1): ComparedRun {
  const recipe: JsonObject = {
    name: "ber",
    steps: [
      { id: "data", op: "source.random_bits", inputs: {}, params: {} },
      {
        id: "modulator",
        op: "modulation.digital_modulate",
        inputs: { bits: "data.bits" },
        params: { modulation: "bpsk" },
      },
      {
        id: "link",
        op: "wireless.channel",
        inputs: { symbols: "modulator.symbols" },
        params: {
          snr_db: float(snr),
          seed,
          channel: "awgn",
          noise_mode: "snr_at_unit_power",
          receiver_processing: "matched",
          channel_state_mode: "none",
        },
      },
      {
        id: "demodulator",
        op: "demodulation.digital_demodulate",
        inputs: { rx_symbols: "link.rx_symbols" },
        params: { modulation: "auto" },
      },
      {
        id: "ber",
        op: "metrics.bit_error_rate",
        inputs: { reference: "data.bits", candidate: "demodulator.bits" },
        params: { label: "ber" },
      },
    ],
  };
  return {
    id: `run_${snr}_${seed}`,
    name: "ber",
    status: "completed",
    parameters: parametersOf(recipe),
    metrics: new Map<string, Value>([
      ["channel.ber", float(errors / 10_000)],
      ["channel.error_count", errors],
      ["channel.compare_bit_count", 10_000],
    ]),
    rates: new Map([["channel.ber", bitCounts(errors, 10_000)]]),
    pooled: new Map(),
    timing: new Map<string, Value>([["mode", "sequential"], ["workers", 1]]),
    environment: new Map([["hardware.cpu", "one"]]),
    artifacts: new Map(),
    outputs: [],
    task: null,
    failure: null,
    recipe,
    ...change,
  };
}

Deno.test("only what differs is marked, and a lower error rate is better", () => {
  const runs = [compared(0, 790), compared(6, 24)];
  const differing = rowsOf(runs, "parameters").filter(({ differs }) => differs).map(({ name }) => name);
  assert.deepEqual(differing, ["link.snr_db"]);
  const ber = rowsOf(runs, "metrics").find(({ name }) => name === "channel.ber")!;
  const delta = deltaOf(ber.values[1], ber.values[0], "lower_is_better")!;
  assert.ok(delta.absolute < 0 && delta.better === true);
  assert.ok(Math.abs(delta.relative! - (0.0024 - 0.079) / 0.079) < 1e-12);
  assert.equal(deltaOf(ber.values[1], ber.values[0], "higher_is_better")!.better, false);
  assert.equal(deltaOf(ber.values[1], ber.values[0], "neutral")!.better, null);
  assert.equal(deltaOf(2, 0, undefined)!.relative, null);
  assert.equal(deltaOf("a", 1, undefined), null);
});

Deno.test("times are not compared where modes, workers or machines differ", () => {
  const other = compared(6, 24, { timing: new Map<string, Value>([["mode", "parallel"], ["workers", 4]]) });
  assert.deepEqual(timingWarnings([compared(0, 1), compared(6, 1)]), []);
  assert.equal(timingWarnings([compared(0, 1), other]).length, 2);
});

const ENTRY = {
  id: "channel.ber",
  name: "Bit error rate",
  family: "channel",
  unit: "fraction",
  direction: "lower_is_better",
  statistic: "rate",
  counts: { events: "channel.error_count", trials: "channel.compare_bit_count" },
} as const;
const entryOf = (metric: string) => metric === "channel.ber" ? ENTRY : undefined;

Deno.test("curves have intervals of their counts, a bound where no error was seen, and theory where it applies", () => {
  const runs = [compared(0, 790), compared(3, 229), compared(6, 24), compared(12, 0)];
  const figure = curveFigure(runs, "link.snr_db", "channel.ber", entryOf);
  assert.equal(figure.y.scale, "log");
  assert.deepEqual(figure.series.map(({ kind }) => kind), ["measured", "theory"]);
  const [first, , , last] = figure.series[0].points;
  assert.ok(first.low! < 0.079 && 0.079 < first.high!);
  assert.deepEqual([last.y, last.bound], [null, 3e-4]);
  // BPSK at Es/N0 of 0 dB: Q(sqrt 2).
  assert.ok(Math.abs(figure.series[1].points[0].y! - 0.0786496) < 1e-6);
  assert.match(
    figureSentence(figure),
    /1 without an error, shown as bounds; 1 theory curve after Cho and Yoon 2002, eq. 14-16\./,
  );
});

Deno.test("runs that differ in their seed alone are one point", () => {
  const runs = [compared(0, 700, {}, 1), compared(0, 900, {}, 2), compared(6, 20, {}, 1), compared(6, 30, {}, 2)];
  const figure = curveFigure(runs, "link.snr_db", "channel.ber", entryOf);
  assert.equal(figure.series.filter(({ kind }) => kind === "measured").length, 1);
  assert.deepEqual(figure.series[0].points.map(({ x, y, n }) => [x, y, n]), [[0, 0.08, 2], [6, 0.0025, 2]]);
  assert.deepEqual(varying(runs).map(({ name }) => name).sort(), ["link.seed", "link.snr_db"]);
});

Deno.test("a pivot has a cell for each pair of values: rates with interval or bound, other metrics with their spread", () => {
  const runs = [compared(0, 700, {}, 1), compared(0, 900, {}, 2), compared(6, 20, {}, 1)];
  const pivot = pivotOf(runs, "link.snr_db", "link.seed", "channel.ber");
  assert.deepEqual([pivot.rows, pivot.columns], [["0", "6"], ["1", "2"]]);
  assert.equal(pivot.cells[1][1], null);
  const merged = pivotOf(runs, "link.snr_db", "", "channel.ber");
  assert.deepEqual(merged.cells[0][0]!.n, 2);
  assert.equal(merged.cells[0][0]!.mean, 0.08);
  const silent = pivotOf([compared(12, 0, {}, 1)], "link.snr_db", "", "channel.ber");
  assert.match(
    pivotMarkdown(silent),
    /\| 12 \| 0 errors in [\d\s]+ bits: BER at most 3×10⁻⁴; about [\d\s]+ bits give 1e-5 \|/,
  );
  const [psnr] = pivotOf(
    runs.map((run, at) => ({ ...run, metrics: new Map([["quality.psnr_db", float(30 + at)]]) })),
    "",
    "",
    "quality.psnr_db",
  ).cells[0];
  assert.deepEqual([psnr!.low, psnr!.mean, psnr!.high], [30, 31, 32]);
  const latex = pivotLatex(merged);
  assert.match(latex, /\\begin\{tabular\}\{lr\}/);
  assert.match(latex, /link\.snr\\_db & all runs \\\\/);
  assert.match(latex, /0 & \$0\.0800 \[0\.0763, 0\.0838\]\$ \\\\/);
  assert.equal(latex.match(/\\begin/g)!.length, latex.match(/\\end/g)!.length);
  assert.match(pivotMarkdown(merged), /^\| link\.snr\\_db \| all runs \|\n\| --- \| ---: \|\n/);
  assert.match(
    pivotCsv(merged),
    /^link\.snr_db,column,metric,mean,low,high,upper_bound,n,shown\n0,all runs,channel\.ber,0\.08,/,
  );
});

Deno.test("the table of a figure holds what is drawn, with every digit, and no theory", () => {
  const figure = curveFigure([compared(0, 790), compared(12, 0)], "link.snr_db", "channel.ber", entryOf) as CurveFigure;
  const table = figureTable(figure);
  assert.deepEqual(table.columns, ["Series", "Es/N0 (dB)", "Bit error rate", "Low", "High"]);
  assert.equal(table.rows.length, 2);
  assert.deepEqual(table.rows[1].slice(1), ["12", "", "", "0.0003"]);
  assert.equal(csvText({ columns: ["a"], rows: [['say "x", y']] }), 'a\n"say ""x"", y"\n');
});

Deno.test("a figure is pgfplots with its intervals, bounds and axes; matrices are not", () => {
  const figure = curveFigure([compared(0, 790), compared(12, 0)], "link.snr_db", "channel.ber", entryOf) as CurveFigure;
  const text = pgfplots(figure)!;
  assert.match(text, /xlabel=\{\$E_\\mathrm\{s\}\/N_0\$ \(dB\)\},\n {2}ylabel=\{Bit error rate\}/);
  assert.match(text, /\n {2}\(0,0\.079\) \+= \(0,0\.00[\d.e-]+\) -= \(0,0\.00[\d.e-]+\)\n/);
  // A rate without an error is an arrow at its bound and no point of the line.
  assert.match(text, /mark=triangle, mark options=\{rotate=180\}, forget plot\] coordinates \{\n {2}\(12,0\.0003\)\n/);
  assert.equal(text.match(/\\begin/g)!.length, text.match(/\\end/g)!.length);
  const source = { type: "confusion-matrix", title: "", subtitle: "", source: {} } as const;
  assert.equal(pgfplots({ ...source, form: "matrix", labels: ["a"], counts: [[1]] }), null);
});

Deno.test("the importance of a parameter is the share of variance between its values, without the bias of small groups", () => {
  // Two values with means 1 and 5, and a spread within: SSW = 4, SST = 36 with n = 8, k = 2.
  const point = (metric: number, ...values: Value[]) => ({ id: "", metric, level: metric, values });
  const points = [[0, "a"], [2, "a"], [1, "a"], [1, "a"], [5, "b"], [5, "b"], [4, "b"], [6, "b"]]
    .map(([metric, value], at) => point(Number(metric), value, at % 2 === 0 ? "even" : "odd", at));
  const expected = 1 - 4 / (8 - 2) / (36 / (8 - 1));
  assert.ok(Math.abs(importanceOf(points, 0)! - expected) < 1e-12);
  assert.equal(importanceOf(points, 1), 0, "A parameter without an effect explains nothing");
  assert.ok(importanceOf(points, 2)! > 0.5, "Eight numbers are cut into groups");
  assert.equal(importanceOf(points.slice(0, 2), 2), null, "Each run is a group of its own");
  assert.deepEqual(positions(["qpsk", "bpsk", "qpsk"]).at, [1, 0, 1]);
  assert.deepEqual(positions([float(0), float(5), float(20)]).at, [0, 0.25, 1]);
  // Numbers keep their order beside runs without the parameter, which stand below them.
  const mixed = positions([float(10), undefined, float(8), float(9)]);
  assert.deepEqual(mixed.at.toSorted(), [mixed.at[1], mixed.at[2], mixed.at[3], mixed.at[0]]);
  assert.deepEqual(mixed.ticks.map(([, text]) => text).toSorted(), ["10", "8", "9", "–"]);
});

/** A run of a code at an Es/N0, with what its accounting says. */
function coded(op: string, snr: number, rate: number, params: JsonObject = {}, name = "coded"): ComparedRun {
  const recipe = {
    name,
    steps: [
      { id: "encoder", op: `channel.${op}_encoder`, params },
      { id: "decoder", op: `channel.${op}_decoder`, params: { label: op } },
      { id: "link", op: "wireless.channel", params: { snr_db: float(snr), seed: snr } },
    ],
  } as JsonObject;
  const base = compared(snr, 100, { recipe, name, parameters: parametersOf(recipe) });
  const metrics: [string, Value][] = [
    ["channel.code_rate", float(rate)],
    ["channel.bits_per_symbol", 2],
    ["channel.ebn0_db", float(snr - 10 * Math.log10(2 * rate))],
  ];
  return { ...base, id: `${op}_${snr}`, metrics: new Map([...base.metrics, ...metrics]) };
}

Deno.test("methods are named by the smallest set of parameters that tells them apart, and by the recipe where that is long", () => {
  const labels = (runs: ComparedRun[], x = "link.snr_db") => methodsOf(runs, x).map(({ label }) => label);
  const ldpc = { transport_block_size_bits: 16000, n_id: 1 };
  const two = [0, 3].flatMap((snr) => [coded("nr_ldpc", snr, 0.5, ldpc), coded("turbo", snr, 0.5, { block_bits: 40 })]);
  assert.deepEqual(labels(two), ["NR LDPC", "turbo"]);
  assert.deepEqual(methodsOf(two, "link.snr_db").map(({ runs }) => runs.length), [2, 2]);
  // An operation that two methods share needs one parameter more; a method without it has no word for it.
  const three = [
    coded("nr_ldpc", 0, 0.5, ldpc),
    ...[3, 5].map((factor) => coded("repetition", 0, 1 / factor, { factor })),
  ];
  assert.deepEqual(labels(three), ["NR LDPC", "repetition, factor 3", "repetition, factor 5"]);
  const named = three.map((run, at) => ({ ...run, name: `method_${at}` }));
  assert.deepEqual(labels(named), ["method_0", "method_1", "method_2"]);
  // The name of a variant has its coordinates: those of the recipe alone name a method.
  const variants = [3, 5].flatMap((factor) =>
    ["qpsk", "qam16"].map((modulation) => ({
      ...coded("repetition", 0, 1 / factor, { bit_count: factor * 1000, factor, modulation }),
      name: `swept__factor_${factor}__modulation_${modulation}__snr_db_0.0`,
      recipe: { metadata: { matrix_selection: { factor, modulation, snr_db: float(0) } } },
    }))
  );
  assert.deepEqual(labels(variants), ["QPSK, factor 3", "16QAM, factor 3", "QPSK, factor 5", "16QAM, factor 5"]);
  // A modulation, a choice and a switch are words; a number has the name and unit of its parameter.
  const words = (params: JsonObject[]) => labels(params.map((one) => coded("turbo", 0, 0.5, one)));
  assert.deepEqual(words([{ modulation: "qpsk" }, { modulation: "qam16" }]), ["QPSK", "16QAM"]);
  assert.deepEqual(words([{ estimator: "linear_mmse" }, { estimator: "learned_artifact" }]), [
    "linear MMSE",
    "trained network",
  ]);
  assert.deepEqual(words([{ transform_precoding: true }, { transform_precoding: false }]), [
    "transform precoding",
    "no transform precoding",
  ]);
  assert.deepEqual(words([{ delay_spread_ns: 30 }, { delay_spread_ns: 300 }]), [
    "delay spread 30 ns",
    "delay spread 300 ns",
  ]);
  // Seeds and the swept parameter name nothing.
  assert.deepEqual(labels([coded("turbo", 0, 0.5), coded("turbo", 3, 0.5)]), [""]);
  const figure = curveFigure(two, "link.snr_db", "channel.ber", entryOf, (label) => label === "turbo" ? "Mine" : label);
  assert.deepEqual(figure.series.map(({ label }) => label), ["NR LDPC", "Mine"]);
});

Deno.test("steps of other names stand for those of the first recipe with their operation or its family", () => {
  const other = (steps: JsonObject[], snr: number) => {
    const recipe = { name: "other", steps } as JsonObject;
    const run = compared(snr, 10, { recipe, name: `other__snr_db_${snr}`, parameters: parametersOf(recipe) });
    return { ...run, metrics: new Map([...run.metrics, ["code:codec.bit_count", 1] as [string, Value]]) };
  };
  const steps = (snr: number): JsonObject[] => [
    { id: "code", op: "channel.turbo_encoder", params: { block_bits: 40 } },
    { id: "air", op: "wireless.channel", params: { snr_db: float(snr) } },
    { id: "block_errors", op: "metrics.block_error_rate", params: { block_size: 40 } },
  ];
  const first = [0, 3].map((snr) => coded("repetition", snr, 1 / 3, { factor: 3 }));
  const { runs, renamed } = alignSteps([...first, other(steps(6), 6), other(steps(9), 9)]);
  assert.deepEqual(renamed, ["air of other as link", "code of other as encoder"]);
  assert.deepEqual(runs.slice(0, 2), first);
  assert.deepEqual([...runs[2].parameters.keys()], [
    "encoder.op",
    "encoder.block_bits",
    "link.op",
    "link.snr_db",
    "block_errors.op",
    "block_errors.block_size",
  ]);
  assert.ok(runs[2].metrics.has("encoder:codec.bit_count") && runs[2].metrics.has("channel.ber"));
  // The swept parameter is a number in all runs: it can be the axis.
  assert.deepEqual(varying(runs).find(({ name }) => name === "link.snr_db"), {
    name: "link.snr_db",
    numeric: true,
    count: 4,
  });
  assert.deepEqual(methodsOf(runs, "link.snr_db").map(({ label }) => label), ["repetition", "turbo"]);
  // Two steps with one operation cannot be told apart, and equal names stay.
  const two = [...steps(6), { id: "second_air", op: "wireless.channel", params: {} }];
  assert.deepEqual(alignSteps([...first, other(two, 6)]).renamed, ["code of other as encoder"]);
  assert.deepEqual(alignSteps(first), { runs: first, renamed: [] });
  assert.equal(missingNotice(first), null);
  assert.match(
    missingNotice([...first, other(steps(6), 6)])!,
    /^No Eb\/N0: channel\.communication.* is not in other\.$/,
  );
});

Deno.test("over Eb/N0 a repetition code of rate 1/3 lies 4.77 dB to the right, and different rates are said over Es/N0", () => {
  const runs = [0, 3].flatMap((snr) => [coded("identity", snr, 1), coded("repetition", snr, 1 / 3)]);
  const figure = curveFigure(runs, EBN0, "channel.ber", entryOf);
  assert.equal(`${figure.x.title} (${figure.x.unit})`, "Eb/N0 (dB)");
  const [plain, repeated] = figure.series.map(({ points }) => points.map(({ x }) => x));
  for (const at of [0, 1]) {
    assert.ok(Math.abs(plain[at] - ([0, 3][at] - 3.0103)) < 1e-4);
    assert.ok(Math.abs(repeated[at] - plain[at] - 4.7712) < 1e-4);
  }
  const methods = methodsOf(runs, "link.snr_db");
  assert.match(rateNotice(methods, "link.snr_db")!, /^The methods send 0\.667 to 2 information bits per symbol/);
  assert.equal(rateNotice(methods, EBN0), null);
  const equal = [coded("turbo", 0, 0.5), coded("nr_ldpc", 0, 0.5)];
  assert.equal(rateNotice(methodsOf(equal, "link.snr_db"), "link.snr_db"), null);
  const silent = equal.map((run) => ({ ...run, metrics: new Map() }));
  assert.equal(rateNotice(methodsOf(silent, "link.snr_db"), "link.snr_db"), null, "Unknown rates are not judged");
});

Deno.test("parameters that split the runs alike are one axis, and the largest shares of variance keep theirs", () => {
  const metrics = [1, 2, 9, 10, 1, 2, 9, 11];
  // Name and number follow the operation; the parity explains little.
  const points = metrics.map((metric, at) => {
    const method = (at >> 1) % 2;
    return { id: "", metric, level: metric, values: [["a", "b"][method], [3, 7][method], at % 2, at >> 2] };
  });
  const params = ["code.op", "code.size", "parity", "half"];
  assert.deepEqual(axesOf(points, params, 8), [
    { at: 0, name: "code.op", others: ["code.size"] },
    { at: 2, name: "parity", others: [] },
    { at: 3, name: "half", others: [] },
  ]);
  assert.deepEqual(axesOf(points, params, 1).map(({ name }) => name), ["code.op"]);
});

Deno.test("the variants of a sweep are one row, in the place of the newest, with a curve for each series", () => {
  const run = (id: string, name: string, ber: number, matrix_recipe: string | null = null) =>
    ({
      run_id: id,
      recipe_name: name,
      matrix_recipe,
      status: id === "d" ? "failed" : "completed",
      metrics: { "channel.ber": ber },
    }) as never;
  const rows = [
    run("f", "other", 0.5),
    run("e", "link__modulation_qpsk__snr_db_8.0", 1e-4),
    run("d", "link__modulation_qpsk__snr_db_4.0", 0.9),
    run("c", "link__modulation_qam16__snr_db_8.0", 1e-2),
    run("b", "link__modulation_qam16__snr_db_0.0", 1e-1),
    run("a", "single__snr_db_1.0", 0.1),
  ];
  const [first, sweep, last, ...more] = listed(rows, new Set());
  assert.deepEqual([first, last, more], [{ run: rows[0] }, { run: rows[5] }, []]);
  assert.ok("sweep" in sweep && !sweep.open && sweep.sweep.runs.length === 4);
  assert.equal(stateOf(sweep.sweep), "failed");
  const open = listed(rows, new Set(["link"]));
  assert.equal(open.length, 7);
  assert.equal((open[2] as { variant: string }).variant, "modulation qpsk, snr_db 8.0");
  // Decades are equal heights; the failed variant is no point.
  const [qam16, qpsk] = sparkline(sweep.sweep, "channel.ber");
  assert.deepEqual(qam16.map(([x]) => x), [0, 1]);
  assert.deepEqual([...qam16.map(([, y]) => Math.round(3 * y)), ...qpsk.map(([, y]) => Math.round(3 * y))], [3, 2, 0]);
  const { family, runs } = sweep.sweep;
  assert.deepEqual(
    sparkline({ family, runs: runs.toReversed() }, "channel.ber"),
    [qam16, qpsk],
    "in any order of rows",
  );
  // Variants without plain names have their coordinates in place of their ids, and curves over them.
  const unsafe = [[1, 0, 0.1], [1, 3, 0.01], [3, 0, 0.2], [3, 3, 0.1]].map(([factor, snr_db, ber], at) => ({
    ...run(`g${at}`, `mxv1-${String(at).repeat(64)}`, ber, "two words") as object,
    changed: { factor, snr_db },
  })) as never[];
  const [group, ...variants] = listed(unsafe, new Set(["two words"]));
  assert.deepEqual(variants.map((row) => (row as { variant: string }).variant), [
    "factor 1, snr_db 0",
    "factor 1, snr_db 3",
    "factor 3, snr_db 0",
    "factor 3, snr_db 3",
  ]);
  assert.deepEqual(
    sparkline((group as { sweep: Parameters<typeof sparkline>[0] }).sweep, "channel.ber").map((curve) => curve.length),
    [2, 2],
  );
  assert.equal(nameOf(unsafe[1]), "two words__factor_1__snr_db_3");
  const metadata = { matrix_recipe: "two words", matrix_selection: { ids: "x".repeat(80), snr_db: float(6) } };
  const id = `mxv1-${"a".repeat(64)}`;
  assert.equal(nameByRecipe(id, { metadata }), `two words__ids_${"x".repeat(47)}…__snr_db_6.0`);
  assert.deepEqual([nameByRecipe("plain", { metadata }), nameByRecipe(id, null)], ["plain", id]);
});

Deno.test("a sweep is sorted by the duration of all its runs", () => {
  const lasting = (recipe_name: string, seconds: number) =>
    row({ recipe_name, created_at_utc: "2026-11-22T00:00:00Z", completed_at_utc: `2026-11-22T00:00:${seconds}Z` });
  const rows = [lasting("alone", 30), lasting("link__snr_db_1", 20), lasting("link__snr_db_2", 25)];
  assert.deepEqual(rows.map(durationsOf(rows)), [30, 45, 45]);
});
