import assert from "node:assert/strict";
import type { JsonObject } from "../../../lib/contract/value.ts";
import type { RecipeDocument } from "../../../lib/recipe/types.ts";
import { channelMode, checkResearch, recipeSpecs } from "../../../lib/research/specs.ts";
import { inferTask } from "../../../lib/research/tasks.ts";

function recipe(ops: string[], metadata: JsonObject = {}, params: JsonObject = {}): RecipeDocument {
  return {
    schema_version: 1,
    name: "study",
    execution_profile: { id: "custom", version: 1 },
    metadata,
    steps: ops.map((op, index) => ({ id: `s${index}`, op, params: index === 0 ? params : {}, inputs: {} })),
  };
}

const TASKS: [string[], string | null][] = [
  [["metrics.modulation_classification", "metrics.classification"], "automatic_modulation_recognition"],
  [["metrics.csi_feedback"], "csi_compression_feedback"],
  [["metrics.bit_error_rate", "metrics.image_reconstruction"], "image_reconstruction"],
  [["metrics.text_semantic_similarity"], "text_semantic_similarity"],
  [["metrics.semantic_state_faithfulness"], "text_semantic_similarity"],
  [["metrics.classification"], "classification"],
  [["metrics.vqa"], "visual_question_answering"],
  [["metrics.detection"], "object_detection"],
  [["metrics.segmentation"], "segmentation"],
  [["metrics.captioning"], "image_captioning"],
  [["metrics.retrieval"], "image_text_retrieval"],
  [["foundation.local_state_to_image"], "image_generation"],
  [["metrics.embedding_similarity"], "image_generation"],
  [["demodulation.neural_receiver_adapter", "metrics.block_error_rate"], "neural_receiver_demapping"],
  [["demodulation.neural_receiver_adapter", "metrics.bit_error_rate"], "bit_transport"],
  [["demodulation.phase_tracking_receiver_adapter", "metrics.block_error_rate"], "neural_receiver_demapping"],
  [["metrics.isac_ofdm"], "joint_isac_resource_allocation"],
  [["metrics.near_field_focusing"], "near_field_range_angle_focusing"],
  [["metrics.leo_ntn_tracking"], "leo_ntn_doppler_beam_tracking"],
  [["metrics.bit_error_rate"], "bit_transport"],
  [["metrics.block_error_rate"], null],
  [[], null],
];

for (const [ops, task] of TASKS) {
  Deno.test(`task of ${ops.join(" with ") || "nothing"}: ${task}`, () => assert.equal(inferTask(ops), task));
}

const codes = (document: RecipeDocument) => checkResearch(document).map(({ code, path }) => [code, path]);

Deno.test("well-formed research metadata passes, in every form", () => {
  for (
    const metadata of [
      {},
      { research: null },
      { research: { task: { id: "x" }, dataset: { id: "d" }, metrics: ["m", { id: "n" }], benchmark: null } },
      { task_id: "x", research: { task: { id: "x" } } },
    ] as JsonObject[]
  ) assert.deepEqual(codes(recipe([], metadata)), []);
});

Deno.test("malformed research metadata: every place is named", () => {
  const metadata = {
    task_id: 3,
    research: { task: "x", dataset: {}, metrics: ["m", 4, { id: 5 }], benchmark: [] },
  } as JsonObject;
  assert.deepEqual(codes(recipe([], metadata)), [
    ["research_invalid", "$.metadata.task_id"],
    ["research_invalid", "$.metadata.research.dataset.id"],
    ["research_invalid", "$.metadata.research.task"],
    ["research_invalid", "$.metadata.research.benchmark"],
    ["research_invalid", "$.metadata.research.metrics[1]"],
    ["research_invalid", "$.metadata.research.metrics[2].id"],
  ]);
  assert.deepEqual(codes(recipe([], { research: [] })), [["research_invalid", "$.metadata.research"]]);
  assert.deepEqual(codes(recipe([], { research: { metrics: {} } })), [[
    "research_invalid",
    "$.metadata.research.metrics",
  ]]);
});

Deno.test("declared and inferred tasks agree; an inferred bit transport yields", () => {
  const declared = (ops: string[], task: string) => codes(recipe(ops, { research: { task: { id: task } } }));
  assert.deepEqual(declared(["metrics.vqa"], "visual_question_answering"), []);
  assert.deepEqual(declared(["metrics.vqa"], "segmentation"), [["task_mismatch", "$.metadata.research.task.id"]]);
  assert.deepEqual(declared(["metrics.bit_error_rate"], "resource_allocation"), []);
  assert.deepEqual(declared(["metrics.block_error_rate"], "resource_allocation"), []);
});

Deno.test("specs of a plain link are inferred", () => {
  const specs = recipeSpecs(recipe(["source.random_bits", "wireless.channel", "metrics.bit_error_rate"]));
  assert.deepEqual(specs, {
    schema_version: 1,
    source: "inferred_from_recipe",
    dataset: {
      schema_version: 1,
      id: "synthetic_random_bits",
      modality: "bits",
      params: {},
      source: "source.random_bits",
    },
    task: { schema_version: 1, id: "bit_transport", metrics: [], params: {} },
    metrics: [],
    benchmark: {
      schema_version: 1,
      id: "study",
      version: 1,
      metrics: [],
      baselines: [],
      params: {},
      channel: { mode: "wireless" },
    },
    catalog_validation: { errors: [], warnings: [] },
  });
});

Deno.test("specs say where they come from", () => {
  const source = (metadata: JsonObject, ops: string[] = []) => recipeSpecs(recipe(ops, metadata)).source;
  assert.equal(source({ research: { task: { id: "x" } } }), "recipe.metadata.research");
  assert.equal(source({ task_id: "x" }), "metadata.task_id");
  assert.equal(source({}), "inferred_from_recipe");
  assert.equal(source({ task_id: "x" }, ["source.random_bits"]), "combined");
  assert.equal(source({ task_spec: { id: "x" } }), "recipe.metadata.research");
});

Deno.test("explicit specs, older keys and named data sets are read", () => {
  const explicit = recipeSpecs(
    recipe(["source.image_dataset"], {
      task_spec: { id: "image_reconstruction", kind: "reconstruction" },
      research: { metrics: ["quality.psnr_db", { id: "quality.mse", reduction: "mean" }] },
    }, { dataset: "svc_sample_images", split: "test" }),
  );
  assert.deepEqual(explicit.dataset, {
    schema_version: 1,
    id: "svc_sample_images",
    modality: "image",
    params: {},
    source: "source.image_dataset",
    split: "test",
  });
  assert.deepEqual(explicit.task, { schema_version: 1, id: "image_reconstruction", kind: "reconstruction" });
  assert.deepEqual(explicit.metrics, [
    { schema_version: 1, id: "quality.psnr_db" },
    { id: "quality.mse", reduction: "mean" },
  ]);
});

Deno.test("channel mode: metadata, then what the operations show", () => {
  assert.equal(channelMode(recipe(["wireless.channel"], { channel_mode: "wired" })), "wired");
  assert.equal(channelMode(recipe(["wireless.channel"], { channel_enabled: false })), "disabled");
  assert.equal(channelMode(recipe(["wireless.digital_link"])), "wireless");
  assert.equal(channelMode(recipe(["channel.identity_link"])), "identity");
  assert.equal(channelMode(recipe(["source.random_bits"])), "unspecified");
});
