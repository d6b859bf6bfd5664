/**
 * Pictures of a specification: SVG by Vega without a browser, PNG by resvg with the font handed in. Both are the same
 * bytes wherever they are made: no font, clock or graphics library of the machine takes part.
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
 */
export async function renderSvg(spec: FigureSpec, style: FigureStyle): Promise<string> {
  const { compile, parse, resetSVGDefIds, textMetrics, View } = await import("./vega.ts");
  textMetrics.width = (item, text) => textWidth(String(text ?? ""), item.fontSize ?? 11, item.fontWeight);
  // Definitions are numbered through the life of the process.
  resetSVGDefIds();
  const view = new View(parse(compile(spec as never, { logger: SILENT }).spec), { renderer: "none" });
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

let rasteriser: Promise<typeof import("./resvg.ts")> | undefined;

async function loadRasteriser() {
  const library = await import("./resvg.ts");
  await library.initWasm(await library.resvgModule());
  return library;
}

/**
 * Draws an SVG text as PNG.
 *
 * @param svg what `renderSvg` returns
 */
export async function renderPng(svg: string, style: FigureStyle): Promise<Uint8Array> {
  const { Resvg } = await (rasteriser ??= loadRasteriser());
  const { default: inter } = await import("./font/inter.json", { with: { type: "json" } });
  const fontBuffers = Object.values(inter.woff2_base64).map((text) => Uint8Array.fromBase64(text));
  const picture = new Resvg(svg.replace(/ width="([\d.]+)pt" height="([\d.]+)pt"/, ' width="$1" height="$2"'), {
    fitTo: { mode: "zoom", value: style.png_scale },
    font: { fontBuffers, defaultFontFamily: inter.family },
  });
  try {
    return picture.render().asPng();
  } finally {
    picture.free();
  }
}
