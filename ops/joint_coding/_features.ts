/**
 * Shared by the operations that decide from received features: decoder_model.onnx takes features [item, 2n], the n real parts of the symbols of
 * an item, then their n imaginary parts, as model.deepjscc_external_encode sends symbols_ri; config.json has the names of the
 * classes (id2label). Ids of the items are the image ids of the sender.
 */
import { type InputArtifact, isObject, type NamedModel, parseJson, SvcError } from "../api.ts";
import { sourceItemCounts, symbolsOf } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { checkDevice, pretrainedParams } from "../foundation/_pretrained.ts";
import { feedsOf, outputOf, realValues } from "../foundation/_named_tensors.ts";
import { idsOfImages } from "../_image_ids.ts";

const DECODER = "decoder_model.onnx", CONFIG = "config.json";

/** Common parameters and declarations. @param bundled name of the bundled model @param role of the model */
export function featureReceiver(bundled: string, role: string) {
  const { model_id, device } = pretrainedParams(bundled);
  return {
    params: { model_id: model_id.describe(`${bundled}, or a folder of the project`), device },
    declarations: {
      timingMetric: "decoder.inference" as const,
      check: checkDevice,
      models: (params: { model_id: string }) => [{ role, id: params.model_id, files: [DECODER, CONFIG] }],
    },
  };
}

/**
 * Runs the network.
 * @param named name of its output, whose first axis is that of the items
 * @returns the output, the names of the classes, and the ids of the items
 * @throws SvcError `boundary_shape_invalid`, `boundary_non_finite`, `model_unavailable`
 */
export async function receivedAnswer(input: InputArtifact, model: NamedModel, named: string) {
  const names = await namesOf(model);
  const symbols = symbolsOf(input), counts = sourceItemCounts(input.metadata, symbols.length / 2) ?? [];
  const [uses = 0] = counts, count = counts.length;
  if (uses === 0 || counts.some((own) => own !== uses)) {
    throw new SvcError("boundary_shape_invalid", "Cannot read features from items of unequal numbers of symbols", {
      hint: "Every source item must have the symbols of one feature vector",
    });
  }
  const features = new Float32Array(symbols.length);
  for (let at = 0; at < symbols.length / 2; at++) {
    const from = at + uses * Math.floor(at / uses);
    features[from] = symbols[2 * at];
    features[from + uses] = symbols[2 * at + 1];
  }
  const session = await model.open(DECODER);
  const output = outputOf(
    await session.run(feedsOf(session, { features: () => ndarray("float32", features, [count, 2 * uses]) })),
    [named],
  );
  const { shape } = output, values = realValues(output);
  if (shape[0] !== count) throw unreadable(named, shape, names);
  if (!values.every(Number.isFinite)) {
    throw new SvcError("boundary_non_finite", `Cannot use ${named} that are not finite`);
  }
  const ids = idsOfImages(input.metadata, count) ?? counts.map((_, index) => `image_${index}`);
  return { shape, values, names, ids };
}

export function unreadable(named: string, shape: readonly number[], names: readonly string[]): SvcError {
  return new SvcError("model_unavailable", `Cannot read [${shape.join(", ")}] ${named} of ${names.length} classes`);
}

/** The names of the classes in their order. @throws SvcError `model_unavailable` */
async function namesOf(model: NamedModel): Promise<string[]> {
  const config = parseJson(new TextDecoder().decode(await model.read(CONFIG)));
  const names = isObject(config) && isObject(config.id2label) ? config.id2label : {};
  const found = Object.keys(names).map((_, id) => names[id]);
  if (found.length > 0 && found.every((name) => typeof name === "string")) return found;
  throw new SvcError("model_unavailable", `Cannot read the names of classes (id2label) in ${CONFIG} of the model`);
}
