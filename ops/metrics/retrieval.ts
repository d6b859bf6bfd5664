/**
 * Scores of rankings: hit at k is the share of queries with any relevant id among the first k, the reciprocal rank is
 * 1/position of the first relevant id and 0 beyond position 10; means over the queries.
 *
 * A truncated ranking (top_k) has no ids beyond its end: a larger cut-off is refused, and the mean reciprocal rank to
 * 10 is omitted if fewer than 10 ids of a larger gallery were kept.
 *
 * Source: Manning, Raghavan, Schütze, Introduction to Information Retrieval, 2008, ch. 8; Voorhees, TREC-8 question
 * answering track, 1999 (mean reciprocal rank).
 */
import { mean } from "../../lib/numeric/statistics.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { SvcError } from "../../lib/contract/error.ts";
import { REPORT } from "../../lib/contract/kinds.ts";
import { float, isNumber, type JsonObject, toNumber } from "../../lib/contract/value.ts";
import { z } from "../../lib/contract/zod.ts";
import { itemsOf, reportResult } from "../../lib/artifact/values.ts";

const RECIPROCAL_RANKS = 10;

export default defineOperation({
  id: "metrics.retrieval",
  name: "Retrieval scores",
  description: "Scores rankings at each cut-off",
  inputs: { rankings: ["retrieval.rankings.json"] },
  outputs: { report: REPORT },
  params: z.strictObject({
    k_values: z.string().default("1,5,10").describe("comma-separated cut-offs"),
  }),
  threadSafe: true,
  check: ({ k_values }) =>
    cutOffs(k_values).every((k) => Number.isSafeInteger(k) && k > 0) && cutOffs(k_values).length > 0 ? [] : [{
      code: "params_invalid",
      message: `Cannot use the text "${k_values}" as cut-offs`,
      place: ["k_values"],
      hint: "Write positive integers separated by commas, such as 1,5,10",
    }],
  run({ inputs, params }) {
    const queries = itemsOf(inputs.rankings).map(readRanking);
    if (queries.length === 0) throw new SvcError("boundary_empty", "Cannot score an empty list of rankings");
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
          {
            hint: "Raise top_k of the ranking, or remove that cut-off",
          },
        );
      }
      metrics[`retrieval.hit_at_${k}`] = mean(queries.map(({ position }) => Number(position <= k)));
    }
    const reciprocal = ({ position }: Query) => position <= RECIPROCAL_RANKS ? 1 / position : 0;
    if (depth >= RECIPROCAL_RANKS) metrics["retrieval.mrr_at_10"] = mean(queries.map(reciprocal));
    const items = queries.map(({ id, position }) => ({
      id,
      rank: Number.isFinite(position) ? position : null,
      reciprocal_rank: float(1 / position),
    }));
    return reportResult("metrics.retrieval", metrics, { items, facts: { query_count: queries.length } });
  },
});

interface Query {
  id: string;
  /** Ids that the ranking keeps. */
  count: number;
  /** Position of the first relevant id, from 1; infinite without one. */
  position: number;
}

function readRanking({ id, ranked_ids: ranked, relevant_ids: relevant }: JsonObject): Query {
  if (typeof id !== "string" || !Array.isArray(ranked) || !Array.isArray(relevant)) {
    throw new SvcError("boundary_value_invalid", "Cannot score a ranking without id, ranked_ids and relevant_ids");
  }
  const first = ranked.findIndex((other) => relevant.includes(other));
  return { id, count: ranked.length, position: first < 0 ? Infinity : first + 1 };
}

function cutOffs(list: string): number[] {
  return [...new Set(list.split(",").map((part) => /^\s*\d+\s*$/.test(part) ? Number(part) : NaN))];
}
