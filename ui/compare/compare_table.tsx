/** The table of a comparison: runs as columns, what differs as rows, a baseline that the others are held against. */
import { canonicalJson } from "../../lib/contract/json.ts";
import { unitText } from "../../lib/figure/unit_text.ts";
import type { Value } from "../../lib/contract/value.ts";
import type { RateCounts } from "../../lib/numeric/scores/rate_interval.ts";
import { numberText } from "../../lib/figure/number_text.ts";
import { address, place, refine } from "../router.ts";
import { directionText, entryOf, metricEntries, shownMetric } from "../runs/metrics.ts";
import { changeText } from "../form/result_form.ts";
import { Changes } from "../panels/changes.tsx";
import { Check, Hidden, Shown, StateMark } from "../parts.tsx";
import { useFetched } from "../state/fetched.ts";
import { type ComparedRun, type CompareRow, deltaOf, isSeed, type Part, rowsOf, timingWarnings } from "./table.ts";
import { Sign } from "../sign.tsx";

const PARTS: readonly [Part, string][] = [
  ["parameters", "Parameters"],
  ["metrics", "Metrics"],
  ["timing", "Times and execution"],
  ["artifacts", "Artifacts (SHA-256)"],
  ["environment", "Environment"],
];
/** Columns beyond which a table stops being one; curves and pivots take them all. */
const MOST_COLUMNS = 24;

export function CompareTable({ runs: all, onRemove }: { runs: readonly ComparedRun[]; onRemove(id: string): void }) {
  const { query } = place.value;
  const everything = query.get("all") === "1", wanted = query.get("base") ?? "";
  const baseline = all.find(({ id }) => id === wanted) ?? all[0];
  const runs = [baseline, ...all.filter((run) => run !== baseline)].slice(0, MOST_COLUMNS);
  const warnings = timingWarnings(runs);
  const parts = PARTS.map(([part, label]) => {
    const rows = rowsOf(runs, part);
    // Swept parameters come first, seeds last.
    if (part === "parameters") {
      rows.sort((a, b) => Number(isSeed(a.name)) - Number(isSeed(b.name)) || countOf(b) - countOf(a));
    }
    return {
      part,
      label,
      rows: everything ? rows : rows.filter(({ name, differs }) => differs && !isSeed(name)),
      count: rows.length,
    };
  });
  const hidden = parts.reduce((sum, { rows, count }) => sum + count - rows.length, 0);
  return (
    <div class="stack">
      <div class="row">
        <Check label="Only differences" checked={!everything} onChange={(only) => refine({ all: only ? "" : "1" })} />
        {!everything && <span class="muted">{hidden} equal rows and seeds are not shown</span>}
      </div>
      {all.length > runs.length && (
        <p class="notice">
          The first {runs.length} of {all.length} runs are columns here. Curves and Pivot take all of them.
        </p>
      )}
      {warnings.length > 0 && (
        <p class="notice" data-tone="warn" role="note">
          Times of these runs cannot be compared: {warnings.join(", ")}.
        </p>
      )}
      <div class="scroll-x panel" tabIndex={0} role="region" aria-label="Comparison">
        <table class="compare-table">
          <thead>
            <tr>
              <th class="first">Row</th>
              {runs.map((run) => (
                <th key={run.id} class="run-head">
                  <a href={address("runs", [run.id])} title={run.id}>{run.name}</a>
                  <div class="mono small muted">{run.id.slice(0, 16)}</div>
                  <StateMark state={run.status} />
                  <div class="row">
                    {run === baseline
                      ? <span class="tag">baseline</span>
                      : (
                        <button type="button" onClick={() => refine({ base: run.id })}>
                          Baseline<Hidden>{run.id}</Hidden>
                        </button>
                      )}
                    <button type="button" onClick={() => onRemove(run.id)}>
                      Remove<Hidden>{run.id}</Hidden>
                    </button>
                  </div>
                </th>
              ))}
            </tr>
          </thead>
          {parts.map(({ part, label, rows, count }) => (
            <tbody key={part}>
              <tr class="group">
                <th colSpan={runs.length + 1} scope="rowgroup">
                  {label} {rows.length === 0 ? `– all ${count} equal` : ""}
                </th>
              </tr>
              {rows.map((row) => <Row key={row.name} row={row} part={part} runs={runs} warned={warnings.length > 0} />)}
            </tbody>
          ))}
        </table>
      </div>
      {runs.length === 2 && <Documents a={runs[0].id} b={runs[1].id} />}
    </div>
  );
}

