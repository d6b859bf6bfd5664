/**
 * What the trained estimators keep to by their build: no order of what has none, no scale of what they divide out, the mirror
 * image of a mirrored scene, and a number for whatever is degenerate.
 */
import assert from "node:assert/strict";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { openOnnxSession } from "../../lib/onnx/session.ts";
import { ROOT_PATH } from "../support/paths.ts";
import "../support/networks.ts";
import { sharedSession } from "../support/session.ts";

const MODELS = new URL("../../recipes/models/", import.meta.url);

const { session } = sharedSession({ projectRoot: ROOT_PATH });

const tensor = (data: ArrayLike<number>, shape: number[]) => ndarray("float32", Float32Array.from(data), shape);
const normal = (count: number, seed: number) => Generator.seeded(seed).standardNormal(count) as Float64Array;

/** Runs a shipped model on inputs, one after another. */
async function answers(file: string, output: string, ...feeds: Record<string, NdArray>[]): Promise<number[][]> {
  const session = await openOnnxSession(await Deno.readFile(new URL(file, MODELS)));
  try {
    const found: number[][] = [];
    for (const feed of feeds) found.push([...(await session.run(feed))[output].data as Float32Array]);
    return found;
  } finally {
    await session.release();
  }
}

const near = (a: readonly number[], b: readonly number[], within: number) => {
  assert.equal(a.length, b.length);
  a.forEach((value, i) => assert.ok(Math.abs(value - b[i]) <= within, `${i}: ${value} and ${b[i]}`));
};
const isFinite = (values: readonly number[]) =>
  assert.ok(values.length > 0 && values.every(Number.isFinite), `${values}`);

Deno.test("the localiser does not mind the order of the anchors, and answers where they lie on a line or say nothing", async () => {
  const anchors = [[0, 0], [10, 0], [20, 0], [20, 10], [20, 20], [0, 20]], ranges = [7.1, 8.2, 17, 16.1, 19.5, 14.4];
  const given = (order: number[]) => ({
    anchors: tensor(order.flatMap((i) => anchors[i]), [1, order.length, 2]),
    ranges: tensor(order.map((i) => ranges[i]), [1, order.length]),
  });
  const line = { anchors: tensor([0, 0, 5, 0, 10, 0], [1, 3, 2]), ranges: tensor([6, 5, 6], [1, 3]) };
  const silent = { ...line, ranges: tensor([0, 0, 0], [1, 3]) };
  const one = { anchors: tensor([3, 3], [1, 1, 2]), ranges: tensor([2], [1, 1]) };
  const [straight, turned, ...degenerate] = await answers(
    "nlos-range-localizer-v1/localizer.onnx",
    "positions",
    given([0, 1, 2, 3, 4, 5]),
    given([4, 0, 5, 2, 1, 3]),
    line,
    silent,
    one,
  );
  near(straight, turned, 1e-3);
  degenerate.forEach(isFinite);
});

Deno.test("the direction estimator sees no scale, mirrors a mirrored scene, and answers silence and one snapshot", async () => {
  const snapshots = normal(8 * 6 * 2, 5), conjugate = snapshots.map((value, i) => i % 2 === 0 ? value : -value);
  const given = (data: ArrayLike<number>, count = 6) => ({ snapshots_ri: tensor(data, [1, 8, count, 2]) });
  const [own, loud, mirrored, silent, single] = await answers(
    "ula-aoa-estimator-v1/estimator.onnx",
    "angles_deg",
    given(snapshots),
    given(snapshots.map((value) => 37 * value)),
    given(conjugate),
    given(new Float64Array(8 * 6 * 2)),
    given(normal(16, 6), 1),
  );
  near(own, loud, 1e-2);
  near(own, mirrored.map((angle) => -angle), 1e-2);
  // Nothing was heard: every direction is as likely, and their mean is broadside.
  near(silent, [0], 1e-2);
  isFinite(single);
});

Deno.test("the classifier does not mind half turns of the carrier, and answers silence and a single symbol", async () => {
  const samples = normal(2 * 64, 7);
  const given = (data: ArrayLike<number>) => ({ iq_ri: tensor(data, [1, data.length / 2, 2]) });
  const [own, half, silent, single] = await answers(
    "modulation-classifier-v1/classifier.onnx",
    "class_logits",
    given(samples),
    given(samples.map((value) => -value)),
    given(new Float64Array(64)),
    given([0.7, 0.7]),
  );
  near(own, half, 1e-3);
  isFinite(silent);
  isFinite(single);
});

Deno.test("the channel estimator hears nothing in silence, whatever the noise, and is finite without any", async () => {
  const grid = [1, 2, 2, 64, 2],
    mask = Float32Array.from({ length: 128 }, (_, i) => i % 4 === Math.floor(i / 64) ? 1 : 0);
  const given = (pilots: ArrayLike<number>, noise: number) => ({
    ls_estimate_ri: tensor(new Float32Array(512), grid),
    noise_variance: tensor([noise], [1, 1]),
    pilot_ls_ri: tensor(pilots, grid),
    pilot_mask: tensor(mask, [1, 2, 64]),
  });
  const pilots = normal(512, 8);
  const [silent, clean, drowned] = await answers(
    "pilot-channel-estimator-v1/estimator.onnx",
    "h_hat_ri",
    given(new Float32Array(512), 0.1),
    given(pilots, 0),
    given(pilots, 1e6),
  );
  assert.ok(silent.every((value) => value === 0));
  isFinite(clean);
  // Noise of a million times the channel leaves the mean of the prior.
  near(drowned, new Array(512).fill(0), 1e-3);
});

Deno.test("a learned estimate is the same to the bit for any number of workers", async () => {
  const recipe = await Deno.readTextFile(new URL("../localization_nlos_learned.yaml", MODELS));
  const single = recipe.replace(/\n {2}matrix:\n(?: {4}.*\n)+/, "\n");
  const hashes: string[] = [];
  for (const parallelWorkers of [1, 3]) {
    const { status, directory } = await (await session()).recipes.run(single, { parallelWorkers });
    assert.equal(status, "completed");
    const sums = await Deno.readTextFile(`${directory}/SHA256SUMS`);
    hashes.push(sums.split("\n").filter((line) => line.includes("artifacts/")).sort().join("\n"));
  }
  assert.ok(hashes[0].includes("artifacts/localizer/estimate.npz"));
  assert.equal(hashes[0], hashes[1]);
});
