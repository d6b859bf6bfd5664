/**
 * Routes wires between blocks on a grid, along lanes between rows and beside columns, so that no wire crosses a block.
 * Neighbours are joined directly. Rows and columns are as wide as their lanes need.
 */
import type { GraphEdge } from "./graph.ts";

export interface Cell {
  row: number;
  column: number;
}

export interface GraphWire {
  edge: GraphEdge;
  /** Whether it leads to an evaluation step. */
  measures: boolean;
  /** Corners from the source to the target block; all segments are horizontal or vertical. */
  points: [number, number][];
  label: { text: string; x: number; y: number; anchor: "start" | "middle" | "end" };
}

/** A wire by its cells; wires of one net start at the same output and share segments. */
export interface LaneWire {
  edge: GraphEdge;
  from: Cell;
  to: Cell;
  net: string;
}

export interface LaneOptions {
  block: { width: number; height: number };
  /** Least space between two columns. */
  gutter: number;
  /** Whether space is reserved for wire labels. */
  labels: boolean;
  /** Direction of a row's wires: right (1) or left (-1). */
  direction(row: number): 1 | -1;
}

export interface Routed {
  width: number;
  height: number;
  corner(cell: Cell): { x: number; y: number };
  wires: Omit<GraphWire, "measures">[];
}

const MARGIN = 24;
const LANE_HEIGHT = 17;
const LANE_WIDTH = 10;
const LETTER_WIDTH = 6.1;
/** Least distance between parallel vertical wires. */
const STEP = 6;

/** Assigns overlapping stretches to different parallel lanes. */
class Lanes {
  readonly #stretches = new Map<string, { low: number; high: number }>();
  #lanes: Map<string, number> | undefined;

  /** Requests a stretch; the same key extends it. */
  add(key: string, a: number, b: number): void {
    const known = this.#stretches.get(key);
    const low = Math.min(a, b, known?.low ?? Infinity), high = Math.max(a, b, known?.high ?? -Infinity);
    this.#stretches.set(key, { low, high });
  }

  lane(key: string): number {
    return this.#assign().get(key)!;
  }

