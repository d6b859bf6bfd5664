/**
 * Trained artifacts of steps in their learned mode: which steps ask for one, and what the plan says of what was found.
 * Where artifacts lie is not known here; the machine's readiness brings the look-up.
 */
import type { Diagnostic, Place } from "../contract/error.ts";
import type { OperationContract } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import type { StepDocument } from "../recipe/types.ts";
import {
  type ArtifactBinding,
  type BoundSlot,
  checkBindingGroups,
  type ResolvedArtifact,
} from "../training/resolve.ts";
import type { BoundStep } from "./build.ts";
import type { Readiness } from "./types.ts";

/** The value that switches an operation's `mode`, `policy` or `runtime` to its trained artifact. */
const LEARNED = "learned_artifact";

/** Finds the artifact of a slot on this machine, its files hashed, or says everything that is wrong with it. */
export type ArtifactLookup = (binding: ArtifactBinding) => ResolvedArtifact | Diagnostic[];

/** Whether parameters choose the learned mode of an operation. */
export function isLearned(contract: OperationContract, params: JsonObject): boolean {
  const abi = contract.trained_artifact_abi;
  if (!isObject(abi) || !isObject(abi.binding_params)) return false;
  const { binding_params: binding } = abi;
  return Object.keys(binding).some((name) => binding[name] === LEARNED && params[name] === LEARNED);
}

/**
 * What parameters say about the artifact in a slot; null outside of the learned mode, and where they name none.
 *
 * @param place of the parameters in the recipe
 */
export function artifactBinding(contract: OperationContract, params: JsonObject, place: Place): ArtifactBinding | null {
  if (!isLearned(contract, params)) return null;
  const text = (name: string) => typeof params[name] === "string" ? params[name].trim() : "";
  const manifestPath = text("artifact_manifest_path"), packageSha256 = text("artifact_package_sha256");
  if (manifestPath === "" && packageSha256 === "") return null;
  return { manifestPath, packageSha256, entrypoint: text("artifact_entrypoint"), contract, params, place };
}

/** What was found for the learned steps of a recipe, by index; empty where nobody looks. */
export type FoundArtifacts = ReadonlyMap<number, ResolvedArtifact | Diagnostic[]>;

/** Looks up the artifacts of all steps that are in their learned mode as they stand. */
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

/** What the artifacts add to everything a plan depends on; nothing where no step has one. */
export function artifactRecords(found: FoundArtifacts): JsonObject[] {
  return [...found].map(([index, artifact]) => ({
    index,
    record: Array.isArray(artifact) ? artifact.map(({ code }) => code) : artifact.record,
  }));
}

/** Gives the steps in their learned mode the records of their artifacts, or says why one has none. */
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
    // A flag may have brought a step into its learned mode.
    const artifact = found.get(step.index) ?? readiness?.trainedArtifact?.(binding);
    if (Array.isArray(artifact)) {
      problems.push(...artifact.map((problem) => ({ ...problem, step_id: step.step.id })));
      return step;
    }
    if (artifact !== undefined) {
      slots.push({ operation: step.registered.operation.id, step_id: step.step.id, artifact, place });
    }
    // Where nobody looked, the plan still says what was asked for.
    const { packageSha256: package_sha256, entrypoint } = binding;
    return { ...step, trainedArtifact: artifact?.record ?? { package_sha256, entrypoint: { id: entrypoint } } };
  });
  return { bound: complete, problems: [...problems, ...checkBindingGroups(slots)] };
}
