/** A figure with what belongs to it: a sentence, a table, files, and the choice of axes and series. */
import { figureSpec } from "../../lib/figure/spec.ts";
import { darkened, type FigureStyle, STYLES } from "../../lib/figure/style.ts";
import type { Figure, FigureSeries } from "../../lib/figure/types.ts";
import { type ComponentChildren, useEffect, useMemo, useRef, useState } from "../preact.ts";
import { saveAs, saveText } from "../runs/fetch_artifact.ts";
import { theme } from "../state/settings.ts";
import { csvText, figureSentence, figureTable } from "./table.ts";

interface Props {
  figure: Figure;
  controls?: ComponentChildren;
}

const WIDEST = 720, NARROWEST = 180, AROUND = 120, LEGEND = 210;

export function Chart({ figure, controls }: Props) {
  const box = useRef<HTMLDivElement>(null), picture = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0), [svg, setSvg] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null), [asTable, setAsTable] = useState(false);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [scale, setScale] = useState<"linear" | "log" | null>(null);
  const dark = useDark();
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width / 20) * 20));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);

  const shown = useMemo(() => adapted(figure, hidden, scale), [figure, hidden, scale]);
  const style = useMemo(() => styleFor(width, dark), [width, dark]);
  const key = JSON.stringify(shown) + style.name + width;
  useEffect(() => {
    if (width === 0) return;
    let wanted = true;
    draw(shown, style).then((text) => {
      if (!wanted) return;
      setSvg(text);
      setProblem(null);
    }, (error) => wanted && setProblem((error as Error).message));
    return () => wanted = false;
  }, [key]);
  useEffect(() => {
    if (picture.current === null || svg === null) return;
    // Parsed, not written as markup: a picture has no scripts, and its style attributes would be refused.
    const parsed = new DOMParser().parseFromString(svg.replaceAll(/ style="[^"]*"/g, ""), "image/svg+xml");
    const root = document.importNode(parsed.documentElement, true);
    // One picture with one name: what its parts are is in the table.
    for (const part of root.querySelectorAll("[role], [aria-roledescription]")) {
      part.removeAttribute("role");
      part.removeAttribute("aria-roledescription");
    }
    root.setAttribute("aria-label", `${shown.title}. ${figureSentence(shown)}`);
    picture.current.replaceChildren(root);
  }, [svg, asTable]);

  const table = figureTable(shown), name = fileName(figure);
  // Files are made in the light style, whatever the screen shows.
  const light = () => draw(shown, styleFor(width, false));
  return (
    <figure class="chart" ref={box}>
      <div class="row spread chart-tools">
        <div class="row">
          {controls}
          {figure.form === "curves" && (
            <label class="row">
              Axis
              <select
                value={scale ?? figure.y.scale}
                onChange={(event) => setScale(event.currentTarget.value as "linear" | "log")}
              >
                <option value="linear">linear</option>
                <option value="log">logarithmic</option>
              </select>
            </label>
          )}
        </div>
        <div class="row" role="group" aria-label="This figure">
          <button type="button" class="quiet" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>Table</button>
          <button
            type="button"
            class="quiet"
            onClick={async () => saveText(await light(), `${name}.svg`, "image/svg+xml")}
          >
            SVG
          </button>
          <button type="button" class="quiet" onClick={async () => savePng(await light(), name)}>PNG</button>
          <button type="button" class="quiet" onClick={() => saveText(csvText(table), `${name}.csv`, "text/csv")}>
            CSV
          </button>
        </div>
      </div>
      {problem !== null && <p class="notice" data-tone="error">Cannot draw the figure: {problem}</p>}
      {asTable
        ? (
          <div class="scroll-x tall" tabIndex={0} role="region" aria-label={`Table of ${figure.title}`}>
            <table>
              <thead>
                <tr>{table.columns.map((column) => <th key={column}>{column}</th>)}</tr>
              </thead>
              <tbody>
                {table.rows.slice(0, 2000).map((row, index) => (
                  <tr key={index}>{row.map((cell, at) => <td key={at} class="mono">{cell}</td>)}</tr>
                ))}
              </tbody>
            </table>
          </div>
        )
        : svg === null && problem === null
        ? <p class="muted" aria-busy="true">Drawing</p>
        : <div class="chart-picture" ref={picture} />}
      <figcaption>{figureSentence(shown)}</figcaption>
      {figure.form === "curves" && figure.series.length > 1 && (
        <fieldset class="chart-series">
          <legend class="hidden-text">Series that are drawn</legend>
          {figure.series.map(({ label }) => (
            <label key={label} class="row">
              <input
                type="checkbox"
                checked={!hidden.has(label)}
                onChange={() => {
                  const next = new Set(hidden);
                  if (!next.delete(label)) next.add(label);
                  setHidden(next);
                }}
              />
              {label}
            </label>
          ))}
          <button type="button" class="quiet" disabled={hidden.size === 0} onClick={() => setHidden(new Set())}>
            Show all
          </button>
        </fieldset>
      )}
    </figure>
  );
}

/** A figure with the axis that was chosen and without the series that were put away. */
function adapted(figure: Figure, hidden: ReadonlySet<string>, scale: "linear" | "log" | null): Figure {
  if (figure.form !== "curves") return figure;
  const left = figure.series.filter(({ label }) => !hidden.has(label));
  const series: FigureSeries[] = left.length > 0 ? left : figure.series.slice(0, 1);
  const y = scale === null || scale === figure.y.scale ? figure.y : { ...figure.y, scale, domain: null };
  return { ...figure, series, y };
}

function styleFor(width: number, dark: boolean): FigureStyle {
  const narrow = width < 620;
  const inner = Math.min(WIDEST, Math.max(NARROWEST, width - AROUND - (narrow ? 0 : LEGEND)));
  const style: FigureStyle = {
    ...STYLES.svc,
    name: "page",
    width: inner,
    height: Math.round(Math.min(340, Math.max(180, inner * 0.62))),
    legend: narrow ? "bottom" : "right",
    font_size: narrow ? 11 : 12,
    title_size: narrow ? 12 : 14,
  };
  return dark ? darkened(style) : style;
}

async function draw(figure: Figure, style: FigureStyle): Promise<string> {
  const [{ renderSvg }, { expressionInterpreter }] = await Promise.all([
    import("../../lib/figure/svg.ts"),
    import("./interpreter.ts"),
  ]);
  return await renderSvg(figureSpec(figure, style), style, expressionInterpreter);
}

const darkSystem = matchMedia("(prefers-color-scheme: dark)");

function useDark(): boolean {
  const [system, setSystem] = useState(darkSystem.matches);
  useEffect(() => {
    const listen = () => setSystem(darkSystem.matches);
    darkSystem.addEventListener("change", listen);
    return () => darkSystem.removeEventListener("change", listen);
  }, []);
  return theme.value === "system" ? system : theme.value === "dark";
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
