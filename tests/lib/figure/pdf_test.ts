import assert from "node:assert/strict";
import { join } from "node:path";
import { pdfOfForeign, renderPdf } from "../../../lib/figure/pdf.ts";
import { pgfplots } from "../../../lib/figure/pgfplots.ts";
import { renderSvg } from "../../../lib/figure/render.ts";
import { figureSpec } from "../../../lib/figure/spec.ts";
import { type FigureStyle, STYLES } from "../../../lib/figure/style.ts";
import type { BarFigure, BoxFigure, CurveFigure, Figure, HeatFigure, MatrixFigure } from "../../../lib/figure/types.ts";
import { needs } from "../../support/needs.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const base = { title: "Error rate", subtitle: "one link", source: { result_id: "r1" } };
const axis = { unit: "", scale: "linear", domain: null } as const;
const CURVES: CurveFigure = {
  ...base,
  type: "error-rate",
  form: "curves",
  x: { ...axis, title: "Es/N0", unit: "dB" },
  y: { ...axis, title: "Block error rate", scale: "log" },
  series: [
    {
      label: "α = ½, coded",
      kind: "measured",
      points: [{ x: 0, y: 0.1, low: 0.05, high: 0.2 }, { x: 4, y: 0.01, low: null, high: null }],
    },
    {
      label: "rate_1 & 50 %",
      kind: "baseline",
      points: [{ x: 0, y: 0.3, low: null, high: null }, { x: 4, y: null, low: 0, high: 1e-3, bound: 1e-3 }],
    },
    {
      label: "Theory",
      kind: "theory",
      points: [{ x: 0, y: 0.2, low: null, high: null }, { x: 4, y: 0.02, low: null, high: null }],
    },
  ],
  step: false,
  front: null,
};
const BARS: BarFigure = {
  ...base,
  type: "channel-uses",
  form: "bars",
  value: { ...axis, title: "Channel uses" },
  bars: [{ label: "a", kind: "measured", value: 100, low: 90, high: 110 }],
};
const MATRIX: MatrixFigure = {
  ...base,
  type: "confusion-matrix",
  form: "matrix",
  labels: ["cat", "dog"],
  counts: [[8, 2], [1, 9]],
};
const HEAT: HeatFigure = {
  ...base,
  type: "heat-map",
  form: "heat",
  x: { ...axis, title: "Es/N0", unit: "dB" },
  y: { ...axis, title: "Speed", unit: "m/s" },
  value: { ...axis, title: "Block error rate", scale: "log" },
  columns: ["-2", "0"],
  rows: ["1", "30"],
  cells: [
    { column: 0, row: 0, value: 0.1, low: null, high: null },
    { column: 1, row: 0, value: null, low: null, high: null, bound: 1e-3 },
    { column: 1, row: 1, value: 0.02, low: null, high: null },
  ],
};
const BOXES: BoxFigure = {
  ...base,
  type: "box",
  form: "boxes",
  x: { ...axis, title: "Es/N0", unit: "dB" },
  value: { ...axis, title: "PSNR", unit: "dB" },
  series: [{ label: "plain", kind: "baseline" }, { label: "coded_2", kind: "measured" }],
  places: ["-2"],
  boxes: [
    { series: "plain", place: "-2", n: 9, low: 1, q1: 3, median: 5, q3: 7, high: 8, outliers: [30, 31] },
    { series: "coded_2", place: "-2", n: 4, low: 2, q1: 3, median: 4, q3: 7, high: 9, outliers: [] },
  ],
};
const LYING: BoxFigure = { ...BOXES, x: null, places: [""], boxes: BOXES.boxes.map((box) => ({ ...box, place: "" })) };
const FORMS = { bars: BARS, matrix: MATRIX, heat: HEAT, boxes: BOXES, lying: LYING };

const pdfOf = async (figure: Figure, style: FigureStyle) =>
  await renderPdf(await renderSvg(figureSpec(figure, style), style));

