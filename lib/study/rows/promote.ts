/**
 * From the metrics of steps to those of a row. Every metric is kept as `steps.<step>.<metric>`; its bare name is
 * promoted if exactly one step produced it, or if the pack names the step. A declared metric that no step or several
 * steps produced fails the row, because its origin would be a guess.
 */
import { type Code, SvcError } from "../../contract/error.ts";
import { isNumber, isObject, type JsonObject } from "../../contract/value.ts";
import { appliesTo } from "../pack/pack.ts";
import type { Measure, MetricProvenance, PackMetric, ResultRow } from "../pack/types.ts";

export interface Promotion {
  metrics: { [id: string]: Measure };
  /** Counts over units of promoted rates. */
  metadata: { [id: string]: JsonObject };
  provenance: { [id: string]: MetricProvenance };
}

interface Producer {
  stepId: string;
  operation: string;
  artifact: string | null;
  value: Measure;
  metrics: JsonObject;
  /** Counts over units of the step's rates. */
  rates: JsonObject;
}

/**
 * Promotes the metrics of a run.
 * @param summary of the run
 * @param role of the row
 * @throws SvcError `metric_source_missing` or `metric_source_ambiguous` with all affected metrics
 */
export function promoteMetrics(summary: JsonObject, declared: readonly PackMetric[], role: string): Promotion {
  const steps = (summary.steps ?? []) as JsonObject[];
  const producers = new Map<string, Producer[]>();
  const promotion: Promotion = { metrics: {}, metadata: {}, provenance: {} };
  for (const step of steps) {
    const metrics = (step.metrics ?? {}) as JsonObject;
    const artifact = reportOf(step);
    const recorded = isObject(step.metadata) ? step.metadata.metric_metadata : undefined;
    const rates = isObject(recorded) ? recorded : {};
    for (const [name, value] of Object.entries(metrics)) {
      if (!isNumber(value)) continue;
      promotion.metrics[`steps.${step.id}.${name}`] = value;
      const producer = { stepId: step.id as string, operation: step.op as string, artifact, value, metrics, rates };
      const list = producers.get(name);
      if (list === undefined) producers.set(name, [producer]);
      else list.push(producer);
    }
  }
  const byId = new Map(declared.map((metric) => [metric.id, metric]));
  for (const [name, list] of producers) {
    if (list.length === 1 && !byId.has(name)) add(name, list[0], 1);
  }
  for (const [name, value] of Object.entries((summary.metrics ?? {}) as JsonObject)) {
    if (!isNumber(value) || producers.has(name)) continue;
    promotion.metrics[name] = value;
    promotion.provenance[name] = {
      step_id: null,
      operation_id: null,
      artifact_sha256: null,
      definition_version: byId.get(name)?.definition_version ?? 1,
    };
  }
  const problems = declared.filter((metric) => appliesTo(metric, role)).flatMap((metric) => promote(metric));
  if (problems.length > 0) {
    throw new SvcError(problems[0].code, problems.map(({ message }) => message).join("; "));
  }
  return promotion;

  function promote(metric: PackMetric): { code: Code; message: string }[] {
    const { id, source_step, source_operations, definition_version } = metric;
    const all = producers.get(id) ?? [];
    const found = all.filter(({ stepId, operation }) =>
      (source_step === null || stepId === source_step) &&
      (source_operations === null || source_operations.includes(operation))
    );
    if (found.length === 0 && all.length === 0 && id in promotion.metrics) return [];
    if (found.length === 0) {
      const wanted = source_step ?? source_operations?.join(" or ");
      const where = wanted === undefined ? "no step" : `${wanted} did not, and no other step counts:`;
      return [{ code: "metric_source_missing", message: `Cannot find ${id}: ${where} produced it` }];
    }
    if (found.length > 1) {
      const names = found.map(({ stepId }) => stepId).join(" and ");
      return [{ code: "metric_source_ambiguous", message: `Ambiguous metric ${id}: ${names} produced it` }];
    }
    add(id, found[0], definition_version);
    // The counts of a rate, and the sums of a root mean square, come from the same step as the metric.
    const sums = [`${id}.squared_sum`, `${id}.count`];
    for (const name of [...(metric.counts === null ? [] : Object.values(metric.counts)), ...sums]) {
      if (isNumber(found[0].metrics[name])) {
        add(name, { ...found[0], value: found[0].metrics[name] }, definition_version);
      }
    }
    return [];
  }

  function add(
    name: string,
    { stepId, operation, artifact, value, rates }: Producer,
    definition_version: number,
  ): void {
    promotion.metrics[name] = value;
    if (isObject(rates[name])) promotion.metadata[name] = rates[name];
    promotion.provenance[name] = {
      step_id: stepId,
      operation_id: operation,
      artifact_sha256: artifact,
      definition_version,
    };
  }
}

/** The digest of the artifact with a step's metrics: its report, or its only output. */
function reportOf(step: JsonObject): string | null {
  const outputs = isObject(step.outputs) ? Object.entries(step.outputs) as [string, JsonObject][] : [];
  const chosen = outputs.find(([name]) => name === "report") ?? (outputs.length === 1 ? outputs[0] : undefined);
  return (chosen?.[1].sha256 ?? null) as string | null;
}

/** Metrics of a row that failed before promotion: those of its steps. */
export function stepMetricsOf(summary: JsonObject): ResultRow["metrics"] {
  const { metrics } = promoteMetrics(summary, [], "");
  return Object.fromEntries(Object.entries(metrics).filter(([id]) => id.startsWith("steps.")));
}
