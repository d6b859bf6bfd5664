import assert from "node:assert/strict";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { type ConfigContext, readCaptureConfig, splitCounts } from "../../../lib/capture/config.ts";
import { compiled } from "../../../lib/capture/derive.ts";
import { link, registry, TAPS } from "./_link.ts";

const context = (metadata: JsonObject = {}): ConfigContext => ({
  recipe: compiled(link(metadata), { registry }).normalized,
  registry,
});
const messages = (config: JsonObject, metadata?: JsonObject) =>
  readCaptureConfig(config, context(metadata)).diagnostics.map(({ path, message }) => `${path}: ${message}`);

Deno.test("what is left out is filled in", () => {
  const { config } = readCaptureConfig({ samples: 9000, taps: TAPS }, context());
  assert.deepEqual(config, {
    split: "train",
    samples: 9000,
    shard_size: 4096,
    max_runs: 9000,
    seed_mode: "increment_run_seed",
    matrix_mode: "inherit",
    sweep: {},
    taps: TAPS,
  });
  const split_plan = { total_samples: 10, percentages: { train: 80, validation: 10, test: 10 } };
  assert.equal(readCaptureConfig({ split_plan, split: "test", taps: TAPS }, context()).config?.samples, 1);
});

Deno.test("everything that is wrong is said at once, and nothing unknown is taken", () => {
  assert.deepEqual(messages({ samples: 10, taps: TAPS, shards: 3 }), [
    "$.dataset_capture.shards: Cannot find a field named shards",
  ]);
  const found = messages({
    samples: 1_000_001,
    shard_size: 0,
    max_runs: 100_001,
    sweep: { "receiver.moode": [1], "absent.x": [1] },
    taps: [
      { id: "metadata_json", from: "data.bits" },
      { id: "a b", from: "data.bit" },
      { id: "x", from: "dat.bits" },
      { id: "x", from: "ber.report" },
      { id: "y", from: "data" },
    ],
  });
  for (
    const wanted of [
      "samples: Cannot use 1000001",
      "shard_size: Cannot use 0",
      "max_runs: Cannot use 100001",
      "Cannot use the reserved id metadata_json",
      'Cannot use "a b" as a tap\'s id',
      "Cannot find the output bit of data",
      "Cannot find a step named dat",
      "Cannot name two taps x",
      "Cannot capture ber.report",
      'Cannot read "data" as an output',
      "Cannot find the parameter moode of receiver",
      "Cannot find a step named absent",
    ]
  ) assert.ok(found.some((message) => message.includes(wanted)), `${wanted}\n${found.join("\n")}`);
  assert.deepEqual(messages({ taps: TAPS }), ["$.dataset_capture.samples: Missing number of records to capture"]);
  assert.ok(messages({ samples: 5.5, taps: TAPS })[0].includes("samples"));
});

Deno.test("a sweep beside a matrix is refused, unless the matrix is excluded", () => {
  const metadata = {
    matrix: { dimensions: { snr: [0, 6] }, step_params: { wireless_channel: { snr_db: { matrix: "snr" } } } },
  };
  const config = { samples: 4, sweep: { "data.bit_count": [32, 64] }, taps: TAPS };
  assert.match(messages(config, metadata)[0], /Cannot sweep a recipe that has metadata\.matrix/);
  assert.deepEqual(messages({ ...config, matrix_mode: "exclude" }, metadata), []);
});

Deno.test("shares always sum to the whole, and no split is empty", () => {
  for (let total = 3; total < 200; total++) {
    const counts = splitCounts({ total_samples: total, percentages: { train: 80, validation: 12.5, test: 7.5 } });
    assert.equal(counts.train + counts.validation + counts.test, total);
  }
  assert.deepEqual(splitCounts({ total_samples: 10, percentages: { train: 34, validation: 33, test: 33 } }), {
    train: 4,
    validation: 3,
    test: 3,
  });
  const plan = (percentages: JsonObject, total_samples = 100) =>
    messages({ split_plan: { total_samples, percentages }, taps: TAPS });
  assert.match(plan({ train: 80, validation: 10, test: 11 })[0], /Cannot split by these percentages/);
  assert.match(plan({ train: 90, validation: 10, test: 0 })[0], /Cannot split by these percentages/);
  assert.match(plan({ train: 98, validation: 1, test: 1 }, 5)[0], /Cannot leave validation without a record/);
});
