/** One row of a benchmark: a recipe in one replicate, run, measured, compared with its budget, and kept as evidence. */
import { messageOf, SvcError } from "../../contract/error.ts";
import { sha256Json } from "../../contract/hash.ts";
import { parseJson } from "../../contract/json.ts";
import { trustedShape } from "../../artifact/image_payload.ts";
import { sizeAt } from "../../artifact/values.ts";
import { float, isInteger, isNumber, isObject, type JsonObject, toNumber, type Value } from "../../contract/value.ts";
import type { RecipeDocument } from "../../recipe/types.ts";
import { recipeSpecs } from "../../research/specs.ts";
import { MANIFEST_FILE, RECIPE_FILE, SUMS_FILE } from "../../run/documents.ts";
import { filesIn, parseSha256Sums } from "../../run/files.ts";
import { HeldFiles } from "../../run/held.ts";
import { MAX_DOCUMENT_BYTES } from "../../run/read.ts";
import { type RunOptions, runRecipe, type RunResult } from "../../run/run.ts";
import { admit } from "../pack/budget.ts";
import { authoredSeeds, cellOf, conditionEvidence } from "../pack/conditions.ts";
import { snapshotOf } from "./evidence.ts";
import { type LoadedPack, type LoadedRecipe, recipeOfReplicate } from "../pack/load_pack.ts";
import type { Pack, PackEntry } from "../pack/pack.ts";
import { promoteMetrics, stepMetricsOf } from "./promote.ts";
import type { Measure, PackMetric, ResultRow, Snapshot } from "../pack/types.ts";

/** Common fields of all rows of an entry. */
function blankRow(entry: PackEntry, replicate: number): ResultRow {
  return {
    id: entry.id,
    replicate,
    label: entry.label,
    role: entry.role,
    method_id: entry.params.method_id,
    baseline_id: entry.params.baseline_id,
    recipe_name: entry.id,
    recipe_path: entry.path,
    matrix_selection: entry.params.matrix_selection ?? {},
    run_id: null,
    run_dir: null,
    status: "failed",
    manifest: null,
    recipe_sha256: null,
    semantic_recipe_sha256: null,
    research: null,
    metrics: {},
    metric_provenance: {},
    run_evidence_snapshot: null,
  };
}

/** The row of a skipped entry. */
export function skippedRow(entry: PackEntry): ResultRow {
  return { ...blankRow(entry, 0), status: "skipped", skip_reason: entry.skip_reason ?? "It could not be loaded" };
}

/** A row, and the evidence that is to be kept of it. */
export interface MadeRow {
  row: ResultRow;
  snapshot: Snapshot | null;
  /** Whether the run has a bundle. */
  stored: boolean;
}

export interface RowContext {
  runOptions: Omit<RunOptions, "raw">;
  /** Whether the backing run is kept. */
  retain: boolean;
}

/** A finished run, from its bundle or from its snapshot. */
export interface FinishedRun {
  run_id: string;
  summary: JsonObject;
  /** The effective recipe. */
  effective: RecipeDocument;
  /** Digests of the files. */
  sums: ReadonlyMap<string, string>;
  /** Gives a report by its path; null for one that is not there. */
  report(path: string): string | null;
}

/** Fields of a row that its recipe determines. */
export function plannedRow(pack: Pack, entry: PackEntry, raw: RecipeDocument, replicate: number): ResultRow {
  const row = blankRow(entry, replicate);
  row.recipe_name = raw.name;
  if (isObject(raw.metadata.matrix_selection)) row.matrix_selection = raw.metadata.matrix_selection;
  const { aggregation_cell_id, pairing_id, statistical_unit } = cellOf(raw);
  if (aggregation_cell_id !== null) row.aggregation_cell_id = aggregation_cell_id;
  if (pairing_id !== null) row.pairing_id = pairing_id;
  if (statistical_unit !== null) row.statistical_unit = statistical_unit;
  if (pack.replication?.keep_authored_seeds === true && authoredSeeds(pack, raw).length > 0) {
    row.replicates_independent = false;
  }
  return row;
}

/**
 * The row of a finished run: a function of pack, entry, recipe and the documents of the run, which verification computes
 * again. Its evidence and the folder of its run are added by the caller.
 */
