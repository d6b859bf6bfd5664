/**
 * Stored results as files for readers: tables, plots and pages, written to the folder of the result or to another one.
 */
import { resolve } from "node:path";
import { inside, makeFolderOf, readFile } from "../../artifact/inside.ts";
import { writeFileAtomic } from "../../artifact/write_file.ts";
import { SvcError } from "../../contract/error.ts";
import { sha256Hex } from "../../contract/hash.ts";
import { isObject, type JsonObject } from "../../contract/value.ts";
import { parseJson } from "../../contract/json.ts";
import { confusionOf } from "../../figure/confusion_of.ts";
import { RECIPE_FILE } from "../../run/documents.ts";
import { DISK, replaceFile } from "../../run/files.ts";
import type { Workspace } from "../../run/workspace.ts";
import { readSnapshot } from "../rows/evidence.ts";
import { allRows, plannedRows, recipeRows } from "../rows/stored_rows.ts";
import { exportFiles, exportTexts } from "./export.ts";
import type { PlotRequest, RowEvidence } from "./figure/types.ts";
import { rowKey } from "../rows/ledger.ts";
import { type PlotFiles, plotFiles, type PlotOptions } from "./plot_files.ts";
import { figuresOf, publishPage } from "./publish.ts";
import { showBenchmarkResult } from "../rows/store.ts";
import { FIGURES_FOLDER } from "./verify_plots.ts";
import { type BenchmarkResult, MAX_RESULT_BYTES, RESULT_FILE, type ResultRow, type Snapshot } from "../pack/types.ts";

/** The written files. */
export interface WrittenFiles {
  result_id: string;
  result_sha256: string;
  /** Absolute. */
  directory: string;
  /** Names relative to it. */
  files: string[];
}

interface OpenedResult {
  result: BenchmarkResult;
  /** Of the bytes of `result.json`. */
  sha256: string;
  bytes: Uint8Array;
  directory: string;
  evidence: RowEvidence;
}

function open(workspace: Workspace, wanted: string): OpenedResult {
  const { result, directory } = showBenchmarkResult(workspace, wanted);
  const bytes = readFile(inside(directory, RESULT_FILE), MAX_RESULT_BYTES);
  return {
    result,
    directory,
    bytes,
    sha256: sha256Hex(bytes),
    evidence: evidenceOf(directory, plannedRows(result, directory)),
  };
}

/** So many snapshots stay in memory. */
const MOST_SNAPSHOTS = 256;

/** Recipes and reports from the snapshots. */
function evidenceOf(directory: string, planned: number): RowEvidence {
  const snapshots = new Map<string, Snapshot | null>();
  const snapshot = (row: ResultRow) => {
    const key = rowKey(row.id, row.replicate), known = snapshots.get(key);
    if (known !== undefined) return known;
    const read = row.run_evidence_snapshot === null ? null : readSnapshot(directory, row.run_evidence_snapshot);
    if (snapshots.size === MOST_SNAPSHOTS) snapshots.clear();
    snapshots.set(key, read);
    return read;
  };
  const objectOf = (text: string | undefined): JsonObject | null => {
    const value = text === undefined ? null : parseJson(text);
    return isObject(value) ? value : null;
  };
  return {
    planned,
    recipe: (row) => objectOf(snapshot(row)?.documents[RECIPE_FILE]),
    reports: (row) => Object.values(snapshot(row)?.reports ?? {}).map(objectOf).filter((report) => report !== null),
  };
}

/** Writes files into a folder, which is created. */
export function writeFiles(directory: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  Deno.mkdirSync(directory, { recursive: true });
  for (const [name, contents] of Object.entries(files)) writeFileAtomic(inside(directory, name), contents);
}

/**
 * Writes the tables of a result again: metrics.csv, recipes.csv, summary.md, summary.tex and, for more than one
 * replicate, aggregates.csv and comparisons.csv. The same result gives the same bytes.
 * @param wanted id or a unique prefix
 * @param options `out` is the output folder; default that of the result. `evidence` also writes what the result keeps of each
 *   run to `runs/<run_id>/`, where the rows name their manifests; it needs a folder of its own
 * @throws SvcError `result_not_found`, `usage_invalid`
 */
export function exportBenchmark(
  workspace: Workspace,
  wanted: string,
  options: { out?: string; evidence?: boolean } = {},
): WrittenFiles {
  const { result, sha256, directory, evidence } = open(workspace, wanted);
  if (options.evidence && options.out === undefined) {
    throw new SvcError("usage_invalid", "Cannot write evidence into the result itself", {
      hint: "Add a folder: --out paper/evidence",
    });
  }
  const target = options.out === undefined ? directory : resolve(options.out);
  const files = writeExport(result, target, evidence);
  for (const row of options.evidence ? allRows(result) : []) files.push(...writeEvidence(row, directory, target));
  return { result_id: result.result_id, result_sha256: sha256, directory: target, files };
}

