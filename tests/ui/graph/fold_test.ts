/** Checkpoints and counts of the shipped recipes are dots on wires that they read, apart from blocks and from each other. */
import assert from "node:assert/strict";
import { compile } from "../../../mod.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { type RecipeGraph, recipeGraph } from "../../../lib/figure/graph/graph.ts";
import { DOT, foldedLayout, type Picture } from "../../../ui/graph/fold.ts";
import { SHIPPED } from "../../lib/recipe/_edits.ts";

/** The frame of the editor. */
const SCREEN = { block: { width: 216, height: 92 }, gutter: 36, pageWidth: 900, pageHeight: 560, labels: false };
const registry = await createRegistry();

/** A graph from `id op reads …` lines. */
function graphOf(...lines: string[]): RecipeGraph {
  const steps = lines.map((line) => line.split(" "));
  return {
    schema_version: 1,
    recipe: "test",
    nodes: steps.map(([id, op]) => ({ id, op, name: op, outputs: { out: op.startsWith("metrics.") ? op : "bits" } })),
    edges: steps.flatMap(([id, , ...read]) =>
      read.map((from, at) => ({ from_step: from, from_output: "out", to_step: id, to_input: `in_${at}` }))
    ),
  };
}

const wiresOf = ({ wires, through }: Picture) =>
  wires.map(({ edge }) => [edge.from_step, ...through.get(edge)!, edge.to_step].join(" ")).sort();
const idsOf = (steps: readonly { id: string }[]) => steps.map(({ id }) => id);

/** Whether a dot is on a wire of a step. */
const isOn = ({ wires }: Picture, { x, y }: { x: number; y: number }) =>
  wires.some(({ points }) =>
    points.slice(1).some(([bx, by], at) => {
      const [ax, ay] = points[at], [cx, cy] = [x + DOT / 2, y + DOT / 2];
      return Math.min(ax, bx) <= cx && cx <= Math.max(ax, bx) && Math.min(ay, by) <= cy && cy <= Math.max(ay, by);
    })
  );

Deno.test("a wire leads through its checkpoints; counts stand on a wire that they read", () => {
  const picture = foldedLayout(
    graphOf(
      "data source.random_bits",
      "sent channel.bit_boundary data",
      "again channel.bit_boundary sent",
      "link channel.bsc_link again",
      "received channel.bit_boundary link",
      "match channel.bit_count_match again received",
      "ber metrics.bit_error_rate sent received",
    ),
    SCREEN,
  );
  assert.deepEqual(idsOf(picture.blocks), ["data", "link", "ber"]);
  assert.deepEqual(idsOf(picture.dots).sort(), ["again", "match", "received", "sent"]);
  assert.deepEqual(wiresOf(picture), ["data sent again link", "data sent ber", "link received ber"]);
});

Deno.test("a helper whose output is used elsewhere, or that no wire passes, remains a block", () => {
  const graph = graphOf(
    "data source.random_bits",
    "lone source.random_bits",
    "end channel.bit_boundary lone",
    "count channel.bit_count_match end end",
    "match channel.bit_count_match data data",
    "link channel.bsc_link data",
    "ber metrics.bit_error_rate data match",
  );
  const { blocks, dots } = foldedLayout(graph, SCREEN);
  assert.deepEqual(idsOf(dots), []);
  assert.equal(blocks.length, 7);
});

Deno.test("in every shipped recipe each step is a block or a dot on a wire, apart from the others", async () => {
  let folded = 0;
  for (const [file, text] of SHIPPED) {
    const { effective } = await compile(text);
    if (effective === null) continue;
    const graph = recipeGraph(effective, registry), picture = foldedLayout(graph, SCREEN), { blocks, dots } = picture;
    assert.deepEqual([...idsOf(blocks), ...idsOf(dots)].sort(), graph.nodes.map(({ id }) => String(id)).sort(), file);
    for (const [at, dot] of dots.entries()) {
      assert.ok(isOn(picture, dot), `${file}: ${dot.id} is on no wire`);
      const touches = (x: number, y: number, width: number, height: number) =>
        dot.x < x + width && x < dot.x + DOT && dot.y < y + height && y < dot.y + DOT;
      for (const { id, x, y, width, height } of [...blocks, ...dots.slice(at + 1)]) {
        assert.ok(!touches(x, y, width, height), `${file}: ${dot.id} is on ${id}`);
      }
    }
    folded += dots.length;
  }
  assert.ok(folded > 100, `${folded} dots`);
});
