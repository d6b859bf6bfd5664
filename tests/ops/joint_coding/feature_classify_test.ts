/** Classes of features by a network whose answers are known by hand. */
import assert from "node:assert/strict";
import classify from "../../../ops/joint_coding/feature_classify.ts";
import { itemsOf } from "../../../lib/artifact/values.ts";
import { isObject, type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { tinyClassifier } from "../../support/tiny_models.ts";
import { refuses, runOperation } from "../harness.ts";
import { symbolsInput } from "../inputs.ts";

const predictions = async (values: number[], metadata: JsonObject, classifier = tinyClassifier()) => {
  const inputs = { symbols: symbolsInput(values, metadata) };
  const options = { inputs, params: { model_id: "models/classifier" }, models: { classifier } };
  return itemsOf((await runOperation(classify, options)).outputs.predictions);
};
const ITEMS = { source_item_counts: [2, 2], image_ids: ["p", "q"] };

Deno.test({
  name: "features are all real parts, then all imaginary parts, of the symbols of an item",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    // Features [3, 0, 1, 0] and [1, 1, 1, 1]: logits [3, 1, 0] and [1, 2, 1].
    const items = await predictions([3, 1, 0, 0, 1, 1, 1, 1], ITEMS);
    assert.deepEqual(items.map(({ id, label }) => [id, label]), [["p", "a"], ["q", "b"]]);
    const wanted = [[3, 1, 0], [1, 2, 1]].map((logits) => {
      const weights = logits.map(Math.exp), total = weights.reduce((sum, value) => sum + value);
      return weights.map((value) => value / total);
    });
    items.forEach(({ probabilities }, index) => {
      assert.ok(isObject(probabilities));
      Object.values(probabilities).forEach((value, k) =>
        assert.ok(Math.abs(toNumber(value as number) - wanted[index][k]) < 1e-6, `${value}`)
      );
    });
    // The imaginary part of the last symbol is the last feature; without ids items are numbered.
    assert.deepEqual(
      (await predictions([0, 0, 0, 9], { source_item_counts: [2] })).map(({ id, label }) => [id, label]),
      [["image_0", "c"]],
    );
  },
});

Deno.test({
  name: "items of unequal length, other classes than logits, and logits that are not finite are refused",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const values = [3, 1, 0, 0, 1, 1, 1, 1];
    await refuses("boundary_shape_invalid", () => predictions(values, { source_item_counts: [1, 3] }));
    await refuses("model_unavailable", () => predictions(values, ITEMS, tinyClassifier(["a", "b"])));
    await refuses("model_unavailable", () => predictions(values, ITEMS, tinyClassifier([])));
    await refuses("boundary_count_mismatch", () => predictions(values, { ...ITEMS, image_ids: ["p"] }));
    const largest = 3.4e38;
    await refuses("boundary_non_finite", () => predictions([1, largest, largest, 1], { source_item_counts: [2] }));
  },
});
