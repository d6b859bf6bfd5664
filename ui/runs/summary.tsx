/** What came out: metrics with unit and direction, what went wrong, and where the channel uses went. */
import { unitText } from "../../lib/figure/unit_text.ts";
import { isObject } from "../../lib/contract/value.ts";
import { useState } from "../preact.ts";
import { Diagnostics } from "../panels/notices.tsx";
import { Waterfall } from "../charts/waterfall.tsx";
import { artifactsOf, isVolatile, metricRows, type RunDocuments } from "./documents.ts";
import { json, useLoaded } from "./fetch_artifact.ts";
import { directionText, entryOf, keyMetric } from "./metrics.ts";

export function Summary({ documents: { summary } }: { documents: RunDocuments }) {
  const [timings, setTimings] = useState(false);
  const rows = metricRows(summary);
  const shown = rows.filter(({ metric }) => timings || !isVolatile(metric));
  const key = keyMetric(Object.fromEntries(shown.map(({ metric, value }) => [metric, value])));
  const failed = summary.steps.find(({ status }) => status === "failed");
  const accounting = artifactsOf(summary).find(({ kind, step }) =>
    kind === "metrics.report" &&
    summary.steps.find(({ id }) => id === step)!.op.startsWith("channel.communication_resource_accounting")
  );
  return (
    <div class="stack">
      {summary.error !== undefined && (
        <div class="notice" data-tone="error" role="alert">
          <strong>{failed ? `${failed.id} failed. ` : ""}</strong>
          {summary.error}
          {isObject(summary.failure) && <code class="small muted">{` ${String(summary.failure.code)}`}</code>}
        </div>
      )}
      {summary.status === "incomplete" && (
        <p class="notice" data-tone="warn">The program ended before the run did. What it left until then is shown.</p>
      )}
      {(summary.warnings ?? []).length > 0 && (
        <section class="panel" aria-label="Warnings">
          <h2>Warnings</h2>
          <Diagnostics items={summary.warnings!} />
        </section>
      )}
      <section class="panel" aria-label="Metrics">
        <div class="row spread">
          <h2>Metrics</h2>
          <label class="row">
            <input type="checkbox" checked={timings} onChange={(event) => setTimings(event.currentTarget.checked)} />
            Times and memory
          </label>
        </div>
        {shown.length === 0
          ? <p class="empty">This run left no metrics.</p>
          : (
            <div class="scroll-x" tabIndex={0} role="region" aria-label="Table of metrics">
              <table>
                <thead>
                  <tr>
                    <th>Metric</th>
                    <th class="number">Value</th>
                    <th>Unit</th>
                    <th>Direction</th>
                    <th>Step</th>
                  </tr>
                </thead>
                <tbody>
                  {shown.map(({ step, metric, value, shown: text }) => {
                    const entry = entryOf(metric);
                    return (
                      <tr key={`${step} ${metric}`} class={metric === key ? "key-metric" : undefined}>
                        <td>
                          {entry?.name ?? metric}
                          {entry !== undefined && entry.name !== metric && (
                            <>
                              {" "}
                              <code class="muted small">{metric}</code>
                            </>
                          )}
                        </td>
                        <td class="number mono" title={String(value)}>{text}</td>
                        <td>{unitText(entry?.unit ?? "")}</td>
                        <td class="muted">{directionText(entry?.direction)}</td>
                        <td class="mono">{step}</td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            </div>
          )}
      </section>
      {accounting !== undefined && <Rates path={accounting.path} />}
    </div>
  );
}

function Rates({ path }: { path: string }) {
  const { value, problem } = useLoaded((signal) => json<Record<string, unknown>>(path, signal), path);
  if (problem !== null) return <p class="notice" data-tone="warn">{problem}</p>;
  if (value === null) return <p class="muted" aria-busy="true">Reading where the channel uses went</p>;
  return <Waterfall report={value} />;
}
