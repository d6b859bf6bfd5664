import assert from "node:assert/strict";
import perceptual from "../../../ops/metrics/perceptual_distance.ts";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import { tinyFeatures } from "../../support/tiny_models.ts";
import { refuses, runOperation } from "../harness.ts";

const WIDTH = 2;

/** An image of one row. @param rows the samples of each channel */
const picture = (...channels: number[][]) => ({
  kind: "image.batch.numpy",
  ...imagesArtifact({
    count: 1,
    height: 1,
    width: WIDTH,
    channels: channels.length,
    dtype: "uint8",
    data: Uint8Array.from(
      { length: WIDTH * channels.length },
      (_, i) => channels[i % channels.length][Math.floor(i / channels.length)],
    ),
  }),
});

const ONE = picture([255, 0], [51, 102], [0, 204]), OTHER = picture([204, 0], [51, 153], [51, 204]);
const LAYERS = { colours: { weights: [1, 2, 0.5] }, sums: { weights: [0.25, 1] } };

const score = async (layers: Record<string, unknown>, measure: string, candidate = ONE, original = OTHER) =>
  Number(
    (await runOperation(perceptual, {
      inputs: { reconstruction: candidate, reference: original },
      params: { model_id: "m", measure },
      models: { features: tinyFeatures(layers, measure) },
    })).metrics[`quality.${measure}`],
  );
const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-6, `${actual}, ${expected}`);

/** The features of both layers by hand, [channel][position]. */
const features = (channels: number[][]) => {
  const mean = [0.485, 0.456, 0.406], deviation = [0.229, 0.224, 0.225];
  const x = channels.map((row, c) => row.map((sample) => (sample / 255 - mean[c]) / deviation[c]));
  return [x, [x[0].map((v, i) => v + x[1][i]), x[1].map((v, i) => v + x[2][i])]];
};
const HAND = [features([[255, 0], [51, 102], [0, 204]]), features([[204, 0], [51, 153], [51, 204]])];

Deno.test("LPIPS is the weighted squared difference of features of length 1, summed over layers", async () => {
  const weights = [[1, 2, 0.5], [0.25, 1]];
  let expected = 0;
  for (const layer of [0, 1]) {
    for (const at of [0, 1]) {
      const [a, b] = HAND.map((image) => image[layer].map((row) => row[at]));
      const [na, nb] = [Math.hypot(...a), Math.hypot(...b)];
      expected += a.reduce((sum, v, c) => sum + weights[layer][c] * (v / na - b[c] / nb) ** 2, 0) / 2;
    }
  }
  assert.ok(expected > 0.01);
  near(await score(LAYERS, "lpips"), expected);
  assert.equal(await score(LAYERS, "lpips", ONE, ONE), 0);
});

Deno.test("DISTS compares means and covariances of samples and features", async () => {
  const mean = (row: number[]) => (row[0] + row[1]) / 2;
  const terms = (a: number[], b: number[]) => {
    const [ma, mb] = [mean(a), mean(b)];
    const product = (x: number[], mx: number, y: number[], my: number) => mean(x.map((v, i) => (v - mx) * (y[i] - my)));
    return [
      (2 * ma * mb + 1e-6) / (ma ** 2 + mb ** 2 + 1e-6),
      (2 * product(a, ma, b, mb) + 1e-6) / (product(a, ma, a, ma) + product(b, mb, b, mb) + 1e-6),
    ];
  };
  const red = terms([1, 0], [0.8, 0]), sums = terms(HAND[0][1][1], HAND[1][1][1]);
  const layers = {
    image: { alpha: [2, 0, 0], beta: [1, 0, 0] },
    sums: { alpha: [0, 0.5], beta: [0, 1.5] },
  };
  near(await score(layers, "dists"), 1 - (2 * red[0] + red[1] + 0.5 * sums[0] + 1.5 * sums[1]) / 5);
  near(await score(layers, "dists", ONE, ONE), 0);
});

Deno.test("a grey image enters the network as three equal channels", async () => {
  const grey = picture([10, 200]), colour = picture([10, 200], [10, 200], [10, 200]), dark = picture([0, 90]);
  const darkColour = picture([0, 90], [0, 90], [0, 90]);
  assert.equal(await score(LAYERS, "lpips", grey, dark), await score(LAYERS, "lpips", colour, darkColour));
});

Deno.test("weights that do not fit the network or the measure are refused", async () => {
  const run = (layers: Record<string, unknown>, measure: string, said = measure) => () =>
    runOperation(perceptual, {
      inputs: { reconstruction: ONE, reference: OTHER },
      params: { model_id: "m", measure },
      models: { features: tinyFeatures(layers, said) },
    });
  await refuses("model_unavailable", run({}, "lpips"));
  await refuses("model_unavailable", run(LAYERS, "dists", "lpips"));
  await refuses("model_unavailable", run({ colours: { weights: [1, 1] } }, "lpips"));
  await refuses("model_unavailable", run({ colours: { weights: [1, -1, 1] } }, "lpips"));
  await refuses("model_unavailable", run({ relu1_2: { weights: [1] } }, "lpips"));
  await refuses("model_unavailable", run({ sums: { alpha: [1, 1], beta: [1] } }, "dists"));
});
