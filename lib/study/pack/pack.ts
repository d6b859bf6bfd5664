/** Reads the text of a benchmark pack: its shape, its ids, and its metrics against the research catalogue. */
import { type Diagnostic, diagnostic, type Place } from "../../contract/error.ts";
import { sha256Json } from "../../contract/hash.ts";
import { Suggestions } from "../../contract/nearest.ts";
import { checkValue } from "../../contract/schema.ts";
import { isObject, type JsonObject, typeName, type Value } from "../../contract/value.ts";
import { attachLocations, readRecipeText } from "../../recipe/read.ts";
import type { Locate } from "../../recipe/types.ts";
import {
  findDataset,
  findDeprecatedMetric,
  findMetric,
  findTask,
  type MetricEntry,
  nearestMetric,
  suitsTask,
} from "../../research/catalog.ts";
import schema from "../../../benchmarks/pack.schema.json" with { type: "json" };
import type { Measure, PackMetric, Tier } from "./types.ts";

/** Known fields of an entry's parameters. */
export interface EntryParams {
  method_id: string | null;
  baseline_id: string | null;
  /** Null for an entry without a point. */
  matrix_selection: JsonObject | null;
  step_params: { [stepId: string]: JsonObject };
  name: string | null;
  description: string | null;
  metadata: JsonObject;
  resource_budget: JsonObject | null;
  retained_artifact_paths: string[];
}

/** The points of an entry: dimensions beside those of the recipe, or a study, which defines them alone. */
export type EntryMatrix = {
  dimensions?: JsonObject;
  step_params?: JsonObject;
  grid?: JsonObject;
  /** Path of a CSV file. */
  points?: string;
  sample?: JsonObject;
};

/** A recipe of a pack. */
export interface PackEntry {
  /** Its index among the recipes of the pack. */
  index: number;
  id: string;
  label: string;
  role: string;
  path: string;
  /** The matrix that it expands to rows: that of the recipe, its own, or a study; null without one. */
  matrix: "inherit" | EntryMatrix | null;
  params: EntryParams;
  /** The reason for skipping it; null if it runs. */
  skip_reason: string | null;
}

/** Replication as written in the pack. */
export interface PackReplication {
  /** Null if omitted. */
  replicates: number | null;
  base_seed: number | bigint;
  master_seeds: (number | bigint)[] | null;
  confidence_level: Measure;
  min_replicates: number | null;
  until_errors: number | null;
  until_halfwidth: Measure | null;
  max_bits: number | null;
  /** Whether authored seeds stay in all replicates, which are then not independent. */
  keep_authored_seeds: boolean;
}

export interface Pack {
  id: string;
  version: string;
  name: string;
  description: string | null;
  suite: JsonObject | null;
  dataset: JsonObject;
  task: JsonObject;
  metrics: PackMetric[];
  baselines: string[];
  replication: PackReplication | null;
  recipes: PackEntry[];
  metadata: JsonObject;
  tier: Tier;
  traceability: boolean;
  /** As written. */
  document: JsonObject;
  /** SHA-256 of the canonical JSON of the document. */
  sha256: string;
}

export interface ReadPack {
  /** Null for an invalid structure. */
  pack: Pack | null;
  diagnostics: Diagnostic[];
  locate: Locate;
}

/**
 * Reads a pack; all findings are diagnostics.
 * @param text YAML or JSON
 * @param file name of the text in locations
 * @throws SvcError as for a recipe whose text cannot be read
 */
export function readPack(text: string, file: string): ReadPack {
  const { value, locate } = readRecipeText(text, { file });
  return packOfValue(value, locate);
}

/** {@link readPack} of a decoded value. */
export function packOfValue(value: Value, locate: Locate): ReadPack {
  const found = checkValue(schema as object as JsonObject, value, [], { code: "pack_invalid" });
  if (found.length > 0 || !isObject(value)) {
    return { pack: null, diagnostics: attachLocations(found, locate), locate };
  }
  const diagnostics: Diagnostic[] = [];
  const pack = packOf(value, diagnostics);
  diagnostics.push(...checkCatalogue(pack));
  return { pack, diagnostics: attachLocations(diagnostics, locate), locate };
}

