/**
 * Texts as payload bits by arithmetic coding of their UTF-8 bytes with a context model of English prose, which both ends
 * have. Each text is one source item of whole bytes, so that a lost packet or block loses only its text. The ids go into the
 * trusted metadata, the texts do not. Any text can be sent; a text unlike the corpus takes more bits than UTF-8.
 *
 * Model and code: lib/numeric/coding/text_model.ts, lib/numeric/coding/range_coder.ts.
 */
import { PAYLOAD_BITS, TEXTS } from "../../lib/contract/kinds.ts";
import { defineOperation, SvcError, z } from "../api.ts";
import { bitsArtifact, textsOf, travel } from "../../lib/artifact/values.ts";
import { unpackBits } from "../../lib/numeric/array/bit_packing.ts";
import { entropyFormat, TEXT_BYTES, textModel } from "./_text_entropy.ts";

export default defineOperation({
  id: "model.text_entropy_encode",
  name: "Text to arithmetic-coded bits",
  description: "Codes each text with a context model of English and emits payload bits",
  inputs: { texts: [TEXTS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    order: z.int().min(0).max(3).default(3).describe(
      "number of bytes that the probability of the next byte depends on",
    ),
  }),
  outputMetadataGuarantees: {
    bits: {
      from: "texts",
      keys: ["boundary_contract", "bit_count", "text_ids", "payload_format", "source_item_counts"],
    },
  },
  timingMetric: "encoder.payload_encode",
  threadSafe: true,
  run({ inputs, params }) {
    const texts = textsOf(inputs.texts), model = textModel(params.order);
    const utf8 = texts.map(({ text }) => new TextEncoder().encode(text).length);
    const long = utf8.findIndex((length) => length > TEXT_BYTES);
    if (long >= 0) {
      throw new SvcError("boundary_value_invalid", `Cannot code the text ${texts[long].id} of ${utf8[long]} bytes`, {
        hint: `Split it into texts of at most ${TEXT_BYTES} bytes`,
      });
    }
    const messages = texts.map(({ text }) => model.encode(text));
    const bytes = Uint8Array.from(messages.flatMap((message) => [...message])), bits = unpackBits(bytes);
    const metadata = travel(inputs.texts.metadata, {
      payload_format: entropyFormat(params.order),
      text_ids: texts.map(({ id }) => id),
      source_item_counts: messages.map((message) => 8 * message.length),
    });
    return {
      outputs: { bits: bitsArtifact(bits, metadata, "payload.bits") },
      metrics: {
        "codec.bit_count": BigInt(bits.length),
        "codec.bytes": BigInt(bytes.length),
        "codec.native_bit_count": BigInt(8 * utf8.reduce((sum, length) => sum + length, 0)),
      },
    };
  },
});
