/** Tasks, data sets and metrics of the research catalogue. */
import type { JsonObject } from "../../../lib/contract/value.ts";
import type { ComponentChildren } from "../../preact.ts";
import { StateMark } from "../../panels/state_mark.tsx";
import { address, place, refine } from "../../router.ts";

export interface Research {
  tasks: JsonObject[];
  datasets: JsonObject[];
  metrics: JsonObject[];
}

type Shown = (row: JsonObject) => ComponentChildren;

const list = (value: unknown) => (Array.isArray(value) ? value : []).map(String);
const mono = (text: unknown) => <span class="mono small">{String(text ?? "–")}</span>;
const name: Shown = (row) => (
  <>
    {String(row.name)}
    <div class="mono small muted">{String(row.id)}</div>
  </>
);
const state: Shown = (row) => <StateMark state={String(row.status)} />;

const COLUMNS: Record<string, [title: string, shown: Shown][]> = {
  tasks: [
    ["Task", name],
    ["What it asks", (row) => String(row.description ?? "")],
    ["Metrics", (row) => list(row.metrics).map((id) => <div key={id}>{mono(id)}</div>)],
    ["Status", state],
  ],
  datasets: [
    ["Data set", name],
    ["Modality", (row) => String(row.modality)],
    [
      "Where",
      (row) => row.bundled === true ? "comes with svc" : row.local === true ? "a folder of yours" : "made when run",
    ],
    [
      "Sources",
      (row) =>
        list(row.source_ops).map((id) => (
          <div key={id}>
            <a class="mono small" href={address("catalog", ["operations", id])}>{id}</a>
          </div>
        )),
    ],
    ["Status", state],
  ],
  metrics: [
    ["Metric", name],
    ["What it says", (row) => String(row.description ?? "")],
    ["Unit", (row) => String(row.unit)],
    [
      "Better",
      (row) =>
        row.direction === "higher_is_better" ? "↑ higher" : row.direction === "lower_is_better" ? "↓ lower" : "–",
    ],
    ["Family", (row) => String(row.family)],
    ["Statistic", (row) => String(row.statistic)],
  ],
};
const NAMES: Record<string, string> = { tasks: "Tasks", datasets: "Data sets", metrics: "Metrics" };

export function ResearchTables({ part, research }: { part: string; research: Research }) {
  const columns = COLUMNS[part];
  if (columns === undefined) return <p class="empty">The catalog has no part named {part}</p>;
  const all = research[part as keyof Research];
  const words = (place.value.query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const rows = all.filter((row) => {
    const text = `${row.id} ${row.name} ${row.description ?? ""} ${row.family ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <>
      <div class="row filters">
        <label class="row">
          Find
          <input
            type="search"
            value={place.value.query.get("q") ?? ""}
            onInput={(event) => refine({ q: event.currentTarget.value })}
          />
        </label>
        <span class="muted" role="status">{rows.length} of {all.length}</span>
      </div>
      <div class="scroll" role="group" aria-label={NAMES[part]} tabindex={0}>
        <table>
          <thead>
            <tr>{columns.map(([title]) => <th key={title}>{title}</th>)}</tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={String(row.id)}>{columns.map(([title, shown]) => <td key={title}>{shown(row)}</td>)}</tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
