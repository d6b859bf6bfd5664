/** The documents of a trained-artifact package as typed data, after their schema has held. */
import type { OperationAbi } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";
import type { SessionLimits } from "../onnx/limits.ts";

/** A size, or the name of one that is open; the same name is the same size everywhere in an entrypoint. */
export type SymbolicDimension = number | string;

/** An input or output of an entrypoint. */
export interface EntrypointValue extends JsonObject {
  name: string;
  dtype: string;
  shape: SymbolicDimension[];
  semantic: string;
}

export interface Entrypoint extends JsonObject {
  id: string;
  /** Id of the component that is run. */
  component: string;
  inputs: EntrypointValue[];
  outputs: EntrypointValue[];
}

export interface ArtifactComponent extends JsonObject {
  id: string;
  role: string;
  path: string;
  format: "onnx";
  sha256: string;
}

export interface SupportFile extends JsonObject {
  path: string;
  sha256: string;
  role: string;
}

/** An operation whose slot the artifact fills; `params`, `binding_group`, `role` and `preferred_step_id` may be there. */
export interface CompatibleOperation extends JsonObject {
  operation: string;
  runtime_entrypoint: string;
  required_inputs: string[];
}

/** `trained_artifact.yaml`, schema version 2. */
export interface TrainedManifest extends JsonObject {
  schema_version: 2;
  kind: "svc.trained_block_artifact";
  id: string;
  name: string;
  contract: { id: string; version: string | number; path: string; sha256: string; file_sha256: string };
  components: ArtifactComponent[];
  runtime: {
    backend: "onnxruntime";
    abi_version: 1 | 2;
    entrypoints: Entrypoint[];
    limits?: { [name in keyof SessionLimits]?: number };
  };
  application: { mode: "single_binding" | "all_group_bindings" };
  compatible_operations: CompatibleOperation[];
  source: { origin: SourceClass };
}

/** Roles of components that are trained together: only its partner can read the output of one of them. */
const JOINT_ROLES = [["encoder", "decoder"], ["csi_feedback_encoder", "csi_feedback_decoder"]];

/** The role that a component needs beside it. */
export function partnerRole(role: string | undefined): string | undefined {
  return JOINT_ROLES.find((roles) => roles.some((one) => one === role))?.find((other) => other !== role);
}

/** The intended use of a package, as text. */
export function madeFor({ compatible_operations: rows }: TrainedManifest): string {
  if (rows.length === 0) return "It fills no slot; operations run it by its name, as model_id";
  return `It was made for ${rows.map(({ operation }) => operation).join(", ")}`;
}

export type SourceClass = "imported" | "published_reference" | "reference_baseline" | "project_trained";

/** The slot contract that a package was trained for: the ABI of each operation at that time. */
export interface SlotContract extends JsonObject {
  schema_version: 1;
  kind: "svc.trainable_slot_contract";
  id: string;
  version: string | number;
  slots: (OperationAbi & { operation: string })[];
}

/** The digests that name a package. */
export interface PackageIdentity extends JsonObject {
  /** Also known as `artifact_package_sha256` and `runtime_identity_sha256`. */
  package_sha256: string;
  manifest_sha256: string;
  contract_semantic_sha256: string;
  contract_file_sha256: string;
  runtime_component_set_sha256: string;
}

/** Whether the results of an artifact may be published as selected without a look at the test set. */
export interface PublicationReadiness extends JsonObject {
  status: "ready" | "blocked";
  ready: boolean;
  /** Diagnostics. */
  issues: JsonObject[];
  selected_candidate_id: string | null;
  runtime_component_set_sha256: string;
}