/** Writes the documents and reports of a run as they were hashed. @returns their paths */
function writeEvidence({ run_id, run_evidence_snapshot: record }: ResultRow, result: string, target: string): string[] {
  if (record === null) return [];
  const { documents, reports } = readSnapshot(result, record);
  const texts = Object.entries({ ...documents, ...reports }).map(([name, text]) => [`runs/${run_id}/${name}`, text]);
  for (const [path, text] of texts) {
    const file = inside(target, path);
    makeFolderOf(file);
    writeFileAtomic(file, text);
  }
  return texts.map(([path]) => path);
}

function writeExport(result: BenchmarkResult, target: string, { planned }: RowEvidence): string[] {
  Deno.mkdirSync(target, { recursive: true });
  const files = Object.entries(exportFiles(result, planned));
  for (const [name, pieces] of files) replaceFile(DISK, inside(target, name), pieces(), true);
  return files.map(([name]) => name);
}

/**
 * The tables of a result as {@link exportBenchmark} writes them, without writing; of a result with parts those whose size
 * does not grow with rows. @throws SvcError `result_not_found`
 */
export function exportedTables(workspace: Workspace, wanted: string) {
  const { result, sha256, evidence } = open(workspace, wanted);
  return { result_id: result.result_id, result_sha256: sha256, files: exportTexts(result, evidence.planned) };
}

/**
 * The files of a plot as {@link plotBenchmark} writes them, without writing; and whether the reports have a confusion
 * matrix besides the drawn data. @throws SvcError as {@link plotBenchmark}
 */
export async function drawnPlot(
  workspace: Workspace,
  wanted: string,
  request: PlotRequest,
): Promise<PlotFiles & { confusion: boolean }> {
  const { result, sha256, evidence } = open(workspace, wanted);
  // Rows of one pack have the same measurements: the first is representative.
  const row = recipeRows(result).find(({ status }) => status === "completed");
  const confusion = row !== undefined && evidence.reports(row).some((report) => confusionOf(report) !== null);
  return { ...await plotFiles(result, sha256, request, { evidence }), confusion };
}

/**
 * Draws a result: specification, SVG, PNG, CSV and the record that binds them to it.
 * @param wanted id or a unique prefix
 * @param options `out` is the output folder, default `figures` in that of the result; `name` that of the files
 * @throws SvcError `result_not_found`, `usage_invalid`
 */
export async function plotBenchmark(
  workspace: Workspace,
  wanted: string,
  request: PlotRequest = {},
  { out, ...options }: PlotOptions & { out?: string } = {},
): Promise<WrittenFiles & { plot: PlotFiles }> {
  const { result, sha256, directory, evidence } = open(workspace, wanted);
  if (options.name !== undefined) requireName(options.name, "plot", /^[A-Za-z0-9][A-Za-z0-9._-]*$/);
  const plot = await plotFiles(result, sha256, request, { ...options, evidence });
  const target = out === undefined ? inside(directory, FIGURES_FOLDER) : resolve(out);
  writeFiles(target, plot.files);
  const files = Object.keys(plot.files);
  return { result_id: result.result_id, result_sha256: sha256, directory: target, files, plot };
}

function requireName(name: string, what: string, pattern: RegExp): void {
  if (pattern.test(name)) return;
  throw new SvcError("usage_invalid", `Cannot name a ${what} ${name || "(empty)"}`, {
    hint: "Letters, digits and hyphens, as in ber-over-awgn",
  });
}

/**
 * Publishes a result as a folder for a web server or a local browser: the self-contained `index.html`, the result, its
 * tables and its figures.
 * @param wanted id or a unique prefix
 * @param options `slug` names the folder, default the pack's id; `out` is its parent folder, default `published` in
 *   that of the result
 * @throws SvcError `result_not_found`, `benchmark_incomplete`, `usage_invalid`
 */
export async function publishBenchmark(
  workspace: Workspace,
  wanted: string,
  options: { slug?: string; out?: string } = {},
): Promise<WrittenFiles> {
  const { result, sha256, bytes, directory, evidence } = open(workspace, wanted);
  const slug = options.slug ?? result.benchmark.id.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  requireName(slug, "page", /^[a-z0-9]+(-[a-z0-9]+)*$/);
  const files: Record<string, string | Uint8Array> = {
    "index.html": await publishPage(result, sha256, evidence),
    [RESULT_FILE]: bytes,
  };
  for (const { plot } of figuresOf(result, sha256, evidence)) {
    Object.assign(files, (await plotFiles(result, sha256, { plot }, { evidence })).files);
  }
  const target = inside(
    options.out === undefined ? directory : resolve(options.out),
    ...options.out === undefined ? ["published"] : [],
    slug,
  );
  writeFiles(target, files);
  const tables = writeExport(result, target, evidence);
  return {
    result_id: result.result_id,
    result_sha256: sha256,
    directory: target,
    files: [...Object.keys(files), ...tables],
  };
}
