/** A metric over a parameter that varied. */
import { useMemo } from "../preact.ts";
import { place } from "../router.ts";
import { Chart } from "../charts/chart.tsx";
import { entryOf, keyMetric, metricEntries } from "../runs/metrics.ts";
import { Choice } from "./choices.tsx";
import { curveFigure } from "./curve.ts";
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
  const x = chosen("x", xs) ?? xs.at(-1) ?? "";
  const y = chosen("y", ys) ?? metric ?? keyMetric(Object.fromEntries(ys.map((name) => [name, 0]))) ?? "";
  const figure = useMemo(
    () => x === "" || y === "" ? null : curveFigure(runs, x, y, entryOf),
    [runs, runs.length, x, y, metricEntries.value],
  );
  if (xs.length === 0) {
    return (
      <p class="empty">
        No number was varied among these runs. Choose runs of one matrix, such as those of{" "}
        <code>svc recipe run-matrix</code>.
      </p>
    );
  }
  return (
    <Chart
      figure={figure!}
      tall={tall}
      controls={
        <>
          <Choice label="Over" name="x" value={x} options={xs} />
          <Choice label="Metric" name="y" value={y} options={ys} />
        </>
      }
    />
  );
}
