/**
 * Trained artifacts of steps in their learned mode: requests, and records for the plan. The readiness object does the
 * look-up.
 */
import type { Diagnostic, Place } from "../contract/error.ts";
import type { OperationContract } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import { LEARNED_ARTIFACT } from "../contract/slot.ts";
import type { JsonObject } from "../contract/value.ts";
import type { StepDocument } from "../recipe/types.ts";
import {
  type ArtifactBinding,
  type BoundSlot,
  checkBindingGroups,
  type ResolvedArtifact,
} from "../training/resolve.ts";
import type { BoundStep } from "./build.ts";
import type { Readiness } from "./types.ts";

/** Whether parameters choose the learned mode of an operation. */
function isLearned(contract: OperationContract, params: JsonObject): boolean {
  const { binding_params: binding = {} } = contract.trained_artifact_abi ?? {};
  return Object.keys(binding).some((name) => binding[name] === LEARNED_ARTIFACT && params[name] === LEARNED_ARTIFACT);
}

/**
 * The artifact that the parameters of a trainable component name; null outside the learned mode or without a name.
 * @param place of the parameters in the recipe
 */
export function artifactBinding(contract: OperationContract, params: JsonObject, place: Place): ArtifactBinding | null {
  if (!isLearned(contract, params)) return null;
  const text = (name: string) => typeof params[name] === "string" ? params[name].trim() : "";
  const manifestPath = text("artifact_manifest_path"), packageSha256 = text("artifact_package_sha256");
  if (manifestPath === "" && packageSha256 === "") return null;
  return { manifestPath, packageSha256, entrypoint: text("artifact_entrypoint"), contract, params, place };
}

/** Look-up results for the learned steps of a recipe, by index; empty without a look-up. */
export type FoundArtifacts = ReadonlyMap<number, ResolvedArtifact | Diagnostic[]>;

/** Looks up the artifacts of all steps in their learned mode. */
export function findArtifacts(
  steps: readonly StepDocument[],
  registry: Registry,
  readiness: Readiness | undefined,
): FoundArtifacts {
  const found = new Map<number, ResolvedArtifact | Diagnostic[]>();
  for (const [index, { op, params }] of steps.entries()) {
    const contract = registry.find(op)?.operation.contract;
    const binding = contract && artifactBinding(contract, params, ["steps", index, "params"]);
    if (binding && readiness?.trainedArtifact) found.set(index, readiness.trainedArtifact(binding));
  }
  return found;
}

/** Artifact records for the plan key; empty without learned steps. */
export function artifactRecords(found: FoundArtifacts): JsonObject[] {
  return [...found].map(([index, artifact]) => ({
    index,
    record: Array.isArray(artifact) ? artifact.map(({ code }) => code) : artifact.record,
  }));
}

/** Adds artifact records to the steps in their learned mode, or reports a missing artifact. */
export function bindArtifacts(
  bound: readonly BoundStep[],
  found: FoundArtifacts,
  readiness: Readiness | undefined,
): { bound: BoundStep[]; problems: Diagnostic[] } {
  const problems: Diagnostic[] = [];
  const slots: BoundSlot[] = [];
  const complete = bound.map((step): BoundStep => {
    const place = ["steps", step.index, "params"];
    const binding = artifactBinding(step.registered.operation.contract, step.params, place);
    if (binding === null) return step;
    // A flag may have selected the learned mode.
    const artifact = found.get(step.index) ?? readiness?.trainedArtifact?.(binding);
    if (Array.isArray(artifact)) {
      problems.push(...artifact.map((problem) => ({ ...problem, step_id: step.step.id })));
      return step;
    }
    if (artifact !== undefined) {
      slots.push({ operation: step.registered.operation.id, step_id: step.step.id, artifact, place });
    }
    // Without a look-up the plan records the request.
    const { packageSha256: package_sha256, entrypoint } = binding;
    return { ...step, trainedArtifact: artifact?.record ?? { package_sha256, entrypoint: { id: entrypoint } } };
  });
  return { bound: complete, problems: [...problems, ...checkBindingGroups(slots)] };
}
