/** Every writer gets texts that attack its readers, in every field of a result. */
import assert from "node:assert/strict";
import { exportTexts } from "../../../lib/study/report/export.ts";
import { plotFiles } from "../../../lib/study/report/plot_files.ts";
import { publishPage } from "../../../lib/study/report/publish.ts";
import { type RunsTable, runsTableCsv, runsTableText } from "../../../lib/study/report/runs_table.ts";
import type { BenchmarkResult } from "../../../lib/study/pack/types.ts";
import { Float, float } from "../../../lib/contract/value.ts";
import { htmlTable } from "../../../lib/figure/display.ts";
import { latexTable } from "../../../lib/figure/latex.ts";
import { pgfplots } from "../../../lib/figure/pgfplots.ts";
import { STYLES } from "../../../lib/figure/style.ts";
import { graphDot, graphMermaid, graphText, type RecipeGraph } from "../../../lib/figure/graph/graph.ts";
import { graphSvg } from "../../../lib/figure/graph/svg.ts";
import { formatTable } from "../../../lib/cli/table.ts";
import { pivotCsv, pivotLatex, pivotMarkdown } from "../../../ui/compare/pivot.ts";
import { FORBIDDEN, HOSTILE_TEXTS } from "../../support/hostile_texts.ts";
import { errorRateResult } from "./result_fixture.ts";
import { isSampled } from "../../support/sample.ts";

/** Fields with words of the program. */
const WORDS =
  /^(status|kind|ci_method|direction|statistic|unit|pairing|p_method|stop_reason|counts|family)$|sha256$|_utc$/;

/** A document with a text behind all others, and in the names that are ids. */
function poisoned<T>(value: T, text: string, ids: RegExp): T {
  const walk = (item: unknown): unknown => {
    if (typeof item === "string") return text + item;
    if (Array.isArray(item)) return item.map(walk);
    if (typeof item !== "object" || item === null || item instanceof Float) return item;
    return Object.fromEntries(
      Object.entries(item).map((
        [name, member],
      ) => [ids.test(name) ? text + name : name, WORDS.test(name) ? member : walk(member)]),
    );
  };
  return walk(value) as T;
}

const fieldsOf = (csv: string): string[] =>
  [...csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(?:,|\n)/g)].map(([, quoted, plain]) => quoted ?? plain);

const LATEX = new Set(
  ("textbackslash textasciitilde textasciicircum begin end centering caption label toprule midrule bottomrule circ pm le " +
    "times mu usepackage definecolor addplot addlegendentry addlegendimage draw pgfkeysvalueof texttt mathrm").split(
      " ",
    ),
);

/** What each form of a file must hold to, whatever the texts are. */
const RULES: Readonly<Record<string, (text: string) => void>> = {
  csv(text) {
    for (const field of fieldsOf(text)) assert.doesNotMatch(field, /^[=+\-@\t\r\n](?![\d.]+(e[-+]?\d+)?$)/, field);
  },
  md(text) {
    assert.doesNotMatch(text, /(?<!\\)<(?! )|^forged|^\\input|(?<!\\)\]\(/m);
    for (const table of text.split(/\n(?!\|)/)) {
      const widths = new Set(
        table.split("\n").filter((line) => line.startsWith("| ")).map((line) => line.split(/(?<!\\)\|/).length),
      );
      assert.ok(widths.size <= 1, table);
    }
  },
  tex(text) {
    for (const line of text.split("\n")) {
      if (line.startsWith("%")) continue;
      for (const [, command] of line.matchAll(/(?<!\\)\\([A-Za-z]+)/g)) assert.ok(LATEX.has(command), line);
    }
    assert.doesNotMatch(text, /^forged|^\\input/m);
  },
  html: (text) => assert.doesNotMatch(text, /<(script|img|b>)/i),
  svg: (text) => assert.doesNotMatch(text, /<(script|img|b>)/i),
  json: (text) => void JSON.parse(text),
  txt: (text) => assert.doesNotMatch(text, /^forged/m),
};

