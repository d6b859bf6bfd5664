/** Captions as artifacts: one caption per id, or several equally correct ones. */
import { type InputArtifact, type JsonObject, type OutputArtifact, SvcError } from "./api.ts";
import { checkPairedIds, itemsOf } from "../lib/artifact/values.ts";

/** An item: `{id, text}`, or `{id, texts}` for several captions. */
export interface CaptionItem {
  id: string;
  texts: string[];
}

/**
 * The captions of an artifact, of `text.caption` or plain texts.
 * @throws SvcError `boundary_value_invalid` for an item without an id or a caption
 */
function captionsOf(input: InputArtifact): CaptionItem[] {
  return itemsOf(input).map(({ id, text, texts = [text] }) => {
    const captions = Array.isArray(texts) ? texts : [];
    if (typeof id !== "string" || captions.length === 0 || !captions.every((caption) => typeof caption === "string")) {
      throw new SvcError("boundary_value_invalid", "Cannot read a caption without an id and a text");
    }
    return { id, texts: captions as string[] };
  });
}

/**
 * Candidates of one text each and their references, by equal ids.
 * @throws SvcError `pair_ids_mismatch`, `boundary_empty`, `boundary_value_invalid` for several candidates of an item
 */
export function captionPairs(candidate: InputArtifact, reference: InputArtifact) {
  const candidates = captionsOf(candidate), references = captionsOf(reference);
  checkPairedIds(candidates, references);
  if (references.length === 0) throw new SvcError("boundary_empty", "Cannot score an empty batch of texts");
  const several = candidates.find(({ texts }) => texts.length > 1);
  if (several) {
    throw new SvcError("boundary_value_invalid", `Cannot score ${several.texts.length} candidates of ${several.id}`, {
      hint: "Only references may have several texts",
    });
  }
  return references.map(({ id, texts }, at) => ({ id, candidate: candidates[at].texts[0], references: texts }));
}

/** A batch of captions. */
export function captionsArtifact(items: readonly CaptionItem[], metadata: JsonObject = {}): OutputArtifact {
  const rows = items.map(({ id, texts }): JsonObject => texts.length === 1 ? { id, text: texts[0] } : { id, texts });
  return { json: { kind: "text.caption", schema_version: 1, items: rows }, metadata };
}
