/** Comparison of runs: differences, curves over a parameter, and tables for a paper. The address holds the view. */
import { get } from "../api.ts";
import { Page, Toggle, Trouble } from "../parts.tsx";
import { lazy, useEffect, useMemo, useState } from "../preact.ts";
import { address, go, place, refine } from "../router.ts";
import { alignSteps } from "../compare/align.ts";
import { CompareTable } from "../compare/compare_table.tsx";
import { useComparedRuns } from "../compare/load.ts";
import type { RunRow } from "../runs/filter.ts";
import { isSeed, varying } from "../compare/table.ts";
import { loadMetrics } from "../runs/metrics.ts";

const Curves = lazy(() => import("../compare/curves.tsx"), "Loading the view");
const Parallel = lazy(() => import("../compare/parallel.tsx"), "Loading the view");
const PivotView = lazy(() => import("../compare/pivot_view.tsx"), "Loading the view");

const VIEWS = [["curves", "Curves"], ["table", "Table"], ["pivot", "Pivot"], ["parallel", "Parameters"]] as const;
const MOST_RUNS = 256;

export default function Compare() {
  const { query } = place.value;
  const listed = query.get("runs") ?? "", wanted = query.get("view") ?? "";
  const ids = useMemo(() => [...new Set(listed.split(",").filter(Boolean))].slice(0, MOST_RUNS), [listed]);
  const { runs: read, loading, problems } = useComparedRuns(ids);
  const { runs, renamed } = useMemo(() => alignSteps(read), [read.length, listed]);
  // A sweep is read as a curve, single runs by their differences.
  const swept = useMemo(() => varying(runs).some(({ name, numeric, count }) => numeric && count > 2 && !isSeed(name)), [
    runs.length,
    listed,
  ]);
  const view = wanted || (swept ? "curves" : "table");
  // The table names metrics and units: they are known before it is drawn, or never.
  const [named, setNamed] = useState(false), waits = loading > 0 || !named;
  useEffect(() => void loadMetrics().catch(() => {}).finally(() => setNamed(true)), []);
  const set = (next: readonly string[]) =>
    go("compare", [], { ...Object.fromEntries(query), runs: next.join(","), base: "" });
  return (
    <Page title="Compare" actions={<AddRun present={ids} onAdd={(id) => set([...ids, id])} />}>
      <Trouble tone="warn" text={problems.join(". ")} />
      {ids.length === 0
        ? (
          <p class="empty">
            No runs are chosen. Choose two or more under <a href={address("runs")}>Runs</a>, or add one above.
          </p>
        )
        : (
          <>
            <div class="row nowrap">
              <Toggle<string>
                label="Form of the comparison"
                value={view}
                options={VIEWS}
                onChoose={(view) => refine({ view })}
              />
              <span class="muted" role="status">
                {loading > 0 ? `Reading ${loading}` : `${runs.length} runs`}
              </span>
            </div>
            {!waits && renamed.length > 0 && (
              <details class="small">
                <summary>
                  {renamed.length} steps stand beside steps of another name with the same part in the link
                </summary>
                <p class="muted">{renamed.join(", ")}</p>
              </details>
            )}
            {ids.length === 1 && loading === 0 && <p class="notice">Add another run to compare.</p>}
            <div class="run-part">
              {waits
                ? <p class="empty" aria-busy="true">Reading the runs</p>
                : runs.length === 0
                ? null
                : view === "curves"
                ? <Curves runs={runs} />
                : view === "pivot"
                ? <PivotView runs={runs} />
                : view === "parallel"
                ? <Parallel runs={runs} />
                : <CompareTable runs={runs} onRemove={(id) => set(ids.filter((other) => other !== id))} />}
            </div>
          </>
        )}
    </Page>
  );
}

function AddRun({ present, onAdd }: { present: readonly string[]; onAdd(id: string): void }) {
  const [recent, setRecent] = useState<readonly RunRow[]>([]), [text, setText] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    get("/api/runs", { query: { limit: 100 }, signal: stop.signal }).then(({ runs }) => setRecent(runs), () => {});
    return () => stop.abort();
  }, []);
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === "") return;
        onAdd(text.trim());
        setText("");
      }}
    >
      <label for="add-run">Run</label>
      <input
        id="add-run"
        class="mono"
        list="recent-runs"
        size={34}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <datalist id="recent-runs">
        {recent.filter(({ run_id }) => !present.includes(run_id)).map(({ run_id }) => (
          <option key={run_id} value={run_id} />
        ))}
      </datalist>
      <button type="submit">Add</button>
    </form>
  );
}
