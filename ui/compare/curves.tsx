/** A metric over a parameter that varied. */
import { useMemo } from "../preact.ts";
import { place } from "../router.ts";
import { Chart } from "../charts/chart.tsx";
import { entryOf, keyMetric, metricEntries } from "../runs/metrics.ts";
import { Choice } from "./choices.tsx";
import { curveFigure } from "./curve.ts";
import { type ComparedRun, numericMetrics, varying } from "./table.ts";

export default function Curves({ runs }: { runs: readonly ComparedRun[] }) {
  const { query } = place.value;
  const xs = varying(runs).filter(({ numeric, name }) => numeric && !/(^|\.)seed$/.test(name)).map(({ name }) => name);
  const ys = numericMetrics(runs);
  const x = query.get("x") ?? xs.at(-1) ?? "";
  const y = query.get("y") ?? keyMetric(Object.fromEntries(ys.map((name) => [name, 0]))) ?? "";
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
      controls={
        <>
          <Choice label="Over" name="x" value={x} options={xs} />
          <Choice label="Metric" name="y" value={y} options={ys} />
        </>
      }
    />
  );
}
