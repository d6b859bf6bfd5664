/**
 * Renders a specification as SVG text, by Vega without a document: the same image in a program and in a page. A page
 * that must not compile code passes the expression interpreter.
 */
import { escapeXml, visible } from "../contract/escape.ts";
import type { FigureStyle } from "./style.ts";
import { textWidth } from "./text_width.ts";
import type { View } from "./vega.ts";
import type { FigureSpec } from "./types.ts";

/** The library's warnings concern the specification builders, not the user. */
const SILENT = {
  level: () => SILENT,
  error: () => SILENT,
  warn: () => SILENT,
  info: () => SILENT,
  debug: () => SILENT,
};

/** Position of the plot in the units of the view box, and the values at its edges. */
export interface PlotFrame {
  left: number;
  top: number;
  width: number;
  height: number;
  x: [number, number];
  y: [number, number];
}

/**
 * Renders a specification as SVG text.
 * @param spec result of `figureSpec`, possibly changed
 * @param interpreter `expressionInterpreter` of vega-interpreter, where the library must not compile code
 */
export async function renderSvg(spec: FigureSpec, style: FigureStyle, interpreter?: unknown): Promise<string> {
  return (await renderFramed(spec, style, interpreter)).svg;
}

/** Like `renderSvg`, with the position of the plot if it has two numeric axes and no legend. */
export async function renderFramed(
  spec: FigureSpec,
  style: FigureStyle,
  interpreter?: unknown,
): Promise<{ svg: string; frame: PlotFrame | null }> {
  const { compile, parse, resetSVGDefIds, textMetrics, View } = await import("./vega.ts");
  textMetrics.width = (item, text) => textWidth(String(text ?? ""), item.fontSize ?? 11, item.fontWeight);
  // The library numbers definitions across the process.
  resetSVGDefIds();
  const compiled = compile(spec as never, { logger: SILENT }).spec;
  const view = interpreter === undefined
    ? new View(parse(compiled), { renderer: "none" })
    : new View(parse(compiled, undefined, { ast: true }), { renderer: "none", expr: interpreter as never });
  try {
    const svg = await view.toSVG();
    return { svg: visible(framed(typeset(svg), spec, style)) + "\n", frame: frameOf(view, svg, style) };
  } finally {
    view.finalize();
  }
}

/** The outermost group is at the origin of the plot. */
function frameOf(view: View, svg: string, { width, height }: FigureStyle): PlotFrame | null {
  const origin = /<g[^>]* transform="translate\((-?[\d.]+),(-?[\d.]+)\)"/.exec(svg);
  const ends = (name: string): [number, number] | null => {
    try {
      const { type, domain } = view.scale(name) as { type: string; domain?: () => number[] };
      const found = type === "linear" || type === "log" ? domain?.() : undefined;
      return found?.length === 2 ? [Number(found[0]), Number(found[1])] : null;
    } catch {
      // No scale has this name: the image has several plots.
      return null;
    }
  };
  const x = ends("x"), y = ends("y");
  if (origin === null || x === null || y === null) return null;
  return { left: Number(origin[1]), top: Number(origin[2]), width, height, x, y };
}

/** Writes the ratios Es/N0 and Eb/N0 with subscripts, in texts of one and of several lines. */
function typeset(svg: string): string {
  return svg.replace(/<text[^>]* font-size="([\d.]+)px"[^>]*>.*?<\/text>/gs, (text, size) => {
    const drop = Number((size * 0.2).toFixed(2)), small = Number((size * 0.72).toFixed(2));
    const sub = (letter: string) => `<tspan dy="${drop}" font-size="${small}px">${letter}</tspan>`;
    // The text after a subscript rises again.
    const rise = (part: string) => part === "" ? "" : `<tspan dy="${-drop}">${part}</tspan>`;
    return text.replace(/(?<=>)[^<>]*E[sb]\/N0[^<>]*/g, (line: string) => {
      const [first, ...rest] = line.split(/E([sb])\/N0/);
      let shown = `${first}E`;
      for (let at = 0; at < rest.length; at += 2) {
        shown += `${sub(rest[at])}${rise("/N")}${sub("0")}${rise(rest[at + 1] + (at + 2 < rest.length ? "E" : ""))}`;
      }
      return shown;
    });
  });
}

/** Adds print size, an accessible name and the source of the numbers. */
function framed(svg: string, spec: FigureSpec, style: FigureStyle): string {
  const description = escapeXml(String(spec.description ?? ""));
  const source = Object.entries(spec.usermeta ?? {}).map(([key, value]) => `${key}: ${value}`).join("; ");
  return svg
    .replace(/ width="([\d.]+)" height="([\d.]+)"/, ` width="$1${style.unit}" height="$2${style.unit}" role="img"`)
    .replace(/^(<svg[^>]*>)/, `$1<title>${description}</title><desc>${escapeXml(source)}</desc>`);
}
