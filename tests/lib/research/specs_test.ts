import assert from "node:assert/strict";
import type { JsonObject } from "../../../lib/contract/value.ts";
import type { RecipeDocument } from "../../../lib/recipe/types.ts";
import { findDataset } from "../../../lib/research/catalog.ts";
import { channelMode, checkResearch, declaredTask, recipeSpecs } from "../../../lib/research/specs.ts";
import { inferTask } from "../../../lib/research/tasks.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

function recipe(ops: string[], metadata: JsonObject = {}, params: JsonObject = {}): RecipeDocument {
  return {
    schema_version: 1,
    name: "study",
    execution_profile: { id: "custom", version: 1 },
    metadata,
    steps: ops.map((op, index) => ({ id: `s${index}`, op, params: index === 0 ? params : {}, inputs: {} })),
  };
}

const TASKS: [string[], string | null][] = DATA.TASKS;

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

Deno.test("members of specs are read or named", () => {
  const places = (research: JsonObject) =>
    codes(recipe([], { research })).map(([code, path]) => {
      assert.equal(code, "research_invalid");
      return path.replace("$.metadata.research.", "");
    });
  assert.deepEqual(places({ dataset: { id: "d", modality: 1, params: [], version: true, split: 2, source: "" } }), [
    "dataset.params",
    "dataset.modality",
    "dataset.version",
    "dataset.split",
    "dataset.source",
  ]);
  assert.deepEqual(places({ task: { id: "t", kind: {}, modality: "bits", target: [], metrics: {} } }), [
    "task.kind",
    "task.target",
    "task.metrics",
  ]);
  assert.deepEqual(places({ metrics: [{ id: "m", direction: "up", reduction: "avg", unit: 1, family: null }] }), [
    "metrics[0].direction",
    "metrics[0].reduction",
    "metrics[0].unit",
  ]);
  assert.deepEqual(
    places({ benchmark: { id: "b", schema_version: 2, baselines: {}, metrics: ["m", {}], channel: "x" } }),
    [
      "benchmark.schema_version",
      "benchmark.baselines",
      "benchmark.channel",
      "benchmark.metrics[1].id",
    ],
  );
  assert.deepEqual(codes(recipe([], { metric_specs: 5, dataset_spec: "d" })), [
    ["research_invalid", "$.metadata.dataset_spec"],
    ["research_invalid", "$.metadata.metric_specs"],
  ]);
});

Deno.test("a mismatch points at where the task is declared", () => {
  const at = (metadata: JsonObject) => codes(recipe(["metrics.vqa"], metadata))[0]?.[1];
  assert.equal(at({ task_id: "segmentation" }), "$.metadata.task_id");
  assert.equal(at({ task_spec: { id: "segmentation" } }), "$.metadata.task_spec.id");
  assert.equal(at({ task_spec: { id: "segmentation" }, task_id: "classification" }), "$.metadata.task_id");
  assert.equal(at({ task_id: "visual_question_answering" }), undefined);
});

Deno.test("declared and inferred tasks agree; an inferred bit transport yields to a task without a rule or with its operation", () => {
  const declared = (ops: string[], task: string) => codes(recipe(ops, { research: { task: { id: task } } }));
  assert.deepEqual(declared(["metrics.vqa"], "visual_question_answering"), []);
  assert.deepEqual(declared(["metrics.vqa"], "segmentation"), [["task_mismatch", "$.metadata.research.task.id"]]);
  assert.deepEqual(declared(["metrics.bit_error_rate"], "resource_allocation"), []);
  assert.deepEqual(declared(["metrics.block_error_rate"], "resource_allocation"), []);
  const bits = "metrics.bit_error_rate", wrong = [["task_mismatch", "$.metadata.research.task.id"]];
  assert.deepEqual(declared([bits], "image_reconstruction"), wrong);
  assert.deepEqual(declared([bits], "neural_receiver_demapping"), wrong);
  assert.deepEqual(declared([bits, "metrics.block_error_rate"], "neural_receiver_demapping"), []);
  assert.deepEqual(declared([bits, "demodulation.neural_receiver_adapter"], "neural_receiver_demapping"), []);
});

