/** A list of equal rows of which only those in sight are in the document: two thousand rows cost as much as forty. */
import { type JSX, useEffect, useLayoutEffect, useRef, useState } from "../preact.ts";

interface Props {
  count: number;
  /** What the rows are made of: several may be in one row. */
  items: number;
  rowHeight: number;
  label: string;
  columns: string;
  /** Whether all columns fit a phone. */
  small: boolean;
  head: JSX.Element;
  row(index: number): JSX.Element;
  /** Called when the end comes in sight. */
  onEnd?(): void;
}

const BEYOND = 8;

export function VirtualTable({ count, items, rowHeight, label, columns, small, head, row, onEnd }: Props) {
  const box = useRef<HTMLDivElement>(null), body = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ from: 0, to: 40 });
  const look = () => {
    if (box.current === null) return;
    const from = Math.floor(box.current.scrollTop / rowHeight) - BEYOND;
    const to = Math.ceil((box.current.scrollTop + box.current.clientHeight) / rowHeight) + BEYOND;
    setSeen({ from, to });
  };
  useEffect(() => {
    const observer = new ResizeObserver(look);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  // Lengths go through the object model: the content policy refuses style attributes. Before the painting, or rows would move.
  useLayoutEffect(() => {
    body.current!.style.height = `${count * rowHeight}px`;
    for (const item of body.current!.children) {
      (item as HTMLElement).style.transform = `translateY(${Number((item as HTMLElement).dataset.row) * rowHeight}px)`;
    }
  });
  useLayoutEffect(() => {
    box.current!.style.setProperty("--columns", columns);
  }, [columns]);
  const from = Math.max(0, Math.min(seen.from, count - 1)), to = Math.min(count, seen.to);
  useEffect(() => {
    if (to >= count - BEYOND) onEnd?.();
  }, [to, count, items]);
  return (
    <div
      class="virtual"
      data-small={small}
      ref={box}
      role="table"
      aria-label={label}
      aria-rowcount={count + 1}
      onScroll={look}
    >
      <div class="virtual-head" role="rowgroup">{head}</div>
      <div class="virtual-body" role="rowgroup" ref={body}>
        {Array.from(
          { length: Math.max(0, to - from) },
          (_, i) => (
            <div key={from + i} class="virtual-row" role="row" aria-rowindex={from + i + 2} data-row={from + i}>
              {row(from + i)}
            </div>
          ),
        )}
      </div>
    </div>
  );
}
