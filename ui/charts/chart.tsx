/** A figure with a crosshair, a legend that hides series, zoom, a sentence, a table, and files. */
import { levelEntries } from "../../lib/figure/levels_spec.ts";
import { figureSpec } from "../../lib/figure/spec.ts";
import type { FigureStyle } from "../../lib/figure/style.ts";
import type { PlotFrame } from "../../lib/figure/svg.ts";
import { pgfplots } from "../../lib/figure/pgfplots.ts";
import { textWidth } from "../../lib/figure/text_width.ts";
import type { CurveFigure, Figure, FigureSpec, LevelFigure, MatrixFigure } from "../../lib/figure/types.ts";
import { messageOf } from "../api.ts";
import { Pager } from "../pager.tsx";
import { provideCommands } from "../palette.tsx";
import { type Column, Select, Table, Toggle, Trouble } from "../parts.tsx";
import { type ComponentChildren, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../preact.ts";
import { savePdf, savePng, saveText } from "../state/files.ts";
import { Legend, LoneLegend } from "./legend.tsx";
import { fileStyle, isNarrow, screenStyle, useDark } from "./page_style.ts";
import { PlotTools, type Zoom } from "./plot_tools.tsx";
import { csvText } from "./csv.ts";
import { figureSentence, figureTable } from "./table.ts";
import { typeset } from "./typeset.tsx";

interface Props {
  figure: Figure;
  controls?: ComponentChildren;
  /** Whether the figure takes most of the window. */
  tall?: boolean;
}

/** Widths of a legend entry beside its label: the line sample, and the value at the crosshair. */
const LEGEND_SAMPLE = 56, LEGEND_VALUE = 84, LEGEND_MOST = 340;

interface Drawn {
  svg: string;
  frame: PlotFrame | null;
  size: { width: number; height: number };
}

/** Side of a plot with equal axes, where there is room. */
const LEAST_SQUARE = 360;
const NOTHING_CHANGED: View = { hidden: new Set(), scale: {}, cells: "counts", zoom: null };

export function Chart({ figure, controls, tall }: Props) {
  const box = useRef<HTMLDivElement>(null), width = useWidth(box), dark = useDark();
  const [view, setView] = useState(NOTHING_CHANGED), [asTable, setAsTable] = useState(false);
  const [place, setPlace] = useState<number | null>(null);
  const change = (part: Partial<View>) => setView((before) => ({ ...before, ...part }));
  // A zoom is valid for one figure with its axes, and never painted over another.
  useLayoutEffect(() => {
    change({ zoom: null });
    setPlace(null);
  }, [figure.title, figure.subtitle, view.scale]);
  const shown = useMemo(() => adapted(figure, view), [figure, view]);
  const below = isLegendBelow(figure, width);
  const style = useMemo(() => {
    const { height, ...style } = screenStyle(width, below ? 0 : legendWidth(figure), dark, tall);
    if (figure.form !== "curves" || figure.equal !== true) return { ...style, height };
    const side = Math.min(style.width, Math.max(height, LEAST_SQUARE));
    return { ...style, width: side, height: side };
  }, [width, figure, dark, tall]);
  const { drawn, problem } = useDrawn(shown, style, width);
  const table = useMemo(() => figureTable(shown), [shown]);
  return (
    <figure class="chart" ref={box} data-narrow={isNarrow(width)} data-legend={below ? "below" : "beside"}>
      <Head figure={figure} shown={shown} style={style} csv={() => csvText(table)}>
        {view.zoom !== null && <button type="button" onClick={() => change({ zoom: null })}>Reset zoom</button>}
        <button type="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>Table</button>
      </Head>
      <div class="row chart-tools">
        {controls}
        <ViewTools figure={figure} view={view} change={change} />
      </div>
      <Trouble text={problem && `Cannot draw the figure: ${problem}`} />
      {asTable ? <FigureTableView table={table} title={figure.title} /> : drawn !== null
        ? (
          <Drawing
            figure={figure}
            shown={shown}
            style={style}
            drawn={drawn}
            place={place}
            onPlace={setPlace}
            view={view}
            change={change}
          />
        )
        : problem === null && <p class="muted chart-wait" aria-busy="true">Drawing</p>}
      <figcaption>
        {figure.subtitle !== "" && <span class="chart-subtitle">{typeset(`${figure.subtitle}. `)}</span>}
        {typeset(figureSentence(shown))}
      </figcaption>
    </figure>
  );
}

/** The width of an element in steps of 20 pixels; 0 before it is known. */
function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width / 20) * 20));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  return width;
}

