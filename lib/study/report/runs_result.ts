/**
 * Finished runs in the form of a benchmark result, so that tables and figures of runs are made by the code of benchmarks.
 *
 * A run's *coordinates* are those of its matrix point, and the parameters `<step>.<parameter>` in which the runs of one
 * recipe differ and which the point does not determine.
 */
import { inside, type InsidePath, readText } from "../../artifact/inside.ts";
import { SvcError } from "../../contract/error.ts";
import { sha256Json } from "../../contract/hash.ts";
import { canonicalJson, parseJson } from "../../contract/json.ts";
import { isInteger, isObject, type JsonObject, type Value } from "../../contract/value.ts";
import type { RecipeDocument, StepDocument } from "../../recipe/types.ts";
import { recipeSpecs } from "../../research/specs.ts";
import type { SummaryDocument } from "../../run/bundle_schema.ts";
import { RECIPE_FILE, SUMMARY_FILE } from "../../run/documents.ts";
import { MAX_DOCUMENT_BYTES, readDocument } from "../../run/read.ts";
import type { RunRow } from "../../run/store.ts";
import type { PlacedRun } from "../../run/bundle_place.ts";
import type { RowEvidence } from "./figure/types.ts";
import { metricsOf } from "../pack/pack.ts";
import { promoteMetrics } from "../rows/promote.ts";
import { type BenchmarkResult, RESULT_KIND, type ResultRow } from "../pack/types.ts";

export interface RunsResult {
  result: BenchmarkResult;
  evidence: RowEvidence;
  /** Identifies the runs: SHA-256 of their ids and summaries. */
  sha256: string;
}

export interface RunsRequest {
  /** Name of the recipe; the variants of its matrix count. Without it, all given runs. */
  recipe?: string;
  /** Step parameters that become coordinates although all runs have them alike, such as the one along x. */
  parameters?: readonly string[];
  /** Metrics of the result; default those of the task. */
  metrics?: readonly string[];
  /** `run`: each run is a recipe of its own. `point`: runs with equal coordinates are replicates. */
  by: "run" | "point";
}

interface ReadRun {
  row: RunRow;
  directory: InsidePath;
  summary: SummaryDocument;
  recipe: RecipeDocument;
  selection: JsonObject;
  /** Name of the recipe with the matrix. */
  family: string;
  parameters: Map<string, Value>;
}

/**
 * The result of runs, newest first; of replicates with one effective recipe only the newest counts.
 * @throws SvcError `run_not_found` without a finished run
 */
export function resultOfRuns(rows: readonly PlacedRun[], request: RunsRequest): RunsResult {
  const { recipe, by } = request;
  const runs = rows.flatMap((row) => readRun(row) ?? []);
  if (runs.length === 0) {
    throw new SvcError("run_not_found", `Cannot find a finished run${recipe === undefined ? "" : ` of ${recipe}`}`, {
      hint: "List the runs with: svc runs list",
    });
  }
  const families = Map.groupBy(runs, ({ family }) => family);
  const coordinates = new Map<ReadRun, JsonObject>();
  for (const members of families.values()) {
    for (const [run, own] of coordinatesOf(members, request.parameters ?? [])) coordinates.set(run, own);
  }
  const metrics = request.metrics ??
    [...new Set(runs.flatMap(({ recipe }) => recipeSpecs(recipe).metrics.map(({ id }) => id)))];
  const seen = new Map<string, Set<string>>();
  const drawn = new Map<string, Set<string>>();
  const result: ResultRow[] = [];
  const recipes = new Map<ResultRow, ReadRun>();
  for (const run of runs) {
    const own = coordinates.get(run)!;
    const id = by === "run" ? run.row.run_id : pointId(run.family, own);
    const known = seen.get(id) ?? new Set();
    seen.set(id, known);
    const { effective_recipe_sha256: sha256 } = run.row;
    if (by === "point" && known.has(String(sha256))) continue;
    known.add(String(sha256));
    const row = resultRow(run, id, own, known.size - 1);
    if (by === "point" && repeatsDraws(run, drawn.getOrInsertComputed(id, () => new Set()))) {
      row.replicates_independent = false;
    }
    result.push(row);
    recipes.set(row, run);
  }
  const used = [...recipes.values()];
  const digest = sha256Json(used.map(({ row, summary }) => [row.run_id, sha256Json(summary)]));
  const name = recipe ?? [...families.keys()].join(", ");
  return {
    sha256: digest,
    result: {
      schema_version: 1,
      kind: RESULT_KIND,
      result_id: `runs of ${name}`,
      benchmark: {
        id: name,
        version: "",
        name,
        sha256: digest,
        benchmark_tier: "experimental",
        traceability_profile_requested: false,
        dataset: {},
        task: {},
        metrics: metricsOf([...metrics], []),
        baselines: [],
        metadata: {},
        suite: null,
        catalog_validation: { errors: [], warnings: [] },
      },
      status: "completed",
      attempt_id: "",
      attempt_ledger: {
        kind: "svc.benchmark_attempt_ledger",
        relative_path: ".attempt-ledger",
        start_event_sha256: "",
        expected_terminal_status: null,
      },
      created_at_utc: used.at(-1)!.row.created_at_utc ?? "",
      completed_at_utc: used[0].row.completed_at_utc,
      execution: {},
      storage: { backing_run_policy: "retained" },
      replication: null,
      reports: [],
      // Points in the order of the sweep, runs newest first.
      recipes: by === "point" ? result.reverse() : result,
      aggregates: [],
      comparisons: [],
    },
    evidence: {
      recipe: (row) => recipes.get(row)?.recipe ?? null,
      reports: (row) => recipes.has(row) ? reportsOf(recipes.get(row)!) : [],
    },
  };
}

