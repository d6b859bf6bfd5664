import assert from "node:assert/strict";
import digitalDemodulate from "../../../ops/demodulation/digital_demodulate.ts";
import identityDemodulate from "../../../ops/demodulation/identity_demodulate.ts";
import digitalModulate from "../../../ops/modulation/digital_modulate.ts";
import identityModulate from "../../../ops/modulation/identity_modulate.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { modulate } from "../../../lib/numeric/link/modulation.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { arrayInput, payloadInput, someBits, symbolsInput } from "../inputs.ts";
import { refuses, runOperation } from "../harness.ts";

type Given = Parameters<typeof runOperation>[1];
const demap = async (inputs: NonNullable<Given>["inputs"], params: JsonObject = {}) => {
  const result = await runOperation(digitalDemodulate, { inputs, params });
  const { bits, llr } = result.outputs;
  return {
    bits: [...bits.array().data as Uint8Array],
    llr: [...llr.array().data as Float32Array],
    metadata: llr.metadata,
    facts: result.metadata,
    result,
  };
};
const near = (actual: number[], expected: number[]) => {
  assert.equal(actual.length, expected.length);
  actual.forEach((value, i) =>
    assert.ok(Math.abs(value - expected[i]) <= 1e-5 * Math.max(1, Math.abs(expected[i])), `${actual} ${expected}`)
  );
};

Deno.test("LLRs follow the closed forms, positive for bit 0", async () => {
  const bpsk = await demap({ rx_symbols: symbolsInput([0.5, 9, -0.25, 0], { noise_variance: 0.5 }) }, {
    modulation: "bpsk",
  });
  near(bpsk.llr, [4, -2]);
  assert.deepEqual(bpsk.bits, [0, 1]);
  const qpsk = await demap({ rx_symbols: symbolsInput([0.5, -0.25], { noise_variance: 0.5 }) }, { modulation: "qpsk" });
  near(qpsk.llr, [2 * Math.SQRT2, -Math.SQRT2]);
  assert.equal(qpsk.metadata.llr_method, "exact");
  assert.equal(qpsk.metadata.llr_sign, "positive_bit0");
  assert.equal(qpsk.metadata.noise_variance_source, "metadata");
});

Deno.test("16QAM is max-log: distances to the nearest point of either bit value", async () => {
  const [re, im, n0] = [0.7, -0.2, 0.3];
  const { llr, metadata } = await demap(
    { rx_symbols: symbolsInput([re, im], { noise_variance: n0 }) },
    { modulation: "qam16" },
  );
  const points = Array.from({ length: 16 }, (_, label) => {
    const bits = [3, 2, 1, 0].map((shift) => label >> shift & 1);
    const [x, y] = modulate(Uint8Array.from(bits), "qam16");
    return { bits, distance: (re - x) ** 2 + (im - y) ** 2 };
  });
  const least = (bit: number, value: number) =>
    Math.min(...points.filter((point) => point.bits[bit] === value).map((point) => point.distance));
  near(llr, [0, 1, 2, 3].map((bit) => (least(bit, 1) - least(bit, 0)) / n0));
  assert.equal(metadata.llr_method, "max_log");
});

Deno.test("a zero LLR decides for bit 0", async () => {
  assert.deepEqual((await demap({ rx_symbols: symbolsInput([0, 0]) }, { modulation: "qpsk" })).bits, [0, 0]);
});

Deno.test("noise comes from the symbols, else metadata, else a wired state, else 1 with a warning", async () => {
  const companions = { noise_variance: ndarray("float32", Float32Array.of(0.5, 2)) };
  const perSymbol = await demap(
    { rx_symbols: symbolsInput([1, 0, 1, 0], { noise_variance: 0.1 }, { companions }) },
    { modulation: "bpsk" },
  );
  near(perSymbol.llr, [8, 2]);
  assert.equal(perSymbol.metadata.noise_variance_source, "per_symbol");
  const channel_state = {
    ...arrayInput("channel.ofdm_channel_state.numpy", "complex64", Float32Array.of(3, 4, 0, 1), [1, 1, 2]),
    metadata: { noise_variance: 0.5 },
  };
  const state = await demap({ rx_symbols: symbolsInput([1, 0, 1, 0]), channel_state }, { modulation: "bpsk" });
  near(state.llr, [200, 8]);
  assert.equal(state.metadata.noise_variance_source, "channel_state");
  const assumed = await demap({ rx_symbols: symbolsInput([1, 0]) }, { modulation: "bpsk" });
  near(assumed.llr, [4]);
  assert.equal(assumed.metadata.noise_variance_source, "assumed");
  const [warning] = assumed.facts.warnings as JsonObject[];
  assert.deepEqual([warning.code, warning.severity], ["noise_variance_assumed", "warning"]);
  const floored = await demap({ rx_symbols: symbolsInput([1, 0], { noise_variance: 0 }) }, { modulation: "bpsk" });
  near(floored.llr, [4e12]);
  await refuses(
    "boundary_count_mismatch",
    () => demap({ rx_symbols: symbolsInput([1, 0], {}, { companions }) }, { modulation: "bpsk" }),
  );
});

