/** A figure with what belongs to it: a crosshair, a legend that hides, parts of it, a sentence, a table, and files. */
import { levelEntries } from "../../lib/figure/levels_spec.ts";
import { figureSpec } from "../../lib/figure/spec.ts";
import type { FigureStyle } from "../../lib/figure/style.ts";
import type { PlotFrame } from "../../lib/figure/svg.ts";
import { textWidth } from "../../lib/figure/text_width.ts";
import type { CurveFigure, Figure, FigureSpec, LevelFigure, MatrixFigure } from "../../lib/figure/types.ts";
import { type ComponentChildren, useEffect, useMemo, useRef, useState } from "../preact.ts";
import { saveAs, saveText } from "../runs/fetch_artifact.ts";
import { Legend } from "./legend.tsx";
import { fileStyle, isNarrow, screenStyle, useDark } from "./page_style.ts";
import { PlotTools, type Zoom } from "./plot_tools.tsx";
import { csvText, figureSentence, figureTable } from "./table.ts";

interface Props {
  figure: Figure;
  controls?: ComponentChildren;
}

/** Of an entry of the legend beside its label: the sample of its line, and the value that the crosshair reads. */
const LEGEND_SAMPLE = 56, LEGEND_VALUE = 84, LEGEND_MOST = 340;

interface Drawn {
  svg: string;
  frame: PlotFrame | null;
  size: { width: number; height: number };
}

export function Chart({ figure, controls }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0), [drawn, setDrawn] = useState<Drawn | null>(null);
  const [problem, setProblem] = useState<string | null>(null), [asTable, setAsTable] = useState(false);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set()), [zoom, setZoom] = useState<Zoom | null>(null);
  const [scale, setScale] = useState<Partial<Record<"x" | "y", "linear" | "log">>>({});
  const [cells, setCells] = useState<MatrixFigure["cells"]>("counts");
  const [place, setPlace] = useState<number | null>(null);
  const dark = useDark();
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width / 20) * 20));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  // A part of a figure means nothing in another one.
  useEffect(() => {
    setZoom(null);
    setPlace(null);
  }, [figure.title, figure.subtitle, scale]);

  const shown = useMemo(() => adapted(figure, { hidden, scale, cells, zoom }), [figure, hidden, scale, cells, zoom]);
  const style = useMemo(() => screenStyle(width, legendWidth(figure), dark), [width, figure, dark]);
  const key = JSON.stringify(shown) + style.name + width;
  useEffect(() => {
    if (width === 0) return;
    let wanted = true;
    draw(figureSpec(shown, style), style).then((made) => {
      if (!wanted) return;
      setDrawn(made);
      setProblem(null);
    }, (error) => wanted && setProblem((error as Error).message));
    return () => wanted = false;
  }, [key]);

  const table = useMemo(() => figureTable(shown), [shown]), name = fileName(figure);
  const inFile = async () => {
    const chosen = fileStyle(style);
    return (await draw(figureSpec(shown, chosen), chosen)).svg;
  };
  const curves = shown.form === "curves" ? shown : null;
  const toggle = (label: string) => {
    const next = new Set(hidden);
    if (!next.delete(label)) next.add(label);
    setHidden(next);
  };
  const isolate = (label: string) => {
    const others = figure.form === "curves" && label !== "" ? figure.series.filter((one) => one.label !== label) : [];
    setHidden(new Set(others.map(({ label }) => label)));
  };
  return (
    <figure class="chart" ref={box} data-narrow={isNarrow(width)}>
      <div class="row spread chart-head">
        <p class="chart-title">{figure.title}</p>
        <div class="row" role="group" aria-label={`Tools of ${figure.title}`}>
          {zoom !== null && <button type="button" class="quiet" onClick={() => setZoom(null)}>Reset zoom</button>}
          <button type="button" class="quiet" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>Table</button>
          <button
            type="button"
            class="quiet"
            onClick={async () => saveText(await inFile(), `${name}.svg`, "image/svg+xml")}
          >
            SVG
          </button>
          <button type="button" class="quiet" onClick={async () => savePng(await inFile(), name)}>PNG</button>
          <button type="button" class="quiet" onClick={() => saveText(csvText(table), `${name}.csv`, "text/csv")}>
            CSV
          </button>
        </div>
      </div>
      <div class="row chart-tools">
        {controls}
        {figure.form === "curves" && figure.joined !== false &&
          (["y", "x"] as const).filter((axis) => mayBeLogarithmic(figure, axis)).map((axis) => (
            <label class="row" key={axis}>
              {axis === "y" ? "Axis" : "x axis"}
              <select
                value={scale[axis] ?? figure[axis].scale}
                onChange={(event) =>
                  setScale({ ...scale, [axis]: event.currentTarget.value as "linear" | "log" })}
              >
                <option value="linear">linear</option>
                <option value="log">logarithmic</option>
              </select>
            </label>
          ))}
        {figure.form === "matrix" && (
          <div class="row" role="group" aria-label="Cells">
            {([["counts", "counts"], ["rows", "row %"], ["columns", "column %"]] as const).map(([id, label]) => (
              <button
                key={id}
                type="button"
                aria-pressed={cells === id}
                onClick={() => setCells(id)}
              >
                {label}
              </button>
            ))}
          </div>
        )}
      </div>
      {problem !== null && <p class="notice" data-tone="error">Cannot draw the figure: {problem}</p>}
      {asTable
        ? <FigureTableView table={table} title={figure.title} />
        : drawn === null
        ? problem === null && <p class="muted chart-wait" aria-busy="true">Drawing</p>
        : (
          <div class="chart-body">
            <div class="chart-picture">
              <div class="chart-plot">
                <Picture svg={drawn.svg} name={`${shown.title}. ${figureSentence(shown)}`} />
                {curves !== null && drawn.frame !== null && (
                  <PlotTools
                    figure={curves}
                    frame={drawn.frame}
                    size={drawn.size}
                    place={place}
                    zoomed={zoom !== null}
                    onPlace={setPlace}
                    onZoom={setZoom}
                  />
                )}
              </div>
            </div>
            {curves !== null && (
              <Legend figure={curves} style={style} place={place} onToggle={toggle} onIsolate={isolate} />
            )}
            {shown.form === "levels" && <LevelLegend figure={shown} style={style} />}
          </div>
        )}
      <figcaption>
        {figure.subtitle !== "" && <span class="chart-subtitle">{`${figure.subtitle}. `}</span>}
        {figureSentence(shown)}
      </figcaption>
    </figure>
  );
}

