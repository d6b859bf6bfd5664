/** Mistakes that run without an error: values, flow and names. Each case is a clean recipe with one change. */
import assert from "node:assert/strict";
import { Registry } from "../../../lib/contract/registry.ts";
import { lintRecipe } from "../../../lib/plan/lint.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { BUILTIN_OPERATIONS } from "../../../ops/index.ts";

const registry = new Registry();
registry.register(BUILTIN_OPERATIONS);

function lint(text: string) {
  const { value, locate } = readRecipeText(text, { file: "r.yaml" });
  return lintRecipe(compileRecipe(value, { mode: "strict", registry, locate }), { registry, locate }).issues;
}

const CODED = `name: coded
metadata: {seed: 1, rate_count_fixed_point: data.bits}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 1024}}
  - {id: enc, op: channel.nr_ldpc_encoder, params: {transport_block_size_bits: 512}, inputs: {bits: data.bits}}
  - {id: mod, op: modulation.digital_modulate, inputs: {bits: enc.coded_bits}}
  - {id: ch, op: wireless.channel, params: {snr_db: 4}, inputs: {symbols: mod.symbols}}
  - {id: dem, op: demodulation.digital_demodulate, inputs: {rx_symbols: ch.rx_symbols}}
  - {id: dec, op: channel.nr_ldpc_decoder, inputs: {llr: dem.llr}}
  - {id: bler, op: metrics.block_error_rate, params: {block_size: 512}, inputs: {reference: data.bits, candidate: dec.bits}}
`;
const PILOTS = `name: pilots
metadata: {seed: 1, rate_count_fixed_point: data.bits}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 4096}}
  - {id: mod, op: modulation.digital_modulate, inputs: {bits: data.bits}}
  - {id: pilots, op: modulation.ofdm_pilot_insert, params: {subcarriers: 72}, inputs: {symbols: mod.symbols}}
  - id: ch
    op: wireless.channel
    params: {channel: ofdm_tdl, receiver_processing: none, ofdm_fft_size: 72, subcarrier_spacing_khz: 30, delay_spread_ns: 100}
    inputs: {symbols: pilots.symbols}
  - id: est
    op: model.ofdm_channel_estimator
    params: {method: lmmse, subcarrier_spacing_khz: 30}
    inputs: {rx_symbols: ch.rx_symbols, pilot_context: pilots.pilot_context}
  - {id: eq, op: demodulation.ofdm_equalize, inputs: {rx_symbols: ch.rx_symbols, pilot_context: pilots.pilot_context, estimate: est.estimate}}
  - {id: dem, op: demodulation.digital_demodulate, inputs: {rx_symbols: eq.rx_symbols}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: dem.bits}}
`;
const SAMPLES = `name: samples
metadata: {seed: 1, rate_count_fixed_point: data.bits}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 4096}}
  - {id: mod, op: modulation.digital_modulate, inputs: {bits: data.bits}}
  - {id: tx, op: modulation.ofdm_waveform, params: {fft_size: 64, cp_length: 8, oversampling: 2}, inputs: {symbols: mod.symbols}}
  - {id: ch, op: wireless.multipath_waveform, params: {taps: [[0, 1, 0], [16, 0.5, 0]]}, inputs: {waveform: tx.waveform}}
  - {id: rx, op: demodulation.ofdm_receive, inputs: {waveform: ch.waveform, state: ch.state}}
  - {id: dem, op: demodulation.digital_demodulate, inputs: {rx_symbols: rx.rx_symbols}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: dem.bits}}
`;

Deno.test("the recipes of the cases have no finding", () => {
  for (const text of [CODED, PILOTS, SAMPLES]) assert.deepEqual(lint(text), []);
});

type Case = [code: string, what: string, text: string, from: string, to: string, path: string, hint: RegExp];

