/** A constellation: the two-dimensional histogram of the symbols of an artifact. */
import { numberText } from "../../lib/figure/number_text.ts";
import { valueText } from "../runs/metrics.ts";
import { useEffect, useRef, useState } from "../preact.ts";
import { STYLES } from "../../lib/figure/style.ts";
import type { Reply } from "../api.ts";
import { Table, Wait } from "../parts.tsx";
import { savePng, saveText } from "../state/files.ts";
import { densityColour, densityPixels } from "./density.ts";
import { useSeries } from "./series.tsx";
import { csvText } from "./csv.ts";

const CELLS = 160;
/** Sides of a square picture and the space of its axes, in units of the drawing. */
export const SIDE = 320, MARGIN = 40;
/** Size of the canvas; the style sheet scales it. */
export const PIXELS = 720;

interface Props {
  path: string;
  array: string | null;
  /** Every stride-th value from offset on; default all. */
  part?: { stride: number; offset: number };
  title: string;
  /** Source of the data, for saved files. */
  source: Record<string, string>;
}

export function Constellation({ path, array, part, title, source }: Props) {
  const { value, ...wait } = useSeries(path, array, "histogram_2d", CELLS * CELLS, part);
  const canvas = useRef<HTMLCanvasElement>(null), axes = useRef<SVGSVGElement>(null);
  const [asTable, setAsTable] = useState(false);
  const picture = value === null ? null : squared(value);
  useEffect(() => {
    if (picture === null || canvas.current === null) return;
    const began = performance.now();
    paint(canvas.current, picture);
    canvas.current.dataset.paintMs = String(performance.now() - began);
  }, [value, asTable]);
  if (picture === null) return <Wait of={wait} what="the symbols" />;
  const { low, high, count } = picture;
  const ticks = ticksOf(low, high), place = (at: number) => (at - low) / (high - low) * SIDE;
  const sentence = [
    `${valueText(count)} symbols between ${short(low)} and ${short(high)} on both axes, `,
    `${picture.filled} of ${CELLS * CELLS} cells hold some`,
    picture.outside === 0 ? "." : `; ${valueText(picture.outside)} lie far outside and are left out.`,
  ].join("");
  const name = title.replaceAll(/[^A-Za-z0-9]+/g, "-");
  return (
    <figure class="chart density">
      <div class="row spread chart-head">
        <p class="chart-title">{title}</p>
        <div class="row" role="group" aria-label={`Tools of ${title}`}>
          <button type="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>Table</button>
          <PictureFiles
            name={name}
            disabled={asTable}
            svg={() => pictureFile(axes.current!, canvas.current!, title, source)}
            csv={() => cellsCsv(picture)}
          />
        </div>
      </div>
      {asTable ? <Busiest histogram={picture} /> : (
        <div class="density-picture">
          <canvas ref={canvas} role="img" aria-label={`${title}. ${sentence}`} />
          <svg ref={axes} viewBox={`${-MARGIN} -8 ${SIDE + MARGIN + 12} ${SIDE + MARGIN + 8}`} aria-hidden="true">
            {ticks.map((tick) => (
              <g key={tick}>
                <line class="grid-line" x1={place(tick)} x2={place(tick)} y1={0} y2={SIDE} />
                <line class="grid-line" x1={0} x2={SIDE} y1={SIDE - place(tick)} y2={SIDE - place(tick)} />
                <text class="faint-text" x={place(tick)} y={SIDE + 14} text-anchor="middle">{short(tick)}</text>
                <text class="faint-text" x={-6} y={SIDE - place(tick) + 4} text-anchor="end">{short(tick)}</text>
              </g>
            ))}
            <text class="plain-text" x={SIDE / 2} y={SIDE + 32} text-anchor="middle">In phase</text>
            <text class="plain-text" transform={`translate(-30 ${SIDE / 2}) rotate(-90)`} text-anchor="middle">
              Quadrature
            </text>
          </svg>
        </div>
      )}
      <figcaption>{sentence} Colour: logarithm of the count.</figcaption>
    </figure>
  );
}

/** Paints the cells at their positions, without interpolation. */
function paint(canvas: HTMLCanvasElement, picture: Picture): void {
  const { counts, low, high, left, right, bottom, top, filled } = picture;
  const cells = new OffscreenCanvas(counts[0].length, counts.length);
  cells.getContext("2d")!.putImageData(new ImageData(densityPixels(counts), cells.width, cells.height), 0, 0);
  canvas.width = canvas.height = PIXELS;
  const context = canvas.getContext("2d")!, place = (at: number) => (at - low) / (high - low) * PIXELS;
  if (filled < FEW_CELLS) return paintDots(context, picture, place);
  context.imageSmoothingEnabled = false;
  context.drawImage(cells, place(left), PIXELS - place(top), place(right) - place(left), place(top) - place(bottom));
}

/** Draws each filled cell as a dot of its colour, so that a constellation without noise is visible. */
function paintDots(context: CanvasRenderingContext2D, picture: Picture, place: (at: number) => number): void {
  const most = Math.log1p(Math.max(...picture.counts.flat()));
  for (const { amount, i, q } of cellsOf(picture)) {
    context.fillStyle = `rgb(${densityColour(Math.log1p(amount) / most).join(" ")})`;
    context.beginPath();
    context.arc(place(i), PIXELS - place(q), DOT, 0, 2 * Math.PI);
    context.fill();
  }
}

