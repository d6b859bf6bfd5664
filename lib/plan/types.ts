/** The execution plan and related records. */
import type { ModelRequest, Requirement, Runner } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";
import type { ModelLack, ResolvedModel } from "../model/types.ts";
import type { ArtifactLookup } from "../training/resolve.ts";
import type { PlanResources } from "./estimate.ts";

/** A row of `execution-plan.json`: one step bound to a runner, a backend and an implementation. */
export interface PlanStep extends JsonObject {
  schema_version: 1;
  step_id: string;
  operation_id: string;
  runner: Runner;
  backend: string;
  implementation: string;
  materialization_id: string;
  implementation_identity: string;
  implementation_metadata: JsonObject;
  operation_contract_sha256: string;
  binding_sha256: string;
}

/** The document `execution-plan.json`. */
export interface ExecutionPlan extends JsonObject {
  schema_version: 1;
  kind: "svc.execution_plan";
  runner: Runner;
  recipe: JsonObject;
  operation_contracts: JsonObject;
  steps: PlanStep[];
  resources: PlanResources;
  sha256: string;
}

/** The record `execution_plan.cache` of summaries and manifests. */
export interface PlanCacheEvidence extends JsonObject {
  enabled: boolean;
  outcome: "hit" | "miss" | "bypass";
  reason: string;
}

/** The reason for a missing part of this machine, and the remedy. */
export interface Lacking {
  reason: string;
  hint: string | null;
  /** The command that fetches it. */
  fetch?: string;
  /** Digest of the fetched file, if known. */
  sha256?: string;
  size_bytes?: number;
}

/** Availability of parts of this machine; a missing part is reported with reason and remedy. */
export interface Readiness {
  missing(requirement: Requirement): Lacking | null;
  /** Finds the trained artifact of a learned step; without it the step is planned with its request. */
  trainedArtifact?: ArtifactLookup;
  /** Finds a named model; without it the step is planned with its request. */
  model?: ModelLookup;
}

/** Finds a model on this machine and hashes its files, or reports why it is unusable. */
export type ModelLookup = (request: ModelRequest) => ResolvedModel | ModelLack;

/** A requirement of a step. */
export type StepRequirement = {
  index: number;
  step_id: string;
  requirement: Requirement;
};
