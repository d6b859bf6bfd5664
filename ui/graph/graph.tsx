/**
 * The link as a block diagram, placed by `lib/figure/graph/layout` as in `svc recipe graph --format svg`. The picture is moved,
 * zoomed and walked with the arrow keys; edges are not edited.
 */
import type { JsonObject } from "../../lib/contract/value.ts";
import type { RecipeGraph } from "../../lib/figure/graph/graph.ts";
import type { GraphFrame } from "../../lib/figure/graph/layout.ts";
import {
  type ComponentChildren,
  lazy,
  signal,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "../preact.ts";
import { contracts } from "../state/contracts.ts";
import { stepsOf } from "../state/copies.ts";
import { allBlocks } from "../state/settings.ts";
import type { StepState } from "../state/runs.ts";
import { Block } from "./block.tsx";
import { matrixFacts } from "../../lib/contract/matrix_edits.ts";
import { type Dot, foldedLayout, hasHelpers, type Picture, plainLayout } from "./fold.ts";
import type { Size, View } from "./minimap.tsx";
import { headlineOf, READABLE } from "./texts.ts";
import { colourOf, graphOf, lineage, neighbour, PLANES } from "./model.ts";

const Minimap = lazy(() => import("./minimap.tsx"));

/** Smaller than on paper, and folded early: the page has panels at its sides. */
const SCREEN: GraphFrame = {
  block: { width: 216, height: 92 },
  gutter: 36,
  pageWidth: 900,
  pageHeight: 560,
  labels: false,
};
/** Whether only the ancestors and descendants of the selection are shown in full. */
const focusMode = signal(false);

interface Props {
  recipe: JsonObject;
  selected: string | null;
  onSelect(id: string): void;
  onOpen?(id: string): void;
  states?: ReadonlyMap<string, StepState>;
  /** Problems by step. */
  problems?: ReadonlyMap<string, number>;
  /** Shape and dtype of an output, by `step.port`. */
  outputs?: ReadonlyMap<string, string>;
  /** Images of outputs, by step. */
  thumbnails?: ReadonlyMap<string, string>;
  /** Edits of the whole link. */
  actions?: ComponentChildren;
}

const LEAST_SCALE = 0.1, LARGEST_SCALE = 3;
/** The least first scale of a large picture: names stay readable, and the small picture shows the rest. */
const FIRST_SCALE = 0.36;
/** Pixels between a block that is moved into sight and the edge. */
const EDGE = 12;

/** A picture in the middle of its frame, or from its beginning where it is larger. */
const placed = (layout: Size, size: Size, scale: number): View => ({
  scale,
  x: Math.max(EDGE, (size.width - layout.width * scale) / 2),
  y: Math.max(EDGE, (size.height - layout.height * scale) / 2),
});

/** The view of a layout in a frame, with the ways to change it. */
function useView(layout: Picture, topology: string, selected: string | null) {
  const frame = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState<Size>({ width: 800, height: 500 }), [view, setView] = useState<View | null>(null);
  useEffect(() => {
    const observer = new ResizeObserver(([{ contentRect: { width, height } }]) => setSize({ width, height }));
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, []);
  // Another picture is never painted in the view of the last one.
  useLayoutEffect(() => setView(null), [topology]);
  const fit = Math.min(1.4, (size.width - 24) / layout.width, (size.height - 24) / layout.height);
  const shown = view ?? placed(layout, size, Math.max(fit, FIRST_SCALE));
  useEffect(() => {
    // A block that is selected elsewhere moves into sight, no farther than necessary.
    const block = [...layout.blocks, ...layout.dots].find(({ id }) => id === selected);
    if (block === undefined) return;
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
  return {
    frame,
    size,
    shown,
    zoom,
    move: (x: number, y: number) => setView({ ...shown, x, y }),
    whole: () => setView(placed(layout, size, fit)),
    /** Whether a part of the picture is out of sight. */
    isCut: shown.scale > fit * 1.15,
  };
}

export function Graph(props: Props) {
  const { recipe, selected, onSelect, onOpen, states, problems, outputs, thumbnails, actions } = props;
  const steps = stepsOf(recipe);
  // Topology alone decides the picture: typing a value never moves a block.
  const topology = JSON.stringify(steps.map(({ id, op, inputs }) => [id, op, inputs])) + contracts.value.size +
    allBlocks.value;
  const layout = useMemo(
    () => (allBlocks.value === "on" ? plainLayout : foldedLayout)(graphOf(recipe), SCREEN),
    [topology],
  );
  const view = useView(layout, topology, selected), { frame, shown } = view;
  const order = new Map(steps.map(({ id }, index) => [id, index]));
  const blocks = [...layout.blocks, ...layout.dots].sort((a, b) => order.get(a.id)! - order.get(b.id)!);
  const walk = (from: Dot, key: string): boolean => {
    const target = neighbour(blocks, steps, from, key);
    if (target === null) return false;
    if (target === undefined) return true;
    onSelect(target.id);
    // At once, so that the next key begins here.
    frame.current!.querySelector<SVGGElement>(`.block[data-step="${CSS.escape(target.id)}"]`)?.focus();
    return true;
  };
  const { bindings, dimensions } = matrixFacts(recipe);
  const headlines = new Map(steps.map(({ id, op, params }) => {
    const swept = new Map(
      bindings.filter(({ stepId }) => stepId === id)
        .map(({ param, dimension }) => [
          param.split(".")[0],
          dimensions.find(({ name }) => name === dimension)?.values ?? [],
        ]),
    );
    return [id, headlineOf(op, contracts.value.get(op)?.params_schema ?? {}, params, swept)];
  }));
  const colours = new Set<string>(steps.map(({ op }) => colourOf(op)));
  const kin = selected !== null && focusMode.value ? lineage(steps, selected) : null;
  return (
    <div class="graph" data-faint={kin === null ? undefined : ""}>
      <div class="graph-bar">
        <div class="graph-legend" aria-hidden="true">
          {Object.entries(PLANES).filter(([colour]) => colours.has(colour)).map(([colour, letter]) => (
            <span key={colour} class="row">
              <span class={`plane-mark plane-${colour}`}>{letter}</span>
              {colour}
            </span>
          ))}
        </div>
        {actions}
        {view.isCut && <Minimap layout={layout} view={shown} size={view.size} />}
        <Tools view={view} foldable={hasHelpers(steps)} />
      </div>
      <div class="graph-canvas" ref={frame}>
        <Canvas label={`Blocks of ${String(recipe.name ?? "the recipe")}`} view={view}>
          <g transform={`translate(${shown.x} ${shown.y}) scale(${shown.scale})`}>
            {layout.wires.map((wire) => (
              <Wire
                key={`${wire.edge.from_step}.${wire.edge.from_output}>${wire.edge.to_step}.${wire.edge.to_input}`}
                wire={wire}
                selected={selected}
                labelled={shown.scale >= READABLE}
                outputs={outputs}
                through={layout.through.get(wire.edge) ?? []}
              />
            ))}
            {[...layout.blocks, ...layout.dots].map((block) => (
              <Block
                key={block.id}
                block={block}
                colour={colourOf(block.op)}
                folded={!("row" in block)}
                position={`${order.get(block.id)! + 1} of ${steps.length}`}
                selected={block.id === selected}
                reachable={block.id === (selected ?? blocks[0]?.id)}
                kin={kin?.has(block.id) ?? false}
                scale={shown.scale}
                params={steps.find(({ id }) => id === block.id)!.params}
                headline={headlines.get(block.id) ?? null}
                state={states?.get(block.id)}
                problems={problems?.get(block.id) ?? 0}
                thumbnail={thumbnails?.get(block.id)}
                onSelect={onSelect}
                onOpen={onOpen}
                onWalk={(key) => walk(block, key)}
              />
            ))}
          </g>
        </Canvas>
      </div>
    </div>
  );
}

type Control = Omit<ReturnType<typeof useView>, "frame">;

/** The drawing area: it is dragged, zoomed with the wheel, and moved with the keys + − 0. */
function Canvas({ label, view: { shown, zoom, move, whole }, children }: {
  label: string;
  view: Control;
  children: ComponentChildren;
}) {
  const drag = useRef<{ x: number; y: number } | null>(null);
  return (
    <svg
      role="group"
      aria-label={label}
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
        if (drag.current) move(event.clientX - drag.current.x, event.clientY - drag.current.y);
      }}
      onPointerUp={() => drag.current = null}
      onPointerCancel={() => drag.current = null}
      onKeyDown={(event) => {
        if (event.key === "+" || event.key === "=") zoom(1.25);
        else if (event.key === "-") zoom(0.8);
        else if (event.key === "0") whole();
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
      {children}
    </svg>
  );
}

/** Width of a letter of a label. */
const LETTER = 6;

function Wire({ wire: { edge, points, measures, label }, through, selected, labelled, outputs }: {
  wire: Picture["wires"][number];
  /** Checkpoints on the wire. */
  through: readonly string[];
  selected: string | null;
  labelled: boolean;
  outputs?: ReadonlyMap<string, string>;
}) {
  const near = selected !== null && [edge.from_step, edge.to_step, ...through].includes(selected);
  const line = points.map(([x, y]) => `${x},${y}`).join(" ");
  // Between two blocks a longer text would be over them; the title of the wire has it.
  const hasSpace = label.anchor !== "middle" || Math.abs(points[0][0] - points[1][0]) > LETTER * label.text.length;
  return (
    <g>
      <polyline
        class={`wire${measures ? " measures" : ""}${near ? " near" : ""}`}
        points={line}
        marker-end="url(#arrow)"
      />
      <polyline class="wire-hit" points={line}>
        <title>{wireTitle(edge, through, outputs)}</title>
      </polyline>
      {near && labelled && hasSpace && (
        // Between two blocks it is above the dots.
        <text
          class="wire-label"
          x={label.x}
          y={label.y - (label.anchor === "middle" ? 5 : 0)}
          text-anchor={label.anchor}
        >
          {label.text}
        </text>
      )}
    </g>
  );
}

/** The ports of a wire, with its checkpoints and the shape of its array. */
function wireTitle(
  { from_step, from_output, to_step, to_input }: RecipeGraph["edges"][number],
  through: readonly string[],
  outputs?: ReadonlyMap<string, string>,
): string {
  const known = outputs?.get(`${from_step}.${from_output}`);
  const by = through.length === 0 ? "" : ` through ${through.join(", ")}`;
  return `${from_step}.${from_output} to ${to_step}.${to_input}${by}${known === undefined ? "" : `: ${known}`}`;
}

const Tools = ({ view: { zoom, whole }, foldable }: { view: Control; foldable: boolean }) => (
  <div class="graph-tools" role="toolbar" aria-label="View of the graph">
    <button
      type="button"
      aria-label="Zoom out"
      onClick={() =>
        zoom(0.8)}
    >
      −
    </button>
    <button type="button" onClick={whole}>Fit</button>
    <button
      type="button"
      aria-label="Zoom in"
      onClick={() =>
        zoom(1.25)}
    >
      +
    </button>
    <button
      type="button"
      aria-pressed={focusMode.value}
      title="Shows the ancestors and descendants of the selected block"
      onClick={() =>
        focusMode.value = !focusMode.value}
    >
      Focus
    </button>
    {foldable && (
      <button
        type="button"
        aria-pressed={allBlocks.value === "on"}
        title="Shows checkpoints and counts as blocks"
        onClick={() => allBlocks.value = allBlocks.value === "on" ? "off" : "on"}
      >
        All blocks
      </button>
    )}
  </div>
);