export function rowOfRun(
  pack: Pack,
  entry: PackEntry,
  raw: RecipeDocument,
  replicate: number,
  run: FinishedRun,
): ResultRow {
  const row = plannedRow(pack, entry, raw, replicate), { summary, effective } = run;
  row.run_id = run.run_id;
  row.status = summary.status === "completed" ? "completed" : "failed";
  row.recipe_sha256 = String(summary.recipe_sha256);
  row.semantic_recipe_sha256 = sha256Json(withoutIdentity(effective));
  row.research = recipeSpecs(effective);
  const conditions = conditionEvidence(pack, effective);
  if (conditions !== undefined) row.common_condition_evidence = conditions;
  row.manifest = { path: `runs/${run.run_id}/${MANIFEST_FILE}`, sha256: run.sums.get(MANIFEST_FILE)! };
  if (row.status === "failed") {
    const failure = (summary.failure ?? {}) as JsonObject;
    row.metrics = stepMetricsOf(summary);
    row.error = { code: String(failure.code ?? "run_failed"), message: String(summary.error ?? "The run failed") };
    return row;
  }
  try {
    const { metrics, metadata, provenance } = promoteMetrics(summary, pack.metrics, entry.role);
    row.metrics = metrics;
    if (Object.keys(metadata).length > 0) row.metric_metadata = metadata;
    row.metric_provenance = provenance;
    const items = comparesItems(pack) ? itemMetrics(run, row, pack.metrics) : {};
    if (Object.keys(items).length > 0) row.item_metrics = items;
    const unseeded = pack.baselines.length === 0 ? [] : unseededMetrics(pack, effective, provenance);
    if (unseeded.length > 0) row.unseeded_metrics = unseeded;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    row.metrics = stepMetricsOf(summary);
    row.status = "failed";
    row.error = { code: error.code, message: messageOf(error) };
  }
  const admission = admit(pack, entry, row.metrics);
  if (admission !== null) {
    Object.assign(row.metrics, admission.metrics);
    row.resource_admission = admission.record;
    if (!admission.admitted && row.error === undefined) row.status = "rejected_resource_budget";
  }
  return row;
}

/** Declared metrics of steps that neither draw with a seed nor take what such a step gives. */
function unseededMetrics(
  { metrics }: Pack,
  { steps }: RecipeDocument,
  provenance: ResultRow["metric_provenance"],
): string[] {
  const drawn = new Set<string>();
  for (const { id, params, inputs } of steps) {
    const draws = Object.entries(params).some(([name, value]) => /(^|_)seed$/.test(name) && isInteger(value));
    if (draws || Object.values(inputs).some((source) => drawn.has(source.split(".")[0]))) drawn.add(id);
  }
  return metrics.map(({ id }) => id).filter((id) => {
    const step = provenance[id]?.step_id ?? null;
    return step !== null && !drawn.has(step);
  });
}

/**
 * Runs a row.
 * @returns the row with its snapshot; null if the run was cancelled. `run_dir` is null if the backing run may
 *   be removed, where it has files at all
 */
export async function runRow(
  { pack, replication }: LoadedPack,
  { entry, recipe, locate }: LoadedRecipe,
  replicate: number,
  { runOptions, retain }: RowContext,
): Promise<MadeRow | null> {
  const raw = recipeOfReplicate(pack, recipe!, replication, replicate);
  const held = new HeldFiles();
  let run: RunResult, snapshot: Snapshot | null = null;
  try {
    run = await runRecipe({ ...runOptions, raw, locate, held: retain ? undefined : held });
  } catch (error) {
    // A recipe refused now, for example because an input file is gone, fails alone; other errors are defects.
    if (!(error instanceof SvcError)) throw error;
    const message = error.diagnostics[0]?.message ?? error.message;
    const row = { ...plannedRow(pack, entry, raw, replicate), error: { code: error.code, message } };
    return { row, snapshot, stored: false };
  }
  if (run.status === "canceled") return null;
  const { run_id, directory, summary } = run, files = held.isUsed ? held : filesIn(directory);
  const textOf = (path: string) => new TextDecoder().decode(files.read(path, MAX_DOCUMENT_BYTES));
  const effective = held.recipe ?? parseJson(textOf(RECIPE_FILE)) as RecipeDocument,
    sums = parseSha256Sums(textOf(SUMS_FILE));
  const row = rowOfRun(pack, entry, raw, replicate, { run_id, summary, effective, sums, report: textOf });
  try {
    const retained = row.error === undefined ? entry.params.retained_artifact_paths : [];
    const sources = new Set(pack.metrics.map(({ id }) => row.metric_provenance[id]?.step_id ?? ""));
    snapshot = snapshotOf(run_id, files, summary, { retained, sources });
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    row.status = "failed";
    row.error = { code: error.code, message: messageOf(error) };
  }
  // The run of a failed row is kept for inspection.
  if (retain || row.status === "failed") row.run_dir = `runs/${run_id}`;
  if (held.isUsed && row.status === "failed") await held.store(runOptions.workspace, summary);
  return { row, snapshot, stored: !held.isUsed || row.status === "failed" };
}

