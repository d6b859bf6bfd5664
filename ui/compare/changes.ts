import { canonicalJson } from "../../lib/contract/json.ts";
import type { Value } from "../../lib/contract/value.ts";

const LONGEST = 200;

/** A value in one line; what is very long is cut. */
export function changeText(value: Value): string {
  const text = canonicalJson(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
