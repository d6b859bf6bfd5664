/** The command palette (Ctrl+K): one search over views, blocks, parameters, operations, templates and runs, by keyboard alone. */
import { signal, useLayoutEffect, useRef, useState } from "./preact.ts";
import { address, VIEWS } from "./router.ts";

export interface Command {
  /** What it is: "View", "Block", "Parameter", "Operation", … */
  kind: string;
  text: string;
  detail?: string;
  /** Colour of the kind. */
  tone?: "own";
  run(): void;
}

const open = signal(false);
export const openPalette = () => open.value = true;
const providers = new Set<() => Command[]>();
let beforeOpening = () => {};

/** Calls back whenever the palette opens, for data that are read only then. */
export const onPaletteOpen = (callback: () => void) => void (beforeOpening = callback);

/** Adds commands while a view is shown. @returns takes them away */
export function provideCommands(provider: () => Command[]): () => void {
  providers.add(provider);
  return () => providers.delete(provider);
}

provideCommands(() =>
  VIEWS.map(([view, label]) => ({ kind: "View", text: label, run: () => location.hash = address(view) }))
);

globalThis.addEventListener("keydown", (event: KeyboardEvent) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    openPalette();
  }
});

/** How well a text fits the typed one: as it stands, or its letters in order; lower is better, null not at all. */
function fit(text: string, typed: string): number | null {
  const low = text.toLowerCase(), whole = low.indexOf(typed.toLowerCase());
  if (whole >= 0) return whole / 1000 + low.length / 1e5 - 1;
  let at = -1, score = 0;
  for (const letter of typed.toLowerCase()) {
    const next = low.indexOf(letter, at + 1);
    if (next < 0) return null;
    score += next - at - 1;
    at = next;
  }
  return score + low.length / 100;
}

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState(""), [chosen, setChosen] = useState(0);
  // At once: the letters after Ctrl+K belong to the palette.
  useLayoutEffect(() => {
    if (open.value && !dialog.current!.open) {
      setTyped("");
      setChosen(0);
      dialog.current!.showModal();
      beforeOpening();
    }
  }, [open.value]);
  const found = open.value
    ? [...providers].flatMap((provider) => provider())
      .map((command) => ({
        command,
        score: command.text.toLowerCase() === typed.trim().toLowerCase()
          ? -2
          : fit(`${command.text} ${command.detail ?? ""}`, typed),
      }))
      .filter((entry): entry is { command: Command; score: number } => entry.score !== null)
      .sort((a, b) => a.score - b.score).slice(0, 40)
    : [];
  // At once: the event of closing comes a task later, in which the palette may have been opened again.
  const close = () => {
    dialog.current!.close();
    open.value = false;
  };
  const run = (index: number) => {
    close();
    found[index]?.command.run();
  };
  return (
    <dialog
      ref={dialog}
      aria-label="Find"
      onCancel={close}
      onClose={() => open.value = dialog.current!.open}
    >
      <label class="hidden-text" for="palette">Find</label>
      <input
        id="palette"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${chosen}` : undefined}
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setChosen(Math.min(chosen + 1, found.length - 1));
          else if (event.key === "ArrowUp") setChosen(Math.max(chosen - 1, 0));
          else if (event.key === "Enter") run(chosen);
          else return;
          event.preventDefault();
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Found">
        {found.map(({ command }, index) => (
          <li
            key={`${command.kind} ${command.text} ${command.detail ?? ""}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => run(index)}
          >
            <span class="tag" data-tone={command.tone}>{command.kind}</span> {command.text}{" "}
            <span class="muted">{command.detail}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="empty">Nothing fits {JSON.stringify(typed)}</p>}
    </dialog>
  );
}
