/** The graph of a run: the state of every block, and the outputs and metrics of the selected one. */
import type { JsonObject } from "../../lib/contract/value.ts";
import { Graph } from "../graph/graph.tsx";
import { useThumbnails } from "../graph/use_thumbnails.ts";
import { Facts, Shown, StateMark } from "../parts.tsx";
import { useMemo, useState } from "../preact.ts";
import { useLoaded } from "../state/fetched.ts";
import type { StepState } from "../state/runs.ts";
import type { RunDocuments, RunSummary } from "./documents.ts";
import { json } from "./fetch_artifact.ts";
import { secondsText } from "./amounts.ts";
import { measuredText } from "./metrics.ts";

export default function RunGraph({ documents: { summary } }: { documents: RunDocuments }) {
  const [selected, setSelected] = useState<string | null>(null);
  const recipe = useLoaded(
    (signal) => json<JsonObject>(`runs/${summary.run_id}/recipe.json`, signal),
    summary.run_id,
  );
  const states = useMemo(() =>
    new Map(summary.steps.map(({ id, status, metrics }): [string, StepState] => [id, {
      state: status,
      fraction: null,
      message: status === "failed" ? summary.error ?? null : null,
      seconds: Number(metrics["timing.step.wall_time_s"] ?? NaN) || null,
    }])), [summary]);
  const step = summary.steps.find(({ id }) => id === selected), thumbnails = useThumbnails(summary);
  return (
    <Shown of={recipe} what="the recipe">
      {(recipe) => (
        <div class="run-graph">
          <div class="run-graph-picture">
            <Graph recipe={recipe} selected={selected} onSelect={setSelected} states={states} thumbnails={thumbnails} />
          </div>
          <aside class="panel" aria-label="Selected block">
            {selected === null ? <p class="muted">Select a block to see its outputs.</p> : step === undefined
              ? (
                <p>
                  <code>{selected}</code> was not started.
                </p>
              )
              : <StepFacts step={step} seconds={states.get(step.id)!.seconds} />}
          </aside>
        </div>
      )}
    </Shown>
  );
}

function StepFacts({ step, seconds }: { step: RunSummary["steps"][number]; seconds: number | null }) {
  return (
    <>
      <h2 class="mono">{step.id}</h2>
      <p class="row">
        <StateMark state={step.status} />
        <span class="muted">{secondsText(seconds)}</span>
      </p>
      <h3>Outputs</h3>
      <Facts
        mono="mono small"
        of={Object.entries(step.outputs).map(([name, { kind, metadata: { dtype, shape }, sha256 }]) => [
          name,
          (
            <>
              <div>{kind}</div>
              {dtype !== undefined && <div>{String(dtype)} {JSON.stringify(shape)}</div>}
              <div>{sha256.slice(0, 12)}…</div>
            </>
          ),
        ])}
      />
      <h3>Metrics</h3>
      <Facts mono="mono" of={Object.keys(step.metrics).map((name) => [name, measuredText(step, name)])} />
    </>
  );
}
