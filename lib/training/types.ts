/**
 * The documents of a trained-artifact package: `trained_artifact.yaml`, the slot contract and the selection history. Each has
 * one schema, from which its type is inferred.
 */
import type { OperationAbi } from "../contract/operation.ts";
import { digest, documentCheck, mapping, measure, publishedSchema } from "../contract/document.ts";
import type { JsonObject } from "../contract/value.ts";
import { z } from "../contract/zod.ts";
import { SESSION_LIMITS_SCHEMA, type SessionLimits } from "../onnx/limits.ts";

const text = z.string().min(1);
const identifier = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/);
const version = z.union([z.string(), z.int()]);
const texts = z.array(text).meta({ uniqueItems: true });
/** A size, or the name of one that is open; the same name is the same size everywhere in an entrypoint. */
const dimension = z.union([z.int(), text]);
export type SymbolicDimension = z.infer<typeof dimension>;

const value = z.strictObject({
  name: text,
  dtype: text,
  shape: z.array(dimension),
  semantic: text,
  complex_representation: text.optional(),
});
/** An input or output of an entrypoint. */
export type EntrypointValue = z.infer<typeof value>;

const entrypoint = z.strictObject({
  id: text,
  /** Id of the component that is run. */
  component: text,
  inputs: z.array(value).min(1),
  outputs: z.array(value).min(1),
});
export type Entrypoint = z.infer<typeof entrypoint>;

const component = z.strictObject({ id: identifier, role: text, path: text, format: z.enum(["onnx"]), sha256: digest });
export type ArtifactComponent = z.infer<typeof component>;

const supportFile = z.strictObject({ path: text, sha256: digest, role: text });
export type SupportFile = z.infer<typeof supportFile>;

const compatibleOperation = z.strictObject({
  operation: text,
  runtime_entrypoint: text,
  required_inputs: texts,
  params: mapping.optional(),
  binding_group: text.optional(),
  role: text.optional(),
  preferred_step_id: text.optional(),
});
/** An operation whose slot the artifact fills. */
export type CompatibleOperation = z.infer<typeof compatibleOperation>;

const origin = z.enum(["imported", "published_reference", "reference_baseline", "project_trained"]);
export type SourceClass = z.infer<typeof origin>;

const manifest = z.strictObject({
  schema_version: z.literal(2),
  kind: z.literal("svc.trained_block_artifact"),
  id: identifier,
  name: text,
  label: z.string().optional(),
  description: z.string().optional(),
  contract: z.strictObject({ id: text, version, path: text, sha256: digest, file_sha256: digest }),
  components: z.array(component).min(1),
  runtime: z.strictObject({
    backend: z.enum(["onnxruntime"]),
    abi_version: z.int(),
    entrypoints: z.array(entrypoint).min(1),
    limits: z.unknown().meta(SESSION_LIMITS_SCHEMA).optional() as unknown as z.ZodOptional<
      z.ZodType<{ [name in keyof SessionLimits]?: number }>
    >,
  }),
  application: z.strictObject({ mode: z.enum(["single_binding", "all_group_bindings"]) }),
  // None for a model that operations run by its name, outside of any slot.
  compatible_operations: z.array(compatibleOperation),
  support_files: z.array(supportFile).optional(),
  source: z.object({ origin }),
  training: mapping.optional(),
  evaluation: mapping.optional(),
  publication: z.strictObject({ selection_history: z.strictObject({ path: text, sha256: digest }) }).optional(),
});
/** `trained_artifact.yaml`, schema version 2. */
export type TrainedManifest = z.infer<typeof manifest>;
export const checkManifestForm = documentCheck(manifest, "artifact_schema_invalid");

/** What `svc schema trained-artifact` prints. */
export const trainedArtifactSchema = (): JsonObject => publishedSchema("svc trained artifact", manifest);

const values = z.record(z.string(), z.object({ dtype: text, shape: z.array(dimension) })).meta({ minProperties: 1 });
const slotContract = z.object({
  schema_version: z.literal(1),
  kind: z.literal("svc.trainable_slot_contract"),
  id: text,
  version,
  slots: z.array(z.object({
    operation: text,
    component_id: text,
    component_role: text,
    entrypoint_id: text,
    inputs: values,
    outputs: values,
    required_operation_inputs: texts,
    binding_params: mapping.optional(),
  })).min(1) as unknown as z.ZodType<(OperationAbi & { operation: string })[]>,
});
/** The slot contract that a package was trained for: the ABI of each operation at that time. */
export type SlotContract = z.infer<typeof slotContract>;
/** Of the file that `contract.path` names. */
export const checkSlotContractForm = documentCheck(slotContract, "artifact_schema_invalid");

const candidate = z.strictObject({
  id: text,
  configuration_path: text,
  configuration_identity_sha256: digest,
  selection_population_sha256: digest,
  publication_test_accessed: z.literal(false),
  status: z.enum(["completed", "failed", "resource_rejected"]),
  runtime_component_set_sha256: digest.optional(),
  objective_value: measure.optional(),
  failure_reason: text.optional(),
});
const selectionHistory = z.strictObject({
  schema_version: z.literal(1),
  kind: z.literal("svc.model_selection_history"),
  all_candidates_disclosed: z.literal(true),
  publication_test_accessed: z.literal(false),
  selection_population_role: z.enum(["development_only", "adaptation_validation"]),
  selection_population: z.strictObject({ dataset_id: text, version, split: text, role: text, sha256: digest }),
  objective: text,
  direction: z.enum(["minimize", "maximize"]),
  selection_rule: z.strictObject({
    method: z.literal("objective_extremum"),
    tie_breaker: z.literal("lexicographic_candidate_id"),
    tolerance: measure.optional(),
  }),
  search_program: z.strictObject({ path: text, sha256: digest, command: z.array(text).min(1) }),
  selected_candidate_id: text,
  candidates: z.array(candidate).min(1),
});
/** The file that `publication.selection_history.path` names. */
export type SelectionHistory = z.infer<typeof selectionHistory>;
export const checkSelectionHistoryForm = documentCheck(selectionHistory, "selection_history_invalid");

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