Deno.test("specs of a plain link are inferred", () => {
  const specs = recipeSpecs(recipe(["source.random_bits", "wireless.channel", "metrics.bit_error_rate"]));
  assert.deepEqual(specs, DATA.INFERRED);
});

Deno.test("a recipe about which nothing is known has specs all the same", () => {
  const { dataset, task, metrics, benchmark, source } = recipeSpecs(recipe(["channel.identity_link"]));
  assert.deepEqual({ dataset, task, metrics, source }, {
    dataset: null,
    task: null,
    metrics: [],
    source: "inferred_from_recipe",
  });
  assert.deepEqual(benchmark, {
    schema_version: 1,
    id: "study",
    version: 1,
    metrics: [],
    baselines: [],
    params: {},
    channel: { mode: "identity" },
  });
});

Deno.test("specs say where they come from", () => {
  const source = (metadata: JsonObject, ops: string[] = []) => recipeSpecs(recipe(ops, metadata)).source;
  assert.equal(source({ research: { task: { id: "x" } } }), "recipe.metadata.research");
  assert.equal(source({ task_id: "x" }), "metadata.task_id");
  assert.equal(source({}), "inferred_from_recipe");
  assert.equal(source({ task_id: "x" }, ["source.random_bits"]), "combined");
  assert.equal(source({ task_id: "x", research: { dataset: { id: "d" } } }), "combined");
  assert.equal(source({ task_spec: { id: "x" } }), "recipe.metadata.research");
  assert.equal(source({ research: { dataset: { id: "d" } } }, ["metrics.vqa"]), "combined");
  assert.equal(
    source({ research: { task: { id: "x" }, dataset: { id: "d" } } }, ["source.random_bits", "metrics.vqa"]),
    "recipe.metadata.research",
  );
});

Deno.test("explicit specs are kept and filled in from the catalogue", () => {
  const specs = recipeSpecs(recipe(["source.image_dataset"], {
    research: {
      dataset: { id: "kodak", version: "kodak-24", split: null, note: "ours" },
      task: { id: "image_reconstruction", metrics: ["quality.ssim"], params: { crop: 256 } },
      metrics: ["quality.psnr_db", { id: "quality.mse", reduction: "mean", params: { range: 255 } }, "lab.sharpness"],
      benchmark: { id: "b", version: "2", baselines: ["jpeg"] },
    },
  }));
  assert.deepEqual(specs.dataset, {
    schema_version: 1,
    id: "kodak",
    modality: "image",
    params: {},
    version: "kodak-24",
    note: "ours",
  });
  assert.deepEqual(specs.task, {
    schema_version: 1,
    id: "image_reconstruction",
    kind: "reconstruction",
    metrics: ["quality.ssim"],
    params: { crop: 256 },
    modality: "image",
    target: "pixels",
  });
  const [psnr, mse, own] = specs.metrics as JsonObject[];
  assert.equal(psnr.unit, "dB");
  assert.deepEqual(mse.params, { range: 255 });
  assert.deepEqual(own, {
    schema_version: 1,
    id: "lab.sharpness",
    direction: "neutral",
    reduction: "mean",
    params: {},
  });
  const { id, version, baselines, metrics, task } = specs.benchmark as JsonObject;
  assert.deepEqual({ id, version, baselines, metrics, task }, {
    id: "b",
    version: "2",
    baselines: ["jpeg"],
    metrics: ["quality.psnr_db", "quality.mse", "lab.sharpness"],
    task: "image_reconstruction",
  });
});

