/**
 * Embeddings with a record of their space. Two embeddings can be compared only if their records are equal: vectors of
 * different models, revisions or preprocessing are not comparable, even if their dimensions agree.
 */
import { canonicalJson, type InputArtifact, isObject, type JsonObject, type OutputArtifact, SvcError } from "../api.ts";
import { checkEmbedding } from "../../lib/artifact/boundary.ts";
import { travel } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";

/** Kinds of embeddings. */
export const EMBEDDINGS = "foundation.embedding.numpy";
export const EMBEDDINGS_ANY = [EMBEDDINGS, "vision.embedding.clip.numpy", "multimodal.embedding.numpy"] as const;

/** The origin of embeddings: the metadata key `embedding_space`. */
export interface EmbeddingSpace {
  /** Value of the embedder's parameter with this name. */
  backend: string;
  model_id: string;
  model_revision: string;
  /** built_in, pinned to a commit, or a local folder with planned file digests. */
  revision_status: "built_in" | "pinned" | "local";
  /** Preprocessing of an image or a text before the model. */
  preprocessing_contract: string;
  dimensions: number;
}

/** The space of a built-in embedder, identified by its version. */
export function builtInSpace(backend: string, version: string, dimensions: number): EmbeddingSpace {
  return {
    backend,
    model_id: "svc",
    model_revision: version,
    revision_status: "built_in",
    preprocessing_contract: version,
    dimensions,
  };
}

/** Rows with their ids, and their space. */
export interface Embeddings {
  ids: string[];
  /** [count, dimensions]. */
  rows: Float32Array[];
  space: JsonObject;
}

/**
 * Embeddings, float32 [item, dimension].
 * @param rows one vector per item, of `space.dimensions` values
 * @param source metadata of the embedded artifact, which are kept
 */
export function embeddingsArtifact(
  rows: readonly ArrayLike<number>[],
  ids: readonly string[],
  space: EmbeddingSpace,
  source: JsonObject = {},
): OutputArtifact {
  const data = new Float32Array(rows.length * space.dimensions);
  rows.forEach((row, index) => data.set(Array.from(row), index * space.dimensions));
  return {
    array: ndarray("float32", data, [rows.length, space.dimensions]),
    metadata: travel(source, {
      boundary_contract: "semantic.embedding",
      embedding_ids: [...ids],
      embedding_space: { ...space },
    }),
  };
}

/**
 * Reads embeddings with their ids and their space.
 * @throws SvcError `embedding_space_mismatch` without a record, or with one of other dimensions than the vectors;
 *   `pair_ids_mismatch` for missing, empty or repeated ids; the codes of `checkEmbedding`
 */
export function embeddingsOf(input: InputArtifact): Embeddings {
  const { shape: [count, dimensions], data } = checkEmbedding(input.array());
  const { embedding_space: space, embedding_ids: ids } = input.metadata;
  if (!isObject(space)) {
    throw new SvcError("embedding_space_mismatch", "Cannot use embeddings without a record of their space", {
      hint: "Their metadata need embedding_space, which the embedding operations write",
    });
  }
  if (space.dimensions !== dimensions) {
    throw new SvcError(
      "embedding_space_mismatch",
      `Cannot use embeddings of ${dimensions} dimensions with the recorded number ${
        canonicalJson(space.dimensions ?? null)
      }`,
    );
  }
  const named = Array.isArray(ids) && ids.length === count && ids.every((id) => typeof id === "string" && id !== "");
  if (!named || new Set(ids).size !== count) {
    throw new SvcError(
      "pair_ids_mismatch",
      `Cannot name ${count} embeddings: their ids are missing, empty or repeated`,
    );
  }
  const values = data as Float32Array;
  const rows = Array.from({ length: count }, (_, i) => values.subarray(i * dimensions, (i + 1) * dimensions));
  return { ids: ids as string[], rows, space };
}

/**
 * Checks that two sets of embeddings have the same space.
 * @throws SvcError `embedding_space_mismatch` with the differences
 */
export function checkSameSpace(left: Embeddings, right: Embeddings): void {
  const keys = [...new Set([...Object.keys(left.space), ...Object.keys(right.space)])].sort();
  const text = (space: JsonObject, key: string) => canonicalJson(space[key] ?? null);
  const different = keys.filter((key) => text(left.space, key) !== text(right.space, key));
  if (different.length === 0) return;
  const list = different.map((key) => `${key} ${text(left.space, key)} and ${text(right.space, key)}`);
  throw new SvcError("embedding_space_mismatch", `Cannot compare embeddings of two spaces: ${list.join(", ")}`, {
    hint: "Use the same backend, model, revision and dimensions in both embedding operations",
  });
}

/** The cosine of two vectors, or their inner product without normalisation; 0 for a zero vector. */
export function similarity(left: Float32Array, right: Float32Array, normalize: boolean): number {
  let product = 0, leftPower = 0, rightPower = 0;
  for (let i = 0; i < left.length; i++) {
    product += left[i] * right[i];
    leftPower += left[i] * left[i];
    rightPower += right[i] * right[i];
  }
  if (!normalize) return product;
  const scale = Math.sqrt(leftPower) * Math.sqrt(rightPower);
  return scale === 0 ? 0 : Math.max(-1, Math.min(1, product / scale));
}
