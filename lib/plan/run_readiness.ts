/** Whether the machine meets the requirements of a recipe's steps, and the commands that fetch missing parts. */
import { canonicalJson } from "../contract/json.ts";
import type { ModelRequest, Requirement } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import { plainParams } from "../contract/schema.ts";
import type { JsonObject } from "../contract/value.ts";
import type { StepDocument } from "../recipe/types.ts";
import { NATIVE_EXTENSION } from "./backends.ts";
import { isModel } from "../model/resolve.ts";
import { artifactBinding } from "./learned.ts";
import { modelRequests } from "./models.ts";
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

/** What steps need of a machine, each need once; the same on every machine. */
export interface RunNeeds {
  requirements: Requirement[];
  /** Learned steps that name a trained artifact. */
  learned: Pick<StepDocument, "op" | "params">[];
  models: ModelRequest[];
}

interface Means {
  registry: Registry;
  readiness: Readiness;
}

/**
 * Collects unmet requirements of operations, each once.
 * @param steps effective steps; those of unknown operations have no requirements
 */
export function runReadiness(steps: readonly StepDocument[], { registry, readiness }: Means): RunReadiness {
  return unmetNeeds(runNeeds(steps, registry), { registry, readiness });
}

/** @param steps effective steps; those of unknown operations need nothing */
export function runNeeds(steps: readonly StepDocument[], registry: Registry): RunNeeds {
  // The variants of a sweep have most steps in common; a trained artifact is hashed at each look-up.
  const distinct = [...new Map(steps.map((step) => [canonicalJson([step.op, step.params]), step])).values()];
  const requirements = new Map<string, Requirement>(), models = new Map<string, ModelRequest>();
  const learned: RunNeeds["learned"] = [];
  for (const { op, params } of distinct) {
    const operation = registry.find(op)?.operation;
    if (operation === undefined) continue;
    const native = params.data_plane_backend === NATIVE_EXTENSION.id ? [NATIVE_EXTENSION] : [];
    for (const requirement of [...operation.definition.requires?.(plainParams(params)) ?? [], ...native]) {
      requirements.set(`${requirement.kind}:${requirement.id}`, requirement);
    }
    if (artifactBinding(operation.contract, params, []) !== null) learned.push({ op, params });
    for (const request of modelRequests(operation, params)) models.set(canonicalJson({ ...request }), request);
  }
  return { requirements: [...requirements.values()], learned, models: [...models.values()] };
}

/** The needs that this machine does not meet, with the commands that fetch them. */
export function unmetNeeds({ requirements, learned, models }: RunNeeds, { registry, readiness }: Means): RunReadiness {
  const missing = requirements.flatMap(({ kind, id }): MissingRequirement[] => {
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
  missing.push(...missingArtifacts(learned, registry, readiness), ...missingModels(models, readiness));
  return { ready: missing.length === 0, missing };
}

/** Trained artifacts that are missing or unusable. */
function missingArtifacts(learned: RunNeeds["learned"], registry: Registry, readiness: Readiness) {
  const missing = new Map<string, MissingRequirement>();
  for (const { op, params } of learned) {
    const binding = artifactBinding(registry.get(op).operation.contract, params, ["params"]);
    const found = binding && readiness.trainedArtifact?.(binding);
    if (!Array.isArray(found)) continue;
    const id = String(params.artifact_manifest_path || params.artifact_package_sha256);
    missing.set(id, { kind: "model", id, reason: found.map(({ message }) => message).join("; "), fetch: null });
  }
  return missing.values();
}

/** Named models that are missing. */
function missingModels(requests: readonly ModelRequest[], readiness: Readiness) {
  const missing = new Map<string, MissingRequirement>();
  for (const request of requests) {
    const { id, sha256, optional } = request, found = readiness.model?.(request) ?? null;
    if (found === null || isModel(found) || optional) continue;
    const { reason, hint, fetch } = found;
    const why = hint === null ? reason : `${reason}. ${hint}`;
    missing.set(id, { kind: "model", id, reason: why, fetch, ...(sha256 ? { sha256 } : {}) });
  }
  return missing.values();
}
