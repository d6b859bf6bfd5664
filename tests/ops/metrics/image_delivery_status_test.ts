import assert from "node:assert/strict";
import deliveryStatus from "../../../ops/metrics/image_delivery_status.ts";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { refuses, runOperation } from "../harness.ts";

const status = (metadata: JsonObject) => {
  const images = imagesArtifact({
    count: 4,
    height: 2,
    width: 2,
    channels: 1,
    dtype: "uint8",
    data: new Uint8Array(16),
  }, metadata);
  return runOperation(deliveryStatus, { inputs: { images } });
};

Deno.test("the outage rate is the share of lost images", async () => {
  const records: JsonObject[] = [{ failed_item_indices: [1, 3] }, { delivered: [true, false, true, false] }];
  for (const metadata of records) {
    const { metrics, outputs } = await status({ image_ids: ["a", "b", "c", "d"], ...metadata });
    assert.equal(metrics["channel.outage_rate"], 0.5);
    assert.deepEqual(outputs.report.json().items, [
      { id: "a", delivered: true },
      { id: "b", delivered: false },
      { id: "c", delivered: true },
      { id: "d", delivered: false },
    ]);
    assert.equal(outputs.report.json().delivered_image_count, 2);
  }
  assert.equal((await status({ failed_item_indices: [] })).metrics["channel.outage_rate"], 0);
});

Deno.test("records that are missing or do not fit are refused", async () => {
  await refuses("boundary_value_invalid", () => status({}));
  await refuses("boundary_count_mismatch", () => status({ failed_item_indices: [4] }));
  await refuses("boundary_count_mismatch", () => status({ delivered: [true] }));
});
