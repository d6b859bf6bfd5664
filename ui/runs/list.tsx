/** The list of runs: active jobs above, stored runs below, chosen for a comparison. */
import { commandOf, CopyCommand } from "../copy_command.tsx";
import { Page, Trouble } from "../parts.tsx";
import { useEffect, useMemo, useState } from "../preact.ts";
import { address, place, refine } from "../router.ts";
import { onEvent } from "../state/events.ts";
import { loadMarks, markOf, marks, star, starProblem } from "../state/marks.ts";
import { density } from "../state/settings.ts";
import { ActiveJobs } from "./active_jobs.tsx";
import { Bulk } from "./bulk.tsx";
import { useRuns } from "./fetch_runs.ts";
import { type Filter, matches, parseFilter, type RunRow, sievesHere } from "./filter.ts";
import { columnOf, type RunColumn, USUAL } from "./columns.tsx";
import { FilterBar } from "./filter_bar.tsx";
import { durationsOf, listed, type Sweep } from "./groups.ts";
import { loadMetrics, metricEntries } from "./metrics.ts";
import { chosenColumns, ViewsBar } from "./views_bar.tsx";
import { VirtualTable } from "./virtual.tsx";

/** Tracks before the columns: the choice and the star. */
const MARKS = "28px 28px";
/** A phone shows what a run is in a first line, and its state and value in a second one. */
const phone = matchMedia("(max-width: 560px)");
const ON_PHONE = ["recipe", "state", "metric"], PHONE_TRACKS = "minmax(90px, auto) minmax(0, 1fr)", PHONE_ROW = 54;

/** Whether the window is that of a phone, also once it is turned. */
function usePhone(): boolean {
  const [small, setSmall] = useState(phone.matches);
  useEffect(() => {
    const turned = () => setSmall(phone.matches);
    phone.addEventListener("change", turned);
    return () => phone.removeEventListener("change", turned);
  }, []);
  return small;
}

/** The state of the list in the address. */
function listing() {
  const { query } = place.value;
  return {
    text: query.get("q") ?? "",
    metric: query.get("metric") ?? "",
    sort: query.get("sort") ?? "time",
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
  useEffect(() => {
    loadMetrics().catch(() => {});
    loadMarks().catch(() => {});
  }, []);
  // A run that ended belongs into the list.
  useEffect(() => onEvent(({ kind }) => /^job_(completed|failed|canceled)$/.test(kind) && again()), []);
  const everything = sievesHere(filter) || sort !== "time" || !descending;
  useEffect(() => {
    if (everything && cursor !== null && state === "ready") more();
  }, [everything, cursor, state, rows.length]);
  const shown = useMemo(() => {
    const kept = rows.filter((row) => matches(row, filter));
    return sort === "time" && descending ? kept : sorted(kept, sort, descending, metric);
  }, [rows, filter, sort, descending, metric, metricEntries.value, marks.value]);
  const changed = useMemo(() => [...new Set(rows.flatMap(({ changed }) => Object.keys(changed ?? {})))].sort(), [rows]);
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
      <ViewsBar changed={changed} metrics={names} />
      <Trouble
        tone="warn"
        text={filter.problems.length === 0 ? null : `${filter.problems.join(". ")}. The filter ignores these parts.`}
      />
      <Trouble text={starProblem.value} />
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
          (
            <Nothing
              filtered={text !== ""}
              where={filter.query.where}
              searching={state === "loading" || (everything && cursor !== null)}
            />
          )}
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
  const chosen = chosenColumns(), small = usePhone() && chosen === USUAL;
  const columns = (small ? ON_PHONE : ["recipe", ...chosen]).flatMap((name) => {
    const column = columnOf(name, metric);
    return column === null ? [] : [[name, column] as const];
  });
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
      <div role="columnheader">
        <span class="hidden-text">Star</span>
      </div>
      {columns.map(([name, column]) => <Heading key={name} name={name} column={column} />)}
    </div>
  );
  return (
    <VirtualTable
      label="Runs"
      count={items.length}
      items={rows.length}
      rowHeight={small ? PHONE_ROW : density.value === "comfortable" ? 36 : 30}
      columns={`${MARKS} ${small ? PHONE_TRACKS : columns.map(([, { width }]) => width).join(" ")}`}
      small={small}
      onEnd={more}
      head={head}
      row={(index) => {
        const item = items[index];
        return "sweep" in item
          ? <SweepRow {...item} columns={columns} ticked={ticked} onTick={tick} />
          : <Row {...item} columns={columns} ticked={ticked} onTick={tick} />;
      }}
    />
  );
}

