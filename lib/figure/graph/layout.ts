/**
 * Positions of blocks and wires in the drawing of a recipe's graph.
 *
 * A short recipe runs from left to right. A long one is folded at its channel: the sender runs to the right, the
 * receiver runs back below it, so that a source is above the evaluation of the received data. A page of a given height
 * may have more folds. Evaluation is at the bottom. Wires run along lanes between the blocks. The layout depends on steps and wires only, never on parameter
 * values, and is deterministic.
 *
 * Own code: elkjs is licensed under EPL or GPL.
 */
import type { JsonObject } from "../../contract/value.ts";
import type { RecipeGraph } from "./graph.ts";
import { type Cell, type GraphWire, type LaneWire, route } from "./lanes.ts";

export type Plane = "source" | "semantic" | "communication" | "measurement";

export interface GraphBlock {
  id: string;
  op: string;
  name: string;
  plane: Plane;
  /** Grid cell, from 0. */
  row: number;
  column: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface GraphLayout {
  folded: boolean;
  width: number;
  height: number;
  blocks: GraphBlock[];
  wires: GraphWire[];
}

/** Target width of a drawing, and the scale below which a drawing from left to right is folded. */
const PAGE_WIDTH = 1440;
const READABLE_SCALE = 0.85;
/** Least number of evaluation steps in a row. */
const EVALUATION_COLUMNS = 4;
/** Largest number of wires around the fold. */
const MAX_CUT = 4;

const BLOCK = { width: 184, height: 78 } as const;
const GUTTER = 64;

/** Dimensions of a drawing, in its own units. */
export interface GraphFrame {
  block: { width: number; height: number };
  gutter: number;
  /** Width at which the drawing is folded. */
  pageWidth: number;
  /** Height of the space; with it, a link is folded as often as makes its blocks largest. */
  pageHeight?: number;
  /** Whether wires reserve space for their labels. */
  labels: boolean;
}

const PAPER: GraphFrame = { block: BLOCK, gutter: GUTTER, pageWidth: PAGE_WIDTH, labels: true };

/**
 * Lays a graph out.
 * @param frame dimensions; default a printed page
 */
export function layoutGraph(graph: RecipeGraph, frame: GraphFrame = PAPER): GraphLayout {
  const nodes = graph.nodes.map((node, index) => ({ index, id: String(node.id), op: String(node.op), node }));
  const indexOf = new Map(nodes.map(({ id, index }) => [id, index]));
  const edges = graph.edges.filter((edge) => indexOf.has(edge.from_step) && indexOf.has(edge.to_step));
  const links = edges.map((edge): Link => [indexOf.get(edge.from_step)!, indexOf.get(edge.to_step)!]);
  const evaluation = evaluationSteps(graph.nodes, links);
  const layers = layersOf(nodes.length, links.filter(([from, to]) => !evaluation[from] && !evaluation[to]), evaluation);
  const { cells, folded, direction } = placeSpine(nodes.map(({ op }) => op), layers, links, evaluation, frame);
  placeEvaluation(cells, links, evaluation);

  const wires = edges.map((edge, index): LaneWire => {
    const [from, to] = links[index];
    return { edge, from: cells[from]!, to: cells[to]!, net: `${edge.from_step}.${edge.from_output}` };
  });
  const routed = route(wires, cells as Cell[], { ...frame, direction });
  return {
    folded,
    width: routed.width,
    height: routed.height,
    blocks: nodes.map(({ id, op, node, index }) => ({
      id,
      op,
      name: String(node.name),
      plane: planeOf(op),
      ...cells[index]!,
      ...routed.corner(cells[index]!),
      ...frame.block,
    })),
    wires: routed.wires.map((wire, index) => ({ ...wire, measures: evaluation[links[index][1]] })),
  };
}

type Link = [from: number, to: number];

export function planeOf(op: string): Plane {
  const group = op.split(".")[0];
  if (group === "metrics") return "measurement";
  if (group === "source" || group === "noise") return "source";
  return ["channel", "wireless", "modulation", "demodulation", "hardware"].includes(group)
    ? "communication"
    : "semantic";
}

/** Evaluation steps: all their outputs are reports, and no other step reads them. */
function evaluationSteps(nodes: readonly JsonObject[], links: readonly Link[]): boolean[] {
  const measures = nodes.map(({ outputs }) => {
    const kinds = Object.values(outputs as JsonObject);
    return kinds.length > 0 && kinds.every((kind) => String(kind).startsWith("metrics."));
  });
  for (let changed = true; changed;) {
    changed = false;
    for (const [from, to] of links) {
      if (measures[from] && !measures[to]) {
        measures[from] = false;
        changed = true;
      }
    }
  }
  return measures.every(Boolean) ? measures.map(() => false) : measures;
}

/** The layer of each step, by its longest path from a source; a source is just before its first consumer. */
function layersOf(count: number, links: readonly Link[], skipped: readonly boolean[]): number[] {
  const layers = new Array<number>(count).fill(0);
  // Each step comes after its inputs.
  for (let step = 0; step < count; step++) {
    for (const [from, to] of links) if (to === step) layers[step] = Math.max(layers[step], layers[from] + 1);
  }
  for (let step = count - 1; step >= 0; step--) {
    if (skipped[step] || links.some(([, to]) => to === step)) continue;
    const fed = links.filter(([from]) => from === step).map(([, to]) => layers[to]);
    if (fed.length > 0) layers[step] = Math.max(0, Math.min(...fed) - 1);
  }
  return layers;
}

interface Placed {
  cells: (Cell | undefined)[];
  folded: boolean;
  /** Direction of a row's wires: right (1) or left (-1). */
  direction(row: number): 1 | -1;
}

/** Places all steps except the evaluation. */
function placeSpine(
  ops: readonly string[],
  layers: readonly number[],
  links: readonly Link[],
  evaluation: readonly boolean[],
  frame: GraphFrame,
): Placed {
  const steps = ops.map((_, index) => index).filter((index) => !evaluation[index]);
  const count = Math.max(...steps.map((step) => layers[step])) + 1;
  const byLayer = Array.from({ length: count }, (_, layer) => steps.filter((step) => layers[step] === layer));
  const spine = longestWay(layers, links, steps);
  // The spine first, then its side branches.
  for (const layer of byLayer) layer.sort((a, b) => Number(spine.has(b)) - Number(spine.has(a)) || a - b);

  const cut = foldAfter(ops, layers, links, evaluation, spine, count, frame);
  const cells: (Cell | undefined)[] = ops.map(() => undefined);
  const columns = bandColumns(byLayer, cut, evaluation.filter(Boolean).length, frame);
  if (columns !== null) return placeBands(byLayer, columns, cells);
  if (cut === null) {
    byLayer.forEach((layer, column) => layer.forEach((step, row) => cells[step] = { row, column }));
    return { cells, folded: false, direction: () => 1 };
  }
  const above = rowsOf(byLayer.slice(0, cut)), last = Math.max(cut, count - cut) - 1;
  byLayer.forEach((layer, index) =>
    layer.forEach((step, place) => {
      cells[step] = index < cut
        ? { row: above - 1 - place, column: last - (cut - 1 - index) }
        : { row: above + place, column: last - (index - cut) };
    })
  );
  return { cells, folded: true, direction: (row) => row < above ? 1 : -1 };
}

const rowsOf = (part: readonly number[][]) => Math.max(1, ...part.map((layer) => layer.length));

/** Rows of layers, each of as many columns. */
const bandsOf = (byLayer: readonly number[][], columns: number): number[][][] =>
  Array.from(
    { length: Math.ceil(byLayer.length / columns) },
    (_, band) => byLayer.slice(band * columns, (band + 1) * columns),
  );

/** Height of a row's wires, in parts of a block's height. */
const ROW_GAP = 0.5;
/** The scale that another fold must gain. */
const WORTH_A_FOLD = 1.1;

/** The number of columns that makes blocks largest on a page; null where a single fold, or none, does. */
function bandColumns(
  byLayer: readonly number[][],
  cut: number | null,
  measures: number,
  { block, gutter, pageWidth, pageHeight }: GraphFrame,
): number | null {
  if (pageHeight === undefined) return null;
  const scaleOf = (bands: readonly number[][][]) => {
    const columns = Math.max(...bands.map(({ length }) => length));
    const rows = bands.reduce((sum, band) => sum + rowsOf(band), Math.ceil(measures / columns));
    return Math.min(
      1,
      pageWidth / (columns * (block.width + gutter)),
      pageHeight / (rows * block.height * (1 + ROW_GAP)),
    );
  };
  let best = scaleOf(cut === null ? [[...byLayer]] : [byLayer.slice(0, cut), byLayer.slice(cut)]);
  let chosen: number | null = null;
  for (let bands = 2; bands <= byLayer.length / 2; bands++) {
    const columns = Math.ceil(byLayer.length / bands), scale = scaleOf(bandsOf(byLayer, columns));
    if (scale > best * WORTH_A_FOLD) [best, chosen] = [scale, columns];
  }
  return chosen;
}

/** Rows that run to the right and to the left in turn. */
function placeBands(byLayer: readonly number[][], columns: number, cells: (Cell | undefined)[]): Placed {
  const directions: (1 | -1)[] = [];
  for (const [at, band] of bandsOf(byLayer, columns).entries()) {
    const first = directions.length, direction = at % 2 === 0 ? 1 : -1;
    for (let row = rowsOf(band); row > 0; row--) directions.push(direction);
    band.forEach((layer, index) =>
      layer.forEach((step, place) =>
        cells[step] = { row: first + place, column: direction > 0 ? index : columns - 1 - index }
      )
    );
  }
  return { cells, folded: true, direction: (row) => directions[row] ?? 1 };
}

/** A longest path through the graph. */
function longestWay(layers: readonly number[], links: readonly Link[], steps: readonly number[]): Set<number> {
  let step = steps.reduce((best, other) => (layers[other] > layers[best] ? other : best), steps[0]);
  const way = new Set([step]);
  for (;;) {
    const before = links.find(([from, to]) => to === step && layers[from] === layers[step] - 1);
    if (before === undefined) return way;
    way.add(step = before[0]);
  }
}

/** Number of layers in the upper row; null for a layout from left to right. */
function foldAfter(
  ops: readonly string[],
  layers: readonly number[],
  links: readonly Link[],
  evaluation: readonly boolean[],
  spine: ReadonlySet<number>,
  count: number,
  { block, gutter, pageWidth }: GraphFrame,
): number | null {
  if (pageWidth / (count * (block.width + gutter)) >= READABLE_SCALE) return null;
  const crossing = (cut: number) =>
    links.filter(([from, to]) => !evaluation[to] && layers[from] < cut && layers[to] >= cut).length;
  const fitting = (cuts: number[]) =>
    cuts.filter((cut) => cut > 0 && cut < count && crossing(cut) <= MAX_CUT)
      .sort((a, b) => Math.max(a, count - a) - Math.max(b, count - b) || crossing(a) - crossing(b) || b - a);
  const channels = [...spine].filter((step) => isChannel(ops[step])).map((step) => layers[step] + 1);
  const anywhere = Array.from({ length: count }, (_, cut) => cut);
  return fitting(channels)[0] ?? fitting(anywhere)[0] ?? null;
}

/** Whether an operation is between sender and receiver. */
function isChannel(op: string): boolean {
  return /^wireless\.(channel|digital_link)$|^channel\.[a-z0-9_]*_link$/.test(op);
}

/** Places the evaluation below all other steps, each near the middle of its inputs. */
function placeEvaluation(cells: (Cell | undefined)[], links: readonly Link[], evaluation: readonly boolean[]): void {
  const placed = cells.filter((cell) => cell !== undefined);
  const first = Math.max(...placed.map(({ row }) => row)) + 1;
  // Measurements of a single source are also placed side by side.
  const count = evaluation.filter(Boolean).length;
  const columns = Math.max(...placed.map(({ column }) => column + 1), Math.min(count, EVALUATION_COLUMNS));
  const taken = new Set<string>();
  evaluation.forEach((measures, step) => {
    if (!measures) return;
    const read = links.filter(([, to]) => to === step).map(([from]) => from);
    const near = read.map((from) => cells[from]!.column).sort((a, b) => a - b);
    const wanted = near.length === 0 ? 0 : near[(near.length - 1) >> 1];
    // Below the evaluation steps that it reads.
    let row = Math.max(first, ...read.filter((from) => evaluation[from]).map((from) => cells[from]!.row + 1));
    for (;; row++) {
      const free = Array.from({ length: columns }, (_, column) => column).filter((column) =>
        !taken.has(`${row} ${column}`)
      )
        .sort((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted) || a - b);
      if (free.length === 0) continue;
      taken.add(`${row} ${free[0]}`);
      cells[step] = { row, column: free[0] };
      return;
    }
  });
}
