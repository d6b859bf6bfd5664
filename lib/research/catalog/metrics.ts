/** All known metrics, and deprecated ids. */
import { CHANNEL_METRICS } from "./metrics_channel.ts";
import { CONTENT_METRICS } from "./metrics_content.ts";
import { ESTIMATION_METRICS } from "./metrics_estimation.ts";
import { RESOURCE_METRICS } from "./metrics_resource.ts";
import { TASK_METRICS } from "./metrics_tasks.ts";
import type { DeprecatedMetric, MetricEntry } from "./types.ts";

export const METRICS: readonly MetricEntry[] = [
  ...TASK_METRICS,
  ...ESTIMATION_METRICS,
  ...RESOURCE_METRICS,
  ...CHANNEL_METRICS,
  ...CONTENT_METRICS,
];

const detection = (score: string): DeprecatedMetric => ({
  id: `detection.${score}_at_iou_0p5`,
  replacement: `detection.${score}_at_iou_0p5_conf_0`,
  reason: "It does not state the confidence threshold of a detection",
});
const recall = (k: string, replacement = `retrieval.hit_at_${k}`): DeprecatedMetric => ({
  id: `retrieval.recall_at_${k}`,
  replacement,
  reason: "It counts queries with a hit, which is not recall if several items are relevant",
});

export const DEPRECATED_METRICS: readonly DeprecatedMetric[] = [
  {
    id: "bpp",
    replacement: "rate.payload_bpp",
    reason: "It does not state the place of the link where bits are counted",
  },
  {
    id: "rate_bpp",
    replacement: "rate.payload_bpp",
    reason: "It does not state the place of the link where bits are counted",
  },
  detection("recall"),
  detection("precision"),
  detection("f1"),
  {
    id: "segmentation.miou",
    replacement: "segmentation.semantic_raster_pooled_miou",
    reason: "It does not state how intersections and unions are pooled",
  },
  recall("1"),
  recall("5"),
  recall("10"),
  recall("k", "retrieval.hit_at_1"),
];
