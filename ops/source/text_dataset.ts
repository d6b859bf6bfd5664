/**
 * Built-in sentences in the order of `sample_ids`; `repeat_count` repeats the list, later repetitions with ids ending
 * in `#2`, `#3`, ….
 */
import { TEXTS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { textsArtifact } from "../../lib/artifact/values.ts";
import { checkIds, parseIds, repeatIds } from "./_ids.ts";
import { SEMANTIC_TEXT_SMOKE } from "./_semantic_text_smoke.ts";

const KNOWN = Object.keys(SEMANTIC_TEXT_SMOKE);

export default defineOperation({
  id: "source.text_dataset",
  name: "Built-in text batch",
  description: "Built-in sentences selected by comma-separated ids, optionally repeated",
  outputs: { texts: TEXTS },
  params: z.strictObject({
    dataset: z.enum(["semantic_text_smoke"]).default("semantic_text_smoke").describe("built-in dataset"),
    sample_ids: z.string().default(KNOWN.join(",")).describe("comma-separated ids, in this order; empty uses all"),
    repeat_count: z.int().positive().default(1).describe("number of repetitions of the list"),
  }),
  outputMetadataGuarantees: { texts: { keys: ["dataset", "text_ids"] } },
  estimate: ({ sample_ids, repeat_count }) => ({
    texts: 100 * repeat_count * (parseIds(sample_ids).length || KNOWN.length),
  }),
  threadSafe: true,
  check: ({ sample_ids }) => checkIds(sample_ids, "sample_ids", KNOWN),
  run({ params }) {
    const wanted = parseIds(params.sample_ids);
    const items = (wanted.length > 0 ? wanted : KNOWN).map((id) => ({ id, text: SEMANTIC_TEXT_SMOKE[id] }));
    const repeated = repeatIds(items, params.repeat_count, (item, suffix) => ({ ...item, id: item.id + suffix }));
    const metadata = {
      dataset: { id: params.dataset, version: `${params.dataset}-v1` },
      text_ids: repeated.map(({ id }) => id),
    };
    return { outputs: { texts: textsArtifact(repeated, metadata) } };
  },
});
