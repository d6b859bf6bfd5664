/** The list of runs: active jobs above, stored runs below, chosen for a comparison. */
import { commandOf, CopyCommand } from "../copy_command.tsx";
import { Page, StateMark, Trouble } from "../parts.tsx";
import { type JSX, useEffect, useMemo, useState } from "../preact.ts";
import { address, place, refine } from "../router.ts";
import { onEvent } from "../state/events.ts";
import { density } from "../state/settings.ts";
import { ActiveJobs } from "./active_jobs.tsx";
import { Bulk } from "./bulk.tsx";
import { useRuns } from "./fetch_runs.ts";
import { matches, metricOf, parseFilter, type RunRow, secondsOf, sievesHere } from "./filter.ts";
import { FilterBar } from "./filter_bar.tsx";
import { listed, secondsOfSweep, sparkline, stateOf, sumOf, type Sweep } from "./groups.ts";
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
import { VirtualTable } from "./virtual.tsx";

const SORTS = ["time", "state", "recipe", "task", "metric", "duration", "size"] as const;
type Sort = typeof SORTS[number];
/** What the grid of a row gives each column. */
const COLUMNS = "28px 96px minmax(230px, 3fr) minmax(110px, 1fr) minmax(150px, 1fr) 92px 52px 68px 68px 136px 72px";

/** The state of the list in the address. */
function listing() {
  const { query } = place.value;
  return {
    text: query.get("q") ?? "",
    metric: query.get("metric") ?? "",
    sort: (query.get("sort") ?? "time") as Sort,
    descending: query.get("order") !== "up",
    /** Sweeps whose variants are shown. */
    open: new Set((query.get("open") ?? "").split(",").filter(Boolean)),
  };
}

export function RunList() {
  const { text, metric, sort, descending } = listing();
  const filter = useMemo(() => parseFilter(text), [text]);
  const [refresh, setRefresh] = useState(0), again = () => setRefresh((count) => count + 1);
  const { rows, cursor, state, problem, more } = useRuns(filter.query, refresh);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => void loadMetrics().catch(() => {}), []);
  // A run that ended belongs into the list.
  useEffect(() => onEvent(({ kind }) => /^job_(completed|failed|canceled)$/.test(kind) && again()), []);
  const everything = sievesHere(filter) || sort !== "time" || !descending;
  useEffect(() => {
    if (everything && cursor !== null && state === "ready") more();
  }, [everything, cursor, state, rows.length]);
  const shown = useMemo(() => {
    const kept = rows.filter((row) => matches(row, filter));
    return sort === "time" && descending ? kept : sorted(kept, sort, descending, metric);
  }, [rows, filter, sort, descending, metric, metricEntries.value]);
  const names = useMemo(() => [...new Set(rows.flatMap(({ metrics }) => Object.keys(metrics ?? {})))].sort(), [rows]);
  const actions = (
    <>
      <CopyCommand command={listCommand(filter.query)} />
      <button type="button" onClick={again}>Refresh</button>
    </>
  );
  return (
    <Page title="Runs" actions={actions}>
      <ActiveJobs />
      <FilterBar text={text} names={names} metric={metric} />
      <Trouble
        tone="warn"
        text={filter.problems.length === 0 ? null : `${filter.problems.join(". ")}. The filter ignores these parts.`}
      />
      {ticked.size > 0 && <Bulk rows={rows} ticked={ticked} onClear={() => setTicked(new Set())} onChanged={again} />}
      {state === "failed" && (
        <Trouble
          text={
            <>
              {problem}. <button type="button" onClick={again}>Try again</button>
            </>
          }
        />
      )}
      {rows.length === 0 && state === "loading"
        ? <div class="virtual empty" aria-busy="true">Reading the runs</div>
        : shown.length > 0
        ? <Runs rows={shown} ticked={ticked} setTicked={setTicked} more={more} />
        : state !== "failed" &&
          <Nothing filtered={text !== ""} searching={state === "loading" || (everything && cursor !== null)} />}
      <p class="muted small" role="status">
        {shown.length === rows.length ? countText(rows.length) : `${shown.length} of ${countText(rows.length)}`}
        {cursor === null ? "" : everything ? ", reading the rest" : ", more below"}
      </p>
    </Page>
  );
}

