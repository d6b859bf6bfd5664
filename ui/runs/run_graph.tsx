/** The link as it ran: the state of every block, and what lies on its wires. */
import { useMemo, useState } from "../preact.ts";
import { Graph } from "../graph/graph.tsx";
import type { JsonObject } from "../../lib/contract/value.ts";
import type { StepState } from "../state/runs.ts";
import type { RunDocuments } from "./documents.ts";
import { json, useLoaded } from "./fetch_artifact.ts";
import { measuredText, secondsText } from "./metrics.ts";
import { StateMark } from "./state_mark.tsx";

export default function RunGraph({ documents: { summary } }: { documents: RunDocuments }) {
  const [selected, setSelected] = useState<string | null>(null);
  const { value: recipe, problem } = useLoaded(
    (signal) => json<JsonObject>(`runs/${summary.run_id}/recipe.json`, signal),
    summary.run_id,
  );
  const states = useMemo(() =>
    new Map(summary.steps.map(({ id, status, metrics }): [string, StepState] => [id, {
      state: status,
      fraction: null,
      message: status === "failed" ? summary.error ?? null : null,
      seconds: Number(metrics?.["timing.step.wall_time_s"] ?? NaN) || null,
    }])), [summary]);
  if (problem !== null) return <p class="notice" data-tone="error">{problem}</p>;
  if (recipe === null) return <p class="empty" aria-busy="true">Reading the recipe</p>;
  const step = summary.steps.find(({ id }) => id === selected);
  return (
    <div class="run-graph">
      <div class="run-graph-picture">
        <Graph recipe={recipe} selected={selected} onSelect={setSelected} states={states} />
      </div>
      <aside class="panel" aria-label="Chosen block">
        {selected === null ? <p class="muted">Choose a block to see what it left.</p> : step === undefined
          ? (
            <p>
              <code>{selected}</code> was not started.
            </p>
          )
          : (
            <>
              <h2 class="mono">{step.id}</h2>
              <p class="row">
                <StateMark state={step.status} />
                <span class="muted">{secondsText(states.get(step.id)!.seconds)}</span>
              </p>
              <h3>Outputs</h3>
              {Object.entries(step.outputs ?? {}).map(([name, { kind, metadata, sha256 }]) => (
                <dl class="facts" key={name}>
                  <dt class="mono">{name}</dt>
                  <dd class="mono small">
                    {kind}
                    {metadata.dtype !== undefined && (
                      <>
                        <br />
                        {String(metadata.dtype)} {JSON.stringify(metadata.shape)}
                      </>
                    )}
                    <br />
                    {sha256.slice(0, 12)}…
                  </dd>
                </dl>
              ))}
              <h3>Metrics</h3>
              <dl class="facts">
                {Object.keys(step.metrics ?? {}).map((name) => (
                  <>
                    <dt key={name} class="mono small">{name}</dt>
                    <dd class="mono">{measuredText(step, name)}</dd>
                  </>
                ))}
              </dl>
            </>
          )}
      </aside>
    </div>
  );
}