function packOf(document: JsonObject, diagnostics: Diagnostic[]): Pack {
  const metadata = (document.metadata ?? {}) as JsonObject;
  const task = document.task as JsonObject;
  const entry = findTask(String(task.id));
  const dataset = document.dataset as JsonObject;
  const known = findDataset(String(dataset.id));
  return {
    id: document.id as string,
    version: document.version as string,
    name: (document.name ?? document.id) as string,
    description: (document.description ?? null) as string | null,
    suite: (document.suite ?? null) as JsonObject | null,
    dataset: { ...(known === undefined ? {} : { modality: known.modality }), ...dataset },
    task: { ...(entry === undefined ? {} : { kind: entry.kind, modality: entry.modality }), ...task },
    metrics: metricsOf(document.metrics as Value[], diagnostics),
    baselines: uniqueNames(document.baselines as string[] | undefined ?? [], ["baselines"], "baseline", diagnostics),
    replication: isObject(document.replication) ? replicationOf(document.replication, diagnostics) : null,
    recipes: entriesOf(document.recipes as JsonObject[], diagnostics),
    metadata,
    tier: (metadata.benchmark_tier ?? "smoke") as Tier,
    traceability: (metadata.traceability_profile_requested ?? metadata.publication_ready ?? false) as boolean,
    document,
    sha256: sha256Json(document),
  };
}

function uniqueNames(names: string[], place: Place, what: string, diagnostics: Diagnostic[]): string[] {
  names.forEach((name, index) => {
    if (names.indexOf(name) === index) return;
    diagnostics.push(diagnostic("pack_invalid", [...place, index], `Cannot list the ${what} ${name} twice`));
  });
  return [...new Set(names)];
}

/** Metrics of a pack with the facts of the catalogue. */
export function metricsOf(written: readonly Value[], diagnostics: Diagnostic[]): PackMetric[] {
  const suggestions = new Suggestions();
  const metrics = written.map((value, index): PackMetric => {
    const given: JsonObject = isObject(value) ? value : { id: value };
    const id = given.id as string;
    const place = isObject(value) ? ["metrics", index, "id"] : ["metrics", index];
    const deprecated = findDeprecatedMetric(id);
    const entry = findMetric(id) ?? labelledMetric(id);
    if (deprecated !== undefined) {
      const message = `Cannot use the metric ${id}: it is deprecated`;
      diagnostics.push(diagnostic("metric_deprecated", place, message, { hint: `Use ${deprecated.replacement}` }));
    } else if (entry === undefined && (given.unit === undefined || given.direction === undefined)) {
      diagnostics.push(
        diagnostic("pack_metric_unknown", place, `Cannot find the metric ${id} in the research catalogue`, {
          hint: nearestMetric(id, suggestions) ?? "Your own metric needs unit and direction",
        }),
      );
    } else if (entry?.status === "planned") {
      diagnostics.push(diagnostic("pack_metric_unknown", place, `Cannot use the metric ${id}: it is only planned`));
    }
    for (const member of ["family", "unit", "direction", "statistic"] as const) {
      if (entry === undefined || given[member] === undefined || given[member] === entry[member]) continue;
      const message = `Cannot give ${id} the ${member} ${given[member]}`;
      const hint = `In the research catalogue it is ${entry[member]}`;
      diagnostics.push(diagnostic("pack_invalid", ["metrics", index, member], message, { hint }));
    }
    const operations = [given.source_operation, ...(given.source_operations as Value[] | undefined ?? [])]
      .filter((operation) => typeof operation === "string");
    return {
      id,
      definition_version: (given.definition_version ?? 1) as number,
      source_step: (given.source_step ?? null) as string | null,
      source_operations: operations.length > 0 ? operations : null,
      applicable_roles: (given.applicable_roles ?? null) as string[] | null,
      family: (given.family ?? entry?.family ?? "own") as string,
      unit: (given.unit ?? entry?.unit ?? "") as string,
      direction: (given.direction ?? entry?.direction ?? "neutral") as PackMetric["direction"],
      statistic: (given.statistic ?? entry?.statistic ?? "mean") as PackMetric["statistic"],
      counts: entry?.counts ?? null,
    };
  });
  uniqueNames(metrics.map(({ id }) => id), ["metrics"], "metric", diagnostics);
  return metrics;
}

