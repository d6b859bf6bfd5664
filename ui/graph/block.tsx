/** A block of the graph: its name, its state and its problems, in the detail that its scale allows. */
import { secondsText } from "../runs/amounts.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { useEffect, useRef } from "../preact.ts";
import type { StepState } from "../state/runs.ts";
import { DOT, type Dot } from "./fold.ts";
import { DrawnSign } from "../sign.tsx";
import { type Colour, GLYPHS, PLANES } from "./model.ts";
import { blockTexts, stateSize, TINY } from "./texts.ts";

interface BlockProps {
  block: Dot;
  colour: Colour;
  /** Whether it is drawn as a dot on a wire. */
  folded: boolean;
  position: string;
  selected: boolean;
  reachable: boolean;
  kin: boolean;
  scale: number;
  params: JsonObject;
  /** Its main parameter in words. */
  headline: string | null;
  state?: StepState;
  problems: number;
  /** Address of an image of its output. */
  thumbnail?: string;
  onSelect(id: string): void;
  onOpen?(id: string): void;
  onWalk(key: string): boolean;
}

export function Block(props: BlockProps) {
  const { block: { id, x, y, width, height }, colour, folded, selected, kin, state, problems } = props;
  const { onSelect, onOpen, onWalk } = props;
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
      class={`block${kin ? " kin" : ""}${folded ? " dot" : ""}`}
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
      {folded ? <Folded {...props} /> : (
        <>
          <rect class="body" width={width} height={height} rx="4" />
          <rect class={`plane-${colour}`} width="12" height={height} rx="2" />
          <g aria-hidden="true">
            <Texts {...props} />
            {state !== undefined && <State block={props.block} state={state} scale={props.scale} />}
          </g>
        </>
      )}
    </g>
  );
}

/** Least radius of a dot and of the area that is pressed, in pixels of the screen. */
const DOT_RADIUS = 5, PRESSED = 12;

/** A dot with the sign of its problems or its state, and its name under the pointer. */
function Folded({ block: { id, name }, scale, state, problems }: BlockProps) {
  const radius = Math.max(DOT / 2, DOT_RADIUS / scale);
  return (
    <g aria-hidden="true" transform={`translate(${DOT / 2} ${DOT / 2})`}>
      <circle class="body" r={radius} />
      {problems > 0
        ? <text class="sign" font-size={radius * 1.5} y={radius / 2} text-anchor="middle">!</text>
        : state !== undefined && <DrawnSign of={GLYPHS[state.state]} x={-radius / 2} y={radius / 2} size={radius} />}
      <circle class="dot-hit" r={Math.max(radius, PRESSED / scale)}>
        <title>{`${name}: ${id}`}</title>
      </circle>
    </g>
  );
}

const chosenOf = (params: JsonObject) =>
  Object.entries(params).slice(0, 2).map(([key, value]) => `${key} ${brief(value)}`).join(", ");

const wordsOf = ({ block: { id, name }, colour, position, params, state, problems }: BlockProps): string =>
  [
    name,
    id,
    position,
    colour === "own" ? "own operation" : `${colour} plane`,
    chosenOf(params),
    state?.state,
    problems === 0 ? "" : `${problems} problems`,
  ].filter(Boolean).join(", ");

/** Side of a thumbnail, and its distance from the edge. */
const THUMBNAIL = 54, INSET = 6;
/** Width of the sign of a state, and of a state in words. */
const SIGN = 26, STATE = 96;

/** The lines of a block, its image, and the number of its problems. */
function Texts(
  { block: { id, name, width, height }, colour, headline, scale, thumbnail, problems, state }: BlockProps,
) {
  const taken = thumbnail !== undefined ? THUMBNAIL + INSET : state !== undefined && scale < TINY ? SIGN : 0;
  const last = problems > 0 ? width : state !== undefined && scale >= TINY ? STATE : 0;
  return (
    <>
      {blockTexts({ name, id, headline }, { width, height, scale, taken, last }).map((
        { text, size, y, sub },
        index,
      ) => <text key={index} class={sub ? "sub" : undefined} font-size={size} x="18" y={y}>{text}</text>)}
      {scale >= TINY && <text class="plane-letter" x="6" y="13" text-anchor="middle">{PLANES[colour]}</text>}
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
        <text class="state" font-size={stateSize(scale)} x="18" y={height - 13} data-tone="error">
          !{problems}
        </text>
      )}
    </>
  );
}

/** Height of the sign of a block too small for words; width of a letter over the size of the type, at most. */
const TINY_SIGN = 18, WIDTH = 0.58;

/** The progress of a step as a bar, with its state as glyph and word. */
function State(
  { block: { width, height }, state: { state, fraction, seconds }, scale }: {
    block: Dot;
    state: StepState;
    scale: number;
  },
) {
  const tiny = scale < TINY, bar = tiny ? 9 : 4, y = height - 5 - bar;
  const size = stateSize(scale), word = state === "completed" && seconds !== null ? secondsText(seconds) : state;
  const done = (width - 30) * (fraction ?? (state === "running" ? 0.5 : 1));
  return (
    <g class="step-state" data-state={state}>
      <rect class="bar" x="18" y={y} width={width - 30} height={bar} rx="2" />
      <rect class="bar-done" x="18" y={y} width={done} height={bar} rx="2" />
      {tiny ? <DrawnSign of={GLYPHS[state]} x={width - 6 - TINY_SIGN} y={22} size={TINY_SIGN} /> : (
        <>
          <DrawnSign
            of={GLYPHS[state]}
            x={width - 12 - size * (word.length + 2) * WIDTH}
            y={height - 13}
            size={size * 0.8}
          />
          <text class="state" font-size={size} x={width - 12} y={height - 13} text-anchor="end">{word}</text>
        </>
      )}
    </g>
  );
}

const brief = (value: unknown): string =>
  typeof value === "object" && value !== null && !("value" in value)
    ? (Array.isArray(value) ? "[…]" : "{…}")
    : String(value);
