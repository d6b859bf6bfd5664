/** A block of the graph: its name, its state and its problems, in the detail that its scale allows. */
import type { JsonObject } from "../../lib/contract/value.ts";
import type { GraphBlock } from "../../lib/plan/graph_layout.ts";
import { useEffect, useRef } from "../preact.ts";
import type { StepState } from "../state/runs.ts";
import { GLYPHS, PLANES } from "./model.ts";

/** From this scale a block shows all its texts; below, its name alone in larger type. */
export const READABLE = 0.85;
/** Below, a block shows its id, as large as its width allows. */
const TINY = 0.5;
/** The smallest readable type in pixels of the screen, and the width of a letter in parts of its size. */
const LEAST_TYPE = 11, LETTER = 0.64;

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

function Texts({ block: { id, name, width, height, plane }, params, scale, state, problems }: BlockProps) {
  const far = scale < READABLE, tiny = scale < TINY;
  const type = tiny ? Math.min(38, Math.max(17, LEAST_TYPE / scale)) : 17;
  const lines = tiny
    ? idLines(id, Math.floor((width - 22) / (LETTER * type)))
    : wrap(name, far ? 14 : 20, far && state === undefined ? 3 : 2);
  const place = (index: number) =>
    tiny ? height / 2 + type * (1 / 3 + index - (lines.length - 1) / 2) : far ? 26 + index * 19 : 20 + index * 15;
  return (
    <>
      {lines.map((line, index) => (
        <text key={index} font-size={far ? type : undefined} x="18" y={place(index)}>{line}</text>
      ))}
      {!far && <text class="sub" x="18" y={20 + lines.length * 15}>{clip(id, 22)}</text>}
      {!far && <text class="sub" x="18" y={34 + lines.length * 15}>{clip(chosenOf(params), 22)}</text>}
      {!tiny && <text class="plane-letter" x="6" y="13" text-anchor="middle">{PLANES[plane]}</text>}
      {problems > 0 && !tiny && (
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

const secondsText = (value: number): string => value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(2)} s`;

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
