/**
 * A curve in the size of a card: series over their intervals, theory dashed, values at the ends of the axes. The axis holds
 * all values; intervals widen it by at most the span of the values, and are cut at its ends.
 */
import { numberText } from "../../lib/figure/number_text.ts";
import { typesetDrawn } from "./typeset.tsx";
import type { CurveFigure, FigurePoint } from "../../lib/figure/types.ts";

const CARD = { width: 320, height: 120, left: 54, bottom: 30, top: 8, right: 8 };
const TALL: typeof CARD = { ...CARD, height: 206 };
/** Without texts. */
const ROW: typeof CARD = { width: 72, height: 46, left: 3, bottom: 3, top: 3, right: 3 };

interface Props {
  figure: Pick<CurveFigure, "series" | "x" | "y">;
  /** What the curve shows, for screen readers. */
  picture: string;
  /** The size of a row in a list, without texts. */
  small?: boolean;
  /** The height of a curve and a film. */
  tall?: boolean;
}

export function MiniCurve({ figure, picture, small = false, tall = false }: Props) {
  const { width: WIDTH, height: HEIGHT, left: LEFT, bottom: BOTTOM, top: TOP, right: RIGHT } = small
    ? ROW
    : tall
    ? TALL
    : CARD;
  const { series, x, y } = figure, log = y.scale === "log";
  const height = (value: number) => log ? Math.log10(Math.max(0, value)) : value;
  const points = series.flatMap(({ kind, points }) => kind === "theory" ? [] : points);
  const heights = (values: (number | null | undefined)[]) =>
    values.filter((value): value is number => value != null && (!log || value > 0)).map(height);
  const ys = heights(points.flatMap(({ y, bound }) => [y, bound]));
  const ends = heights(points.flatMap(({ low, high }) => [low, high]));
  const xs = points.map(({ x }) => x);
  const [left, right, least, most] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  // Equal values leave the axis to their intervals.
  const span = (most - least) / 2 || Infinity;
  const low = Math.max(least - span, Math.min(least, ...ends)), high = Math.min(most + span, Math.max(most, ...ends));
  const across = (value: number) => LEFT + (value - left) / (right - left || 1) * (WIDTH - LEFT - RIGHT);
  const up = (value: number) =>
    HEIGHT - BOTTOM -
    (Math.min(high, Math.max(low, height(value))) - low) / (high - low || 1) * (HEIGHT - TOP - BOTTOM);
  const inside = ({ x, y }: FigurePoint): boolean =>
    x >= left && x <= right && y !== null && (!log || y > 0) && height(y) >= low;
  const labels = series.filter(({ kind, label }) => kind !== "theory" && label !== y.title).map(({ label }) => label);
  const end = (value: number) => numberText(log ? 10 ** value : value, "unicode", 2);
  return (
    <svg class="mini-curve" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={picture}>
      <path class="axis-line" fill="none" d={`M${LEFT},${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}`} />
      {series.map(({ label, kind, points, joined = true }, at) => (
        <g key={label} data-series={kind === "theory" ? "theory" : at % 5 + 1}>
          {kind !== "theory" && points.map(({ x, low, high }) =>
            low !== null && high !== null && (!log || high > 0) && (
              <line key={x} x1={across(x)} x2={across(x)} y1={up(low)} y2={up(high)} />
            )
          )}
          {joined
            ? (
              <polyline
                points={points.filter(inside).map((point) => `${across(point.x).toFixed(1)},${up(point.y!).toFixed(1)}`)
                  .join(" ")}
              />
            )
            : points.filter(inside).map((point) => (
              <circle
                key={point.x}
                cx={across(point.x)}
                cy={up(point.y!)}
                r="2"
              />
            ))}
        </g>
      ))}
      {!small && (
        <>
          <text x={LEFT - 4} y={TOP + 8} text-anchor="end">{end(high)}</text>
          <text x={LEFT - 4} y={HEIGHT - BOTTOM} text-anchor="end">{end(low)}</text>
          <text x={LEFT} y={HEIGHT - BOTTOM + 12}>{left}</text>
          <text x={WIDTH - RIGHT} y={HEIGHT - BOTTOM + 12} text-anchor="end">{right}</text>
          <text x={(LEFT + WIDTH - RIGHT) / 2} y={HEIGHT - BOTTOM + 12} text-anchor="middle">
            {typesetDrawn(`${y.title} over ${x.title}`)}
          </text>
          <text x={(LEFT + WIDTH - RIGHT) / 2} y={HEIGHT - BOTTOM + 26} text-anchor="middle">
            {labels.join(", ")}
          </text>
        </>
      )}
    </svg>
  );
}
