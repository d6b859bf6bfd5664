/** A map of values: cells in viridis over two axes, true places as circles and estimates as crosses, with picture files. */
import { useEffect, useRef } from "../preact.ts";
import { csvText } from "./csv.ts";
import { MARGIN, pictureFile, PictureFiles, short, SIDE, ticksOf } from "./density.tsx";
import { LINEAR_DB, shares } from "./maps.ts";
import { paintPower } from "./power_canvas.ts";
import { MARKS } from "./range_doppler.ts";

/** Ends of an axis: the low edge of the first cell and the high edge of the last one. */
export interface MapAxis {
  title: string;
  low: number;
  high: number;
}

interface Props {
  title: string;
  /** What is seen, for a caption and for screen readers. */
  sentence: string;
  source: Record<string, string>;
  /** Cells [y, x], the lowest y first. */
  cells: Float64Array;
  x: MapAxis;
  y: MapAxis;
  columns: number;
  /** Level of the darkest colour below the largest power in dB; null for values on a linear scale. */
  deepest: number | null;
  marks?: readonly { x: number; y: number; role: keyof typeof MARKS }[];
}

export function PowerMap({ title, sentence, source, cells, x, y, columns, deepest, marks = [] }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null), axes = useRef<SVGSVGElement>(null);
  const known = cells.filter(Number.isFinite), low = Math.min(...known), high = Math.max(...known);
  useEffect(() => {
    const power = deepest === null ? shares(cells, low, high) : cells;
    paintPower(
      canvas.current!,
      { power, columns },
      { bottom: 0, left: 0, rows: cells.length / columns, columns },
      deepest ?? LINEAR_DB,
    );
  }, [cells, deepest]);
  const across = (at: number) => (at - x.low) / (x.high - x.low) * SIDE;
  const up = (at: number) => SIDE - (at - y.low) / (y.high - y.low) * SIDE;
  const colours = deepest === null
    ? `Colour: ${short(low)} (dark) to ${short(high)} (bright).`
    : `Colour: power from ${deepest} dB below the largest (dark) to the largest (bright).`;
  return (
    <figure class="chart density">
      <div class="row spread chart-head">
        <p class="chart-title">{title}</p>
        <div class="row" role="group" aria-label={`Tools of ${title}`}>
          <PictureFiles
            name={title.replaceAll(/[^A-Za-z0-9]+/g, "-")}
            svg={() => pictureFile(axes.current!, canvas.current!, title, source)}
            csv={() => {
              const rows = cells.length / columns,
                middle = ({ low, high }: MapAxis, at: number, count: number) => low + (at + 0.5) * (high - low) / count;
              return csvText({
                columns: [x.title, y.title, "value"],
                rows: Array.from(cells, (value, at) =>
                  [middle(x, at % columns, columns), middle(y, Math.floor(at / columns), rows), value].map(String)),
              });
            }}
          />
        </div>
      </div>
      <div class="density-picture">
        <canvas ref={canvas} role="img" aria-label={`${title}. ${sentence}`} />
        <svg ref={axes} viewBox={`${-MARGIN} -8 ${SIDE + MARGIN + 12} ${SIDE + MARGIN + 8}`} aria-hidden="true">
          {ticksOf(x.low, x.high).map((tick) => (
            <text key={`x${tick}`} class="faint-text" x={across(tick)} y={SIDE + 14} text-anchor="middle">
              {short(tick)}
            </text>
          ))}
          {ticksOf(y.low, y.high).map((tick) => (
            <text key={`y${tick}`} class="faint-text" x={-6} y={up(tick) + 4} text-anchor="end">{short(tick)}</text>
          ))}
          {marks.map(({ x, y, role }) => (
            <path
              key={`${role} ${x} ${y}`}
              d={role === "target"
                ? `M${across(x) - 8} ${up(y)}a8 8 0 1 0 16 0a8 8 0 1 0 -16 0`
                : `M${across(x) - 5} ${up(y) - 5}l10 10m0 -10l-10 10`}
              fill="none"
              stroke={MARKS[role]}
              stroke-width={2}
            />
          ))}
          <text class="plain-text" x={SIDE / 2} y={SIDE + 32} text-anchor="middle">{x.title}</text>
          <text class="plain-text" transform={`translate(-30 ${SIDE / 2}) rotate(-90)`} text-anchor="middle">
            {y.title}
          </text>
        </svg>
      </div>
      <figcaption>{sentence} {colours}</figcaption>
    </figure>
  );
}
