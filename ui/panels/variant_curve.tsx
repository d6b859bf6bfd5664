/** A metric over a dimension of a matrix, as far as its variants were run. */
import { isNumber, toNumber, type Value } from "../../lib/contract/value.ts";
import { useState } from "../preact.ts";
import { brief, type Metric } from "./matrix.tsx";
import type { Variant } from "../state/sequence.ts";

interface Props {
  dimensions: readonly string[];
  metrics: readonly Metric[];
  rows: readonly { variant: Variant; values: readonly (Value | undefined)[] }[];
}

interface Point {
  x: number;
  y: number;
  series: string;
}

const WIDTH = 560, HEIGHT = 240, LEFT = 64, RIGHT = 12, TOP = 12, BOTTOM = 34;

export function VariantCurve({ dimensions, metrics, rows }: Props) {
  const numeric = dimensions.filter((name) => rows.every(({ variant }) => isNumber(variant.selection[name])));
  const [over, setOver] = useState(""), [metric, setMetric] = useState(""), [log, setLog] = useState(false);
  const x = numeric.includes(over) ? over : numeric[0];
  const at = Math.max(0, metrics.findIndex(({ id }) => id === metric));
  const points: Point[] = x === undefined ? [] : rows.flatMap(({ variant, values }) => {
    const value = values[at];
    if (value === undefined || !isNumber(value)) return [];
    const series = dimensions.filter((name) => name !== x).map((name) => `${name} ${String(variant.selection[name])}`);
    return [{ x: toNumber(variant.selection[x] as number), y: toNumber(value), series: series.join(", ") }];
  });
  if (points.length < 2) return null;
  const positive = points.filter(({ y }) => y > 0), logged = log && positive.length > 1;
  const shown = logged ? positive : points;
  const scale = logged ? Math.log10 : (value: number) => value;
  const [x0, x1] = extent(shown.map(({ x }) => x)), [y0, y1] = extent(shown.map(({ y }) => scale(y)));
  const px = (value: number) => LEFT + (value - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT);
  const py = (value: number) => HEIGHT - BOTTOM - (scale(value) - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM);
  const series = [...new Set(shown.map(({ series }) => series))];
  const { id, unit } = metrics[at], title = `${id}${unit ? ` (${unit})` : ""} over ${x}`;
  const ticks = [0, 0.5, 1].map((part) => y0 + part * (y1 - y0)).map((tick) => logged ? 10 ** tick : tick);
  return (
    <figure class="chart">
      <div class="row">
        <label class="row small">
          Metric
          <select value={id} onChange={(event) => setMetric(event.currentTarget.value)}>
            {metrics.map(({ id }) => <option key={id} value={id}>{id}</option>)}
          </select>
        </label>
        <label class="row small">
          Over
          <select value={x} onChange={(event) => setOver(event.currentTarget.value)}>
            {numeric.map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
        </label>
        <label class="row small">
          <input type="checkbox" checked={log} onChange={(event) => setLog(event.currentTarget.checked)} />
          Logarithmic
        </label>
      </div>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} class="curve" role="img" aria-label={`${title}, ${shown.length} points`}>
        <path class="axis" d={`M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}`} />
        {ticks.map((tick) => <text key={tick} x={LEFT - 6} y={py(tick) + 4} text-anchor="end">{brief(tick)}</text>)}
        {[...new Set(shown.map(({ x }) => x))].map((value) => (
          <text key={value} x={px(value)} y={HEIGHT - BOTTOM + 16} text-anchor="middle">{brief(value)}</text>
        ))}
        {series.map((name, index) => {
          const own = shown.filter((point) => point.series === name).sort((a, b) => a.x - b.x);
          return (
            <g key={name} class={`series-${index % 5 + 1}`}>
              <polyline points={own.map((point) => `${px(point.x)},${py(point.y)}`).join(" ")} />
              {own.map((point) => (
                <circle key={point.x} cx={px(point.x)} cy={py(point.y)} r="4">
                  <title>{`${x} ${point.x}: ${point.y}${name === "" ? "" : ` (${name})`}`}</title>
                </circle>
              ))}
            </g>
          );
        })}
      </svg>
      <figcaption>
        {title}
        {series.length > 1 ? `; ${series.map((name, index) => `${index + 1}: ${name}`).join("; ")}` : ""}
        {logged && positive.length < points.length ? "; points at 0 are in the table alone" : ""}
      </figcaption>
    </figure>
  );
}

function extent(values: readonly number[]): [number, number] {
  const low = Math.min(...values), high = Math.max(...values);
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}
