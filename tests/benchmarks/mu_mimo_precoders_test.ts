/** The pack physical_layer/mu_mimo_precoders_v1: the order of the precoders, and the rate of zero forcing. */
import assert from "node:assert/strict";
import { sharedSession } from "../support/session.ts";
import { ROOT_PATH } from "../support/paths.ts";

const { session } = sharedSession({ projectRoot: ROOT_PATH });

/** Mean and standard deviation of log2(1 + snr·g) for exponential g of mean 1. */
function ergodicRate(snr: number): { mean: number; deviation: number } {
  let mean = 0, square = 0;
  const step = 1e-3;
  for (let g = step / 2; g < 60; g += step) {
    const rate = Math.log2(1 + snr * g), density = Math.exp(-g) * step;
    mean += rate * density;
    square += rate * rate * density;
  }
  return { mean, deviation: Math.sqrt(square - mean * mean) };
}

Deno.test("zero forcing has its ergodic rate, weighted MMSE leads at low SNR, and all stay below the capacity", async () => {
  const { result } = await (await session()).benchmarks.run("physical_layer/mu_mimo_precoders_v1", { replicates: 1 });
  assert.equal(result.status, "completed");
  const curve = (mode: string, metric = "mu_mimo.sum_rate_bps_hz") =>
    result.recipes.filter(({ matrix_selection }) => matrix_selection.mode === mode)
      .map(({ id }) => Number(result.aggregates.find((row) => row.recipe_id === id && row.metric === metric)!.mean));
  const [mrt, zf, rzf, wmmse] = ["mrt", "zf", "rzf", "wmmse"].map((mode) => curve(mode));
  const capacity = curve("zf", "mu_mimo.joint_decoding_capacity_bps_hz");
  zf.forEach((rate, point) => {
    const snr = 10 ** ((-10 + 5 * point) / 10);
    // 1/[(HHᴴ)⁻¹]_kk is exponential. The bound is four standard deviations of the mean of 50 sums of four independent rates.
    const { mean, deviation } = ergodicRate(snr / 4), bound = 4 * 2 * deviation / Math.sqrt(50);
    assert.ok(Math.abs(rate - 4 * mean) < bound, `${rate} for ${4 * mean} ± ${bound} at point ${point}`);
    for (const one of [mrt, rzf, wmmse, zf]) assert.ok(one[point] < capacity[point]);
  });
  for (let point = 0; point < 4; point++) {
    assert.ok(wmmse[point] > rzf[point] && rzf[point] > zf[point] && rzf[point] > mrt[point], `point ${point}`);
  }
  // Interference limits maximum ratio.
  assert.ok(mrt[8] - mrt[6] < 0.5);
});
