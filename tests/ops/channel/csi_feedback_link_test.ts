import assert from "node:assert/strict";
import link from "../../../ops/channel/csi_feedback_link.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { arrayInput } from "../inputs.ts";
import { refuses, runOperation } from "../harness.ts";

const CODE = "channel.csi_feedback_code.numpy";

async function carry(latents: number[], params: JsonObject): Promise<number[]> {
  const code = arrayInput(CODE, "float32", Float32Array.from(latents), [1, latents.length], { feedback_dimension: 4 });
  const { received_code } = (await runOperation(link, { inputs: { feedback_code: code }, params })).outputs;
  assert.deepEqual(received_code.array().shape, [1, latents.length]);
  assert.equal(received_code.metadata.feedback_dimension, 4);
  return [...received_code.array().data as Float32Array];
}

Deno.test("an ideal link changes nothing, not even values beyond the clip", async () => {
  assert.deepEqual(await carry([0, -0.25, 7], { clip_value: 0.5 }), [0, -0.25, 7]);
});

Deno.test("one and two bits: the middles of equal steps", async () => {
  const one = { mode: "uniform_quantized", bits_per_latent: 1 };
  assert.deepEqual(await carry([-3, -1, -0.01, 0, 0.9, 1, 3], one), [-0.5, -0.5, -0.5, 0.5, 0.5, 0.5, 0.5]);
  const two = { mode: "uniform_quantized", bits_per_latent: 2, clip_value: 2 };
  assert.deepEqual(await carry([-9, -1, -0.5, 0, 1, 2, 9], two), [-1.5, -0.5, -0.5, 0.5, 1.5, 1.5, 1.5]);
});

Deno.test("the error is at most half a step, the mean square Δ²/12, and quantising twice changes nothing", async () => {
  const latents = Array.from({ length: 4001 }, (_, i) => Math.fround(-0.8 + 1.6 * i / 4000));
  const params = { mode: "uniform_quantized", bits_per_latent: 5, clip_value: 0.8 }, step = 1.6 / 32;
  const once = await carry(latents, params);
  let square = 0;
  once.forEach((value, i) => {
    const error = Math.abs(value - latents[i]);
    assert.ok(error <= step / 2 + 1e-7, `${latents[i]}: ${error}`);
    square += error ** 2 / once.length;
  });
  assert.ok(Math.abs(square / (step ** 2 / 12) - 1) < 0.01);
  assert.deepEqual(await carry(once, params), once);
});

Deno.test("codes of another form are refused", async () => {
  const run = (dtype: "float32" | "float64", data: Float32Array | Float64Array, shape: number[]) =>
    runOperation(link, { inputs: { feedback_code: arrayInput(CODE, dtype, data, shape) } });
  await refuses("boundary_dtype_invalid", () => run("float64", new Float64Array(2), [1, 2]));
  await refuses("boundary_rank_invalid", () => run("float32", new Float32Array(2), [2]));
  await refuses("boundary_non_finite", () => run("float32", Float32Array.of(NaN), [1, 1]));
});
