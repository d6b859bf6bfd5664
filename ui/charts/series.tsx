/** An array as a line over its index, or as a histogram; thinned by the server. */
import { valueText } from "../runs/metrics.ts";
import { useState } from "../preact.ts";
import type { CurveFigure } from "../../lib/figure/types.ts";
import type { Reply } from "../api.ts";
import { Select, Shown } from "../parts.tsx";
import { useFetched } from "../state/fetched.ts";
import { Chart } from "./chart.tsx";

type Series = Reply<"/api/series">;

interface Props {
  path: string;
  /** Name of the array in the file; null for its main one. */
  array: string | null;
  title: string;
  kind: "line" | "histogram";
  /** What the values are, with their unit. */
  value: { title: string; unit: string };
  /** What an array index stands for. */
  index?: string;
  /** Where the numbers come from; ends up in files. */
  source: Record<string, string>;
}

const POINTS = 600, BINS = 80;

export function SeriesChart({ path, array, title, kind, value: axis, index = "Index", source }: Props) {
  const [chosen, setChosen] = useState(kind);
  const points = chosen === "line" ? POINTS : BINS;
  return (
    <Shown of={useSeries(path, array, chosen, points)} what="the array">
      {(series) => (
        <Chart
          figure={seriesFigure(series, title, axis, index, source)}
          controls={<Select label="Form" value={chosen} options={["line", "histogram"]} onChoose={setChosen} />}
        />
      )}
    </Shown>
  );
}

/** An array reduced by the server. An outlier does not shrink the histogram of the other values. */
export const useSeries = (
  path: string,
  array: string | null,
  kind: Series["kind"],
  points: number,
  part: { stride?: number; offset?: number } = {},
) =>
  useFetched("/api/series", {
    query: { path, array, kind, points, range: kind === "line" ? null : "robust", ...part },
  });

/** The figure of a thinned array. */
function seriesFigure(
  series: Series,
  title: string,
  value: { title: string; unit: string },
  index: string,
  source: Record<string, string>,
): CurveFigure {
  const outside = Number(series.outside_count ?? 0), amount = valueText;
  const beyond = outside === 0 ? "" : ` · ${amount(outside)} far outside are left out`;
  const count = `${amount(Number(series.source_count))} values${beyond}`;
  const line = series.kind === "line";
  const points = series.y.map((y, at) => ({
    x: Number(series.x[at]),
    y: y === null ? null : Number(y),
    low: null,
    high: null,
  }));
  // The last edge closes the last bin.
  if (!line) points.push({ x: Number(series.x.at(-1)), y: Number(series.y.at(-1) ?? 0), low: null, high: null });
  return {
    form: "curves",
    type: line ? "series" : "histogram",
    title,
    subtitle: line ? count : `Histogram of ${count}`,
    source,
    x: line
      ? { title: index, unit: "", scale: "linear", domain: [0, Math.max(1, Number(series.source_count) - 1)] }
      : { ...value, scale: "linear", domain: null },
    y: line ? { ...value, scale: "linear", domain: null } : { title: "Count", unit: "", scale: "linear", domain: null },
    series: [{ label: series.array, kind: "measured", points }],
    step: !line,
    markers: line && points.length <= 60,
    front: null,
  };
}