function useDrawn(shown: Figure, style: FigureStyle, width: number) {
  const [drawn, setDrawn] = useState<Drawn | null>(null), [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    if (width === 0) return;
    let wanted = true;
    draw(figureSpec(shown, style), style).then((made) => {
      if (!wanted) return;
      setDrawn(made);
      setProblem(null);
    }, (error) => wanted && setProblem(messageOf(error)));
    return () => wanted = false;
  }, [JSON.stringify(shown) + style.name + width]);
  return { drawn, problem };
}

/** The title, and the buttons for the files. */
function Head({ figure, shown, style, csv, children }: {
  figure: Figure;
  shown: Figure;
  style: FigureStyle;
  csv(): string;
  children: ComponentChildren;
}) {
  const [problem, setProblem] = useState<string | null>(null), name = fileName(figure);
  const trySave = async (save: () => unknown) => {
    setProblem(null);
    try {
      await save();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const saved = figure.form === "curves" ? { ...shown, lost: figure.lost } as Figure : shown;
  const svg = async () => {
    const chosen = fileStyle(style);
    return (await draw(figureSpec(saved, chosen), chosen)).svg;
  };
  const files: [label: string, save: () => unknown][] = [
    ["SVG", async () => saveText(await svg(), `${name}.svg`, "image/svg+xml")],
    ["PDF", async () => savePdf(await svg(), name)],
    ["PNG", async () => savePng(await svg(), name)],
    ["CSV", () => saveText(csv(), `${name}.csv`, "text/csv")],
  ];
  if (figure.form !== "levels" && figure.form !== "matrix") {
    files.push(["pgfplots", () => saveText(pgfplots(saved)!, `${name}.tex`, "application/x-tex")]);
  }
  const latest = useRef(files);
  latest.current = files;
  useEffect(() =>
    provideCommands(() =>
      latest.current.map(([label, save]) => ({
        kind: "Action",
        text: `Save figure as ${label}`,
        detail: figure.title,
        run: () => void trySave(save),
      }))
    ), [figure.title]);
  return (
    <div class="row spread chart-head">
      <p class="chart-title">{typeset(figure.title)}</p>
      <Trouble text={problem && `Cannot save the figure: ${problem}`} />
      <div class="row" role="group" aria-label={`Tools of ${figure.title}`}>
        {children}
        {files.map(([label, save]) => (
          <button
            key={label}
            type="button"
            onClick={() => void trySave(save)}
          >
            {label}
          </button>
        ))}
      </div>
    </div>
  );
}

const CELLS = [["counts", "counts"], ["rows", "row %"], ["columns", "column %"]] as const;
const SCALES = ["linear", ["log", "logarithmic"]] as const;

interface Changing {
  figure: Figure;
  view: View;
  change(part: Partial<View>): void;
}

/** The scales of the axes, or the form of the cells. */
function ViewTools({ figure, view: { scale, cells }, change }: Changing) {
  if (figure.form === "matrix") {
    return <Toggle label="Cells" value={cells ?? "counts"} options={CELLS} onChoose={(cells) => change({ cells })} />;
  }
  if (figure.form !== "curves" || figure.joined === false) return null;
  return (
    <>
      {(["y", "x"] as const).filter((axis) => mayBeLogarithmic(figure, axis)).map((axis) => (
        <Select
          key={axis}
          label={axis === "y" ? "Axis" : "x axis"}
          value={scale[axis] ?? figure[axis].scale}
          options={SCALES}
          onChoose={(chosen) => change({ scale: { ...scale, [axis]: chosen } })}
        />
      ))}
    </>
  );
}

interface DrawingProps extends Changing {
  shown: Figure;
  style: FigureStyle;
  drawn: Drawn;
  place: number | null;
  onPlace(place: number | null): void;
}

/** The drawing with its crosshair and its legend. */
function Drawing({ figure, shown, style, drawn, place, onPlace, view, change }: DrawingProps) {
  const toggle = (label: string) => {
    const hidden = new Set(view.hidden);
    if (!hidden.delete(label)) hidden.add(label);
    change({ hidden });
  };
  const isolate = (label: string) => {
    const others = figure.form === "curves" && label !== "" ? figure.series.filter((one) => one.label !== label) : [];
    change({ hidden: new Set(others.map(({ label }) => label)) });
  };
  return (
    <div class="chart-body">
      <div class="chart-picture">
        <div class="chart-plot">
          <Picture svg={drawn.svg} name={`${shown.title}. ${figureSentence(shown)}`} />
          {shown.form === "curves" && isLone(shown) && drawn.frame !== null && (
            <LoneLegend
              figure={shown}
              style={style}
              {...drawn}
              place={place}
            />
          )}
          {shown.form === "curves" && drawn.frame !== null && (
            <PlotTools
              figure={shown}
              frame={drawn.frame}
              size={drawn.size}
              place={place}
              zoomed={view.zoom !== null}
              onPlace={onPlace}
              onZoom={(zoom) => change({ zoom })}
            />
          )}
        </div>
      </div>
      {shown.form === "curves" && !isLone(shown) && (
        <Legend figure={shown} style={style} place={place} onToggle={toggle} onIsolate={isolate} />
      )}
      {shown.form === "levels" && <LevelLegend figure={shown} style={style} />}
    </div>
  );
}

function FigureTableView(
  { table: { columns, rows }, title }: { table: ReturnType<typeof figureTable>; title: string },
) {
  return (
    <Pager items={rows} size={TABLE_ROWS} what="Rows">
      {(shown) => (
        <Table
          label={`Table of ${title}`}
          rows={shown}
          columns={columns.map((column, at): Column<string[]> => [column, (row) => row[at], "mono"])}
        />
      )}
    </Pager>
  );
}

/** Rows of a page. */
const TABLE_ROWS = 100;

/** The SVG image of Vega, without style attributes, which the content security policy refuses. */
function Picture({ svg, name }: { svg: string; name: string }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const parsed = new DOMParser().parseFromString(svg.replaceAll(/ style="[^"]*"/g, ""), "image/svg+xml");
    const root = document.importNode(parsed.documentElement, true);
    // It is one image with one name for screen readers; the table lists its parts.
    for (const part of root.querySelectorAll("[role], [aria-roledescription]")) {
      part.removeAttribute("role");
      part.removeAttribute("aria-roledescription");
    }
    // A browser would show it as a tooltip of the whole image.
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

/** A figure with the chosen axes and zoom, and without the hidden series. */
function adapted(figure: Figure, { hidden, scale, cells, zoom }: View): Figure {
  if (figure.form === "matrix") return { ...figure, cells };
  if (figure.form !== "curves") return figure;
  const axis = (name: "x" | "y") => {
    const chosen = scale[name] ?? figure[name].scale;
    const domain = zoom?.[name] ?? (chosen === figure[name].scale ? figure[name].domain : null);
    return { ...figure[name], scale: chosen, domain };
  };
  const series = figure.series.map((one) => hidden.has(one.label) ? { ...one, hidden: true } : one);
  // The crosshair needs one plot; saved files have both.
  return { ...figure, series, x: axis("x"), y: axis("y"), lost: false };
}

/** Whether a logarithmic axis applies: no decibels, no negative values, and for x a wide range. */
function mayBeLogarithmic({ series, ...figure }: CurveFigure, axis: "x" | "y"): boolean {
  const values = series.flatMap(({ points }) => points.flatMap((point) => point[axis] ?? []));
  if (figure[axis].scale === "log") return true;
  if (figure[axis].unit.startsWith("dB") || values.some((value) => value < 0)) return false;
  return axis === "y" ? values.some((value) => value > 0) : Math.min(...values) > 0 &&
    Math.max(...values) >= WIDE * Math.min(...values);
}

/** Minimum ratio of the ends of an x axis for a logarithmic scale. */
const WIDE = 10;

/** Whether a legend would have one entry: it goes inside. */
const isLone = (figure: Figure): boolean =>
  figure.form === "curves" && figure.series.length === 1 && figure.front === null &&
  figure.series[0].points.every(({ bound, outage }) => bound === undefined && !outage);

function legendWidth(figure: Figure): number {
  if (isLone(figure)) return 0;
  const labels = figure.form === "curves"
    ? figure.series.map(({ label }) => label)
    : figure.form === "levels"
    ? [figure.floor.label, figure.amount.label, figure.level?.label ?? ""]
    : [];
  if (labels.length === 0) return figure.form === "matrix" || figure.form === "heat" ? LEGEND_SAMPLE * 2 : 0;
  const widest = Math.max(...labels.map((label) => textWidth(label, 13)));
  return Math.min(LEGEND_MOST, widest + LEGEND_VALUE + LEGEND_SAMPLE);
}

/** Series whose labels stand in one or two lines below the plot, which then has the whole width. */
const MOST_BELOW = 4;

/** Whether the legend stands below the plot: where the container is narrow, or few series fit into two lines. */
function isLegendBelow(figure: Figure, width: number): boolean {
  if (isNarrow(width)) return true;
  if (figure.form !== "curves" || isLone(figure) || figure.series.length > MOST_BELOW) return false;
  const widths = figure.series.map(({ label }) => textWidth(label, 13) + LEGEND_VALUE + LEGEND_SAMPLE);
  return widths.reduce((sum, one) => sum + one, 0) <= 2 * width;
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