const CASES: Case[] = [
  ["value_implausible", "an SNR of 1000 dB", CODED, "snr_db: 4", "snr_db: 1000", "$.steps[3].params.snr_db", /in dB/],
  [
    "value_implausible",
    "a delay spread in seconds",
    PILOTS,
    "delay_spread_ns: 100",
    "delay_spread_ns: 3e-7",
    "$.steps[3].params.delay_spread_ns",
    /Write 300, if the value is in seconds/,
  ],
  [
    "value_implausible",
    "a carrier in Hz",
    CODED,
    "snr_db: 4",
    "snr_db: 4, carrier_frequency_ghz: 3.5e9",
    "$.steps[3].params.carrier_frequency_ghz",
    /Write 3.5, if the value is in Hz/,
  ],
  [
    "value_implausible",
    "one point of a matrix",
    CODED,
    "data.bits}\nsteps",
    "data.bits, matrix: {schema_version: 1, dimensions: {snr: [0, 5, 500]}, step_params: {ch: {snr_db: {matrix: snr}}}}}\nsteps",
    "$.metadata.matrix.dimensions.snr[2]",
    /in dB/,
  ],
  [
    "block_size_mismatch",
    "blocks that are not those of the code",
    CODED,
    "block_size: 512",
    "block_size: 1000",
    "$.steps[6].params.block_size",
    /Set block_size to 512/,
  ],
  [
    "block_size_mismatch",
    "the default block size",
    CODED,
    "params: {block_size: 512}, ",
    "",
    "$.steps[6].op",
    /Set block_size to 512/,
  ],
  [
    "modulation_order_mismatch",
    "an encoder for another modulation",
    CODED,
    "transport_block_size_bits: 512",
    "transport_block_size_bits: 512, num_bits_per_symbol: 4",
    "$.steps[1].params.num_bits_per_symbol",
    /Set num_bits_per_symbol to 2/,
  ],
  [
    "matched_before_estimator",
    "a channel that is removed before it is estimated",
    PILOTS,
    "receiver_processing: none, ",
    "receiver_processing: matched, ",
    "$.steps[3].params.receiver_processing",
    /Set receiver_processing of ch to none/,
  ],
  [
    "estimator_spacing_mismatch",
    "an estimator for another subcarrier spacing",
    PILOTS,
    "lmmse, subcarrier_spacing_khz: 30",
    "lmmse, subcarrier_spacing_khz: 15",
    "$.steps[4].params.subcarrier_spacing_khz",
    /Set subcarrier_spacing_khz of est to 30/,
  ],
  [
    "paths_beyond_cyclic_prefix",
    "a path later than the prefix",
    SAMPLES,
    "[16, 0.5, 0]",
    "[17, 0.5, 0]",
    "$.steps[3].params.taps",
    /Set cp_length of tx to 9 or more/,
  ],
  [
    "paths_beyond_cyclic_prefix",
    "a drawn channel longer than the prefix",
    SAMPLES,
    "taps: [[0, 1, 0], [16, 0.5, 0]]",
    "delay_spread_ns: 2000",
    "$.steps[3].op",
    /Set cp_length of tx/,
  ],
  [
    "step_without_effect",
    "a demodulator that no metric reads",
    CODED,
    "  - {id: dec,",
    "  - {id: hard, op: demodulation.digital_demodulate, inputs: {rx_symbols: ch.rx_symbols}}\n  - {id: dec,",
    "$.steps[5].op",
    /Wire an output to a metric/,
  ],
  [
    "metric_bypasses_channel",
    "bits of the sender as received bits",
    CODED,
    "candidate: dec.bits",
    "candidate: again.bits",
    "$.steps[7].inputs.candidate",
    /behind the channel/,
  ],
  ["metadata_key_unknown", "sead", CODED, "{seed: 1,", "{sead: 1,", "$.metadata.sead", /Did you mean seed\?/],
  [
    "metadata_key_unknown",
    "a swapped letter",
    CODED,
    "rate_count_fixed_point",
    "rate_count_fixed_piont",
    "$.metadata.rate_count_fixed_piont",
    /rate_count_fixed_point/,
  ],
];

for (const [code, what, text, from, to, path, hint] of CASES) {
  Deno.test(`${code}: ${what}`, () => {
    assert.ok(text.includes(from), from);
    let changed = text.replace(from, to);
    // A second boundary behind the source stands for a stream of the sender.
    if (to.includes("again")) {
      changed = changed.replace(
        "  - {id: bler,",
        "  - {id: again, op: channel.bit_boundary, inputs: {bits: data.bits}}\n  - {id: bler,",
      );
    }
    const found = lint(changed).filter((issue) => issue.code === code);
    assert.deepEqual(found.map(({ severity, path }) => [severity, path]), [["warning", path]]);
    assert.match(found[0].hint!, hint);
  });
}

Deno.test("own metadata, zero and scores of the sender beside those of the receiver are no mistakes", () => {
  assert.deepEqual(lint(CODED.replace("seed: 1,", "seed: 1, author: me, speed: 3, date: x,")), []);
  assert.deepEqual(lint(SAMPLES.replace("[[0, 1, 0], [16, 0.5, 0]]", "[[0, 1, 0]]")), []);
  const both = CODED.replace(
    "  - {id: bler,",
    "  - {id: again, op: channel.bit_boundary, inputs: {bits: data.bits}}\n" +
      "  - {id: sent, op: metrics.block_error_rate, params: {label: sent.bler, block_size: 512}, inputs: {reference: data.bits, candidate: again.bits}}\n  - {id: bler,",
  );
  assert.deepEqual(lint(both), []);
});

Deno.test("a number that is written in another way gets the number as hint", () => {
  const hintOf = (written: string) => lint(CODED.replace("snr_db: 4", `snr_db: ${written}`))[0].hint;
  assert.equal(hintOf("20_000"), "Write 20000.0, without separators");
  assert.equal(hintOf("1:30:00"), "Write one number in the unit of the parameter; the time 1:30:00 is 5400 seconds");
  assert.equal(hintOf('"10,5"'), "Write 10.5 with a point");
  assert.equal(hintOf('"1,000"'), "Write 1.0 with a point, or 1000.0 without separators");
  assert.equal(hintOf("12 dB"), "Write 12.0");
  const whole = (written: string) => lint(CODED.replace("bit_count: 1024", `bit_count: ${written}`))[0].hint;
  assert.equal(whole("20_000"), "Write 20000, without separators");
  assert.equal(whole("'1,000,000'"), "Write 1000000, without separators");
  assert.equal(whole("'10,5'"), "Use a whole number");
});

Deno.test("the hint for a wrong kind never compares a stream with itself", () => {
  const text = `name: kinds
metadata: {seed: 1, rate_count_fixed_point: data.bits}
steps:
  - {id: data, op: source.random_bits}
  - {id: mod, op: modulation.digital_modulate, inputs: {bits: data.bits}}
  - {id: ch, op: wireless.channel, inputs: {symbols: mod.symbols}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: ch.rx_symbols}}
`;
  const [issue] = lint(text).filter(({ code }) => code === "kind_mismatch");
  assert.equal(issue.hint, null);
});
