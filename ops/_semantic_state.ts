/**
 * Semantic states and knowledge bases as artifacts.
 *
 * A state describes one example: `concepts` (lower-case words), `entities` (names and quantities as written), `facts`
 * (triples with qualifiers), and optionally `source_text`. A fact has `origin: "source"` when it was extracted from the example, and
 * `"knowledge"` when grounding added it. Grounding also records `matches`, the knowledge-base facts that share words
 * with the state. Ids pair the states of sender and receiver.
 */
import {
  type InputArtifact,
  isInteger,
  isObject,
  type JsonObject,
  type OutputArtifact,
  SvcError,
  type Value,
} from "./api.ts";
import { folded } from "../lib/numeric/scores/set_scores.ts";

export interface Fact {
  subject: string;
  predicate: string;
  /** Empty for a verb without one. */
  object: string;
  /** Time, place or manner, each with its word: `before noon`, `without charging`. Facts with others are other facts. */
  qualifiers?: string[];
  /** In a state: extracted from the example (default), or added from a knowledge base. */
  origin?: "source" | "knowledge";
}

/** A fact of a knowledge base. */
export interface KnownFact extends Fact {
  /** Content words of the fact that a state must share; grounding may ask for more. */
  min_token_overlap?: number;
}

/** A knowledge-base fact that shares words with a state. */
export interface Match {
  /** Index of the fact in the knowledge base. */
  kb_fact_index: number;
  /** Number of shared words. */
  overlap: number;
  /** The shared words, in the order of the fact. */
  words: string[];
}

export interface SemanticState {
  id: string;
  concepts: string[];
  entities: string[];
  facts: Fact[];
  source_text?: string;
  matches?: Match[];
}

export interface KnowledgeBase {
  id: string;
  version: string;
  concepts: string[];
  facts: KnownFact[];
}

/** A fact as a phrase, `heavy rain will reach Lisbon before noon`. */
export const phraseOf = ({ subject, predicate, object, qualifiers = [] }: Fact): string =>
  [subject, predicate, object, ...qualifiers].filter((part) => part !== "").join(" ");

/** Key of a fact; two facts with the same key are the same, whatever their origin and the article of their subject. */
export const factKey = ({ subject, predicate, object, qualifiers = [] }: Fact): string =>
  JSON.stringify([
    folded(subject).replace(/^(?:the|an?) (?=\S)/, ""),
    ...[predicate, object, ...qualifiers].map(folded),
  ]);

