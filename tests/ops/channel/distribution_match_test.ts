/** Distribution matching and amplitude shaping: compositions, sequences, rates, points, ratios with priors, and refusals. */
import assert from "node:assert/strict";
import demodulator from "../../../ops/demodulation/digital_demodulate.ts";
import matching from "../../../ops/channel/distribution_match.ts";
import interleaving from "../../../ops/channel/interleaver.ts";
import modulator from "../../../ops/modulation/digital_modulate.ts";
import { float, isObject, type JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import {
  compositionEntropy,
  compositionOf,
  dematchDistribution,
  distributionMatcher,
  matchDistribution,
  maxwellBoltzmann,
} from "../../../lib/numeric/coding/distribution_matcher.ts";
import { amplitudesOf } from "../../../lib/numeric/link/modulation.ts";
import { refuses, runOperation } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";

const [matcher, dematcher] = matching;

/** All sequences of a composition, ascending. */
function sequencesOf(counts: readonly number[]): string[] {
  if (counts.every((count) => count === 0)) return [""];
  return counts.flatMap((count, a) =>
    count === 0 ? [] : sequencesOf(counts.with(a, count - 1)).map((rest) => `${a}${rest}`)
  );
}

Deno.test("the composition has the least divergence of all", () => {
  const length = 9, wanted = [0.55, 0.3, 0.1, 0.05];
  const divergence = (counts: readonly number[]) =>
    counts.reduce((sum, count, a) => sum + (count === 0 ? 0 : count * Math.log(count / length / wanted[a])), 0);
  let least = Infinity;
  for (let a = 0; a <= length; a++) {
    for (let b = 0; a + b <= length; b++) {
      for (let c = 0; a + b + c <= length; c++) least = Math.min(least, divergence([a, b, c, length - a - b - c]));
    }
  }
  const found = compositionOf(wanted, length);
  assert.equal(found.reduce((sum, count) => sum + count), length);
  assert.ok(Math.abs(divergence(found) - least) < 1e-12);
});

Deno.test("bits choose the sequence whose interval holds their point, and no other sequence has bits", () => {
  for (const counts of [[2, 1, 1], [3, 2], [1, 0, 4, 1], [8, 8]]) {
    const code = distributionMatcher(counts), all = sequencesOf(counts), chosen = new Set<string>();
    assert.equal(Number(code.sequences), all.length);
    assert.equal(code.bits, Math.floor(Math.log2(all.length)));
    for (let u = 0; u < 2 ** code.bits; u++) {
      const bits = Uint8Array.from({ length: code.bits }, (_, i) => u >> (code.bits - 1 - i) & 1);
      const labels = matchDistribution(bits, code);
      // Intervals of the length 1/M in ascending order: that of the point u / 2^k.
      assert.equal(labels.join(""), all[Math.floor(u * all.length / 2 ** code.bits)]);
      assert.deepEqual(dematchDistribution(labels, code), bits);
      chosen.add(labels.join(""));
    }
    for (const sequence of all.filter((one) => !chosen.has(one))) {
      assert.equal(dematchDistribution(Uint8Array.from(sequence, Number), code), undefined);
    }
  }
});

Deno.test("long blocks come back; rate and divergence are those of the multinomial coefficient", () => {
  assert.deepEqual(amplitudesOf(2), [3, 1, 5, 7]);
  for (const [length, factor] of [[64, 0.08], [648, 0.04], [3000, 0.02]]) {
    const wanted = maxwellBoltzmann(amplitudesOf(2), factor), code = distributionMatcher(compositionOf(wanted, length));
    let logarithm = 0;
    for (let i = 1; i <= length; i++) logarithm += Math.log2(i);
    for (const count of code.counts) for (let i = 1; i <= count; i++) logarithm -= Math.log2(i);
    assert.equal(code.bits, Math.floor(logarithm));
    assert.ok(code.counts.every((count, a) => Math.abs(count - length * wanted[a]) < 1), `${code.counts}`);
    // The divergence falls as log n / n (Schulte and Böcherer, section IV).
    const divergence = compositionEntropy(code) - code.bits / length;
    assert.ok(divergence > 0 && divergence < 2.5 * Math.log2(length) / length, `${divergence}`);
    const bits = someBits(code.bits);
    assert.deepEqual(dematchDistribution(matchDistribution(bits, code), code), bits);
  }
});

/** Amplitudes of shaped bits through symbols and back. */
async function shaped(params: JsonObject, count: number) {
  const bits = someBits(count), inputs = { bits: payloadInput(bits, { source_item_counts: [20, count - 20] }) };
  const matched = await runOperation(matcher, { inputs, params });
  return { bits, matched: matched.outputs.coded_bits, metrics: matched.metrics };
}
const llrOf = (values: Float32Array, metadata: JsonObject) => ({
  llr: { kind: "channel.llr.numpy", array: ndarray("float32", values), metadata },
});

Deno.test("bits come back with those of the signs; a block of another composition is reported, and the others arrive", async () => {
  for (const modulation of ["qam16", "qam64", "qam256"]) {
    const params = { modulation, amplitude_count: 60, boltzmann_factor: float(0.05), uniform_bits: 7 };
    const { bits, matched } = await shaped(params, 200);
    const coded = matched.array().data as Uint8Array, llr = Float32Array.from(coded, (bit) => 1 - 2 * bit);
    const back = (await runOperation(dematcher, { inputs: llrOf(llr, matched.metadata) })).outputs.bits;
    assert.deepEqual([...back.array().data as Uint8Array], [...bits], modulation);
    assert.deepEqual(back.metadata.failed_block_indices, []);
    llr[0] *= -1;
    const damaged = (await runOperation(dematcher, { inputs: llrOf(llr, matched.metadata) })).outputs.bits;
    const size = Number((matched.metadata.distribution_match as JsonObject).message_bits);
    assert.deepEqual(damaged.metadata.failed_block_indices, [0]);
    assert.deepEqual([...damaged.array().data as Uint8Array].slice(size), [...bits].slice(size));
  }
});

Deno.test("shaped symbols have unit power and the composition in both parts, and their signs are the last bits", async () => {
  const amplitudeCount = 60, { matched } = await shaped({ amplitude_count: amplitudeCount }, 101);
  const labels = matched.array().data as Uint8Array, signs = someBits(amplitudeCount);
  const blocks = labels.length / (2 * amplitudeCount), word = new Uint8Array(3 * amplitudeCount * blocks);
  for (let block = 0; block < blocks; block++) {
    word.set(labels.subarray(2 * amplitudeCount * block, 2 * amplitudeCount * (block + 1)), 3 * amplitudeCount * block);
    word.set(signs, (3 * block + 2) * amplitudeCount);
  }
  const input = {
    kind: matched.kind,
    array: ndarray("uint8", word),
    metadata: { ...matched.metadata, bit_count: word.length, source_item_counts: [word.length] },
  };
  const order = { kind: "shaped", block_bits: 3 * amplitudeCount, columns: 6 };
  const ordered = (await runOperation(interleaving[0], { inputs: { bits: input }, params: order })).outputs.coded_bits;
  const { symbols } =
    (await runOperation(modulator, { inputs: { bits: ordered }, params: { modulation: "shaped" } })).outputs;
  const parts = symbols.array().data as Float32Array;
  assert.ok(Math.abs(parts.reduce((sum, part) => sum + part * part, 0) / (parts.length / 2) - 1) < 1e-5);
  const record = matched.metadata.distribution_match;
  assert.ok(isObject(record));
  const shares = (record.amplitude_shares as number[]).map(Number), amplitudes = amplitudesOf(2);
  const scale = Math.sqrt(2 * amplitudes.reduce((sum, a, label) => sum + shares[label] * a * a, 0));
  parts.forEach((part, i) => {
    const within = i % amplitudeCount, block = Math.floor(i / amplitudeCount);
    const [high, low] = labels.subarray(2 * (block * amplitudeCount + within));
    assert.ok(Math.abs(part * scale - (1 - 2 * signs[within]) * amplitudes[2 * high + low]) < 1e-4, `${i}`);
  });

  // Ratios are those of Bayes' rule over all 64 points.
  const noise = 0.3, metadata = { ...symbols.metadata, noise_variance: float(noise) };
  const received = Float32Array.of(0.2, -0.9, 1.4, 0.05);
  const rx_symbols = { kind: "channel.symbols.complex_numpy", array: ndarray("complex64", received), metadata };
  const pairs = {
    ...metadata,
    bit_count: 12,
    symbol_count: 2,
    source_item_counts: [2],
    modulated_item_bit_counts: [12],
  };
  const found = (await runOperation(demodulator, {
    inputs: { rx_symbols: { ...rx_symbols, metadata: pairs } },
    params: { llr_method: "exact" },
  })).outputs.llr.array().data as Float32Array;
  for (let i = 0; i < 12; i++) {
    const sums = [0, 0], part = i % 2, bit = Math.floor(i % 6 / 2), y = received[2 * Math.floor(i / 6) + part];
    for (let label = 0; label < 8; label++) {
      const level = (label < 4 ? 1 : -1) * amplitudes[label % 4] / scale;
      sums[label >> (2 - bit) & 1] += shares[label % 4] * Math.exp(-((y - level) ** 2) / noise);
    }
    assert.ok(
      Math.abs(found[i] - Math.log(sums[0] / sums[1])) < 1e-3,
      `${i} ${found[i]} ${Math.log(sums[0] / sums[1])}`,
    );
  }
});

Deno.test("the report has rate, entropy and divergence; distributions without a block are named", async () => {
  const probabilities = [0.4415, 0.3209, 0.1654, 0.0722].map(float);
  const { matched, metrics } = await shaped({ amplitude_count: 10000, amplitude_probabilities: probabilities }, 40);
  // Labels are in the order 3, 1, 5, 7.
  assert.deepEqual(
    (matched.metadata.distribution_match as JsonObject).amplitude_shares,
    [0.3209, 0.4415, 0.1654, 0.0722].map(float),
  );
  assert.ok(Math.abs(Number(metrics["channel.shaping_entropy_bits"]) - 1.75) < 1e-3);
  const rate = Number(metrics["channel.shaping_rate_bits"]), loss = Number(metrics["channel.shaping_divergence_bits"]);
  assert.ok(
    loss > 0 && loss < 0.003 && Math.abs(rate + loss - Number(metrics["channel.shaping_entropy_bits"])) < 1e-12,
  );
  const bits = payloadInput(someBits(40));
  const wrong: JsonObject[] = [
    { amplitude_probabilities: probabilities.slice(1) },
    { modulation: "qam16", amplitude_probabilities: [float(0.5), float(0.4)] },
    { uniform_bits: 649 },
    { boltzmann_factor: float(1), amplitude_count: 2 },
  ];
  for (const params of wrong) {
    await refuses("params_conflict", () => runOperation(matcher, { inputs: { bits }, params }));
  }
  await refuses(
    "params_conflict",
    () => runOperation(modulator, { inputs: { bits }, params: { modulation: "shaped" } }),
  );
});
