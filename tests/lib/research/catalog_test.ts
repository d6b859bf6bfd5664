/** The catalogue is whole: every metric of the plan stands in it once, and every name in it leads somewhere. */
import assert from "node:assert/strict";
import { SvcError } from "../../../lib/contract/error.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import {
  allDatasets,
  allMetrics,
  allTasks,
  carriesTask,
  catalogEntry,
  checkFractions,
  findDataset,
  findDeprecatedMetric,
  findMetric,
  findTask,
  researchCatalog,
  suitsTask,
} from "../../../lib/research/catalog.ts";
import rows from "../../../lib/research/catalog.json" with { type: "json" };
import { DIRECTIONS, REDUCTIONS } from "../../../lib/research/catalog_types.ts";
import { BUILTIN_OPERATIONS } from "../../../ops/index.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

/** What each family holds: brace patterns with H, L or N for what is better. */
const FAMILIES: Record<string, [size: number, patterns: string[]]> = DATA.FAMILIES;

/** `a{b,c} H` -> `ab H`, `ac H`; a direction behind a group belongs to each of its members. */
function expand(pattern: string): string[] {
  const start = pattern.indexOf("{");
  if (start < 0) return [pattern];
  const members: string[] = [];
  let depth = 0, from = start + 1, end = start;
  for (let i = start; i < pattern.length; i++) {
    if (pattern[i] === "{") depth++;
    const closes = pattern[i] === "}" && --depth === 0;
    if (closes || (pattern[i] === "," && depth === 1)) {
      members.push(pattern.slice(from, i).trim());
      from = i + 1;
    }
    if (closes) {
      end = i;
      break;
    }
  }
  return members.flatMap((member) => expand(pattern.slice(0, start) + member + pattern.slice(end + 1)));
}

Deno.test("braces expand with prefix, suffix, nesting and empty members", () => {
  assert.deepEqual(expand("a.{b,{,c_}d}_e H"), ["a.b_e H", "a.d_e H", "a.c_d_e H"]);
  assert.deepEqual(expand("{a H, b L}"), ["a H", "b L"]);
});

const LETTER = { higher_is_better: "H", lower_is_better: "L", neutral: "N" };

Deno.test("every family holds exactly its metrics, each with its direction", () => {
  assert.deepEqual([...new Set(allMetrics().map(({ family }) => family))].sort(), Object.keys(FAMILIES).sort());
  for (const [family, [size, patterns]] of Object.entries(FAMILIES)) {
    const written = allMetrics().filter((metric) => metric.family === family)
      .map(({ id, direction }) => `${id} ${LETTER[direction]}`);
    assert.equal(written.length, size, family);
    assert.deepEqual(written.sort(), patterns.flatMap(expand).sort(), family);
  }
});

const unique = (rows: readonly { id: string }[]) => assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length);

Deno.test("metrics are unique and well formed; what their names say, they are", () => {
  unique(allMetrics());
  unique(allMetrics().map(({ name, family }) => ({ id: `${family} ${name}` })));
  for (const metric of allMetrics()) {
    const { id, unit, direction, reduction, statistic, counts } = metric;
    assert.match(id, /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*\.([a-z][a-z0-9_]*|\*)$/);
    assert.ok(DIRECTIONS.includes(direction) && REDUCTIONS.includes(reduction), id);
    assert.ok(["rate", "mean", "count", "constant"].includes(statistic), id);
    assert.equal(statistic === "constant", reduction === "constant", id);
    if (statistic === "rate") assert.equal(unit, "fraction", id);
    if (statistic === "count") assert.equal(reduction, "sum", id);
    if (/_count$/.test(id)) assert.equal(statistic, "count", id);
    for (const [ending, expected] of [[/_db$/, "dB"], [/_bps_hz$/, "bit/s/Hz"], [/_deg$/, "degree"], [/_m$/, "m"]]) {
      if ((ending as RegExp).test(id)) assert.equal(unit, expected, id);
    }
    const said = /(?:^|[._])(p05|p90|median|min|max)(?:_|$)/.exec(id.slice(id.lastIndexOf(".") + 1))?.[1];
    if (said !== undefined && statistic !== "constant") assert.equal(reduction, said, id);
    for (const counted of counts === undefined ? [] : [counts.events, counts.trials]) {
      assert.equal(statistic, "rate", id);
      assert.equal(findMetric(counted)?.statistic, "count", `${id} counts ${counted}`);
    }
  }
  const counted = allMetrics().filter(({ counts }) => counts).map(({ id }) => id.replace(/^channel\./, ""));
  assert.deepEqual(
    counted.sort(),
    [
      "ber",
      "bler",
      "capacity.outage_probability",
      "coded.ber",
      "coded.bler",
      "nr_ldpc_ofdm.block_error_rate",
      "payload.ber",
      "payload.bler",
    ],
  );
});