Deno.test("the older keys are read where metadata.research says nothing", () => {
  const older: JsonObject = {
    dataset_spec: { id: "kodak" },
    task_spec: { id: "bit_transport" },
    benchmark_spec: { id: "old" },
    metric_specs: ["channel.bler"],
  };
  const specs = recipeSpecs(recipe([], older));
  const ids = ({ dataset, task, benchmark, metrics }: JsonObject) =>
    [dataset, task, benchmark, ...metrics as JsonObject[]].map((spec) => (spec as JsonObject).id);
  assert.deepEqual(ids(specs), ["kodak", "bit_transport", "old", "channel.bler"]);
  const newer = recipeSpecs(
    recipe([], { ...older, research: { dataset: { id: "bsds500" }, metrics: ["channel.ber"] } }),
  );
  assert.deepEqual(ids(newer), ["bsds500", "bit_transport", "old", "channel.ber"]);
  assert.equal(declaredTask(recipe([], older)), "bit_transport");
});

Deno.test("metrics follow what the steps evaluate, or else the task", () => {
  const ids = (document: RecipeDocument) => (recipeSpecs(document).metrics as JsonObject[]).map(({ id }) => id);
  const steps = recipe(["source.random_bits", "metrics.bit_error_rate", "metrics.bit_error_rate"], {
    task_id: "resource_allocation",
  });
  steps.steps[2].params = { label: "link.ber" };
  assert.deepEqual(ids(steps), ["channel.ber", "channel.link.ber"]);
  assert.equal((recipeSpecs(steps).metrics as JsonObject[])[1].direction, "lower_is_better");
  const task = { id: "image_reconstruction", metrics: ["quality.ssim"] };
  assert.deepEqual(ids(recipe(["metrics.image_reconstruction"], { research: { task } })), ["quality.ssim"]);
  assert.deepEqual(ids(recipe([], { task_id: "classification" })), [
    "task.accuracy",
    "task.exact_match",
    "classification.balanced_accuracy",
  ]);
});

/** Source operations with their parameters, further operations, and the data set they make. */
const DATASETS: [string, JsonObject, string[], string][] = DATA.DATASETS;

for (const [op, params, others, expected] of DATASETS) {
  Deno.test(`data set of ${[op, ...others].join(" with ")} ${JSON.stringify(params)}: ${expected}`, () => {
    const dataset = recipeSpecs(recipe([op, ...others], {}, params)).dataset as JsonObject;
    assert.equal(dataset.id, expected);
    assert.equal(dataset.source, op);
    assert.equal(
      dataset.modality,
      findDataset(expected)?.modality ?? (op === "source.bit_manifest" ? "bits" : "image"),
    );
  });
}

Deno.test("a data set has a version where the program provides its files, and the split it is read from", () => {
  const of = (params: JsonObject) => recipeSpecs(recipe(["source.image_dataset"], {}, params)).dataset as JsonObject;
  const sample = of({ dataset: "svc_sample_images", split: "test", manifest_path: "" });
  assert.deepEqual([sample.version, sample.split], ["svc_sample_images-v1", "test"]);
  assert.equal(of({ dataset: "svc_sample_images", manifest_path: "mine.json" }).version, undefined);
  assert.equal(of({ dataset: "bsds500", split: "" }).version, undefined);
  assert.equal(of({ dataset: "bsds500", split: "" }).split, undefined);
});

Deno.test("metadata that cannot be read is said, not trusted", () => {
  const specs = recipeSpecs(recipe(["source.random_bits"], { research: { task: 3, dataset: [], metrics: "x" } }));
  assert.equal((specs.dataset as JsonObject).id, "synthetic_random_bits");
  assert.equal(specs.task, null);
  const { errors } = specs.catalog_validation as { errors: JsonObject[] };
  assert.deepEqual(errors.map(({ code }) => code), ["research_invalid", "research_invalid", "research_invalid"]);
});

Deno.test("channel mode: metadata, then what the operations show", () => {
  assert.equal(channelMode(recipe(["wireless.channel"], { channel_mode: "wired" })), "wired");
  assert.equal(channelMode(recipe(["wireless.channel"], { channel_enabled: false })), "disabled");
  assert.equal(channelMode(recipe(["wireless.digital_link"])), "wireless");
  assert.equal(channelMode(recipe(["channel.identity_link"])), "identity");
  assert.equal(channelMode(recipe(["source.random_bits"])), "unspecified");
});
