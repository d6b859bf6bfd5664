/** The results of a run: metrics with unit and direction, its error, and its channel uses. */
import { isObject } from "../../lib/contract/value.ts";
import { unitText } from "../../lib/figure/unit_text.ts";
import type { Diagnostic } from "../api.ts";
import { Waterfall } from "../charts/waterfall.tsx";
import { Check, Diagnostics, Section, Shown, Table, Trouble } from "../parts.tsx";
import { useState } from "../preact.ts";
import { useLoaded } from "../state/fetched.ts";
import { artifactsOf, isVolatile, metricRows, type RunDocuments, type RunSummary } from "./documents.ts";
import { json } from "./fetch_artifact.ts";
import { directionText, entryOf, keyMetric } from "./metrics.ts";

export function Summary({ documents: { summary } }: { documents: RunDocuments }) {
  const accounting = artifactsOf(summary).find(({ kind, step }) =>
    kind === "metrics.report" &&
    summary.steps.find(({ id }) => id === step)!.op.startsWith("channel.communication_resource_accounting")
  );
  return (
    <div class="stack">
      <Failure summary={summary} />
      {(summary.warnings ?? []).length > 0 && (
        <Section title="Warnings" look="panel">
          <Diagnostics items={summary.warnings as Diagnostic[]} />
        </Section>
      )}
      <Metrics summary={summary} />
      {accounting !== undefined && <Rates path={accounting.path} />}
    </div>
  );
}

function Failure({ summary: { error, steps, failure, status } }: { summary: RunSummary }) {
  const failed = steps.find(({ status }) => status === "failed");
  return (
    <>
      {error !== undefined && (
        <Trouble
          text={
            <>
              <strong>{failed ? `${failed.id} failed. ` : ""}</strong>
              {error}
              {isObject(failure) && <code class="small muted">{` ${String(failure.code)}`}</code>}
            </>
          }
        />
      )}
      {status === "incomplete" && (
        <Trouble tone="warn" text="The program ended before the run. The outputs until then are shown." />
      )}
    </>
  );
}

function Metrics({ summary }: { summary: RunSummary }) {
  const [timings, setTimings] = useState(false);
  const shown = metricRows(summary).filter(({ metric }) => timings || !isVolatile(metric));
  const key = keyMetric(Object.fromEntries(shown.map(({ metric, value }) => [metric, value])));
  return (
    <Section
      title="Metrics"
      look="panel"
      actions={<Check label="Times and memory" checked={timings} onChange={setTimings} />}
    >
      {shown.length === 0 ? <p class="empty">This run has no metrics.</p> : (
        <Table
          label="Table of metrics"
          rows={shown}
          attributes={({ metric }) => ({ class: metric === key ? "key-metric" : undefined })}
          columns={[
            ["Metric", ({ metric }) => {
              const name = entryOf(metric)?.name ?? metric;
              return <>{name} {name !== metric && <code class="muted small">{metric}</code>}</>;
            }],
            ["Value", ({ shown }) => shown, "number mono", ({ value }) => String(value)],
            ["Unit", ({ metric }) => unitText(entryOf(metric)?.unit ?? "")],
            ["Direction", ({ metric }) => directionText(entryOf(metric)?.direction), "muted"],
            ["Step", ({ step }) => step, "mono"],
          ]}
        />
      )}
    </Section>
  );
}

function Rates({ path }: { path: string }) {
  const report = useLoaded((signal) => json<Record<string, unknown>>(path, signal), path);
  return <Shown of={report} what="the accounting">{(value) => <Waterfall report={value} />}</Shown>;
}
