/** Captions as artifacts: one caption per id, or several equally correct ones. */
import { type InputArtifact, type JsonObject, type OutputArtifact, SvcError } from "./api.ts";
import { itemsOf } from "../lib/artifact/values.ts";

/** An item: `{id, text}`, or `{id, texts}` for several captions. */
export interface CaptionItem {
  id: string;
  texts: string[];
}

/**
 * The captions of an artifact, of `text.caption` or plain texts.
 * @throws SvcError `boundary_value_invalid` for an item without an id or a caption
 */
export function captionsOf(input: InputArtifact): CaptionItem[] {
  return itemsOf(input).map(({ id, text, texts = [text] }) => {
    const captions = Array.isArray(texts) ? texts : [];
    if (typeof id !== "string" || captions.length === 0 || !captions.every((caption) => typeof caption === "string")) {
      throw new SvcError("boundary_value_invalid", "Cannot read a caption without an id and a text");
    }
    return { id, texts: captions as string[] };
  });
}

/** A batch of captions. */
export function captionsArtifact(items: readonly CaptionItem[], metadata: JsonObject = {}): OutputArtifact {
  const rows = items.map(({ id, texts }): JsonObject => texts.length === 1 ? { id, text: texts[0] } : { id, texts });
  return { json: { kind: "text.caption", schema_version: 1, items: rows }, metadata };
}
