/** Conformance cases of scenes, detections and segmentations. */
export const VISION_FIXTURES = {
  "source.synthetic_scenes": [{ params: { example_count: 2, image_size: 64 } }],
};
