/**
 * A result as one static HTML page: figures, tables, protocol and digests. The page is self-contained: figures and font
 * are embedded, there is no script, and its policy forbids every request.
 */
import { prettyJson } from "../../contract/json.ts";
import { SvcError } from "../../contract/error.ts";
import { escapeXml } from "../../contract/escape.ts";
import { isObject, type JsonObject } from "../../contract/value.ts";
import inter from "../../figure/font/inter.json" with { type: "json" };
import { renderSvg } from "../../figure/render.ts";
import { figureSpec } from "../../figure/spec.ts";
import { darkened, type FigureStyle, STYLES } from "../../figure/style.ts";
import { FIGURE_TYPES, type FigureType } from "../../figure/types.ts";
import { reportFacts } from "./export.ts";
import { benchmarkFigure, requireComplete } from "./figure/figure_of.ts";
import type { PlotOutcome, RowEvidence } from "./figure/types.ts";
import { reportTables } from "./report_tables.ts";
import { tableHtml } from "./table.ts";
import { allRows, countsOf, firstOf } from "../rows/stored_rows.ts";
import type { BenchmarkResult } from "../pack/types.ts";

function factsHtml(facts: readonly (readonly [string, string])[]): string {
  const lines = facts.map(([name, value]) => {
    const shown = /^[0-9a-f]{64}$/.test(value) ? `<code>${value}</code>` : escapeXml(value);
    return `<tr><th scope="row">${escapeXml(name)}</th><td>${shown}</td></tr>`;
  });
  return `<div class="scroll"><table class="facts"><tbody>${lines.join("\n")}</tbody></table></div>`;
}

/** Makes definition names in an image unique in the page. */
function inlineSvg(svg: string, prefix: string, className: string): string {
  const named = svg.trim().replace(/\b((?:clip|gradient|pattern)_?\d+)\b/g, `${prefix}-$1`);
  return named.replace(/^<svg /, `<svg data-figure="${prefix}" `).replace(/class="marks"/, `class="${className}"`);
}

/**
 * All figures that the result has data for, first that of its pack. A distribution over all points of a sweep has
 * little meaning: it is drawn on request, or if no other figure is possible. Boxes, differences and
 * heat maps are drawn on request.
 */
export function figuresOf(result: BenchmarkResult, sha256: string, evidence?: RowEvidence): PlotOutcome[] {
  const outcomes: PlotOutcome[] = [];
  const wanted = benchmarkTypes(result);
  for (const plot of wanted) {
    try {
      if (!ON_REQUEST.has(plot) || plot === wanted[0] || plot === "cdf" && outcomes.length === 0) {
        outcomes.push(benchmarkFigure(result, sha256, { plot }, evidence));
      }
    } catch (error) {
      // Figures without data are omitted.
      if (!(error instanceof SvcError) || error.code !== "usage_invalid") throw error;
    }
  }
  return outcomes;
}

const ON_REQUEST: ReadonlySet<FigureType> = new Set(["cdf", "box", "difference", "heat-map"]);

function benchmarkTypes({ benchmark }: BenchmarkResult): FigureType[] {
  const { default_plot: asked } = benchmark.metadata;
  const preferred = isObject(asked) ? FIGURE_TYPES.filter((type) => type === asked.plot) : [];
  return [...new Set([...preferred, ...FIGURE_TYPES])];
}

async function figureHtml({ plot, figure }: PlotOutcome, style: FigureStyle): Promise<string> {
  const pictures: string[] = [];
  // One at a time: the library numbers definitions per image.
  for (const [look, name] of [[style, "on-light"], [darkened(style), "on-dark"]] as const) {
    pictures.push(inlineSvg(await renderSvg(figureSpec(figure, look), look), `${plot}-${name}`, name));
  }
  return `<figure id="figure-${plot}">\n${pictures.join("\n")}\n<figcaption><strong>${
    escapeXml(figure.title)
  }.</strong> ${escapeXml(figure.subtitle)}</figcaption>\n</figure>`;
}

/** Context of the numbers: data, task, conditions, budget, seeds, execution. */
function protocolOf({ benchmark, replication, execution, storage }: BenchmarkResult): [string, JsonObject][] {
  const { dataset, task, metadata } = benchmark;
  const parts: [string, JsonObject | null][] = [
    ["Dataset", dataset],
    ["Task", task],
    ["Replication", replication],
    ["Conditions and further declarations", metadata],
    ["Execution", { ...execution, storage }],
  ];
  return parts.filter((part): part is [string, JsonObject] => part[1] !== null && Object.keys(part[1]).length > 0);
}

