/**
 * Classes of source items from the symbols of their features (_features.ts): decoder_model.onnx gives logits [item, class].
 *
 * Probabilities are the softmax of the logits; of equal ones the first class is the label.
 *
 * Shapes: symbols complex64 [item·n] -> predictions.
 *
 * Source: Shao, Mao and Zhang, "Learning task-oriented communication for edge inference: an information bottleneck approach",
 * IEEE JSAC 40(1), 2022.
 */
import { defineOperation, float, type JsonObject, z } from "../api.ts";
import { PREDICTIONS, RX_SYMBOLS, SYMBOLS } from "../../lib/contract/kinds.ts";
import { featureReceiver, receivedAnswer, unreadable } from "./_features.ts";

const { params: parameters, declarations } = featureReceiver("svc-tiny-scene-features-v1", "classifier");

export default defineOperation({
  id: "model.feature_classify",
  name: "Classifier of received features",
  description: "Classifies source items from the received symbols of their features",
  inputs: { symbols: [RX_SYMBOLS, SYMBOLS] },
  outputs: { predictions: PREDICTIONS },
  params: z.strictObject(parameters),
  ...declarations,
  async run({ inputs, model, progress }) {
    const classifier = model("classifier");
    const { shape, values, names, ids } = await receivedAnswer(inputs.symbols, classifier, "logits");
    const [, classes] = shape;
    if (shape.length !== 2 || classes !== names.length) throw unreadable("logits", shape, names);
    const items = ids.map((id, index): JsonObject => {
      const own = values.subarray(index * classes, (index + 1) * classes), greatest = Math.max(...own);
      const weights = Array.from(own, (value) => Math.exp(value - greatest));
      const total = weights.reduce((sum, value) => sum + value, 0);
      progress(index + 1, ids.length, { phase: "classifying", unit: "items" });
      return {
        id,
        label: names[own.indexOf(greatest)],
        probabilities: Object.fromEntries(names.map((name, k) => [name, float(weights[k] / total)])),
      };
    });
    const metadata = { model: classifier.record };
    return { outputs: { predictions: { json: { kind: "task.predictions", schema_version: 1, items }, metadata } } };
  },
});