/** A user-defined error-rate label, such as `channel.link.ber`, with its counts. */
function labelledMetric(id: string): MetricEntry | undefined {
  const [, stem, rate] = /^channel\.(.+\.)(ber|bler)$/.exec(id) ?? [];
  if (stem === undefined) return undefined;
  const template = findMetric(`channel.${rate}`)!;
  const place = (count: string) => `channel.${stem}${count.slice("channel.".length)}`;
  const counts = { events: place(template.counts!.events), trials: place(template.counts!.trials) };
  return { ...template, id, name: id, counts };
}

function replicationOf(given: JsonObject, diagnostics: Diagnostic[]): PackReplication {
  const seeds = (given.master_seeds ?? null) as (number | bigint)[] | null;
  const replicates = (given.replicates ?? null) as number | null;
  if (seeds !== null && given.base_seed !== undefined) {
    const message = "Cannot derive seeds from base_seed beside master_seeds";
    diagnostics.push(diagnostic("pack_invalid", ["replication", "base_seed"], message, { hint: "Keep one of them" }));
  }
  if (seeds !== null && replicates !== null && replicates > seeds.length) {
    const message = `Cannot make ${replicates} replicates from ${seeds.length} master seeds`;
    const hint = `Set replicates to at most ${seeds.length}, or write base_seed instead`;
    diagnostics.push(diagnostic("pack_invalid", ["replication", "replicates"], message, { hint }));
  }
  return {
    replicates,
    base_seed: (given.base_seed ?? 0) as number | bigint,
    master_seeds: seeds,
    confidence_level: (given.confidence_level ?? 0.95) as Measure,
    min_replicates: (given.min_replicates ?? null) as number | null,
    until_errors: (given.until_errors ?? null) as number | null,
    until_halfwidth: (given.until_halfwidth ?? null) as Measure | null,
    max_bits: (given.max_bits ?? null) as number | null,
    keep_authored_seeds: given.keep_authored_seeds === true,
  };
}

function entriesOf(written: readonly JsonObject[], diagnostics: Diagnostic[]): PackEntry[] {
  const seen = new Map<string, number>();
  return written.map((given, index): PackEntry => {
    const path = given.path as string;
    const stem = path.replace(/^.*[/\\]/, "").replace(/\.[^.]+$/, "");
    const id = (given.id ?? stem) as string;
    if (seen.has(id)) {
      const message = `Cannot give two recipes the id ${id}`;
      const hint = `It is that of recipes[${seen.get(id)}]; write an id of its own`;
      diagnostics.push(diagnostic("pack_invalid", ["recipes", index, "id"], message, { hint }));
    }
    seen.set(id, seen.get(id) ?? index);
    const role = (given.role ?? "candidate") as string;
    const params = (given.params ?? {}) as JsonObject;
    const placeholder = role.includes("placeholder") ? "It is a placeholder" : null;
    return {
      index,
      id,
      label: (given.label ?? id) as string,
      role,
      path,
      matrix: (given.matrix ?? null) as PackEntry["matrix"],
      params: entryParams(params, index, diagnostics),
      skip_reason: params.skip === true || placeholder !== null
        ? (params.skip_reason ?? placeholder ?? "The pack skips it") as string
        : null,
    };
  });
}

