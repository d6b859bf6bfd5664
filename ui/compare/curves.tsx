/** A metric over a parameter that varied. */
import { useMemo } from "../preact.ts";
import { place, refine } from "../router.ts";
import { Chart } from "../charts/chart.tsx";
import { typeset } from "../charts/typeset.tsx";
import { entryOf, keyMetric, metricEntries } from "../runs/metrics.ts";
import { Choice } from "./choices.tsx";
import { curveFigure } from "./curve.ts";
import { type Method, methodsOf, missingNotice, rateNotice } from "./methods.ts";
import { EBN0, isSnr } from "./parameter_axis.ts";
import { type ComparedRun, isSeed, numericMetrics, varying } from "./table.ts";

interface Props {
  runs: readonly ComparedRun[];
  /** Shown first; the most telling one by default. */
  metric?: string;
  /** Whether the figure takes most of the window. */
  tall?: boolean;
}

export default function Curves({ runs, metric, tall }: Props) {
  const { query } = place.value;
  const chosen = (name: string, options: readonly string[]) => options.find((option) => option === query.get(name));
  const xs = varying(runs).filter(({ numeric, name }) => numeric && !isSeed(name)).map(({ name }) => name);
  const ys = numericMetrics(runs);
  // The accounting of every run gives its Eb/N0.
  const known = xs.some(isSnr) && runs.every(({ metrics }) => metrics.has(EBN0));
  const x = chosen("x", known ? [...xs, EBN0] : xs) ?? xs.at(-1) ?? "";
  const y = chosen("y", ys) ?? metric ?? keyMetric(Object.fromEntries(ys.map((name) => [name, 0]))) ?? "";
  const methods = useMemo(() => x === "" ? [] : methodsOf(runs, x), [runs, runs.length, x]);
  const renamed = (label: string) => query.get(`label:${label}`) || label;
  const figure = useMemo(
    () => x === "" || y === "" ? null : curveFigure(runs, x, y, entryOf, renamed),
    [runs, runs.length, x, y, metricEntries.value, query],
  );
  const notice = known ? rateNotice(methods, x) : xs.some(isSnr) ? missingNotice(runs) : null;
  if (xs.length === 0) {
    return (
      <p class="empty">
        No number was varied among these runs. Choose runs of one matrix, such as those of{" "}
        <code>svc recipe run-matrix</code>.
      </p>
    );
  }
  return (
    <div class="stack">
      <Chart
        figure={figure!}
        tall={tall}
        controls={
          <>
            <Choice label="Over" name="x" value={x} options={known ? [...xs, EBN0] : xs} />
            <Choice label="Metric" name="y" value={y} options={ys} />
          </>
        }
      />
      {notice !== null && <p class="notice" role="note">{typeset(notice)}</p>}
      {methods.length > 1 && <Labels methods={methods} renamed={renamed} />}
    </div>
  );
}

/** Labels of one's own for the methods, kept in the address. */
function Labels({ methods, renamed }: { methods: readonly Method[]; renamed(label: string): string }) {
  return (
    <details>
      <summary>Labels of the methods</summary>
      {methods.map(({ label }) => (
        <label key={label} class="row">
          <span class="muted">{label}</span>
          <input
            aria-label={`Label of ${label}`}
            value={renamed(label)}
            onChange={(event) => {
              const text = event.currentTarget.value.trim();
              refine({ [`label:${label}`]: text === label ? "" : text });
            }}
          />
        </label>
      ))}
    </details>
  );
}
