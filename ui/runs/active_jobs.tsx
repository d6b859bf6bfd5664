/** The running and queued jobs with their progress. */
import { get } from "../api.ts";
import { StateMark } from "../parts.tsx";
import { useEffect, useState } from "../preact.ts";
import { address } from "../router.ts";
import { activeJobs, type Job, jobs, refreshJobs } from "../state/events.ts";
import { cancelRun, stepStates, stopping } from "../state/runs.ts";

export function ActiveJobs() {
  const [canceling, setCanceling] = useState<ReadonlySet<string>>(new Set());
  const active = jobs.value.size > 0 ? activeJobs() : [];
  const totals = useStepCounts(active);
  // A job that another tab or a script started is known by its events alone: they do not say its name.
  const nameless = active.some(({ recipe_name }) => recipe_name === null);
  useEffect(() => {
    if (nameless) refreshJobs().catch(() => {});
  }, [nameless]);
  if (active.length === 0) return null;
  const cancel = (jobId: string) => {
    setCanceling(new Set([...canceling, jobId]));
    cancelRun(jobId).catch(() => setCanceling(new Set([...canceling].filter((id) => id !== jobId))));
  };
  return (
    <section class="panel active-jobs" aria-label="Running and queued">
      <h2>Running and queued</h2>
      <ul>
        {active.map((job) => (
          <ActiveJob
            key={job.job_id}
            job={job}
            total={totals.get(job.run_id ?? "") ?? 0}
            canceling={canceling.has(job.job_id)}
            onCancel={() => cancel(job.job_id)}
          />
        ))}
      </ul>
    </section>
  );
}

interface ActiveJobProps {
  job: Job;
  /** Steps of its plan; 0 while they are not known. */
  total: number;
  canceling: boolean;
  onCancel(): void;
}

function ActiveJob({ job, total, canceling, onCancel }: ActiveJobProps) {
  const steps = [...(stepStates.value.get(job.job_id)?.entries() ?? [])], name = job.recipe_name ?? job.job_id;
  const done = steps.filter(([, { state }]) => state === "completed").length;
  const current = steps.find(([, { state }]) => state === "running");
  return (
    <li class="row">
      <StateMark state={job.state} />
      <strong>
        {job.kind === "matrix" ? <a href={address("sweeps", [job.job_id])}>{name}</a> : name}
      </strong>
      {job.kind !== "run" && <span class="tag">{job.kind}</span>}
      {job.state === "running" && (
        <>
          <progress
            aria-label={`Progress of ${name}`}
            max={total || undefined}
            value={total > 0 ? done : undefined}
          />
          <span class="muted">
            {total > 0 ? `${done} of ${total} steps` : `${done} steps done`}
            {current ? `, now ${current[0]}` : ""}
          </span>
        </>
      )}
      {job.run_id !== null && <a class="mono small" href={address("runs", [job.run_id])}>{job.run_id}</a>}
      {canceling || stopping.value.has(job.job_id)
        ? <span class="state" data-tone="warn">canceling after the running operation</span>
        : <button type="button" onClick={onCancel}>Cancel</button>}
    </li>
  );
}

/** The number of steps of the active runs, of their plans. */
function useStepCounts(active: readonly Job[]): ReadonlyMap<string, number> {
  const [totals, setTotals] = useState<ReadonlyMap<string, number>>(new Map());
  const wanted = active.flatMap(({ run_id }) => run_id === null || totals.has(run_id) ? [] : [run_id]);
  useEffect(() => {
    const stop = new AbortController();
    for (const runId of wanted) {
      get("/api/runs/:run_id", { params: { run_id: runId }, signal: stop.signal }).then(
        ({ manifest }) => setTotals((known) => new Map(known).set(runId, manifest.execution_plan.steps.length)),
        () => {},
      );
    }
    return () => stop.abort();
  }, [wanted.join(" ")]);
  return totals;
}