/** Whether statistics of a pack need its items: paired differences from a baseline, or the curves of single images. */
function comparesItems({ baselines, metadata }: Pack): boolean {
  const { default_plot: drawn } = metadata;
  return baselines.length > 0 || isObject(drawn) && drawn.plot === "rate-distortion";
}

/** Values of declared metrics item by item, from the report of the step that each metric comes from. */
function itemMetrics(
  { summary: { steps }, report }: FinishedRun,
  { metric_provenance }: ResultRow,
  metrics: readonly PackMetric[],
): NonNullable<ResultRow["item_metrics"]> {
  const found: NonNullable<ResultRow["item_metrics"]> = {};
  const reports = new Map<string, JsonObject[]>();
  for (const { id } of metrics) {
    const stepId = metric_provenance[id]?.step_id;
    const step = (steps as JsonObject[]).find((step) => step.id === stepId);
    const outputs = isObject(step?.outputs) ? step.outputs : {}, output = outputs.report;
    if (id === ITEM_RATE) {
      const rates = payloadRates(outputs.bits);
      if (rates !== null) found[id] = rates;
    }
    if (!isObject(output)) continue;
    const path = String(output.path);
    const items = reports.get(path) ?? reportItems(report(path));
    reports.set(path, items);
    const values = items.flatMap(({ id: item, metrics }): [string, Measure][] => {
      const value = isObject(metrics) ? metrics[id] : undefined;
      return typeof item === "string" && isNumber(value) ? [[item, value]] : [];
    });
    if (values.length > 0) found[id] = Object.fromEntries(values);
  }
  return found;
}

/** The rate of a payload of images that its encoder measures, and that the payload's metadata give image by image. */
export const ITEM_RATE = "rate.payload_bpp";

/** Bits of each image of a payload over its pixels; null without images of known sizes and names. */
function payloadRates(payload: Value | undefined): Record<string, Measure> | null {
  const metadata = isObject(payload) && isObject(payload.metadata) ? payload.metadata : {};
  const { source_item_counts: bits, image_ids: ids } = metadata, shape = trustedShape(metadata);
  if (!Array.isArray(bits) || !Array.isArray(ids) || shape === undefined || bits.length !== shape.count) return null;
  const counts = bits.filter(isNumber).map(toNumber), names = ids.filter((id) => typeof id === "string");
  if (counts.length !== shape.count || names.length !== shape.count) return null;
  return Object.fromEntries(names.map((name, i) => {
    const { height, width } = sizeAt(shape, i);
    return [name, float(counts[i] / (height * width))];
  }));
}

function reportItems(text: string | null): JsonObject[] {
  const report = text === null ? null : parseJson(text);
  return isObject(report) && Array.isArray(report.items) ? report.items.filter(isObject) : [];
}

/** Digest of the part that the replicates of a recipe share, without names and seeds. */
function withoutIdentity({ name: _, description: __, metadata, steps, ...rest }: RecipeDocument): JsonObject {
  const { seed: _seed, seed_namespace: _namespace, ...kept } = metadata;
  return {
    ...rest,
    metadata: kept,
    steps: steps.map(({ params: { seed: _, ...params }, ...step }) => ({ ...step, params })),
  };
}
