/**
 * Drawing a benchmark: an error-rate figure of 84 points, and the tables of 4200 rows.
 *
 *     deno run -A tests/bench/plot_bench.ts
 *
 * Aims: below 300 ms for specification and SVG once the libraries are loaded (they take about half a second), below 1 s
 * for the tables.
 */
import { exportTexts } from "../../lib/study/report/export.ts";
import { benchmarkFigure } from "../../lib/study/report/figure/figure_of.ts";
import { renderPng, renderSvg } from "../../lib/figure/render.ts";
import { figureSpec } from "../../lib/figure/spec.ts";
import { STYLES } from "../../lib/figure/style.ts";
import { errorRateResult } from "../lib/study/result_fixture.ts";
import { ms, row, sized, time } from "./measure.ts";

const result = errorRateResult(5);
const started = performance.now();
const { figure } = benchmarkFigure(result, "00".repeat(32));
const svg = await renderSvg(figureSpec(figure, STYLES.svc), STYLES.svc);
row("first figure, libraries loaded on the way", ms(performance.now() - started));
row(
  "figure: result to SVG",
  ms(
    await time(9, () => {
      return renderSvg(figureSpec(benchmarkFigure(result, "00".repeat(32)).figure, STYLES.svc), STYLES.svc);
    }),
  ),
  "aim < 300 ms",
);
row("PNG of 1500 x 830 pixels", ms(await time(9, () => renderPng(svg, STYLES.svc))));
const large = errorRateResult(sized(200, 2), 100);
row("tables of 4200 rows", ms(await time(5, () => exportTexts(large))), "aim < 1 s");
