/**
 * Ranks a gallery for every target by the cosine of embeddings, or by their inner product without `normalize`.
 *
 * Targets contain queries and their relevant ids. If the queries are texts, the gallery is all images; if they are
 * images, it is all texts; ids that texts and images share count as texts. The best `top_k` are kept; equal scores are
 * in the order of the gallery. Rankings contain the relevant ids of their query and the size of the gallery, which
 * scoring needs.
 */
import { defineOperation, float, type JsonObject, SvcError, z } from "../api.ts";
import { itemsOf } from "../../lib/artifact/values.ts";
import { checkSameSpace, type Embeddings, EMBEDDINGS_ANY, embeddingsOf, similarity } from "./_embedding_space.ts";

export default defineOperation({
  id: "foundation.clip_retrieval_rank",
  name: "Embedding retrieval ranking",
  description: "Ranks image and text embeddings against each other, keeping the best",
  inputs: {
    image_embeddings: EMBEDDINGS_ANY,
    text_embeddings: EMBEDDINGS_ANY,
    targets: ["retrieval.targets.json"],
  },
  outputs: { rankings: "retrieval.rankings.json" },
  params: z.strictObject({
    normalize: z.boolean().default(true).describe("cosine; otherwise the inner product"),
    top_k: z.int().positive().default(10).describe("number of items that a ranking keeps"),
  }),
  run({ inputs, params }) {
    const images = embeddingsOf(inputs.image_embeddings), texts = embeddingsOf(inputs.text_embeddings);
    checkSameSpace(images, texts);
    const targets = itemsOf(inputs.targets).map(readTarget);
    if (targets.length === 0) throw new SvcError("boundary_empty", "Cannot rank for an empty list of targets");
    const byText = targets.every(({ id }) => texts.ids.includes(id));
    const [queries, gallery] = byText ? [texts, images] : [images, texts];
    const items = targets.map((target) => rank(target, queries, gallery, params));
    const metadata = {
      query_modality: byText ? "text" : "image",
      gallery_size: gallery.ids.length,
      top_k: params.top_k,
      score: params.normalize ? "cosine" : "inner_product",
      embedding_space: images.space,
    };
    return {
      outputs: { rankings: { json: { kind: "retrieval.rankings", schema_version: 1, items }, metadata } },
    };
  },
});

interface Target {
  id: string;
  relevant: string[];
}

function readTarget({ id, relevant_ids: relevant }: JsonObject): Target {
  const listed = Array.isArray(relevant) && relevant.every((other) => typeof other === "string");
  if (typeof id !== "string" || !listed) {
    throw new SvcError("boundary_value_invalid", "Cannot read a target without an id and relevant_ids");
  }
  return { id, relevant: relevant as string[] };
}

function rank(
  { id, relevant }: Target,
  queries: Embeddings,
  gallery: Embeddings,
  { normalize, top_k }: { normalize: boolean; top_k: number },
): JsonObject {
  const query = queries.rows[queries.ids.indexOf(id)];
  if (query === undefined) {
    throw new SvcError("pair_ids_mismatch", `Cannot rank for ${id}: neither texts nor images contain all targets`);
  }
  const missing = relevant.filter((other) => !gallery.ids.includes(other));
  if (relevant.length === 0 || missing.length > 0) {
    const what = relevant.length === 0 ? "it has no relevant ids" : `the gallery lacks ${missing.join(", ")}`;
    throw new SvcError("pair_ids_mismatch", `Cannot rank for ${id}: ${what}`);
  }
  const scored = gallery.rows.map((row, index) => ({
    id: gallery.ids[index],
    score: similarity(query, row, normalize),
  }));
  // The sort is stable: equal scores keep the order of the gallery.
  const best = scored.sort((a, b) => b.score - a.score).slice(0, top_k);
  return {
    id,
    ranked_ids: best.map((entry) => entry.id),
    scores: best.map(({ score }) => float(score)),
    relevant_ids: relevant,
  };
}
