/**
 * Repair of masked words: a literal `[MASK]` marks a word only if the text codec keeps the sender's bits. A decoder
 * that generates texts, from a semantic state or learned symbols, may write any word in place of a mask, and `[MASK]`
 * in place of a word.
 */
import { inputOf, type LintStep, type LintView, type Rule, type Wire } from "./view.ts";

const REPAIR = "foundation.text_mask_repair";
/** Decoders whose texts have the sent bits. */
const BIT_PRESERVING = ["model.text_utf8_decode"];
const TEXTS = "text.batch.json";

/** The step that produced a text, before operations that change it word by word. */
function originOf(recipe: LintView, step: LintStep): Wire | undefined {
  let wire = recipe.source(step, "texts");
  while (wire !== undefined) {
    const { contract, outputs } = wire.step;
    if (!contract?.input_kinds.texts?.includes(TEXTS) || outputs[wire.output] !== TEXTS) return wire;
    wire = recipe.source(wire.step, "texts");
  }
  return undefined;
}

export const TEXT_RULES: readonly Rule[] = [
  {
    code: "mask_repair_codec_invalid",
    *find(recipe) {
      for (const step of recipe.ofOp(REPAIR)) {
        const origin = originOf(recipe, step);
        if (origin === undefined || BIT_PRESERVING.includes(origin.step.op)) continue;
        const { contract } = origin.step;
        // A source has no codec before it.
        if (contract === undefined || Object.keys(contract.input_kinds).length === 0) continue;
        const before = [...recipe.ancestors(step)].filter(({ op }) => BIT_PRESERVING.includes(op)).at(-1);
        yield {
          place: inputOf(step, "texts"),
          message:
            `Cannot repair the masks of ${origin.step.id}.${origin.output}: ${origin.step.op} does not keep the ` +
            "bits of the sent texts",
          hint: before
            ? `Wire texts to ${before.id}.texts`
            : "Repair after model.text_utf8_decode, or remove the repair",
          step,
        };
      }
    },
  },
];
