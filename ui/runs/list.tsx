/** The list of runs: what is going on above, what was left below, two ticks away from a comparison. */
import { get } from "../api.ts";
import { commandOf, CopyCommand } from "../copy_command.tsx";
import { Page } from "../frame.tsx";
import { type JSX, useEffect, useMemo, useRef, useState } from "../preact.ts";
import { address, go, place, refine } from "../router.ts";
import { activeJobs, isEnded, type Job, jobs, onEvent, refreshJobs } from "../state/events.ts";
import { cancelRun, stepStates } from "../state/runs.ts";
import { density } from "../state/settings.ts";
import type { RunDocuments } from "./documents.ts";
import { matches, metricOf, parseFilter, type RunRow, secondsOf, sievesHere } from "./filter.ts";
import { useRuns } from "./fetch_runs.ts";
import {
  bytesText,
  entryOf,
  keyMetric,
  loadMetrics,
  metricEntries,
  secondsText,
  timeText,
  valueText,
} from "./metrics.ts";
import { StateMark } from "./state_mark.tsx";
import { VirtualTable } from "./virtual.tsx";

const SORTS = ["time", "state", "recipe", "task", "metric", "duration", "size"] as const;
type Sort = typeof SORTS[number];
/** What the grid of a row gives each column. */
const COLUMNS = "28px 96px minmax(230px, 3fr) minmax(110px, 1fr) minmax(150px, 1fr) 92px 52px 68px 68px 136px 72px";
const MOST_COMPARED = 256;

export function RunList() {
  const { query } = place.value;
  const text = query.get("q") ?? "", chosenMetric = query.get("metric") ?? "";
  const sort = (query.get("sort") ?? "time") as Sort, descending = query.get("order") !== "up";
  const filter = useMemo(() => parseFilter(text), [text]);
  const [refresh, setRefresh] = useState(0);
  const { rows, cursor, state, problem, more } = useRuns(filter.query, refresh);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => void loadMetrics().catch(() => {}), []);
  // A run that ended belongs into the list.
  useEffect(() =>
    onEvent(({ kind }) => {
      if (/^job_(completed|failed|canceled)$/.test(kind)) setRefresh((count) => count + 1);
    }), []);
  const everything = sievesHere(filter) || sort !== "time" || !descending;
  useEffect(() => {
    if (everything && cursor !== null && state === "ready") more();
  }, [everything, cursor, state, rows.length]);

  const shown = useMemo(() => {
    const kept = rows.filter((row) => matches(row, filter));
    return sort === "time" && descending ? kept : sorted(kept, sort, descending, chosenMetric);
  }, [rows, filter, sort, descending, chosenMetric, metricEntries.value]);
  const metricNames = useMemo(
    () => [...new Set(rows.flatMap(({ metrics }) => Object.keys(metrics ?? {})))].sort(),
    [rows],
  );
  const tick = (runId: string) => {
    const next = new Set(ticked);
    if (!next.delete(runId)) next.add(runId);
    setTicked(next);
  };
  const compare = () => go("compare", [], { runs: [...ticked].slice(0, MOST_COMPARED).join(",") });
  const sortBy = (name: Sort) =>
    refine({ sort: name === "time" ? "" : name, order: sort === name && descending ? "up" : "" });
  const heading = (name: Sort, label: string, number = false) => (
    <div
      role="columnheader"
      class={number ? "number" : undefined}
      aria-sort={sort === name ? descending ? "descending" : "ascending" : "none"}
    >
      <button type="button" class="quiet" onClick={() => sortBy(name)}>
        {label}
        {sort === name ? <span aria-hidden="true">{descending ? " ↓" : " ↑"}</span> : null}
      </button>
    </div>
  );

  return (
    <Page
      title="Runs"
      actions={
        <>
          <CopyCommand command={listCommand(filter.query)} />
          <button type="button" onClick={() => setRefresh(refresh + 1)}>Refresh</button>
        </>
      }
    >
      <Active />
      <FilterBar text={text} names={metricNames} metric={chosenMetric} />
      {filter.problems.length > 0 && (
        <p class="notice" data-tone="warn" role="alert">{filter.problems.join(". ")}. These parts are left out.</p>
      )}
      {ticked.size > 0 && (
        <div class="compare-bar row" role="region" aria-label="Chosen runs">
          <strong>{ticked.size} chosen</strong>
          <button type="button" class="primary" disabled={ticked.size < 2} onClick={compare}>Compare</button>
          {ticked.size < 2 && <span class="muted">Choose one more to compare.</span>}
          {ticked.size > MOST_COMPARED && <span class="muted">The first {MOST_COMPARED} will be compared.</span>}
          <button type="button" class="quiet" onClick={() => setTicked(new Set())}>Clear</button>
        </div>
      )}
      {state === "failed" && (
        <p class="notice" data-tone="error" role="alert">
          {problem}. <button type="button" onClick={() => setRefresh(refresh + 1)}>Try again</button>
        </p>
      )}
      {rows.length === 0 && state === "loading"
        ? <p class="empty" aria-busy="true">Reading the runs</p>
        : shown.length === 0 && state !== "failed"
        ? <Nothing filtered={text !== ""} searching={state === "loading" || (everything && cursor !== null)} />
        : shown.length > 0 && (
          <VirtualTable
            label="Runs"
            count={shown.length}
            rowHeight={density.value === "comfortable" ? 36 : 30}
            columns={COLUMNS}
            onEnd={more}
            head={
              <div class="virtual-row head" role="row">
                <div role="columnheader">
                  <input
                    type="checkbox"
                    aria-label="Choose all that are shown"
                    checked={ticked.size > 0 && shown.every(({ run_id }) => ticked.has(run_id))}
                    onChange={(event) =>
                      setTicked(new Set(event.currentTarget.checked ? shown.map(({ run_id }) => run_id) : []))}
                  />
                </div>
                {heading("state", "State")}
                {heading("recipe", "Run of recipe")}
                {heading("task", "Task")}
                {heading("metric", chosenMetric === "" ? "Key metric" : chosenMetric, true)}
                <div role="columnheader">Mode</div>
                <div role="columnheader">Plan</div>
                {heading("duration", "Took", true)}
                {heading("size", "Size", true)}
                {heading("time", "Created (UTC)")}
                <div role="columnheader">Digest</div>
              </div>
            }
            row={(index) => (
              <Row row={shown[index]} metric={chosenMetric} ticked={ticked.has(shown[index].run_id)} onTick={tick} />
            )}
          />
        )}
      <p class="muted small" role="status">
        {shown.length === rows.length ? countText(rows.length) : `${shown.length} of ${countText(rows.length)}`}
        {cursor === null ? "" : everything ? ", reading the rest" : ", more below"}
      </p>
    </Page>
  );
}

