// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** A stored result: measured values with their intervals, candidates against baselines, figures, and files. */
import { recordedNoEvent } from "../../../lib/contract/metric_metadata.ts";
import { type Figure, FIGURE_TYPES } from "../../../lib/figure/types.ts";
import { unitText } from "../../../lib/figure/unit_text.ts";
import { get, messageOf, type Reply } from "../../api.ts";
import {
  Digest,
  Facts,
  OnlyDifferences,
  Page,
  Section,
  Select,
  Shown,
  StateMark,
  Table,
  Trouble,
  Wait,
} from "../../parts.tsx";
import { lazy, useState } from "../../preact.ts";
import { address, place, refine } from "../../router.ts";
import { estimateOf, valueText } from "../../runs/metrics.ts";
import { useFetched } from "../../state/fetched.ts";
import { saveText } from "../../state/files.ts";

const Chart = lazy(() => import("../../charts/chart.tsx").then(({ Chart }) => Chart), "Loading the figure");

type Result = Reply<"/api/benchmarks/results/:result_id">;
type Row = Result["recipes"][number];
type Aggregate = Result["aggregates"][number];
type Drawn = Reply<"/api/benchmarks/results/:result_id/figure">;

const VERDICTS: Record<string, string> = { valid: "PASS", warning: "WARNING", invalid: "FAIL", running: "Verifying" };

export function ResultPage({ id }: { id: string }) {
  const found = useFetched("/api/benchmarks/results/:result_id", { params: { result_id: id } });
  const [report, setReport] = useState<string | null>(null), [problem, setProblem] = useState<string | null>(null);
  if (found.value === null) {
    return (
      <Page title="Benchmark result">
        <Wait of={found} what="the result" />
      </Page>
    );
  }
  const { benchmark, status, recipes, comparisons, incomplete_reason } = found.value;
  const verify = async () => {
    setReport("running");
    setProblem(null);
    try {
      setReport((await get("/api/benchmarks/results/:result_id/verify", { params: { result_id: id } })).status);
    } catch (error) {
      setReport(null);
      setProblem(messageOf(error));
    }
  };
  const actions = (
    <>
      {report !== null && <StateMark state={report} word={VERDICTS[report]} />}
      <button type="button" disabled={report === "running"} onClick={verify}>Verify</button>
      <a href={address("benchmarks")}>All results</a>
    </>
  );
  const { count, completed } = found.value.rows ??
    { count: recipes.length, completed: recipes.filter((row) => row.status === "completed").length };
  return (
    <Page title={benchmark.name || benchmark.id} actions={actions}>
      <Trouble text={problem} />
      <Facts
        of={[
          ["Result", <span class="mono">{id}</span>],
          [
            "State",
            <>
              <StateMark state={status} /> {incomplete_reason}
            </>,
          ],
          [
            "Pack",
            <>
              {benchmark.id}, version {benchmark.version}, SHA-256 <Digest text={benchmark.sha256} />
            </>,
          ],
          ["Rows", `${completed} of ${count} completed`],
        ]}
      />
      <FigureSection id={id} result={found.value} />
      <Measured result={found.value} />
      {comparisons.length > 0 && <Comparisons rows={comparisons} />}
      <Export id={id} />
      <details>
        <summary>All {count} rows</summary>
        {found.value.rows === undefined ? <RowTable rows={recipes} /> : <PagedRows id={id} count={count} />}
      </details>
    </Page>
  );
}

/** The rows of a large result, a page at a time. */
function PagedRows({ id, count }: { id: string; count: number }) {
  const [after, setAfter] = useState(0);
  const found = useFetched("/api/benchmarks/results/:result_id", {
    params: { result_id: id },
    query: { rows_after: after, limit: PAGE_ROWS },
  });
  if (found.value === null) return <Wait of={found} what="the rows" />;
  const last = Math.min(count, after + PAGE_ROWS);
  return (
    <>
      <div class="row">
        <button type="button" disabled={after === 0} onClick={() => setAfter(after - PAGE_ROWS)}>Previous</button>
        <span>{after + 1} to {last} of {count}</span>
        <button type="button" disabled={last === count} onClick={() => setAfter(last)}>Next</button>
      </div>
      <RowTable rows={found.value.recipes} />
    </>
  );
}

const PAGE_ROWS = 200;

/** One row per recipe of a pack, whatever the number of its replicates. */
const entriesOf = (rows: readonly Row[]): Row[] => [...new Map(rows.map((row) => [row.id, row])).values()];

const BETTER = { higher_is_better: " ↑ better", lower_is_better: " ↓ better", neutral: "" };

/** A table by recipe and metric: of the replicates with their interval where there are some, else the one value. */
function Measured({ result: { benchmark, recipes, aggregates } }: { result: Result }) {
  // The first is the one that is shown.
  const aggregate = (recipe: string, metric: string) =>
    aggregates.find((row) => row.recipe_id === recipe && row.metric === metric);
  return (
    <Section title="Measured values">
      <Table
        label="Measured values"
        rows={entriesOf(recipes)}
        columns={[
          ["Recipe", ({ label, role }) => (
            <>
              {label} <div class="small muted">{role}</div>
            </>
          )],
          ...benchmark.metrics.map(({ id, unit, direction }) =>
            [
              <>
                {id}
                <div class="plain muted">
                  {unitText(unit)}
                  {BETTER[direction]}
                </div>
              </>,
              (row: Row) => <Estimate row={row} id={id} of={aggregate(row.id, id)} />,
              "number",
            ] as const
          ),
        ]}
      />
    </Section>
  );
}

