/** A metric over a dimension of a matrix, of the variants that were run. */
import { isNumber, toNumber, type Value } from "../../lib/contract/value.ts";
import type { CurveFigure } from "../../lib/figure/types.ts";
import { Select } from "../parts.tsx";
import { lazy, Suspense, useState } from "../preact.ts";
import type { Variant } from "../state/sequence.ts";
import type { Metric } from "./headline.ts";

const Chart = lazy(() => import("../charts/chart.tsx").then(({ Chart }) => Chart));

interface Props {
  dimensions: readonly string[];
  metrics: readonly Metric[];
  rows: readonly { variant: Variant; values: readonly (Value | undefined)[] }[];
}

export function VariantCurve({ dimensions, metrics, rows }: Props) {
  const [over, setOver] = useState(""), [metric, setMetric] = useState("");
  const numeric = dimensions.filter((name) => rows.every(({ variant }) => isNumber(variant.selection[name])));
  const x = numeric.includes(over) ? over : numeric[0];
  const at = Math.max(0, metrics.findIndex(({ id }) => id === metric));
  const series = new Map<string, { x: number; y: number; low: null; high: null }[]>();
  for (const { variant: { selection }, values } of x === undefined ? [] : rows) {
    const value = values[at];
    if (value === undefined || !isNumber(value)) continue;
    const others = dimensions.filter((name) => name !== x).map((name) => `${name} ${String(selection[name])}`);
    const label = others.join(", ") || metrics[at].id;
    const point = { x: toNumber(selection[x] as number), y: toNumber(value), low: null, high: null };
    series.set(label, [...series.get(label) ?? [], point]);
  }
  if ([...series.values()].flat().length < 2) return null;
  const { id, unit } = metrics[at];
  const figure: CurveFigure = {
    form: "curves",
    type: "error-rate",
    title: `${id} over ${x}`,
    subtitle: "",
    source: {},
    x: { title: x, unit: "", scale: "linear", domain: null },
    y: { title: id, unit: unit ?? "", scale: "linear", domain: null },
    series: [...series].map(([label, points]) => ({
      label,
      kind: "measured",
      points: points.sort((a, b) => a.x - b.x),
    })),
    step: false,
    front: null,
  };
  return (
    <Suspense fallback={<p class="muted" aria-busy="true">Loading the figure</p>}>
      <Chart
        figure={figure}
        controls={
          <>
            <Select label="Metric" value={id} options={metrics.map(({ id }) => id)} onChoose={setMetric} />
            <Select label="Over" value={x} options={numeric} onChoose={setOver} />
          </>
        }
      />
    </Suspense>
  );
}
