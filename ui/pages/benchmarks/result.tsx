// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** A stored result: measured values with their intervals, candidates against baselines, figures, and files. */
import { recordedNoEvent } from "../../../lib/contract/metric_metadata.ts";
import { type CurveFigure, type Figure, FIGURE_TYPES } from "../../../lib/figure/types.ts";
import { unitText } from "../../../lib/figure/unit_text.ts";
import { numberText } from "../../../lib/figure/number_text.ts";
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
import { lazy, useEffect, useState } from "../../preact.ts";
import { address, place, refine } from "../../router.ts";
import { entryOf, estimateOf, loadMetrics, valueText } from "../../runs/metrics.ts";
import { typeset } from "../../charts/typeset.tsx";
import { useFetched } from "../../state/fetched.ts";
import { saveText } from "../../state/files.ts";
import {
  type Aggregate,
  aggregateOf,
  type Axis,
  comparisonOf,
  entriesOf,
  gainOf,
  type Method,
  type MethodGrid,
  methodGrid,
  type Result,
  type Row,
  targetsOf,
} from "./method_grid.ts";

const Chart = lazy(() => import("../../charts/chart.tsx").then(({ Chart }) => Chart), "Loading the figure");

type Drawn = Reply<"/api/benchmarks/results/:result_id/figure">;
type CurveDifference = Reply<"/api/benchmarks/results/:result_id/rate-differences">["methods"][number]["rate"];

const VERDICTS: Record<string, string> = { valid: "PASS", warning: "WARNING", invalid: "FAIL", running: "Verifying" };

export function ResultPage({ id }: { id: string }) {
  const found = useFetched("/api/benchmarks/results/:result_id", { params: { result_id: id } });
  useEffect(() => void loadMetrics().catch(() => {}), []);
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
  const grid = methodGrid(found.value);
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
      {grid !== null && <MethodTable result={found.value} grid={grid} />}
      {grid === null ? <Measured result={found.value} /> : (
        <details>
          <summary>Measured values by recipe</summary>
          <Measured result={found.value} />
        </details>
      )}
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

const BETTER = { higher_is_better: " ↑ better", lower_is_better: " ↓ better", neutral: "" };

/** The table of Es/N0 by method, with the differences from the baseline, and the gain of each method at a target rate. */
function MethodTable({ result, grid }: { result: Result; grid: MethodGrid }) {
  const { query } = place.value, { metrics } = result.benchmark;
  const metric = metrics.find(({ id }) => id === query.get("y")) ?? metrics[0];
  if (metric === undefined) return null;
  const { methods, coordinate } = grid, candidates = methods.filter(({ isBaseline }) => !isBaseline);
  const compared = candidates.filter(({ points }) =>
    [...points.values()].some(({ id }) => comparisonOf(result, id, metric.id) !== undefined)
  );
  return (
    <Section title={`${entryOf(metric.id)?.name ?? metric.id} by ${coordinate} and method`} look="method-table">
      <Table
        label="Values by method"
        rows={grid.places}
        keyOf={String}
        columns={[
          [coordinate, (at) => valueText(at), "number"],
          ...methods.map(({ name, points, isBaseline }) =>
            [
              isBaseline ? `${name}, baseline` : name,
              (at: number) => <GridCell row={points.get(at)} result={result} metric={metric.id} />,
              "number",
            ] as const
          ),
          ...compared.map(({ name, points }) =>
            [
              `Difference, ${name}`,
              (at: number) => <GridDifference of={comparisonOf(result, points.get(at)?.id, metric.id)} />,
              "number",
            ] as const
          ),
        ]}
      />
      {metric.statistic === "rate" && metric.direction === "lower_is_better" && candidates.length > 0 && (
        <Gains result={result} grid={grid} metric={metric.id} />
      )}
    </Section>
  );
}

function GridCell({ row, result, metric }: { row: Row | undefined; result: Result; metric: string }) {
  if (row === undefined) return <>–</>;
  const of = aggregateOf(result, row.id, metric);
  return (
    <>
      <Estimate row={row} id={metric} of={of} />
      {of?.events !== undefined && <div class="small muted">{valueText(of.events)} of {valueText(of.trials)}</div>}
    </>
  );
}

function GridDifference({ of }: { of: Result["comparisons"][number] | undefined }) {
  if (of === undefined) return <>–</>;
  return (
    <>
      {estimateOf(of.mean_difference, of.ci_low, of.ci_high)}
      <div class="small muted">{of.distinguishable ? "" : "not distinguishable, "}{pText(of)}</div>
    </>
  );
}

/** The corrected p of a comparison; constants have no test. */
const pText = ({ p_value_holm, reason }: Result["comparisons"][number]): string =>
  reason === "exact_constant" ? "exact" : p_value_holm === null ? "no test" : `p ${valueText(p_value_holm)}`;

function Gains({ result, grid, metric }: { result: Result; grid: MethodGrid; metric: string }) {
  const targets = targetsOf(result, grid, metric);
  if (targets.length === 0) {
    return (
      <p class="muted">
        The curves of the baseline and of the other methods have no rate in common: there is no gain to read.
      </p>
    );
  }
  const asked = Number(place.value.query.get("target")), target = targets.includes(asked) ? asked : targets[0];
  const gain = (axis: Axis) => (method: Method) => {
    const found = gainOf(result, grid, method, { metric, axis, target });
    return found === null ? "–" : `${numberText(found, "unicode", 3)} dB`;
  };
  return (
    <>
      <div class="row">
        <h3>Gain over the baseline</h3>
        <Select
          label="at a rate of"
          value={String(target)}
          options={targets.map((one) => [String(one), valueText(one)] as const)}
          onChoose={(target) => refine({ target })}
        />
      </div>
      <Table
        look="narrow"
        rows={grid.methods.filter(({ isBaseline }) => !isBaseline)}
        keyOf={({ name }) => name}
        columns={[
          ["Method", ({ name }) => name],
          [typeset("Over Es/N0"), gain("Es/N0"), "number"],
          [typeset("Over Eb/N0"), gain("Eb/N0"), "number"],
        ]}
      />
      <p class="small muted">
        Read on the lines between the measured points, with the rate on a logarithmic axis; a positive gain needs less.
        A dash: a curve does not reach the rate, or its runs do not count the bits that Eb/N0 needs.
      </p>
    </>
  );
}

/** A table by recipe and metric: of the replicates with their interval where there are some, else the one value. */
function Measured({ result }: { result: Result }) {
  const { benchmark, recipes } = result;
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
              (row: Row) => <Estimate row={row} id={id} of={aggregateOf(result, row.id, id)} />,
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
      {drawn.value?.plot === "rate-distortion" && (
        <RateDifferences
          id={id}
          figure={drawn.value.figure as CurveFigure}
        />
      )}
    </Section>
  );
}