Deno.test("deprecated ids are not in the catalogue and lead into it", () => {
  unique(rows.deprecated_metrics);
  for (const { id, replacement } of rows.deprecated_metrics) {
    assert.equal(findMetric(id), undefined, id);
    assert.ok(findMetric(replacement), replacement);
  }
  for (const id of ["bpp", "rate_bpp", "detection.f1_at_iou_0p5", "segmentation.miou", "retrieval.recall_at_k"]) {
    assert.ok(findDeprecatedMetric(id), id);
  }
});

Deno.test("tasks name areas, and metrics that exist and suit them", () => {
  unique(allTasks());
  assert.equal(allTasks().length, 26);
  const kinds = new Set(BUILTIN_OPERATIONS.flatMap(({ operation }) => [
    ...Object.values(operation.definition.inputs ?? {}).flat(),
    ...Object.values(operation.definition.outputs),
  ]));
  for (const task of allTasks()) {
    assert.ok(rows.areas.some(({ id }) => id === task.area_id), task.id);
    assert.ok(task.metrics.length > 0, task.id);
    assert.equal(
      new Set([...task.metrics, ...task.optional_metrics]).size,
      task.metrics.length + task.optional_metrics.length,
    );
    for (const id of [...task.metrics, ...task.optional_metrics]) {
      const metric = findMetric(id);
      assert.ok(metric, `${task.id} is scored by ${id}`);
      assert.ok(suitsTask(metric, task), `${task.id} by ${id}`);
      if (task.status === "supported") assert.equal(metric.status, undefined, id);
    }
    for (const kind of task.required_artifacts) assert.match(kind, /^([a-z_]+\.)+(numpy|json|report)$/, task.id);
  }
  assert.ok(findTask("bit_transport")!.required_artifacts.every((kind) => kinds.has(kind)));
  assert.deepEqual(allTasks().filter(({ status }) => status === "planned").map(({ id }) => id), [
    "speech_recognition",
    "image_captioning",
  ]);
});

/** Source operations that the program does not have yet. */
const AWAITED = new Set(
  ("synthetic_scenes task_labels_smoke semantic_artifacts_smoke vqa_smoke retrieval_smoke ai_phy_channel_realization " +
    "ai_phy_pilot_pattern ai_phy_pilot_channel beamforming_scenario localization_geometry " +
    "localization_sensing_scenario aoa_scene resource_allocation_scenario modulation_frames isac_ofdm_scenario " +
    "near_field_xl_mimo_scenario leo_ntn_tracking_scenario vqa_small_hf vqa_manifest flickr8k_retrieval " +
    "coco128_detection coco8_segmentation").split(" ").map((name) => `source.${name}`).concat(
      ("ofdm_channel_state ofdm_delayed_csi pilot_observation miso_ofdm_csi range_observation ula_array_observation " +
        "modulation_awgn_observation").split(" ").map((name) => `wireless.${name}`),
    ),
);

Deno.test("data sets come from operations that exist or are awaited, in named versions", () => {
  unique(allDatasets());
  assert.equal(allDatasets().length, 41);
  const known = new Set([...BUILTIN_OPERATIONS.map(({ operation }) => operation.id), ...AWAITED]);
  for (const { id, status, source_ops, versions, bundled, local } of allDatasets()) {
    assert.deepEqual(source_ops.filter((op) => !known.has(op)), [], id);
    assert.equal(source_ops.length === 0, status === "planned", id);
    assert.ok(versions.length > 0 && new Set(versions).size === versions.length, id);
    assert.ok(!(bundled && local), id);
  }
  assert.deepEqual(findDataset("bsds500")!.versions, ["bsds500-v1"]);
  assert.deepEqual(findDataset("kodak_over_phylib_tdl")!.versions, ["kodak-24", "kodak-smoke-kodim01"]);
});

Deno.test("rows have known modalities and states", () => {
  const modalities = ["image", "text", "audio", "bits", "wireless", "multimodal", "generic"];
  for (const { id, modality, status } of [...allDatasets(), ...allTasks()]) {
    assert.ok(modalities.includes(modality), id);
    assert.ok(["supported", "experimental", "planned"].includes(status), id);
  }
});

