/** Objects that a notebook displays in their own form: the protocol of Deno's Jupyter kernel. */
import { escapeXml } from "../contract/escape.ts";

const DISPLAY = Symbol.for("Jupyter.display");

/** Representations by media type. */
export type Representations = Record<string, unknown>;

/**
 * Makes an object show itself in a notebook. Its other readers see no difference.
 * @param make called when the notebook shows the object
 */
export function displayed<T extends object>(object: T, make: () => Representations | Promise<Representations>): T {
  return Object.defineProperty(object, DISPLAY, { value: () => make(), enumerable: false });
}

/** A table of texts as HTML. */
export function htmlTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[], tag: "th" | "td") =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeXml(cell)}</${tag}>`).join("")}</tr>`;
  return `<table><thead>${line(titles, "th")}</thead><tbody>${
    rows.map((row) => line(row, "td")).join("")
  }</tbody></table>`;
}

/** The representations of drawn files: SVG, and the specification as Vega-Lite. */
export function figureDisplay(name: string, files: Readonly<Record<string, string | Uint8Array>>): Representations {
  return {
    "text/plain": `figure ${name}`,
    "image/svg+xml": files[`${name}.svg`],
    "application/vnd.vegalite.v6+json": JSON.parse(String(files[`${name}.vl.json`])),
  };
}
