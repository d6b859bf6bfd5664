import assert from "node:assert/strict";
import { countRate, rateEstimate, type StatisticalUnit } from "../../../lib/numeric/scores/rate_interval.ts";
import { decodePng, parsePng } from "../../../lib/artifact/png_decode.ts";
import { decadesOf, position } from "../../../lib/figure/axis.ts";
import { figureCsv } from "../../../lib/figure/figure_csv.ts";
import { estimateText, type NumberForm, numberText, superscript } from "../../../lib/figure/number_text.ts";
import { paretoFront } from "../../../lib/figure/pareto.ts";
import { hiddenPoints } from "../../../lib/figure/overlaps.ts";
import { pgfplots } from "../../../lib/figure/pgfplots.ts";
import { renderPng, renderSvg } from "../../../lib/figure/render.ts";
import { figureSpec } from "../../../lib/figure/spec.ts";
import { darkened, seriesLooks, STYLES } from "../../../lib/figure/style.ts";
import { styleOf } from "../../../lib/figure/style_file.ts";
import { textWidth } from "../../../lib/figure/text_width.ts";
import type { BarFigure, CurveFigure, FigureAxis, HeatFigure, MatrixFigure } from "../../../lib/figure/types.ts";

const SOURCE = { result_id: "r1", result_sha256: "0f".repeat(32) };

/** Two measured series, one of which stops at a point without errors, and a curve. */
const CURVES: CurveFigure = {
  type: "error-rate",
  form: "curves",
  title: "Bit error rate over SNR",
  subtitle: "Small, version 1 · 95 % Wilson intervals",
  source: SOURCE,
  x: { title: "SNR", unit: "dB", scale: "linear", domain: null },
  y: { title: "Bit error rate", unit: "", scale: "log", domain: null },
  series: [
    {
      label: "coded",
      kind: "measured",
      points: [
        { x: 0, y: 0.02, low: 0.01, high: 0.03, n: 2 },
        { x: 4, y: null, low: 0, high: 3e-4, bound: 3e-4, n: 2 },
      ],
    },
    {
      label: "uncoded & <plain>",
      kind: "baseline",
      points: [{ x: 0, y: 0.1, low: 0.09, high: 0.11 }, { x: 4, y: 0.01, low: 0.008, high: 0.012 }],
    },
    {
      label: "Theory",
      kind: "theory",
      points: [{ x: 0, y: 0.1, low: null, high: null }, { x: 4, y: 0.009, low: null, high: null }],
    },
  ],
  step: false,
  front: null,
};
const BARS: BarFigure = {
  type: "channel-uses",
  form: "bars",
  title: "Channel uses",
  subtitle: "",
  source: SOURCE,
  value: { title: "Channel uses", unit: "symbols", scale: "linear", domain: null },
  bars: [
    { label: "a", kind: "measured", value: 100, low: 90, high: 110 },
    { label: "b", kind: "baseline", value: 40, low: null, high: null },
  ],
};
const MATRIX: MatrixFigure = {
  type: "confusion-matrix",
  form: "matrix",
  title: "Confusion matrix",
  subtitle: "",
  source: SOURCE,
  labels: ["bpsk", "qpsk"],
  counts: [[9, 1], [2, 8]],
};
const FIGURES = { curves: CURVES, bars: BARS, matrix: MATRIX };

Deno.test("pictures are those that were looked at", async () => {
  for (const [name, figure] of Object.entries(FIGURES)) {
    const file = new URL(`./golden/${name}.svg`, import.meta.url);
    const svg = await renderSvg(figureSpec(figure, STYLES.compact), STYLES.compact);
    if (Deno.env.get("UPDATE_GOLDEN") === "1") Deno.writeTextFileSync(file, svg);
    assert.equal(svg, Deno.readTextFileSync(file), `${name}: look at it, then UPDATE_GOLDEN=1`);
  }
});

Deno.test("a picture is the same bytes whatever was drawn before it", async () => {
  const style = STYLES.paper;
  const draw = () => renderSvg(figureSpec(CURVES, style), style);
  const first = await draw();
  await renderSvg(figureSpec(MATRIX, STYLES.svc), STYLES.svc);
  assert.equal(await draw(), first);
  assert.deepEqual(await renderPng(first, style), await renderPng(first, style));
});