Deno.test("the catalogue is one document, and the caller's own copy", () => {
  const document = researchCatalog();
  assert.deepEqual(Object.keys(document), ["schema_version", "areas", "datasets", "tasks", "metrics"]);
  const before = canonicalJson(researchCatalog());
  (document.tasks as { metrics: string[] }[])[0].metrics.push("x");
  assert.equal(canonicalJson(researchCatalog()), before);
});

Deno.test("ids with parameters of the operation have the entry of their kind", () => {
  assert.equal(findMetric("retrieval.hit_at_3")!.direction, "higher_is_better");
  assert.equal(findMetric("detection.f1_at_iou_0p75_conf_0p25")!.id, "detection.f1_at_iou_0p75_conf_0p25");
  assert.equal(findMetric("caption.cider")!.status, "planned");
  for (
    const id of [
      "detection.ap_at_iou_0p75_conf_0",
      "detection.map_at_iou_0p5_to_0p95_conf_0p3",
      "detection.class_f1_at_iou_0p5_conf_0.traffic_light",
      "segmentation.semantic_raster_pooled_class_iou.circle",
    ]
  ) assert.equal(findMetric(id)!.direction, "higher_is_better", id);
  for (const id of ["retrieval.hit_at_k", "detection.f1_at_iou_0p75", "caption.", "toString", "channel.berr"]) {
    assert.equal(findMetric(id), undefined, id);
  }
});

Deno.test("what is not found is refused with the nearest name", () => {
  const refused = (kind: "dataset" | "task" | "metric", id: string, hint: RegExp) =>
    assert.throws(() => catalogEntry(kind, id), (error) => {
      assert.ok(error instanceof SvcError && error.code === "not_found");
      assert.match(error.hint!, hint);
      return true;
    });
  refused("dataset", "kodac", /Did you mean kodak\?/);
  refused("task", "bit_transprot", /Did you mean bit_transport\?/);
  refused("metric", "channel.bre", /Did you mean channel\.ber\?/);
  refused("metric", "bpp", /Use rate\.payload_bpp/);
  refused("task", "zzzzzzzzzzzzzzzz", /svc research tasks/);
  assert.equal(catalogEntry("dataset", "kodak").id, "kodak");
});

Deno.test("metrics suit tasks by what they are about; tasks go with data sets by modality", () => {
  const suits = (metric: string, task: string) => suitsTask(findMetric(metric)!, findTask(task)!);
  assert.ok(suits("quality.ssim", "image_reconstruction"));
  assert.ok(suits("channel.payload.ber", "image_reconstruction"));
  assert.ok(!suits("retrieval.hit_at_1", "image_reconstruction"));
  assert.ok(!suits("detection.f1_at_iou_0p5_conf_0", "segmentation"));
  assert.ok(suits("generation.text_image_clip.cosine_min", "image_generation"));
  const carries = (dataset: string, task: string) => carriesTask(findDataset(dataset)!, findTask(task)!);
  assert.ok(carries("synthetic_scenes", "object_detection"));
  assert.ok(carries("kodak", "bit_transport"));
  assert.ok(carries("kodak_over_phylib_tdl", "resource_allocation"));
  assert.ok(!carries("synthetic_random_bits", "image_reconstruction"));
  assert.ok(!carries("kodak", "text_semantic_similarity"));
});

Deno.test("a metric that is declared a fraction stays in 0 to 1", () => {
  const refused = (id: string, value: number | null) => {
    try {
      checkFractions({ [id]: value });
      return false;
    } catch (error) {
      assert.ok(error instanceof SvcError && error.code === "metric_out_of_range" && error.message.includes(id));
      return true;
    }
  };
  for (const id of ["channel.ber", "retrieval.relevant_recall_at_2", "detection.class_f1_at_iou_0p3_conf_0.car"]) {
    assert.deepEqual([-0.1, 0, 1, 1 + 1e-7, 1.5].map((value) => refused(id, value)), [
      true,
      false,
      false,
      false,
      true,
    ]);
  }
  // Word error rates exceed 1 by insertions; a cosine may be negative; own metrics have no declaration.
  for (const id of ["task.wer", "embedding.cosine_mean", "test.value"]) assert.equal(refused(id, -2), false);
  assert.equal(refused("channel.ber", null), false);
});
