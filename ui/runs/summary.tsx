/** The results of a run: headline and figure, its error, warnings, metrics by step, and its channel uses. */
import { Waterfall } from "../charts/waterfall.tsx";
import { Check, Diagnostics, Section, Shown, Trouble } from "../parts.tsx";
import { lazy, useState } from "../preact.ts";
import { useLoaded } from "../state/fetched.ts";
import { artifactsOf, type RunDocuments, type RunSummary, taskOf } from "./documents.ts";
import { Failure, warningsOf } from "./failure.tsx";
import { json } from "./fetch_artifact.ts";
import { Headline, StepMetrics } from "./headline.tsx";
import { metricsOf } from "./metrics.ts";

const ResultFigure = lazy(() => import("./result_figure.tsx"), "Loading the figure");

export function Summary({ documents }: { documents: RunDocuments }) {
  const { summary } = documents, warnings = warningsOf(summary).others;
  const accounting = artifactsOf(summary).find(({ kind, step }) =>
    kind === "metrics.report" &&
    summary.steps.find(({ id }) => id === step)!.op.startsWith("channel.communication_resource_accounting")
  );
  return (
    <div class="stack">
      <Failure summary={summary} />
      {summary.status === "incomplete" && (
        <Trouble
          tone="warn"
          text="Incomplete: the server or the program ended during this run. The outputs until then are shown; Re-run repeats it."
        />
      )}
      {summary.status === "completed" && (
        <section class="panel result" aria-label="Result">
          <Headline summary={summary} wanted={metricsOf(taskOf(documents))} />
          <ResultFigure summary={summary} />
        </section>
      )}
      {warnings.length > 0 && (
        <Section title="Warnings" look="panel">
          <Diagnostics items={warnings} />
        </Section>
      )}
      <Metrics summary={summary} />
      {accounting !== undefined && <Rates path={accounting.path} />}
    </div>
  );
}

function Metrics({ summary }: { summary: RunSummary }) {
  const [times, setTimes] = useState(false);
  return (
    <Section
      title="Metrics by step"
      look="panel"
      actions={<Check label="Times and memory" checked={times} onChange={setTimes} />}
    >
      <StepMetrics summary={summary} times={times} />
    </Section>
  );
}

function Rates({ path }: { path: string }) {
  const report = useLoaded((signal) => json<Record<string, unknown>>(path, signal), path);
  return <Shown of={report} what="the accounting">{(value) => <Waterfall report={value} />}</Shown>;
}
