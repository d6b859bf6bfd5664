/**
 * A sweep: the runs of a matrix as a figure, a strip of what was received at each value, and a table. By the id of its job,
 * or by the name of the recipe for runs that the command line made.
 */
import { get, messageOf } from "../api.ts";
import { commandOf, CopyCommand } from "../copy_command.tsx";
import { useComparedRuns } from "../compare/load.ts";
import { selectionOf } from "../compare/table.ts";
import { Page, Section, StateMark, Trouble, Wait } from "../parts.tsx";
import { type JSX, lazy, useEffect, useMemo, useRef, useState } from "../preact.ts";
import { address, go, place } from "../router.ts";
import { FailedVariants } from "../runs/failure.tsx";
import { loadMetrics, timeText } from "../runs/metrics.ts";
import { SweepTable } from "../runs/sweep_table.tsx";
import { openCopy } from "../state/copies.ts";
import { isEnded, type Job, jobs, rememberJob, variantRuns } from "../state/events.ts";
import { useFetched, useLoaded } from "../state/fetched.ts";
import { cancelRun, stopping } from "../state/runs.ts";
import { Sign } from "../sign.tsx";

const Curves = lazy(() => import("../compare/curves.tsx"), "Loading the figure");
const Filmstrip = lazy(() => import("../runs/filmstrip.tsx"), "Loading the strip");

/** A variant with its run, as far as it started. */
interface Point {
  key: string;
  status: string;
  runId: string | null;
  reused: boolean;
}

export default function Sweeps() {
  const { path: [jobId], query } = place.value, recipe = query.get("recipe");
  useEffect(() => void loadMetrics().catch(() => {}), []);
  if (jobId !== undefined) return <OfJob key={jobId} jobId={jobId} />;
  if (recipe !== null) return <OfRecipe key={recipe} recipe={recipe} />;
  return (
    <Page title="Sweep">
      <p class="empty">
        No sweep is named. Open one from the list of <a href={address("runs")}>runs</a>.
      </p>
    </Page>
  );
}

function OfJob({ jobId }: { jobId: string }) {
  const known = jobs.value.get(jobId), params = { job_id: jobId };
  const found = useFetched(known === undefined ? "/api/run-jobs/:job_id" : null, { params });
  useEffect(() => {
    if (found.value !== null) rememberJob(found.value);
  }, [found.value]);
  const authored = useFetched("/api/run-jobs/:job_id/recipe", { params });
  if (known === undefined) {
    return (
      <Page title="Sweep">
        <Wait of={found} what="the sweep" />
      </Page>
    );
  }
  const points = Object.entries(variantRuns(known)).sort(([, a], [, b]) => a.index - b.index)
    .map(([key, { status, run_id, reused }]): Point => ({
      key,
      status: statusIn(known, status),
      runId: run_id,
      reused,
    }));
  const recipe = authored.value?.recipe ?? null;
  return (
    <Sweep
      name={known.recipe_name ?? jobId}
      points={points}
      count={Math.max(points.length, Number(known.progress?.count ?? 0))}
      state={<JobState job={known} />}
      isOver={isEnded(known.state)}
      note={<FailedVariants job={known} />}
      actions={recipe !== null && (
        <button
          type="button"
          class="primary"
          onClick={() => {
            openCopy(recipe);
            go("editor");
          }}
        >
          Open as recipe
        </button>
      )}
    />
  );
}

/** Nothing runs in a job that was ended from outside. */
const statusIn = ({ state }: Job, status: string) => status === "running" && isEnded(state) ? "interrupted" : status;

function JobState({ job: { job_id, state, created_at_utc } }: { job: Job }) {
  return (
    <>
      <StateMark state={state} />
      <span class="muted">{timeText(created_at_utc)} UTC</span>
      {!isEnded(state) && (
        <button
          type="button"
          disabled={stopping.value.has(job_id)}
          onClick={() => void cancelRun(job_id)}
        >
          {stopping.value.has(job_id) ? "Canceling after the running operation" : "Cancel sweep"}
        </button>
      )}
    </>
  );
}

/** Runs of a recipe's matrix that are read for one page. */
const MOST_RUNS = 500;