function sorted(rows: RunRow[], sort: Sort, descending: boolean, metric: string): RunRow[] {
  const keyOf = (row: RunRow): string | number | null => {
    if (sort === "state") return row.status;
    if (sort === "recipe") return row.recipe_name;
    if (sort === "task") return row.task_id ?? null;
    if (sort === "duration") return secondsOf(row);
    if (sort === "size") return row.size_bytes ?? null;
    if (sort === "time") return row.created_at_utc;
    const name = metric === "" ? keyMetric(row.metrics ?? {}) : metric;
    return name === null ? null : metricOf(row.metrics ?? {}, name);
  };
  const keyed = rows.map((row) => [keyOf(row), row] as const);
  // What has no value comes last either way.
  return keyed.sort(([a], [b]) => {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    return (a < b ? -1 : a > b ? 1 : 0) * (descending ? -1 : 1);
  }).map(([, row]) => row);
}

interface RowProps {
  row: RunRow;
  metric: string;
  ticked: boolean;
  onTick(runId: string): void;
}

function Row({ row, metric, ticked, onTick }: RowProps): JSX.Element {
  const metrics = row.metrics ?? {};
  const name = metric === "" ? keyMetric(metrics) : metric;
  const value = name === null ? null : metricOf(metrics, name);
  const entry = name === null ? undefined : entryOf(name);
  return (
    <>
      <div role="cell">
        <input
          type="checkbox"
          checked={ticked}
          aria-label={`Choose ${row.run_id}`}
          onChange={() => onTick(row.run_id)}
        />
      </div>
      <div role="cell">
        <StateMark state={row.status} />
      </div>
      <div role="cell" class="clip">
        <a href={address("runs", [row.run_id])} title={row.run_id}>{row.recipe_name ?? row.run_id}</a>
      </div>
      <div role="cell" class="clip" title={row.task_id ?? ""}>
        {row.task_id?.replaceAll("_", " ") ?? <span class="muted">–</span>}
      </div>
      <div role="cell" class="number clip" title={name ?? ""}>
        {value === null ? <span class="muted">–</span> : (
          <>
            {metric === "" && <span class="muted small">{shortName(name!)}</span>} {valueText(value)}
            {unitBehind(entry?.unit)}
          </>
        )}
      </div>
      <div role="cell" class="small">{modeText(row)}</div>
      <div role="cell" class="small" title={row.plan_cache == null ? "" : `The plan cache: ${row.plan_cache}`}>
        {row.plan_cache ?? "–"}
      </div>
      <div role="cell" class="number">{secondsText(secondsOf(row))}</div>
      <div role="cell" class="number">{bytesText(row.size_bytes)}</div>
      <div role="cell" class="mono small">{timeText(row.created_at_utc)}</div>
      <div role="cell" class="mono small" title={row.effective_recipe_sha256 ?? ""}>
        {row.effective_recipe_sha256?.slice(0, 8) ?? "–"}
      </div>
    </>
  );
}

