import assert from "node:assert/strict";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { type NdArray, ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import demodulate from "../../../ops/demodulation/digital_demodulate.ts";
import receiver from "../../../ops/demodulation/neural_receiver_adapter.ts";
import impair from "../../../ops/hardware/receiver_iq_imbalance.ts";
import { type GivenInput, refuses, runOperation } from "../harness.ts";
import { symbolsInput } from "../inputs.ts";

const RX = { kind: "channel.rx_symbols.complex_numpy" };
const QPSK = { modulation: "qpsk", bits_per_symbol: 2, modulation_padding_bits: 0 };
const PINNED = { mode: "learned_artifact", artifact_package_sha256: "a".repeat(64) };

/** QPSK symbols under noise of variance N0. */
function noisy(count: number, noiseVariance = 0.5, metadata: JsonObject = {}) {
  const generator = Generator.seeded(17n);
  const symbols = Float32Array.from(
    generator.integers(0, 2, 2 * count),
    (bit) => (1 - 2 * Number(bit)) * Math.SQRT1_2,
  );
  const received = generator.addComplexNormal(symbols, noiseVariance);
  return symbolsInput(received, { ...QPSK, noise_variance: noiseVariance, ...metadata }, RX);
}

const llrOf = (result: Awaited<ReturnType<typeof runOperation>>) => result.outputs.llr.array().data as Float32Array;

Deno.test("the reference is the exact demapper", async () => {
  const rx_symbols = noisy(500, 0.5, { modulation_padding_bits: 1 });
  const own = await runOperation(receiver, { inputs: { rx_symbols } });
  const exact = await runOperation(demodulate, { inputs: { rx_symbols } });
  assert.deepEqual(llrOf(own), llrOf(exact));
  assert.deepEqual(own.outputs.bits.array(), exact.outputs.bits.array());
  assert.equal(own.outputs.bits.array().shape[0], 999);
  assert.equal(own.outputs.llr.metadata.llr_method, "exact");
});

Deno.test("the calibration oracle undoes the front end, which the reference does not know", async () => {
  const rx_symbols = noisy(2000);
  const clean = await runOperation(receiver, { inputs: { rx_symbols } });
  const impaired = (await runOperation(impair, { inputs: { rx_symbols } })).outputs.rx_symbols;
  const oracle = await runOperation(receiver, {
    inputs: { rx_symbols: impaired },
    params: { mode: "oracle_frontend_calibrated" },
  });
  const blind = await runOperation(receiver, { inputs: { rx_symbols: impaired } });
  const distance = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, i) => Math.max(sum, Math.abs(x - b[i])), 0);
  assert.ok(distance(llrOf(oracle), llrOf(clean)) < 1e-4);
  assert.ok(distance(llrOf(blind), llrOf(clean)) > 1);
  await refuses(
    "input_metadata_missing",
    () => runOperation(receiver, { inputs: { rx_symbols }, params: { mode: "oracle_frontend_calibrated" } }),
  );
});

Deno.test("blind compensation is near the calibrated receiver, and knows neither front end nor noise", async () => {
  const rx_symbols = noisy(20_000, 0.2);
  const impaired = (await runOperation(impair, { inputs: { rx_symbols } })).outputs.rx_symbols;
  const received = (mode: string, input: GivenInput = impaired) =>
    runOperation(receiver, { inputs: { rx_symbols: input }, params: { mode } });
  const blind = await received("blind_iq_compensation"), oracle = await received("oracle_frontend_calibrated");
  const mean = (values: Float32Array) => values.reduce((sum, value) => sum + Math.abs(value), 0) / values.length;
  const change = llrOf(blind).map((value, i) => value - llrOf(oracle)[i]);
  assert.ok(mean(change) < 0.03 * mean(llrOf(oracle)), `${mean(change)} of ${mean(llrOf(oracle))}`);
  assert.equal(blind.outputs.llr.metadata.noise_variance_source, "estimated");
  const hidden = symbolsInput(impaired.array().data as Float32Array, QPSK, RX);
  assert.deepEqual(llrOf(await received("blind_iq_compensation", hidden)), llrOf(blind));
  assert.equal(llrOf(await received("blind_iq_compensation", noisy(0))).length, 0);
  await refuses(
    "operation_failed",
    () => received("blind_iq_compensation", symbolsInput(new Float32Array(8), QPSK, RX)),
  );
});

/** A checkpoint of the linear receiver, with members replaced or, where undefined, left out. */
function checkpoint(members: Record<string, NdArray | string | undefined> = {}) {
  const all = {
    metadata_json: '{"format":"svc_linear_receiver_npz_v1"}',
    weight: ndarray("float64", Float64Array.of(2 * Math.SQRT2, 0, 0, 2 * Math.SQRT2), [2, 2]),
    bias: ndarray("float64", new Float64Array(2)),
    ...members,
  };
  return writeNpz(
    Object.fromEntries(Object.entries(all).filter(([, member]) => member !== undefined)) as Record<string, NdArray>,
  );
}

const linear = (file: Uint8Array, rx_symbols = noisy(100)) =>
  runOperation(receiver, {
    inputs: { rx_symbols },
    params: { mode: "linear_npz", checkpoint_path: "l.npz" },
    files: { "l.npz": file },
  });

