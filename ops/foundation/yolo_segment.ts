/**
 * Segments images with a one-stage detector with masks in ONNX, in the layout of Ultralytics' exports of YOLOv8-seg and
 * YOLO11-seg.
 *
 * Shapes: segmentation uint8 [image, height, width] (uint16 beyond 255 classes), 0 the background, otherwise 1 + the
 * class; where masks overlap, the most confident one wins. Companion `instances` uint16 of the same shape: 0, or 1 +
 * the rank of the detection in its image, most confident first. Companion `detections` float32 [detection, 8]: image,
 * rank, class, confidence, box.
 *
 * A pixel belongs to a mask if its centre lies in the box and the mask's probability there exceeds `mask_threshold`.
 * Model, letterbox and decoding are those of foundation.yolo_detect.
 */
import { defineOperation, z } from "../api.ts";
import { IMAGES } from "../../lib/contract/kinds.ts";
import { travel } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { forMask } from "../../lib/numeric/image/yolo.ts";
import { emptyRaster, rastersArtifact, SEGMENTATION } from "../../lib/artifact/vision.ts";
import { checkDevice } from "./_pretrained.ts";
import { runYolo, yoloModel, yoloParameters } from "./_yolo.ts";

export default defineOperation({
  id: "foundation.yolo_segment",
  name: "YOLO instance segmentation",
  description: "Finds objects in images and the pixels they cover with a segmenter in ONNX",
  inputs: { images: [IMAGES] },
  outputs: { segmentation: SEGMENTATION },
  params: z.strictObject({
    model_id: z.string().min(1).default("yolo11n-seg.pt").describe(
      "svc-tiny-segmenter-v1, or an ONNX file of the project",
    ),
    mask_threshold: z.number().min(0).max(1).default(0.5).describe("probability that a pixel of a mask must exceed"),
    ...yoloParameters,
  }),
  outputMetadataGuarantees: { segmentation: { keys: ["class_names", "image_ids"] } },
  check: checkDevice,
  models: yoloModel,
  async run({ inputs, params, model, progress, cancellation }) {
    const network = model("network");
    const { answers, names } = await runYolo(inputs.images, network, params, { masks: true, progress });
    const [{ letter: { width, height } }] = answers;
    const pixels = width * height, shape = [answers.length, height, width];
    const classes = emptyRaster(answers.length * pixels, names.length);
    const instances = new Uint16Array(answers.length * pixels);
    const table: number[] = [];
    answers.forEach(({ letter, detections, head, cells, prototypes }, image) => {
      cancellation.throwIfCancelled();
      const [count, protoHeight, protoWidth] = prototypes!.shape;
      const grid = { data: prototypes!.data as Float32Array, count, height: protoHeight, width: protoWidth };
      // The least confident first, so that the others overwrite it.
      for (let rank = detections.length - 1; rank >= 0; rank--) {
        const { label, cell } = detections[rank];
        const coefficients = Float32Array.from(
          { length: count },
          (_, k) => head[(4 + names.length + k) * cells + cell],
        );
        forMask(detections[rank], coefficients, grid, params.mask_threshold, letter, (pixel) => {
          classes[image * pixels + pixel] = 1 + label;
          instances[image * pixels + pixel] = 1 + rank;
        });
      }
      detections.forEach(({ box, score, label }, rank) => table.push(image, rank, label, score, ...box));
    });
    const companions = {
      instances: ndarray("uint16", instances, shape),
      detections: ndarray("float32", Float32Array.from(table), [table.length / 8, 8]),
    };
    const metadata = {
      ...travel(inputs.images.metadata),
      image_ids: answers.map(({ id }) => id),
      model: network.record,
    };
    return {
      outputs: { segmentation: rastersArtifact({ data: classes, shape, classNames: names, companions }, metadata) },
      metadata: { model: network.record },
    };
  },
});
