/** Compares the research declarations of a recipe with the catalogue. */
import { lowerFirst } from "../contract/sentence.ts";
import { type Code, type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import { Suggestions } from "../contract/nearest.ts";
import { isInteger, isObject, type JsonObject } from "../contract/value.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import {
  carriesTask,
  type DatasetEntry,
  findDataset,
  findDeprecatedMetric,
  findMetric,
  findTask,
  nearestDataset,
  nearestMetric,
  nearestTask,
  suitsTask,
  type TaskEntry,
} from "./catalog.ts";
import { declaration, declaredSpec, declaredTaskAt, metricList } from "./declared.ts";
import { labelledMetrics } from "./evaluations.ts";
import { inferTask } from "./tasks.ts";

export interface ResearchFindings {
  errors: Diagnostic[];
  warnings: Diagnostic[];
}

/** Collects findings; the caller chooses the severity for unknown and planned entries. */
class Findings implements ResearchFindings {
  readonly errors: Diagnostic[] = [];
  readonly warnings: Diagnostic[] = [];
  readonly suggestions = new Suggestions();

  constructor(readonly strict: boolean) {}

  /** A contradiction to a catalogue entry. */
  wrong(place: Place, message: string, hint: string | null): void {
    this.errors.push(diagnostic("research_catalog_error", place, message, { hint }));
  }

  /** An unknown or planned entry. */
  unknown(place: Place, message: string, hint: string | null, code?: Code): void {
    const severity = this.strict ? "error" : "warning";
    const item = diagnostic(code ?? `research_catalog_${severity}`, place, message, { hint, severity });
    (this.strict ? this.errors : this.warnings).push(item);
  }

  warn(code: Code, place: Place, message: string, hint: string): void {
    this.warnings.push(diagnostic(code, place, message, { hint, severity: "warning" }));
  }
}

/**
 * Checks the declared dataset, task and metrics against the catalogue: they are known and not only planned; kind,
 * modality, unit, direction and other fields equal those of the catalogue; the task can run on the dataset and be
 * scored by the metrics.
 * @param recipe normalised or effective recipe, whose research metadata has the shapes of {@link checkResearch}
 * @param options `strict` makes unknown and planned entries errors instead of warnings
 * @returns `research_catalog_error`, `research_catalog_warning`, `task_not_supported` and `metric_deprecated`
 */
export function validateResearch(recipe: RecipeDocument, options: { strict?: boolean } = {}): ResearchFindings {
  const findings = new Findings(options.strict ?? false);
  const dataset = checkDataset(recipe, findings);
  const declared = checkTask(recipe, findings);
  if (dataset !== undefined && declared !== undefined && !carriesTask(dataset, declared)) {
    findings.wrong(
      [...declaration(recipe, "dataset").place, "id"],
      `Cannot use the task ${declared.id} on the dataset ${dataset.id} of modality ${dataset.modality}`,
      `Its modality is ${declared.modality}`,
    );
  }
  const inferred = inferTask(recipe.steps.map(({ op }) => op));
  const task = declaredTaskAt(recipe) !== null || inferred === null ? declared : findTask(inferred);
  for (const key of ["task", "metrics", "benchmark"] as const) {
    const { value, place } = declaration(recipe, key);
    const list = key === "metrics" ? value : isObject(value) ? value.metrics : null;
    const base = key === "metrics" ? place : [...place, "metrics"];
    for (const entry of metricList(list)) {
      checkMetric(entry.spec, [...base, ...entry.place], { recipe, task, findings });
    }
  }
  return { errors: findings.errors, warnings: findings.warnings };
}