/** So many rows are on a page; the parts of the result have all. */
const MOST_ROWS = 1000;

function rowsHtml(result: BenchmarkResult): string {
  const { count } = countsOf(result);
  const title = count > MOST_ROWS ? `the first ${MOST_ROWS} of ${count} rows` : `all ${count} rows`;
  const lines = [...firstOf(allRows(result), MOST_ROWS)].map((row) =>
    `<tr><th scope="row">${escapeXml(row.id)}</th><td class="r">${row.replicate}</td><td>${
      escapeXml(row.status)
    }</td>` +
    `<td><code>${escapeXml(row.recipe_sha256 ?? "–")}</code></td><td><code>${
      escapeXml(row.run_id ?? "–")
    }</code></td></tr>`
  );
  return [
    `<details><summary>Recipes and runs of ${title}</summary>`,
    `<div class="scroll" tabindex="0" role="region" aria-label="Recipes and runs"><table><thead><tr>`,
    `<th scope="col">Recipe</th><th scope="col" class="r">Replicate</th><th scope="col">Status</th>`,
    `<th scope="col">Effective recipe, SHA-256</th><th scope="col">Run</th></tr></thead>`,
    `<tbody>${lines.join("\n")}</tbody></table></div></details>`,
  ].join("\n");
}

/** The embedded font of figures and page. */
function fontFaces(): string {
  return Object.entries(inter.woff2_base64).map(([weight, bytes]) =>
    `@font-face { font-family: Inter; font-weight: ${weight}; src: url(data:font/woff2;base64,${bytes}) format("woff2"); }`
  ).join("\n");
}

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data:";

/**
 * The page of a result.
 * @param sha256 of the bytes of `result.json`
 * @returns HTML text, the same for the same result
 * @throws SvcError `benchmark_incomplete`
 */
export async function publishPage(
  result: BenchmarkResult,
  sha256: string,
  evidence?: RowEvidence,
): Promise<string> {
  requireComplete(result);
  const { default: style } = await import("./publish.css", { with: { type: "text" } });
  const { benchmark } = result;
  const title = `${benchmark.name || benchmark.id}, version ${benchmark.version}`;
  const figures: string[] = [];
  for (const outcome of figuresOf(result, sha256, evidence)) {
    figures.push(await figureHtml(outcome, { ...STYLES.svc, title_size: 0 }));
  }
  const tables = reportTables(result, "unicode");
  const sections = [["figures", "Figures"], ["tables", "Tables"], ["protocol", "Protocol"], ["evidence", "Evidence"]]
    .filter(([id]) => id !== "figures" || figures.length > 0);
  const { count, completed } = countsOf(result);
  const partial = completed === count ? "" : `<p class="warn">${count - completed} of ` +
    `${count} rows did not complete; the tables name them.</p>\n`;
  const digests: [string, string][] = [
    ["result.json", sha256],
    ["Pack", benchmark.sha256],
    ["First event of the attempt", result.attempt_ledger.start_event_sha256],
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="svc-result-sha256" content="${sha256}">
<title>${escapeXml(title)}</title>
<style>
${fontFaces()}
${style}</style>
</head>
<body>
<header>
<h1>${escapeXml(title)}</h1>
<p class="lead">Benchmark result ${escapeXml(result.result_id)}, completed ${
    escapeXml(result.completed_at_utc ?? "–")
  }</p>
<nav aria-label="Sections"><ul>${
    sections.map(([id, name]) => `<li><a href="#${id}">${name}</a></li>`).join("")
  }</ul></nav>
</header>
<main>
${partial}${figures.length === 0 ? "" : `<section id="figures">\n<h2>Figures</h2>\n${figures.join("\n")}\n</section>`}
<section id="tables">
<h2>Tables</h2>
${tables.map(tableHtml).join("\n")}
</section>
<section id="protocol">
<h2>Protocol</h2>
${factsHtml(reportFacts(result))}
${
    protocolOf(result).map(([name, value]) =>
      `<details><summary>${name}</summary>\n<pre>${escapeXml(prettyJson(value).trimEnd())}</pre></details>`
    ).join("\n")
  }
</section>
<section id="evidence">
<h2>Evidence</h2>
<p>Everything on this page is derived from one file, <code>result.json</code>; these are SHA-256 digests.</p>
${factsHtml(digests)}
${rowsHtml(result)}
<p>With the result in the state directory, this proves it and makes its tables again:</p>
<pre>svc benchmark verify ${escapeXml(result.result_id)}
svc benchmark export ${escapeXml(result.result_id)}</pre>
</section>
</main>
</body>
</html>
`;
}