/** BD-rate and BD-quality of the curves of the figure, from any one of them. */
function RateDifferences({ id, figure: { series } }: { id: string; figure: CurveFigure }) {
  const { query } = place.value, curves = series.filter(({ kind }) => kind !== "theory").map(({ label }) => label);
  const named = series.find(({ kind }) => kind === "baseline")?.label ?? curves[0], asked = query.get("baseline");
  const baseline = asked !== null && curves.includes(asked) ? asked : named;
  const found = useFetched(
    curves.length < 2 ? null : "/api/benchmarks/results/:result_id/rate-differences",
    { params: { result_id: id }, query: { y: query.get("y") || undefined, baseline } },
  );
  if (curves.length < 2) return null;
  const cells = ({ difference, single, range }: CurveDifference, scale: number) => ({
    all: estimateOf(difference === null ? null : scale * difference),
    single: single === null
      ? "–"
      : estimateOf(scale * single.mean, scale * single.low, scale * single.high) + ` of ${single.n} ${single.over}`,
    range: range === null ? "–" : range.map((end) => numberText(end, "unicode", 3)).join(" to "),
  });
  return (
    <>
      <div class="row">
        <h3>Mean differences of the curves</h3>
        <Select label="from" value={baseline} options={curves} onChoose={(baseline) => refine({ baseline })} />
      </div>
      <Shown of={found} what="the differences of the curves">
        {({ methods, y, y_unit }) => (
          <Table
            label="Mean differences of the curves"
            rows={methods.map(({ method, rate, quality }) => ({
              method,
              rate: cells(rate, 100),
              quality: cells(quality, 1),
            }))}
            keyOf={({ method }) => method}
            columns={[
              ["Method", ({ method }) => method],
              ["BD-rate (%)", ({ rate }) => rate.all, "number"],
              ["Mean of items or replicates (%)", ({ rate }) => rate.single, "number"],
              ["Over the quality", ({ rate }) => rate.range, "number"],
              [bdTitle(y, y_unit), ({ quality }) => quality.all, "number"],
              ["Mean of items or replicates", ({ quality }) => quality.single, "number"],
              ["Over the rate", ({ quality }) => quality.range, "number"],
            ]}
          />
        )}
      </Shown>
      <p class="small muted">
        Mean differences over the range that both curves have (Bjøntegaard); a negative BD-rate is less rate at equal
        quality. Items are images of which both curves have all points.
      </p>
    </>
  );
}

const bdTitle = (y: string, unit: string) =>
  (y === "quality.psnr_db" ? "BD-PSNR" : "BD-quality") + (unitText(unit) === "" ? "" : ` (${unitText(unit)})`);

function DrawnFigure({ of: { figure, name, files } }: { of: Drawn }) {
  return (
    <div class="stack">
      <Chart figure={figure as Figure} />
      <p class="row small muted">
        Files of <code>svc benchmark plot</code>
        {Object.entries(files).map(([file, text]) => (
          <button
            key={file}
            type="button"
            onClick={() => saveText(text, file)}
          >
            {file.slice(name.length + 1)}
          </button>
        ))}
      </p>
    </div>
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