Deno.test("a linear checkpoint computes ([Re y, Im y]·weight + bias)/N0", async () => {
  const rx_symbols = noisy(100, 0.25);
  const exact = llrOf(await runOperation(receiver, { inputs: { rx_symbols } }));
  llrOf(await linear(checkpoint(), rx_symbols)).forEach((value, i) => {
    assert.ok(Math.abs(value - exact[i]) <= 1e-6 * Math.abs(exact[i]));
  });
  const file = checkpoint({
    weight: ndarray("float32", Float32Array.of(1, 2, 3, 4), [2, 2]),
    bias: ndarray("float32", Float32Array.of(10, 20)),
  });
  const one = symbolsInput(Float32Array.of(0.5, -1), { ...QPSK, noise_variance: 0.5 }, RX);
  assert.deepEqual([...llrOf(await linear(file, one))], [(0.5 - 3 + 10) / 0.5, (1 - 4 + 20) / 0.5]);
});

Deno.test("a checkpoint that is not wholly of its format is refused", async () => {
  const wrong = [
    checkpoint({ weight: undefined }),
    checkpoint({ more: ndarray("float32", new Float32Array(1)) }),
    checkpoint({ weight: ndarray("float64", new Float64Array(4)) }),
    checkpoint({ bias: ndarray("int64", new BigInt64Array(2)) }),
    checkpoint({ bias: ndarray("float64", Float64Array.of(0, NaN)) }),
    checkpoint({ metadata_json: '{"format":"another"}' }),
  ];
  for (const file of wrong) await refuses("artifact_schema_invalid", () => linear(file));
  const large = checkpoint({ bias: ndarray("float64", new Float64Array(10000)) });
  await refuses("artifact_limit_exceeded", () => linear(large));
  await refuses(
    "params_conflict",
    () => runOperation(receiver, { inputs: { rx_symbols: noisy(1) }, params: { mode: "linear_npz" } }),
  );
});

Deno.test("a trained receiver is fed symbols with their noise variance, in order, and its LLRs decide the bits", async () => {
  const count = 65536 + 10;
  const seen: [string[], number][] = [];
  const { outputs } = await runOperation(receiver, {
    inputs: { rx_symbols: noisy(count, 0.5, { modulation_padding_bits: 1 }) },
    params: PINNED,
    model(feeds) {
      seen.push([Object.keys(feeds), feeds.rx_symbols_ri.shape[0]]);
      assert.deepEqual(feeds.rx_symbols_ri.shape.slice(1), [2]);
      assert.ok((feeds.noise_variance.data as Float32Array).every((value) => value === 0.5));
      const llr = (feeds.rx_symbols_ri.data as Float32Array).map((value) => -3 * value);
      return { bit_llr: ndarray("float32", llr, feeds.rx_symbols_ri.shape) };
    },
  });
  assert.deepEqual(seen, [65536, 10].map((rows) => [["rx_symbols_ri", "noise_variance"], rows]));
  const given = noisy(count).array!.data as Float32Array;
  const llr = outputs.llr.array().data as Float32Array;
  assert.deepEqual(llr, given.map((value) => -3 * value).slice(0, -1));
  assert.deepEqual(outputs.bits.array().data, Uint8Array.from(llr, (value) => Number(value < 0)));
  assert.equal(outputs.llr.metadata.noise_variance_source, "metadata");
  assert.equal(outputs.llr.metadata.llr_method, "learned_artifact");
});

Deno.test("what a trained receiver may not give is refused", async () => {
  const run = (output: Record<string, NdArray>) =>
    runOperation(receiver, { inputs: { rx_symbols: noisy(2) }, params: PINNED, model: () => output });
  const llr = (values: number[], shape = [2, 2]) => ndarray("float32", Float32Array.from(values), shape);
  await run({ bit_llr: llr([1, 2, 3, 4]) });
  await refuses("artifact_output_invalid", () => run({ bit_llr: llr([1, 2, NaN, 4]) }));
  await refuses("artifact_output_invalid", () => run({ bit_llr: llr([1, Infinity, 3, 4]) }));
  await refuses("artifact_output_invalid", () => run({ bit_llr: llr([1, 2], [1, 2]) }));
  await refuses("artifact_output_invalid", () => run({ bit_llr: llr([1, 2, 3, 4], [4]) }));
  await refuses("artifact_output_invalid", () => run({ bit_llr: ndarray("float64", new Float64Array(4), [2, 2]) }));
  await refuses("artifact_output_invalid", () => run({ llr: llr([1, 2, 3, 4]) }));
  await refuses("artifact_output_invalid", () => run({ bit_llr: llr([1, 2, 3, 4]), hidden: llr([1], [1]) }));
});

Deno.test("a trained receiver is pinned, and other modulations are refused", async () => {
  const inputs = { rx_symbols: noisy(2) };
  await refuses("params_conflict", () => runOperation(receiver, { inputs, params: { mode: "learned_artifact" } }));
  const qam = symbolsInput(4, { modulation: "qam16", noise_variance: 1 }, RX);
  await refuses("params_conflict", () => runOperation(receiver, { inputs: { rx_symbols: qam } }));
  await runOperation(receiver, { inputs: { rx_symbols: qam }, params: { modulation: "qpsk" } });
});
