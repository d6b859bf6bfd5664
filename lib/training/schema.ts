/** `trained_artifact.yaml`, the slot contract and the selection history as JSON Schema. */
import type { JsonObject } from "../contract/value.ts";
import { SESSION_LIMITS_SCHEMA } from "../onnx/limits.ts";

const DRAFT = "https://json-schema.org/draft/2020-12/schema";
const text: JsonObject = { type: "string", minLength: 1 };
const identifier: JsonObject = { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$" };
const digest: JsonObject = { type: "string", pattern: "^[0-9a-f]{64}$" };
const version: JsonObject = { type: ["string", "integer"] };
const texts: JsonObject = { type: "array", uniqueItems: true, items: text };
const shape: JsonObject = { type: "array", items: { type: ["integer", "string"], minLength: 1 } };

function object(properties: JsonObject, optional: string[] = [], more: JsonObject = {}): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", additionalProperties: false, required, properties, ...more };
}

const list = (items: JsonObject, more: JsonObject = { minItems: 1 }): JsonObject => ({ type: "array", items, ...more });

const value = object(
  { name: text, dtype: text, shape, semantic: text, complex_representation: text },
  ["complex_representation"],
);

/** What `svc schema trained-artifact` prints. */
export const TRAINED_ARTIFACT_SCHEMA: JsonObject = {
  $schema: DRAFT,
  title: "svc trained artifact",
  ...object({
    schema_version: { type: "integer", const: 2 },
    kind: { type: "string", const: "svc.trained_block_artifact" },
    id: identifier,
    name: text,
    label: { type: "string" },
    description: { type: "string" },
    contract: object({ id: text, version, path: text, sha256: digest, file_sha256: digest }),
    components: list(
      object({ id: identifier, role: text, path: text, format: { type: "string", enum: ["onnx"] }, sha256: digest }),
    ),
    runtime: object({
      backend: { type: "string", enum: ["onnxruntime"] },
      abi_version: { type: "integer" },
      entrypoints: list(object({ id: text, component: text, inputs: list(value), outputs: list(value) })),
      limits: SESSION_LIMITS_SCHEMA,
    }, ["limits"]),
    application: object({ mode: { type: "string", enum: ["single_binding", "all_group_bindings"] } }),
    // None for a model that operations run by its name, outside of any slot.
    compatible_operations: list(
      object({
        operation: text,
        runtime_entrypoint: text,
        required_inputs: texts,
        params: { type: "object" },
        binding_group: text,
        role: text,
        preferred_step_id: text,
      }, ["params", "binding_group", "role", "preferred_step_id"]),
      {},
    ),
    support_files: list(object({ path: text, sha256: digest, role: text }), {}),
    source: object(
      {
        origin: {
          type: "string",
          enum: ["imported", "published_reference", "reference_baseline", "project_trained"],
        },
      },
      [],
      { additionalProperties: true },
    ),
    training: { type: "object" },
    evaluation: { type: "object" },
    publication: object({ selection_history: object({ path: text, sha256: digest }) }),
  }, ["label", "description", "support_files", "training", "evaluation", "publication"]),
};

const values: JsonObject = {
  type: "object",
  minProperties: 1,
  additionalProperties: {
    type: "object",
    required: ["dtype", "shape"],
    properties: { dtype: text, shape },
  },
};

/** The file that `contract.path` names. */
export const SLOT_CONTRACT_SCHEMA: JsonObject = {
  $schema: DRAFT,
  title: "svc trainable slot contract",
  ...object(
    {
      schema_version: { type: "integer", const: 1 },
      kind: { type: "string", const: "svc.trainable_slot_contract" },
      id: text,
      version,
      slots: list(
        object(
          {
            operation: text,
            component_id: text,
            component_role: text,
            entrypoint_id: text,
            inputs: values,
            outputs: values,
            required_operation_inputs: texts,
            binding_params: { type: "object" },
          },
          ["binding_params"],
          { additionalProperties: true },
        ),
      ),
    },
    [],
    { additionalProperties: true },
  ),
};

/** The file that `publication.selection_history.path` names. */
export const SELECTION_HISTORY_SCHEMA: JsonObject = {
  $schema: DRAFT,
  title: "svc model selection history",
  ...object({
    schema_version: { type: "integer", const: 1 },
    kind: { type: "string", const: "svc.model_selection_history" },
    all_candidates_disclosed: { type: "boolean", const: true },
    publication_test_accessed: { type: "boolean", const: false },
    selection_population_role: { type: "string", enum: ["development_only", "adaptation_validation"] },
    selection_population: object({ dataset_id: text, version, split: text, role: text, sha256: digest }),
    objective: text,
    direction: { type: "string", enum: ["minimize", "maximize"] },
    selection_rule: object({
      method: { type: "string", const: "objective_extremum" },
      tie_breaker: { type: "string", const: "lexicographic_candidate_id" },
      tolerance: { type: "number" },
    }, ["tolerance"]),
    search_program: object({ path: text, sha256: digest, command: list(text) }),
    selected_candidate_id: text,
    candidates: list(
      object({
        id: text,
        configuration_path: text,
        configuration_identity_sha256: digest,
        selection_population_sha256: digest,
        publication_test_accessed: { type: "boolean", const: false },
        status: { type: "string", enum: ["completed", "failed", "resource_rejected"] },
        runtime_component_set_sha256: digest,
        objective_value: { type: "number" },
        failure_reason: text,
      }, ["runtime_component_set_sha256", "objective_value", "failure_reason"]),
    ),
  }),
};
