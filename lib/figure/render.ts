/**
 * Renders a specification: SVG by Vega without a browser, PNG by resvg with the bundled font. The bytes do not depend
 * on fonts, clock or graphics libraries of the machine.
 */
import type { FigureStyle } from "./style.ts";

export { renderSvg } from "./svg.ts";

let rasteriser: Promise<typeof import("./resvg.ts")> | undefined;

async function loadRasteriser() {
  const library = await import("./resvg.ts");
  await library.initWasm(await library.resvgModule());
  return library;
}

/**
 * Renders an SVG text as PNG.
 * @param svg result of `renderSvg`
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
