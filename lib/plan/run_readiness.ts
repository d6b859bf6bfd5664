/** Whether the machine meets the requirements of a recipe's steps, and the commands that fetch missing parts. */
import { canonicalJson } from "../contract/json.ts";
import type { Requirement } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import { plainParams } from "../contract/schema.ts";
import type { JsonObject } from "../contract/value.ts";
import type { StepDocument } from "../recipe/types.ts";
import { NATIVE_EXTENSION } from "./backends.ts";
import { isModel } from "../model/resolve.ts";
import { findArtifacts } from "./learned.ts";
import { findModels } from "./models.ts";
import type { Readiness } from "./types.ts";

export interface MissingRequirement extends JsonObject {
  kind: "dataset" | "model" | "native" | "runtime" | "adapter";
  id: string;
  reason: string;
  /** The command that fetches it, or null. */
  fetch: string | null;
}

/** The field `run_readiness` of template rows and recipe lists. */
export interface RunReadiness extends JsonObject {
  ready: boolean;
  missing: MissingRequirement[];
}

/**
 * Collects unmet requirements of operations, each once.
 * @param steps effective steps; those of unknown operations have no requirements
 */
export function runReadiness(
  steps: readonly StepDocument[],
  { registry, readiness }: { registry: Registry; readiness: Readiness },
): RunReadiness {
  // The variants of a sweep have most steps in common; a trained artifact is hashed at each look-up.
  const distinct = [...new Map(steps.map((step) => [canonicalJson([step.op, step.params]), step])).values()];
  const asked = new Map<string, Requirement>();
  for (const { op, params } of distinct) {
    const requires = registry.find(op)?.operation.definition.requires;
    const native = params.data_plane_backend === NATIVE_EXTENSION.id ? [NATIVE_EXTENSION] : [];
    for (const requirement of [...requires?.(plainParams(params)) ?? [], ...native]) {
      asked.set(`${requirement.kind}:${requirement.id}`, requirement);
    }
  }
  const missing = [...asked.values()].flatMap(({ kind, id }): MissingRequirement[] => {
    const lacking = readiness.missing({ kind, id });
    if (lacking === null) return [];
    const { reason, fetch = null, sha256, size_bytes } = lacking;
    return [{
      // A file of the project is data that the author provides.
      kind: kind === "file" ? "dataset" : kind,
      id,
      reason,
      fetch,
      ...(sha256 === undefined ? {} : { sha256 }),
      ...(size_bytes === undefined ? {} : { size_bytes }),
    }];
  });
  missing.push(...missingArtifacts(distinct, registry, readiness), ...missingModels(distinct, registry, readiness));
  return { ready: missing.length === 0, missing };
}

/** Trained artifacts that are missing or unusable. */
function missingArtifacts(
  steps: readonly StepDocument[],
  registry: Registry,
  readiness: Readiness,
): MissingRequirement[] {
  const missing = new Map<string, MissingRequirement>();
  for (const [index, found] of findArtifacts(steps, registry, readiness)) {
    if (!Array.isArray(found)) continue;
    const { artifact_manifest_path: path, artifact_package_sha256: sha256 } = steps[index].params;
    const id = String(path || sha256);
    missing.set(id, { kind: "model", id, reason: found.map(({ message }) => message).join("; "), fetch: null });
  }
  return [...missing.values()];
}

/** Named models that are missing. */
function missingModels(
  steps: readonly StepDocument[],
  registry: Registry,
  readiness: Readiness,
): MissingRequirement[] {
  const missing = new Map<string, MissingRequirement>();
  for (
    const { request: { id, sha256, optional }, found } of [...findModels(steps, registry, readiness).values()].flat()
  ) {
    if (found === null || isModel(found) || optional) continue;
    const { reason, hint, fetch } = found;
    const why = hint === null ? reason : `${reason}. ${hint}`;
    missing.set(id, { kind: "model", id, reason: why, fetch, ...(sha256 ? { sha256 } : {}) });
  }
  return [...missing.values()];
}
