/**
 * Fills literal `[MASK]` words at the receiver. local_template uses the words of the received batch, then the position
 * of the mask, without a language model. masked_lm uses a language model (`_masked_lm.ts`).
 *
 * A mask stands for a word only if the codec keeps the sender's bits: this step follows model.text_utf8_decode, not a
 * decoder that generates texts. Lint reports other recipes (`mask_repair_codec_invalid`).
 */
import { TEXTS } from "../../lib/contract/kinds.ts";
import { defineOperation, z } from "../api.ts";
import { textsArtifact, textsOf, travel } from "../../lib/artifact/values.ts";
import { maskCount } from "../_words.ts";
import { fillMasks, MASKED_LM_PARAMS, maskedLm } from "./_masked_lm.ts";
import { checkDevice } from "./_pretrained.ts";
import { fillByTemplate } from "./_repair.ts";

export default defineOperation({
  id: "foundation.text_mask_repair",
  name: "Repair masked text",
  description: "Fills masked words at the receiver by template or with a masked language model",
  inputs: { texts: [TEXTS] },
  outputs: { texts: TEXTS },
  params: z.strictObject({
    ...MASKED_LM_PARAMS,
    generator: z.enum(["local_template", "masked_lm"]).default("masked_lm").describe(
      "source of the words: those of the received batch, or a masked language model",
    ),
  }),
  outputMetadataGuarantees: { texts: { from: "texts", keys: ["mask_repair"] } },
  timingMetric: "decoder.inference",
  check: checkDevice,
  models: maskedLm,
  async run({ inputs, params: { generator, top_k }, model, progress }) {
    const received = textsOf(inputs.texts), batch = received.map(({ text }) => text);
    const filled = generator === "masked_lm"
      ? await fillMasks(batch, model("masked_lm"), { topK: top_k, progress })
      : batch.map((text) => fillByTemplate(text, batch));
    const items = received.map(({ id }, index) => ({ id, text: filled[index] }));
    const count = (texts: readonly { text: string }[]) => texts.reduce((sum, { text }) => sum + maskCount(text), 0);
    const metadata = travel(inputs.texts.metadata, { mask_repair: { generator, mask_count: count(received) } });
    return {
      outputs: { texts: textsArtifact(items, metadata) },
      metrics: { "text.remaining_mask_count": BigInt(count(items)) },
    };
  },
});
