/** The benchmark pack as JSON Schema: output of `svc schema pack`, and the first check of a pack. */
import type { JsonObject } from "../contract/value.ts";

const text: JsonObject = { type: "string", minLength: 1 };
const names: JsonObject = { type: "array", items: text };
const mapping: JsonObject = { type: "object" };
const id: JsonObject = {
  type: "string",
  pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
  description: "a word of letters, digits, dots, underscores and dashes",
};
const scalarList: JsonObject = { type: "array", minItems: 1, items: text };

const object = (required: string[], properties: JsonObject, description?: string): JsonObject => ({
  type: "object",
  additionalProperties: false,
  ...(required.length === 0 ? {} : { required }),
  properties,
  ...(description === undefined ? {} : { description }),
});

const dataset = object(["id"], {
  id: text,
  modality: text,
  version: text,
  split: { anyOf: [text, object(["sample_ids"], { sample_ids: scalarList })] },
  sample_ids: scalarList,
  image_ids: scalarList,
  selection_role: {
    enum: [
      "development_only",
      "development_regression",
      "adaptation_validation",
      "publication_test",
      "sealed_test",
    ],
  },
  access_policy: object(["state"], {
    state: { enum: ["unsealed_reusable", "sealed_single_access"] },
    publication_test: { type: "boolean" },
    access_ledger: text,
    access_budget: { type: "integer", minimum: 1, default: 1 },
    seal_sha256: { type: "string", pattern: "^[0-9a-f]{64}$" },
  }),
  preprocessing: object([], {
    operation_params: mapping,
    color_space: text,
    sample_domain: text,
    spatial_policy: text,
  }),
  source_bindings: {
    type: "array",
    items: object(["operation"], {
      operation: text,
      selection_param: text,
      selection_format: { enum: ["comma_separated", "list"] },
      dataset_param: text,
      params: mapping,
    }),
  },
  manifest: mapping,
}, "the data that every recipe of the pack is tried on");

const task = object(["id"], { id: text, kind: text, modality: text }, "the outcome that is scored");

const metric: JsonObject = {
  anyOf: [
    text,
    object(["id"], {
      id: text,
      definition_version: { type: "integer", minimum: 1, default: 1 },
      source_step: { ...text, description: "the step that it is taken from, where several produce it" },
      source_operation: { ...text, description: "the operation that it is taken from" },
      source_operations: scalarList,
      applicable_roles: { ...scalarList, description: "roles of the recipes that must have it; all when left out" },
      family: text,
      unit: text,
      direction: { enum: ["higher_is_better", "lower_is_better", "neutral"] },
      statistic: { enum: ["rate", "mean", "count", "constant"] },
    }),
  ],
};

const seed: JsonObject = { type: "integer", minimum: 0, "x-svc-ui": { control: "seed" } };

const replication = object([], {
  replicates: { type: "integer", minimum: 1, maximum: 100000, default: 1 },
  base_seed: { ...seed, default: 0 },
  master_seeds: { type: "array", minItems: 1, items: seed },
  confidence_level: { type: "number", minimum: 0.5, exclusiveMaximum: 1, default: 0.95 },
  min_replicates: {
    type: "integer",
    minimum: 1,
    description: "no recipe is stopped before so many; 10 where a criterion stops it, else 1",
  },
  until_errors: {
    type: "integer",
    minimum: 1,
    description: "a recipe has enough replicates at this many failed units (packets, blocks, items; else bits)",
  },
  until_halfwidth: {
    type: "number",
    exclusiveMinimum: 0,
    description: "a recipe has enough replicates when its interval reaches no further than this from its middle",
  },
  max_bits: { type: "integer", minimum: 1, description: "no more replicates once this many trials were made" },
}, "how often every recipe runs, and from which seeds");

/** A maximum for a metric. */
const budget = object(["metric", "maximum"], {
  metric: text,
  maximum: { type: "number" },
  tolerance: { type: "number", minimum: 0, default: 0 },
  policy: { enum: ["reject"], default: "reject" },
  unit: text,
  metric_unit: text,
  aggregation_policy: text,
  conversion: { type: "number", exclusiveMinimum: 0, description: "observed value times this is in the budget's unit" },
});

const recipe = object(["path"], {
  id: { ...id, description: "unique in the pack; the file's name without its ending when left out" },
  label: text,
  role: { ...text, default: "candidate" },
  path: { ...text, description: "relative to this file, else to the project root" },
  matrix: {
    description:
      "rows for all points of the recipe's matrix (the default without matrix_selection), or of one of its own",
    anyOf: [{ enum: ["inherit"] }, object([], { dimensions: mapping, step_params: mapping })],
  },
  params: object([], {
    method_id: text,
    baseline_id: text,
    matrix_selection: {
      ...mapping,
      description: "coordinates of the point; beside `matrix` they fix some of its dimensions",
    },
    step_params: { ...mapping, description: "step id to the parameters that replace the recipe's" },
    sweep_values: { ...mapping, description: "deprecated name of matrix_selection" },
    name: text,
    description: { type: "string" },
    metadata: mapping,
    skip: { type: "boolean" },
    skip_reason: text,
    fixed_channel_use_budget: { type: "number", exclusiveMinimum: 0 },
    resource_budget: budget,
    run_evidence: object([], { retained_artifact_paths: names }),
  }),
});

const metadata: JsonObject = {
  type: "object",
  description: "open; the members below are understood",
  properties: {
    benchmark_tier: { enum: ["smoke", "experimental", "canonical"], default: "smoke" },
    traceability_profile_requested: { type: "boolean" },
    publication_ready: { type: "boolean" },
    protocol_id: text,
    frozen: { type: "boolean" },
    resource_budget: budget,
    common_conditions: object([], {
      power: object(["normalization_scope", "target"], {
        coordinate: text,
        normalization_scope: { enum: ["source_item"] },
        target: { type: "number", exclusiveMinimum: 0 },
      }),
      randomness: object([], {
        pairing_keys: names,
        seed_derivation: text,
        paired_operation_ids: names,
      }),
      receiver: object([], { channel_state_information: text, receiver_processing: text }),
      failure: object([], { outage_definition: text, decode_failure_policy: text, denominator_policy: text }),
    }),
    default_plot: object(["plot"], { plot: text, x: text, y: text, bound: text }),
    require_disjoint_training_lineage: { type: "boolean" },
    require_identical_source_transform: { type: "boolean" },
  },
};

/** Output of `svc schema pack`. */
export const PACK_SCHEMA: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "svc benchmark pack",
  ...object(["schema_version", "id", "version", "dataset", "task", "metrics", "recipes"], {
    schema_version: { enum: [1] },
    id,
    version: text,
    name: text,
    description: { type: "string" },
    suite: object(["id"], { id: text, name: text, status: text, version: text }),
    dataset,
    task,
    metrics: { type: "array", minItems: 1, items: metric },
    baselines: { ...names, description: "recipe ids, baseline ids or method ids that candidates are compared with" },
    replication,
    recipes: { type: "array", minItems: 1, items: recipe },
    metadata,
  }),
};
