/** The figure of a running pack, drawn again when a point is complete. */
import { Chart } from "../../charts/chart.tsx";
import { useEffect, useMemo } from "../../preact.ts";
import { entryOf, loadMetrics, metricEntries } from "../../runs/metrics.ts";
import type { Matrix } from "../../state/benchmarks.ts";
import { isComplete, liveFigure } from "./live_figure.ts";
import type { MethodGrid, Placed } from "./method_grid.ts";

interface Props {
  grid: MethodGrid<Placed>;
  matrix: Matrix | undefined;
  metric: string;
}

export default function LiveChart({ grid, matrix, metric }: Props) {
  useEffect(() => void loadMetrics().catch(() => {}), []);
  const complete = [...matrix?.progress ?? []].filter(([, of]) => isComplete(of, matrix!)).map(([id]) => id).join();
  const figure = useMemo(() => liveFigure({ grid, matrix, metric, entry: entryOf(metric) }), [
    grid,
    complete,
    metric,
    metricEntries.value,
  ]);
  return figure === null
    ? <p class="muted">The figure begins with the first complete point.</p>
    : <Chart figure={figure} />;
}
