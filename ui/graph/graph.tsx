/**
 * The link as the textbook draws it: blocks and wires where `lib/plan/graph_layout` puts them, the same picture as
 * `svc recipe graph --format svg`. It can be moved and zoomed, walked with the arrow keys, and never edited.
 */
import type { JsonObject } from "../../lib/contract/value.ts";
import type { RecipeGraph } from "../../lib/plan/graph.ts";
import { type GraphBlock, type GraphFrame, layoutGraph, type Plane } from "../../lib/plan/graph_layout.ts";
import { signal, useEffect, useMemo, useRef, useState } from "../preact.ts";
import { contracts } from "../state/contracts.ts";
import { type Step, stepsOf } from "../state/copies.ts";
import type { StepState } from "../state/runs.ts";

/** The graph of a recipe as the layout reads it. */
export function graphOf(recipe: JsonObject): RecipeGraph {
  const steps = stepsOf(recipe), known = contracts.value;
  return {
    schema_version: 1,
    recipe: String(recipe.name ?? ""),
    nodes: steps.map(({ id, op, params }) => {
      const contract = known.get(op);
      return {
        id,
        op,
        name: contract?.name ?? op,
        status: contract?.status ?? "unknown",
        inputs: contract?.input_kinds ?? {},
        optional_inputs: contract?.optional_input_kinds ?? {},
        outputs: contract?.output_kinds ?? {},
        params,
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

/** Letters that go with the colours. */
export const PLANES: Readonly<Record<Plane, string>> = {
  source: "S",
  semantic: "M",
  communication: "C",
  measurement: "E",
};
export const GLYPHS = {
  running: "▶",
  completed: "✓",
  failed: "✕",
  canceled: "⏹",
  interrupted: "!",
  "not started": "○",
} as const;
/** Smaller than on paper, and folded early: the page has panels at its sides. */
const SCREEN: GraphFrame = { block: { width: 164, height: 94 }, gutter: 36, pageWidth: 900, labels: false };
/** From here on a block shows all it has; below, its name alone in larger type. */
const READABLE = 0.85;
/** Below, names no longer fit, and a block shows its id, as large as its width allows. */
const TINY = 0.5;
/** Type that is still read, in pixels of the screen, and the width of a letter in parts of its size. */
const LEAST_TYPE = 11, LETTER = 0.64;
/** Whether only the selection's ancestors and descendants are shown in full. */
const focusMode = signal(false);

interface Props {
  recipe: JsonObject;
  selected: string | null;
  onSelect(id: string): void;
  onOpen?(id: string): void;
  states?: ReadonlyMap<string, StepState>;
  /** Problems by step. */
  problems?: ReadonlyMap<string, number>;
  /** What is known of an output, by `step.port`: shape, dtype. */
  outputs?: ReadonlyMap<string, string>;
}

const LEAST_SCALE = 0.1, LARGEST_SCALE = 3;
/** A large picture is not shown smaller than this at first: names are read, and the small picture tells what else there is. */
const FIRST_SCALE = 0.36;
/** Pixels between what comes into sight and the edge. */
const EDGE = 12;

/** A picture in the middle of its frame, or from its beginning where it is larger. */
function placed(layout: { width: number; height: number }, size: { width: number; height: number }, scale: number) {
  return {
    scale,
    x: Math.max(EDGE, (size.width - layout.width * scale) / 2),
    // Below the tools, where it does not fit beside them.
    y: Math.max(44, (size.height - layout.height * scale) / 2),
  };
}

export function Graph({ recipe, selected, onSelect, onOpen, states, problems, outputs }: Props) {
  const steps = stepsOf(recipe);
  // Topology alone decides the picture: typing a value never moves a block.
  const topology = JSON.stringify(steps.map(({ id, op, inputs }) => [id, op, inputs])) + contracts.value.size;
  const layout = useMemo(() => layoutGraph(graphOf(recipe), SCREEN), [topology]);
  const frame = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 800, height: 500 });
  const [view, setView] = useState<{ x: number; y: number; scale: number } | null>(null);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) =>
      setSize({ width: entry.contentRect.width, height: entry.contentRect.height })
    );
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => setView(null), [topology]);
  const fit = Math.min(1.4, (size.width - 24) / layout.width, (size.height - 88) / layout.height);
  const whole = placed(layout, size, fit);
  const shown = view ?? placed(layout, size, Math.max(fit, FIRST_SCALE));
  useEffect(() => {
    // What is selected elsewhere comes into sight.
    const block = layout.blocks.find(({ id }) => id === selected);
    if (block === undefined) return;
    // No farther than it takes.
    const into = (from: number, length: number, room: number) =>
      from < EDGE ? EDGE - from : Math.min(0, room - EDGE - from - length);
    const dx = into(shown.x + block.x * shown.scale, block.width * shown.scale, size.width);
    const dy = into(shown.y + block.y * shown.scale, block.height * shown.scale, size.height);
    if (dx !== 0 || dy !== 0) setView({ ...shown, x: shown.x + dx, y: shown.y + dy });
  }, [selected]);
  const zoom = (factor: number, x = size.width / 2, y = size.height / 2) => {
    const scale = Math.min(LARGEST_SCALE, Math.max(LEAST_SCALE, shown.scale * factor)), ratio = scale / shown.scale;
    setView({ scale, x: x - (x - shown.x) * ratio, y: y - (y - shown.y) * ratio });
  };
  // At once, so that the next key begins where this one led.
  const go = (id: string) => {
    onSelect(id);
    frame.current!.querySelector<SVGGElement>(`.block[data-step="${CSS.escape(id)}"]`)?.focus();
  };
  const drag = useRef<{ x: number; y: number } | null>(null);
  const faint = selected !== null && focusMode.value;
  const kin = faint ? lineage(steps, selected!) : null;

  return (
    <div class="graph" ref={frame} data-faint={faint ? "" : undefined}>
      <svg
        role="group"
        aria-label={`Blocks of ${String(recipe.name ?? "the recipe")}`}
        onWheel={(event) => {
          event.preventDefault();
          const box = event.currentTarget.getBoundingClientRect();
          zoom(Math.exp(-event.deltaY / 500), event.clientX - box.left, event.clientY - box.top);
        }}
        onPointerDown={(event) => {
          if ((event.target as Element).closest(".block")) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          drag.current = { x: event.clientX - shown.x, y: event.clientY - shown.y };
        }}
        onPointerMove={(event) => {
          if (drag.current) setView({ ...shown, x: event.clientX - drag.current.x, y: event.clientY - drag.current.y });
        }}
        onPointerUp={() => drag.current = null}
        onPointerCancel={() => drag.current = null}
        onKeyDown={(event) => {
          if (event.key === "+" || event.key === "=") zoom(1.25);
          else if (event.key === "-") zoom(0.8);
          else if (event.key === "0") setView(whole);
          else return;
          event.preventDefault();
        }}
      >
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerUnits="userSpaceOnUse"
            markerWidth="10"
            markerHeight="10"
            orient="auto-start-reverse"
          >
            <path class="arrow" d="M0 0 8 4 0 8z" />
          </marker>
        </defs>
        <g transform={`translate(${shown.x} ${shown.y}) scale(${shown.scale})`}>
          {layout.wires.map(({ edge, points, measures, label }) => {
            const near = edge.from_step === selected || edge.to_step === selected;
            return (
              <g key={`${edge.from_step}.${edge.from_output}>${edge.to_step}.${edge.to_input}`}>
                <polyline
                  class={`wire${measures ? " measures" : ""}${near ? " near" : ""}`}
                  points={points.map(([x, y]) => `${x},${y}`).join(" ")}
                  marker-end="url(#arrow)"
                />
                <polyline class="wire-hit" points={points.map(([x, y]) => `${x},${y}`).join(" ")}>
                  <title>{wireTitle(edge, outputs)}</title>
                </polyline>
                {near && shown.scale >= READABLE && (
                  <text class="wire-label" x={label.x} y={label.y} text-anchor={label.anchor}>{label.text}</text>
                )}
              </g>
            );
          })}
          {layout.blocks.map((block, index) => (
            <Block
              key={block.id}
              block={block}
              position={`${index + 1} of ${layout.blocks.length}`}
              selected={block.id === selected}
              reachable={block.id === (selected ?? layout.blocks[0]?.id)}
              kin={kin?.has(block.id) ?? false}
              scale={shown.scale}
              params={steps.find(({ id }) => id === block.id)!.params}
              state={states?.get(block.id)}
              problems={problems?.get(block.id) ?? 0}
              onSelect={onSelect}
              onOpen={onOpen}
              onWalk={(key) => walk(layout.blocks, steps, block, key, go)}
            />
          ))}
        </g>
      </svg>
      <div class="graph-tools" role="toolbar" aria-label="View of the graph">
        <button type="button" class="quiet" aria-label="Zoom out" onClick={() => zoom(0.8)}>−</button>
        <button type="button" class="quiet" onClick={() => setView(whole)}>Fit</button>
        <button type="button" class="quiet" aria-label="Zoom in" onClick={() => zoom(1.25)}>+</button>
        <button
          type="button"
          class="quiet"
          aria-pressed={focusMode.value}
          title="Shows what the selected block comes from and what comes of it"
          onClick={() => focusMode.value = !focusMode.value}
        >
          Focus
        </button>
      </div>
      {shown.scale > fit * 1.15 && <Minimap blocks={layout.blocks} layout={layout} view={shown} size={size} />}
      <div class="graph-legend" aria-hidden="true">
        {Object.entries(PLANES).map(([plane, letter]) => (
          <span key={plane} class="row">
            <span class={`plane-mark plane-${plane}`}>{letter}</span>
            {plane}
          </span>
        ))}
      </div>
    </div>
  );
}

