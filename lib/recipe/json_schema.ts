/**
 * The JSON Schema of recipes for completion and checks in editors, derived from the contracts of operations. The
 * compiler checks properties beyond schemas, such as references to earlier steps and matching kinds.
 *
 * JSON Schema has one number type: for an integer it also accepts `6.0`, which the compiler refuses.
 */
import type { OperationContract } from "../contract/operation.ts";
import { activeWhen, conditionText } from "../contract/schema.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { MAX_STEPS } from "./limits.ts";
import { STEP_ID } from "./normalize_steps.ts";

const TEXT: JsonObject = { type: "string", minLength: 1 };

/**
 * Builds the schema (draft-07, which editors support best).
 * @param contracts operations that a step may name
 * @param profiles ids of the execution profiles that a recipe may declare
 */
export function recipeJsonSchema(contracts: readonly OperationContract[], profiles: readonly string[]): JsonObject {
  const profile: JsonObject = { type: "string", enum: [...profiles] };
  const version: JsonObject = { type: "integer", const: 1 };
  const reference = (extra: JsonObject): JsonObject => ({
    type: "object",
    properties: { id: profile, version, ...extra },
    required: ["id"],
    additionalProperties: false,
  });
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "svc recipe",
    description: "An ordered graph of typed operations. svc recipe validate checks more than this schema.",
    type: "object",
    required: ["name", "steps"],
    additionalProperties: false,
    properties: {
      schema_version: { description: "version of the recipe language", ...version },
      name: { description: "name of the recipe, and by default the namespace of its seeds", ...TEXT },
      execution_profile: {
        description: "execution profile of the steps; default custom",
        anyOf: [profile, reference({ based_on: reference({}) }), { type: "null" }],
      },
      metadata: nullable("object", {
        description: "seed, research specs, matrix, and own notes",
        properties: {
          seed: {
            description: "master seed from which the seeds of steps derive",
            type: ["integer", "null"],
            minimum: 0,
          },
          seed_namespace: {
            description: "namespace of seeds; recipes that share it draw the same noise",
            type: ["string", "null"],
          },
          research: { description: "dataset, task, metrics and benchmark", type: ["object", "null"] },
          matrix: MATRIX,
        },
      }),
      steps: {
        description: "the operations, each after its sources",
        type: "array",
        minItems: 1,
        maxItems: MAX_STEPS,
        items: { $ref: "#/definitions/step" },
      },
      description: { description: "purpose of the recipe, one sentence", type: ["string", "null"] },
      suite: nullable("object", {
        properties: { id: { type: "string" }, name: { type: "string" }, status: { type: "string" } },
      }),
      dataset_capture: { type: ["object", "null"] },
    },
    definitions: {
      reference: { description: "<earlier step>.<output>", type: "string", pattern: "^[^.]+\\.[^.]+$" },
      step: {
        type: "object",
        required: ["op"],
        additionalProperties: false,
        properties: {
          id: { description: "name of the step, unique in the recipe", type: "string", pattern: STEP_ID.source },
          op: { description: "operation of the step", type: "string", enum: contracts.map(({ id }) => id) },
          params: { description: "parameters that differ from their defaults", type: ["object", "null"] },
          inputs: { description: "input to <earlier step>.<output>", type: ["object", "null"] },
          description: { description: "a remark on the step", type: ["string", "null"] },
        },
        allOf: contracts.map(operationSchema),
      },
    },
  };
}

function nullable(type: string, rest: JsonObject): JsonObject {
  return { type: [type, "null"], ...rest };
}

const MATRIX: JsonObject = {
  description: "runs the recipe once for every combination of the dimensions",
  type: ["object", "null"],
  required: ["dimensions", "step_params"],
  additionalProperties: false,
  properties: {
    dimensions: {
      description: "name to a list of values",
      type: "object",
      minProperties: 1,
      additionalProperties: { type: "array", minItems: 1 },
    },
    step_params: {
      description: "step id to parameters, some as {matrix: <dimension>}",
      type: "object",
      minProperties: 1,
      additionalProperties: { type: "object" },
    },
  },
};

/** The schema of an operation's step. */
function operationSchema(contract: OperationContract): JsonObject {
  const required = Object.keys(contract.input_kinds);
  const port = (kinds: string[]): JsonObject => ({
    description: kinds.join(" or "),
    allOf: [{ $ref: "#/definitions/reference" }],
  });
  const ports = Object.entries({ ...contract.input_kinds, ...contract.optional_input_kinds });
  const params = editorSchema(contract.params_schema, true);
  const needed = [...(params.required === undefined ? [] : ["params"]), ...(required.length > 0 ? ["inputs"] : [])];
  return {
    if: { properties: { op: { const: contract.id } }, required: ["op"] },
    then: {
      ...(needed.length > 0 ? { required: needed } : {}),
      properties: {
        op: { description: `${contract.name}${contract.description === undefined ? "" : `. ${contract.description}`}` },
        params: params.required === undefined ? { ...params, type: ["object", "null"] } : params,
        inputs: {
          type: required.length > 0 ? "object" : ["object", "null"],
          ...(required.length > 0 ? { required } : {}),
          properties: Object.fromEntries(ports.map(([name, kinds]) => [name, port(kinds)])),
          additionalProperties: false,
        },
      },
    },
  };
}

/** A parameter schema without annotations; the description has units and conditions. */
function editorSchema(node: JsonObject, top = false): JsonObject {
  const schema: JsonObject = {};
  for (const [key, value] of Object.entries(node)) {
    if (key.startsWith("x-svc-")) continue;
    if (key === "properties") {
      schema.properties = Object.fromEntries(
        Object.entries(value as JsonObject).map(([name, inner]) => {
          const written = editorSchema(inner as JsonObject);
          // Null means the derived seed.
          return [name, top && name === "seed" ? { ...written, type: ["integer", "null"] } : written];
        }),
      );
    } else if (key === "items" && isObject(value)) schema.items = editorSchema(value);
    else if (key === "anyOf") schema.anyOf = (value as JsonObject[]).map((branch) => editorSchema(branch));
    else schema[key] = value;
  }
  const remarks = [node.description, unitOf(node), conditionOf(node)].filter((remark) => typeof remark === "string");
  if (remarks.length > 0) schema.description = remarks.join("; ");
  return schema;
}

function unitOf(node: JsonObject): Value | undefined {
  const unit = isObject(node["x-svc-ui"]) ? node["x-svc-ui"].unit : undefined;
  return typeof unit === "string" ? `in ${unit}` : undefined;
}

function conditionOf(node: JsonObject): string | undefined {
  const condition = activeWhen(node);
  if (condition === null) return undefined;
  return `only with ${conditionText(condition)}`;
}
