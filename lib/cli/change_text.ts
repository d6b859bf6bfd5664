/** A change between two recipes as a line. */
import { canonicalJson } from "../contract/json.ts";
import type { Value } from "../contract/value.ts";
import type { RecipeChange } from "../recipe/diff.ts";
import type { Paint } from "./terminal.ts";

export function changeText(paint: Paint, change: RecipeChange): string {
  const { kind, path, step_id: step, a, b } = change;
  const place = typeof step === "string" ? path.replace(/^\$\.steps\[\d+\]/, step) : path.replace(/^\$\.?/, "");
  switch (kind) {
    case "added":
      return paint("green", `+ ${place}: ${shown(b)}`);
    case "removed":
      return paint("red", `- ${place}: ${shown(a)}`);
    case "moved":
      return paint("yellow", `> ${place}: from position ${Number(a) + 1} to ${Number(b) + 1}`);
  }
  return `~ ${place || "recipe"}: ${paint("red", shown(a))} -> ${paint("green", shown(b))}`;
}

function shown(value: Value): string {
  const text = canonicalJson(value);
  return text.length > 160 ? text.slice(0, 157) + "..." : text;
}
