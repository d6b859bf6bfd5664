/**
 * Trained artifacts of steps in their learned mode: which steps ask for one, and what the plan says of what was found.
 * Where artifacts lie is not known here; the machine's readiness brings the look-up.
 */
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import type { OperationContract } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import type { StepDocument } from "../recipe/types.ts";
import type { BoundStep } from "./build.ts";
import type { Readiness } from "./types.ts";

/** The value that switches an operation's `mode`, `policy` or `runtime` to its trained artifact. */
const LEARNED = "learned_artifact";

/** What a step asks for. */
export interface ArtifactRequest {
  /** File or folder of the project, or empty to search the managed store. */
  manifestPath: string;
  packageSha256: string;
  entrypoint: string;
  /** Of the operation, with its `trained_artifact_abi`. */
  contract: OperationContract;
}

/** An artifact that answers a request. */
export interface BoundArtifact {
  /** What stands in the plan: digests and entry point, no places. */
  record: JsonObject;
  /** The model that runs. */
  component: { path: string; sha256: string };
}

/** Finds an artifact, or says everything that is wrong with it. */
export type ArtifactLookup = (request: ArtifactRequest) => Promise<BoundArtifact | Diagnostic[]>;

/** Whether parameters choose the learned mode of an operation. */
export function isLearned(contract: OperationContract, params: JsonObject): boolean {
  const abi = contract.trained_artifact_abi;
  if (!isObject(abi) || !isObject(abi.binding_params)) return false;
  const { binding_params: binding } = abi;
  return Object.keys(binding).some((name) => binding[name] === LEARNED && params[name] === LEARNED);
}

/** What parameters ask for in the learned mode; null for an operation that has none, and where nothing is named. */
export function artifactRequest(contract: OperationContract, params: JsonObject): ArtifactRequest | null {
  const abi = contract.trained_artifact_abi;
  const { artifact_manifest_path: path, artifact_package_sha256: sha256, artifact_entrypoint: entrypoint } = params;
  if (!isObject(abi) || typeof sha256 !== "string" || sha256 === "") return null;
  return {
    manifestPath: typeof path === "string" ? path.trim() : "",
    packageSha256: sha256,
    entrypoint: typeof entrypoint === "string" && entrypoint !== "" ? entrypoint : String(abi.entrypoint_id),
    contract,
  };
}

/** What was found for the steps that name an artifact, by index. */
export type FoundArtifacts = ReadonlyMap<number, BoundArtifact | Diagnostic[]>;

/** Looks up what steps name. Without a look-up availability is not checked, and nothing is found. */
export async function findArtifacts(
  steps: readonly StepDocument[],
  registry: Registry,
  readiness: Readiness | undefined,
): Promise<FoundArtifacts> {
  const found = new Map<number, BoundArtifact | Diagnostic[]>();
  if (readiness?.trainedArtifact === undefined) return found;
  for (const [index, { op, params }] of steps.entries()) {
    const contract = registry.find(op)?.operation.contract;
    const request = contract && artifactRequest(contract, params);
    if (request) found.set(index, await readiness.trainedArtifact(request));
  }
  return found;
}

/** What the found artifacts add to everything a plan depends on; nothing where no step names one. */
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
): { bound: BoundStep[]; problems: Diagnostic[] } {
  const problems: Diagnostic[] = [];
  const complete = bound.map((step): BoundStep => {
    const { contract } = step.registered.operation;
    if (!isLearned(contract, step.params)) return step;
    const artifact = found.get(step.index);
    if (Array.isArray(artifact)) {
      const place = ["steps", step.index, "params", "artifact_manifest_path"];
      problems.push(
        ...artifact.map(({ code, message, hint }) => diagnostic(code, place, message, { hint, step_id: step.step.id })),
      );
      return step;
    }
    const asked = artifactRequest(contract, step.params);
    const trainedArtifact = artifact?.record ??
      { package_sha256: asked?.packageSha256 ?? "", entrypoint: asked?.entrypoint ?? "" };
    return { ...step, trainedArtifact };
  });
  return { bound: complete, problems };
}