Deno.test("a PNG has its texts", async () => {
  const style = STYLES.compact;
  const svg = await renderSvg(figureSpec(CURVES, style), style);
  const withText = await renderPng(svg, style);
  const without = await renderPng(svg.replace(/<text[^>]*>[^<]*<\/text>/g, ""), style);
  const ink = (png: Uint8Array) => decodePng(parsePng(png)).data.filter((value) => value < 128).length;
  assert.ok(ink(withText) > 1.2 * ink(without), "letters leave ink");
});

Deno.test("a picture says what it shows and where its numbers come from", async () => {
  const svg = await renderSvg(figureSpec(CURVES, STYLES.paper), STYLES.paper);
  assert.match(svg, /<title>Bit error rate over SNR\. Small, version 1/);
  assert.ok(svg.includes(SOURCE.result_sha256));
  assert.match(svg, /width="\d+pt"/, "print sizes are points");
  assert.ok(svg.includes("uncoded &amp; &lt;plain&gt;"), "labels are escaped");
  assert.ok(svg.includes("10⁻²"), "decades are powers of ten");
  assert.ok(!svg.includes("NaN") && !svg.includes("undefined"));
});

Deno.test("a point without errors is an arrow at its bound and never a point of the line", () => {
  const spec = figureSpec(CURVES, STYLES.svc) as { hconcat: { data: { values: Record<string, unknown>[] } }[] };
  const [plot, legend] = spec.hconcat.map(({ data }) => data.values);
  const silent = plot.find(({ bound }) => bound !== null)!;
  assert.deepEqual([silent.y, silent.low, silent.bound], [null, null, 3e-4]);
  assert.ok(legend.some(({ sign }) => sign === "bound"));
  const text = JSON.stringify(spec);
  assert.ok(text.includes("datum.bound !== null"));
  const [without] = figureSpecValues({ ...CURVES, series: [CURVES.series[1]] });
  assert.ok(without.every(({ bound }) => bound === null));
});

Deno.test("the legend shows a line where the figure has one, and names references", () => {
  const [first, second, theory] = CURVES.series;
  const figure: CurveFigure = {
    ...CURVES,
    series: [{ ...first, joined: false }, second, theory],
    guides: [{ axis: "y", at: 0.1, label: "Reference", whole: true }, { axis: "x", at: 2, label: "inside" }],
  };
  const [, legend] = figureSpecValues(figure);
  assert.deepEqual(legend.map(({ label, line, sign }) => [label, line !== false, sign ?? null]), [
    ["coded", false, null],
    ["uncoded & <plain>", true, null],
    ["Theory", true, null],
    ["Reference", true, "guide"],
    ["No error seen: bound", true, "bound"],
  ]);
});

Deno.test("markers under others get larger outlines, each of its own size", () => {
  const at = (x: number, y: number | null) => ({ x, y, low: null, high: null });
  const series = [[at(0, 0.1), at(1, 0.2)], [at(0, 0.1), at(1, 0.02)], [at(0, 0.1001), at(1, null)]]
    .map((points, i) => ({ label: `${i}`, kind: "measured" as const, points }));
  const figure: CurveFigure = { ...CURVES, series };
  assert.deepEqual(hiddenPoints(figure).map(({ index, x, side }) => [index, x, side]), [[0, 0, 2], [1, 0, 1.5]]);
  const hidden = { ...figure, series: series.map((one, i) => i === 0 ? one : { ...one, hidden: true }) };
  assert.deepEqual([hiddenPoints(hidden), hiddenPoints({ ...figure, step: true })], [[], []]);
  assert.ok(pgfplots(figure, STYLES.paper)!.includes("mark=o, mark size=4pt, forget plot"));
});

Deno.test("Es/N0 and Eb/N0 have subscripts in SVG, PNG and LaTeX", async () => {
  const titled = (title: string) => ({ ...CURVES, x: { ...CURVES.x, title, unit: "dB" } });
  const draw = async (title: string) => await renderSvg(figureSpec(titled(title), STYLES.paper), STYLES.paper);
  const svg = await draw("Es/N0 less Eb/N0");
  const [, text] = />(E<tspan.*?)<\/text>/.exec(svg)!;
  assert.equal(text.replaceAll(/<[^>]*>/g, ""), "Es/N0 less Eb/N0 (dB)");
  const moves = [...text.matchAll(/dy="(-?[\d.]+)"/g)].map(([, by]) => Number(by));
  assert.deepEqual([moves.length, moves.reduce((sum, by) => sum + by, 0)], [8, 0], "the text ends on its line");
  assert.match(text, /font-size="5\.76px">s</);
  assert.notDeepEqual(
    await renderPng(svg, STYLES.paper),
    await renderPng(svg.replaceAll(/<\/?tspan[^>]*>/g, ""), STYLES.paper),
  );
  assert.ok(pgfplots(titled("Es/N0"), STYLES.paper)!.includes("xlabel={$E_\\mathrm{s}/N_0$ (dB)}"));
});

