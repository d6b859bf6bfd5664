/** The graph of a recipe: its blocks and wires, the signs of planes and states, and the ways from block to block. */
import { stepOutputKinds } from "../../lib/contract/output_kinds.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import type { RecipeGraph } from "../../lib/figure/graph/graph.ts";
import { type Plane, planeOf } from "../../lib/figure/graph/layout.ts";
import { contracts } from "../state/contracts.ts";
import { type Step, stepsOf } from "../state/copies.ts";
import type { Dot } from "./fold.ts";

/** The graph of a recipe as the layout reads it. */
export function graphOf(recipe: JsonObject): RecipeGraph {
  const steps = stepsOf(recipe), known = contracts.value, kinds = stepOutputKinds(steps, (op) => known.get(op));
  return {
    schema_version: 1,
    recipe: String(recipe.name ?? ""),
    nodes: steps.map(({ id, op }, index) => {
      const contract = known.get(op);
      return {
        id,
        op,
        name: contract?.name ?? op,
        outputs: kinds[index] ?? contract?.output_kinds ?? {},
      };
    }),
    edges: steps.flatMap((step) =>
      Object.entries(step.inputs).flatMap(([port, reference]) => {
        const [from, output] = String(reference).split(".");
        return output === undefined ? [] : [{ from_step: from, from_output: output, to_step: step.id, to_input: port }];
      })
    ),
  };
}

/** Colour of a block: its plane, or that of operations of one's own, whose plane is not known. */
export type Colour = Plane | "own";
export const colourOf = (op: string): Colour => contracts.value.get(op)?.own ? "own" : planeOf(op);

/** Letters that go with the colours. */
export const PLANES: Readonly<Record<Colour, string>> = {
  source: "S",
  semantic: "M",
  communication: "C",
  measurement: "E",
  own: "O",
};
export const GLYPHS = {
  running: "▶",
  completed: "✓",
  failed: "✕",
  canceled: "■",
  interrupted: "!",
  "not started": "○",
  trained: "◆",
  passes: "→",
  blocks: "✕",
  loss: "∇",
} as const;

const sourcesOf = (steps: readonly Step[], id: string) =>
  Object.values(steps.find((step) => step.id === id)?.inputs ?? {}).map((text) => String(text).split(".")[0]);

/**
 * The block that a key leads to: Right and Left follow wires, Up and Down take the nearest block above or below, Home and End
 * the first and last.
 *
 * @returns undefined where no block lies there, null for another key
 */
export function neighbour(
  blocks: readonly Dot[],
  steps: readonly Step[],
  from: Dot,
  key: string,
): Dot | undefined | null {
  // A block straight ahead comes before one aside.
  const across = key === "ArrowUp" || key === "ArrowDown";
  const distance = ({ x, y }: Dot) => Math.hypot((x - from.x) * (across ? 2 : 1), (y - from.y) * (across ? 1 : 2));
  const nearest = (wanted: (block: Dot) => boolean) =>
    blocks.filter((block) => block !== from && wanted(block)).sort((a, b) => distance(a) - distance(b))[0];
  switch (key) {
    case "ArrowRight":
      return nearest(({ id }) => sourcesOf(steps, id).includes(from.id));
    case "ArrowLeft":
      return nearest(({ id }) => sourcesOf(steps, from.id).includes(id));
    case "ArrowUp":
      return nearest(({ y }) => y < from.y);
    case "ArrowDown":
      return nearest(({ y }) => y > from.y);
    case "Home":
      return blocks[0];
    case "End":
      return blocks.at(-1);
  }
  return null;
}

/** A block with its ancestors and descendants. */
export function lineage(steps: readonly Step[], id: string): Set<string> {
  const found = new Set([id]), below = new Set([id]);
  const up = (at: string) =>
    sourcesOf(steps, at).forEach((source) => !found.has(source) && (found.add(source), up(source)));
  up(id);
  for (const step of steps) if (sourcesOf(steps, step.id).some((source) => below.has(source))) below.add(step.id);
  return new Set([...found, ...below]);
}