type Ticked = ReadonlySet<string>;

interface RunsProps {
  rows: readonly RunRow[];
  ticked: Ticked;
  setTicked(ticked: Ticked): void;
  more(): void;
}

function Runs({ rows, ticked, setTicked, more }: RunsProps) {
  const { metric, open } = listing(), items = useMemo(() => listed(rows, open), [rows, [...open].join()]);
  const tick = (...runIds: string[]) => {
    const next = new Set(ticked), off = runIds.every((id) => ticked.has(id));
    for (const id of runIds) off ? next.delete(id) : next.add(id);
    setTicked(next);
  };
  const all = rows.every(({ run_id }) => ticked.has(run_id));
  const head = (
    <div class="virtual-row head" role="row">
      <div role="columnheader">
        <input
          type="checkbox"
          aria-label="Choose all that are shown"
          checked={ticked.size > 0 && all}
          onChange={(event) => setTicked(new Set(event.currentTarget.checked ? rows.map(({ run_id }) => run_id) : []))}
        />
      </div>
      <Heading name="state" label="State" />
      <Heading name="recipe" label="Run of recipe" />
      <Heading name="task" label="Task" />
      <Heading name="metric" label={metric === "" ? "Key metric" : metric} number />
      <div role="columnheader">Mode</div>
      <div role="columnheader">Plan</div>
      <Heading name="duration" label="Duration" number />
      <Heading name="size" label="Size" number />
      <Heading name="time" label="Created (UTC)" />
      <div role="columnheader">Digest</div>
    </div>
  );
  return (
    <VirtualTable
      label="Runs"
      count={items.length}
      rowHeight={density.value === "comfortable" ? 36 : 30}
      columns={COLUMNS}
      onEnd={more}
      head={head}
      row={(index) => {
        const item = items[index];
        return "sweep" in item ? <SweepRow {...item} metric={metric} ticked={ticked} onTick={tick} /> : (
          <Row
            row={item.run}
            variant={item.variant}
            metric={metric}
            ticked={ticked.has(item.run.run_id)}
            onTick={tick}
          />
        );
      }}
    />
  );
}

/** The heading of a column that sorts. */
function Heading({ name, label, number }: { name: Sort; label: string; number?: true }) {
  const { sort, descending } = listing(), chosen = sort === name;
  const choose = () => refine({ sort: name === "time" ? "" : name, order: chosen && descending ? "up" : "" });
  return (
    <div
      role="columnheader"
      class={number ? "number" : undefined}
      aria-sort={chosen ? descending ? "descending" : "ascending" : "none"}
    >
      <button type="button" class="quiet" onClick={choose}>
        {label}
        {chosen && <span aria-hidden="true">{descending ? " ↓" : " ↑"}</span>}
      </button>
    </div>
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
    const name = metric === "" ? keyMetric(row.metrics ?? {}, row.task_id) : metric;
    return name === null ? null : metricOf(row.metrics ?? {}, name);
  };
  const keyed = rows.map((row) => [keyOf(row), row] as const);
  // What has no value comes last either way.
  return keyed.sort(([a], [b]) => {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    return (a < b ? -1 : a > b ? 1 : 0) * (descending ? -1 : 1);
  }).map(([, row]) => row);
}

interface SweepRowProps {
  sweep: Sweep;
  open: boolean;
  metric: string;
  ticked: Ticked;
  onTick(...runIds: string[]): void;
}

