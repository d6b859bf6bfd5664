/**
 * A specification as SVG text, by Vega without a document: the same picture in a program and in a page. A page that may not
 * compile texts hands in the interpreter of expressions.
 */
import type { FigureStyle } from "./style.ts";
import { textWidth } from "./text_width.ts";
import type { FigureSpec } from "./types.ts";

/** The library's remarks are on the builders, not on what a reader asked for. */
const SILENT = {
  level: () => SILENT,
  error: () => SILENT,
  warn: () => SILENT,
  info: () => SILENT,
  debug: () => SILENT,
};

const escapeXml = (text: string) =>
  text.replace(/[&<>"]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[character]!);

/**
 * Draws a specification as SVG text.
 *
 * @param spec what `figureSpec` returns, changed or not
 * @param interpreter `expressionInterpreter` of vega-interpreter, where the library may not make functions of texts
 */
export async function renderSvg(spec: FigureSpec, style: FigureStyle, interpreter?: unknown): Promise<string> {
  const { compile, parse, resetSVGDefIds, textMetrics, View } = await import("./vega.ts");
  textMetrics.width = (item, text) => textWidth(String(text ?? ""), item.fontSize ?? 11, item.fontWeight);
  // Definitions are numbered through the life of the process.
  resetSVGDefIds();
  const compiled = compile(spec as never, { logger: SILENT }).spec;
  const view = interpreter === undefined
    ? new View(parse(compiled), { renderer: "none" })
    : new View(parse(compiled, undefined, { ast: true }), { renderer: "none", expr: interpreter as never });
  try {
    const svg = await view.toSVG();
    return framed(svg, spec, style) + "\n";
  } finally {
    view.finalize();
  }
}

/** Gives the picture its size in print, a name for readers who cannot see it, and a note of where it comes from. */
function framed(svg: string, spec: FigureSpec, style: FigureStyle): string {
  const description = escapeXml(String(spec.description ?? ""));
  const source = Object.entries(spec.usermeta ?? {}).map(([key, value]) => `${key}: ${value}`).join("; ");
  return svg
    .replace(/ width="([\d.]+)" height="([\d.]+)"/, ` width="$1${style.unit}" height="$2${style.unit}" role="img"`)
    .replace(/^(<svg[^>]*>)/, `$1<title>${description}</title><desc>${escapeXml(source)}</desc>`);
}
