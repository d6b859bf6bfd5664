/** Objects of features by a network whose answers are the features themselves. */
import assert from "node:assert/strict";
import detect from "../../../ops/joint_coding/feature_detect.ts";
import { detectionsOf } from "../../../lib/artifact/vision.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { tinyDetector } from "../../support/tiny_models.ts";
import { refuses, runOperation } from "../harness.ts";
import { symbolsInput } from "../inputs.ts";

const SIZE = { image_height: 16, image_width: 20, image_channels: 3 };

/** Detections of items, each of two cells: x, y, width, height, then the probabilities of both classes, cell beside cell. */
const detections = async (items: number[][], metadata: JsonObject, params = {}, detector = tinyDetector()) => {
  // A symbol has one of the first six values as real part, and one of the last six as imaginary part.
  const values = items.flatMap((item) => Array.from({ length: 12 }, (_, i) => item[Math.floor(i / 2) + 6 * (i % 2)]));
  const counts = { image_count: items.length, source_item_counts: items.map(() => 6) };
  const options = {
    inputs: { symbols: symbolsInput(values, { ...counts, ...metadata }) },
    params: { model_id: "models/detector", ...params },
    models: { detector },
  };
  const { outputs } = await runOperation(detect, options);
  return detectionsOf(outputs.detections);
};
const TWO = [8, 18, 8, 8, 4, 8, 4, 4, 0.5, 0.125, 0.25, 0.75], NONE = new Array(12).fill(0);

Deno.test({
  name: "boxes of the head are in pixels of the image, within it, most confident first",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const [one, none] = await detections([TWO, NONE], { ...SIZE, image_ids: ["p", "q"] }, { confidence: 0.3 });
    assert.deepEqual([one.id, none.id, none.detections.length], ["p", "q", 0]);
    assert.deepEqual(
      one.detections.map(({ label, confidence, box }) => [label, confidence, box]),
      [["b", 0.75, [14, 6, 20, 10]], ["a", 0.5, [6, 6, 10, 10]]],
    );
    const [certain] = await detections([TWO], SIZE, { confidence: 0.6 });
    assert.deepEqual([certain.id, certain.detections.length], ["image_0", 1]);
  },
});

Deno.test({
  name: "features without a size of the images, and a head of other classes, are refused",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await refuses("boundary_value_invalid", () => detections([TWO], {}));
    await refuses("model_unavailable", () => detections([TWO], SIZE, {}, tinyDetector(["a"])));
  },
});