Deno.test("what is exactly 0 leaves no mark on a logarithmic axis, neither point nor interval", () => {
  const points = [{ x: 0, y: 0, low: 0, high: 0, n: 3 }, { x: 4, y: 0.1, low: 0.05, high: 0.2, n: 3 }];
  const [[zero, other]] = figureSpecValues({ ...CURVES, series: [{ label: "oracle", kind: "measured", points }] });
  assert.deepEqual([zero.y, zero.low, zero.high, zero.high_cap], [null, null, null, null]);
  assert.deepEqual([other.y, other.high], [0.1, 0.2]);
});

function figureSpecValues(figure: CurveFigure): Record<string, unknown>[][] {
  const spec = figureSpec(figure, STYLES.svc) as { hconcat: { data: { values: Record<string, unknown>[] } }[] };
  return spec.hconcat.map(({ data }) => data.values);
}

Deno.test("a logarithmic axis holds values, bounds and their arrows, and no decade for an interval that nears 0", () => {
  assert.deepEqual(decadesOf([0.001]), [-3, -2]);
  assert.deepEqual(decadesOf([2e-5, 0.3]), [-5, 0]);
  assert.deepEqual(decadesOf([]), [-1, 0]);
  const wide = structuredClone(CURVES);
  wide.series[1].points[1] = { x: 4, y: 0.01, low: -1, high: 0.02 };
  const [rows] = figureSpecValues(wide);
  assert.equal(rows.find(({ series, x }) => series === "uncoded & <plain>" && x === 4)!.low, 1e-4, "cut at the floor");
  const axis = position({ title: "", unit: "", scale: "log", domain: null }, [1e-12, 1]).axis;
  const labels = JSON.parse(/^\((\{.*\})\)/.exec(String(axis.labelExpr))![1]);
  assert.deepEqual(Object.keys(labels).length, 7, "every second of thirteen decades");
});

Deno.test("measured places become the ticks while they are few and apart", () => {
  const axis = { title: "SNR", unit: "dB", scale: "linear", domain: null } as const;
  assert.deepEqual(position(axis, [0, 5, 10], [0, 5, 10]).axis.values, [0, 5, 10]);
  assert.equal(position(axis, [0, 0.1, 10], [0, 0.1, 10]).axis.values, undefined);
  const uneven = [0, 3, 6, 9, 10, 13, 16];
  assert.equal(position(axis, uneven, uneven).axis.values, undefined, "uneven places get regular ticks");
  assert.equal(position(axis, [0, 30], Array.from({ length: 31 }, (_, i) => i)).axis.values, undefined);
});

Deno.test("the axis of a score ends at 1", () => {
  const score = { title: "F1", unit: "", scale: "linear", domain: null } as const;
  const end = (axis: FigureAxis, values: number[]) => (position(axis, values).scale.domain as number[])[1];
  assert.equal(end(score, [0.2, 0.99]), 1);
  assert.equal(end(score, [0, 0.73]), 1, "a score far below 1 is read against 1");
  assert.ok(end(score, [0, 0.05]) < 0.1, "small shares use the height of the figure");
  assert.ok(end(score, [0.2, 1.01]) > 1.01);
  assert.ok(end({ ...score, unit: "dB" }, [0.2, 0.99]) > 1);
  assert.equal((position(score, [-9e-5, 0.7]).scale.domain as number[])[0], 0, "an interval that ends just below 0");
  assert.ok((position(score, [-0.1, 0.7]).scale.domain as number[])[0] < -0.1);
});

