import assert from "node:assert/strict";
import type { Operation } from "../../../lib/contract/operation.ts";
import relay from "../../../ops/channel/relay.ts";
import countMatch from "../../../ops/channel/count_match.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { arrayInput, bitsInput, someBits, symbolsInput } from "../inputs.ts";
import { refuses, runOperation } from "../harness.ts";

const [
  bitBoundary,
  symbolBoundary,
  identityEncoder,
  identityDecoder,
  identityLink,
  identitySymbolLink,
  passthroughEncoder,
  passthroughDecoder,
  symbolPowerIdentity,
] = relay;

const [bitCountMatch, symbolCountMatch] = countMatch;

const METADATA = { source_item_counts: [3, 2], packet_total_bits: 136, text_ids: ["a", "b"] };

Deno.test("bits pass unchanged with companions and metadata; array keys are rewritten", async () => {
  const sent = someBits(5);
  const cases: [Operation, string, string, string][] = [
    [bitBoundary, "bits", "bits", "channel.bits"],
    [identityLink, "bits", "bits", "channel.bits"],
    [identityEncoder, "bits", "coded_bits", "channel.bits"],
    [identityDecoder, "coded_bits", "bits", "payload.bits"],
    [passthroughEncoder, "bits", "bits", "payload.bits"],
    [passthroughDecoder, "bits", "bits", "payload.bits"],
  ];
  for (const [operation, from, to, contract] of cases) {
    const input = bitsInput(sent, METADATA);
    const { outputs } = await runOperation(operation, {
      inputs: { [from]: { ...input, companions: { weight: ndarray("float32", Float32Array.of(1, 2)) } } },
    });
    const output = outputs[to];
    assert.deepEqual(output.array().data, sent, operation.id);
    assert.deepEqual(output.array("weight").data, Float32Array.of(1, 2));
    const { boundary_contract, bit_count, byte_count, storage, bits_per_element, dtype, shape } = output.metadata;
    assert.deepEqual([boundary_contract, bit_count, byte_count, storage, bits_per_element, dtype, shape], [
      contract,
      5,
      1,
      "unpacked_uint8",
      1,
      "uint8",
      [5],
    ]);
    for (const [key, value] of Object.entries(METADATA)) assert.deepEqual(output.metadata[key], value);
  }
});

Deno.test("symbols pass unchanged with per-symbol noise and gains", async () => {
  const companions = {
    noise_variance: ndarray("float32", Float32Array.of(0.1, 0.2)),
    channel_gain: ndarray("complex64", Float32Array.of(1, 2, 3, 4)),
  };
  for (const operation of [identitySymbolLink, symbolBoundary, symbolPowerIdentity]) {
    const { outputs } = await runOperation(operation, {
      inputs: { symbols: symbolsInput([1, -1, 0.5, 0.25], { modulation: "qpsk" }, { companions }) },
    });
    assert.deepEqual(outputs.symbols.array().data, Float32Array.of(1, -1, 0.5, 0.25));
    assert.deepEqual(outputs.symbols.array("noise_variance").data, companions.noise_variance.data);
    assert.deepEqual(outputs.symbols.array("channel_gain").data, companions.channel_gain.data);
    const { modulation, representation, symbol_count, channel_use_count } = outputs.symbols.metadata;
    assert.deepEqual([modulation, representation, symbol_count, channel_use_count], [
      "qpsk",
      "complex_baseband",
      2,
      2,
    ]);
  }
});

Deno.test("boundaries hold streams to their contract and to a declared count", async () => {
  const bits = (data: Uint8Array, shape = [data.length]) => arrayInput("channel.bits.numpy", "uint8", data, shape);
  const count = (expected_bit_count: number) => ({ params: { expected_bit_count } });
  await runOperation(bitBoundary, { inputs: { bits: bitsInput(someBits(9)) }, ...count(9) });
  await refuses(
    "boundary_count_mismatch",
    () => runOperation(bitBoundary, { inputs: { bits: bitsInput(someBits(9)) }, ...count(8) }),
  );
  await refuses(
    "boundary_value_invalid",
    () => runOperation(bitBoundary, { inputs: { bits: bits(Uint8Array.of(0, 2)) } }),
  );
  await refuses(
    "boundary_rank_invalid",
    () => runOperation(bitBoundary, { inputs: { bits: bits(new Uint8Array(4), [2, 2]) } }),
  );
  await refuses("boundary_dtype_invalid", () =>
    runOperation(bitBoundary, {
      inputs: { bits: arrayInput("channel.bits.numpy", "float32", new Float32Array(2), [2]) },
    }));
  await refuses(
    "boundary_count_mismatch",
    () => runOperation(symbolBoundary, { inputs: { symbols: symbolsInput(3) }, params: { expected_symbol_count: 4 } }),
  );
  await refuses(
    "boundary_non_finite",
    () => runOperation(symbolBoundary, { inputs: { symbols: symbolsInput([1, NaN]) } }),
  );
});

Deno.test("count comparisons report, and do not fail", async () => {
  const bits = await runOperation(bitCountMatch, {
    inputs: { candidate: bitsInput(someBits(7)), reference: bitsInput(someBits(9)) },
    params: { label: "rx" },
  });
  assert.deepEqual(bits.outputs.report.json(), {
    kind: "metrics.report",
    schema_version: 1,
    operation: "channel.bit_count_match",
    label: "rx",
    metrics: {},
    match: false,
    candidate_bit_count: 7,
    reference_bit_count: 9,
    length_mismatch: 2,
  });
  const symbols = await runOperation(symbolCountMatch, {
    inputs: { candidate: symbolsInput(4), reference: symbolsInput(4) },
  });
  const report = symbols.outputs.report.json();
  assert.deepEqual([report.match, report.candidate_symbol_count, report.length_mismatch], [true, 4, 0]);
});
