/** Trainable components: what follows from a declaration. */
import assert from "node:assert/strict";
import { metadataOf } from "../../../lib/artifact/values.ts";
import { artifactKind } from "../../../lib/contract/kinds.ts";
import { defineSlot } from "../../../lib/contract/slot.ts";
import { float } from "../../../lib/contract/value.ts";
import { z } from "../../../lib/contract/zod.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { artifactOf, refuses, runOperation } from "../../ops/harness.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const SERIES = artifactKind("test.series.numpy", { step_s: "positive", origin: "text" });
const FORECAST = artifactKind("test.forecast.numpy", { horizon_s: "number", method: "text" });

const forecaster = defineSlot({
  id: "test.forecaster",
  name: "Forecaster",
  inputs: { series: [SERIES] },
  optionalInputs: { future: { kinds: [SERIES], secret: true } },
  outputs: { forecast: FORECAST },
  params: { horizon_s: z.number().positive().default(1) },
  outputMetadataGuarantees: { forecast: { from: "series", keys: ["count"] } },
  gradient: "full",
  exports: { torch: "forecast_training" },
  mode: { default: "training" },
  read: ({ inputs }) => inputs.series.array().data as Float64Array,
  modes: {
    training: {},
    hold: { implementation: "hold_last", label: "last_value", run: (values) => values.at(-1)! },
    oracle: {
      implementation: "simulation_future",
      reveals: "future",
      run: (_, { inputs }) => Number(inputs.future!.array().data[0]),
    },
  },
  learned: {
    component: { id: "forecaster", role: "series_forecaster", entrypoint: "forecast" },
    inputs: { series: ["batch", "time"] },
    outputs: { next: ["batch"] },
    binding: { horizon_s: float(1) },
    rows: 4,
    async run(values, call) {
      const { next } = await call({ series: ndarray("float32", Float32Array.from(values), [1, values.length]) });
      return next.data[0];
    },
  },
  result: (value, values, { params, label }) => ({
    outputs: {
      forecast: {
        array: ndarray("float64", Float64Array.of(value)),
        metadata: { horizon_s: float(params.horizon_s), method: label, count: values.length },
      },
    },
  }),
});

const series = (values: number[], metadata = {}) =>
  artifactOf("series", SERIES.id, {
    array: ndarray("float64", Float64Array.from(values)),
    metadata: { step_s: 0.5, origin: "probe", ...metadata },
  });

async function forecast(params: Record<string, string>) {
  const { outputs: { forecast: { array, metadata } } } = await runOperation(forecaster, {
    inputs: { series: series([1, 2, 5]), future: series([9]) },
    params,
    model: ({ series }) => ({ next: ndarray("float32", Float32Array.of(Number(series.data[0]) + 0.5)) }),
  });
  return [array().data[0], metadata.method];
}

Deno.test("the contract of a component follows from its declaration", () => {
  const { contract } = forecaster;
  assert.deepEqual(contract.backends, {
    benchmark_run: ["numpy", "onnxruntime"],
    dataset_capture: ["numpy", "onnxruntime"],
    differentiable_export: ["torch"],
  });
  assert.deepEqual(
    contract.materializations.filter(({ runner }) => runner !== "dataset_capture").map((row) => [
      row.implementation,
      row.status,
      row.parameter_bindings,
    ]),
    [
      ["hold_last", "implemented", { mode: "hold" }],
      ["simulation_future", "implemented", { mode: "oracle" }],
      ["portable_trained_artifact_runtime", "implemented", { mode: "learned_artifact" }],
      ["forecast_training", "planned", { mode: "training" }],
    ],
  );
  assert.deepEqual(contract.trained_artifact_abi, DATA.CASES);
  assert.deepEqual(Object.keys(contract.params_schema.properties as object), [
    "mode",
    "horizon_s",
    "artifact_manifest_path",
    "artifact_package_sha256",
    "artifact_entrypoint",
  ]);
  // The kind's metadata come first, then those of the operation.
  assert.deepEqual(contract.output_metadata_guarantees, {
    forecast: { from: "series", keys: ["horizon_s", "method", "count"] },
  });
  assert.deepEqual(forecaster.definition.secretInputs, ["future"]);
});

Deno.test("each mode computes, and records its label", async () => {
  assert.deepEqual(await forecast({ mode: "hold" }), [5, "last_value"]);
  assert.deepEqual(await forecast({ mode: "oracle" }), [9, "oracle"]);
  const pinned = { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) };
  assert.deepEqual(await forecast(pinned), [1.5, "learned_artifact"]);
  await refuses("params_conflict", () => forecast({ ...pinned, artifact_package_sha256: "0".repeat(63) }));
  await assert.rejects(forecast({ ...pinned, artifact_package_sha256: "abc" }), /Cannot read "abc" as a SHA-256/);
  await refuses("operation_failed", () => forecast({ mode: "training" }));
});

Deno.test("metadata of a kind are read as its types", () => {
  assert.deepEqual(metadataOf(series([1], { step_s: float(2) }), SERIES), { step_s: 2, origin: "probe" });
  assert.deepEqual(metadataOf(series([1], { origin: 7 }), SERIES, ["step_s"]), { step_s: 0.5 });
  assert.throws(() => metadataOf(series([1], { step_s: null }), SERIES), { code: "input_metadata_missing" });
  for (const wrong of [{ step_s: 0 }, { step_s: "1" }, { origin: 7 }]) {
    assert.throws(() => metadataOf(series([1], wrong), SERIES), { code: "boundary_value_invalid" });
  }
});
