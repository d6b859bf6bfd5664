/** The main parameters of a recipe for the short form above the graph; derived from its operations, not stored. */
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import type { Step } from "../state/copies.ts";

/** A row of the form. */
export interface Entry {
  facet: string;
  stepId: string;
  param: string;
}

/** Version of the facets; it is not written into recipes. Exported for tests. */
export const FACETS_VERSION = 1;

/** Parameters of each facet, in order; the first step with one is shown. Operations have each of them, which a test holds. */
export const FACETS: readonly { facet: string; ops: RegExp; params: readonly string[] }[] = [
  { facet: "Data", ops: /^source\./, params: ["image_ids", "dataset", "bit_count", "example_count", "limit"] },
  {
    facet: "Codec",
    ops: /^(model|semantic)\..*(encode|encoder|tokeniz)/,
    params: ["quality", "target_bpp", "runtime"],
  },
  {
    facet: "Coding",
    ops: /^channel\.(?!.*(decoder|boundary|match)).*/,
    params: ["factor", "target_coderate", "transport_block_size_bits", "packet_payload_bits"],
  },
  // Each code has parameters of its own.
  {
    facet: "Coding",
    ops: /^channel\..*_encoder$/,
    params: [
      "correctable_errors",
      "field_degree",
      "message_symbols",
      "codeword_symbols",
      "puncturing",
      "block_bits",
      "code",
      "payload_bits",
      "message_bits",
      "coded_bits",
    ],
  },
  { facet: "Modulation", ops: /^modulation\./, params: ["modulation"] },
  { facet: "Channel", ops: /^(wireless|channel|noise)\./, params: ["channel", "snr_db"] },
  { facet: "Receiver", ops: /^(demodulation|model)\./, params: ["mode", "policy", "method"] },
];

/** Whether a recipe disables the form: `metadata.ui_configured: false`. */
export const isGeneric = ({ metadata }: JsonObject): boolean => isObject(metadata) && metadata.ui_configured === false;

/**
 * The entries for a recipe.
 *
 * @param paramsOf the parameters of an operation
 * @param bindings of its template: names to steps and parameters; they are listed first
 */
export function entriesOf(
  steps: readonly Step[],
  paramsOf: (op: string) => readonly string[],
  bindings: readonly { stepId: string; param: string }[] = [],
): Entry[] {
  const entries: Entry[] = bindings.map((binding) => ({ facet: "Data", ...binding }));
  const has = (stepId: string, param: string) => entries.some((one) => one.stepId === stepId && one.param === param);
  for (const { facet, ops, params } of FACETS) {
    for (const param of params) {
      const step = steps.find(({ id, op }) => ops.test(op) && paramsOf(op).includes(param) && !has(id, param));
      if (step === undefined || entries.filter((one) => one.facet === facet).length > 1) continue;
      if (entries.some((one) => one.facet === facet && one.param === param)) continue;
      entries.push({ facet, stepId: step.id, param });
    }
  }
  return entries;
}