/** The newest run of each variant of a recipe. */
function OfRecipe({ recipe }: { recipe: string }) {
  const query = { recipe_name: recipe, limit: MOST_RUNS, fields: "matrix_recipe" };
  const found = useFetched("/api/runs", { query });
  if (found.value === null) {
    return (
      <Page title={recipe}>
        <Wait of={found} what="the runs" />
      </Page>
    );
  }
  const newest = new Map<string, Point>();
  for (const { run_id, recipe_name, status, matrix_recipe } of found.value.runs) {
    const key = recipe_name ?? run_id, isVariant = matrix_recipe === recipe || key.startsWith(`${recipe}__`);
    if (isVariant && !newest.has(key)) newest.set(key, { key, status, runId: run_id, reused: false });
  }
  if (newest.size === 0) {
    return (
      <Page title={recipe}>
        <p class="empty">
          No sweep of this recipe has run here. <a href={address("runs")}>All runs</a>
        </p>
      </Page>
    );
  }
  const points = [...newest.values()].reverse();
  return (
    <Sweep
      name={recipe}
      points={points}
      count={points.length}
      state={<span class="muted">the newest run of each variant</span>}
      isOver
      note={found.value.next_cursor !== null && <Trouble text={`Only the newest ${MOST_RUNS} runs are read`} />}
      actions={null}
    />
  );
}

interface Props {
  name: string;
  points: readonly Point[];
  /** Variants of the sweep. */
  count: number;
  state: JSX.Element;
  isOver: boolean;
  note: JSX.Element | false;
  actions: JSX.Element | false | null;
}

function Sweep({ name, points, count, state, isOver, note, actions }: Props) {
  const ids = points.flatMap(({ runId, status }) => runId === null || status === "running" ? [] : [runId]);
  const { runs, loading, problems } = useComparedRuns(ids), read = useRef(false);
  // Runs that follow one by one add points to a figure in its place.
  read.current ||= loading === 0;
  useEffect(() => {
    document.title = `${name} · svc`;
  }, [name]);
  // Coordinates stand for the parameters: a swept value may act on several of them.
  const swept = useMemo(
    () =>
      runs.filter(({ status }) => status === "completed").map((run) => ({
        ...run,
        parameters: new Map(Object.entries(selectionOf(run))),
      })),
    [runs.map(({ id }) => id).join()],
  );
  const done = points.filter(({ status }) => status === "completed").length;
  const others = ["running", "failed", "canceled", "interrupted"].flatMap((state) => {
    const count = points.filter(({ status }) => status === state).length;
    return count > 0 ? [`${count} ${state}`] : [];
  });
  if (isOver && points.length < count) others.push(`${count - points.length} not run`);
  const reused = points.filter(({ reused }) => reused).length;
  return (
    <Page
      title={name}
      actions={
        <>
          {actions}
          {ids.length > 1 && <a class="button" href={address("compare", [], { runs: ids.join(",") })}>Compare</a>}
          <CopyCommand command={commandOf("runs", "plot", "--recipe", name)} />
        </>
      }
    >
      <p class="row run-line" role="status">
        {state}
        <span>
          {[`${done} of ${count} variants completed`, ...reused > 0 ? [`${reused} of them before`] : [], ...others]
            .join(", ")}
        </span>
        {loading > 0 && <span class="muted">reading {loading}</span>}
      </p>
      {note}
      <Trouble tone="warn" text={problems.join(". ")} />
      {swept.length === 0
        ? (
          <p class="empty" aria-busy={loading > 0}>
            {loading > 0 ? "Reading the runs" : `No variant has completed${isOver ? "" : " yet"}.`}
          </p>
        )
        : (
          <div class="stack">
            <div aria-busy={!read.current}>
              <Curves runs={swept} tall />
            </div>
            <Filmstrip runs={swept} />
          </div>
        )}
      {runs.length > 0 && (
        <Section title="Values" look="panel" actions={<Verified ids={swept.map(({ id }) => id)} />}>
          <SweepTable name={name} runs={runs} />
        </Section>
      )}
    </Page>
  );
}

/** Verifies the runs one after another; the count of valid ones, and those that are not. */
function Verified({ ids }: { ids: readonly string[] }) {
  const [asked, setAsked] = useState<string | null>(null), [valid, setValid] = useState(0);
  const key = ids.join(",");
  const { value, problem } = useLoaded(async (signal) => {
    setValid(0);
    const wrong: string[] = [];
    for (const id of ids) {
      const { status } = await get("/api/runs/:run_id/verify", { params: { run_id: id }, signal }).catch((error) => {
        if (signal.aborted) throw error;
        return { status: messageOf(error) };
      });
      if (status === "valid") setValid((count) => count + 1);
      else wrong.push(`${id}: ${status}`);
    }
    return wrong;
  }, asked === key ? key : null);
  return (
    <>
      <span role="status" class="small">
        {asked !== key ? "" : problem ?? (value === null ? `${valid} of ${ids.length} verified` : value.length === 0
          ? (
            <>
              <Sign of="✓" /> {ids.length} of {ids.length} runs are valid
            </>
          )
          : `${valid} of ${ids.length} runs are valid. ${value.join(". ")}`)}
      </span>
      <button type="button" disabled={asked === key && value === null} onClick={() => setAsked(key)}>Verify all</button>
    </>
  );
}
