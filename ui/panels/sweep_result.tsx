/** The result of a sweep: its values, and its progress and its curve where the matrix does not show them. */
import { useComparedRuns } from "../compare/load.ts";
import { selectionOf } from "../compare/table.ts";
import { StateMark, Trouble } from "../parts.tsx";
import { lazy, useMemo } from "../preact.ts";
import { address } from "../router.ts";
import { timeText } from "../runs/metrics.ts";
import { SweepTable } from "../runs/sweep_table.tsx";
import { centreView } from "../state/centre_view.ts";
import { isEnded, type Job, variantRuns } from "../state/events.ts";
import { cancelRun, stopping } from "../state/runs.ts";
import { attempt } from "./bar.tsx";

const VariantCurve = lazy(() => import("./variant_curve.tsx"), "Loading the figure");

export default function SweepResult({ job }: { job: Job }) {
  const variants = Object.values(variantRuns(job)).sort((a, b) => a.index - b.index);
  const ids = variants.flatMap(({ run_id, status }) => run_id === null || status === "running" ? [] : [run_id]);
  const { runs, problems } = useComparedRuns(ids);
  const swept = useMemo(
    () =>
      runs.filter(({ status }) => status === "completed")
        .map((run) => ({ ...run, parameters: new Map(Object.entries(selectionOf(run))) })),
    [runs.map(({ id }) => id).join()],
  );
  const apart = centreView.value !== "Matrix";
  return (
    <>
      {apart
        ? <SweepLine job={job} count={Math.max(variants.length, Number(job.progress?.count ?? 0))} />
        : (
          <p class="row">
            <StateMark state={job.state} />
            <a href={address("sweeps", [job.job_id])}>The sweep on a page of its own</a>
          </p>
        )}
      <Trouble tone="warn" text={problems.join(". ")} />
      {apart && swept.length > 1 && (
        <div class="sweep-curve">
          <VariantCurve runs={swept} metric={undefined} />
        </div>
      )}
      {runs.length > 0 && <SweepTable name={job.recipe_name ?? job.job_id} runs={runs} />}
    </>
  );
}

/** The state of a sweep, which continues on the server without this page. */
export function SweepLine({ job, count, started = variantRuns(job) }: {
  job: Job;
  count: number;
  started?: ReturnType<typeof variantRuns>;
}) {
  const runs = Object.values(started), active = !isEnded(job.state);
  const completed = runs.filter(({ status }) => status === "completed").length;
  const reused = runs.filter(({ reused }) => reused).length,
    failed = runs.filter(({ status }) => status === "failed").length;
  return (
    <div class="row sweep-line">
      <StateMark state={job.state} />
      {active && (
        <progress aria-label="Progress of the sweep" max={count} value={runs.length === 0 ? undefined : completed} />
      )}
      <span>
        {completed} of {count} variants completed
        {reused > 0 && `, ${reused} of them before`}
        {failed > 0 && `, ${failed} failed`}
      </span>
      <span class="small muted">started {timeText(job.created_at_utc)}</span>
      <a href={address("sweeps", [job.job_id])}>Open the sweep</a>
      {job.state === "incomplete" && (
        <span>The server ended during this sweep. Run matrix keeps what is completed and continues.</span>
      )}
      {active && (
        <button
          type="button"
          disabled={stopping.value.has(job.job_id)}
          onClick={() => attempt(() => cancelRun(job.job_id))}
        >
          {stopping.value.has(job.job_id) ? "Canceling after the running operation" : "Cancel sweep"}
        </button>
      )}
    </div>
  );
}
