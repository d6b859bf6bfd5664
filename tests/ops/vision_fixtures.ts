/** Conformance cases of scenes, detections and segmentations. */
import { float } from "../../lib/contract/value.ts";
import { detectionsArtifact, rastersArtifact } from "../../ops/_vision.ts";

const detections = () => ({
  kind: "vision.detections.json",
  ...detectionsArtifact([
    { id: "a", detections: [{ label: "circle", label_id: 0, confidence: 0.75, box: [2, 3, 20, 21] }] },
    { id: "b", detections: [] },
  ]),
});

const rasters = () => ({
  kind: "vision.segmentation_mask.numpy",
  ...rastersArtifact(
    { data: Uint8Array.from({ length: 24 }, (_, i) => i % 3), shape: [2, 3, 4], classNames: ["circle", "square"] },
    { image_ids: ["a", "b"] },
  ),
});

export const VISION_FIXTURES = {
  "source.synthetic_scenes": [{ params: { example_count: 2, image_size: 64 } }],
  "metrics.detection": [
    { inputs: () => ({ candidate: detections(), reference: detections() }) },
    { inputs: () => ({ candidate: detections(), reference: detections() }), params: { iou_threshold: float(0.75) } },
  ],
  "metrics.segmentation": [{ inputs: () => ({ candidate: rasters(), reference: rasters() }) }],
};