/** What a program prints. */
async function printed(program: string, args: string[], cwd?: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd, stdin: "null" }).output();
  assert.ok(success, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

async function started(program: string, argument: string): Promise<string | null> {
  try {
    await new Deno.Command(program, { args: [argument], stdout: "null", stderr: "null" }).output();
    return program;
  } catch {
    return null;
  }
}

const inFolder = (body: (folder: string) => Promise<void>) => body(temporaryFolder("svc-pdf-"));

Deno.test("a PDF has the same bytes each time, no date, and nothing of the machine", async () => {
  const [first, second] = [await pdfOf(CURVES, STYLES.ieee), await pdfOf(CURVES, STYLES.ieee)];
  assert.deepEqual(first, second);
  const text = new TextDecoder("latin1").decode(first);
  assert.match(text, /^%PDF-1\./);
  assert.match(text, /%%EOF\s*$/);
  assert.doesNotMatch(text, /\/CreationDate|\/ModDate|\/Author/);
  assert.equal(text.match(/\/FontFile2/g)?.length, 2, "both weights are embedded");
});

Deno.test("an SVG of somebody else becomes a PDF only if it has shapes and texts alone", async () => {
  const figures: Figure[] = [CURVES, BARS, HEAT, BOXES];
  for (const figure of figures) {
    const svg = await renderSvg(figureSpec(figure, STYLES.svc), STYLES.svc);
    assert.deepEqual(await pdfOfForeign(svg), await renderPdf(svg), figure.type);
  }
  const wrapped = (inner: string) => `<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10">${inner}</svg>`;
  const hostile = [
    '<image href="/etc/passwd"/>',
    "<script>1</script>",
    "<style>@import url(x)</style>",
    "<foreignObject/>",
    '<linearGradient id="a" HREF="#a"/>',
    '<use xlink:href="#a"/>',
    "<!DOCTYPE x>",
    "<?xml-stylesheet?>",
    '<clipPath id="a" clip-path="url(#a)"><rect width="1" height="1" clip-path="url(#a)"/></clipPath><g clip-path="url(#a)"/>',
  ];
  for (const inner of hostile.slice(0, -1)) {
    await assert.rejects(pdfOfForeign(wrapped(inner)), { code: "usage_invalid" }, inner);
  }
  await assert.rejects(pdfOfForeign("<svg>"), { code: "usage_invalid" });
  await pdfOfForeign(wrapped(hostile.at(-1)!)).catch((error) => assert.equal(error.code, "usage_invalid"));
});

Deno.test("pictures of other places are left out of a PDF", async () => {
  const svg = (href: string) =>
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="10" height="10">
<image xlink:href="${href}" width="10" height="10"/></svg>`;
  const secret = await Deno.makeTempFile({ suffix: ".png" });
  try {
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    await Deno.writeFile(secret, Uint8Array.fromBase64(png));
    const shown = async (href: string) =>
      new TextDecoder("latin1").decode(await renderPdf(svg(href))).includes("/Subtype /Image");
    assert.equal(await shown(secret), false);
    assert.equal(await shown(`data:image/png;base64,${png}`), true);
  } finally {
    await Deno.remove(secret);
  }
});

Deno.test({
  name: "other programs read size, fonts and texts of a PDF, and draw it",
  ...needs("pdftotext and pdffonts (poppler-utils)", await started("pdffonts", "-v")),
  fn: () =>
    inFolder(async (folder) => {
      const widths = { ieee: 252, "ieee-wide": 515.5, springer: 238.1, "springer-wide": 493.2 } as const;
      for (const [name, limit] of Object.entries(widths)) {
        const path = join(folder, `${name}.pdf`);
        await Deno.writeFile(path, await pdfOf(CURVES, STYLES[name as keyof typeof widths]));
        const [, width] = /Page size: +([\d.]+) x/.exec(await printed("pdfinfo", [path]))!;
        assert.ok(Number(width) <= limit && Number(width) > limit - 12, `${name}: ${width} of ${limit} points`);
      }
      const path = join(folder, "ieee.pdf"), fonts = await printed("pdffonts", [path]);
      assert.match(fonts, /Inter-Regular +CID TrueType +Identity-H +yes yes yes/);
      const text = await printed("pdftotext", [path, "-"]);
      for (const part of ["Block error rate", "Es/N0 (dB)", "α = ½, coded", "rate_1 & 50 %"]) {
        assert.ok(text.includes(part), text);
      }
      for (const [name, figure] of Object.entries(FORMS)) {
        const file = join(folder, `${name}.pdf`);
        await Deno.writeFile(file, await pdfOf(figure, STYLES.ieee));
        await printed("pdftoppm", ["-png", "-singlefile", file, join(folder, name)]);
        assert.ok((await Deno.stat(join(folder, `${name}.png`))).size > 1000, name);
      }
    }),
});

Deno.test({
  name: "LaTeX draws the pgfplots form of every figure but a confusion matrix",
  ...needs("pdflatex with pgfplots (texlive-pictures)", await started("pdflatex", "--version")),
  fn: () =>
    inFolder(async (folder) => {
      const guided: CurveFigure = { ...CURVES, guides: [{ axis: "y", at: 0.1, label: "plain & old", whole: true }] };
      const lost: CurveFigure = {
        ...CURVES,
        lost: true,
        series: CURVES.series.map((one) => ({
          ...one,
          points: one.points.map((point, at) => ({
            ...point,
            ...(at === 0 ? { y: null } : {}),
            outage: at === 0 ? 1 : 0.5,
          })),
        })),
      };
      const crossed = pgfplots(lost, STYLES.ieee)!;
      assert.match(crossed, /draw\[svc\w+\] plot\[only marks, mark=x.*rel axis cs:0,0\.95/);
      assert.equal(crossed.split("mark=x, mark size=4pt, thick}").length, 2, "one entry of the legend");
      const inputs = [CURVES, guided, lost, BARS, HEAT, BOXES, LYING].flatMap((figure) =>
        [STYLES.ieee, STYLES.svc].map((style) => pgfplots(figure, style)!)
      );
      assert.equal(pgfplots(MATRIX), null);
      const text = [
        "\\documentclass{article}",
        "\\usepackage[utf8]{inputenc}",
        "\\usepackage{pgfplots}",
        "\\usepgfplotslibrary{statistics}",
        "\\pgfplotsset{compat=1.18}",
        "\\begin{document}",
        ...inputs,
        "\\end{document}",
      ];
      await Deno.writeTextFile(
        join(folder, "a.tex"),
        text.join("\n").replaceAll("α", "$\\alpha$").replaceAll("½", "1/2"),
      );
      await printed("pdflatex", ["-interaction=nonstopmode", "-halt-on-error", "a.tex"], folder);
      assert.ok((await Deno.stat(join(folder, "a.pdf"))).size > 1000);
    }),
});
