/**
 * Similarity of paired embeddings: mean, minimum and maximum cosine over the pairs, as `<label>.cosine_mean`, `_min`,
 * `_max`. Without `normalize` the inner products are used.
 *
 * Both sides have the same embedding space and ids. The labels generation.text_image_clip and
 * generation.image_image_clip are for scores of CLIP, so they need embeddings of a CLIP model.
 */
import { float, SvcError, z } from "../api.ts";
import { checkPairedIds } from "../../lib/artifact/values.ts";
import { mean, quantile } from "../../lib/numeric/scores/statistics.ts";
import { checkSameSpace, EMBEDDINGS_ANY, embeddingsOf, similarity } from "../foundation/_embedding_space.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.embedding_similarity",
  name: "Paired embedding similarity",
  description: "Compares paired embeddings of one space",
  inputs: { candidate: EMBEDDINGS_ANY, reference: EMBEDDINGS_ANY },
  params: z.strictObject({
    label: z.enum(["embedding", "generation.text_image_clip", "generation.image_image_clip"]).default("embedding")
      .describe("metric family; the generation families are for CLIP embeddings"),
    normalize: z.boolean().default(true).describe("cosine; otherwise the inner product"),
  }),
  run({ inputs, params: { label, normalize } }) {
    const candidate = embeddingsOf(inputs.candidate), reference = embeddingsOf(inputs.reference);
    checkSameSpace(candidate, reference);
    const { backend } = reference.space;
    if (label !== "embedding" && backend !== "transformers_clip") {
      throw new SvcError("embedding_space_mismatch", `Cannot report ${label} of embeddings by ${backend}`, {
        hint: "Use the label embedding, or embed with backend transformers_clip",
      });
    }
    const named = ({ ids }: { ids: string[] }) => ids.map((id) => ({ id }));
    checkPairedIds(named(candidate), named(reference));
    const values = reference.rows.map((row, index) => similarity(candidate.rows[index], row, normalize));
    const metrics = {
      [`${label}.cosine_mean`]: mean(values),
      [`${label}.cosine_min`]: quantile(values, 0),
      [`${label}.cosine_max`]: quantile(values, 1),
    };
    const items = values.map((value, index) => ({
      id: reference.ids[index],
      metrics: { [`${label}.cosine`]: float(value) },
    }));
    const facts = { embedding_space: reference.space, normalized: normalize };
    return { metrics, label, items, facts };
  },
});
