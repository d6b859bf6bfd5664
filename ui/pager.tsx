/** A long list in pages. */
import { type ComponentChildren, useState } from "./preact.ts";

interface Props<Item> {
  items: readonly Item[];
  /** Items of a page. */
  size: number;
  /** Names the items: `texts`. */
  what: string;
  children(shown: readonly Item[], first: number): ComponentChildren;
}

export function Pager<Item>({ items, size, what, children }: Props<Item>) {
  // Another filter begins at its first page.
  const [chosen, setChosen] = useState({ page: 0, count: items.length });
  const pages = Math.ceil(items.length / size), at = chosen.count === items.length ? chosen.page : 0;
  const show = (page: number) => setChosen({ page, count: items.length });
  const first = at * size, last = Math.min(items.length, first + size);
  return (
    <>
      {children(items.slice(first, last), first)}
      {pages > 1 && (
        <nav class="row" aria-label={`Pages of ${what}`}>
          <button type="button" disabled={at === 0} onClick={() => show(at - 1)}>Previous</button>
          <span class="muted" role="status">{what} {first + 1} to {last} of {items.length}</span>
          <button type="button" disabled={at === pages - 1} onClick={() => show(at + 1)}>Next</button>
        </nav>
      )}
    </>
  );
}
