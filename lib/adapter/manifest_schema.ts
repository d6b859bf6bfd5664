/** The manifest of an adapter as JSON Schema, in the contract subset. */
import { RUNNERS } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";
import { ARRAY_CALL_STYLES, RUNTIMES, TASK_CALL_STYLES } from "./types.ts";

const text: JsonObject = { type: "string", minLength: 1, maxLength: 4096 };
const anyObject: JsonObject = { type: "object" };

/** `<host>` or `<host>:<port>`; an IPv6 address is in brackets. */
export const NET_REQUEST = "^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\])(?::[0-9]{1,5})?$";
export const ENV_REQUEST = "^[A-Za-z_][A-Za-z0-9_]*$";

/** `numpy>=1.24`, with further conditions after commas. */
const REQUIREMENT =
  "^[A-Za-z0-9][A-Za-z0-9._-]*(?:\\s*(?:==|!=|>=|<=|>|<|~=)\\s*[0-9][0-9A-Za-z.+!*-]*\\s*(?:,(?=.)|$))*$";

const list = (items: JsonObject): JsonObject => ({ type: "array", maxItems: 64, items });

const operation: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["id", "name", "wraps", "adapter"],
  properties: {
    id: { type: "string", pattern: "^[a-z][a-z0-9_]*(\\.[a-z0-9_]+)+$" },
    name: text,
    description: text,
    wraps: text,
    inputs: { type: "object", maxProperties: 64 },
    outputs: { type: "object", maxProperties: 64 },
    params: anyObject,
    adapter: {
      type: "object",
      additionalProperties: false,
      required: ["callable"],
      properties: {
        path: text,
        module: { type: "string", pattern: "^(?:@[a-z0-9_.-]+/)?[A-Za-z0-9_][A-Za-z0-9_./-]*$" },
        callable: { type: "string", pattern: "^[A-Za-z_$][A-Za-z0-9_$]*$" },
        call_style: { type: "string", enum: [...new Set([...ARRAY_CALL_STYLES, ...TASK_CALL_STYLES])] },
        bit_storage: { type: "string", enum: ["unpacked_bits", "packed_bytes"] },
        bit_order: { type: "string", enum: ["big", "little"] },
      },
    },
    fixed_params: anyObject,
    params_schema: anyObject,
    differentiability: anyObject,
    backends: {
      type: "object",
      additionalProperties: false,
      properties: Object.fromEntries(RUNNERS.map((runner) => [runner, list(text)])),
    },
    equivalence: anyObject,
    formats: anyObject,
    materializations: { type: "array", items: anyObject },
  },
};

/** The form of `svc_adapter.yaml`; rules between its fields are checked separately. */
export const ADAPTER_MANIFEST_SCHEMA: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["schema_version", "name", "version", "operations"],
  properties: {
    schema_version: { type: "integer", enum: [1] },
    name: { type: "string", pattern: "^[a-z0-9][a-z0-9_-]*$", maxLength: 100 },
    version: { type: "string", minLength: 1, maxLength: 100 },
    description: { type: "string", maxLength: 4096 },
    runtime: { type: "string", enum: [...RUNTIMES] },
    python: {
      type: "object",
      additionalProperties: false,
      properties: {
        requires: list({ type: "string", pattern: REQUIREMENT, maxLength: 200 }),
        interpreter: { type: "string", pattern: "^python3(?:\\.[0-9]{1,2})?$" },
      },
    },
    // The reader refuses other names, with a message for permissions that no adapter can have.
    permissions: {
      type: "object",
      properties: {
        net: list({ type: "string", pattern: NET_REQUEST, maxLength: 253 }),
        read: list(text),
        env: list({ type: "string", pattern: ENV_REQUEST, maxLength: 200 }),
      },
    },
    limits: {
      type: "object",
      additionalProperties: false,
      properties: {
        timeout_s: { type: "integer", minimum: 1, maximum: 3600 },
        memory_mb: { type: "integer", minimum: 16, maximum: 8192 },
      },
    },
    models: {
      type: "array",
      maxItems: 256,
      items: {
        type: "object",
        additionalProperties: false,
        required: ["id", "path", "sha256"],
        properties: {
          id: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]*$", maxLength: 200 },
          path: text,
          sha256: { type: "string", pattern: "^[0-9a-f]{64}$" },
        },
      },
    },
    training: {
      type: "object",
      additionalProperties: false,
      properties: {
        source_recipe: text,
        source_recipe_sha256: text,
        differentiable_export_id: text,
        capture_id: text,
        framework: text,
        checkpoint_path: text,
        checkpoint_sha256: text,
        input_schema: {},
        output_schema: {},
        model_card: {},
      },
    },
    operations: { type: "array", minItems: 1, maxItems: 256, items: operation },
  },
};
