/** The keys that work everywhere, among them `?` for the sheet of keys. */
import { signal } from "./preact.ts";
import { go } from "./router.ts";

/** Whether the sheet of keys is open. */
export const keyboardSheet = signal(false);
export const openKeyboardSheet = () => keyboardSheet.value = true;

const GOES: Readonly<Record<string, string>> = {
  e: "editor",
  r: "runs",
  c: "catalog",
  b: "benchmarks",
  t: "templates",
  s: "system",
  v: "validation",
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
