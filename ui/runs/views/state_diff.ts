/** Members of a semantic state that were kept, omitted or added, from the report on its faithfulness. */
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
  isObject(value)
    ? [value.subject, value.predicate, value.object, ...Array.isArray(value.qualifiers) ? value.qualifiers : []]
      .filter((part) => part !== "").map(String).join(" ")
    : String(value);

const isKnowledge = (value: Value) => isObject(value) && value.origin === "knowledge";
const added = (value: Value): string => phraseOf(value) + (isKnowledge(value) ? " (from the knowledge base)" : "");

const listOf = (value: Value | undefined, text = phraseOf): string[] => Array.isArray(value) ? value.map(text) : [];
/** What the source states: a grounded reference counts without the facts that knowledge added. */
const statedIn = (value: Value | undefined) => Array.isArray(value) ? value.filter((item) => !isKnowledge(item)) : [];

/**
 * The marks of each example.
 *
 * @param reference artifact of the reference states; null leaves out the kept members
 * @param report of `metrics.semantic_state_faithfulness`
 */
export function stateDiffs(reference: JsonObject | null, report: JsonObject): StateDiff[] {
  const states = Array.isArray(reference?.states) ? reference.states.filter(isObject) : [];
  return (Array.isArray(report.items) ? report.items.filter(isObject) : []).map((item, index) => {
    const state = states.find(({ id }) => id === item.id) ?? states[index];
    const marks = (part: typeof PARTS[number]): Mark[] => {
      const omitted = new Set(listOf(item[`omitted_${part}`]));
      const meant = state === undefined ? [...omitted] : listOf(statedIn(state[part]));
      return [
        ...meant.map((text): Mark => ({ fate: omitted.has(text) ? "omitted" : "kept", text })),
        ...listOf(item[`unsupported_${part}`], added).map((text): Mark => ({ fate: "unsupported", text })),
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
