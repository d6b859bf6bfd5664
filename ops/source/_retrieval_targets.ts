/** Relevant gallery items of queries. */
import type { OutputArtifact } from "../../lib/contract/operation.ts";
import type { JsonObject } from "../../lib/contract/value.ts";

/** Targets with the ids of their queries. */
export function targetsArtifact(
  targets: readonly { id: string; relevant_ids: string[] }[],
  metadata: JsonObject,
): OutputArtifact {
  const items = targets.map(({ id, relevant_ids }): JsonObject => ({ id, relevant_ids }));
  return { json: { kind: "retrieval.targets", schema_version: 1, items }, metadata };
}
