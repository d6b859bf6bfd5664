/** The choices that all decoders of LDPC codes share. */
import { z } from "../api.ts";
import { LDPC_CHECK_RULES, LDPC_SCHEDULES, type LdpcOptions } from "../../lib/numeric/coding/ldpc/decoder.ts";

export function decoderChoices(defaults: { checkRule: LdpcOptions["checkRule"] }) {
  return {
    schedule: z.enum(LDPC_SCHEDULES).default("layered")
      .describe("layered passes check after check, flooding updates all checks at once"),
    check_rule: z.enum(LDPC_CHECK_RULES).default(defaults.checkRule)
      .describe("sum_product is exact, the others take the least value, times a factor or less an offset"),
    min_sum_scale: z.number().positive().max(1).default(0.75)
      .meta({ "x-svc-used-when": { check_rule: "normalized_min_sum" } })
      .describe("factor of normalized_min_sum"),
    min_sum_offset: z.number().nonnegative().max(100).default(0.5)
      .meta({ "x-svc-used-when": { check_rule: "offset_min_sum" } })
      .describe("offset of offset_min_sum, in units of the log-likelihood ratio"),
  };
}

/** The choices as options of a decoder. */
export const decoderOptions = (
  { schedule, check_rule: checkRule, min_sum_scale: scale, min_sum_offset: offset }: z.output<
    z.ZodObject<ReturnType<typeof decoderChoices>>
  >,
) => ({ schedule, checkRule, scale, offset });
