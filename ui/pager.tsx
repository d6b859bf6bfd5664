/** A long list in pages. */
import { type ComponentChildren, useEffect, useState } from "./preact.ts";

interface Props<Item> {
  items: readonly Item[];
  /** Items of a page. */
  size: number;
  /** Names the items: `texts`. */
  what: string;
  children(shown: readonly Item[], first: number): ComponentChildren;
}

export function Pager<Item>({ items, size, what, children }: Props<Item>) {
  const [page, setPage] = useState(0),
    pages = Math.ceil(items.length / size),
    at = Math.min(page, Math.max(0, pages - 1));
  // Another filter begins at its first page.
  useEffect(() => setPage(0), [items.length]);
  const first = at * size, last = Math.min(items.length, first + size);
  return (
    <>
      {children(items.slice(first, last), first)}
      {pages > 1 && (
        <nav class="row" aria-label={`Pages of ${what}`}>
          <button type="button" disabled={at === 0} onClick={() => setPage(at - 1)}>Previous</button>
          <span class="muted" role="status">{what} {first + 1} to {last} of {items.length}</span>
          <button type="button" disabled={at === pages - 1} onClick={() => setPage(at + 1)}>Next</button>
        </nav>
      )}
    </>
  );
}