interface BlockProps {
  block: GraphBlock;
  position: string;
  selected: boolean;
  reachable: boolean;
  kin: boolean;
  scale: number;
  params: JsonObject;
  state?: StepState;
  problems: number;
  onSelect(id: string): void;
  onOpen?(id: string): void;
  onWalk(key: string): boolean;
}

function Block(
  { block, position, selected, reachable, kin, scale, params, state, problems, onSelect, onOpen, onWalk }: BlockProps,
) {
  const { id, name, x, y, width, height, plane } = block;
  const element = useRef<SVGGElement>(null);
  useEffect(() => {
    // Focus follows the selection only where it already is among the blocks.
    if (selected && document.activeElement?.closest(".graph") && document.activeElement !== element.current) {
      element.current!.focus();
    }
  }, [selected]);
  const chosen = Object.entries(params).slice(0, 2).map(([key, value]) => `${key} ${brief(value)}`).join(", ");
  const far = scale < READABLE, tiny = scale < TINY;
  const type = tiny ? Math.min(38, Math.max(17, LEAST_TYPE / scale)) : 17;
  const lines = tiny
    ? idLines(id, Math.floor((width - 18) / (LETTER * type)))
    : wrap(name, far ? 14 : 20, far && state === undefined ? 3 : 2);
  const bar = tiny ? 9 : 4;
  const words = [
    name,
    id,
    position,
    `${plane} plane`,
    chosen,
    state === undefined ? "" : state.state,
    problems === 0 ? "" : `${problems} problems`,
  ].filter(Boolean).join(", ");
  return (
    <g
      ref={element}
      class={`block${kin ? " kin" : ""}`}
      role="button"
      aria-pressed={selected}
      tabindex={reachable ? 0 : -1}
      data-problems={problems > 0}
      data-state={state?.state}
      data-step={id}
      transform={`translate(${x} ${y})`}
      onClick={() => onSelect(id)}
      onDblClick={() => onOpen?.(id)}
      onKeyDown={(event) => {
        if (event.key === "Enter" || event.key === " ") (onSelect(id), onOpen?.(id));
        else if (!onWalk(event.key)) return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      {/* The block's name is its content: these words, and not what is drawn, which is cut and wrapped. */}
      <text class="words">{words}</text>
      <rect class="body" width={width} height={height} rx="4" />
      <rect class={`plane-${plane}`} width="6" height={height} rx="2" />
      <g aria-hidden="true">
        {lines.map((line, index) => (
          <text
            key={index}
            font-size={far ? type : undefined}
            x="14"
            y={tiny
              ? height / 2 + type * (1 / 3 + index - (lines.length - 1) / 2)
              : far
              ? 26 + index * 19
              : 20 + index * 15}
          >
            {line}
          </text>
        ))}
        {!far && <text class="sub" x="14" y={20 + lines.length * 15}>{clip(id, 22)}</text>}
        {!far && <text class="sub" x="14" y={34 + lines.length * 15}>{clip(chosen, 22)}</text>}
        {!tiny && <text class="sub" x={width - 12} y="16" text-anchor="end">{PLANES[plane]}</text>}
        {problems > 0 && !tiny && (
          <text class={far ? "state far" : "state"} x="14" y={height - 13} data-tone="error">
            !{problems}
          </text>
        )}
        {state !== undefined && (
          <g class="step-state" data-state={state.state}>
            <rect class="bar" x="12" y={height - 5 - bar} width={width - 24} height={bar} rx="2" />
            <rect
              class="bar-done"
              x="12"
              y={height - 5 - bar}
              width={(width - 24) * (state.fraction ?? (state.state === "running" ? 0.5 : 1))}
              height={bar}
              rx="2"
            />
            {tiny
              ? <text class="state tiny" x={width - 6} y="22" text-anchor="end">{GLYPHS[state.state]}</text>
              : (
                <text class={far ? "state far" : "state"} x={width - 12} y={height - 13} text-anchor="end">
                  {GLYPHS[state.state]}{" "}
                  {state.state === "completed" && state.seconds !== null ? seconds(state.seconds) : state.state}
                </text>
              )}
          </g>
        )}
      </g>
    </g>
  );
}

const seconds = (value: number): string => value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(2)} s`;
/** What a wire carries. */
function wireTitle(
  { from_step, from_output, to_step, to_input }: RecipeGraph["edges"][number],
  outputs?: ReadonlyMap<string, string>,
): string {
  const known = outputs?.get(`${from_step}.${from_output}`);
  return `${from_step}.${from_output} to ${to_step}.${to_input}${known === undefined ? "" : `: ${known}`}`;
}

/** Words in lines of a length; what is too long is cut. */
function wrap(text: string, most: number, lines: number): string[] {
  const wrapped: string[] = [""];
  for (const word of text.split(" ")) {
    const last = wrapped.at(-1)!;
    if (last === "") wrapped[wrapped.length - 1] = word;
    else if (last.length + 1 + word.length <= most) wrapped[wrapped.length - 1] = `${last} ${word}`;
    else wrapped.push(word);
  }
  const kept = wrapped.slice(0, lines).map((line) => clip(line, most));
  if (wrapped.length > lines) kept[lines - 1] = clip(`${kept[lines - 1]} …`, most);
  return kept;
}

/** The whole picture with what is seen of it. */
function Minimap(
  { blocks, layout, view, size }: {
    blocks: readonly GraphBlock[];
    layout: { width: number; height: number };
    view: { x: number; y: number; scale: number };
    size: { width: number; height: number };
  },
) {
  return (
    <svg class="minimap" viewBox={`0 0 ${layout.width} ${layout.height}`} aria-hidden="true">
      {blocks.map(({ id, x, y, width, height, plane }) => (
        <rect key={id} class={`plane-${plane}`} x={x} y={y} width={width} height={height} />
      ))}
      <rect
        class="seen"
        x={-view.x / view.scale}
        y={-view.y / view.scale}
        width={size.width / view.scale}
        height={size.height / view.scale}
      />
    </svg>
  );
}

const clip = (text: string, most: number) => text.length > most ? `${text.slice(0, most - 1)}…` : text;
/** An id in one line, or broken behind an underscore into two. */
function idLines(id: string, most: number): string[] {
  if (id.length <= most) return [id];
  const breaks = [...id.matchAll(/_/g)].map(({ index }) => index + 1);
  const at = breaks.filter((one) => one <= most).at(-1) ?? breaks[0];
  return at === undefined
    ? [clipMiddle(id, most)]
    : [id.slice(0, at), id.slice(at)].map((line) => clipMiddle(line, most));
}
/** Ids that belong together differ at their ends: these stay. */
const clipMiddle = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, Math.max(1, most - 4))}…${text.slice(-3)}` : text;
const brief = (value: unknown): string =>
  typeof value === "object" && value !== null && !("value" in value)
    ? (Array.isArray(value) ? "[…]" : "{…}")
    : String(value);

/** Right and Left follow wires, Up and Down take the nearest block above or below, Home and End the first and last. */
function walk(
  blocks: readonly GraphBlock[],
  steps: readonly Step[],
  from: GraphBlock,
  key: string,
  select: (id: string) => void,
): boolean {
  const sources = (id: string) =>
    Object.values(steps.find((step) => step.id === id)?.inputs ?? {}).map((text) => String(text).split(".")[0]);
  // What lies straight ahead comes before what lies aside.
  const across = key === "ArrowUp" || key === "ArrowDown";
  const distance = ({ x, y }: GraphBlock) =>
    Math.hypot((x - from.x) * (across ? 2 : 1), (y - from.y) * (across ? 1 : 2));
  const nearest = (wanted: (block: GraphBlock) => boolean) =>
    blocks.filter((block) => block !== from && wanted(block)).sort((a, b) => distance(a) - distance(b))[0];
  const target = key === "ArrowRight"
    ? nearest((block) => sources(block.id).includes(from.id))
    : key === "ArrowLeft"
    ? nearest((block) => sources(from.id).includes(block.id))
    : key === "ArrowUp"
    ? nearest((block) => block.y < from.y)
    : key === "ArrowDown"
    ? nearest((block) => block.y > from.y)
    : key === "Home"
    ? blocks[0]
    : key === "End"
    ? blocks.at(-1)
    : null;
  if (target === null) return false;
  if (target !== undefined) select(target.id);
  return true;
}

/** A block with all that it comes from and all that comes of it. */
function lineage(steps: readonly Step[], id: string): Set<string> {
  const inputs = new Map(
    steps.map((step) => [step.id, Object.values(step.inputs).map((text) => String(text).split(".")[0])]),
  );
  const found = new Set([id]);
  const up = (at: string) =>
    (inputs.get(at) ?? []).forEach((source) => !found.has(source) && (found.add(source), up(source)));
  up(id);
  const below = new Set([id]);
  for (const step of steps) if (inputs.get(step.id)!.some((source) => below.has(source))) below.add(step.id);
  return new Set([...found, ...below]);
}
