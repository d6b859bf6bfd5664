/**
 * Questions about images, answers, and packets with the labels that a receiver needs to answer: reading and writing the
 * artifacts vqa.questions, vqa.answers and vqa.semantic_packet.
 *
 *     questions   {id, image_id, question}
 *     answers     {id, answer}; a reference may add answers, those of several annotators
 *     packet      {id, selected_label}: the id is that of the question
 */
import { type InputArtifact, type JsonObject, type OutputArtifact, SvcError } from "./api.ts";
import { itemsOf } from "../lib/artifact/values.ts";

export const QUESTIONS = "vqa.questions.json";
export const ANSWERS = "vqa.answers.json";
export const PACKET = "vqa.semantic_packet.json";
export const DETECTIONS = "vision.detections.json";

export interface Question {
  id: string;
  image_id: string;
  question: string;
}
export interface Answer {
  id: string;
  answer: string;
  /** Answers of several annotators to the same question. */
  answers?: readonly string[];
}
export interface Selection {
  id: string;
  selected_label: string;
}

/** The questions of an artifact. @throws SvcError `boundary_value_invalid`, `pair_ids_mismatch` for repeated ids */
export function questionsOf(input: InputArtifact): Question[] {
  return readItems(input, ["id", "image_id", "question"]);
}

/** The selections of a packet. @throws SvcError `boundary_value_invalid`, `pair_ids_mismatch` for repeated ids */
export function packetOf(input: InputArtifact): Selection[] {
  return readItems(input, ["id", "selected_label"]);
}

function readItems<Key extends string>(input: InputArtifact, keys: readonly Key[]): Record<Key, string>[] {
  const items = itemsOf(input).map((item) => {
    const lacking = keys.filter((key) => typeof item[key] !== "string");
    if (lacking.length > 0) {
      throw new SvcError(
        "boundary_value_invalid",
        `Cannot read an item of a ${input.kind} artifact without ${lacking.join(" and ")}`,
      );
    }
    return Object.fromEntries(keys.map((key) => [key, item[key]])) as Record<Key, string>;
  });
  if (new Set(items.map((item) => item["id" as Key])).size !== items.length) {
    throw new SvcError("pair_ids_mismatch", `Cannot use a ${input.kind} artifact with repeated ids`);
  }
  return items;
}

const artifact = (kind: string, items: readonly object[], metadata: JsonObject): OutputArtifact => ({
  json: { kind, schema_version: 1, items: items.map((item) => ({ ...item })) },
  metadata,
});

export const questionsArtifact = (questions: readonly Question[], metadata: JsonObject = {}) =>
  artifact("vqa.questions", questions, metadata);

export const answersArtifact = (answers: readonly Answer[], metadata: JsonObject = {}) =>
  artifact("vqa.answers", answers, metadata);

export const packetArtifact = (selections: readonly Selection[], metadata: JsonObject = {}) =>
  artifact("vqa.semantic_packet", selections, metadata);
