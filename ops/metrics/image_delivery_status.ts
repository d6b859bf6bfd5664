/**
 * Delivered images of a batch, as recorded by the receiver in the metadata: `delivered`, one truth value per image,
 * else `failed_item_indices`. The outage rate is the share of lost images among all sent images.
 */
import { IMAGES } from "../../lib/contract/kinds.ts";
import { type JsonObject, SvcError, z } from "../api.ts";
import { rateCounts } from "../../lib/artifact/statistical_unit.ts";
import { imagesOf, metadataCounts } from "../../lib/artifact/values.ts";
import { idsOfImages } from "../_image_ids.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.image_delivery_status",
  name: "Image delivery status",
  description: "Reports the delivered images and the number of sent images",
  inputs: { images: [IMAGES] },
  params: z.strictObject({
    on_decode_failure: z.enum(["report_outage"]).default("report_outage").describe("a lost image counts as an outage"),
  }),
  inputMetadataRequirements: { images: { any_of: ["delivered", "failed_item_indices"] } },
  run({ inputs }) {
    const { count } = imagesOf(inputs.images), { metadata } = inputs.images;
    const delivered = deliveredImages(metadata, count);
    const ids = idsOfImages(metadata, count) ?? delivered.map((_, index) => `image_${index}`);
    const deliveredCount = delivered.filter((arrived) => arrived).length;
    const lost = rateCounts(delivered.map((arrived) => arrived ? 0 : 1), metadata, "source_item");
    return {
      metrics: { "channel.outage_rate": lost.events / count },
      rates: { "channel.outage_rate": lost },
      facts: { image_count: count, delivered_image_count: deliveredCount, denominator: "images sent" },
      items: ids.map((id, index) => ({ id, delivered: delivered[index] })),
    };
  },
});

function deliveredImages(metadata: JsonObject, count: number): boolean[] {
  const recorded = metadata.delivered;
  if (Array.isArray(recorded)) {
    if (recorded.length === count && recorded.every((item) => typeof item === "boolean")) return recorded as boolean[];
    throw new SvcError("boundary_count_mismatch", `Cannot read the metadata delivered as ${count} truth values`);
  }
  const failed = metadataCounts(metadata, "failed_item_indices");
  if (failed === undefined) {
    throw new SvcError("boundary_value_invalid", "Cannot find the delivered images in the metadata", {
      hint: "Wire images from a receiver, such as model.jpeg_decode",
    });
  }
  if (failed.some((index) => index >= count)) {
    throw new SvcError(
      "boundary_count_mismatch",
      `Cannot find the failed image ${failed.find((index) => index >= count)} among ${count}`,
    );
  }
  return Array.from({ length: count }, (_, index) => !failed.includes(index));
}
