/**
 * The main parameters of a recipe, for the short form above the graph, derived from its operations. They are not stored.
 */
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import type { Step } from "../state/copies.ts";

/** A row of the form. */
export interface Entry {
  facet: string;
  stepId: string;
  param: string;
}

/** Parameters of each facet, in order; the first step with one is shown. */
export const FACETS: readonly { facet: string; ops: RegExp; params: readonly string[] }[] = [
  { facet: "Data", ops: /^source\./, params: ["image_ids", "text", "bit_count", "example_count", "batch_size"] },
  {
    facet: "Codec",
    ops: /^(model|semantic)\..*(encode|encoder|tokeniz)/,
    params: ["quality", "mode", "runtime", "policy"],
  },
  {
    facet: "Coding",
    ops: /^channel\.(?!.*(decoder|boundary|match)).*/,
    params: ["code_rate", "repetitions", "crc_bits"],
  },
  { facet: "Modulation", ops: /^modulation\./, params: ["modulation"] },
  { facet: "Channel", ops: /^(wireless|channel|noise)\./, params: ["channel", "snr_db"] },
  { facet: "Receiver", ops: /^(demodulation|model)\./, params: ["mode", "policy", "demapper"] },
  { facet: "Metric", ops: /^metrics\./, params: ["label"] },
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
