/** Above the list of runs: named views, and the columns to show. Both are in the address, so that a view can be shared. */
import { problemText } from "../api.ts";
import { Close, Trouble } from "../parts.tsx";
import { useEffect, useState } from "../preact.ts";
import { address, place, refine } from "../router.ts";
import { keepView, marks } from "../state/marks.ts";
import { choosable, USUAL } from "./columns.tsx";

/** Columns in the address, in their order. */
export const chosenColumns = (): string[] => place.value.query.get("columns")?.split(",").filter(Boolean) ?? USUAL;

/** Closes the menus that something outside of them is pressed or focused beside; Escape closes all, and the focus stays there. */
function closeMenus(event: Event): void {
  const escaped = event instanceof KeyboardEvent;
  if (escaped && event.key !== "Escape") return;
  for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")) {
    const within = menu.contains(event.target as Node);
    if (within && !escaped) continue;
    menu.open = false;
    if (within) menu.querySelector("summary")!.focus();
  }
}
const CLOSING = ["pointerdown", "focusin", "keydown"];

export function ViewsBar({ changed, metrics }: { changed: readonly string[]; metrics: readonly string[] }) {
  const [problem, setProblem] = useState<string | null>(null), [name, setName] = useState("");
  useEffect(() => {
    for (const kind of CLOSING) addEventListener(kind, closeMenus);
    return () => CLOSING.forEach((kind) => removeEventListener(kind, closeMenus));
  }, []);
  const present = String(place.value.query), chosen = chosenColumns();
  const perform = (work: Promise<void>) => work.then(() => setProblem(null), (error) => setProblem(problemText(error)));
  const toggle = (column: string) => {
    const next = chosen.includes(column) ? chosen.filter((one) => one !== column) : [...chosen, column];
    refine({ columns: next.join() === USUAL.join() ? undefined : next.join() || "state" });
  };
  return (
    <div class="row views-bar">
      <nav class="row" aria-label="Views of the list">
        <a class="small" href={address("runs")} aria-current={present === "" ? "page" : undefined}>All runs</a>
        {Object.entries(marks.value.views).map(([name, query]) => (
          <span key={name} class="row saved-view">
            <a
              class="small"
              href={address("runs", [], Object.fromEntries(new URLSearchParams(query)))}
              aria-current={present === query ? "page" : undefined}
            >
              {name}
            </a>
            <Close label={`Remove the view ${name}`} onClick={() => perform(keepView(name, null))} />
          </span>
        ))}
      </nav>
      <details class="menu">
        <summary>Save view</summary>
        <form
          class="row menu-body"
          onSubmit={(event) => {
            event.preventDefault();
            void perform(keepView(name.trim(), present)).then(() => setName(""));
            event.currentTarget.closest("details")!.open = false;
          }}
        >
          <label for="view-name">Name</label>
          <input
            id="view-name"
            required
            maxLength={60}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
          <button type="submit" disabled={name.trim() === ""}>Save</button>
        </form>
      </details>
      <details class="menu">
        <summary>Columns</summary>
        <fieldset class="menu-body columns-choice">
          <legend class="hidden-text">Columns</legend>
          {choosable(changed, metrics).map(([column, title]) => (
            <label key={column} class="row">
              <input type="checkbox" checked={chosen.includes(column)} onChange={() => toggle(column)} />
              {title}
            </label>
          ))}
        </fieldset>
      </details>
      <Trouble text={problem} />
    </div>
  );
}
