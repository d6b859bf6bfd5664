/** A stored result: what was measured with its intervals, candidates against baselines, figures, and files for others. */
import type { JsonObject, Value } from "../../../lib/contract/value.ts";
import { type Figure, FIGURE_TYPES } from "../../../lib/figure/types.ts";
import { unitText } from "../../../lib/figure/unit_text.ts";
import { get } from "../../api.ts";
import { Page } from "../../frame.tsx";
import { Digest, Pending } from "../../panels/notices.tsx";
import { shownEstimate, shownNumber } from "../../panels/number.ts";
import { StateMark } from "../../panels/state_mark.tsx";
import { lazy, Suspense, useEffect, useState } from "../../preact.ts";
import { address, place, refine } from "../../router.ts";
import { download } from "../../state/download.ts";
import { type Fetched, useFetched } from "../../state/fetched.ts";

const Chart = lazy(() => import("../../charts/chart.tsx").then(({ Chart }) => Chart));

interface Aggregate extends JsonObject {
  recipe_id: string;
  metric: string;
  n: number;
  ci_method: string;
}

interface Row {
  id: string;
  label: string;
  role: string;
  replicate: number;
  run_id: string | null;
  status: string;
  metrics: { [id: string]: Value };
  error?: { code: string; message: string };
}

interface Result {
  result_id: string;
  status: string;
  incomplete_reason?: string;
  created_at_utc: string;
  completed_at_utc: string | null;
  benchmark: JsonObject & {
    id: string;
    name: string;
    version: string;
    sha256: string;
    metrics: { id: string; unit: string; direction: string }[];
  };
  recipes: Row[];
  aggregates: Aggregate[];
  comparisons: JsonObject[];
}

export function ResultPage({ id }: { id: string }) {
  const found = useFetched<Result>(`/api/benchmarks/results/${encodeURIComponent(id)}`);
  const [report, setReport] = useState<string | null>(null);
  if (found.data === null) {
    return (
      <Page title="Benchmark result">
        <Pending of={found} what="the result" />
      </Page>
    );
  }
  const { benchmark, status, recipes, comparisons } = found.data;
  const verify = async () => {
    setReport("running");
    const { status } = await get<{ status: string }>(`/api/benchmarks/results/${encodeURIComponent(id)}/verify`)
      .catch(() => ({ status: "invalid" }));
    setReport(status);
  };
  const verdict: Record<string, string> = { valid: "PASS", warning: "WARNING", invalid: "FAIL", running: "Verifying" };
  return (
    <Page
      title={benchmark.name || benchmark.id}
      actions={
        <>
          {report !== null && <StateMark state={report} word={verdict[report]} />}
          <button type="button" disabled={report === "running"} onClick={verify}>Verify</button>
          <a href={address("benchmarks")}>All results</a>
        </>
      }
    >
      <dl class="facts">
        <dt>Result</dt>
        <dd class="mono">{id}</dd>
        <dt>State</dt>
        <dd>
          <StateMark state={status} /> {found.data.incomplete_reason}
        </dd>
        <dt>Pack</dt>
        <dd>
          {benchmark.id}, version {benchmark.version}, SHA-256 <Digest text={benchmark.sha256} />
        </dd>
        <dt>Rows</dt>
        <dd>{recipes.filter((row) => row.status === "completed").length} of {recipes.length} completed</dd>
      </dl>
      <FigureSection id={id} benchmark={benchmark} recipes={recipes} />
      <Measured result={found.data} />
      {comparisons.length > 0 && <Comparisons rows={comparisons} />}
      <Export id={id} />
      <details>
        <summary>All {recipes.length} rows</summary>
        <RowTable rows={recipes} />
      </details>
    </Page>
  );
}

