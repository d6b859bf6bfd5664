import assert from "node:assert/strict";
import { compile } from "../../../mod.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { type RecipeGraph, recipeGraph } from "../../../lib/figure/graph/graph.ts";
import { type GraphLayout, layoutGraph } from "../../../lib/figure/graph/layout.ts";
import { graphSvg } from "../../../lib/figure/graph/svg.ts";
import { dice, SHIPPED } from "../recipe/_edits.ts";

const registry = await createRegistry();

async function shipped(name: string): Promise<RecipeGraph> {
  const [, text] = SHIPPED.find(([file]) => file === `${name}.yaml`)!;
  return recipeGraph((await compile(text)).effective!, registry);
}

/** The frame of the page's editor. */
const SCREEN = { block: { width: 216, height: 92 }, gutter: 36, pageWidth: 900, pageHeight: 560, labels: false };

/** The page draws one label at a time, without space of its own. */
const isOfDrawing = (flaw: string) => !flaw.startsWith("the label");

/** A graph of steps by their operations, and edges by their indices. */
function graphOf(ops: string[], links: [number, number][]): RecipeGraph {
  const nodes = ops.map((op, index) => ({
    id: `s${index}`,
    op,
    name: `Step ${index}`,
    outputs: { out: op.startsWith("metrics.") ? "metrics.report" : "channel.payload_bits.numpy" },
  }));
  const edges = links.map(([from, to], index) => ({
    from_step: `s${from}`,
    from_output: "out",
    to_step: `s${to}`,
    to_input: `in_${index}`,
  }));
  return { schema_version: 1, recipe: "test", nodes, edges };
}

/** What makes a picture unreadable: blocks on each other, wires through blocks, slanted wires, anything outside. */
function flaws({ blocks, wires, width, height }: GraphLayout): string[] {
  const found: string[] = [];
  for (const [index, a] of blocks.entries()) {
    if (a.x < 0 || a.y < 0 || a.x + a.width > width || a.y + a.height > height) found.push(`${a.id} is outside`);
    for (const b of blocks.slice(index + 1)) {
      if (a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height) {
        found.push(`${a.id} is on ${b.id}`);
      }
    }
  }
  for (const { edge, points, label } of wires) {
    const wire = `${edge.from_step} -> ${edge.to_step}`;
    const reach = label.text.length * 6;
    const left = label.x - (label.anchor === "end" ? reach : label.anchor === "middle" ? reach / 2 : 0);
    if (left < 0 || left + reach > width + 1) found.push(`the label of ${wire} is outside`);
    for (let corner = 1; corner < points.length; corner++) {
      const [[ax, ay], [bx, by]] = [points[corner - 1], points[corner]];
      if (ax !== bx && ay !== by) found.push(`${wire} is slanted`);
      for (const { id, x, y, width: w, height: h } of blocks) {
        const inside = Math.max(ax, bx) > x && Math.min(ax, bx) < x + w && Math.max(ay, by) > y &&
          Math.min(ay, by) < y + h;
        if (inside) found.push(`${wire} runs through ${id}`);
      }
    }
    const ends = [[points[0], edge.from_step], [points.at(-1)!, edge.to_step]] as const;
    for (const [[px, py], id] of ends) {
      const { x, y, width: w, height: h } = blocks.find((block) => block.id === id)!;
      const touches = px >= x && px <= x + w && py >= y && py <= y + h;
      if (!touches) found.push(`${wire} does not touch ${id}`);
    }
  }
  const runs = wires.flatMap(({ edge, points }) =>
    points.slice(1).map(([bx, by], at) => {
      const [ax, ay] = points[at], level = ay === by;
      const [low, high] = level ? [Math.min(ax, bx), Math.max(ax, bx)] : [Math.min(ay, by), Math.max(ay, by)];
      return { net: `${edge.from_step}.${edge.from_output}`, edge, level, at: level ? ay : ax, low, high };
    })
  );
  for (const [index, a] of runs.entries()) {
    for (const b of runs.slice(index + 1)) {
      const shared = Math.min(a.high, b.high) - Math.max(a.low, b.low);
      if (a.net !== b.net && a.level === b.level && a.at === b.at && shared > 0) {
        found.push(`${a.net} -> ${a.edge.to_step} and ${b.net} -> ${b.edge.to_step} lie on each other`);
      }
    }
  }
  return found;
}

Deno.test("a long link is folded at its channel, its source above its evaluation", async () => {
  const layout = layoutGraph(await shipped("quickstart"));
  assert.ok(layout.folded);
  const block = (id: string) => layout.blocks.find((candidate) => candidate.id === id)!;
  const senders = ["data", "sender", "payload_bit_boundary", "packetizer", "channel_encoder", "tx_bit_boundary"]
    .concat(["modulator", "tx_power", "wireless_channel"]).map(block);
  const receivers = ["demodulator", "rx_bit_boundary", "channel_decoder", "crc_check", "receiver"].map(block);
  assert.ok(senders.every(({ row, column }, index) => row === 0 && column === index));
  assert.ok(receivers.every(({ row, column }, index) => row === 1 && column === 8 - index));
  assert.equal(block("wireless_channel").x, block("demodulator").x);
  assert.equal(block("evaluation").x, block("data").x);
  assert.ok(["evaluation", "coded_ber", "payload_ber", "resources"].every((id) => block(id).row === 2));
  assert.deepEqual(
    layout.wires.filter(({ measures }) => !measures).map(({ edge }) => edge.to_step),
    [...senders.slice(1), ...receivers].map(({ id }) => id),
  );
});

