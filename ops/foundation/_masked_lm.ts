/** The parameters of a masked language model, and what a step asks of the machine that wants one. */
import { SvcError } from "../../lib/contract/error.ts";
import type { Requirement } from "../../lib/contract/operation.ts";
import { z } from "../../lib/contract/zod.ts";

export const MASKED_LM_PARAMS = {
  cache_dir: z.string().default("").describe("masked_lm: folder of downloaded models"),
  device: z.string().default("cpu").describe("masked_lm: where the model runs"),
  model_id: z.string().default("distilbert/distilbert-base-uncased").describe("masked_lm: the model"),
  model_revision: z.string().default("").describe("masked_lm: full commit of the model; needed for any other model"),
  top_k: z.int().positive().default(1).describe("masked_lm: candidates that are looked at"),
};

/** The model, where the generator is one. */
export const requiredModel = ({ generator, model_id }: { generator: string; model_id: string }): Requirement[] =>
  generator === "masked_lm" ? [{ kind: "model", id: model_id }] : [];

/** Planning refuses the generator before this is reached. */
export function noMaskedLm(model: string): SvcError {
  return new SvcError("model_unavailable", `Cannot fill masks with ${model}: no runtime for it is here`, {
    hint: "Set generator to local_template",
  });
}