/** Number of filled cells below which they are drawn as dots, and the radius of a dot. */
const FEW_CELLS = 200, DOT = 8;

interface Picture {
  low: number;
  high: number;
  /** Limits of the counted range. */
  left: number;
  right: number;
  bottom: number;
  top: number;
  counts: number[][];
  count: number;
  filled: number;
  /** Outliers, which are not drawn. */
  outside: number;
}

/** Equal axes centred at 0, so that the constellation is not distorted. */
function squared({ x, y, counts, source_count, outside_count = 0 }: Reply<"/api/series">): Picture {
  const [left, right, bottom, top] = [x[0], x.at(-1), y[0], y.at(-1)].map(Number);
  const reach = Math.max(Math.abs(left), Math.abs(right), Math.abs(bottom), Math.abs(top), 1e-9) * 1.05;
  const numbers = counts!.map((row) => row.map(Number));
  return {
    low: -reach,
    high: reach,
    left,
    right,
    bottom,
    top,
    counts: numbers,
    count: Number(source_count),
    outside: Number(outside_count),
    filled: numbers.flat().filter((amount) => amount > 0).length,
  };
}

/** The filled cells with their centres. */
function cellsOf({ left, right, bottom, top, counts }: Picture): { amount: number; i: number; q: number }[] {
  const across = (right - left) / counts[0].length, up = (top - bottom) / counts.length;
  return counts.flatMap((row, j) =>
    row.map((amount, i) => ({ amount, i: left + (i + 0.5) * across, q: bottom + (j + 0.5) * up }))
  ).filter(({ amount }) => amount > 0);
}

const cellsCsv = (picture: Picture): string =>
  csvText({
    columns: ["in_phase", "quadrature", "count"],
    rows: cellsOf(picture).map(({ i, q, amount }) => [i, q, amount].map(String)),
  });

/** Paint that a drawing has from the style sheet, which a file lacks. */
const PAINT = ["fill", "stroke", "stroke-opacity", "font-size", "font-weight"];

/** Gives the parts of a copy the paint of the original in the light theme. */
function painted(original: SVGSVGElement, copy: SVGSVGElement): void {
  const root = document.documentElement, before = root.dataset.theme, copies = copy.querySelectorAll("*");
  root.dataset.theme = "light";
  for (const [at, part] of original.querySelectorAll("*").entries()) {
    const style = getComputedStyle(part);
    for (const name of PAINT) copies[at].setAttribute(name, style.getPropertyValue(name));
    if (part.localName === "text") copies[at].setAttribute("font-family", STYLES.svc.font);
  }
  if (before === undefined) delete root.dataset.theme;
  else root.dataset.theme = before;
}

/** A drawing as a file, over an image of the cells where there is one, with dark texts on white. */
export function pictureFile(
  axes: SVGSVGElement,
  canvas: HTMLCanvasElement | null,
  title: string,
  source: Record<string, string>,
): string {
  const copy = axes.cloneNode(true) as SVGSVGElement, { background } = STYLES.svc;
  painted(axes, copy);
  const make = (name: string, attributes: Record<string, string>, text = "") => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    return node;
  };
  const [x, y, width, height] = copy.getAttribute("viewBox")!.split(" ");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const said = Object.entries(source).map(([key, value]) => `${key}: ${value}`).join("; ");
  copy.prepend(
    make("title", {}, title),
    make("desc", {}, said),
    make("rect", { x, y, width, height, fill: background }),
    ...(canvas === null ? [] : [
      make("image", {
        x: "0",
        y: "0",
        width: String(SIDE),
        height: String(SIDE),
        href: canvas.toDataURL("image/png"),
      }),
    ]),
  );
  return new XMLSerializer().serializeToString(copy);
}

/** Buttons for the files of a drawing over a canvas. */
export const PictureFiles = (
  { name, disabled = false, svg, csv }: { name: string; disabled?: boolean; svg(): string; csv?(): string },
) => (
  <>
    <button
      type="button"
      disabled={disabled}
      onClick={() => saveText(svg(), `${name}.svg`, "image/svg+xml")}
    >
      SVG
    </button>
    <button type="button" disabled={disabled} onClick={() => void savePng(svg(), name)}>PNG</button>
    {csv !== undefined && (
      <button
        type="button"
        onClick={() => saveText(csv(), `${name}.csv`, "text/csv")}
      >
        CSV
      </button>
    )}
  </>
);

export const short = (value: number) => numberText(value, "unicode", 3);

/** Round tick values. */
export function ticksOf(low: number, high: number): number[] {
  const raw = (high - low) / 6, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((candidate) => candidate >= raw)!;
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) ticks.push(k * step + 0);
  return ticks;
}

function Busiest({ histogram }: { histogram: Picture }) {
  const { count } = histogram;
  const cells = cellsOf(histogram).sort((a, b) => b.amount - a.amount).slice(0, 16);
  return (
    <Table
      rows={cells}
      columns={[
        ["In phase", ({ i }) => short(i), "number mono"],
        ["Quadrature", ({ q }) => short(q), "number mono"],
        ["Count", ({ amount }) => amount, "number mono"],
        ["Share", ({ amount }) => `${short(100 * amount / count)} %`, "number mono"],
      ]}
    />
  );
}
