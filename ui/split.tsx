/** A divider between two panels: it is dragged, or moved with the arrow keys, and its place is remembered in this browser. */
import { useRef } from "./preact.ts";
import { signal } from "./preact.ts";

export interface Divider {
  size: { value: number };
  least: number;
  most: number;
  initial: number;
  store(size: number): void;
}

/** A divider with a remembered size in pixels. */
export function divider(key: string, initial: number, least: number, most: number): Divider {
  const stored = Number(localStorage.getItem(`svc.size.${key}`));
  const size = signal(stored >= least && stored <= most ? stored : initial);
  return {
    size,
    least,
    most,
    initial,
    store(next) {
      size.value = Math.round(Math.min(most, Math.max(least, next)));
      localStorage.setItem(`svc.size.${key}`, String(size.value));
    },
  };
}

interface Props {
  label: string;
  of: Divider;
  /** The panel that grows: to the left, to the right, or below. */
  side: "left" | "right" | "below";
}

const STEP = 16;

export function Splitter({ label, of, side }: Props) {
  const from = useRef<{ at: number; size: number } | null>(null);
  const vertical = side !== "below";
  const grow = side === "left" ? 1 : -1;
  const keys: Record<string, number> = vertical
    ? { ArrowRight: STEP * grow, ArrowLeft: -STEP * grow }
    : { ArrowUp: STEP, ArrowDown: -STEP };
  return (
    <div
      class={`splitter split-${side}`}
      role="separator"
      tabindex={0}
      aria-label={label}
      aria-orientation={vertical ? "vertical" : "horizontal"}
      aria-valuenow={of.size.value}
      aria-valuemin={of.least}
      aria-valuemax={of.most}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { at: vertical ? event.clientX : event.clientY, size: of.size.value };
        event.preventDefault();
      }}
      onPointerMove={(event) => {
        if (from.current === null) return;
        of.store(from.current.size + grow * ((vertical ? event.clientX : event.clientY) - from.current.at));
      }}
      onPointerUp={() => from.current = null}
      onPointerCancel={() => from.current = null}
      onDblClick={() => of.store(of.initial)}
      onKeyDown={(event) => {
        if (keys[event.key] !== undefined) of.store(of.size.value + keys[event.key]);
        else if (event.key === "Home") of.store(of.least);
        else if (event.key === "End") of.store(of.most);
        else return;
        event.preventDefault();
      }}
    />
  );
}