const countOf = ({ values }: CompareRow) => new Set(values.map((value) => canonicalJson(value ?? null))).size;

function Row(
  { row, part, runs, warned }: { row: CompareRow; part: Part; runs: readonly ComparedRun[]; warned: boolean },
) {
  // Read here, so that units appear when the catalogue does.
  const entry = metricEntries.value.size > 0 && part === "metrics" ? entryOf(row.name) : undefined;
  return (
    <tr>
      <th class="first" scope="row">
        {entry?.name ?? row.name}
        {entry !== undefined && (
          <div class="muted small">
            {[unitText(entry.unit), directionText(entry.direction)].filter(Boolean).join(", ")}
          </div>
        )}
      </th>
      {row.values.map((value, index) => (
        <td key={runs[index].id} class={part === "metrics" || part === "timing" ? "number" : undefined}>
          <Cell value={value} part={part} rate={part === "metrics" ? runs[index].rates.get(row.name) : undefined} />
          {index > 0 && part === "metrics" && (
            <Difference value={value} baseline={row.values[0]} direction={entry?.direction} unit={entry?.unit} />
          )}
          {index > 0 && part === "timing" && !warned && (
            <Difference value={value} baseline={row.values[0]} direction={undefined} />
          )}
        </td>
      ))}
    </tr>
  );
}

function Cell({ value, part, rate }: { value: Value | undefined; part: Part; rate: RateCounts | undefined }) {
  if (value === undefined) return <span class="muted">–</span>;
  if (part === "artifacts") return <span class="mono small" title={String(value)}>{String(value).slice(0, 10)}</span>;
  if (typeof value === "object" && value !== null && !("value" in value)) {
    return <span class="mono small">{changeText(value)}</span>;
  }
  return <span class="mono" title={String(value)}>{shownMetric(value, rate)}</span>;
}

function Difference(
  { value, baseline, direction, unit }: {
    value: Value | undefined;
    baseline: Value | undefined;
    direction?: string;
    unit?: string;
  },
) {
  const delta = deltaOf(value, baseline, direction);
  if (delta === null || delta.absolute === 0) return null;
  const sign = delta.absolute > 0 ? "+" : "";
  // A difference of levels is a level itself; its share of another level has no meaning.
  const percent = unit === "dB"
    ? " dB"
    : delta.relative === null
    ? ""
    : ` (${sign}${numberText(100 * delta.relative, "unicode", 3)} %)`;
  return (
    <span class="delta" data-tone={delta.better === null ? undefined : delta.better ? "ok" : "error"}>
      {sign}
      {numberText(delta.absolute, "unicode", 3)}
      {percent}
      {delta.better === null ? "" : delta.better ? " better" : " worse"}
    </span>
  );
}

/** The differences of two runs, path by path, as `svc runs diff` lists them. */
const Documents = ({ a, b }: { a: string; b: string }) => (
  <Shown of={useFetched("/api/runs/diff", { query: { a, b } })} what="the differences">
    {(diff) => (
      <section class="panel" aria-label="Documents">
        <h2>
          {diff.equal
            ? (
              <>
                <Sign of="✓" /> Recipe, plan, metrics and artifacts are equal
              </>
            )
            : "Differences of the documents"}
        </h2>
        {(["recipe", "plan", "environment"] as const).map((part) => (
          <details key={part}>
            <summary>{part}: {diff[part].length} {diff[part].length === 1 ? "difference" : "differences"}</summary>
            <Changes changes={diff[part]} a={a} b={b} />
          </details>
        ))}
      </section>
    )}
  </Shown>
);
