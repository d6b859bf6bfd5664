/** `svc research` and `svc recipe specs`, as a user runs them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { researchCatalog } from "../../lib/research/catalog.ts";
import { inFolder, svc } from "../support/cli.ts";

const RECIPE = `schema_version: 1
name: link
execution_profile: {id: custom, version: 1}
metadata:
  research:
    task: {id: bit_transport}
    dataset: {id: synthetic_random_bit}
    metrics: [channel.ber, bpp]
steps:
  - id: data
    op: source.random_bits
    params: {bit_count: 8}
  - id: evaluation
    op: metrics.bit_error_rate
    inputs: {reference: data.bits, candidate: data.bits}
`;

Deno.test("research catalog: one document, and an overview for people", async () => {
  const document = await svc(["research", "catalog", "--json"]);
  assert.equal(document.code, 0);
  assert.deepEqual(document.json, JSON.parse(JSON.stringify(researchCatalog())));
  const text = await svc(["research", "catalog"]);
  assert.match(text.stdout, /Channel estimation and feedback\n {2}csi_compression_feedback /);
  assert.match(text.stdout, /image_captioning +Image captioning \(planned\)/);
});

Deno.test("research datasets, tasks, metrics: tables, CSV, JSON", async () => {
  const metrics = await svc(["research", "metrics", "--family", "quality", "--json"]);
  assert.deepEqual(metrics.json.metrics.map(({ id }: { id: string }) => id).slice(0, 2), [
    "quality.psnr_db",
    "quality.mse",
  ]);
  assert.equal(metrics.json.schema_version, 1);
  assert.match((await svc(["research", "metrics", "--family", "detection"])).stdout, /detection\.f1_at_iou_0p5_conf_0/);
  assert.match((await svc(["research", "datasets", "--format", "csv"])).stdout, /^kodak,image,supported,local,/m);
  assert.match((await svc(["research", "tasks"])).stdout, /^bit_transport +transport_integrity +bits +supported/m);
  const family = await svc(["research", "metrics", "--family", "qualty"]);
  assert.equal(family.code, 4);
  assert.match(family.stderr, /Did you mean quality\?/);
});

Deno.test("research show: an entry, or the nearest name", async () => {
  const metric = await svc(["research", "show", "metric", "channel.ber"]);
  assert.match(metric.stdout, /counts: channel\.error_count of channel\.compare_bit_count/);
  assert.match(metric.stdout, /tasks: .*bit_transport/);
  assert.equal((await svc(["research", "show", "task", "segmentation", "--json"])).json.task.kind, "task_success");
  const near = await svc(["research", "show", "dataset", "kodac"]);
  assert.equal(near.code, 4);
  assert.match(near.stderr, /Did you mean kodak\?/);
  assert.match((await svc(["research", "show", "metric", "bpp"])).stderr, /deprecated[^]*rate\.payload_bpp/);
  const kind = await svc(["research", "show", "metrc", "x"]);
  assert.equal(kind.code, 2);
  assert.match(kind.stderr, /Did you mean metric\?/);
});

Deno.test(
  "research validate-recipe: warnings, strictly refusals, each at its line",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "link.yaml"), RECIPE);
    const relaxed = await svc(["research", "validate-recipe", "link.yaml"], { cwd });
    assert.equal(relaxed.code, 0, relaxed.stderr);
    assert.match(relaxed.stdout, /^valid {2}link: task bit_transport, dataset synthetic_random_bit, metrics /);
    assert.match(relaxed.stderr, /warning\[research_catalog_warning\][^]*link\.yaml:7:\d+[^]*synthetic_random_bits\?/);
    assert.match(relaxed.stderr, /warning\[metric_deprecated\][^]*link\.yaml:8:\d+/);
    const strict = await svc(["research", "validate-recipe", "link.yaml", "--strict", "--json"], { cwd });
    assert.equal(strict.code, 3);
    assert.deepEqual(strict.json.diagnostics.map(({ code }: { code: string }) => code), [
      "research_catalog_error",
      "metric_deprecated",
    ]);
    await Deno.writeTextFile(
      join(cwd, "link.yaml"),
      RECIPE.replace("id: bit_transport", "id: bit_transport, kind: estimation"),
    );
    const wrong = await svc(["research", "validate-recipe", "link.yaml"], { cwd });
    assert.equal(wrong.code, 3);
    assert.match(wrong.stderr, /kind estimation[^]*it is transport_integrity/);
    await assert.rejects(Deno.stat(join(cwd, ".svc")), Deno.errors.NotFound);
  }),
);

Deno.test(
  "recipe specs: the whole document",
  inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "link.yaml"), RECIPE);
    const { json, code } = await svc(["recipe", "specs", "link.yaml", "--json"], { cwd });
    assert.equal(code, 0);
    assert.deepEqual(Object.keys(json), [
      "schema_version",
      "source",
      "dataset",
      "task",
      "metrics",
      "benchmark",
      "catalog_validation",
      "warnings",
    ]);
    assert.equal(json.source, "recipe.metadata.research");
    assert.equal(json.catalog_validation.warnings.length, 2);
    assert.deepEqual(json.warnings, json.catalog_validation.warnings);
  }),
);
