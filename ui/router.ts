/** Where the page is: `#/<view>/<id>?<query>`. Every view can be shared by its address; Back and Forward work. */
import { hasBefore } from "./ahead.ts";
import { signal } from "./preact.ts";

export interface Place {
  /** "editor", "runs", … */
  view: string;
  /** The displayed part, decoded. */
  path: string[];
  query: URLSearchParams;
}

export const VIEWS = [
  ["start", "Start"],
  ["editor", "Editor"],
  ["templates", "Gallery"],
  ["runs", "Runs"],
  ["compare", "Compare"],
  ["benchmarks", "Benchmarks"],
  ["validation", "Validation"],
  ["data", "Data"],
  ["catalog", "Catalog"],
  ["training", "Training"],
  ["system", "System"],
] as const;

export const place = signal<Place>(read());

function read(): Place {
  const [route, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, ...path] = route.split("/").filter(Boolean).map(decodeURIComponent);
  return { view: view ?? (hasBefore() ? "editor" : "start"), path, query: new URLSearchParams(query) };
}

/** Marks the document from each address until the first input there. */
const FRESH = "data-fresh";
const root = document.documentElement;
root.setAttribute(FRESH, "");
for (const input of ["pointerdown", "keydown"]) addEventListener(input, () => root.removeAttribute(FRESH), true);
addEventListener("hashchange", () => {
  root.setAttribute(FRESH, "");
  place.value = read();
});

/** The address of a view. */
export function address(
  view: string,
  path: readonly string[] = [],
  query: Record<string, string | undefined> = {},
): string {
  const kept = Object.entries(query).filter((entry): entry is [string, string] =>
    entry[1] !== undefined && entry[1] !== ""
  );
  const search = kept.length > 0 ? `?${new URLSearchParams(kept)}` : "";
  return `#/${[view, ...path].map(encodeURIComponent).join("/")}${search}`;
}

export function go(view: string, path: readonly string[] = [], query: Record<string, string | undefined> = {}): void {
  location.hash = address(view, path, query);
}

/** Changes the query of the present view without a step in the history. */
export function refine(query: Record<string, string | undefined>): void {
  const { view, path, query: present } = place.value;
  const next = { ...Object.fromEntries(present), ...query };
  history.replaceState(null, "", address(view, path, next));
  place.value = read();
}
