/**
 * Objects of images from the symbols of their features (_features.ts): decoder_model.onnx gives output0 [item, 4 + classes, cells], the head
 * of a one-stage detector in pixels of the image at the sender: centre, width and height of a box, a probability for each class.
 *
 * Boxes are [x_min, y_min, x_max, y_max] within the image, most confident first; suppression as in foundation.yolo_detect.
 *
 * Shapes: symbols complex64 [item·n] -> detections.
 *
 * Sources: Shao, Mao and Zhang, "Learning task-oriented communication for edge inference: an information bottleneck approach",
 * IEEE JSAC 40(1), 2022; lib/numeric/image/yolo.ts.
 */
import { defineOperation, SvcError, z } from "../api.ts";
import { RX_SYMBOLS, SYMBOLS } from "../../lib/contract/kinds.ts";
import { DETECTIONS, detectionsArtifact } from "../../lib/artifact/vision.ts";
import { trustedShape } from "../../lib/artifact/image_payload.ts";
import { sizeAt } from "../../lib/artifact/values.ts";
import { letterbox, readHead } from "../../lib/numeric/image/yolo.ts";
import { yoloParameters } from "../foundation/_yolo.ts";
import { featureReceiver, receivedAnswer, unreadable } from "./_features.ts";

const { params: parameters, declarations } = featureReceiver("svc-tiny-scene-objects-v1", "detector");
const { confidence, iou } = yoloParameters;

export default defineOperation({
  id: "model.feature_detect",
  name: "Detector of received features",
  description: "Finds objects of images from the received symbols of their features",
  inputs: { symbols: [RX_SYMBOLS, SYMBOLS] },
  outputs: { detections: DETECTIONS },
  params: z.strictObject({ ...parameters, confidence, iou }),
  ...declarations,
  async run({ inputs, params, model, progress }) {
    const detector = model("detector"), images = trustedShape(inputs.symbols.metadata);
    if (images === undefined) {
      throw new SvcError("boundary_value_invalid", "Cannot find the size of the images in the metadata", {
        hint: "Wire symbols of model.deepjscc_external_encode",
      });
    }
    const { shape, values, names, ids } = await receivedAnswer(inputs.symbols, detector, "output0");
    const [, rows, cells] = shape, classes = names.length;
    if (shape.length !== 3 || rows !== 4 + classes) throw unreadable("output0", shape, names);
    const items = ids.map((id, index) => {
      const head = values.subarray(index * rows * cells, (index + 1) * rows * cells);
      const { width, height } = sizeAt(images, index), frame = letterbox(width, height, width, height);
      const found = readHead(head, { ...params, cells, classes }, frame);
      progress(index + 1, ids.length, { phase: "detecting", unit: "items" });
      return {
        id,
        detections: found.map(({ box, score, label }) => ({
          label: names[label],
          label_id: label,
          confidence: score,
          box,
        })),
      };
    });
    const metadata = { class_names: names, model: detector.record };
    return { outputs: { detections: detectionsArtifact(items, metadata) }, metadata: { model: detector.record } };
  },
});
