/** An array as a line over its index, or as a histogram; thinned by the server. */
import { useState } from "../preact.ts";
import type { CurveFigure } from "../../lib/figure/types.ts";
import { get, seriesAddress, useLoaded } from "../runs/fetch_artifact.ts";
import { Chart } from "./chart.tsx";

interface Series {
  kind: "line" | "histogram";
  array: string;
  x: number[];
  y: (number | null)[];
  source_count: number;
  outside_count?: number;
}

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
  const address = seriesAddress(path, array, chosen, chosen === "line" ? POINTS : BINS);
  const { value, problem } = useLoaded((signal) => get<Series>(address, signal), address);
  if (problem !== null) return <p class="notice" data-tone="warn">{problem}</p>;
  if (value === null) return <p class="muted" aria-busy="true">Reading the array</p>;
  return (
    <Chart
      figure={seriesFigure(value, title, axis, index, source)}
      controls={
        <label class="row">
          Form
          <select value={chosen} onChange={(event) => setChosen(event.currentTarget.value as typeof chosen)}>
            <option value="line">line</option>
            <option value="histogram">histogram</option>
          </select>
        </label>
      }
    />
  );
}

/** The figure of a thinned array. */
function seriesFigure(
  series: Series,
  title: string,
  value: { title: string; unit: string },
  index: string,
  source: Record<string, string>,
): CurveFigure {
  const outside = Number(series.outside_count ?? 0), amount = (value: number) => value.toLocaleString("en");
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
