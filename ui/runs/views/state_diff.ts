/** What became of a semantic state: what was kept, left out and made up, as the report on its faithfulness has it. */
import { isObject, type JsonObject, type Value } from "../../../lib/contract/value.ts";

export type Fate = "kept" | "omitted" | "unsupported";

export interface Mark {
  fate: Fate;
  text: string;
}

export interface StateDiff {
  id: string;
  source: string | null;
  concepts: Mark[];
  entities: Mark[];
  facts: Mark[];
}

const PARTS = ["concepts", "entities", "facts"] as const;

/** A concept, an entity, or a fact as a phrase. */
const phraseOf = (value: Value): string =>
  isObject(value) ? [value.subject, value.predicate, value.object].map(String).join(" ") : String(value);

const listOf = (value: Value | undefined): string[] => Array.isArray(value) ? value.map(phraseOf) : [];

/**
 * The marks of each example.
 *
 * @param reference artifact of the states that were meant; null leaves out what was kept
 * @param report of `metrics.semantic_state_faithfulness`
 */
export function stateDiffs(reference: JsonObject | null, report: JsonObject): StateDiff[] {
  const states = Array.isArray(reference?.states) ? reference.states.filter(isObject) : [];
  return (Array.isArray(report.items) ? report.items.filter(isObject) : []).map((item, index) => {
    const state = states.find(({ id }) => id === item.id) ?? states[index];
    const marks = (part: typeof PARTS[number]): Mark[] => {
      const omitted = new Set(listOf(item[`omitted_${part}`]));
      const meant = state === undefined ? [...omitted] : listOf(state[part]);
      return [
        ...meant.map((text): Mark => ({ fate: omitted.has(text) ? "omitted" : "kept", text })),
        ...listOf(item[`unsupported_${part}`]).map((text): Mark => ({ fate: "unsupported", text })),
      ];
    };
    const [concepts, entities, facts] = PARTS.map(marks);
    const source = typeof state?.source_text === "string" ? state.source_text : null;
    return { id: String(item.id), source, concepts, entities, facts };
  });
}

/** How many of a list have a fate. */
export const countOf = (marks: readonly Mark[], fate: Fate): number =>
  marks.filter((mark) => mark.fate === fate).length;
