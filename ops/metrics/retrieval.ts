/**
 * Scores of rankings, means over the queries:
 *
 *     hit at k              share of queries with any relevant id among the first k
 *     relevant recall at k  share of the relevant ids that are among the first k
 *     nDCG at k             Σ 1/log2(position + 1) over the relevant ids among the first k, over its largest value
 *     reciprocal rank       1/position of the first relevant id, 0 beyond position 10
 *     mAP                   mean over the relevant ids of the share of relevant ids up to their position
 *
 * Queries without a relevant id have no score: they are left out and counted. A ranking that repeats an id is refused.
 *
 * A truncated ranking (top_k) has no ids beyond its end: a larger cut-off is refused, the mean reciprocal rank to 10 is
 * omitted if fewer than 10 ids of a larger gallery were kept, mAP if any id was left out.
 *
 * Source: Manning, Raghavan, Schütze, Introduction to Information Retrieval, 2008, ch. 8; Järvelin and Kekäläinen, ACM
 * TOIS 20(4), 2002 (nDCG); Voorhees, TREC-8 question answering track, 1999 (mean reciprocal rank).
 */
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { float, isNumber, type JsonObject, SvcError, toNumber, z } from "../api.ts";
import { itemsOf } from "../../lib/artifact/values.ts";
import { defineReport } from "../_report.ts";

const RECIPROCAL_RANKS = 10;

export default defineReport({
  id: "metrics.retrieval",
  name: "Retrieval scores",
  description: "Scores rankings at each cut-off",
  inputs: { rankings: ["retrieval.rankings.json"] },
  params: z.strictObject({ k_values: z.string().default("1,5,10").describe("comma-separated cut-offs") }),
  check: ({ k_values }) =>
    cutOffs(k_values).every((k) => Number.isSafeInteger(k) && k > 0) && cutOffs(k_values).length > 0 ? [] : [{
      code: "params_invalid",
      message: `Cannot use the text "${k_values}" as cut-offs`,
      place: ["k_values"],
      hint: "Write positive integers separated by commas, such as 1,5,10",
    }],
  run({ inputs, params }) {
    const all = itemsOf(inputs.rankings).map(readRanking), queries = all.filter(({ relevant }) => relevant > 0);
    if (queries.length === 0) {
      throw new SvcError(
        "boundary_empty",
        `Cannot score ${all.length} rankings without a query that has a relevant id`,
      );
    }
    const gallery = inputs.rankings.metadata.gallery_size;
    const gallerySize = isNumber(gallery) ? toNumber(gallery) : undefined;
    // Depth of all rankings; a ranking of the whole gallery has no limit.
    const depth = Math.min(
      ...queries.map(({ count }) => gallerySize === undefined || count < gallerySize ? count : Infinity),
    );
    const metrics: Record<string, number> = {};
    for (const k of cutOffs(params.k_values)) {
      if (k > depth) {
        throw new SvcError(
          "params_conflict",
          `Cannot score hits at ${k}: rankings keep ${depth} ids of a larger gallery`,
          { hint: "Raise top_k of the ranking, or remove that cut-off" },
        );
      }
      metrics[`retrieval.hit_at_${k}`] = mean(queries.map(({ positions }) => Number(positions[0] <= k)));
      metrics[`retrieval.relevant_recall_at_${k}`] = mean(queries.map((query) => found(query, k) / query.relevant));
      metrics[`retrieval.ndcg_at_${k}`] = mean(queries.map(({ positions, relevant }) => {
        const ideal = Array.from({ length: Math.min(k, relevant) }, (_, index) => index + 1);
        return gain(positions.filter((position) => position <= k)) / gain(ideal);
      }));
    }
    const reciprocal = ({ positions: [position] }: Query) => position <= RECIPROCAL_RANKS ? 1 / position : 0;
    if (depth >= RECIPROCAL_RANKS) metrics["retrieval.mrr_at_10"] = mean(queries.map(reciprocal));
    if (depth === Infinity) metrics["retrieval.map"] = mean(queries.map(averagePrecision));
    const items = queries.map(({ id, positions: [position = Infinity] }) => ({
      id,
      rank: Number.isFinite(position) ? position : null,
      reciprocal_rank: float(1 / position),
    }));
    return {
      metrics,
      items,
      facts: { query_count: queries.length, unscored_query_count: all.length - queries.length },
    };
  },
});

interface Query {
  id: string;
  /** Ids that the ranking keeps. */
  count: number;
  /** Positions of the relevant ids in the ranking, from 1, ascending. */
  positions: number[];
  /** Number of relevant ids. */
  relevant: number;
}

const found = ({ positions }: Query, k: number) => positions.filter((position) => position <= k).length;
const gain = (positions: readonly number[]) =>
  positions.reduce((sum, position) => sum + 1 / Math.log2(position + 1), 0);
const averagePrecision = ({ positions, relevant }: Query) =>
  positions.reduce((sum, position, index) => sum + (index + 1) / position, 0) / relevant;

function readRanking({ id, ranked_ids: ranked, relevant_ids: relevant }: JsonObject): Query {
  if (typeof id !== "string" || !Array.isArray(ranked) || !Array.isArray(relevant)) {
    throw new SvcError("boundary_value_invalid", "Cannot score a ranking without id, ranked_ids and relevant_ids");
  }
  if (new Set(ranked).size < ranked.length) {
    throw new SvcError("boundary_value_invalid", `Cannot score the ranking of ${id}: it has an id more than once`);
  }
  const positions = ranked.flatMap((other, index) => relevant.includes(other) ? [index + 1] : []);
  return { id, count: ranked.length, positions, relevant: new Set(relevant).size };
}

function cutOffs(list: string): number[] {
  return [...new Set(list.split(",").map((part) => /^\s*\d+\s*$/.test(part) ? Number(part) : NaN))];
}
