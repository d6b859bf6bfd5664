/** Tasks, datasets and metrics of the research catalogue. */
import type { Reply } from "../../api.ts";
import { type Column, Filters, searchWords, StateMark, Table } from "../../parts.tsx";
import { FoldedRows } from "../../folded_rows.tsx";
import { ProjectSets } from "../../data/sets.tsx";
import { Operations } from "./kinds.tsx";

type Research = Reply<"/api/research/catalog">;
type Task = Research["tasks"][number];
type Dataset = Research["datasets"][number];
type Metric = Research["metrics"][number];

const name = <Row extends { id: string; name: string }>({ id, name }: Row) => (
  <>
    {name}
    <div class="mono small muted">{id}</div>
  </>
);
const state = <Row extends { status: string }>({ status }: Row) => <StateMark state={status} />;

const TASKS: Column<Task>[] = [
  ["Task", name],
  ["Description", ({ description }) => description],
  ["Metrics", ({ metrics }) => metrics.map((id) => <div key={id} class="mono small">{id}</div>)],
  ["Status", state],
];
const DATASETS: Column<Dataset>[] = [
  ["Dataset", name],
  ["Modality", ({ modality }) => modality],
  ["Location", ({ bundled, local }) => bundled ? "bundled with svc" : local ? "a local folder" : "made by a run"],
  ["Sources", ({ source_ops }) => <Operations ids={source_ops} />],
  ["Status", state],
];
const METRICS: Column<Metric>[] = [
  ["Metric", name],
  ["Description", ({ description }) => description],
  ["Unit", ({ unit }) => unit],
  [
    "Better",
    ({ direction }) =>
      ({ higher_is_better: "↑\u00a0higher", lower_is_better: "↓\u00a0lower", neutral: "–" })[direction],
  ],
  ["Statistic", ({ statistic }) => statistic],
];

export function ResearchTables({ part, research: { tasks, datasets, metrics } }: { part: string; research: Research }) {
  if (part === "tasks") return <Found label="Tasks" rows={tasks} columns={TASKS} />;
  if (part === "datasets") {
    return (
      <>
        <ProjectSets />
        <Found label="Datasets" rows={datasets} columns={DATASETS} />
      </>
    );
  }
  if (part === "metrics") {
    return (
      <Found
        label="Metrics"
        rows={metrics}
        columns={METRICS}
        groupOf={({ family }) => family}
      />
    );
  }
  return <p class="empty">The catalog has no part named {part}</p>;
}

function Found<Row extends { id: string }>(
  { label, rows, columns, groupOf }: {
    label: string;
    rows: readonly Row[];
    columns: Column<Row>[];
    groupOf?(row: Row): string;
  },
) {
  const words = searchWords();
  const shown = rows.filter((row) => {
    const text = Object.values(row).filter((value) => typeof value === "string").join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <>
      <Filters found={`${shown.length} of ${rows.length}`} />
      {groupOf === undefined
        ? <Table label={label} rows={shown} keyOf={({ id }) => id} columns={columns} />
        : (
          <FoldedRows
            label={label}
            rows={shown}
            total={rows.length}
            keyOf={({ id }) => id}
            columns={columns}
            groupOf={groupOf}
          />
        )}
    </>
  );
}