type Columns = readonly (readonly [name: string, column: RunColumn])[];

const lookOf = ({ number, small }: RunColumn) => `clip${number ? " number" : ""}${small ? " small" : ""}`;

/** The heading of a column, which sorts where the column does. */
function Heading({ name, column: { title, number, key } }: { name: string; column: RunColumn }) {
  const { sort, descending } = listing(), chosen = sort === name, look = number ? "number clip" : "clip";
  if (key === undefined) return <div role="columnheader" class={look}>{title}</div>;
  return (
    <div role="columnheader" class={look} aria-sort={chosen ? descending ? "descending" : "ascending" : "none"}>
      <button
        type="button"
        class="quiet"
        onClick={() => refine({ sort: name === "time" ? "" : name, order: chosen && descending ? "up" : "" })}
      >
        {title}
        {chosen && <span aria-hidden="true">{descending ? " ↓" : " ↑"}</span>}
      </button>
    </div>
  );
}

function sorted(rows: RunRow[], sort: string, descending: boolean, metric: string): RunRow[] {
  const keyOf = sort === "duration" ? durationsOf(rows) : columnOf(sort, metric)?.key ?? (() => null);
  const keyed = rows.map((row) => [keyOf(row), row] as const);
  // Rows without a value come last either way.
  return keyed.sort(([a], [b]) => {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    return (a < b ? -1 : a > b ? 1 : 0) * (descending ? -1 : 1);
  }).map(([, row]) => row);
}

interface RowProps {
  columns: Columns;
  ticked: Ticked;
  onTick(...runIds: string[]): void;
}

/** The variants of a sweep in one row, with the curve of their metric. */
function SweepRow({ sweep, open, columns, ticked, onTick }: RowProps & { sweep: Sweep; open: boolean }) {
  const { family, runs } = sweep, ids = runs.map(({ run_id }) => run_id);
  const toggle = () => {
    const others = [...listing().open].filter((name) => name !== family);
    refine({ open: [...others, ...(open ? [] : [family])].join(",") });
  };
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
      <div role="cell" />
      {columns.map(([name, column]) => (
        <div key={name} role="cell" class={lookOf(column)}>
          {name !== "recipe" ? column.sweep?.(sweep) : (
            <>
              <button type="button" class="quiet family" aria-expanded={open} onClick={toggle}>
                <span aria-hidden="true">{open ? "▾" : "▸"}</span> {family}
              </button>
              <a class="small" href={address("sweeps", [], { recipe: family })}>
                <span class="sweep-word">Sweep of</span> {runs.length} runs
              </a>
            </>
          )}
        </div>
      ))}
    </>
  );
}

function Row({ run, variant, columns, ticked, onTick }: RowProps & { run: RunRow; variant?: string }) {
  const { run_id } = run, { starred } = markOf(run_id);
  return (
    <>
      <div role="cell">
        <input
          type="checkbox"
          checked={ticked.has(run_id)}
          aria-label={`Choose ${run_id}`}
          onChange={() => onTick(run_id)}
        />
      </div>
      <div role="cell">
        <button
          type="button"
          class="quiet star"
          aria-pressed={starred}
          aria-label={`Star ${run_id}`}
          onClick={() => void star(run_id)}
        >
          {starred ? "★" : "☆"}
        </button>
      </div>
      {columns.map(([name, column]) => (
        <div key={name} role="cell" class={lookOf(column)} title={column.hint?.(run)}>{column.cell(run, variant)}</div>
      ))}
    </>
  );
}

/** The command that lists by the same filter. */
const listCommand = ({ status, recipe_name, where }: Filter["query"]): string =>
  commandOf(
    "runs",
    "list",
    ...(status === undefined ? [] : ["--status", status]),
    ...(recipe_name === undefined ? [] : ["--recipe", recipe_name]),
    ...(where ?? "").split(",").filter(Boolean).flatMap((place) => ["--where", place]),
  );

const countText = (count: number) => count === 1 ? "1 run" : `${count} runs`;

function Nothing(
  { filtered, where, searching }: { filtered: boolean; where: string | undefined; searching: boolean },
) {
  if (searching) return <p class="empty" aria-busy="true">Searching the runs</p>;
  if (filtered) {
    return (
      <p class="empty">
        No run matches the filter.{where !== undefined && ` No run with ${where.replaceAll(",", " and ")} is stored.`}
        {" "}
        <button type="button" onClick={() => refine({ q: "" })}>Show all runs</button>
      </p>
    );
  }
  return (
    <p class="empty">
      No runs yet. <a href={address("start")}>Choose a starting point</a>, or open a recipe and run it.
    </p>
  );
}
