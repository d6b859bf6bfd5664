/**
 * The files of a plot: specification, SVG, PNG and CSV, caption as text and for LaTeX, and `<name>.plot.json`, which binds them to their result: its
 * digest, the request with all defaults, and the digest of each file.
 */
import { visible } from "../../contract/escape.ts";
import { SvcError } from "../../contract/error.ts";
import { sha256Hex } from "../../contract/hash.ts";
import { parseJson, prettyJson } from "../../contract/json.ts";
import type { JsonObject } from "../../contract/value.ts";
import { figureCsv } from "../../figure/figure_csv.ts";
import { renderPdf } from "../../figure/pdf.ts";
import { pgfplots } from "../../figure/pgfplots.ts";
import { renderPng, renderSvg } from "../../figure/render.ts";
import { figureSpec } from "../../figure/spec.ts";
import { type FigureStyle, STYLES } from "../../figure/style.ts";
import { type Figure, FIGURE_FORMATS, type FigureFormat } from "../../figure/types.ts";
import { captionTexts } from "./caption.ts";
import { benchmarkFigure } from "./figure/figure_of.ts";
import type { PlotOutcome, PlotRequest, RowEvidence } from "./figure/types.ts";
import type { BenchmarkResult } from "../pack/types.ts";

/** How a plot is written. */
export interface PlotOptions {
  style?: FigureStyle;
  /** Of the files; default derived from the request. */
  name?: string;
  /** Default SVG and PNG. */
  format?: readonly FigureFormat[];
}

const PLOT_KIND = "svc.benchmark_plot";

export interface PlotFiles extends PlotOutcome {
  name: string;
  /** File name to contents, the `.plot.json` last. */
  files: Record<string, string | Uint8Array>;
}

/** Name of the files of a plot: type, axes, and the style unless it is the default. */
function nameOf({ plot, y, value: cells = y }: PlotOutcome, style: FigureStyle): string {
  const value = plot === "heat-map" ? cells : y;
  return [plot, ...(value === "" ? [] : [value]), ...(style.name === "svc" ? [] : [style.name])].join("_")
    .replace(/[^A-Za-z0-9._-]/g, "-");
}

/**
 * Creates a plot.
 * @param sha256 of the bytes of `result.json`
 * @throws SvcError `usage_invalid`
 */
export async function plotFiles(
  result: BenchmarkResult,
  sha256: string,
  request: PlotRequest,
  { style = STYLES.svc, evidence, name: wanted, format = ["svg", "png"], record = (binding) => binding }:
    & PlotOptions
    & {
      evidence?: RowEvidence;
      /** Completes the record of the plot. */
      record?: (binding: JsonObject) => JsonObject;
    } = {},
): Promise<PlotFiles> {
  checkFormats(format);
  const outcome = benchmarkFigure(result, sha256, request, evidence);
  const name = wanted ?? nameOf(outcome, style);
  const spec = figureSpec(outcome.figure, style);
  const files: PlotFiles["files"] = { [`${name}.vl.json`]: visible(JSON.stringify(spec, null, 2)) + "\n" };
  const svg = await renderSvg(spec, style);
  for (const one of FIGURE_FORMATS.filter((known) => format.includes(known))) {
    files[`${name}.${one}`] = await WRITERS[one](svg, style, outcome.figure);
  }
  files[`${name}.csv`] = figureCsv(outcome.figure);
  for (const [end, text] of Object.entries(captionTexts(result, sha256, outcome, request))) {
    files[`${name}.${end}`] = text;
  }
  files[`${name}.plot.json`] = prettyJson(record(bindingOf(result, sha256, request, style, outcome, files)));
  return { ...outcome, name, files };
}

/** @throws SvcError `usage_invalid` */
function checkFormats(format: readonly string[]): void {
  const unknown = format.filter((one) => !FIGURE_FORMATS.includes(one as FigureFormat));
  if (unknown.length === 0 && format.length > 0) return;
  throw new SvcError("usage_invalid", `Cannot write a figure as ${unknown.join(", ") || "nothing"}`, {
    hint: `Formats: ${FIGURE_FORMATS.join(", ")}`,
  });
}

type Writer = (svg: string, style: FigureStyle, figure: Figure) => string | Uint8Array | Promise<Uint8Array>;

const WRITERS: Readonly<Record<FigureFormat, Writer>> = {
  svg: (svg) => svg,
  png: renderPng,
  pdf: renderPdf,
  pgf(_svg, style, figure) {
    const text = pgfplots(figure, style);
    if (text !== null) return text;
    throw new SvcError("usage_invalid", "Cannot write this figure as pgf: pgfplots draws no confusion matrix", {
      hint: "Use --format pdf",
    });
  },
};

/** A member of names by id, where there are some. */
const named = (member: string, names: Readonly<Record<string, string>> = {}): JsonObject =>
  Object.keys(names).length === 0 ? {} : { [member]: { ...names } };

function bindingOf(
  { result_id, benchmark }: BenchmarkResult,
  sha256: string,
  request: PlotRequest,
  style: FigureStyle,
  { plot, x, y, value, group, bound, figure }: PlotOutcome,
  files: PlotFiles["files"],
): JsonObject {
  const drawn = figure.form === "curves" ? figure.series : [];
  return {
    schema_version: 1,
    kind: PLOT_KIND,
    result_id,
    result_sha256: sha256,
    benchmark: { id: benchmark.id, version: benchmark.version, sha256: benchmark.sha256 },
    plot,
    x: x || null,
    y: y || null,
    ...(value === undefined ? {} : { value }),
    group,
    method_order: [...(request.methodOrder ?? [])],
    recipes: request.recipes === undefined ? null : [...request.recipes],
    where: Object.fromEntries(Object.entries(request.where ?? {}).map(([id, value]) => [id, String(value)])),
    bound: bound || null,
    ...(plot === "difference" ? { baseline: request.baseline ?? null } : {}),
    ...(request.intervals === "items" ? { intervals: "items" } : {}),
    ...named("label", request.label),
    ...named("units", request.units),
    ...(figure.mark === undefined ? {} : { status: figure.mark }),
    theory: drawn.filter(({ kind }) => kind === "theory").map(({ label }) => label),
    style: parseJson(JSON.stringify(style)),
    files: Object.fromEntries(Object.entries(files).map(([name, contents]) => [name, { sha256: sha256Hex(contents) }])),
  };
}