/** The variants of a sweep in one row, with the curve of their metric. */
function SweepRow({ sweep, open, metric, ticked, onTick }: SweepRowProps): JSX.Element {
  const { family, runs } = sweep, ids = runs.map(({ run_id }) => run_id);
  const toggle = () => {
    const others = [...listing().open].filter((name) => name !== family);
    refine({ open: [...others, ...(open ? [] : [family])].join(",") });
  };
  const name = metric === "" ? keyMetric(runs[0].metrics ?? {}, runs[0].task_id) : metric;
  const curves = name === null ? [] : sparkline(sweep, name);
  const values = name === null ? [] : runs.flatMap(({ metrics }) => metricOf(metrics ?? {}, name) ?? []);
  const span = values.length === 0 ? "" : `${valueText(Math.min(...values))} to ${valueText(Math.max(...values))}`;
  return (
    <>
      <div role="cell">
        <input
          type="checkbox"
          checked={ids.every((id) => ticked.has(id))}
          aria-label={`Choose all runs of ${family}`}
          onChange={() => onTick(...ids)}
        />
      </div>
      <div role="cell">
        <StateMark state={stateOf(sweep)} />
      </div>
      <div role="cell" class="clip">
        <button type="button" class="quiet family" aria-expanded={open} onClick={toggle}>
          <span aria-hidden="true">{open ? "▾" : "▸"}</span> {family}
        </button>
        <span class="muted small">{runs.length} runs</span>
      </div>
      <div role="cell" class="clip">{runs[0].task_id?.replaceAll("_", " ") ?? <span class="muted">–</span>}</div>
      <div role="cell" class="number sweep-metric" title={`${name ?? ""} ${span}`}>
        <svg
          class="sparkline"
          viewBox="-3 -3 126 26"
          role="img"
          aria-label={`${name === null ? "" : entryOf(name)?.name ?? name}: ${span}`}
        >
          {curves.map((points, at) => (
            <polyline
              key={at}
              data-series={at % 5 + 1}
              points={points.map(([x, y]) => `${(x * 120).toFixed(1)},${(20 - y * 20).toFixed(1)}`).join(" ")}
            />
          ))}
        </svg>
      </div>
      <div role="cell" class="small">{modeText(runs[0])}</div>
      <div role="cell" />
      <div role="cell" class="number">{secondsText(secondsOfSweep(sweep))}</div>
      <div role="cell" class="number">{bytesText(sumOf(runs, ({ size_bytes }) => size_bytes))}</div>
      <div role="cell" class="mono small">{timeText(runs[0].created_at_utc)}</div>
      <div role="cell" />
    </>
  );
}

interface RowProps {
  row: RunRow;
  /** Name in its sweep. */
  variant?: string;
  metric: string;
  ticked: boolean;
  onTick(runId: string): void;
}

function Row({ row, variant, metric, ticked, onTick }: RowProps): JSX.Element {
  const metrics = row.metrics ?? {};
  const name = metric === "" ? keyMetric(metrics, row.task_id) : metric;
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
        <a class={variant && "variant"} href={address("runs", [row.run_id])} title={`${row.recipe_name} ${row.run_id}`}>
          {variant ?? row.recipe_name ?? row.run_id}
        </a>
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
      <div role="cell" class="number">
        {row.artifacts === "pruned" && (
          <span class="tag" title="svc runs restore makes its artifacts again">pruned</span>
        )} {bytesText(row.size_bytes)}
      </div>
      <div role="cell" class="mono small">{timeText(row.created_at_utc)}</div>
      <div role="cell" class="mono small" title={row.effective_recipe_sha256 ?? ""}>
        {row.effective_recipe_sha256?.slice(0, 8) ?? "–"}
      </div>
    </>
  );
}

/** The command that lists by the same filter. */
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

function Nothing({ filtered, searching }: { filtered: boolean; searching: boolean }) {
  if (searching) return <p class="empty" aria-busy="true">Searching the runs</p>;
  if (filtered) {
    return (
      <p class="empty">
        No run matches the filter. <button type="button" onClick={() => refine({ q: "" })}>Show all runs</button>
      </p>
    );
  }
  return (
    <p class="empty">
      No runs yet. <a href={address("start")}>Choose a starting point</a>, or open a recipe and run it.
    </p>
  );
}
