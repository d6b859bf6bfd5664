/**
 * LPIPS or DISTS of reconstructed images over the features of a user's network. No published weights are part of svc; a
 * folder brings them:
 *
 *     model.onnx         one input, float32 [1, 3, height, width]; an output [1, channel, h, w] per layer, named as the layer
 *     perceptual.json    {"measure": "lpips", "layers": {"relu1_2": {"weights": [...]}, ...}}, or
 *                        {"measure": "dists", "layers": {"image": {"alpha": [...], "beta": [...]}, "relu1_2": ...}}
 *
 * One weight per channel. The published layers of both measures in VGG-16 are relu1_2, relu2_2, relu3_3, relu4_3 and
 * relu5_3. Samples x in 0 … 1 enter the network as (x - mean) / deviation of ImageNet: (0.485, 0.456, 0.406) and (0.229,
 * 0.224, 0.225), which are the shift and scale of LPIPS for samples in -1 … 1. The layer "image" of DISTS is x itself.
 * Images keep their size; grey is repeated, alpha is dropped.
 *
 * Formulas and sources: lib/numeric/scores/perceptual_distance.ts.
 */
import { IMAGES } from "../../lib/contract/kinds.ts";
import { float, isObject, type ModelSession, type NamedModel, parseJson, SvcError, z } from "../api.ts";
import { type ImageBatch, oneImage } from "../../lib/artifact/values.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { distsLayer, type DistsWeights, lpipsLayer } from "../../lib/numeric/scores/perceptual_distance.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { GRAPHS, openGraph, outputOf, realValues } from "../foundation/_named_tensors.ts";
import { checkDevice, pretrainedParams } from "../foundation/_pretrained.ts";
import { defineReport } from "../_report.ts";
import { comparedImages } from "./_compared_images.ts";

const WEIGHTS = "perceptual.json", IMAGE = "image";
const MEAN = [0.485, 0.456, 0.406], DEVIATION = [0.229, 0.224, 0.225];

const { device, model_revision } = pretrainedParams("");

export default defineReport({
  id: "metrics.perceptual_distance",
  name: "Perceptual distance",
  description: "Scores reconstructions by LPIPS or DISTS over the features of a user's network",
  inputs: { reconstruction: [IMAGES], reference: [IMAGES] },
  params: z.strictObject({
    measure: z.enum(["lpips", "dists"]).default("lpips")
      .describe("lpips: weighted squared differences of features; dists: similarity of their means and covariances"),
    model_id: z.string().min(1).describe(`local folder of a network with ${WEIGHTS}`),
    model_revision,
    device,
  }),
  check: checkDevice,
  models: ({ model_id, model_revision }) => [
    { role: "features", id: model_id, revision: model_revision, files: [WEIGHTS], optionalFiles: GRAPHS },
  ],
  async run({ inputs, params: { measure }, model, progress }) {
    const { reference, reconstruction, ids } = comparedImages(inputs.reconstruction, inputs.reference);
    const network = model("features"), layers = layersOf(await network.read(WEIGHTS), measure, network);
    const session = await openGraph(network);
    const scores: number[] = [];
    for (const index of ids.keys()) {
      progress(index, ids.length, { phase: "scoring", unit: "images" });
      const features = [];
      for (const batch of [reconstruction, reference]) features.push(await featuresOf(session, batch, index));
      scores.push(distance(measure, layers, features));
    }
    const id = `quality.${measure}`;
    const items = scores.map((score, index) => ({ id: ids[index], metrics: { [id]: float(score) } }));
    return { metrics: { [id]: mean(scores) }, items, metadata: { model: network.record } };
  },
});

type Measure = "lpips" | "dists";
/** The weights of the layers by name; LPIPS has alpha alone. */
type Layers = [string, DistsWeights][];

function layersOf(bytes: Uint8Array, measure: Measure, { record }: NamedModel): Layers {
  const unusable = (why: string) =>
    new SvcError("model_unavailable", `Cannot use ${WEIGHTS} of ${String(record.id)}: ${why}`, {
      hint: 'Write {"measure": "lpips", "layers": {"relu1_2": {"weights": [...]}}}, or alpha and beta for dists',
    });
  let value: unknown;
  try {
    value = parseJson(new TextDecoder().decode(bytes));
  } catch {
    throw unusable("it is no JSON document");
  }
  if (!isObject(value) || !isObject(value.layers)) throw unusable("it has no layers");
  if (value.measure !== measure) throw unusable(`its measure is not ${measure}`);
  const rows = Object.entries(value.layers);
  if (rows.length === 0) throw unusable("it has no layers");
  const keys = measure === "lpips" ? ["weights"] : ["alpha", "beta"];
  return rows.map(([name, layer]) => {
    const [alpha, beta = alpha] = keys.map((key) => {
      const weights = isObject(layer) ? layer[key] : undefined;
      const numbers = Array.isArray(weights) ? weights.map(Number) : [];
      if (numbers.length > 0 && numbers.every((weight) => Number.isFinite(weight) && weight >= 0)) return numbers;
      throw unusable(`${key} of ${name} are no list of numbers from 0 on`);
    });
    if (alpha.length !== beta.length) throw unusable(`alpha and beta of ${name} differ in length`);
    return [name, { alpha, beta }];
  });
}

/** The outputs of the network for an image, and the samples themselves as the layer "image". */
async function featuresOf(session: ModelSession, batch: ImageBatch, index: number) {
  const { width, height, channels, data } = oneImage(batch, index), pixels = width * height;
  const scale = batch.dtype === "uint8" ? 1 / 255 : 1;
  const samples = Float32Array.from({ length: 3 * pixels }, (_, i) => {
    const channel = channels < 3 ? 0 : Math.floor(i / pixels);
    return data[(i % pixels) * channels + channel] * scale;
  });
  const normalised = samples.map((sample, i) => {
    const channel = Math.floor(i / pixels);
    return (sample - MEAN[channel]) / DEVIATION[channel];
  });
  const shape = [1, 3, height, width], [input] = session.inputs;
  const outputs = await session.run({ [input.name]: ndarray("float32", normalised, shape) });
  return { ...outputs, [IMAGE]: ndarray("float32", samples, shape) } as Record<string, NdArray>;
}

function distance(measure: Measure, layers: Layers, [candidate, original]: Record<string, NdArray>[]): number {
  const sums = layers.map(([name, weights]) => {
    const x = outputOf(candidate, [name]), y = outputOf(original, [name]), channels = weights.alpha.length;
    if (x.shape.length !== 4 || x.shape[1] !== channels) {
      throw new SvcError("model_unavailable", `Cannot weigh ${name}: its shape is [${x.shape.join(", ")}]`, {
        hint: `${WEIGHTS} has ${channels} weights for it; features are [1, channel, height, width]`,
      });
    }
    const [a, b] = [realValues(x), realValues(y)];
    return measure === "lpips" ? lpipsLayer(a, b, weights.alpha) : distsLayer(a, b, weights);
  });
  const sum = sums.reduce((total, value) => total + value, 0);
  if (measure === "lpips") return sum;
  const total = layers.flatMap(([, { alpha, beta }]) => [...alpha, ...beta]).reduce((all, weight) => all + weight, 0);
  return 1 - sum / total;
}
