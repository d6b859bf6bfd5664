import assert from "node:assert/strict";
import { float, toNumber } from "../../../lib/contract/value.ts";
import { studentT } from "../../../lib/numeric/scores/inference.ts";
import { packRateDifferences, rateDifferences } from "../../../lib/study/report/rate_differences.ts";
import { reportTables } from "../../../lib/study/report/report_tables.ts";
import { resultOf, type RowMaker } from "./result_fixture.ts";

const RATES = [0.25, 0.5, 1, 2];
/** Each picture has a curve 6 dB a doubling of the rate; `gains` moves that of each picture up, in dB. */
const QUALITY = (rate: number, gain: number) => 30 + 6 * Math.log2(rate) + gain;
const METRICS = ["rate.payload_bpp", "quality.psnr_db"];

function maker(method: string, rate: number, gains: readonly number[]): RowMaker {
  return {
    id: `${method}_${rate}`,
    method,
    role: method === "jpeg" && rate === 1 ? "baseline" : "candidate",
    metrics: (replicate) => ({
      "rate.payload_bpp": float(rate),
      "quality.psnr_db": float(QUALITY(rate, gains[replicate])),
    }),
  };
}

const drawn = { default_plot: { plot: "rate-distortion", x: "rate.payload_bpp", y: "quality.psnr_db" } };

function resultWith(gains: Record<string, readonly number[]>, plot = drawn) {
  const makers = Object.entries(gains).flatMap(([method, own]) => RATES.map((rate) => maker(method, rate, own)));
  const result = resultOf(makers, METRICS, Object.values(gains)[0].length);
  return { ...result, benchmark: { ...result.benchmark, metadata: plot } };
}

const close = (value: number | null, expected: number) =>
  assert.ok(value !== null && Math.abs(value - expected) < 1e-9, `${value}, not ${expected}`);

Deno.test("differences of replicates have the interval of their mean, in rate by the logarithm", () => {
  const gains = [1, 2, 3.5], result = resultWith({ jpeg: [0, 0, 0], webp: gains });
  const { baseline, methods: [{ method, rate, quality }] } = rateDifferences(result);
  assert.deepEqual([baseline, method], ["jpeg", "webp"]);
  // A gain of 6 dB is half of the rate.
  const { mean, low, high } = studentT(gains.map((gain) => -gain / 6 * Math.LN2));
  assert.deepEqual([rate.single?.over, rate.single?.n], ["replicates", 3]);
  close(rate.difference, 2 ** -(6.5 / 3 / 6) - 1);
  close(rate.single!.mean, Math.expm1(mean));
  close(rate.single!.low, Math.expm1(low!));
  close(rate.single!.high, Math.expm1(high!));
  const expected = studentT(gains);
  close(quality.difference, 6.5 / 3);
  close(quality.single!.low, expected.low!);
  close(quality.single!.high, expected.high!);
  close(quality.range![0], 0.25);
  close(quality.range![1], 2);
});

Deno.test("images with a rate each count before replicates, and only those that all points have", () => {
  const result = resultWith({ jpeg: [0, 0], webp: [1, 1] });
  const gains = { lake: 1, tower: 3, moth: 8 };
  for (const row of result.recipes) {
    const rate = Number(row.id.split("_")[1]), better = row.method_id === "webp" ? 1 : 0;
    const names = Object.entries(gains).filter(([name]) => name !== "moth" || row.id !== "webp_2");
    const all = (of: (gain: number) => number) =>
      Object.fromEntries(names.map(([name, gain]) => [name, float(of(gain))]));
    row.item_metrics = {
      "rate.payload_bpp": all((gain) => rate * gain),
      "quality.psnr_db": all((gain) => QUALITY(rate, gain * better)),
    };
  }
  const [{ quality, rate }] = rateDifferences(result).methods, expected = studentT([1, 3]);
  assert.deepEqual([quality.single?.over, quality.single?.n, rate.single?.n], ["items", 2, 2]);
  close(quality.single!.mean, expected.mean);
  close(quality.single!.low, expected.low!);
  close(quality.difference, 1);
});

Deno.test("any method can be the baseline, and metrics may be named", () => {
  const result = resultWith({ jpeg: [0, 0], webp: [1, 2], avif: [3, 4] });
  const { baseline, methods } = rateDifferences(result, { baseline: "avif" });
  assert.deepEqual([baseline, methods.map(({ method }) => method)], ["avif", ["jpeg", "webp"]]);
  close(methods[1].quality.difference, -2);
  const only = rateDifferences(result, { where: { method: "jpeg" }, group: "recipe", baseline: "jpeg_1" });
  assert.deepEqual(only.methods.map(({ rate }) => rate.difference), [null, null, null]);
  assert.throws(() => rateDifferences(result, { baseline: "png" }), { code: "usage_invalid" });
  assert.throws(() => rateDifferences(result, { y: "quality.psnr" }), { code: "usage_invalid" });
});

Deno.test("replicates that repeat each other, and a single one, give no interval", () => {
  const repeated = resultWith({ jpeg: [0, 0], webp: [1, 1] });
  for (const row of repeated.recipes) row.replicates_independent = false;
  for (const result of [repeated, resultWith({ jpeg: [0], webp: [1] })]) {
    const [{ rate, quality }] = rateDifferences(result).methods;
    assert.deepEqual([rate.single, quality.single], [null, null]);
    close(quality.difference, 1);
  }
});

Deno.test("the report has them where the pack draws rate over distortion with one baseline", () => {
  const result = resultWith({ jpeg: [0, 0], webp: [1, 2] });
  const table = reportTables(result, "unicode").find(({ id }) => id === "rate_differences")!;
  assert.equal(table.rows.length, 1);
  assert.equal(toNumber(float(packRateDifferences(result)!.methods[0].quality.difference!)).toFixed(9), "1.500000000");
  const other = { default_plot: { plot: "error-rate", x: "", y: "" } };
  assert.equal(packRateDifferences(resultWith({ jpeg: [0, 0], webp: [1, 2] }, other)), null);
  assert.equal(packRateDifferences(resultWith({ webp: [1, 2], avif: [1, 2] })), null);
});
