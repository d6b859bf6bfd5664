/** The choices that all decoders of LDPC codes share. */
import { z } from "../api.ts";
import { LDPC_CHECK_RULES, LDPC_SCHEDULES, type LdpcOptions } from "../../lib/numeric/coding/ldpc/decoder.ts";

const TEXTS = {
  schedule: "layered passes check after check, flooding updates all checks at once",
  check_rule: "sum_product is exact, the others take the least value, times a factor or less an offset",
  min_sum_scale: "factor of normalized_min_sum",
  min_sum_offset: "offset of offset_min_sum, in units of the log-likelihood ratio",
};
const DEFAULTS = {
  schedule: "layered",
  check_rule: "normalized_min_sum",
  min_sum_scale: 0.75,
  min_sum_offset: 0.5,
} as const;
const SCHEDULE = z.enum(LDPC_SCHEDULES), CHECK_RULE = z.enum(LDPC_CHECK_RULES);
const SCALE = z.number().positive().max(1), OFFSET = z.number().nonnegative().max(100);
const usedBy = (check_rule: LdpcOptions["checkRule"]) => ({ "x-svc-used-when": { check_rule } });

export const LDPC_CHOICES = {
  schedule: SCHEDULE.default(DEFAULTS.schedule).describe(TEXTS.schedule),
  check_rule: CHECK_RULE.default(DEFAULTS.check_rule).describe(TEXTS.check_rule),
  min_sum_scale: SCALE.default(DEFAULTS.min_sum_scale).meta(usedBy("normalized_min_sum")).describe(TEXTS.min_sum_scale),
  min_sum_offset: OFFSET.default(DEFAULTS.min_sum_offset).meta(usedBy("offset_min_sum")).describe(TEXTS.min_sum_offset),
};

/** As parameters that recipes may leave out: then they do not stand in the effective recipe. */
export const OPTIONAL_LDPC_CHOICES = {
  schedule: SCHEDULE.optional().describe(`${TEXTS.schedule}; default layered`),
  check_rule: CHECK_RULE.optional()
    .describe(
      `${TEXTS.check_rule}; default offset_min_sum, whose messages have 8 bits when layered by 0.5, others binary32`,
    ),
  min_sum_scale: SCALE.optional().meta(usedBy("normalized_min_sum"))
    .describe(`${TEXTS.min_sum_scale}; default ${DEFAULTS.min_sum_scale}`),
  min_sum_offset: OFFSET.optional().meta(usedBy("offset_min_sum"))
    .describe(`${TEXTS.min_sum_offset}; default ${DEFAULTS.min_sum_offset}`),
  early_stop: z.boolean().optional().describe("end at a valid CRC, or when all checks hold; default true"),
};

/** The choices as options of a decoder. */
export const ldpcOptions = (chosen: z.output<z.ZodObject<typeof LDPC_CHOICES>>) => ({
  schedule: chosen.schedule,
  checkRule: chosen.check_rule,
  scale: chosen.min_sum_scale,
  offset: chosen.min_sum_offset,
});

/** As `ldpcOptions`; undefined for those of the kernel with 8 bits. */
export function optionalLdpcOptions(chosen: z.output<z.ZodObject<typeof OPTIONAL_LDPC_CHOICES>>) {
  const all = ldpcOptions({ ...DEFAULTS, check_rule: "offset_min_sum", ...chosen });
  const { schedule, checkRule, offset } = all;
  const kernel = schedule === "layered" && checkRule === "offset_min_sum" && offset === DEFAULTS.min_sum_offset;
  return kernel ? undefined : all;
}