Deno.test("numbers for readers keep what matters", () => {
  assert.deepEqual([0, 12, 0.5, 1234567, 2.14159e-4, -0.05, NaN].map((value) => numberText(value, "unicode")), [
    "0",
    "12",
    "0.5",
    "1.235×10⁶",
    "2.142×10⁻⁴",
    "−0.05",
    "–",
  ]);
  assert.equal(numberText(2.14159e-4, "latex"), "$2.142 \\times 10^{-4}$");
  assert.equal(numberText(null), "–");
  const shown = (mean: number, low: number, high: number, form: NumberForm, unit?: string) =>
    estimateText({ mean, low, high }, form, unit);
  const around = (mean: number, reach: number, form: NumberForm, unit?: string) =>
    shown(mean, mean - reach, mean + reach, form, unit);
  assert.equal(around(0.02131, 0.00042, "unicode"), "0.02131 ± 0.00042");
  assert.equal(around(30.123, 0.4567, "plain", "dB"), "30.12 +/- 0.46 dB");
  assert.equal(around(2.1234e-5, 4.5e-6, "unicode"), "(2.12 ± 0.45)×10⁻⁵");
  assert.equal(around(3, 0, "unicode"), "3");
  assert.equal(around(28.232363030473, 2e-15, "latex", "dB"), "$28.23$ dB");
  assert.equal(shown(6.8e-4, 4.25e-4, 1.09e-3, "unicode"), "6.8 [4.3, 10.9]×10⁻⁴");
  assert.equal(shown(0.1575, 0.153, 0.1621, "latex"), "$0.1575 [0.1530, 0.1621]$");
  // An interval far wider than its value.
  assert.equal(shown(7.75e-6, 0, 0.4875, "unicode"), "7.8×10⁻⁶ [0, 0.49]");
  assert.equal(shown(0.0035, 8.9e-5, 0.488, "plain"), "0.0035 [8.9e-5, 0.49]");
  const silent = { mean: null, low: null, high: null, bound: 7.5e-4 };
  assert.deepEqual(
    (["plain", "unicode", "latex"] as const).map((form) => estimateText(silent, form)),
    ["at most 7.5e-4", "at most 7.5×10⁻⁴", "at most $7.5 \\times 10^{-4}$"],
  );
  assert.deepEqual([estimateText(null), estimateText({ mean: null, low: null, high: null })], ["–", "–"]);
  assert.equal(superscript(-10), "⁻¹⁰");
});

Deno.test("a rate without events says what was seen, what it bounds, and how much more would bound a decade less", () => {
  const shown = (failed: Uint8Array, unit: StatisticalUnit, ends?: number[], complement = false) =>
    estimateText(rateEstimate({ ...countRate(failed, unit, ends), complement }, 0.95), "plain");
  const blocks = "0 errors in 8 blocks: BLER at most 0.31; about 300 blocks give 1e-2";
  assert.equal(shown(new Uint8Array(8), "transport_block"), blocks);
  // A bit error rate over eight blocks knows no more than that.
  const counts = countRate(new Uint8Array(80), "packet", [10, 20, 30, 40, 50, 60, 70, 80], true);
  assert.equal(estimateText(rateEstimate(counts, 0.95)), blocks);
  assert.equal(
    shown(new Uint8Array(400), "bit"),
    "0 errors in 400 bits: BER at most 0.0075; about 30\u202f000 bits give 1e-4",
  );
  assert.equal(
    shown(new Uint8Array(1), "source_item"),
    "0 errors in 1 item: share with errors at most 0.95; about 300 items give 1e-2",
  );
  assert.equal(
    shown(new Uint8Array(20).fill(1), "packet", undefined, true),
    "0 successes in 20 blocks: success rate at most 0.14; about 300 blocks give 1e-2",
  );
  assert.equal(
    estimateText(rateEstimate(countRate(new Uint8Array(3000), "bit"), 0.95), "latex"),
    "0 errors in 3\\,000 bits: BER at most $0.001$; about 30\\,000 bits give $10^{-4}$",
  );
});

Deno.test("the Pareto front is what no other point beats", () => {
  const points = [{ x: 1, y: 30 }, { x: 2, y: 29 }, { x: 2, y: 35 }, { x: 3, y: 35 }, { x: 1, y: 30 }];
  assert.deepEqual(paretoFront(points, "lower_is_better", "higher_is_better"), [true, false, true, false, true]);
  assert.deepEqual(paretoFront(points, "higher_is_better", "higher_is_better"), [false, false, false, true, false]);
  assert.deepEqual(paretoFront(points, "lower_is_better", "lower_is_better"), [true, true, false, false, true]);
  assert.deepEqual(paretoFront([], "lower_is_better", "higher_is_better"), []);
});

