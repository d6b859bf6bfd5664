/**
 * Detects objects with a one-stage detector in ONNX in the layout of Ultralytics' exports of YOLOv8 and YOLO11.
 *
 * `model_id` is a model of the program (svc-tiny-detector-v1, for synthetic scenes), a fetched model, or an ONNX file
 * of the project; the plan contains its SHA-256. A segmentation model can be used without its masks. Names of classes
 * come from the file. Images are letterboxed into the model's input; boxes are in pixels of the image, [x_min, y_min,
 * x_max, y_max], most confident first. Decoding and its sources: lib/numeric/image/yolo.ts.
 */
import { defineOperation, z } from "../api.ts";
import { IMAGES } from "../../lib/contract/kinds.ts";
import { DETECTIONS, detectionsArtifact } from "../../lib/artifact/vision.ts";
import { checkDevice } from "./_pretrained.ts";
import { runYolo, yoloModel, yoloParameters } from "./_yolo.ts";

export default defineOperation({
  id: "foundation.yolo_detect",
  name: "YOLO object detection",
  description: "Finds objects in images with a detector in ONNX",
  inputs: { images: [IMAGES] },
  outputs: { detections: DETECTIONS },
  params: z.strictObject({
    model_id: z.string().min(1).default("yolo11n.pt").describe("svc-tiny-detector-v1, or an ONNX file of the project"),
    ...yoloParameters,
  }),
  check: checkDevice,
  models: yoloModel,
  async run({ inputs, params, model, progress }) {
    const network = model("network");
    const { answers, names } = await runYolo(inputs.images, network, params, { masks: false, progress });
    const items = answers.map(({ id, detections }) => ({
      id,
      detections: detections.map(({ box, score, label }) => ({
        label: names[label],
        label_id: label,
        confidence: score,
        box,
      })),
    }));
    return {
      outputs: { detections: detectionsArtifact(items, { class_names: [...names], model: network.record }) },
      metadata: { model: network.record },
    };
  },
});