function Estimate({ row, id, of }: { row: Row; id: string; of: Aggregate | undefined }) {
  if (of === undefined) return <>{valueText(row.metrics[id])}</>;
  const over = of.unit === undefined ? `${of.n} replicates` : `${of.units} units (${of.unit})`;
  const method = of.reason === undefined ? of.ci_method : "no interval, replicates keep authored seeds";
  const text = estimateOf(of.mean, of.ci_low, of.ci_high, of.upper_bound, recordedNoEvent(of));
  return <span title={`${method}, ${over}`}>{text}</span>;
}

function Comparisons({ rows }: { rows: Result["comparisons"] }) {
  const all = place.value.query.get("differences") === "all";
  const shown = all ? rows : rows.filter(({ distinguishable }) => distinguishable);
  return (
    <Section title="Candidates against baselines" actions={<OnlyDifferences all={all} />}>
      {shown.length === 0 ? <p class="muted">None of {rows.length} comparisons is distinguishable</p> : (
        <Table
          label="Candidates against baselines"
          rows={shown}
          columns={[
            ["Candidate", ({ candidate_id }) => candidate_id, "mono"],
            ["Baseline", ({ baseline_id }) => baseline_id, "mono"],
            ["Metric", ({ metric }) => metric, "mono"],
            ["Difference", (row) => estimateOf(row.mean_difference, row.ci_low, row.ci_high), "number"],
            ["Pairs of", ({ n, pairing }) => `${n} ${pairing === "item" ? "items" : "replicates"}`],
            [
              "p (Holm)",
              ({ p_value_holm, reason }) => reason === "exact_constant" ? "exact" : valueText(p_value_holm),
              "number",
            ],
            [
              "Verdict",
              ({ distinguishable, better, reason }) =>
                !distinguishable
                  ? reason === "exact_constant" ? "equal" : "not distinguishable"
                  : better === null
                  ? "different"
                  : `${better} is better`,
            ],
          ]}
        />
      )}
    </Section>
  );
}

/** The figure of `svc benchmark plot`; its files are those of the command, byte for byte. */
function FigureSection({ id, result: { benchmark, recipes } }: { id: string; result: Result }) {
  const { query } = place.value, asked = (name: string) => query.get(name) || undefined;
  const plot = asked("plot"), y = asked("y"), recipe = asked("recipe"), baseline = asked("baseline");
  // A heat map has dimensions along its axes; the metric is that of its cells.
  const metric = plot === "heat-map" ? { value: y } : { y };
  const params = { result_id: id };
  const drawn = useFetched("/api/benchmarks/results/:result_id/figure", {
    params,
    query: { plot, ...metric, recipe, baseline },
  });
  const confusion = useFetched(
    drawn.value?.confusion && drawn.value.plot !== "confusion-matrix"
      ? "/api/benchmarks/results/:result_id/figure"
      : null,
    { params, query: { plot: "confusion-matrix" } },
  );
  const types = FIGURE_TYPES.map((type) => [type, type.replaceAll("-", " ")] as const);
  return (
    <Section title="Figure">
      <div class="row filters">
        <Select<string>
          label="Plot"
          value={plot ?? ""}
          options={[["", "default of the pack"], ...types]}
          onChoose={(plot) => refine({ plot, y: undefined, recipe: undefined })}
        />
        <Select
          label="Metric"
          value={y ?? ""}
          options={[["", "default"], ...benchmark.metrics.map(({ id }) => id)]}
          onChoose={(y) => refine({ y })}
        />
        {drawn.value?.plot === "confusion-matrix" && (
          <Select
            label="Recipe"
            value={recipe ?? ""}
            options={[["", "sum of all"], ...entriesOf(recipes).map(({ id, label }) => [id, label] as const)]}
            onChoose={(recipe) => refine({ recipe })}
          />
        )}
      </div>
      <Shown of={drawn} what="the figure">{(one) => <DrawnFigure of={one} />}</Shown>
      {confusion.value !== null && <DrawnFigure of={confusion.value} />}
    </Section>
  );
}

function DrawnFigure({ of: { figure, name, files } }: { of: Drawn }) {
  return (
    <>
      <Chart figure={figure as Figure} />
      <p class="row small muted">
        Files of <code>svc benchmark plot</code>
        {Object.entries(files).map(([file, text]) => (
          <button
            key={file}
            type="button"
            class="quiet"
            onClick={() => saveText(text, file)}
          >
            {file.slice(name.length + 1)}
          </button>
        ))}
      </p>
    </>
  );
}

function Export({ id }: { id: string }) {
  return (
    <Section title="Export">
      <Shown
        of={useFetched("/api/benchmarks/results/:result_id/export", { params: { result_id: id } })}
        what="the tables"
      >
        {({ files }) => (
          <p class="row">
            {Object.entries(files).map(([name, text]) => (
              <button
                key={name}
                type="button"
                onClick={() => saveText(text, name)}
              >
                {name}
              </button>
            ))}
          </p>
        )}
      </Shown>
      <p class="small muted">
        The same bytes as <code>svc benchmark export {id}</code>
      </p>
    </Section>
  );
}

function RowTable({ rows }: { rows: Row[] }) {
  return (
    <Table
      label="All rows"
      rows={rows}
      columns={[
        ["Recipe", ({ id }) => id, "mono"],
        ["Replicate", ({ replicate }) => replicate, "number"],
        ["State", ({ status, error }) => (
          <>
            <StateMark state={status} /> {error && <span class="muted">{error.message}</span>}
          </>
        )],
        ["Run", ({ run_id }) => run_id ?? "–", "mono small"],
      ]}
    />
  );
}
