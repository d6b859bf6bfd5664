// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** The sheet of keys, opened by `?` and from the system view, and the keys that work everywhere. */
import { Dialog, Facts } from "./parts.tsx";
import { signal } from "./preact.ts";
import { go } from "./router.ts";

const open = signal(false);
export const openKeyboardSheet = () => open.value = true;

const KEYS: [where: string, keys: [keys: string, does: string][]][] = [
  ["Everywhere", [
    ["Ctrl+K", "find views, blocks, parameters, operations, runs and templates"],
    ["?", "this sheet"],
    ["/", "to the filter of the view"],
    ["g e, g r, g c, g b", "to the editor, runs, catalog, benchmarks"],
    ["g t, g s", "to the templates, the system"],
    ["Esc", "closes what is open"],
  ]],
  ["Editor", [
    ["Ctrl+Enter", "run"],
    ["Ctrl+.", "cancel"],
    ["Ctrl+S", "save"],
    ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
    ["Ctrl+D, Ctrl+O", "duplicate, open a file"],
    ["Ctrl+Shift+Enter", "run all open recipes"],
    ["F8, Shift+F8", "next and previous problem"],
    ["Ctrl+J", "to the panels below; arrows change them"],
    ["Alt+1 … 9", "to an open recipe"],
  ]],
  ["Graph", [
    ["→ ←", "along the wires, downstream and upstream"],
    ["↑ ↓", "among neighbours"],
    ["Home, End", "first and last block"],
    ["Enter", "to the parameters of the block"],
    ["+ − 0", "closer, farther, all of it"],
  ]],
];

const GOES: Readonly<Record<string, string>> = {
  e: "editor",
  r: "runs",
  c: "catalog",
  b: "benchmarks",
  t: "templates",
  s: "system",
};
let waiting = 0;

globalThis.addEventListener("keydown", (event: KeyboardEvent) => {
  const target = event.target as HTMLElement;
  const typing = target.matches?.("input, textarea, select, [contenteditable=true], [contenteditable=true] *");
  // Single letters belong to whoever types, and to an open dialog.
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const follows = event.timeStamp - waiting < 1500 && waiting > 0;
  waiting = 0;
  if (event.key === "?") openKeyboardSheet();
  else if (event.key === "/") {
    document.querySelector<HTMLElement>('#main input[type="search"]')?.focus();
  } else if (follows && GOES[event.key] !== undefined) go(GOES[event.key]);
  else if (event.key === "g") {
    waiting = event.timeStamp;
    return;
  } else return;
  event.preventDefault();
});

export function KeyboardSheet() {
  if (!open.value) return null;
  return (
    <Dialog title="Keyboard" onClose={() => open.value = false}>
      <div class="sheet">
        {KEYS.map(([where, keys]) => (
          <section key={where}>
            <h3>{where}</h3>
            <Facts of={keys.map(([key, action]) => [<kbd>{key}</kbd>, action] as const)} />
          </section>
        ))}
      </div>
    </Dialog>
  );
}