function FigureTableView(
  { table: { columns, rows }, title }: { table: ReturnType<typeof figureTable>; title: string },
) {
  return (
    <div class="scroll-x tall" tabIndex={0} role="region" aria-label={`Table of ${title}`}>
      <table>
        <thead>
          <tr>{columns.map((column) => <th key={column}>{column}</th>)}</tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_ROWS).map((row, index) => (
            <tr key={index}>{row.map((cell, at) => <td key={at} class="mono">{cell}</td>)}</tr>
          ))}
        </tbody>
      </table>
      {rows.length > MOST_ROWS && (
        <p class="muted">The first {MOST_ROWS} of {rows.length} rows; the CSV file has all.</p>
      )}
    </div>
  );
}

const MOST_ROWS = 2000;

/** Vega's picture, parsed and put into the document: it has no scripts, and its style attributes would be refused. */
function Picture({ svg, name }: { svg: string; name: string }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const parsed = new DOMParser().parseFromString(svg.replaceAll(/ style="[^"]*"/g, ""), "image/svg+xml");
    const root = document.importNode(parsed.documentElement, true);
    // One picture with one name: what its parts are is in the table.
    for (const part of root.querySelectorAll("[role], [aria-roledescription]")) {
      part.removeAttribute("role");
      part.removeAttribute("aria-roledescription");
    }
    // A browser would show it as a tip over the whole picture.
    root.querySelector(":scope > title")?.remove();
    root.setAttribute("role", "img");
    root.setAttribute("aria-label", name);
    place.current!.replaceChildren(root);
  }, [svg, name]);
  return <div class="chart-svg" ref={place} />;
}

