/**
 * Classes of source items from the symbols of their features: decoder_model.onnx takes features [item, 2n] and gives logits
 * [item, class]; config.json has the names of the classes (id2label). The features of an item of n symbols are its n real
 * parts, then its n imaginary parts, as model.deepjscc_external_encode sends symbols_ri of [item, 2n, 1, 1].
 *
 * Probabilities are the softmax of the logits; of equal ones the first class is the label. Ids are the image ids of the sender.
 *
 * Shapes: symbols complex64 [item·n] -> predictions.
 *
 * Source: Shao, Mao and Zhang, "Learning task-oriented communication for edge inference: an information bottleneck approach",
 * IEEE JSAC 40(1), 2022.
 */
import { defineOperation, float, isObject, type JsonObject, type NamedModel, parseJson, SvcError, z } from "../api.ts";
import { PREDICTIONS, RX_SYMBOLS, SYMBOLS } from "../../lib/contract/kinds.ts";
import { sourceItemCounts, symbolsOf } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { checkDevice, pretrainedParams } from "../foundation/_pretrained.ts";
import { feedsOf, outputOf, realValues } from "../foundation/_named_tensors.ts";
import { idsOfImages } from "../_image_ids.ts";

const DECODER = "decoder_model.onnx", CONFIG = "config.json";
const { model_id, device } = pretrainedParams("svc-tiny-scene-features-v1");

export default defineOperation({
  id: "model.feature_classify",
  name: "Classifier of received features",
  description: "Classifies source items from the received symbols of their features",
  inputs: { symbols: [RX_SYMBOLS, SYMBOLS] },
  outputs: { predictions: PREDICTIONS },
  params: z.strictObject({
    model_id: model_id.describe("svc-tiny-scene-features-v1, or a folder of the project"),
    device,
  }),
  timingMetric: "decoder.inference",
  check: checkDevice,
  models: (params) => [{ role: "classifier", id: params.model_id, files: [DECODER, CONFIG] }],
  async run({ inputs: { symbols: input }, model, progress }) {
    const classifier = model("classifier"), names = await namesOf(classifier);
    const symbols = symbolsOf(input), counts = sourceItemCounts(input.metadata, symbols.length / 2) ?? [];
    const [uses = 0] = counts, count = counts.length;
    if (uses === 0 || counts.some((own) => own !== uses)) {
      throw new SvcError("boundary_shape_invalid", "Cannot classify items of unequal numbers of symbols", {
        hint: "Every source item must have the symbols of one feature vector",
      });
    }
    const features = new Float32Array(symbols.length);
    for (let at = 0; at < symbols.length / 2; at++) {
      const from = at + uses * Math.floor(at / uses);
      features[from] = symbols[2 * at];
      features[from + uses] = symbols[2 * at + 1];
    }
    const session = await classifier.open(DECODER);
    const output = outputOf(
      await session.run(feedsOf(session, { features: () => ndarray("float32", features, [count, 2 * uses]) })),
      ["logits"],
    );
    const logits = realValues(output), [rows, classes] = output.shape;
    if (output.shape.length !== 2 || rows !== count || classes !== names.length) {
      const shape = output.shape.join(", ");
      throw new SvcError("model_unavailable", `Cannot read [${shape}] logits of ${names.length} classes`);
    }
    if (!logits.every(Number.isFinite)) {
      throw new SvcError("boundary_non_finite", "Cannot use logits that are not finite");
    }
    const ids = idsOfImages(input.metadata, count) ?? counts.map((_, index) => `image_${index}`);
    const items = ids.map((id, index): JsonObject => {
      const own = logits.subarray(index * classes, (index + 1) * classes), greatest = Math.max(...own);
      const weights = Array.from(own, (value) => Math.exp(value - greatest));
      const total = weights.reduce((sum, value) => sum + value, 0);
      progress(index + 1, count, { phase: "classifying", unit: "items" });
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

/** The names of the classes in their order. @throws SvcError `model_unavailable` */
async function namesOf(model: NamedModel): Promise<string[]> {
  const config = parseJson(new TextDecoder().decode(await model.read(CONFIG)));
  const names = isObject(config) && isObject(config.id2label) ? config.id2label : {};
  const found = Object.keys(names).map((_, id) => names[id]);
  if (found.length > 0 && found.every((name) => typeof name === "string")) return found;
  throw new SvcError("model_unavailable", `Cannot read the names of classes (id2label) in ${CONFIG} of the model`);
}
