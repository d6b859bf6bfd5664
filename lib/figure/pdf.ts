/**
 * Renders an SVG text as PDF: one page of the size of the figure, its text as text in the embedded Inter. The same SVG gives the
 * same bytes; the file has no date.
 */
import { inflateSync } from "node:zlib";
import { visibleLine } from "../contract/escape.ts";
import { SvcError } from "../contract/error.ts";

let writers: Promise<typeof import("./pdf_library.ts")> | undefined;

const WEIGHTS = { 400: "Inter", 600: "Inter-SemiBold" } as const;

/** Solid lines, which the format writes without a dash. */
const SOLID = / stroke-dasharray="[\d.]+,0"/g;

/** Pictures that are not in the text: a figure holds its own. */
const OUTSIDE = /<image\b(?=[^>]*href="(?!data:))[^>]*>/g;

/**
 * Renders an SVG text as PDF.
 * @param svg result of `renderSvg`: its root has width and height, in points or pixels of a 96th of an inch
 */
export async function renderPdf(svg: string): Promise<Uint8Array> {
  const size = /<svg[^>]* width="([\d.]+)(pt|px|)" height="([\d.]+)/.exec(svg);
  if (size === null) throw new SvcError("internal_error", "Cannot write a PDF: the figure has no size");
  const [{ PdfDocument, drawSvg }, { default: fonts }] = await Promise.all([
    writers ??= import("./pdf_library.ts"),
    import("./font/inter_ttf.json", { with: { type: "json" } }),
  ]);
  const points = size[2] === "pt" ? 1 : 0.75, width = Number(size[1]) * points, height = Number(size[3]) * points;
  const info = { CreationDate: new Date(0), Creator: "svc", Producer: "svc" };
  const document = new PdfDocument({ size: [width, height], margin: 0, info });
  const parts: Uint8Array<ArrayBuffer>[] = [], ended = Promise.withResolvers<void>();
  document.on("data", (part) => parts.push(part));
  document.on("end", ended.resolve);
  for (const [weight, name] of Object.entries(WEIGHTS)) {
    document.registerFont(name, inflateSync(Uint8Array.fromBase64(fonts[weight as keyof typeof fonts])));
  }
  drawSvg(document, svg.replaceAll(SOLID, "").replaceAll(OUTSIDE, ""), 0, 0, {
    width,
    height,
    assumePt: false,
    fontCallback: (_family, bold) => WEIGHTS[bold ? 600 : 400],
    warningCallback(text) {
      throw new SvcError("internal_error", `Cannot write a PDF: ${text}`);
    },
  });
  document.end();
  await ended.promise;
  return withoutDate(new Uint8Array(await new Blob(parts).arrayBuffer()));
}

/** A mark-up that is none of the shapes and texts of a figure, or a reference to something else. */
const FOREIGN =
  /<(?!\/?(?:svg|title|desc|g|path|text|tspan|rect|line|circle|defs|clipPath|linearGradient|stop)[\s/>])|\bhref\s*=/i;

/**
 * Renders an SVG text of somebody else as PDF.
 * @throws SvcError `usage_invalid` for a text that is no figure: other elements, references, or none that can be drawn
 */
export async function pdfOfForeign(svg: string): Promise<Uint8Array> {
  const refuse = (why: string, cause?: unknown): SvcError =>
    new SvcError("usage_invalid", `Cannot write this SVG as PDF: ${why}`, { cause, hint: "Save the figure as SVG" });
  const found = FOREIGN.exec(svg);
  if (found !== null) throw refuse(`it has ${visibleLine(svg.slice(found.index, found.index + 20))}`);
  try {
    return await renderPdf(svg);
  } catch (error) {
    // Definitions that contain themselves end in a full stack.
    if (error instanceof SvcError && error.code !== "internal_error") throw error;
    throw refuse("it cannot be drawn", error);
  }
}

/** Puts spaces for the date that the library always writes; positions in the file stay. */
function withoutDate(file: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const dates = [...new TextDecoder("latin1").decode(file).matchAll(/\/CreationDate \d+ 0 R/g)];
  if (dates.length === 0) throw new SvcError("internal_error", "Cannot write a PDF without a date: none was found");
  for (const { index, 0: { length } } of dates) file.fill(0x20, index, index + length);
  return file;
}