  get count(): number {
    return Math.max(0, ...[...this.#assign().values()].map((lane) => lane + 1));
  }

  #assign(): Map<string, number> {
    if (this.#lanes !== undefined) return this.#lanes;
    const ends: number[] = [], lanes = new Map<string, number>();
    const sorted = [...this.#stretches].sort(([, a], [, b]) => a.low - b.low || b.high - a.high);
    for (const [key, { low, high }] of sorted) {
      let lane = ends.findIndex((end) => end < low);
      if (lane < 0) lane = ends.length;
      ends[lane] = high;
      lanes.set(key, lane);
    }
    return this.#lanes = lanes;
  }
}

/** Ports and lanes of a wire. Gap r is above row r, gutter c left of column c. */
interface Way {
  wire: LaneWire;
  index: number;
  /** Between neighbours, or around the fold. */
  direct: boolean;
  fromGap: number;
  toGap: number;
  gutter: number;
  /** Side of the label, left (-1) or right (1) of the turn to the block. */
  labelSide: 1 | -1;
}

/**
 * Routes wires.
 * @param cells cells of all blocks
 */
export function route(wires: readonly LaneWire[], cells: readonly Cell[], options: LaneOptions): Routed {
  const columns = Math.max(...cells.map(({ column }) => column)) + 1;
  const rows = Math.max(...cells.map(({ row }) => row)) + 1;
  const taken = new Set(cells.map(({ row, column }) => `${row} ${column}`));
  const clear = (column: number, a: number, b: number) => {
    for (let row = Math.min(a, b); row < Math.max(a, b); row++) if (taken.has(`${row} ${column}`)) return false;
    return true;
  };
  const ways = wires.map((wire, index) => wayOf(wire, index, options, columns - 1, clear));
  const lanes = ways.filter(({ direct }) => !direct);

  const ports = new Ports(lanes);
  const gaps = Array.from({ length: rows + 1 }, () => new Lanes());
  const gutters = Array.from({ length: columns + 1 }, () => new Lanes());
  const pitch = options.block.width + options.gutter;
  for (const way of lanes) {
    const start = ports.abstract(way, "from"), end = ports.abstract(way, "to");
    const side = way.gutter - options.gutter / pitch / 2;
    const bend = way.fromGap === way.toGap ? start : side;
    const label = (options.labels ? labelOf(way.wire).length * LETTER_WIDTH / pitch : 0) + 0.05;
    // The label is along the wire, or on the other side of a short wire.
    way.labelSide = (bend <= end) === (Math.abs(end - bend) >= label) ? -1 : 1;
    gaps[way.toGap].add(`to ${way.index}`, bend, end);
    gaps[way.toGap].add(`to ${way.index}`, end, end + label * way.labelSide);
    if (way.fromGap === way.toGap) continue;
    gaps[way.fromGap].add(`from ${way.wire.net}`, start, side);
    gutters[way.gutter].add(way.wire.net, way.fromGap, way.toGap);
  }

  const directLabel = !options.labels
    ? 0
    : Math.max(0, ...ways.filter(({ direct }) => direct).map(({ wire }) => shortLabel(wire).length));
  const least = Math.max(options.gutter, directLabel === 0 ? 0 : directLabel * LETTER_WIDTH + 22);
  const xs: number[] = [], ys: number[] = [];
  let x = MARGIN + LANE_WIDTH * (gutters[0].count + 1), y = MARGIN;
  for (let column = 0; column < columns; column++) {
    xs.push(x);
    x += options.block.width +
      Math.max(column < columns - 1 ? least : 28, LANE_WIDTH * (gutters[column + 1].count + 2));
  }
  for (let row = 0; row < rows; row++) {
    y += gapHeight(gaps[row], row === 0);
    ys.push(y);
    y += options.block.height;
  }
  const height = y + gapHeight(gaps[rows], true) + MARGIN;
  const gapY = (gap: number, lane: number) =>
    (gap === rows ? y : ys[gap] - gapHeight(gaps[gap], gap === 0)) + LANE_HEIGHT * (lane + 1);
  const gutterX = (gutter: number, lane: number) =>
    (gutter === 0 ? MARGIN : xs[gutter - 1] + options.block.width) + LANE_WIDTH * (lane + 1);

  const place = (way: Way): Omit<GraphWire, "measures"> => {
    const { wire } = way;
    if (way.direct) return directWire(way, xs, ys, options, shareOf(way, ways));
    const start = xs[wire.from.column] + ports.offset(way, "from", options.block.width);
    const end = xs[wire.to.column] + ports.offset(way, "to", options.block.width);
    const top = (cell: Cell, gap: number) => ys[cell.row] + (gap > cell.row ? options.block.height : 0);
    const toY = gapY(way.toGap, gaps[way.toGap].lane(`to ${way.index}`));
    const points: [number, number][] = [[start, top(wire.from, way.fromGap)]];
    let bend = start;
    if (way.fromGap === way.toGap) points.push([start, toY]);
    else {
      const fromY = gapY(way.fromGap, gaps[way.fromGap].lane(`from ${wire.net}`));
      bend = gutterX(way.gutter, gutters[way.gutter].lane(wire.net));
      points.push([start, fromY], [bend, fromY], [bend, toY]);
    }
    points.push([end, toY], [end, top(wire.to, way.toGap)]);
    const side = way.labelSide;
    return {
      edge: wire.edge,
      points,
      label: { text: labelOf(wire), x: end + 5 * side, y: toY - 4, anchor: side < 0 ? "end" : "start" },
    };
  };
  const placed = ways.map(place);
  // Labels may extend beyond the first and the last column.
  const sides = placed.map(({ label: { text, x, anchor } }) => {
    const reach = text.length * LETTER_WIDTH, left = x - reach * { start: 0, middle: 0.5, end: 1 }[anchor];
    return [left, left + reach];
  });
  const beyond = (by: number) => options.labels ? Math.max(0, Math.ceil(MARGIN / 2 + by)) : 0;
  const shift = beyond(Math.max(...sides.map(([left]) => -left)));
  return {
    width: x + MARGIN + shift + beyond(Math.max(...sides.map(([, right]) => right)) - x - MARGIN),
    height,
    corner: ({ row, column }) => ({ x: xs[column] + shift, y: ys[row] }),
    wires: placed.map(({ edge, points, label }) => ({
      edge,
      points: points.map(([px, py]): [number, number] => [px + shift, py]),
      label: { ...label, x: label.x + shift },
    })),
  };
}

function gapHeight(gap: Lanes, outer: boolean): number {
  return gap.count === 0 ? (outer ? 0 : 30) : LANE_HEIGHT * (gap.count + 1) + 6;
}

function wayOf(
  wire: LaneWire,
  index: number,
  options: LaneOptions,
  last: number,
  clear: (column: number, fromGap: number, toGap: number) => boolean,
): Way {
  const { from, to } = wire;
  const turn = options.direction(from.row);
  const neighbours = from.row === to.row && to.column - from.column === turn;
  const below = from.column === to.column && to.row === from.row + 1;
  const fold = below && to.column === last && turn === 1 && options.direction(to.row) === -1;
  const down = to.row > from.row, level = to.row === from.row;
  let fromGap = down || level ? from.row + 1 : from.row, toGap = down ? to.row : to.row + 1;
  // A wire that crosses an empty column runs straight and needs one lane.
  if (clear(to.column, fromGap, toGap)) toGap = fromGap;
  else if (clear(from.column, fromGap, toGap)) fromGap = toGap;
  return {
    wire,
    index,
    direct: neighbours || fold,
    fromGap,
    toGap,
    // The side of the target block that is nearest to the source.
    gutter: to.column + (from.column > to.column ? 1 : 0),
    labelSide: -1,
  };
}

/** Positions of wire ends on upper and lower sides of blocks, in the order of the other ends. */
class Ports {
  readonly #order = new Map<string, string[]>();
  readonly #spread = new Map<string, number>();
  readonly #offsets = new Map<string, number>();
  readonly #taken = new Map<number, number[]>();

  constructor(ways: readonly Way[]) {
    const wanted = new Map<string, Map<string, number>>();
    for (const way of ways) {
      for (const end of ["from", "to"] as const) {
        const side = sideOf(way, end), other = end === "from" ? way.wire.to : way.wire.from;
        const ports = wanted.get(side) ?? new Map<string, number>();
        ports.set(portOf(way, end), other.column + other.row / 1000 + way.index / 1e6);
        wanted.set(side, ports);
      }
    }
    for (const [side, ports] of wanted) {
      this.#order.set(side, [...ports].sort(([, a], [, b]) => a - b).map(([port]) => port));
      this.#spread.set(side, ports.size);
    }
  }

  #share(way: Way, end: "from" | "to"): number {
    const side = sideOf(way, end);
    return (this.#order.get(side)!.indexOf(portOf(way, end)) + 1) / (this.#spread.get(side)! + 1);
  }

  /** In columns. */
  abstract(way: Way, end: "from" | "to"): number {
    return way.wire[end].column + this.#share(way, end) * 0.7;
  }

  /** Distance from the left side of the block. Ports of one column are all distinct, so that no two stubs meet. */
  offset(way: Way, end: "from" | "to", width: number): number {
    const { column } = way.wire[end], key = `${sideOf(way, end)} ${portOf(way, end)}`;
    const known = this.#offsets.get(key);
    if (known !== undefined) return known;
    const taken = this.#taken.get(column) ?? [];
    const wanted = Math.round(width * this.#share(way, end));
    const nearest = Array.from({ length: width - 1 }, (_, index) => index + 1)
      .sort((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted));
    const free = (distance: number) =>
      nearest.find((offset) => taken.every((other) => Math.abs(other - offset) >= distance));
    const offset = free(STEP) ?? free(1) ?? wanted;
    this.#taken.set(column, [...taken, offset]);
    this.#offsets.set(key, offset);
    return offset;
  }
}

function sideOf(way: Way, end: "from" | "to"): string {
  const cell = way.wire[end], gap = end === "from" ? way.fromGap : way.toGap;
  return `${cell.row} ${cell.column} ${gap > cell.row ? "below" : "above"}`;
}

function portOf(way: Way, end: "from" | "to"): string {
  return end === "from" ? `from ${way.wire.net}` : `to ${way.index}`;
}

/** Position of a direct wire among those between the same two blocks. */
function shareOf(way: Way, ways: readonly Way[]): number {
  const same = ways.filter(({ direct, wire }) =>
    direct && wire.edge.from_step === way.wire.edge.from_step && wire.edge.to_step === way.wire.edge.to_step
  );
  return (same.indexOf(way) + 1) / (same.length + 1);
}

function directWire(
  { wire }: Way,
  xs: readonly number[],
  ys: readonly number[],
  { block, direction }: LaneOptions,
  share: number,
): Omit<GraphWire, "measures"> {
  const { from, to } = wire, turn = direction(from.row);
  const out = xs[from.column] + (turn > 0 ? block.width : 0), fromY = Math.round(ys[from.row] + block.height * share);
  const text = shortLabel(wire);
  if (from.row === to.row) {
    const into = xs[to.column] + (turn > 0 ? 0 : block.width);
    return {
      edge: wire.edge,
      points: [[out, fromY], [into, fromY]],
      label: { text, x: (out + into) / 2, y: fromY - 6, anchor: "middle" },
    };
  }
  const side = out + 18 + Math.round(share * 10), toY = Math.round(ys[to.row] + block.height * share);
  return {
    edge: wire.edge,
    points: [[out, fromY], [side, fromY], [side, toY], [out, toY]],
    label: { text, x: side - 6, y: (ys[from.row] + block.height + ys[to.row]) / 2 + 4, anchor: "end" },
  };
}

/** The output kind of a wire, and the target input if its name differs. */
function labelOf({ edge }: LaneWire): string {
  return edge.from_output === edge.to_input ? edge.from_output : `${edge.from_output} → ${edge.to_input}`;
}

/** Between neighbours there is space for one name. */
function shortLabel({ edge }: LaneWire): string {
  return edge.from_output;
}
