/**
 * Fewer items from the sources of shipped recipes, so that each recipe runs in a second: one or two photographs, a few scenes,
 * sentences, draws and slots; AVIF files at the fastest setting. `deno task soak whole` runs them at their full sizes.
 */
import { isNumber, type JsonObject, toNumber } from "../../lib/contract/value.ts";

/** Whether recipes run at their full sizes. */
export const FULL_SIZE = Deno.env.get("SVC_TEST_SIZE") === "full";

/** Most items of a source, by its parameter. */
const MOST: Record<string, number> = {
  ...{ batch_size: 32, example_count: 8, frame_count: 24, limit: 4, repeat_count: 1, sample_count: 40 },
  snapshot_count: 16,
};
/** Items of sources that have more by default. */
const DEFAULTS: Record<string, Record<string, number>> = {
  "source.csi_dataset": { sample_count: 64 },
  "source.synthetic_scenes": { example_count: 16 },
};
/** Sentences of this dataset are counted. */
const REPORTS = "svc_reports";

/** Bits from which a source gives a part, which has whole slots and blocks. */
const MANY_BITS = 100_000, PART = 10;
/** Other parts, by recipe; 1 where words of a distribution matcher need all bits. */
const PARTS: Record<string, number> = {
  bit_transport_nr_ldpc_tdl: 5,
  nr_pusch_two_layers: 20,
  ofdm_moving_channel: 8,
  shaping_gap: 1,
};

/** Parameters of encoders with which a search for a quality takes a sixth of the time. */
const FAST: Record<string, JsonObject> = { "model.avif_encode": { speed: 10 } };

/** Parameters of other steps, by recipe. */
const OTHERS: Record<string, Record<string, JsonObject>> = {
  nr_adapted_moving_link: { channel_state: { num_ofdm_symbols: 1400 } },
};

export interface Step {
  id: string;
  op: string;
  params?: JsonObject;
  inputs?: JsonObject;
}

/**
 * Parameters with which a recipe takes less time.
 * @param params those of a pack for each step, over those of the recipe
 * @param photographs two make pairs for the comparisons of a pack
 * @returns the changed parameters by step; none at full size
 */
export function reducedSizes(
  recipe: string,
  steps: readonly Step[],
  params: Record<string, JsonObject> = {},
  photographs = 2,
): Record<string, JsonObject> {
  if (FULL_SIZE) return {};
  const sources = steps.filter(({ op }) => op.startsWith("source.")).map(({ id, op, params: own }) => {
    const given: JsonObject = { ...DEFAULTS[op], ...own, ...params[id] }, changed: JsonObject = {};
    const counts = op === "source.text_dataset" && given.dataset === REPORTS ? { sample_count: 200, ...given } : given;
    for (const [name, most] of Object.entries(MOST)) {
      if (isNumber(counts[name]) && toNumber(counts[name]) > most) changed[name] = most;
    }
    const bits = isNumber(given.bit_count) ? toNumber(given.bit_count) : 0;
    if (bits >= MANY_BITS) changed.bit_count = bits / (PARTS[recipe] ?? PART);
    const { image_ids: ids } = given;
    if (typeof ids === "string") changed.image_ids = ids.split(",", photographs).join(",");
    return [id, changed] as const;
  });
  const encoders = steps.filter(({ op }) => op in FAST).map(({ id, op }) => [id, FAST[op]] as const);
  const all = [...sources, ...encoders].filter(([, changed]) => Object.keys(changed).length > 0);
  return { ...Object.fromEntries(all), ...OTHERS[recipe] };
}
