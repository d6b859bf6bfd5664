/** Relevant gallery items of queries. */
import type { JsonObject, OutputArtifact } from "../api.ts";

/** Targets with the ids of their queries. */
export function targetsArtifact(
  targets: readonly { id: string; relevant_ids: string[] }[],
  metadata: JsonObject,
): OutputArtifact {
  const items = targets.map(({ id, relevant_ids }): JsonObject => ({ id, relevant_ids }));
  return { json: { kind: "retrieval.targets", schema_version: 1, items }, metadata };
}
