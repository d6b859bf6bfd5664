/** The steps of the tour that lead into the editor: each marks the part that it speaks of until the next input. */
import { active, openDefault, stepsOf, update } from "../state/copies.ts";
import { go } from "../router.ts";

/** Time for the editor to show a part. */
const SHOWN_MS = 15_000;
const MARK = "data-pointed";

const PARTS = {
  Change: ".graph .block",
  Run: ".bar .primary",
  Sweep: '.inspector button[aria-label^="Sweep "]',
};
export type TourPart = keyof typeof PARTS;

/** Opens the editor, with a recipe if none is open, and marks a part of it. The sweep is shown at a parameter of the channel. */
export async function pointAt(part: TourPart): Promise<void> {
  // The editor opens it again, and shows why it cannot.
  await openDefault().catch(() => {});
  const copy = active();
  if (copy !== null && part === "Sweep") {
    const steps = stepsOf(copy.recipe), channel = steps.find(({ op }) => op?.startsWith("wireless.")) ?? steps[0];
    update(copy.id, { selected: channel?.id ?? null });
  }
  go("editor");
  const found = await elementOf(PARTS[part]);
  if (found === null) return;
  found.setAttribute(MARK, "");
  found.scrollIntoView({ block: "nearest" });
  found.focus({ preventScroll: true });
  const input = ["pointerdown", "keydown"] as const;
  const end = () => {
    found.removeAttribute(MARK);
    for (const name of input) removeEventListener(name, end, true);
  };
  for (const name of input) addEventListener(name, end, true);
}

/** The first element of a selector, once it is there; null after a while. */
function elementOf(selector: string): Promise<HTMLElement | null> {
  const found = () => document.querySelector<HTMLElement>(selector);
  return new Promise((resolve) => {
    const end = (element: HTMLElement | null) => {
      changes.disconnect();
      clearTimeout(limit);
      resolve(element);
    };
    const changes = new MutationObserver(() => found() && end(found()));
    const limit = setTimeout(() => end(null), SHOWN_MS);
    changes.observe(document.body, { subtree: true, childList: true });
    if (found()) end(found());
  });
}