/** Facts that are not among the earlier ones. */
export function distinctFacts<T extends Fact>(facts: readonly T[]): T[] {
  const seen = new Set<string>();
  return facts.filter((fact) => {
    const key = factKey(fact);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

const isText = (value: Value | undefined): value is string => typeof value === "string";
const isTexts = (value: Value | undefined): value is string[] => Array.isArray(value) && value.every(isText);

/** A fact from `{subject, predicate, object, qualifiers?, origin?}`, or undefined. A damaged origin is none. */
export function readFact(value: Value | undefined): Fact | undefined {
  if (!isObject(value)) return undefined;
  const { subject, predicate, object, qualifiers = [], origin } = value;
  if (!isText(subject) || !isText(predicate) || !isText(object) || !isTexts(qualifiers)) return undefined;
  return {
    subject,
    predicate,
    object,
    ...(qualifiers.length > 0 ? { qualifiers } : {}),
    ...(origin === "knowledge" || origin === "source" ? { origin } : {}),
  };
}

/** Whether grounding added a fact. */
export const isKnowledge = ({ origin }: Fact): boolean => origin === "knowledge";

function readFacts(value: Value | undefined): Fact[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const facts = value.map(readFact);
  return facts.every((fact) => fact !== undefined) ? facts : undefined;
}

function readMatch(value: Value): Match | undefined {
  if (!isObject(value)) return undefined;
  const { kb_fact_index, overlap, words } = value;
  if (!isInteger(kb_fact_index) || !isInteger(overlap) || !isTexts(words)) return undefined;
  return { kb_fact_index: Number(kb_fact_index), overlap: Number(overlap), words };
}

/** A state from its JSON, or undefined for another form. */
export function readState(value: Value | undefined): SemanticState | undefined {
  if (!isObject(value)) return undefined;
  const { id, concepts, entities, source_text } = value;
  const facts = readFacts(value.facts);
  if (!isText(id) || !isTexts(concepts) || !isTexts(entities) || facts === undefined) return undefined;
  const state: SemanticState = { id, concepts, entities, facts };
  if (source_text !== undefined) {
    if (!isText(source_text)) return undefined;
    state.source_text = source_text;
  }
  if (value.matches !== undefined) {
    const matches = Array.isArray(value.matches) ? value.matches.map(readMatch) : [undefined];
    if (!matches.every((match) => match !== undefined)) return undefined;
    state.matches = matches;
  }
  return state;
}

export function stateDocument({ id, concepts, entities, facts, source_text, matches }: SemanticState): JsonObject {
  return {
    id,
    concepts,
    entities,
    facts: facts.map((fact): JsonObject => ({ ...fact, origin: fact.origin ?? "source" })),
    ...(source_text === undefined ? {} : { source_text }),
    ...(matches === undefined ? {} : { matches: matches.map((match): JsonObject => ({ ...match })) }),
  };
}

export const emptyState = (id: string): SemanticState => ({ id, concepts: [], entities: [], facts: [] });

/**
 * The states of an artifact.
 * @throws SvcError `boundary_shape_invalid` without states, `boundary_value_invalid` for another form of a state,
 *   `pair_ids_mismatch` when ids are empty or repeated
 */
export function statesOf(input: InputArtifact): SemanticState[] {
  const { states } = input.json();
  if (!Array.isArray(states)) {
    throw new SvcError("boundary_shape_invalid", "Cannot find the states of a semantic state");
  }
  const read = states.map((value) => {
    const state = readState(value);
    if (state === undefined) {
      throw new SvcError(
        "boundary_value_invalid",
        "Cannot read a semantic state without id, concepts, entities or facts",
      );
    }
    return state;
  });
  if (read.some(({ id }) => id === "") || new Set(read.map(({ id }) => id)).size !== read.length) {
    throw new SvcError("pair_ids_mismatch", "Cannot use semantic states with empty or repeated ids");
  }
  return read;
}

/** The source of the states of an artifact: `text`, `image`, …. */
export function modalityOf(input: InputArtifact): string {
  const { modality } = input.json();
  return typeof modality === "string" ? modality : "unknown";
}

/** The document of a batch of states. */
export function statesDocument(states: readonly SemanticState[], modality: string): JsonObject {
  return { kind: "semantic.state", schema_version: 1, modality, states: states.map(stateDocument) };
}

/** A batch of states; their ids go into the metadata. */
export function statesArtifact(
  states: readonly SemanticState[],
  modality: string,
  metadata: JsonObject = {},
): OutputArtifact {
  return { json: statesDocument(states, modality), metadata: { ...metadata, state_ids: states.map(({ id }) => id) } };
}

export function knowledgeArtifact({ id, version, concepts, facts }: KnowledgeBase): OutputArtifact {
  const rows = facts.map((fact) => ({ ...fact }) as JsonObject);
  return {
    json: { kind: "foundation.kb", schema_version: 1, id, version, concepts, facts: rows },
    metadata: { knowledge_base: { id, version } },
  };
}

/** The knowledge base of an artifact. @throws SvcError `boundary_shape_invalid` for another form */
export function knowledgeOf(input: InputArtifact): KnowledgeBase {
  const { id, version, concepts, facts: rows } = input.json();
  const facts = readFacts(rows);
  if (!isText(id) || !isText(version) || !isTexts(concepts) || facts === undefined) {
    throw new SvcError("boundary_shape_invalid", "Cannot read a knowledge base without id, version, concepts or facts");
  }
  const known = facts.map((fact, index): KnownFact => {
    const { min_token_overlap } = (rows as JsonObject[])[index];
    return isInteger(min_token_overlap) ? { ...fact, min_token_overlap: Number(min_token_overlap) } : fact;
  });
  return { id, version, concepts, facts: known };
}
