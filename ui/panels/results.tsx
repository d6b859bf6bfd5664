/** The result of the last run of a recipe: headline, figure, warnings, and the ways on. */
import { get } from "../api.ts";
import { commandOf, CopyCommand } from "../copy_command.tsx";
import { Diagnostics, StateMark, Trouble } from "../parts.tsx";
import { lazy, useEffect } from "../preact.ts";
import { address } from "../router.ts";
import { FailedVariants, Failure, reasonOf, warningsOf } from "../runs/failure.tsx";
import { secondsOf } from "../runs/filter.ts";
import { Headline, StepMetrics } from "../runs/headline.tsx";
import { secondsText } from "../runs/amounts.ts";
import { loadMetrics } from "../runs/metrics.ts";
import { type Copy, nameOf } from "../state/copies.ts";
import type { Job } from "../state/events.ts";
import { useLoaded } from "../state/fetched.ts";
import { jobOf, type Summary, useSummary } from "../state/summaries.ts";
import { headlineMetrics } from "./headline.ts";
import { RunCommand } from "./run_command.tsx";

const ResultFigure = lazy(() => import("../runs/result_figure.tsx"), "Loading the figure");
const SweepResult = lazy(() => import("./sweep_result.tsx"), "Loading the sweep");

export function Results({ copy }: { copy: Copy }) {
  const job = jobOf(copy), summary = useSummary(job), isSweep = job?.kind === "matrix";
  useEffect(() => void loadMetrics().catch(() => {}), []);
  if (job === undefined) {
    return (
      <div class="stack">
        <p class="muted">
          This recipe has not run yet. <kbd>Ctrl+Enter</kbd> runs it; its result is shown here.
        </p>
        <RunCommand copy={copy} />
      </div>
    );
  }
  const warnings = summary === null ? [] : warningsOf(summary).others;
  return (
    <article class="result" aria-label={`Result of ${nameOf(copy)}`}>
      <div class="stack">
        {!isSweep && <RunLine job={job} summary={summary} />}
        {isSweep
          ? <FailedVariants job={job} />
          : summary?.status === "failed"
          ? <Failure summary={summary} copy={copy} />
          : <Trouble text={reasonOf(job)} />}
        {job.state === "incomplete" && <p>The server ended during this run. Run repeats it.</p>}
        {isSweep && <SweepResult job={job} />}
        {!isSweep && summary !== null && (
          <>
            {summary.status === "completed" && (
              <Headline
                summary={summary}
                wanted={headlineMetrics(copy).map(({ id }) => id)}
              />
            )}
            <Ways copy={copy} summary={summary} />
            {warnings.length > 0 && <Diagnostics items={warnings} label="Warnings of the run" />}
            <details>
              <summary>All metrics by step</summary>
              <StepMetrics summary={summary} />
            </details>
          </>
        )}
      </div>
      {!isSweep && summary?.status === "completed" && <ResultFigure key={summary.run_id} summary={summary} />}
    </article>
  );
}

function RunLine({ job: { state, run_id }, summary }: { job: Job; summary: Summary | null }) {
  return (
    <p class="row">
      <StateMark state={state} />
      {summary === null
        ? run_id !== null && <a class="mono" href={address("runs", [run_id])}>{run_id}</a>
        : <span class="muted">{secondsText(secondsOf(summary))}</span>}
    </p>
  );
}

/** From the result to the run, its verification, and the run before. */
function Ways({ copy, summary: { run_id, recipe_name } }: { copy: Copy; summary: Summary }) {
  const query = { recipe_name: nameOf(copy), status: "completed", limit: 8 };
  const before = useLoaded((signal) => get("/api/runs", { query, signal }), run_id);
  const previous = before.value?.runs.find((row) => row.run_id < run_id && row.recipe_name === recipe_name);
  return (
    <p class="row">
      <a class="button" href={address("runs", [run_id])}>Open the run</a>
      {previous !== undefined && (
        <a class="button" href={address("compare", [], { runs: `${previous.run_id},${run_id}` })}>
          Compare with the previous run
        </a>
      )}
      <a class="button" href={address("runs", [run_id, "artifacts"])}>Verify</a>
      <CopyCommand command={commandOf("runs", "show", run_id)} />
    </p>
  );
}
