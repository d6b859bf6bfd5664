/** A block of the graph: its name, its state and its problems, in the detail that its scale allows. */
import { secondsText } from "../runs/metrics.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import type { GraphBlock } from "../../lib/figure/graph/layout.ts";
import { useEffect, useRef } from "../preact.ts";
import type { StepState } from "../state/runs.ts";
import { clip, GLYPHS, PLANES, shortLines } from "./model.ts";

/** From this scale a block shows all its texts; below, its name and id in larger type. */
export const READABLE = 0.85;
/** Below, a state is its sign alone. */
const TINY = 0.5;
/** Type sizes: in full detail, and the largest that a block takes to stay readable from afar. */
const TYPE = 13, LARGEST_TYPE = 26;
/** The smallest readable type in pixels of the screen; widths of letters and the height of a line in parts of its size. */
const LEAST_TYPE = 11, LETTER = 0.58, MONO = 0.62, LEADING = 1.15;

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
  /** Address of an image of its output. */
  thumbnail?: string;
  onSelect(id: string): void;
  onOpen?(id: string): void;
  onWalk(key: string): boolean;
}

export function Block(props: BlockProps) {
  const { block: { id, x, y, width, height, plane }, selected, kin, state, problems, onSelect, onOpen, onWalk } = props;
  const element = useRef<SVGGElement>(null);
  useEffect(() => {
    // Focus follows the selection only where it already is among the blocks.
    if (selected && document.activeElement?.closest(".graph") && document.activeElement !== element.current) {
      element.current!.focus();
    }
  }, [selected]);
  return (
    <g
      ref={element}
      class={`block${kin ? " kin" : ""}`}
      role="button"
      aria-pressed={selected}
      tabindex={props.reachable ? 0 : -1}
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
      {/* The accessible name of the block; the drawn texts are cut and wrapped. */}
      <text class="words">{wordsOf(props)}</text>
      <rect class="body" width={width} height={height} rx="4" />
      <rect class={`plane-${plane}`} width="12" height={height} rx="2" />
      <g aria-hidden="true">
        <Texts {...props} />
        {state !== undefined && <State block={props.block} state={state} scale={props.scale} />}
      </g>
    </g>
  );
}

const chosenOf = (params: JsonObject) =>
  Object.entries(params).slice(0, 2).map(([key, value]) => `${key} ${brief(value)}`).join(", ");

const wordsOf = ({ block: { id, name, plane }, position, params, state, problems }: BlockProps): string =>
  [
    name,
    id,
    position,
    `${plane} plane`,
    chosenOf(params),
    state?.state,
    problems === 0 ? "" : `${problems} problems`,
  ].filter(Boolean).join(", ");

/** Side of a thumbnail, and its distance from the edge. */
const THUMBNAIL = 54, INSET = 6;

/** The name of the operation, the id of the step below it, and where there is space the first parameters. */
function Texts({ block: { id, name, width, height, plane }, params, scale, thumbnail, problems }: BlockProps) {
  const far = scale < READABLE, type = far ? Math.min(LARGEST_TYPE, Math.max(TYPE, LEAST_TYPE / scale)) : TYPE;
  const room = width - 24 - (thumbnail === undefined ? 0 : THUMBNAIL + INSET);
  const letters = Math.floor(room / (LETTER * type));
  const rows = Math.max(2, Math.floor((height - 14) / (type * LEADING)));
  const lines = shortLines(name, letters, far ? Math.min(3, rows - 1) : 2), below = 20 + lines.length * type * LEADING;
  const sub = far ? type * 0.92 : 11, mono = Math.floor(room / (MONO * sub));
  return (
    <>
      {lines.map((line, index) => (
        <text key={index} font-size={type} x="18" y={7 + type * (1 + index * LEADING)}>{line}</text>
      ))}
      <text class="sub" font-size={sub} x="18" y={below}>{clip(id, mono)}</text>
      {!far && <text class="sub" font-size={sub} x="18" y={below + 14}>{clip(chosenOf(params), mono)}</text>}
      {scale >= TINY && <text class="plane-letter" x="6" y="13" text-anchor="middle">{PLANES[plane]}</text>}
      {thumbnail !== undefined && (
        <image
          href={thumbnail}
          x={width - THUMBNAIL - INSET}
          y={INSET}
          width={THUMBNAIL}
          height={THUMBNAIL}
          preserveAspectRatio="xMidYMid meet"
        />
      )}
      {problems > 0 && (
        <text class={far ? "state far" : "state"} x="18" y={height - 13} data-tone="error">!{problems}</text>
      )}
    </>
  );
}

/** The progress of a step as a bar, with its state as glyph and word. */
function State(
  { block: { width, height }, state: { state, fraction, seconds }, scale }: {
    block: GraphBlock;
    state: StepState;
    scale: number;
  },
) {
  const tiny = scale < TINY, bar = tiny ? 9 : 4, y = height - 5 - bar;
  const done = (width - 30) * (fraction ?? (state === "running" ? 0.5 : 1));
  return (
    <g class="step-state" data-state={state}>
      <rect class="bar" x="18" y={y} width={width - 30} height={bar} rx="2" />
      <rect class="bar-done" x="18" y={y} width={done} height={bar} rx="2" />
      {tiny
        ? <text class="state tiny" x={width - 6} y="22" text-anchor="end">{GLYPHS[state]}</text>
        : (
          <text class={scale < READABLE ? "state far" : "state"} x={width - 12} y={height - 13} text-anchor="end">
            {GLYPHS[state]} {state === "completed" && seconds !== null ? secondsText(seconds) : state}
          </text>
        )}
    </g>
  );
}

const brief = (value: unknown): string =>
  typeof value === "object" && value !== null && !("value" in value)
    ? (Array.isArray(value) ? "[…]" : "{…}")
    : String(value);
