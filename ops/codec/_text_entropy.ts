/** The model that both ends of the arithmetic text code share: counts of a corpus of English prose. */
import { SvcError, type Value } from "../api.ts";
import { TextModel } from "../../lib/numeric/coding/text_model.ts";
import corpus from "./_english_corpus.json" with { type: "json" };

/** Most bytes of one text. */
export const TEXT_BYTES = 1 << 16;

const models = new Map<number, TextModel>();

/** The model of an order 0 … 3, trained on the sentences of the corpus. */
export const textModel = (order: number): TextModel =>
  models.getOrInsertComputed(
    order,
    () => new TextModel(corpus.paragraphs.flatMap((paragraph) => paragraph.split(/(?<=[.!?]) /)), order),
  );

/** `payload_format` of texts that are coded with the model of an order. */
export const entropyFormat = (order: number): string => `text_entropy_${corpus.version}_order_${order}`;

/** The order of a payload. @throws SvcError `boundary_value_invalid` for another format */
export function entropyOrder(format: Value | undefined): number {
  const order = [0, 1, 2, 3].find((known) => format === entropyFormat(known));
  if (order !== undefined) return order;
  throw new SvcError(
    "boundary_value_invalid",
    `Cannot decode a payload of the format ${JSON.stringify(format ?? null)}`,
    {
      hint: "Decode the payload bits of model.text_entropy_encode, sent over a link that keeps their metadata",
    },
  );
}
