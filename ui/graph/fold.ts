/** Checkpoints, comparisons of counts and accounting as dots on the wires that they read. */
import type { GraphEdge, RecipeGraph } from "../../lib/figure/graph/graph.ts";
import { type GraphBlock, type GraphFrame, type GraphLayout, layoutGraph } from "../../lib/figure/graph/layout.ts";

/** Steps that change no signal and give no result of the link. */
const HELPER = /^channel\.((bit|symbol)_(boundary|count_match)|communication_resource_accounting)/;
const CHECKPOINT = /_boundary$/;
/** Diameter of a dot, and the space between two columns that two dots need. */
export const DOT = 16;
const GUTTER = 54;

/** A block without a cell of its own. */
export type Dot = Omit<GraphBlock, "plane" | "row" | "column">;

export interface Picture extends GraphLayout {
  /** Folded steps, with the squares around their dots. */
  dots: Dot[];
  /** The checkpoints that a wire leads through. */
  through: ReadonlyMap<GraphEdge, readonly string[]>;
}

interface Folding {
  edges: GraphEdge[];
  through: Map<GraphEdge, readonly string[]>;
  /** The wires that each folded step may stand on. */
  places: Map<string, GraphEdge[]>;
}

/** Whether a recipe has steps that fold. */
export const hasHelpers = (steps: readonly { op: string }[]): boolean => steps.some(({ op }) => HELPER.test(op));

/** The layout of a graph with all its steps as blocks. */
export const plainLayout = (graph: RecipeGraph, frame: GraphFrame): Picture => ({
  ...layoutGraph(graph, frame),
  dots: [],
  through: new Map(),
});

/** The layout of a graph, with its helpers as dots. A helper without a wire to stand on remains a block. */
export function foldedLayout(graph: RecipeGraph, frame: GraphFrame): Picture {
  const ops = new Map(graph.nodes.map(({ id, op }) => [String(id), String(op)]));
  const small = new Set([...ops].filter(([, op]) => HELPER.test(op)).map(([id]) => id));
  let folding = foldingOf(graph, ops, small);
  for (;;) {
    const left = [...small].filter((id) =>
      folding.places.get(id)!.length === 0 || folding.edges.some(({ from_step }) => from_step === id)
    );
    if (left.length === 0) break;
    left.forEach((id) => small.delete(id));
    folding = foldingOf(graph, ops, small);
  }
  const nodes = graph.nodes.filter(({ id }) => !small.has(String(id)));
  const gutter = small.size > 0 ? Math.max(GUTTER, frame.gutter) : frame.gutter;
  const layout = layoutGraph({ ...graph, nodes, edges: folding.edges }, { ...frame, gutter });
  const names = new Map(graph.nodes.map(({ id, name }) => [String(id), String(name)]));
  const wires = new Map(layout.wires.map((wire) => [wire.edge, wire]));
  const standing = new Map<GraphEdge, string[]>();
  for (const id of [...ops.keys()].filter((id) => small.has(id))) {
    const places = folding.places.get(id)!;
    // A checkpoint is part of the link, a count is not.
    const links = CHECKPOINT.test(ops.get(id)!) ? places.filter((edge) => !wires.get(edge)!.measures) : places;
    const on = (edge: GraphEdge) => standing.get(edge) ?? [];
    const freest = (links.length > 0 ? links : places).reduce((best, edge) =>
      on(edge).length < on(best).length ? edge : best
    );
    standing.set(freest, [...on(freest), id]);
  }
  const dots = [...standing].flatMap(([edge, ids]) =>
    ids.map((id, at): Dot => {
      const [x, y] = pointAt(wires.get(edge)!.points, (at + 1) / (ids.length + 1));
      return {
        id,
        op: ops.get(id)!,
        name: names.get(id)!,
        x: x - DOT / 2,
        y: y - DOT / 2,
        width: DOT,
        height: DOT,
      };
    })
  );
  return { ...layout, dots, through: folding.through };
}

/** The wires between the other steps, led through the checkpoints among the small ones. */
function foldingOf(graph: RecipeGraph, ops: ReadonlyMap<string, string>, small: ReadonlySet<string>): Folding {
  const passes = (id: string) => small.has(id) && CHECKPOINT.test(ops.get(id)!);
  const into = (id: string) => graph.edges.filter(({ to_step }) => to_step === id);
  const origin = (edge: GraphEdge, through: string[] = []): { edge: GraphEdge; through: string[] } => {
    const before = passes(edge.from_step) ? into(edge.from_step)[0] : undefined;
    return before === undefined ? { edge, through } : origin(before, [edge.from_step, ...through]);
  };
  const folding: Folding = { edges: [], through: new Map(), places: new Map() };
  for (const edge of graph.edges) {
    if (small.has(edge.to_step)) continue;
    const { edge: { from_step, from_output }, through } = origin(edge);
    const direct = { ...edge, from_step, from_output };
    folding.edges.push(direct);
    folding.through.set(direct, through);
  }
  for (const id of small) {
    const own = folding.edges.filter((edge) => folding.through.get(edge)!.includes(id));
    const read = into(id).map((edge) => origin(edge).edge);
    const same = (edge: GraphEdge) =>
      read.some(({ from_step, from_output }) => edge.from_step === from_step && edge.from_output === from_output);
    folding.places.set(id, own.length > 0 ? own : folding.edges.filter(same));
  }
  return folding;
}

/** The point of a wire at a part of its length. */
function pointAt(points: readonly (readonly [number, number])[], part: number): readonly [number, number] {
  // All segments are horizontal or vertical.
  const lengths = points.slice(1).map(([x, y], at) => Math.abs(x - points[at][0]) + Math.abs(y - points[at][1]));
  let left = part * lengths.reduce((sum, length) => sum + length, 0), at = 0;
  while (left > lengths[at] && at < lengths.length - 1) left -= lengths[at++];
  const [x, y] = points[at], [toX, toY] = points[at + 1], share = left / (lengths[at] || 1);
  return [x + (toX - x) * share, y + (toY - y) * share];
}
