/** Power policies that a trained artifact decides. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { type NdArray, ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { projectOntoSimplex } from "../../../lib/numeric/link/water_filling.ts";
import causal from "../../../ops/resource/causal_csi_power_allocator.ts";
import plain from "../../../ops/resource/symbol_power_allocator.ts";
import { refuses, runOperation } from "../harness.ts";
import { symbolsInput } from "../inputs.ts";
import { reports } from "../_fixtures/power.ts";

const PINNED: JsonObject = {
  policy: "learned_artifact",
  granularity: "per_subcarrier",
  artifact_package_sha256: "a".repeat(64),
};

/** 3 grids of 2 reports on 4 subcarriers, each serving 2 OFDM symbols. */
const state = () => reports([3, 2, 4], { used: 2, noiseVariance: 0.25, budget: 0.5 });
const inputs = () => ({ symbols: symbolsInput(24), channel_state: state() });
const at = (params: JsonObject = {}) => ({ ...PINNED, target_power: 0.5, ...params });

/** Scores (i² mod 5)/2 - 1 of the i-th element. */
const scoresOf = (rows: number, from = 0) =>
  ndarray("float32", Float32Array.from({ length: rows * 4 }, (_, i) => ((i + from) ** 2 % 5) / 2 - 1), [rows, 4]);

Deno.test("a trained policy sees budget, noise and reports, and its scores are projected onto the budget", async () => {
  let seen: Record<string, NdArray> = {};
  const { outputs } = await runOperation(causal, {
    inputs: inputs(),
    params: at(),
    model(feeds) {
      seen = feeds;
      return { allocation_scores: scoresOf(3) };
    },
  });
  assert.deepEqual(Object.keys(seen).sort(), ["average_power_budget", "csi_history", "noise_variance"]);
  assert.deepEqual(seen.average_power_budget, ndarray("float32", new Float32Array(3).fill(0.5), [3, 1]));
  assert.deepEqual(seen.noise_variance, ndarray("float32", new Float32Array(3).fill(0.25), [3, 1]));
  assert.deepEqual(seen.csi_history.shape, [3, 2, 4, 2]);
  assert.deepEqual(seen.csi_history.data, state().array!.data);
  const power = outputs.allocation.array();
  assert.deepEqual(power.shape, [6, 4]);
  const scores = scoresOf(3).data as Float32Array;
  for (let used = 0; used < 6; used++) {
    const row = Math.floor(used / 2);
    const expected = projectOntoSimplex(scores.subarray(4 * row, 4 * row + 4), 2);
    assert.deepEqual(power.data.subarray(4 * used, 4 * used + 4), expected);
  }
  assert.equal(outputs.symbols.metadata.artifact_package_sha256, "a".repeat(64));
});

Deno.test("the plain allocator's policy sees gains of the last report", async () => {
  let seen: Record<string, NdArray> = {};
  await runOperation(plain, {
    inputs: inputs(),
    params: at(),
    model(feeds) {
      seen = feeds;
      return { allocation_scores: scoresOf(3) };
    },
  });
  assert.deepEqual(Object.keys(seen).sort(), ["average_power_budget", "channel_gain", "noise_variance"]);
  const h = state().array!.data as Float32Array;
  // Grid 1, last of its two reports, subcarrier 2.
  const place = 2 * ((1 * 2 + 1) * 4 + 2);
  assert.equal((seen.channel_gain.data as Float32Array)[4 + 2], Math.fround(h[place] ** 2 + h[place + 1] ** 2));
});

Deno.test("model_batch_size changes calls, never powers", async () => {
  const run = async (size: number) => {
    const calls: number[] = [];
    const { bytes } = await runOperation(causal, {
      inputs: inputs(),
      params: at({ model_batch_size: size }),
      model({ csi_history }) {
        const rows = csi_history.shape[0], from = 4 * calls.reduce((sum, count) => sum + count, 0);
        calls.push(rows);
        return { allocation_scores: scoresOf(rows, from) };
      },
    });
    return { calls, bytes };
  };
  const [one, two, all] = [await run(1), await run(2), await run(1024)];
  assert.deepEqual([one.calls, two.calls, all.calls], [[1, 1, 1], [2, 1], [3]]);
  assert.deepEqual(one.bytes, all.bytes);
  assert.deepEqual(two.bytes, all.bytes);
});

Deno.test("a trained policy is pinned, shares by subcarrier and gives one score each", async () => {
  const model = () => ({ allocation_scores: scoresOf(3) });
  const run = (params: JsonObject, answer: () => Record<string, NdArray> = model) =>
    runOperation(causal, { inputs: inputs(), params: at(params), model: answer });
  await refuses("learned_power_checkpoint_sha_missing", () => run({ artifact_package_sha256: "" }));
  await refuses("learned_power_granularity_invalid", () => run({ granularity: "global" }));
  await refuses("learned_power_budget_invalid", () => run({ budget_mode: "variable_average" }));
  await refuses("artifact_output_invalid", () => run({}, () => ({ allocation_scores: scoresOf(2) })));
  const three = ndarray("float32", new Float32Array(9), [3, 3]);
  await refuses("artifact_output_invalid", () => run({}, () => ({ allocation_scores: three })));
});