Deno.test("a heat map of 32 by 32 cells has places that do not touch and signs of bounds; of few cells each has its number", () => {
  const axis = (title: string, scale: "linear" | "log" = "linear"): FigureAxis => ({
    title,
    unit: "",
    scale,
    domain: null,
  });
  const map = (side: number): HeatFigure => ({
    ...BARS,
    type: "heat-map",
    form: "heat",
    x: axis("SNR"),
    y: axis("Speed"),
    value: axis("Error rate", "log"),
    columns: Array.from({ length: side }, (_, i) => String(i * 100)),
    rows: Array.from({ length: side }, (_, i) => String(i)),
    cells: Array.from({ length: side * side }, (_, i) => ({
      column: i % side,
      row: Math.floor(i / side),
      value: i === 0 ? null : 10 ** (-3 * i / side / side),
      low: null,
      high: null,
      ...(i === 0 ? { bound: 1e-3 } : {}),
    })),
  });
  type Place = { axis: { values: string[] } };
  const drawn = (side: number) => {
    const { data, layer } = figureSpec(map(side), STYLES.ieee) as unknown as {
      data: { values: { text: string }[] };
      layer: { encoding: { x: Place; y: Place } }[];
    };
    return { texts: data.values.map(({ text }) => text), ...layer[0].encoding };
  };
  const many = drawn(32), few = drawn(3);
  assert.deepEqual(many.texts.filter((text) => text !== ""), ["≤"]);
  const room = STYLES.ieee.width / many.x.axis.values.length;
  assert.ok(many.x.axis.values.length >= 5 && textWidth("3100", STYLES.ieee.font_size) < room, `${room}`);
  assert.ok(many.y.axis.values.length < 32);
  assert.deepEqual([few.texts[0], few.texts[8]], ["≤ 0.001", "0.0022"]);
  assert.equal(few.x.axis.values.length, 3);
});

Deno.test("series look the same whatever baselines and curves stand beside them", () => {
  const alone = seriesLooks(["measured", "measured"], STYLES.svc);
  const beside = seriesLooks(["baseline", "measured", "theory", "measured"], STYLES.svc);
  assert.deepEqual(beside.filter((_, i) => i % 2 === 1), alone);
  assert.equal(beside[2].marker, null);
  const many = seriesLooks(new Array(25).fill("measured"), STYLES.svc).map((look) => JSON.stringify(look));
  assert.equal(new Set(many).size, 25, "no two of 25 series look alike");
  assert.notDeepEqual(darkened(STYLES.svc).series, STYLES.svc.series);
});

Deno.test("a style file changes what it names and is refused as a whole otherwise", () => {
  assert.deepEqual(styleOf({ extends: "paper", width: 300 }), { ...STYLES.paper, name: "custom", width: 300 });
  assert.throws(
    () => styleOf({ widht: 300, ink: "red" }),
    (error: Error) => /widht.*ink|ink.*widht/s.test(error.message),
  );
  assert.throws(() => styleOf("paper"), { code: "usage_invalid" });
});

Deno.test("widths are those of the letters", () => {
  assert.ok(textWidth("iiii", 10) < textWidth("mmmm", 10));
  assert.ok(textWidth("abc", 10, 600) > textWidth("abc", 10));
  assert.equal(textWidth("abc", 20), 2 * textWidth("abc", 10));
  assert.ok(textWidth("漢", 10) > 0);
});

Deno.test("the table of a figure holds every digit, quoted where it must be", () => {
  const csv = figureCsv({ ...CURVES, series: [{ ...CURVES.series[0], label: 'a, "b"' }] });
  assert.equal(
    csv,
    "series,kind,x,y,low,high,upper_bound,outage,pareto_front,n\n" +
      '"a, ""b""",measured,0,0.02,0.01,0.03,,,,2\n"a, ""b""",measured,4,,0,0.0003,0.0003,,,2\n',
  );
  assert.equal(
    figureCsv(MATRIX).split("\n")[1],
    "bpsk,bpsk,9,0.9",
  );
  assert.equal(figureCsv(BARS).split("\n")[2], "b,baseline,40,,");
});
