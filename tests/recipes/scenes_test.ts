/** The shipped recipes of synthetic scenes: near perfect where nothing disturbs them, worse in noise, and behind a channel with or without a cliff. */
import assert from "node:assert/strict";
import { sharedSession } from "../support/session.ts";
import { toNumber } from "../../lib/contract/value.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { FULL_SIZE } from "../support/reduced_sizes.ts";
import { testWhole } from "../support/sample.ts";

const F1 = "detection.f1_at_iou_0p5_conf_0", MIOU = "segmentation.semantic_raster_pooled_miou";
const { session } = sharedSession({ projectRoot: ROOT_PATH });
const recipe = (name: string) => Deno.readTextFile(new URL(`../../recipes/${name}.yaml`, import.meta.url));

/** F1 and mean IoU of points of a matrix. */
async function scores(
  name: string,
  points: readonly string[],
  change = (text: string) => text,
): Promise<{ f1: number; miou: number }[]> {
  const { recipes } = await session();
  const { status, rows } = await recipes.runMatrix(change(await recipe(name)), { points });
  assert.equal(status, "completed");
  return rows.map(({ metrics }) => ({
    f1: toNumber(metrics.evaluation[F1] as number),
    miou: toNumber(metrics.segmentation_evaluation[MIOU] as number),
  }));
}

Deno.test("scenes are detected and segmented nearly without error, and worse in noise than the models were trained with", async () => {
  const [clean, noisy] = await scores("detection_scenes_noise", ["sigma=0.0", "sigma=0.4"]);
  assert.ok(clean.f1 > 0.97 && clean.miou > 0.98, JSON.stringify(clean));
  assert.ok(noisy.f1 < clean.f1 - 0.1 && noisy.f1 > 0.5, JSON.stringify(noisy));
  assert.ok(noisy.miou < clean.miou - 0.05 && noisy.miou > 0.5, JSON.stringify(noisy));
});

/** A metric without noise and with the strongest, by a network and by a method without one. */
async function scoresOfNoise(network: string, local: string, metric: string) {
  const { recipes } = await session();
  const score = async (name: string) => {
    const { status, rows } = await recipes.runMatrix(await recipe(name), { points: ["sigma=0.0", "sigma=0.3"] });
    assert.equal(status, "completed");
    return rows.map(({ metrics }) => toNumber(metrics.evaluation[metric] as number));
  };
  return { network: await score(network), local: await score(local) };
}

Deno.test("the bundled answerer answers in noise, where rules for plain backgrounds fail", async () => {
  const metric = "vqa.single_reference_exact_match";
  const { network, local } = await scoresOfNoise("vqa_scenes_noise", "vqa_scenes_noise_rules", metric);
  assert.ok(local[0] === 1 && network[0] > 0.98, `${local} ${network}`);
  assert.ok(network[1] > 0.95 && local[1] < 0.3, `${local} ${network}`);
});

Deno.test("the bundled towers find scenes in noise, where concepts of plain backgrounds fail", async () => {
  const metric = "retrieval.hit_at_1";
  const { network, local } = await scoresOfNoise("retrieval_scenes_noise", "retrieval_scenes_noise_concepts", metric);
  assert.ok(local[0] === 1 && network[0] > 0.9, `${local} ${network}`);
  assert.ok(network[1] > 0.9 && local[1] < 0.3, `${local} ${network}`);
});

Deno.test("JPEG at capacity keeps more shapes than joint coding, also at low SNR", async () => {
  const points = FULL_SIZE ? ["snr_db=-4.0", "snr_db=8.0"] : ["snr_db=-4.0"];
  const [low, high] = await scores("detection_scenes_jpeg_capacity_awgn", points);
  assert.ok(low.f1 > 0.9 && low.miou > 0.88, JSON.stringify(low));
  if (high !== undefined) assert.ok(high.f1 > 0.97 && high.miou > 0.95, JSON.stringify(high));
  const [joint] = await scores("detection_scenes_deepjscc_awgn", ["snr_db=-4.0"]);
  assert.ok(joint.f1 > 0.85 && joint.f1 < low.f1, JSON.stringify(joint));
  assert.ok(joint.miou > 0.8 && joint.miou < low.miou, JSON.stringify(joint));
  if (!FULL_SIZE) return;
  // A receiver that assumes the Es/N0 that it has smooths more: the error is smaller, and fewer shapes are found.
  const [smooth] = await scores("detection_scenes_deepjscc_awgn", ["snr_db=-4.0"], (text) => {
    assert.match(text, /snr_offset_db: 6\.0/);
    return text.replace("snr_offset_db: 6.0", "snr_offset_db: 0.0");
  });
  assert.ok(smooth.f1 > 0.75 && smooth.f1 < joint.f1 && smooth.miou < joint.miou, JSON.stringify(smooth));
});

/** These networks have a stored answer each, and the packs of shipped_run_test.ts run them. */
testWhole(
  "features in 8 channel uses name the shape where a picture of 1,032 uses is lost, and are level with it where it arrives",
  async () => {
    const { recipes } = await session();
    const accuracies = async (name: string) => {
      const { status, rows } = await recipes.runMatrix(await recipe(name), { points: ["snr_db=-3.0", "snr_db=6.0"] });
      assert.equal(status, "completed");
      return rows.map(({ metrics }) => toNumber(metrics.evaluation["task.accuracy"] as number));
    };
    const features = await accuracies("scenes_features_awgn");
    const pictures = await accuracies("scenes_classification_jpeg_awgn");
    assert.ok(features[0] > pictures[0] + 0.2, `${features} ${pictures}`);
    assert.ok(Math.min(features[1], pictures[1]) > 0.8, `${features} ${pictures}`);
  },
);

testWhole(
  "features of cluttered scenes find the objects at 0 dB, where nothing of a picture arrives in as many channel uses",
  async () => {
    const { recipes } = await session();
    const precision = async (name: string, points: string[]) => {
      const { status, rows } = await recipes.runMatrix(await recipe(name), { points });
      assert.equal(status, "completed");
      return rows.map(({ metrics }) => toNumber(metrics.evaluation["detection.ap_at_iou_0p5_conf_0"] as number));
    };
    const [low, high] = await precision("scenes_objects_awgn", ["snr_db=-9.0", "snr_db=0.0"]);
    assert.ok(high > 0.8 && low < high - 0.1, `${low} ${high}`);
    const [lost, arrived] = await precision("scenes_objects_jpeg_awgn", ["snr_db=3.0", "snr_db=12.0"]);
    assert.ok(lost < 0.03 && arrived > 0.08 && arrived < high, `${lost} ${arrived} ${high}`);
  },
);

/** The templates run as the recipes of noise without noise. */
testWhole("the templates of detection and segmentation score what they are for", async () => {
  for (const [name, metric] of [["detection", F1], ["segmentation", MIOU]]) {
    const { status, summary } = await (await session()).recipes.run(
      await recipe(`recipe_starters/${name}_scenes_default`),
    );
    assert.equal(status, "completed");
    const steps = summary.steps as { id: string; metrics: Record<string, number> }[];
    assert.ok(toNumber(steps.find(({ id }) => id === "evaluation")!.metrics[metric]) > 0.97);
  }
});