function LevelLegend({ figure, style }: { figure: LevelFigure; style: FigureStyle }) {
  return (
    <div class="chart-legend">
      <ul>
        {levelEntries(figure, style).map(({ label, color, line }) => (
          <li key={label} class="chart-sign">
            <svg viewBox="0 0 28 14" width={28} height={14} aria-hidden="true">
              {line
                ? <path d="M1,7H27" stroke={color} stroke-width={style.line_width} stroke-dasharray="6 3" />
                : <rect x={4} y={2} width={20} height={10} fill={color} />}
            </svg>
            {label}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface View {
  hidden: ReadonlySet<string>;
  scale: Partial<Record<"x" | "y", "linear" | "log">>;
  cells: MatrixFigure["cells"];
  zoom: Zoom | null;
}

/** A figure with the axes that were chosen, the part that is looked at, and without the series that were put away. */
function adapted(figure: Figure, { hidden, scale, cells, zoom }: View): Figure {
  if (figure.form === "matrix") return { ...figure, cells };
  if (figure.form !== "curves") return figure;
  const axis = (name: "x" | "y") => {
    const chosen = scale[name] ?? figure[name].scale;
    const domain = zoom?.[name] ?? (chosen === figure[name].scale ? figure[name].domain : null);
    return { ...figure[name], scale: chosen, domain };
  };
  const series = figure.series.map((one) => hidden.has(one.label) ? { ...one, hidden: true } : one);
  return { ...figure, series, x: axis("x"), y: axis("y") };
}

/** Whether decades of an axis say more than its values: no decibels, no signs, and for x a range of some size. */
function mayBeLogarithmic({ series, ...figure }: CurveFigure, axis: "x" | "y"): boolean {
  const values = series.flatMap(({ points }) => points.flatMap((point) => point[axis] ?? []));
  if (figure[axis].scale === "log") return true;
  if (figure[axis].unit.startsWith("dB") || values.some((value) => value < 0)) return false;
  return axis === "y" ? values.some((value) => value > 0) : Math.min(...values) > 0 &&
    Math.max(...values) >= WIDE * Math.min(...values);
}

/** Ends of an x axis that are this far apart may be read in decades. */
const WIDE = 10;

function legendWidth(figure: Figure): number {
  const labels = figure.form === "curves"
    ? figure.series.map(({ label }) => label)
    : figure.form === "levels"
    ? [figure.floor.label, figure.amount.label, figure.level?.label ?? ""]
    : [];
  if (labels.length === 0) return figure.form === "matrix" ? LEGEND_SAMPLE * 2 : 0;
  const widest = Math.max(...labels.map((label) => textWidth(label, 13)));
  return Math.min(LEGEND_MOST, widest + LEGEND_VALUE + LEGEND_SAMPLE);
}

async function draw(spec: FigureSpec, style: FigureStyle): Promise<Drawn> {
  const [{ renderFramed }, { expressionInterpreter }] = await Promise.all([
    import("../../lib/figure/svg.ts"),
    import("./interpreter.ts"),
  ]);
  const made = await renderFramed(spec, style, expressionInterpreter);
  const [, width, height] = / viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(made.svg) ?? ["", "0", "0"];
  return { ...made, size: { width: Number(width), height: Number(height) } };
}

const fileName = ({ title }: Figure) =>
  title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "") || "figure";

const PNG_SCALE = 3;

async function savePng(svg: string, name: string): Promise<void> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const picture = new Image();
    picture.src = url;
    await picture.decode();
    const canvas = new OffscreenCanvas(picture.naturalWidth * PNG_SCALE, picture.naturalHeight * PNG_SCALE);
    canvas.getContext("2d")!.drawImage(picture, 0, 0, canvas.width, canvas.height);
    saveAs(URL.createObjectURL(await canvas.convertToBlob({ type: "image/png" })), `${name}.png`);
  } finally {
    URL.revokeObjectURL(url);
  }
}
