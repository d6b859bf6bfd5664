/**
 * Compares the metrics of steps with their sources: each with the report that the step wrote, and each rate with its counts.
 * A report that was pruned cannot be compared.
 */
import { canonicalJson, parseJson, sameValue } from "../contract/json.ts";
import { REPORT } from "../contract/kinds.ts";
import { recordedPooled, recordedRate } from "../contract/metric_metadata.ts";
import { isNumber, isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import type { StepRow } from "../execute/types.ts";
import { pooledValue } from "../numeric/scores/pooled_ratio.ts";
import { findMetric } from "../research/catalog.ts";
import { SUMMARY_FILE } from "./documents.ts";
import type { Findings } from "./findings.ts";
import { taskMetricIds, taskMetrics } from "./task_metrics.ts";

/** Of a rate and its counts: 1 - e / n and (n - e) / n differ by rounding. */
const RATE_TOLERANCE = 1e-12;

/**
 * Checks the metrics of all steps.
 * @param textOf gives a report by its path in the bundle; null for one that was pruned
 * @returns the number of reports that could not be compared
 */
export function checkMetrics(
  rows: readonly StepRow[],
  textOf: (path: string) => string | null,
  findings: Findings,
): number {
  let notCompared = 0;
  for (const [index, row] of rows.entries()) {
    const wrong = (name: string, message: string) =>
      findings.error("bundle_metric_mismatch", SUMMARY_FILE, `$.steps[${index}].metrics.${name}`, message);
    checkRates(row, wrong);
    findings.looked(Object.keys(row.metrics).length);
    for (const { kind, path } of Object.values(row.outputs)) {
      if (kind !== REPORT) continue;
      const text = textOf(path);
      if (text === null) notCompared++;
      else checkReport(row, path, parseJson(text), wrong);
    }
  }
  return notCompared;
}

/** Compares the metrics of the task in a summary with those of the steps; summaries of earlier versions have none. */
export function checkTaskMetrics(
  metrics: JsonObject,
  rows: readonly StepRow[],
  research: JsonObject | null,
  findings: Findings,
): void {
  const produced = taskMetrics(rows, research);
  for (const id of taskMetricIds(research).filter((id) => Object.hasOwn(metrics, id))) {
    findings.looked(1);
    if (sameValue(metrics[id], produced[id] ?? null)) continue;
    findings.error("bundle_metric_mismatch", SUMMARY_FILE, `$.metrics.${id}`, `${id} is not the value of the step`);
  }
}

type Wrong = (name: string, message: string) => void;

function checkReport({ id, metrics, metadata }: StepRow, path: string, report: Value, wrong: Wrong): void {
  // An operation may write a report of another form, and measure what its report does not hold.
  if (!isObject(report) || !isObject(report.metrics)) return;
  for (const [name, value] of Object.entries(report.metrics)) {
    if (isNumber(value) && !sameValue(metrics[name] ?? null, value)) {
      wrong(name, `${name} of ${id} is not the ${canonicalJson(value)} in ${path}`);
    }
  }
  const counts = (metadata.metric_metadata ?? null) as Value;
  if (!sameValue((report.metric_metadata ?? counts) as Value, counts)) {
    wrong("metric_metadata", `The counts of ${id} are not those in ${path}`);
  }
}

function checkRates({ id, metrics, metadata }: StepRow, wrong: Wrong): void {
  const compare = (name: string, value: Value, events: number, trials: number, complement = false) => {
    if (!isNumber(value) || trials === 0) return;
    const rate = complement ? 1 - events / trials : events / trials;
    if (!(Math.abs(toNumber(value) - rate) <= RATE_TOLERANCE)) {
      wrong(name, `${name} of ${id} is not the rate of its counts, ${events} of ${trials}`);
    }
  };
  for (const name of Object.keys(isObject(metadata.metric_metadata) ? metadata.metric_metadata : {})) {
    const counts = recordedRate(metadata, name);
    if (counts !== null) compare(name, metrics[name] ?? null, counts.events, counts.trials, counts.complement);
    const pooled = recordedPooled(metadata, name), value = metrics[name];
    if (pooled === null || !isNumber(value)) continue;
    const expected = pooledValue(pooled);
    if (
      expected === null || !(Math.abs(toNumber(value) - expected) <= RATE_TOLERANCE * Math.max(1, Math.abs(expected)))
    ) {
      wrong(name, `${name} of ${id} does not follow from its sums`);
    }
  }
  for (const [name, value] of Object.entries(metrics)) {
    const counts = findMetric(name)?.counts;
    const [events, trials] = counts === undefined ? [] : [metrics[counts.events], metrics[counts.trials]];
    if (isNumber(events) && isNumber(trials)) compare(name, value, toNumber(events), toNumber(trials));
  }
}