/** What of a filter the command line lists by. */
const listCommand = ({ status, recipe_name }: { status?: string; recipe_name?: string }): string =>
  commandOf(
    "runs",
    "list",
    ...(status === undefined ? [] : ["--status", status]),
    ...(recipe_name === undefined ? [] : ["--recipe", recipe_name]),
  );

const modeText = ({ mode, parallel_workers }: RunRow): string =>
  mode == null ? "–" : mode === "parallel" ? `${parallel_workers} workers` : mode;

const countText = (count: number) => count === 1 ? "1 run" : `${count} runs`;

/** Shares need no unit. */
const unitBehind = (unit = "") => ["", "fraction", "ratio"].includes(unit) ? "" : ` ${unit}`;

const shortName = (metric: string) => metric.slice(metric.lastIndexOf(".") + 1);

const TYPING_MS = 150;

function FilterBar({ text, names, metric }: { text: string; names: string[]; metric: string }) {
  const [typed, setTyped] = useState(text);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.key !== "/" || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("keydown", onKey);
      clearTimeout(timer.current);
    };
  }, []);
  const type = (next: string) => {
    setTyped(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => refine({ q: next.trim() }), TYPING_MS);
  };
  return (
    <div class="filter-bar row" role="search">
      <label for="run-filter">Filter</label>
      <input
        id="run-filter"
        ref={field}
        type="search"
        class="mono grow"
        placeholder="words  state:failed  task:bit_transport  after:2026-11-01  metric.channel.ber<1e-3"
        value={typed}
        aria-describedby="run-filter-help"
        onInput={(event) => type(event.currentTarget.value)}
      />
      <span id="run-filter-help" class="hidden-text">
        Words are looked for in names and digests. Tokens: state, recipe, suite, task, mode, cache, after, before, each
        with a colon; metric, a point, its name, a relation and a number.
      </span>
      <label for="run-metric">Metric</label>
      <select
        id="run-metric"
        class="metric-choice"
        value={metric}
        onChange={(event) => refine({ metric: event.currentTarget.value })}
      >
        <option value="">the key metric of each run</option>
        {metric !== "" && !names.includes(metric) && <option value={metric}>{metric}</option>}
        {names.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </div>
  );
}

function Nothing({ filtered, searching }: { filtered: boolean; searching: boolean }) {
  if (searching) return <p class="empty" aria-busy="true">Looking through the runs</p>;
  if (filtered) {
    return (
      <p class="empty">
        No run fits the filter. <button type="button" onClick={() => refine({ q: "" })}>Show all runs</button>
      </p>
    );
  }
  return (
    <p class="empty">
      Nothing was run yet. <a href={address("editor")}>Open a recipe</a> and press Run, or type{" "}
      <code>svc recipe run recipes/quickstart.yaml</code>.
    </p>
  );
}

/** Jobs that did not end, with their progress. */
function Active() {
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
        {active.map((job) => {
          const steps = [...(stepStates.value.get(job.job_id)?.entries() ?? [])];
          const done = steps.filter(([, { state }]) => state === "completed").length;
          const current = steps.find(([, { state }]) => state === "running");
          const total = totals.get(job.run_id ?? "") ?? 0;
          const waiting = canceling.has(job.job_id) || job.cancel_requested === true;
          return (
            <li key={job.job_id} class="row">
              <StateMark state={job.state} />
              <strong>{job.recipe_name ?? job.job_id}</strong>
              {job.kind !== "run" && <span class="tag">{job.kind}</span>}
              {job.state === "running" && (
                <>
                  <progress
                    aria-label={`Progress of ${job.recipe_name ?? job.job_id}`}
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
              {waiting && !isEnded(job.state)
                ? <span class="state" data-tone="warn">canceling, waits for the running operation</span>
                : <button type="button" onClick={() => cancel(job.job_id)}>Cancel</button>}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** How many steps the runs in sight have, as their plans tell. */
function useStepCounts(active: readonly Job[]): ReadonlyMap<string, number> {
  const [totals, setTotals] = useState<ReadonlyMap<string, number>>(new Map());
  const wanted = active.flatMap(({ run_id }) => run_id === null || totals.has(run_id) ? [] : [run_id]);
  useEffect(() => {
    const stop = new AbortController();
    for (const runId of wanted) {
      get<RunDocuments>(`/api/runs/${encodeURIComponent(runId)}`, stop.signal).then(({ manifest }) => {
        const { steps } = manifest.execution_plan as unknown as { steps: unknown[] };
        setTotals((known) => new Map(known).set(runId, steps.length));
      }, () => {});
    }
    return () => stop.abort();
  }, [wanted.join(" ")]);
  return totals;
}
