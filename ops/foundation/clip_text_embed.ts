/**
 * Texts as vectors, float32 [text, dimension] of length 1.
 *
 * local_semantic      concepts of a fixed vocabulary (`_concepts.ts`), hashed to `dimensions`: one space with the images
 *                     of clip_image_embed at equal dimensions. A text without a known concept is the zero vector.
 * local_hash          all words, hashed to `dimensions`: a space of its own.
 * transformers_clip   the text side of a CLIP model, local or fetched (`_clip.ts`): one space with its images.
 *
 * Hashing: `_hashing.ts`.
 */
import { defineOperation, z } from "../api.ts";
import { TEXTS } from "../../lib/contract/kinds.ts";
import { textsOf } from "../../lib/artifact/values.ts";
import { tokens } from "../../lib/numeric/scores/text_similarity.ts";
import { CLIP_MODEL, clipModel, clipSpace, clipTexts } from "./_clip.ts";
import { CONCEPTS_VERSION, conceptsOfText } from "./_concepts.ts";
import { builtInSpace, EMBEDDINGS, embeddingsArtifact } from "./_embedding_space.ts";
import { hashFeatures } from "./_hashing.ts";
import { checkDevice, pretrainedParams } from "./_pretrained.ts";

const WORDS_VERSION = "svc.words.v1";

export default defineOperation({
  id: "foundation.clip_text_embed",
  name: "Text embedding",
  description: "Embeds texts with a local heuristic or a pretrained model",
  inputs: { texts: [TEXTS] },
  outputs: { embeddings: EMBEDDINGS },
  params: z.strictObject({
    backend: z.enum(["local_semantic", "local_hash", "transformers_clip"]).default("local_semantic").describe(
      "space of the embeddings: hashed concepts, hashed words, or a CLIP model",
    ),
    dimensions: z.int().min(1).max(65536).default(128).describe("size of an embedding; images must use the same"),
    ...pretrainedParams(CLIP_MODEL, { backend: "transformers_clip" }),
  }),
  outputMetadataGuarantees: { embeddings: { keys: ["embedding_ids", "embedding_space"], from: "texts" } },
  check: checkDevice,
  models: (params) => params.backend === "transformers_clip" ? clipModel("text", params) : [],
  async run({ inputs, params: { backend, dimensions }, model, progress }) {
    const texts = textsOf(inputs.texts), ids = texts.map(({ id }) => id);
    if (backend === "transformers_clip") {
      const clip = model("clip"), rows = await clipTexts(clip, texts.map(({ text }) => text), progress);
      const embeddings = embeddingsArtifact(rows, ids, clipSpace(clip, rows[0]?.length ?? 0), inputs.texts.metadata);
      return { outputs: { embeddings }, metadata: { model: clip.record } };
    }
    const semantic = backend === "local_semantic", version = semantic ? CONCEPTS_VERSION : WORDS_VERSION;
    const rows = texts.map(({ text }) =>
      hashFeatures(semantic ? conceptsOfText(text) : wordCounts(text), dimensions, version)
    );
    const space = builtInSpace(backend, version, dimensions);
    return { outputs: { embeddings: embeddingsArtifact(rows, ids, space, inputs.texts.metadata) } };
  },
});

function wordCounts(text: string): Map<string, number> {
  return new Map([...Map.groupBy(tokens(text), (word) => word)].map(([word, all]) => [word, all.length]));
}
