/** The legend of a figure: a click hides a series, a double click hides all others. */
import { SIGNS, signsOf } from "../../lib/figure/legend.ts";
import { estimateText, numberText } from "../../lib/figure/number_text.ts";
import { type FigureStyle, type SeriesLook, seriesLooks, theoryWidth } from "../../lib/figure/style.ts";
import type { CurveFigure, FigurePoint } from "../../lib/figure/types.ts";
import type { PlotFrame } from "../../lib/figure/svg.ts";
import { useEffect, useRef } from "../preact.ts";
import { pointAt, shareOf } from "./reading.ts";

interface Props {
  figure: CurveFigure;
  style: FigureStyle;
  /** Position of the crosshair; null without one. */
  place: number | null;
  onToggle(label: string): void;
  onIsolate(label: string): void;
}

const WIDTH = 28, HEIGHT = 14;

/** Outlines of the markers in the square from -4 to 4. */
const MARKERS: Record<string, string> = {
  circle: "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
  square: "M-3.5,-3.5h7v7h-7Z",
  "triangle-up": "M0,-4L4,3.5H-4Z",
  diamond: "M0,-4.5L3.5,0L0,4.5L-3.5,0Z",
  cross: "M-1.4,-4h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6Z",
  "triangle-right": "M4,0L-3.5,4V-4Z",
};

export function Legend({ figure, style, place, onToggle, onIsolate }: Props) {
  const { series } = figure;
  const looks = seriesLooks(series.map(({ kind }) => kind), style), plain = figure.step || figure.markers === false;
  const signs = signsOf(figure);
  return (
    <div class="chart-legend" role="group" aria-label="Series">
      <p class="small muted chart-place">
        {place === null ? "" : `${figure.x.title} ${numberText(place, "unicode")}${unitText(figure.x.unit)}`}
      </p>
      <ul>
        {series.map((one, index) => (
          <li key={one.label}>
            <button
              type="button"
              class="quiet"
              aria-pressed={one.hidden !== true}
              title="Click to hide or show, double click to show this one alone"
              onClick={() => onToggle(one.label)}
              onDblClick={() => onIsolate(one.label)}
              onKeyDown={(event) => {
                if (event.key !== "Enter" || !event.shiftKey) return;
                event.preventDefault();
                onIsolate(one.label);
              }}
            >
              <Swatch
                look={looks[index]}
                style={style}
                theory={one.kind === "theory"}
                plain={plain}
                joined={one.kind === "theory" || (figure.joined !== false && one.joined !== false)}
              />
              <span class="chart-label">{one.label}</span>
            </button>
            <span class="mono small chart-value">
              {place !== null && one.hidden !== true ? valueText(pointAt(one, place, figure), figure.y.unit) : ""}
            </span>
          </li>
        ))}
        {signs.map(([sign, text]) => (
          <li key={sign} class="chart-sign small">
            <svg
              viewBox={`${-WIDTH / 2} ${-HEIGHT / 2} ${WIDTH} ${HEIGHT}`}
              width={WIDTH}
              height={HEIGHT}
              aria-hidden="true"
            >
              <path
                d={SIGNS[sign]}
                transform={sign === "front" || sign === "guide" ? "scale(4)" : "scale(5)"}
                fill="none"
                stroke={sign === "front" ? style.grid : style.ink}
                stroke-width={sign === "front" ? 1.2 : 0.3}
                stroke-dasharray={sign === "guide" ? "1 1" : undefined}
              />
            </svg>
            {text}
          </li>
        ))}
      </ul>
      {series.some(({ hidden }) => hidden) && <button type="button" onClick={() => onIsolate("")}>Show all</button>}
    </div>
  );
}

interface LoneProps {
  figure: CurveFigure;
  style: FigureStyle;
  frame: PlotFrame | null;
  size: { width: number; height: number };
  place: number | null;
}

/** Width and height of a legend inside, in parts of the plot. */
const INSIDE = [0.42, 0.2] as const;

/** The legend of a single series, in the corner of the plot that has the fewest points. */
export function LoneLegend({ figure, style, frame, size, place }: LoneProps) {
  const box = useRef<HTMLParagraphElement>(null), [series] = figure.series;
  const [look] = seriesLooks([series.kind], style), { left, top, width, height } = frame!;
  const shares = series.points.flatMap(({ x, y }) =>
    y === null ? [] : [[shareOf(x, figure.x, frame!.x), shareOf(y, figure.y, frame!.y)] as const]
  );
  const corners = [[1, 1], [0, 1], [1, 0], [0, 0]] as const;
  const inside = ([right, upper]: typeof corners[number]) =>
    shares.filter(([x, y]) => Math.abs(x - right) < INSIDE[0] && Math.abs(y - upper) < INSIDE[1]).length;
  const [right, upper] = corners.toSorted((a, b) => inside(a) - inside(b))[0];
  // Lengths go through the object model: the content policy refuses style attributes.
  useEffect(() => {
    const { style } = box.current!, share = (length: number, of: number) => `${100 * length / of}%`;
    style.left = right === 0 ? share(left, size.width) : "auto";
    style.right = right === 1 ? share(size.width - left - width, size.width) : "auto";
    style.top = upper === 1 ? share(top, size.height) : "auto";
    style.bottom = upper === 0 ? share(size.height - top - height, size.height) : "auto";
  });
  return (
    <p class="chart-inside small" ref={box}>
      <Swatch
        look={look}
        style={style}
        theory={series.kind === "theory"}
        plain={figure.step || figure.markers === false}
        joined={figure.joined !== false}
      />
      {series.label}
      {place !== null && (
        <span class="mono">
          {numberText(place, "unicode")}
          {unitText(figure.x.unit)}: {valueText(pointAt(series, place, figure), figure.y.unit)}
        </span>
      )}
    </p>
  );
}

function Swatch(
  { look: { color, dash, marker }, style, theory, plain, joined }: {
    look: SeriesLook;
    style: FigureStyle;
    theory: boolean;
    plain: boolean;
    joined: boolean;
  },
) {
  return (
    <svg viewBox={`${-WIDTH / 2} ${-HEIGHT / 2} ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
      {joined && (
        <path
          d={`M${-WIDTH / 2 + 1},0H${WIDTH / 2 - 1}`}
          stroke={color}
          stroke-width={theory ? theoryWidth(style) : style.line_width}
          stroke-dasharray={dash[1] === 0 ? undefined : dash.join(" ")}
        />
      )}
      {!plain && marker !== null && <path d={MARKERS[marker]} fill={color} />}
    </svg>
  );
}

const valueText = (point: FigurePoint | null, unit: string) => point === null ? "" : pointText(point, unit);

export const unitText = (unit: string): string => unit === "" ? "" : ` ${unit}`;

/** The value of a point, or its bound. */
export function pointText(point: FigurePoint | null, unit: string): string {
  if (point === null) return "–";
  if (point.y === null) {
    const { y, bound, none } = point;
    return estimateText({ mean: y, low: null, high: null, bound, none }, "unicode", unit);
  }
  return `${numberText(point.y, "unicode")}${unitText(unit)}`;
}
