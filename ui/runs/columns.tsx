/** The columns of the list of runs: what each shows of a run and of a sweep, and by what it sorts. */
import { estimateText } from "../../lib/figure/number_text.ts";
import { StateMark } from "../parts.tsx";
import type { ComponentChildren } from "../preact.ts";
import { address } from "../router.ts";
import { markOf } from "../state/marks.ts";
import { listedEstimate, metricOf, type RunRow, secondsOf } from "./filter.ts";
import { nameOf, secondsOfSweep, sparkline, stateOf, sumOf, type Sweep } from "./groups.ts";
import { bytesText, secondsText } from "./amounts.ts";
import { entryOf, keyMetric, timeText, valueText } from "./metrics.ts";

type Key = string | number | null;

export interface RunColumn {
  title: string;
  /** Track of the grid. */
  width: string;
  number?: true;
  small?: true;
  cell(row: RunRow, variant?: string): ComponentChildren;
  hint?(row: RunRow): string;
  sweep?(sweep: Sweep): ComponentChildren;
  /** What it sorts by; a column without it does not sort. */
  key?(row: RunRow): Key;
}

const DASH = <span class="muted">–</span>;

/** Names of columns that a list begins with. The name of the run comes first and always. */
export const USUAL = ["state", "changed", "metric", "task", "duration", "time"];
/** Columns of a parameter and of a metric begin with these. */
const PARAM = "param:", METRIC = "metric:";

const changedOf = ({ changed }: RunRow): [string, unknown][] => Object.entries(changed ?? {});

/** Tags of a run as text marks. */
const Tags = ({ run }: { run: string }) => (
  <>{markOf(run).tags.map((tag) => <span key={tag} class="tag">{tag}</span>)}</>
);

const COLUMNS: Readonly<Record<string, RunColumn>> = {
  state: {
    title: "State",
    width: "100px",
    cell: ({ status }) => <StateMark state={status} />,
    sweep: (sweep) => <StateMark state={stateOf(sweep)} />,
    key: ({ status }) => status,
  },
  changed: {
    title: "Changed parameters",
    width: "minmax(110px, 1.4fr)",
    small: true,
    // In a sweep the name of the variant has them.
    cell: (row, variant) =>
      variant === undefined ? changedOf(row).map(([name, value]) => `${name} ${value}`).join(", ") : "",
    hint: (row) => changedOf(row).map(([name, value]) => `${name} ${value}`).join("\n"),
    sweep: ({ runs }) => Object.keys(runs[0].changed ?? {}).join(", "),
  },
  task: {
    title: "Task",
    width: "minmax(130px, 1fr)",
    cell: ({ task_id }) => task_id?.replaceAll("_", " ") ?? DASH,
    hint: ({ task_id }) => task_id ?? "",
    sweep: ({ runs: [{ task_id }] }) => task_id?.replaceAll("_", " ") ?? DASH,
    key: ({ task_id }) => task_id ?? null,
  },
  mode: {
    title: "Mode",
    width: "92px",
    small: true,
    cell: modeText,
    sweep: ({ runs }) => modeText(runs[0]),
  },
  plan: {
    title: "Plan cache",
    width: "84px",
    small: true,
    cell: ({ plan_cache }) => plan_cache ?? "–",
  },
  duration: {
    title: "Duration",
    width: "76px",
    number: true,
    cell: (row) => secondsText(secondsOf(row)),
    sweep: (sweep) => secondsText(secondsOfSweep(sweep)),
    key: secondsOf,
  },
  size: {
    title: "Size",
    width: "84px",
    number: true,
    cell: ({ artifacts, size_bytes }) => (
      <>
        {artifacts === "pruned" && <span class="tag" title="svc runs restore makes its artifacts again">pruned</span>}
        {" "}
        {bytesText(size_bytes)}
      </>
    ),
    sweep: ({ runs }) => bytesText(sumOf(runs, ({ size_bytes }) => size_bytes)),
    key: ({ size_bytes }) => size_bytes ?? null,
  },
  time: {
    title: "Created (UTC)",
    width: "150px",
    small: true,
    cell: ({ created_at_utc }) => <span class="mono">{timeText(created_at_utc)}</span>,
    sweep: ({ runs }) => <span class="mono">{timeText(runs[0].created_at_utc)}</span>,
    key: ({ created_at_utc }) => created_at_utc,
  },
  digest: {
    title: "Digest",
    width: "72px",
    small: true,
    cell: ({ effective_recipe_sha256 }) => <span class="mono">{effective_recipe_sha256?.slice(0, 8) ?? "–"}</span>,
    hint: ({ effective_recipe_sha256 }) => effective_recipe_sha256 ?? "",
  },
  tags: { title: "Tags", width: "minmax(80px, 1fr)", cell: ({ run_id }) => <Tags run={run_id} /> },
  note: {
    title: "Note",
    width: "minmax(120px, 2fr)",
    small: true,
    cell: ({ run_id }) => markOf(run_id).note,
    hint: ({ run_id }) => markOf(run_id).note,
    key: ({ run_id }) => markOf(run_id).note || null,
  },
};