Deno.test("auto undoes what the modulator recorded, padding and items included", async () => {
  for (const modulation of ["bpsk", "qpsk", "qam16"]) {
    for (const items of [[4, 8, 1], [5, 8]]) {
      const sent = someBits(13);
      const bits = payloadInput(sent, { source_item_counts: items, packet_total_bits: 136 });
      const { symbols } = (await runOperation(digitalModulate, { inputs: { bits }, params: { modulation } })).outputs;
      const received = await demap({ rx_symbols: symbols });
      assert.deepEqual(received.bits, [...sent]);
      const { metadata } = received.result.outputs.bits;
      assert.deepEqual(metadata.source_item_counts, items);
      assert.equal(metadata.packet_total_bits, 136);
      assert.equal(metadata.modulation, modulation);
      assert.equal(metadata.modulation_padding_bits, undefined);
    }
  }
});

Deno.test("an allocation divides by sqrt(p), N0 by p, and no power is an erasure", async () => {
  const allocation = arrayInput(
    "channel.power_allocation.numpy",
    "float32",
    Float32Array.of(4, 0, 1, 9),
    [1, 4],
  );
  const rx_symbols = symbolsInput([2, 0, 5, 5, -1, 0], { noise_variance: 0.5 });
  const { llr, bits } = await demap({ rx_symbols, allocation }, { modulation: "bpsk" });
  // y/2 = 1 at N0/4 = 0.125: 4·1/0.125; the erased symbol says nothing.
  near(llr, [32, 0, -8]);
  assert.deepEqual(bits, [0, 0, 1]);
  const qam16 = await demap({ rx_symbols, allocation }, { modulation: "qam16" });
  assert.deepEqual(qam16.llr.slice(4, 8), [0, 0, 0, 0]);
  await refuses(
    "boundary_count_mismatch",
    () => demap({ rx_symbols: symbolsInput(5, { noise_variance: 1 }), allocation }, { modulation: "bpsk" }),
  );
});

Deno.test("with bit loading each element has its own modulation", async () => {
  const loading = [2, 0, 1, 6, 4];
  const sent = someBits(13, 4);
  const names = { 1: "bpsk", 2: "qpsk", 4: "qam16", 6: "qam64" } as const;
  let at = 0;
  const symbols = loading.flatMap((bits) => {
    if (bits === 0) return [0, 0];
    const [re, im] = modulate(sent.slice(at, at += bits), names[bits as 1]);
    return [2 * re, 2 * im];
  });
  const allocation = {
    ...arrayInput("channel.power_allocation.numpy", "float32", Float32Array.of(4, 0, 4, 4, 4), [1, 5]),
    companions: { bits_per_symbol: ndarray("uint8", Uint8Array.from(loading), [1, 5]) },
  };
  const rx_symbols = symbolsInput(symbols, { modulation: "qpsk", noise_variance: 0.1, modulation_padding_bits: 0 });
  assert.deepEqual((await demap({ rx_symbols, allocation })).bits, [...sent]);
});

Deno.test("an unknown modulation and too much padding are refused", async () => {
  await refuses("params_conflict", () => demap({ rx_symbols: symbolsInput(2) }));
  await refuses("params_conflict", () => demap({ rx_symbols: symbolsInput(2, { modulation: "identity" }) }));
  await refuses(
    "boundary_count_mismatch",
    () => demap({ rx_symbols: symbolsInput(2, { modulation_padding_bits: 5 }) }, { modulation: "qpsk" }),
  );
});

Deno.test("the bypass demapper thresholds at one half", async () => {
  const { outputs } = await runOperation(identityDemodulate, {
    inputs: { rx_symbols: symbolsInput([0.75, 3, 0.5, 0, -1, 0], { noise_variance: 0.25 }) },
  });
  assert.deepEqual([...outputs.bits.array().data as Uint8Array], [1, 0, 0]);
  assert.deepEqual([...outputs.llr.array().data as Float32Array], [-2, 0, 12]);
  const sent = someBits(20);
  const { symbols } = (await runOperation(identityModulate, {
    inputs: { bits: payloadInput(sent, { source_item_counts: [7, 13] }) },
  })).outputs;
  const back = (await runOperation(identityDemodulate, { inputs: { rx_symbols: symbols } })).outputs.bits;
  assert.deepEqual(back.array().data, sent);
  assert.deepEqual(back.metadata.source_item_counts, [7, 13]);
});