function entryParams(params: JsonObject, index: number, diagnostics: Diagnostic[]): EntryParams {
  const place = ["recipes", index, "params"];
  const { matrix_selection: selection, sweep_values: sweep } = params;
  if (selection !== undefined && sweep !== undefined && sha256Json(selection) !== sha256Json(sweep)) {
    const message = "Ambiguous point: sweep_values and matrix_selection differ";
    const hint = "Remove sweep_values, the deprecated name";
    diagnostics.push(diagnostic("pack_sweep_values_conflict", [...place, "sweep_values"], message, { hint }));
  }
  const steps = (params.step_params ?? {}) as JsonObject;
  for (const [step, given] of Object.entries(steps)) {
    if (isObject(given)) continue;
    const message = `Cannot use ${typeName(given)} as the parameters of ${step}`;
    diagnostics.push(diagnostic("pack_invalid", [...place, "step_params", step], message, { hint: "Write a mapping" }));
  }
  const evidence = (params.run_evidence ?? {}) as JsonObject;
  return {
    method_id: (params.method_id ?? null) as string | null,
    baseline_id: (params.baseline_id ?? null) as string | null,
    matrix_selection: (selection ?? sweep ?? null) as JsonObject | null,
    step_params: Object.fromEntries(Object.entries(steps).filter(([, given]) => isObject(given))) as {
      [stepId: string]: JsonObject;
    },
    name: (params.name ?? null) as string | null,
    description: (params.description ?? null) as string | null,
    metadata: {
      ...(params.metadata ?? {}) as JsonObject,
      ...(params.fixed_channel_use_budget === undefined
        ? {}
        : { fixed_channel_use_budget: params.fixed_channel_use_budget }),
    },
    resource_budget: (params.resource_budget ?? null) as JsonObject | null,
    retained_artifact_paths: (evidence.retained_artifact_paths ?? []) as string[],
  };
}

/** Dataset, task, metrics and baselines among each other and in the research catalogue. */
function checkCatalogue(pack: Pack): Diagnostic[] {
  const found: Diagnostic[] = [], suggestions = new Suggestions();
  const same = (spec: JsonObject, entry: object, member: string, place: Place) => {
    const wanted = (entry as JsonObject)[member];
    if (typeof spec[member] !== "string" || spec[member] === wanted) return;
    const message = `Cannot give ${spec.id} the ${member} ${spec[member]}`;
    const hint = `In the research catalogue it is ${wanted}`;
    found.push(diagnostic("research_catalog_error", [...place, member], message, { hint }));
  };
  const dataset = findDataset(String(pack.dataset.id));
  if (dataset === undefined) {
    const message = `Cannot find the dataset ${pack.dataset.id} in the research catalogue`;
    found.push(diagnostic("research_catalog_warning", ["dataset", "id"], message, { severity: "warning" }));
  } else same(pack.dataset, dataset, "modality", ["dataset"]);
  const task = findTask(String(pack.task.id));
  if (task === undefined) {
    const message = `Cannot find the task ${pack.task.id} in the research catalogue`;
    found.push(diagnostic("research_catalog_warning", ["task", "id"], message, { severity: "warning" }));
  } else {
    for (const member of ["kind", "modality"]) same(pack.task, task, member, ["task"]);
    pack.metrics.forEach(({ id }, index) => {
      const metric = findMetric(id);
      if (metric === undefined || suitsTask(metric, task)) return;
      const message = `Cannot score the task ${task.id} by the metric ${id}`;
      found.push(diagnostic("research_catalog_error", ["metrics", index], message));
    });
  }
  const known = pack.recipes.flatMap(({ id, params }) => [id, params.baseline_id, params.method_id])
    .filter((name) => name !== null);
  pack.baselines.forEach((name, index) => {
    if (known.includes(name)) return;
    const message = `Cannot find a recipe, method or baseline named ${name}`;
    const hint = suggestions.for(name, known);
    found.push(diagnostic("pack_baseline_unknown", ["baselines", index], message, { hint }));
  });
  return found;
}

/** Whether a metric is required of a row with this role. */
export function appliesTo(metric: PackMetric, role: string): boolean {
  return metric.applicable_roles === null || metric.applicable_roles.includes(role);
}
