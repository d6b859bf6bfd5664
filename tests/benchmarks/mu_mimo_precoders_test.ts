/** The pack physical_layer/mu_mimo_precoders_v1: the order of the precoders, and the rate of zero forcing. */
import assert from "node:assert/strict";
import { runBenchmark } from "../support/session.ts";
import { ROOT_PATH } from "../support/paths.ts";

/** Mean and standard deviation of log2(1 + snr·g) for g gamma of a shape and scale 1. */
function ergodicRate(snr: number, shape: number): { mean: number; deviation: number } {
  let mean = 0, square = 0, factorial = 1;
  for (let k = 2; k < shape; k++) factorial *= k;
  const step = 1e-3;
  for (let g = step / 2; g < 60; g += step) {
    const rate = Math.log2(1 + snr * g), density = g ** (shape - 1) * Math.exp(-g) / factorial * step;
    mean += rate * density;
    square += rate * rate * density;
  }
  return { mean, deviation: Math.sqrt(square - mean * mean) };
}

Deno.test("zero forcing has its ergodic rate, weighted MMSE leads at low SNR, and all stay below the capacity", async () => {
  const stateDir = await Deno.makeTempDir();
  try {
    const { result } = await runBenchmark("physical_layer/mu_mimo_precoders_v1", {
      stateDir,
      projectRoot: ROOT_PATH,
      replicates: 1,
    });
    assert.equal(result.status, "completed");
    const curve = (mode: string, metric = "mu_mimo.sum_rate_bps_hz") =>
      result.recipes.filter(({ matrix_selection }) => matrix_selection.mode === mode)
        .map(({ id }) => Number(result.aggregates.find((row) => row.recipe_id === id && row.metric === metric)!.mean));
    const [mrt, zf, rzf, wmmse] = ["mrt", "zf", "rzf", "wmmse"].map((mode) => curve(mode));
    const capacity = curve("zf", "mu_mimo.joint_decoding_capacity_bps_hz");
    zf.forEach((rate, point) => {
      const snr = 10 ** ((-10 + 5 * point) / 10);
      // 1/[(HHᴴ)⁻¹]_kk is gamma of shape 8 - 4 + 1; four standard deviations of the mean of 50 sums of four rates.
      const { mean, deviation } = ergodicRate(snr / 4, 5), bound = 4 * 2 * deviation / Math.sqrt(50);
      assert.ok(Math.abs(rate - 4 * mean) < bound, `${rate} for ${4 * mean} ± ${bound} at point ${point}`);
      for (const one of [mrt, rzf, wmmse, zf]) assert.ok(one[point] < capacity[point]);
    });
    for (let point = 0; point < 4; point++) {
      assert.ok(wmmse[point] > rzf[point] && rzf[point] > zf[point] && rzf[point] > mrt[point], `point ${point}`);
    }
    // Interference limits maximum ratio; zero forcing gains four bits per 3 dB.
    assert.ok(mrt[8] - mrt[6] < 0.5);
    assert.ok(Math.abs(zf[8] - zf[7] - 4 * Math.log2(10 ** 0.5)) < 0.1);
  } finally {
    await Deno.remove(stateDir, { recursive: true });
  }
});
