/** The execution plan and what surrounds it. */
import type { ModelRequest, Requirement, Runner } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";
import type { ModelLack, ResolvedModel } from "../model/types.ts";
import type { ArtifactLookup } from "./learned.ts";

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
  sha256: string;
}

/** The evidence `execution_plan.cache` of summaries and manifests. */
export interface PlanCacheEvidence extends JsonObject {
  enabled: boolean;
  outcome: "hit" | "miss" | "bypass";
  reason: string;
}

/** Why something is not on this machine, and what helps. */
export interface Lacking {
  reason: string;
  hint: string | null;
  /** The command that brings it. */
  fetch?: string;
  /** What it will bring, where that is known. */
  sha256?: string;
  size_bytes?: number;
}

/** Tells the planner what is on this machine. Answers the reason and the remedy when something is missing. */
export interface Readiness {
  missing(requirement: Requirement): Lacking | null;
  /** Finds the trained artifact of a learned step; without it such a step is planned with what it asks for. */
  trainedArtifact?: ArtifactLookup;
  /** Finds a model that an operation names; without it such a step is planned with what it asks for. */
  model?: ModelLookup;
}

/** Finds a model on this machine, its files hashed, or says why it cannot be run. */
export type ModelLookup = (request: ModelRequest) => ResolvedModel | ModelLack;

/** What a step asks of the machine. */
export interface StepRequirement {
  index: number;
  step_id: string;
  requirement: Requirement;
}