/** The run by its recipe, or by its name in its sweep. */
const NAME: RunColumn = {
  title: "Run of recipe",
  width: "minmax(270px, 3fr)",
  cell: (row, variant) => (
    <>
      <a class={variant && "variant"} href={address("runs", [row.run_id])}>
        {variant ?? nameOf(row)}
      </a>
      <Tags run={row.run_id} />
    </>
  ),
  hint: (row) => `${nameOf(row)} ${row.run_id}`,
  key: nameOf,
};

/** All columns that can be chosen, by name. @param changed names of changed parameters @param metrics names of metrics */
export const choosable = (changed: readonly string[], metrics: readonly string[]): [name: string, title: string][] => [
  ...Object.entries(COLUMNS).map(([name, { title }]): [string, string] => [name, title]),
  ["metric", "Headline metric"],
  ...changed.map((name): [string, string] => [PARAM + name, name]),
  ...metrics.map((name): [string, string] => [METRIC + name, entryOf(name)?.name ?? name]),
];

/** A column by its name; unknown names have none. @param metric of the column `metric`; "" for the headline of each run */
export function columnOf(name: string, metric: string): RunColumn | null {
  if (name === "recipe") return NAME;
  if (name === "metric") return metricColumn(metric);
  if (name.startsWith(METRIC)) return metricColumn(name.slice(METRIC.length));
  if (!name.startsWith(PARAM)) return COLUMNS[name] ?? null;
  const param = name.slice(PARAM.length), valueOf = ({ changed }: RunRow) => (changed?.[param] ?? null) as Key;
  return {
    title: param,
    width: "minmax(80px, 1fr)",
    number: true,
    cell: (row) => valueOf(row) === null ? DASH : valueText(valueOf(row)),
    key: valueOf,
  };
}

/** A metric; without a name the one that says most about each run, and of a sweep its curve. */
function metricColumn(metric: string): RunColumn {
  // A run that failed has values of its first steps alone: none of them says what it is about.
  const metricIn = ({ metrics, task_id, status }: RunRow) =>
    metric !== "" ? metric : status === "failed" ? null : keyMetric(metrics ?? {}, task_id);
  const valueOf = (row: RunRow) => {
    const name = metricIn(row);
    return name === null ? null : metricOf(row.metrics ?? {}, name);
  };
  return {
    title: metric === "" ? "Headline metric" : titleOf(metric),
    width: "minmax(170px, 1.4fr)",
    number: true,
    cell(row) {
      const name = metricIn(row), found = name === null ? null : listedEstimate(row, name);
      return found === null ? DASH : (
        <>
          {metric === "" && <span class="muted small">{titleOf(name!)}</span>} {estimateText(found, "unicode")}
          {unitBehind(entryOf(name!)?.unit)}
        </>
      );
    },
    hint(row) {
      const name = metricIn(row), found = name === null ? null : listedEstimate(row, name);
      return found === null ? "" : `${titleOf(name!)} ${estimateText(found, "unicode")} (${name})`;
    },
    sweep: (sweep) => <Sparkline sweep={sweep} name={metricIn(sweep.runs[0])} />,
    key: valueOf,
  };
}

function Sparkline({ sweep, name }: { sweep: Sweep; name: string | null }) {
  if (name === null) return null;
  const values = sweep.runs.flatMap(({ metrics }) => metricOf(metrics ?? {}, name) ?? []);
  const span = values.length === 0 ? "" : `${valueText(Math.min(...values))} to ${valueText(Math.max(...values))}`;
  const best = bestOf(sweep, name);
  return (
    <span class="with-best">
      <svg class="sparkline" viewBox="-3 -3 126 26" role="img" aria-label={`${titleOf(name)}: ${span}`}>
        <title>{`${titleOf(name)} ${span}`}</title>
        {sparkline(sweep, name).map((points, at) => (
          <polyline
            key={at}
            data-series={at % 5 + 1}
            points={points.map(([x, y]) => `${(x * 120).toFixed(1)},${(20 - y * 20).toFixed(1)}`).join(" ")}
          />
        ))}
      </svg>
      {best !== null && <span class="best" title={`best of ${values.length}`}>{best}</span>}
    </span>
  );
}

/** The best value of a sweep, without its interval: the least where less is better, else the largest. */
function bestOf({ runs }: Sweep, name: string): string | null {
  const sign = entryOf(name)?.direction === "lower_is_better" ? 1 : -1;
  const sorted = runs.flatMap((run) => {
    const value = metricOf(run.metrics ?? {}, name);
    return value === null || run.status !== "completed" ? [] : [{ run, value }];
  }).sort((a, b) => sign * (a.value - b.value));
  if (sorted.length === 0) return null;
  const { mean, bound } = listedEstimate(sorted[0].run, name)!;
  return mean === null ? `≤ ${valueText(bound!)}` : valueText(Number(mean.toPrecision(3)));
}

function modeText({ mode, parallel_workers }: RunRow): string {
  return mode == null ? "–" : mode === "parallel" ? `${parallel_workers} workers` : mode;
}

/** Shares need no unit. */
const unitBehind = (unit = "") => ["", "fraction", "ratio"].includes(unit) ? "" : ` ${unit}`;

const titleOf = (metric: string) => entryOf(metric)?.name ?? metric.slice(metric.lastIndexOf(".") + 1);
