/** The overlay of a plot: a crosshair by pointer or arrow keys, and a zoom box. */
import { numberText } from "../../lib/figure/number_text.ts";
import type { PlotFrame } from "../../lib/figure/svg.ts";
import type { CurveFigure } from "../../lib/figure/types.ts";
import { useState } from "../preact.ts";
import { pointText, unitText } from "./legend.tsx";
import { boxOf, nearest, placesOf, pointAt, shareOf, valueAt, zoomedEnds } from "./reading.ts";

export interface Zoom {
  x: [number, number];
  y: [number, number];
}

interface Props {
  figure: CurveFigure;
  frame: PlotFrame;
  /** Size of the view box. */
  size: { width: number; height: number };
  place: number | null;
  zoomed: boolean;
  onPlace(place: number | null): void;
  onZoom(zoom: Zoom | null): void;
}

interface Spot {
  x: number;
  y: number;
}

const CLOSER = 1.5, MARK = 4;

export function PlotTools({ figure, frame, size, place, zoomed, onPlace, onZoom }: Props) {
  const [from, setFrom] = useState<Spot | null>(null), [to, setTo] = useState<Spot | null>(null);
  const { left, top, width, height } = frame;
  const places = placesOf(figure, frame.x);
  const spotOf = (event: PointerEvent): Spot => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return {
      x: (event.clientX - box.left) / box.width * size.width,
      y: (event.clientY - box.top) / box.height * size.height,
    };
  };
  const isInside = ({ x, y }: Spot) => x >= left && x <= left + width && y >= top && y <= top + height;
  const move = (event: PointerEvent) => {
    const spot = spotOf(event);
    if (from !== null) setTo(spot);
    else if (!isInside(spot)) onPlace(null);
    else onPlace(nearest(places, valueAt((spot.x - left) / width, figure.x, frame.x)));
  };
  const press = (event: PointerEvent) => {
    const spot = spotOf(event);
    if (event.button !== 0 || event.pointerType === "touch" || !isInside(spot)) return;
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    setFrom(spot);
    setTo(spot);
  };
  const release = () => {
    if (from !== null && to !== null) {
      const zoom = boxOf(frame, figure, from, to);
      if (zoom !== null) onZoom(zoom);
    }
    setFrom(null);
    setTo(null);
  };
  const key = (event: KeyboardEvent) => {
    const at = place === null ? -1 : places.indexOf(place);
    const next = {
      ArrowRight: Math.min(places.length - 1, at + 1),
      ArrowLeft: at < 0 ? places.length - 1 : Math.max(0, at - 1),
      Home: 0,
      End: places.length - 1,
    }[event.key];
    if (next !== undefined && places.length > 0) onPlace(places[next]);
    else if (event.key === "+" || event.key === "-") {
      const factor = event.key === "+" ? CLOSER : 1 / CLOSER, x = place ?? valueAt(0.5, figure.x, frame.x);
      const read = place === null ? null : firstValue(figure, place);
      const y = read ?? valueAt(0.5, figure.y, frame.y);
      onZoom({ x: zoomedEnds(x, factor, figure.x, frame.x), y: zoomedEnds(y, factor, figure.y, frame.y) });
    } else if (event.key === "0" || event.key === "Escape") {
      if (zoomed) onZoom(null);
      else if (place !== null) onPlace(null);
      else return;
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const at = place === null ? null : left + shareOf(place, figure.x, frame.x) * width;
  const marks = place === null ? [] : figure.series.filter(({ hidden }) => hidden !== true).flatMap((series) => {
    const value = pointAt(series, place, figure)?.y ?? null;
    const share = value === null ? NaN : shareOf(value, figure.y, frame.y);
    return share >= 0 && share <= 1 ? [{ label: series.label, y: top + (1 - share) * height }] : [];
  });
  return (
    <div
      class="plot-tools"
      role="slider"
      tabIndex={0}
      aria-label={`Crosshair of ${figure.title}; plus and minus zoom, 0 resets`}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, places.length - 1)}
      aria-valuenow={place === null ? 0 : Math.max(0, places.indexOf(place))}
      aria-valuetext={readout(figure, place)}
      onPointerMove={move}
      onPointerDown={press}
      onPointerUp={release}
      onPointerCancel={release}
      onPointerLeave={() => from === null && onPlace(null)}
      onDblClick={() => onZoom(null)}
      onKeyDown={key}
    >
      <svg viewBox={`0 0 ${size.width} ${size.height}`} aria-hidden="true">
        {at !== null && at >= left && at <= left + width && (
          <g class="crosshair">
            <path d={`M${at},${top}V${top + height}`} />
            {marks.map(({ label, y }) => <circle key={label} cx={at} cy={y} r={MARK} />)}
          </g>
        )}
        {from !== null && to !== null && (
          <rect
            class="zoom-box"
            x={Math.min(from.x, to.x)}
            y={Math.min(from.y, to.y)}
            width={Math.abs(to.x - from.x)}
            height={Math.abs(to.y - from.y)}
          />
        )}
      </svg>
    </div>
  );
}

function firstValue(figure: CurveFigure, place: number): number | null {
  for (const series of figure.series) {
    const value = series.hidden ? null : pointAt(series, place, figure)?.y;
    if (value !== null && value !== undefined) return value;
  }
  return null;
}

/** The values at the crosshair as a text. */
function readout(figure: CurveFigure, place: number | null): string {
  if (place === null) return "No place chosen; arrows move along the axis";
  const values = figure.series.filter(({ hidden }) => hidden !== true).flatMap((series) => {
    const point = pointAt(series, place, figure);
    return point === null ? [] : [`${series.label} ${pointText(point, figure.y.unit)}`];
  });
  return `${figure.x.title} ${numberText(place, "unicode")}${unitText(figure.x.unit)}: ${
    values.join(", ") || "no value"
  }`;
}
