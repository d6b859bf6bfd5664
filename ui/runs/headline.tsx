/** The metrics of a run: those that its task is about first, then all by step. */
import { recordedRate } from "../../lib/contract/metric_metadata.ts";
import { unitText } from "../../lib/figure/unit_text.ts";
import { Table } from "../parts.tsx";
import { metricRows, type RunSummary } from "./documents.ts";
import { directionText, entryOf, headlineOf, isVolatile, valueText } from "./metrics.ts";

type Step = RunSummary["steps"][number];

/** The counts of a rate in words; nothing for other metrics. */
function countsText({ metadata }: Step, metric: string): string | null {
  const rate = recordedRate(metadata, metric);
  if (rate === null) return null;
  const { events, trials, unit, units, unit_failures: failures } = rate;
  const counts = `${valueText(events)} of ${valueText(trials)}`;
  return unit === "bit"
    ? counts
    : `${counts}, in ${valueText(failures)} of ${valueText(units)} ${unit.replace("_", " ")}s`;
}

/**
 * The headline metrics with their interval or bound, unit and counts.
 *
 * @param wanted metrics that the run is about
 */
export function Headline({ summary, wanted }: { summary: RunSummary; wanted: readonly string[] }) {
  const rows = metricRows(summary).filter(({ metric }) => !isVolatile(metric));
  const names = headlineOf(rows.map(({ metric }) => metric), wanted);
  if (names.length === 0) return null;
  return (
    <dl class="headline">
      {names.map((name) => {
        const { step, value, shown } = rows.findLast(({ metric }) => metric === name)!, entry = entryOf(name);
        const counts = countsText(summary.steps.find(({ id }) => id === step)!, name);
        return (
          <div key={name}>
            <dt title={[name, directionText(entry?.direction)].filter(Boolean).join(", ")}>{entry?.name ?? name}</dt>
            <dd title={String(value)}>
              {shown} <span class="unit">{unitText(entry?.unit ?? "")}</span>
            </dd>
            {counts !== null && <dd class="small muted">{counts}</dd>}
          </div>
        );
      })}
    </dl>
  );
}

/** All metrics by step; counts and settings of a step are folded. */
export function StepMetrics({ summary, times = false }: { summary: RunSummary; times?: boolean }) {
  const rows = metricRows(summary).filter(({ metric }) => times || !isVolatile(metric));
  const steps = summary.steps.filter(({ id }) => rows.some(({ step }) => step === id));
  if (steps.length === 0) return <p class="empty">This run has no metrics.</p>;
  return (
    <div class="step-metrics" role="group" aria-label="Table of metrics">
      {steps.map(({ id, op }) => {
        const own = rows.filter(({ step }) => step === id);
        const isMeasure = ({ metric }: typeof own[number]) => (entryOf(metric)?.direction ?? "neutral") !== "neutral";
        const measured = own.filter(isMeasure), other = own.filter((row) => !isMeasure(row));
        return (
          <section key={id} aria-label={`Metrics of ${id}`}>
            <h3 class="plain">
              <span class="mono">{id}</span> <span class="muted small">{op}</span>
            </h3>
            {measured.length > 0 && <MetricTable rows={measured} />}
            {other.length > 0 && (
              <details>
                <summary>{other.length === 1 ? "1 count or setting" : `${other.length} counts and settings`}</summary>
                <MetricTable rows={other} />
              </details>
            )}
          </section>
        );
      })}
    </div>
  );
}

const MetricTable = ({ rows }: { rows: ReturnType<typeof metricRows> }) => (
  <Table
    rows={rows}
    keyOf={({ metric }) => metric}
    columns={[
      ["Metric", ({ metric }) => <span title={metric}>{entryOf(metric)?.name ?? metric}</span>, "first"],
      ["Value", ({ shown }) => shown, "number mono", ({ value }) => String(value)],
      ["Unit", ({ metric }) => unitText(entryOf(metric)?.unit ?? "")],
      ["Better", ({ metric }) => directionText(entryOf(metric)?.direction).split(" ")[0], "muted"],
    ]}
  />
);