/** A table by recipe and metric: from replicates with their interval where there are some, else the one value. */
function Measured({ result: { benchmark, recipes, aggregates } }: { result: Result }) {
  const entries = [...new Map(recipes.map((row) => [row.id, row])).values()];
  // The first is the one that is shown.
  const aggregate = (recipe: string, metric: string) =>
    aggregates.find((row) => row.recipe_id === recipe && row.metric === metric);
  return (
    <section aria-labelledby="measured">
      <h2 id="measured">What was measured</h2>
      <div class="scroll" role="group" aria-label="What was measured" tabindex={0}>
        <table>
          <thead>
            <tr>
              <th>Recipe</th>
              {benchmark.metrics.map(({ id, unit, direction }) => (
                <th key={id} class="number">
                  {id}
                  <div class="plain muted">
                    {unitText(unit)}
                    {direction === "higher_is_better"
                      ? " ↑ better"
                      : direction === "lower_is_better"
                      ? " ↓ better"
                      : ""}
                  </div>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {entries.map((row) => (
              <tr key={row.id}>
                <td>
                  {row.label} <div class="small muted">{row.role}</div>
                </td>
                {benchmark.metrics.map(({ id }) => <Estimate key={id} row={row} id={id} of={aggregate(row.id, id)} />)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Estimate({ row, id, of }: { row: Row; id: string; of: Aggregate | undefined }) {
  if (of === undefined) return <td class="number">{shownNumber(row.metrics[id])}</td>;
  const over = of.unit === undefined ? `${of.n} replicates` : `${of.units} units (${of.unit})`;
  return (
    <td class="number" title={`${of.ci_method}, ${over}`}>
      {shownEstimate(of.mean, of.ci_low, of.ci_high, of.upper_bound)}
    </td>
  );
}

function Comparisons({ rows }: { rows: JsonObject[] }) {
  const all = place.value.query.get("differences") === "all";
  const shown = all ? rows : rows.filter(({ distinguishable }) => distinguishable === true);
  return (
    <section aria-labelledby="comparisons">
      <div class="row spread">
        <h2 id="comparisons">Candidates against baselines</h2>
        <label class="row">
          <input
            type="checkbox"
            checked={!all}
            onChange={(event) => refine({ differences: event.currentTarget.checked ? undefined : "all" })}
          />
          Only differences
        </label>
      </div>
      {shown.length === 0 && <p class="muted">None of {rows.length} comparisons can be told apart</p>}
      {shown.length > 0 && (
        <div class="scroll" role="group" aria-label="Candidates against baselines" tabindex={0}>
          <table>
            <thead>
              <tr>
                <th>Candidate</th>
                <th>Baseline</th>
                <th>Metric</th>
                <th class="number">Difference</th>
                <th>Pairs of</th>
                <th class="number">p (Holm)</th>
                <th>Verdict</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((row, index) => (
                <tr key={index}>
                  <td class="mono">{String(row.candidate_id)}</td>
                  <td class="mono">{String(row.baseline_id)}</td>
                  <td class="mono">{String(row.metric)}</td>
                  <td class="number">{shownEstimate(row.mean_difference, row.ci_low, row.ci_high)}</td>
                  <td>{String(row.n)} {row.pairing === "item" ? "items" : "replicates"}</td>
                  <td class="number">{shownNumber(row.p_value_holm)}</td>
                  <td>
                    {row.distinguishable !== true
                      ? "not told apart"
                      : row.better === null
                      ? "different"
                      : `${row.better} is better`}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

interface Drawn {
  plot: string;
  x: string;
  y: string;
  name: string;
  figure: Figure;
  /** Whether there is a confusion matrix to be drawn as well. */
  confusion: boolean;
  files: Record<string, string>;
}

/** The figure that `svc benchmark plot` draws, to be read on the page; its files are those of the command, byte for byte. */
function FigureSection(
  { id, benchmark, recipes }: { id: string; benchmark: Result["benchmark"]; recipes: Row[] },
) {
  const { query } = place.value;
  const asked = new URLSearchParams();
  for (const key of ["plot", "y", "recipe"]) if (query.get(key)) asked.set(key, query.get(key)!);
  const drawn = useFetched<Drawn>(`/api/benchmarks/results/${encodeURIComponent(id)}/figure?${asked}`);
  return (
    <section aria-labelledby="figure">
      <h2 id="figure">Figure</h2>
      <div class="row filters">
        <label class="row">
          Plot
          <select
            value={query.get("plot") ?? ""}
            onChange={(event) => refine({ plot: event.currentTarget.value, y: undefined, recipe: undefined })}
          >
            <option value="">as the pack asks</option>
            {FIGURE_TYPES.map((type) => <option key={type} value={type}>{type.replaceAll("-", " ")}</option>)}
          </select>
        </label>
        <label class="row">
          Metric
          <select value={query.get("y") ?? ""} onChange={(event) => refine({ y: event.currentTarget.value })}>
            <option value="">as fits</option>
            {benchmark.metrics.map((metric) => <option key={metric.id} value={metric.id}>{metric.id}</option>)}
          </select>
        </label>
        {drawn.data?.plot === "confusion-matrix" && <RecipeChoice recipes={recipes} />}
      </div>
      {drawn.data === null ? <FigureWait of={drawn} /> : (
        <>
          <Suspense fallback={<p class="empty" aria-busy="true">Loading the figure</p>}>
            <Chart figure={drawn.data.figure} />
          </Suspense>
          <Files of={drawn.data} />
          {drawn.data.confusion && drawn.data.plot !== "confusion-matrix" && <ConfusionFigure id={id} />}
        </>
      )}
    </section>
  );
}

/** Matrices of several methods add up to that of none: one can be looked at by itself. */
function RecipeChoice({ recipes }: { recipes: Row[] }) {
  const entries = [...new Map(recipes.map((row) => [row.id, row])).values()];
  return (
    <label class="row">
      Recipe
      <select
        value={place.value.query.get("recipe") ?? ""}
        onChange={(event) => refine({ recipe: event.currentTarget.value })}
      >
        <option value="">all added up</option>
        {entries.map(({ id, label }) => <option key={id} value={id}>{label}</option>)}
      </select>
    </label>
  );
}

function Files({ of: { name, files } }: { of: Drawn }) {
  return (
    <p class="row small muted">
      The files of <code>svc benchmark plot</code>
      {Object.entries(files).map(([file, text]) => (
        <button
          key={file}
          type="button"
          class="quiet"
          onClick={() => download(file, text)}
        >
          {file.slice(name.length + 1)}
        </button>
      ))}
    </p>
  );
}

/** What was taken for what, below the figure that the pack asks for. */
function ConfusionFigure({ id }: { id: string }) {
  const drawn = useFetched<Drawn>(`/api/benchmarks/results/${encodeURIComponent(id)}/figure?plot=confusion-matrix`);
  if (drawn.data === null) return <FigureWait of={drawn} />;
  return (
    <>
      <Suspense fallback={<p class="empty" aria-busy="true">Loading the figure</p>}>
        <Chart figure={drawn.data.figure} />
      </Suspense>
      <Files of={drawn.data} />
    </>
  );
}

function FigureWait({ of }: { of: Fetched<unknown> }) {
  return <p class="empty" aria-busy={of.problem === null}>{of.problem ?? "Drawing"}</p>;
}

function Export({ id }: { id: string }) {
  const [files, setFiles] = useState<Record<string, string> | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let wanted = true;
    get<{ files: Record<string, string> }>(`/api/benchmarks/results/${encodeURIComponent(id)}/export`).then(
      ({ files }) => wanted && setFiles(files),
      (error) => wanted && setProblem(error.message),
    );
    return () => wanted = false;
  }, [id]);
  return (
    <section aria-labelledby="export">
      <h2 id="export">Export</h2>
      {problem !== null && <p class="notice" data-tone="error">{problem}</p>}
      <p class="row">
        {Object.entries(files ?? {}).map(([name, text]) => (
          <button
            key={name}
            type="button"
            onClick={() => download(name, text)}
          >
            {name}
          </button>
        ))}
      </p>
      <p class="small muted">
        The same bytes as <code>svc benchmark export {id}</code>
      </p>
    </section>
  );
}

function RowTable({ rows }: { rows: Row[] }) {
  return (
    <div class="scroll" role="group" aria-label="All rows" tabindex={0}>
      <table>
        <thead>
          <tr>
            <th>Recipe</th>
            <th class="number">Replicate</th>
            <th>State</th>
            <th>Run</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.id} ${row.replicate}`}>
              <td class="mono">{row.id}</td>
              <td class="number">{row.replicate}</td>
              <td>
                <StateMark state={row.status} /> {row.error && <span class="muted">{row.error.message}</span>}
              </td>
              <td class="mono small">{row.run_id ?? "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