function hold(files: Readonly<Record<string, string | Uint8Array>>, name: string): void {
  for (const [file, text] of Object.entries(files)) {
    if (typeof text !== "string") continue;
    assert.doesNotMatch(text, FORBIDDEN, `${file} with ${name}`);
    try {
      RULES[file.split(".").at(-1)!](text);
    } catch (error) {
      throw new Error(`${file} with ${name}: ${error}`, { cause: error });
    }
  }
}

const failed = (): BenchmarkResult => {
  const result = errorRateResult(2);
  Object.assign(result.recipes[0], { status: "failed", error: { code: "step_failed", message: "lost" }, metrics: {} });
  return { ...result, error: { code: "benchmark_failed", message: "stopped" } };
};

for (const [index, [name, text]] of Object.entries(HOSTILE_TEXTS).entries()) {
  if (!isSampled(index, 2)) continue;
  Deno.test(`exports of a result, every text of it ${name}`, async () => {
    hold(exportTexts(poisoned(failed(), text, /^channel\.|^snr_db$/)), name);
    const result = poisoned(errorRateResult(2), text, /^$/);
    // Axes and metrics are ids of the catalogue; all other texts are those of others.
    const plain = errorRateResult(2);
    const shown: BenchmarkResult = {
      ...result,
      benchmark: { ...result.benchmark, metrics: plain.benchmark.metrics, default_plot: undefined } as never,
      recipes: result.recipes.map((row, index) => ({
        ...row,
        matrix_selection: plain.recipes[index].matrix_selection,
        metric_metadata: plain.recipes[index].metric_metadata,
      })),
      aggregates: result.aggregates.map((row, index) => ({ ...row, metric: plain.aggregates[index].metric })),
      comparisons: [],
    };
    const { files, figure } = await plotFiles(shown, "5a".repeat(32), {}, STYLES.compact);
    const { [Object.keys(files).find((file) => file.endsWith(".plot.json"))!]: _record, ...drawn } = files;
    hold({ ...drawn, "figure.tex": pgfplots(figure)!, "page.html": await publishPage(shown, "5a".repeat(32)) }, name);
  });

  Deno.test(`tables, graphs and pivots, every text of them ${name}`, () => {
    const graph: RecipeGraph = {
      schema_version: 1,
      recipe: text,
      nodes: [{ id: `${text}1`, op: text, name: text, outputs: { [text]: text } }, {
        id: `${text}2`,
        op: text,
        name: text,
        outputs: {},
      }],
      edges: [{ from_step: `${text}1`, from_output: text, to_step: `${text}2`, to_input: text }],
    };
    const table: RunsTable = {
      schema_version: 1,
      coordinates: [text],
      metrics: [{ id: text, unit: text }],
      rows: [{
        run_id: text,
        recipe_name: text,
        family: text,
        status: "failed",
        created_at_utc: text,
        coordinates: { [text]: text },
        metrics: {
          [text]: { mean: float(1), ci_low: null, ci_high: null, upper_bound: null, ci_method: null, unit: text },
        },
      }],
    };
    const pivot = { rowName: text, columnName: text, metric: text, rows: [text], columns: [text], cells: [[null]] };
    const rows = [{ [text]: text, other: text }], columns = [text, { key: "other", title: text }];
    hold({
      "graph.svg": graphSvg(graph),
      "graph.txt": graphText(graph),
      "runs.csv": runsTableCsv(table),
      "runs.md": runsTableText(table, "md"),
      "runs.tex": runsTableText(table, "tex"),
      "table.html": htmlTable([text], [[text]]),
      "table.tex": latexTable({ caption: text, label: text, align: "l", head: [], rows: [] }),
      "pivot.csv": pivotCsv(pivot),
      "pivot.md": pivotMarkdown(pivot),
      "pivot.tex": pivotLatex(pivot),
      "cells.txt": formatTable(rows, columns),
      "cells.csv": formatTable(rows, columns, "csv"),
      "cells.md": formatTable(rows, columns, "md"),
    }, name);
    assert.doesNotMatch(graphMermaid(graph) + graphDot(graph), FORBIDDEN);
    assert.doesNotMatch(graphMermaid(graph), /<(?!br\/>)/);
    assert.equal(graphMermaid(graph).split("\n").length, 5);
    assert.equal(graphDot(graph).split("\n").length, 8);
  });
}