/** Whether a step has drawn with its seed before, in another run of the point. @param drawn receives the seeds of the run */
function repeatsDraws({ recipe: { steps } }: ReadRun, drawn: Set<string>): boolean {
  const seeds = steps.filter(({ params }) => isInteger(params.seed)).map(({ id, params }) => `${id} ${params.seed}`);
  const repeats = seeds.some((seed) => drawn.has(seed));
  for (const seed of seeds) drawn.add(seed);
  return repeats;
}

const pointId = (family: string, coordinates: JsonObject): string =>
  [family, ...Object.entries(coordinates).map(([name, value]) => `${name}=${canonicalJson(value)}`)].join(" ");

/** A finished run; null where it is not finished or its documents cannot be read. */
function readRun({ row, directory }: PlacedRun): ReadRun | null {
  if (row.status !== "completed" && row.status !== "failed") return null;
  let summary: SummaryDocument, recipe: RecipeDocument;
  try {
    summary = readDocument(directory, SUMMARY_FILE);
    recipe = readDocument(directory, RECIPE_FILE);
  } catch (error) {
    // Removed meanwhile, or damaged: `runs verify` reports it.
    if (error instanceof SvcError) return null;
    throw error;
  }
  const { matrix_selection: selection } = recipe.metadata;
  const mark = isObject(selection) ? recipe.name.indexOf(`__${Object.keys(selection)[0]}_`) : -1;
  return {
    row,
    directory,
    summary,
    recipe,
    selection: isObject(selection) ? selection : {},
    family: row.matrix_recipe ?? (mark > 0 ? recipe.name.slice(0, mark) : recipe.name),
    parameters: new Map(recipe.steps.flatMap(parametersOf)),
  };
}

/** Operation and parameters of a step without its seed: every variant draws its own. */
function parametersOf({ id, op, params }: StepDocument): [string, Value][] {
  const own = Object.entries(params).filter(([name]) => name !== "seed");
  return [[`${id}.op`, op], ...own.map(([name, value]): [string, Value] => [`${id}.${name}`, value])];
}

function coordinatesOf(runs: readonly ReadRun[], wanted: readonly string[]): [ReadRun, JsonObject][] {
  const points = runs.map(({ selection }) => canonicalJson(selection));
  const names = [...new Set(runs.flatMap(({ parameters }) => [...parameters.keys()]))].filter((name) => {
    if (wanted.includes(name)) return true;
    const texts = runs.map(({ parameters }) => canonicalJson(parameters.get(name) ?? null));
    const byPoint = Map.groupBy(texts, (_, at) => points[at]);
    return [...byPoint.values()].some((values) => new Set(values).size > 1) ||
      (new Set(points).size === 1 && new Set(texts).size > 1);
  });
  const pairs = (dimension: string, name: string) =>
    new Set(
      runs.map(({ selection, parameters }) =>
        canonicalJson([selection[dimension] ?? null, parameters.get(name) ?? null])
      ),
    ).size;
  const values = (of: (run: ReadRun) => Value | undefined) =>
    new Set(runs.map((run) => canonicalJson(of(run) ?? null))).size;
  // A dimension that only sets a wanted parameter gives way to it.
  const replaced = new Set(
    runs.flatMap(({ selection }) => Object.keys(selection)).filter((dimension) =>
      !wanted.includes(dimension) && names.some((name) => {
        const count = pairs(dimension, name);
        return wanted.includes(name) && count > 1 && count === values(({ selection }) => selection[dimension]) &&
          count === values(({ parameters }) => parameters.get(name));
      })
    ),
  );
  return runs.map((run) => {
    const point = Object.entries(run.selection).filter(([dimension]) => !replaced.has(dimension));
    const changed = names.filter((name) => run.parameters.has(name))
      .map((name): [string, Value] => [name, run.parameters.get(name)!]);
    return [run, Object.fromEntries([...point, ...changed])];
  });
}

function resultRow({ row, summary, family }: ReadRun, id: string, selection: JsonObject, replicate: number): ResultRow {
  const { metrics, metadata, provenance } = promoteMetrics(summary, [], "");
  return {
    id,
    replicate,
    label: String(row.recipe_name),
    role: "candidate",
    method_id: family,
    baseline_id: null,
    recipe_name: String(row.recipe_name),
    recipe_path: "",
    matrix_selection: selection,
    run_id: row.run_id,
    run_dir: `runs/${row.run_id}`,
    status: row.status === "completed" ? "completed" : "failed",
    manifest: null,
    recipe_sha256: row.effective_recipe_sha256,
    semantic_recipe_sha256: null,
    research: null,
    metrics,
    // A metric that several steps give has its counts by its long name.
    metric_metadata: { ...metadata, ...countsOfSteps(summary) },
    metric_provenance: provenance,
    run_evidence_snapshot: null,
  };
}

function countsOfSteps({ steps }: SummaryDocument): { [id: string]: JsonObject } {
  return Object.fromEntries(
    steps.flatMap(({ id, metadata }) =>
      Object.entries(isObject(metadata.metric_metadata) ? metadata.metric_metadata : {})
        .flatMap(([metric, counts]) => isObject(counts) ? [[`steps.${id}.${metric}`, counts]] : [])
    ),
  );
}

/** The reports of a run that are on the disk; a pruned run has none. */
function reportsOf({ directory, summary }: ReadRun): JsonObject[] {
  return summary.steps.flatMap(({ outputs }) => {
    const path = outputs.report?.path;
    if (path === undefined) return [];
    try {
      const report = parseJson(readText(inside(directory, path), MAX_DOCUMENT_BYTES));
      return isObject(report) ? [report] : [];
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw error;
    }
  });
}
