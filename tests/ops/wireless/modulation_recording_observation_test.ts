import assert from "node:assert/strict";
import { float } from "../../../lib/contract/value.ts";
import observation from "../../../ops/wireless/modulation_recording_observation.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";

const COUNT = 20;
const waveform = arrayInput(
  "channel.rx_symbols.complex_numpy",
  "complex64",
  Float32Array.from({ length: 2 * COUNT }, (_, at) => at % 2 === 0 ? 1 + at / 2 : 0),
  [COUNT],
);
const label = (name: string, start?: number, count?: number) => ({
  id: `${name}_${start}`,
  label: name,
  ...(start === undefined ? {} : { sample_start: BigInt(start) }),
  ...(count === undefined ? {} : { sample_count: BigInt(count) }),
});
const run = (items: ReturnType<typeof label>[], params = {}) => {
  const labels = { kind: "task.labels.json", json: { kind: "task.labels", schema_version: 1, items } };
  return runOperation(observation, { inputs: { waveform, labels }, params: { samples_per_frame: 4, ...params } });
};

Deno.test("annotations become frames of their class, scaled to the power of symbols in noise", async () => {
  const items = [label("16-QAM", 1, 11), label("bpsk", 12, 4), label("qpsk", 17, 3)];
  const { outputs } = await run(items, { snr_db: float(10) });
  assert.deepEqual(outputs.labels.array().data, BigInt64Array.of(2n, 2n, 0n));
  const received = outputs.observation.array();
  assert.deepEqual(received.shape, [3, 4]);
  const data = received.data as Float32Array;
  for (const [frame, start] of [1, 5, 12].entries()) {
    const own = data.subarray(8 * frame, 8 * (frame + 1));
    const power = own.reduce((sum, value) => sum + value * value, 0) / 4;
    assert.ok(Math.abs(power - 1.1) < 1e-6, String(power));
    // The samples of the recording are 1, 2, 3 and on.
    for (const n of [1, 2, 3]) assert.ok(Math.abs(own[2 * n] / own[0] - (start + 1 + n) / (start + 1)) < 1e-6);
  }
  assert.deepEqual([...outputs.observation.array("noise_variance").data], [0.1, 0.1, 0.1]);
  assert.deepEqual([...outputs.observation.array("snr_db").data], [10, 10, 10]);
});

Deno.test("annotations that are no class of the recipe are refused, or left out", async () => {
  const items = [label("qam64", 0, 8), label("noise", 8, 4), label("QPSK", 12, 4)];
  await refuses("params_conflict", () => run(items));
  const { outputs } = await run(items, { other_labels: "leave_out", classes: ["qpsk", "qam64"] });
  assert.deepEqual(outputs.labels.array().data, BigInt64Array.of(1n, 1n, 0n));
  assert.deepEqual(outputs.labels.metadata.class_names, ["qpsk", "qam64"]);
  await refuses("boundary_value_invalid", () => run([label("qpsk")]));
  await refuses("boundary_count_mismatch", () => run([label("qpsk", 16, 5)]));
  await refuses("boundary_empty", () => run([label("qpsk", 0, 3)]));
});