Deno.test("a long link on a screen is folded until its blocks are largest", async () => {
  const layout = layoutGraph(await shipped("quickstart"), SCREEN);
  const columns = Math.max(...layout.blocks.map(({ column }) => column)) + 1;
  assert.ok(columns < 9, `${columns} columns`);
  const scale = Math.min(SCREEN.pageWidth / layout.width, SCREEN.pageHeight / layout.height);
  const once = layoutGraph(await shipped("quickstart"), { ...SCREEN, pageHeight: undefined });
  assert.ok(scale > 1.1 * Math.min(SCREEN.pageWidth / once.width, SCREEN.pageHeight / once.height));
  assert.deepEqual(layoutGraph(await shipped("jpeg_capacity_matched_awgn"), SCREEN).folded, false);
});

Deno.test("a short recipe runs from left to right", async () => {
  const layout = layoutGraph(await shipped("jpeg_capacity_matched_awgn"));
  assert.ok(!layout.folded);
  assert.deepEqual(layout.blocks.map(({ row, column }) => [row, column]), [[0, 0], [0, 1], [1, 0], [1, 1]]);
});

Deno.test("no shipped recipe has a flaw in its picture", async () => {
  for (const [file] of SHIPPED) {
    const graph = await shipped(file.replace(".yaml", ""));
    assert.deepEqual(flaws(layoutGraph(graph)), [], file);
    assert.deepEqual(flaws(layoutGraph(graph, SCREEN)).filter(isOfDrawing), [], `${file} on a screen`);
  }
});

Deno.test("nor has any graph of up to sixty steps", () => {
  const roll = dice(3), kinds = ["source.x", "model.x", "channel.x_link", "wireless.channel", "metrics.x", "channel.x"];
  for (let round = 0; round < 150; round++) {
    const count = 1 + roll(round < 140 ? 20 : 60);
    const ops = Array.from({ length: count }, () => kinds[roll(kinds.length)]);
    const links: [number, number][] = [];
    for (let to = 1; to < count; to++) {
      // Mostly chains, with shortcuts.
      for (let input = roll(4); input > 0; input--) links.push([input === 1 ? to - 1 : roll(to), to]);
    }
    const graph = graphOf(ops, links);
    assert.deepEqual(flaws(layoutGraph(graph)), [], JSON.stringify([ops, links]));
    assert.deepEqual(
      flaws(layoutGraph(graph, SCREEN)).filter(isOfDrawing),
      [],
      `on a screen: ${JSON.stringify([ops, links])}`,
    );
    assert.equal(graphSvg(graph), graphSvg(structuredClone(graph)));
  }
});

Deno.test("the picture does not depend on parameters", async () => {
  const graph = await shipped("quickstart");
  const other = { ...graph, nodes: graph.nodes.map((node) => ({ ...node, params: { a: 1 } })) };
  assert.equal(graphSvg(other), graphSvg(graph));
});

/** Elements of an XML text, with nesting checked. */
function elements(xml: string): string[] {
  const open: string[] = [], seen: string[] = [];
  const rest = xml.replace(
    /<(\/?)([A-Za-z][\w-]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/g,
    (_, closes, name, _attributes, empty) => {
      if (closes) assert.equal(open.pop(), name);
      else {
        seen.push(name);
        if (!empty) open.push(name);
      }
      return "";
    },
  );
  assert.deepEqual(open, []);
  assert.doesNotMatch(rest, /[<>]|&(?!(amp|lt|gt|quot|#39);)/);
  return seen;
}

Deno.test("the drawing is well-formed, for both themes, whatever the names are", async () => {
  const svg = graphSvg(await shipped("quickstart"));
  const seen = elements(svg);
  assert.equal(seen.filter((name) => name === "marker").length, 2);
  assert.match(svg, /prefers-color-scheme:dark/);
  assert.match(svg, />wireless_channel<.*>wireless\.channel</);
  assert.match(svg, />coded_bits</);
  assert.match(svg, /bits → reference/);
  assert.doesNotMatch(svg, /<script|href=|url\((?!#)/);
  const wild = graphOf(["a.<b>", "metrics.\"&'"], [[0, 1]]);
  wild.recipe = '</title><script>alert("1")</script>\u0000\ud800';
  wild.nodes[0].name = "<b>& \u0007";
  elements(graphSvg(wild));
  for (const forbidden of ["<script", "\u0000", "\u0007"]) assert.ok(!graphSvg(wild).includes(forbidden));
});
