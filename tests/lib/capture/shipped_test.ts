import assert from "node:assert/strict";
import { deriveTrainingPlan } from "../../../lib/capture/derive.ts";
import { prepareCapture } from "../../../lib/capture/prepare.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { registry } from "./_link.ts";

const RECIPES = new URL("../../../recipes/", import.meta.url);

Deno.test("of every shipped recipe with a slot a plan is derived whose captures can run", async () => {
  let trainable = 0;
  const open: string[] = [];
  for (const folder of ["", "recipe_starters/"]) {
    for (const { name } of Deno.readDirSync(new URL(folder, RECIPES))) {
      if (!name.endsWith(".yaml")) continue;
      const raw = readRecipeText(Deno.readTextFileSync(new URL(folder + name, RECIPES)), { file: name }).value;
      const { plan, inspection } = deriveTrainingPlan({ raw, registry });
      assert.equal(inspection.selected_steps.length === 0, inspection.status === "not_trainable", name);
      if (inspection.selected_steps.length === 0) continue;
      trainable++;
      const source = { raw, registry, config: plan.dataset_capture, split: "test" as const };
      const { recipe, config, size } = await prepareCapture(source);
      if (!size.exact) {
        open.push(...[...size.text.matchAll(/size known when (\w+) runs/g)].map(([, step]) => `${name} ${step}`));
      }
      assert.equal(config.samples, 100, name);
      // A block under training never runs for its own data.
      for (const id of inspection.selected_steps) assert.ok(recipe.steps.every((step) => step.id !== id), name);
    }
  }
  assert.ok(trainable >= 15, String(trainable));
  // Frames follow the source items of their bits, the rows of an observation the pilots, and the bits of JPEG the
  // pictures: they are known in the run.
  assert.deepEqual([...new Set(open)].sort(), [
    "neural_receiver_qpsk_phase_tracking.yaml modulator",
    "neural_receiver_qpsk_phase_tracking_learned.yaml modulator",
    "ofdm_channel_estimation_learned.yaml pilot_observation",
    "ofdm_channel_tracking_learned.yaml pilot_observation",
    "ofdm_estimators_in_motion.yaml pilot_observation",
    "scenes_classification_jpeg_awgn.yaml demodulator",
  ]);
});
