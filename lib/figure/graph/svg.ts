/** The graph of a recipe as a self-contained SVG: no script, font or other file; for light and dark pages. */
import { escapeXml } from "../../contract/escape.ts";
import type { RecipeGraph } from "./graph.ts";
import type { GraphWire } from "./lanes.ts";
import { type GraphBlock, layoutGraph, type Plane } from "./layout.ts";

/** Colours of the planes on light and on dark ground; labels name the planes too. */
const PLANES: Record<Plane, { light: string; dark: string }> = {
  source: { light: "#5b6b80", dark: "#9aabc2" },
  semantic: { light: "#7a3e9d", dark: "#cf9aec" },
  communication: { light: "#0b6fa4", dark: "#67bce8" },
  measurement: { light: "#a14a00", dark: "#f0a35e" },
};

const THEME = {
  light: { ground: "#f7f8f9", panel: "#ffffff", line: "#c9d0d8", ink: "#1b2330", soft: "#4d596b", wire: "#4d596b" },
  dark: { ground: "#12161c", panel: "#191f27", line: "#3a4552", ink: "#e4e9f0", soft: "#aab6c6", wire: "#aab6c6" },
};

const HEAD = 56;
const FOOT = 34;

/**
 * Draws a graph as SVG. The same graph gives the same bytes.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { graphSvg } from "./svg.ts";
 *
 * const svg = graphSvg({ schema_version: 1, recipe: "demo", nodes: [{ id: "a", op: "b.c", name: "C", outputs: {} }], edges: [] });
 * assert.ok(svg.startsWith("<svg"));
 * ```
 */
export function graphSvg(graph: RecipeGraph): string {
  const { blocks, wires, width: drawn, height: tall } = layoutGraph(graph);
  const width = Math.ceil(Math.max(drawn, 420)), height = Math.ceil(tall + HEAD + FOOT);
  const steps = `${blocks.length} ${blocks.length === 1 ? "step" : "steps"}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escapeXml(graph.recipe)}</title>`,
    `<desc id="description">${
      escapeXml(`Graph of a recipe with ${steps}: ${blocks.map(({ id, op }) => `${id} (${op})`).join(", ")}`)
    }</desc>`,
    `<style>${styleSheet()}</style>`,
    `<defs>${arrow("arrow", "tip")}${arrow("arrow-measures", "tip measures")}</defs>`,
    `<rect class="ground" width="${width}" height="${height}"/>`,
    `<text class="heading" x="24" y="30">${escapeXml(shorten(graph.recipe, width - 140, 9.2))}</text>`,
    `<text class="soft" x="24" y="47">${steps}</text>`,
    `<g transform="translate(0 ${HEAD})">`,
    ...wires.map(drawWire),
    ...wires.map(drawLabel),
    ...blocks.map(drawBlock),
    "</g>",
    ...legend(blocks, height - 14),
    "</svg>",
  ].join("\n") + "\n";
}

function styleSheet(): string {
  const colors = (theme: "light" | "dark") => {
    const { ground, panel, line, ink, soft, wire } = THEME[theme];
    const planes = Object.entries(PLANES).map(([plane, mark]) => `.${plane}{fill:${mark[theme]}}`).join("");
    return `.ground{fill:${ground}}.panel{fill:${panel};stroke:${line}}.ink,.heading{fill:${ink}}.soft,.id,.label{fill:${soft}}` +
      `.label{stroke:${ground}}.wire{stroke:${wire}}.wire.measures{stroke:${PLANES.measurement[theme]}}` +
      `.tip{fill:${wire}}.tip.measures{fill:${PLANES.measurement[theme]}}${planes}`;
  };
  return "text{font-family:Inter,system-ui,-apple-system,'Segoe UI',sans-serif;font-size:12px}" +
    ".heading{font-size:17px;font-weight:600}.name{font-size:13px;font-weight:600}" +
    ".id,.op,.label{font-family:'JetBrains Mono',ui-monospace,'DejaVu Sans Mono',monospace}.id{font-size:11px}.op{font-size:9.5px}" +
    ".plane{font-size:8.5px;letter-spacing:.06em}.label{font-size:10px;stroke-width:3.5px;paint-order:stroke;stroke-linejoin:round}" +
    ".wire{fill:none;stroke-width:1.5px;stroke-linejoin:round}.wire.measures{stroke-width:1.1px;stroke-dasharray:5 3}" +
    `${colors("light")}@media(prefers-color-scheme:dark){${colors("dark")}}`;
}

function arrow(id: string, className: string): string {
  return `<marker id="${id}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path class="${className}" d="M0 0L8 4L0 8z"/></marker>`;
}

function drawWire({ points, measures }: GraphWire): string {
  const path = points.map(([x, y], index) => `${index === 0 ? "M" : "L"}${number(x)} ${number(y)}`).join("");
  return `<path class="wire${measures ? " measures" : ""}" d="${path}" marker-end="url(#arrow${
    measures ? "-measures" : ""
  })"/>`;
}

function drawLabel({ edge, label: { text, x, y, anchor } }: GraphWire): string {
  const full = `${edge.from_step}.${edge.from_output} → ${edge.to_step}.${edge.to_input}`;
  return `<text class="label" x="${number(x)}" y="${number(y)}" text-anchor="${anchor}"><title>${
    escapeXml(full)
  }</title>${escapeXml(text)}</text>`;
}

function drawBlock({ id, op, name, plane, x, y, width, height }: GraphBlock): string {
  const room = width - 26, left = 14;
  const title = wrap(name, room, 7.7);
  const line = (className: string, top: number, text: string) =>
    `<text class="${className}" x="${left}" y="${number(top)}">${escapeXml(text)}</text>`;
  const top = title.length === 1 ? 33 : 27;
  return [
    `<g transform="translate(${number(x)} ${number(y)})"><title>${escapeXml(`${id}: ${name} (${op})`)}</title>`,
    `<rect class="panel" width="${width}" height="${height}" rx="3"/><rect class="${plane}" width="4" height="${height}" rx="2"/>`,
    line(`plane ${plane}`, title.length === 1 ? 16 : 13, plane.toUpperCase()),
    ...title.map((text, index) => line("name ink", top + 14 * index, text)),
    line("id", title.length === 1 ? 50 : 56, shorten(id, room, 6.65)),
    line("op soft", title.length === 1 ? 66 : 70, shorten(op, room, 5.75)),
    "</g>",
  ].join("");
}

function legend(blocks: readonly GraphBlock[], y: number): string[] {
  const shown = Object.keys(PLANES).filter((plane) => blocks.some((block) => block.plane === plane));
  return shown.map((plane, index) =>
    `<g transform="translate(${
      24 + index * 132
    } ${y})"><rect class="${plane}" y="-9" width="10" height="10" rx="2"/><text class="soft" x="16">${plane}</text></g>`
  );
}

/** Shortens a text to a width, by the mean width of its letters. */
function shorten(text: string, room: number, letter: number): string {
  const most = Math.floor(room / letter), characters = [...text];
  return characters.length <= most ? text : characters.slice(0, most - 1).join("") + "…";
}

/** Breaks a text into at most two lines. */
function wrap(text: string, room: number, letter: number): string[] {
  const most = Math.floor(room / letter);
  if ([...text].length <= most) return [text];
  const words = text.split(" ");
  let first = words.shift()!;
  while (words.length > 0 && `${first} ${words[0]}`.length <= most) first += ` ${words.shift()}`;
  return [shorten(first, room, letter), ...(words.length > 0 ? [shorten(words.join(" "), room, letter)] : [])];
}

function number(value: number): string {
  return String(Math.round(value * 10) / 10);
}
