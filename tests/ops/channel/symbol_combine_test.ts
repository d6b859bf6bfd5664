/** Weights, variances and refusals of repeated transmissions. */
import assert from "node:assert/strict";
import combine from "../../../ops/channel/symbol_combine.ts";
import { RX_SYMBOLS } from "../../../lib/contract/kinds.ts";
import { metadataNumber, symbolsOf } from "../../../lib/artifact/values.ts";
import { float } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { refuses, runOperation } from "../harness.ts";
import { symbolsInput } from "../inputs.ts";

const sent = (values: number[], variance?: number, own?: number[]) =>
  symbolsInput(Float32Array.from(values), variance === undefined ? {} : { noise_variance: float(variance) }, {
    kind: RX_SYMBOLS,
    companions: own === undefined ? {} : { noise_variance: ndarray("float32", Float32Array.from(own)) },
  });
const combined = async (...inputs: ReturnType<typeof sent>[]) => {
  const ports = Object.fromEntries(inputs.map((input, k) => [k === 0 ? "rx_symbols" : `rx_symbols_${k + 1}`, input]));
  return (await runOperation(combine, { inputs: ports })).outputs.rx_symbols;
};
const near = (found: ArrayLike<number>, expected: number[]) =>
  expected.forEach((value, i) => assert.ok(Math.abs(found[i] - value) < 1e-6, `${found[i]} ${value}`));

Deno.test("transmissions of equal noise are averaged, and the noise variance halves", async () => {
  const found = await combined(sent([1, 2, 3, 4], 0.5), sent([3, 0, 5, 8], 0.5));
  near(symbolsOf(found), [2, 1, 4, 6]);
  assert.equal(metadataNumber(found.metadata, "noise_variance"), 0.25);
  assert.equal(found.metadata.combined_transmissions, 2);
  assert.deepEqual(found.arrayNames.length, 1);
});

Deno.test("a fade weighs each symbol by its own variance, beside a transmission of one variance", async () => {
  const found = await combined(sent([1, 0, 1, 0], 0.1, [1, 3]), sent([4, 4, 5, 4], 1));
  // Weights 1 and 1; 1/3 and 1.
  near(symbolsOf(found), [2.5, 2, 4, 3]);
  near(found.array("noise_variance").data as Float32Array, [0.5, 0.75]);
  // A third transmission of a useless fade changes nothing.
  const three = await combined(
    sent([1, 0, 1, 0], 0.1, [1, 3]),
    sent([4, 4, 5, 4], 1),
    sent([9, 9, 9, 9], 1, [1e12, 1e12]),
  );
  near(symbolsOf(three), [2.5, 2, 4, 3]);
});

Deno.test("other counts, a missing or zero variance, and symbols before equalisation are refused", async () => {
  await refuses("boundary_count_mismatch", () => combined(sent([1, 0], 1), sent([1, 0, 1, 0], 1)));
  await refuses("input_metadata_missing", () => combined(sent([1, 0], 1), sent([1, 0])));
  await refuses("boundary_value_invalid", () => combined(sent([1, 0], 1), sent([1, 0], 1, [0])));
  const gains = { channel_gain: ndarray("float32", new Float32Array(1)) };
  const raw = symbolsInput(Float32Array.of(1, 0), { noise_variance: float(1) }, {
    kind: RX_SYMBOLS,
    companions: gains,
  });
  await refuses("boundary_shape_invalid", () => combined(raw, sent([1, 0], 1)));
});