function checkDataset(recipe: RecipeDocument, findings: Findings): DatasetEntry | undefined {
  const spec = declaredSpec(recipe, "dataset");
  if (spec === null) return undefined;
  const { place } = declaration(recipe, "dataset");
  const id = spec.id as string;
  const entry = findDataset(id);
  if (entry === undefined) {
    // A user's own dataset: a source of the recipe reads it by its manifest.
    if (recipe.steps.some(({ params }) => params.dataset === id && Boolean(params.manifest_path))) return undefined;
    const message = `Cannot find the dataset ${id} in the research catalogue`;
    findings.unknown([...place, "id"], message, nearestDataset(id, findings.suggestions));
    return undefined;
  }
  if (entry.status === "planned") {
    findings.unknown([...place, "id"], `Cannot use the dataset ${id}: it is only planned`, null);
  }
  expectSame(spec, entry, ["modality"], place, findings);
  const { version, source } = spec;
  if ((typeof version === "string" || isInteger(version)) && !entry.versions.includes(String(version))) {
    const message = `Cannot find the version ${version} of the dataset ${id}`;
    findings.unknown([...place, "version"], message, `Known: ${entry.versions.join(", ")}`);
  }
  if (typeof source === "string" && !entry.source_ops.includes(source)) {
    const message = `Cannot determine how ${source} provides the dataset ${id}`;
    findings.unknown([...place, "source"], message, `Known: ${entry.source_ops.join(", ") || "none"}`);
  }
  return entry;
}

function checkTask(recipe: RecipeDocument, findings: Findings): TaskEntry | undefined {
  const declared = declaredTaskAt(recipe);
  if (declared === null) return undefined;
  const { id, place } = declared;
  const entry = findTask(id);
  if (entry === undefined) {
    findings.unknown(
      place,
      `Cannot find the task ${id} in the research catalogue`,
      nearestTask(id, findings.suggestions),
    );
    return undefined;
  }
  if (entry.status === "planned") {
    findings.unknown(
      place,
      `Cannot support the task ${id}: it is only planned`,
      "svc research tasks lists the others",
      "task_not_supported",
    );
  }
  const spec = declaredSpec(recipe, "task");
  if (spec !== null) expectSame(spec, entry, ["kind", "modality"], declaration(recipe, "task").place, findings);
  return entry;
}

interface MetricContext {
  recipe: RecipeDocument;
  task: TaskEntry | undefined;
  findings: Findings;
}

function checkMetric(spec: JsonObject & { id: string }, place: Place, { recipe, task, findings }: MetricContext): void {
  const { id } = spec;
  const deprecated = findDeprecatedMetric(id);
  if (deprecated !== undefined) {
    const { replacement, reason } = deprecated;
    return findings.warn(
      "metric_deprecated",
      place,
      `Cannot recommend the metric ${id}: ${lowerFirst(reason)}`,
      `Use ${replacement}`,
    );
  }
  const metric = findMetric(id) ?? labelledMetrics(recipe).get(id);
  if (metric === undefined) {
    return findings.unknown(
      place,
      `Cannot find the metric ${id} in the research catalogue`,
      nearestMetric(id, findings.suggestions),
    );
  }
  if (metric.status === "planned") {
    findings.unknown(place, `Cannot use the metric ${id}: it is only planned`, null);
  }
  const members = ["family", "unit", "direction", "reduction"] as const;
  if (place.at(-1) === "id") expectSame(spec, { ...metric }, members, place.slice(0, -1), findings);
  if (task !== undefined && !suitsTask(metric, task)) {
    const metrics = [...task.metrics, ...task.optional_metrics].join(", ");
    findings.wrong(place, `Cannot score the task ${task.id} by the metric ${id}`, `Its metrics are ${metrics}`);
  }
}

/** A spec's field must equal that of its entry. */
function expectSame(
  spec: JsonObject,
  entry: JsonObject,
  members: readonly string[],
  place: Place,
  findings: Findings,
): void {
  for (const member of members) {
    if (typeof spec[member] !== "string" || spec[member] === entry[member]) continue;
    const message = `Cannot give ${spec.id} the ${member} ${spec[member]}`;
    findings.wrong([...place, member], message, `In the research catalogue it is ${entry[member]}`);
  }
}
