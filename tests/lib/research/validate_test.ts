/** Recipes against the catalogue: what is wrong, what is only unknown, and where it stands. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../../lib/contract/value.ts";
import type { RecipeDocument } from "../../../lib/recipe/types.ts";
import { validateResearch } from "../../../lib/research/validate.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

function recipe(metadata: JsonObject, steps: [string, JsonObject?][] = []): RecipeDocument {
  return {
    schema_version: 1,
    name: "study",
    execution_profile: { id: "custom", version: 1 },
    metadata,
    steps: steps.map(([op, params = {}], index) => ({ id: `s${index}`, op, params, inputs: {} })),
  };
}

/** Findings as `code path`, errors and warnings. */
function found(metadata: JsonObject, strict = false, steps: [string, JsonObject?][] = []) {
  const { errors, warnings } = validateResearch(recipe(metadata, steps), { strict });
  assert.ok(errors.every(({ severity }) => severity === "error"));
  assert.ok(warnings.every(({ severity }) => severity === "warning"));
  const brief = (items: typeof errors) => items.map(({ code, path }) => `${code} ${path.replace("$.metadata.", "")}`);
  return { errors: brief(errors), warnings: brief(warnings) };
}

const CLEAN = { errors: [], warnings: [] };

Deno.test("what the catalogue knows passes, strictly", () => {
  for (
    const metadata of DATA.SHAPES as JsonObject[]
  ) assert.deepEqual(found(metadata, true), CLEAN);
});

/** Metadata with the places that are unknown or only planned, by code. */
const UNKNOWN: [string, JsonObject, string[]][] = DATA.UNKNOWN;

for (const [name, metadata, expected] of UNKNOWN) {
  Deno.test(`unknown or planned ${name}: a warning, strictly an error`, () => {
    const as = (severity: string) => expected.map((item) => item.replace("_catalog ", `_catalog_${severity} `));
    assert.deepEqual(found(metadata), { errors: [], warnings: as("warning") });
    assert.deepEqual(found(metadata, true), { errors: as("error"), warnings: [] });
  });
}

/** Metadata that contradicts the catalogue, and where. */
const WRONG: [string, JsonObject, string[]][] = DATA.WRONG;

for (const [name, research, expected] of WRONG) {
  Deno.test(`wrong ${name}: an error, strict or not`, () => {
    const errors = expected.map((place) => `research_catalog_error research.${place}`);
    for (const strict of [false, true]) assert.deepEqual(found({ research }, strict), { errors, warnings: [] });
  });
}

Deno.test("deprecated metrics stay warnings and name what replaces them", () => {
  const metadata = { research: { metrics: ["bpp", "detection.f1_at_iou_0p5", { id: "retrieval.recall_at_5" }] } };
  for (const strict of [false, true]) {
    assert.deepEqual(found(metadata, strict), {
      errors: [],
      warnings: [
        "metric_deprecated research.metrics[0]",
        "metric_deprecated research.metrics[1]",
        "metric_deprecated research.metrics[2].id",
      ],
    });
  }
  const [, detection, retrieval] = validateResearch(recipe(metadata)).warnings;
  assert.equal(detection.hint, "Use detection.f1_at_iou_0p5_conf_0");
  assert.equal(retrieval.hint, "Use retrieval.hit_at_5");
});

Deno.test("without a declared task the metrics are held against the inferred one", () => {
  const research = { metrics: ["retrieval.hit_at_1"] };
  assert.deepEqual(found({ research }, true, [["metrics.vqa"]]).errors, [
    "research_catalog_error research.metrics[0]",
  ]);
  assert.deepEqual(found({ research }, true), CLEAN);
});

Deno.test("error rates under a label of the recipe's own are known", () => {
  const research = { metrics: ["channel.link.ber", "channel.link.error_count"] };
  assert.deepEqual(found({ research }, true, [["metrics.bit_error_rate", { label: "link.ber" }]]), CLEAN);
  assert.equal(found({ research }, true).errors.length, 2);
});

Deno.test("hints name the nearest entry", () => {
  const research = { dataset: { id: "kodac" }, task: { id: "bit_transprot" }, metrics: ["channel.bre"] };
  const { warnings } = validateResearch(recipe({ research }));
  assert.deepEqual(warnings.map(({ hint }) => hint), [
    "Did you mean kodak?",
    "Did you mean bit_transport?",
    "Did you mean channel.ber?",
  ]);
  assert.equal(warnings[0].pointer, "/metadata/research/dataset/id");
});

Deno.test("a dataset that a source reads by the user's manifest is no finding, also strictly", () => {
  const research = { dataset: { id: "my_photos" } };
  const source = (params: JsonObject): [string, JsonObject][] => [["source.image_dataset", params]];
  const own = { dataset: "my_photos", manifest_path: "my_photos/manifest.json" };
  assert.deepEqual(found({ research }, true, source(own)), CLEAN);
  assert.deepEqual(found({ research }, true, source({ ...own, manifest_path: "" })).errors.length, 1);
  assert.deepEqual(found({ research }, true, source({ ...own, dataset: "others" })).errors.length, 1);
});
