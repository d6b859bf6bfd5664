// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** The sheet of keys; loaded when it is opened. */
import { keyboardSheet } from "./keyboard.ts";
import { Dialog, Facts } from "./parts.tsx";

const KEYS: [where: string, keys: [keys: string, does: string][]][] = [
  ["Everywhere", [
    ["Ctrl+K", "find views, blocks, parameters, operations, runs and templates"],
    ["?", "this sheet"],
    ["/", "to the filter of the view"],
    ["g e, g r, g c, g b", "to the editor, runs, catalog, benchmarks"],
    ["g v, g t, g s", "to the validation cards, the templates, the system"],
    ["Esc", "closes the open dialog or menu"],
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

export default function KeyboardSheet() {
  return (
    <Dialog title="Keyboard" onClose={() => keyboardSheet.value = false}>
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
