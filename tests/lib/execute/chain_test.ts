import assert from "node:assert/strict";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { stagingPaths } from "../../../lib/execute/staging.ts";
import { WorkerPool } from "../../../lib/execute/pool.ts";
import { apart as apartOn, outcomeOf, withDefaults } from "./chains.ts";
import { execute as executeWith, type Executed, type StepSpec } from "./execution.ts";

/** The threads of all tests of this file: a thread loads every operation when it starts. */
const pool = new WorkerPool();
Deno.test.afterAll(() => pool.close());
const execute: typeof executeWith = (steps, options) => executeWith(steps, { pool, ...options });
/** Threads stay for the next test. */
const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, sanitizeOps: false, sanitizeResources: false, fn });

/** Longer than four blocks, and no whole number of symbols of any modulation. */
const BITS = 400_003;

/** A link of operations that work in blocks, with a step that does not among them. */
function link(modulation: string, items = 1, channel: JsonObject = {}): StepSpec[] {
  const steps: StepSpec[] = [
    ["data", "source.random_bits", {}, { bit_count: BITS, batch_size: items, seed: 5 }],
    ["modulator", "modulation.digital_modulate", { bits: "data.bits" }, { modulation }],
    ["relay", "test.relay", { bits: "data.bits" }],
    ["channel", "wireless.channel", { symbols: "modulator.symbols" }, { snr_db: 5, seed: 9, ...channel }],
    ["demodulator", "demodulation.digital_demodulate", { rx_symbols: "channel.rx_symbols" }],
    ["ber", "metrics.bit_error_rate", { reference: "data.bits", candidate: "demodulator.bits" }],
  ];
  return withDefaults(steps);
}

/** A link over grids whose last one is incomplete; the blocks of its steps differ in size. */
function gridLink(bits: number, subcarriers = 12): StepSpec[] {
  return withDefaults([
    ["data", "source.random_bits", {}, { bit_count: bits, seed: 5 }],
    ["modulator", "modulation.digital_modulate", { bits: "data.bits" }, { modulation: "qam16" }],
    ["channel", "wireless.mimo_ofdm_channel", { symbols: "modulator.symbols" }, {
      ...{ tdl_model: "C", tx_antennas: 2, rx_antennas: 3, ofdm_fft_size: subcarriers, snr_db: 15, seed: 9 },
    }],
    ["detector", "demodulation.mimo_detect", { rx_grid: "channel.rx_grid", channel: "channel.state" }, {}],
    ["ber", "metrics.bit_error_rate", { reference: "data.bits", candidate: "detector.bits" }],
  ]);
}

/** A link with pilots whose channel is estimated; arrays have companions, and pilots are known before the first block. */
function pilotLink(bits: number, receiver: string, method: string, interpolation = "linear"): StepSpec[] {
  const pilots = { pilot_context: "pilots.pilot_context" };
  return withDefaults([
    ["data", "source.random_bits", {}, { bit_count: bits, seed: 5 }],
    ["modulator", "modulation.digital_modulate", { bits: "data.bits" }, { modulation: "qpsk" }],
    ["pilots", "modulation.ofdm_pilot_insert", { symbols: "modulator.symbols" }, {
      ...{ subcarriers: 24, dmrs_symbols: [2, 11], cdm_groups_without_data: 1 },
    }],
    ["channel", "wireless.channel", { symbols: "pilots.symbols" }, {
      ...{ channel: "ofdm_tdl", ofdm_fft_size: 24, receiver_processing: receiver, snr_db: 9.5, seed: 9 },
    }],
    ["estimator", "model.ofdm_channel_estimator", { rx_symbols: "channel.rx_symbols", ...pilots }, {
      ...{ method, time_interpolation: interpolation },
    }],
    ["equaliser", "demodulation.ofdm_equalize", {
      ...{ rx_symbols: "channel.rx_symbols", estimate: "estimator.estimate" },
      ...pilots,
    }, {}],
    ["demodulator", "demodulation.digital_demodulate", { rx_symbols: "equaliser.rx_symbols" }, {}],
    ["ber", "metrics.bit_error_rate", { reference: "data.bits", candidate: "demodulator.bits" }],
  ]);
}

/** A link over a code of the NR; the decoder gives its outputs after the last block. */
function codedLink(code: "ldpc" | "polar", modulation: string, params: JsonObject, bits = 400_003): StepSpec[] {
  return withDefaults([
    ["data", "source.random_bits", {}, { bit_count: bits, seed: 5 }],
    ["encoder", `channel.nr_${code}_encoder`, { bits: "data.bits" }, params],
    ["modulator", "modulation.digital_modulate", { bits: "encoder.coded_bits" }, { modulation }],
    ["channel", "wireless.channel", { symbols: "modulator.symbols" }, { snr_db: 0.5, seed: 9 }],
    ["demodulator", "demodulation.digital_demodulate", { rx_symbols: "channel.rx_symbols" }, {}],
    ["decoder", `channel.nr_${code}_decoder`, { llr: "demodulator.llr" }, {}],
    ["ber", "metrics.bit_error_rate", { reference: "encoder.coded_bits", candidate: "demodulator.bits" }],
  ]);
}

/** A link over checkpoints and bypasses. @param blockSize bits of which one in error fails all */
function checkedLink(
  bits: number,
  mapper: "digital" | "identity",
  blockSize: number,
  channel: JsonObject = {},
): StepSpec[] {
  return withDefaults([
    ["data", "source.random_bits", {}, { bit_count: bits, seed: 5 }],
    ["coded", "channel.nr_polar_encoder", { bits: "data.bits" }, { payload_bits: 40, coded_bits: 217 }],
    ["in", "channel.payload_passthrough_encoder", { bits: "data.bits" }, {}],
    ["encoder", "channel.identity_encoder", { bits: "in.bits" }, {}],
    ["bits", "channel.bit_boundary", { bits: "encoder.coded_bits" }, { expected_bit_count: bits, role: "sent" }],
    ["modulator", `modulation.${mapper}_modulate`, { bits: "bits.bits" }, {}],
    ["power", "channel.symbol_power_identity", { symbols: "modulator.symbols" }, { power_unit: "mW" }],
    ["channel", "wireless.channel", { symbols: "power.symbols" }, { ...channel, snr_db: 9, seed: 9 }],
    ["symbols", "channel.symbol_boundary", { symbols: "channel.rx_symbols" }, {}],
    ["bypass", "channel.identity_symbol_link", { symbols: "symbols.symbols" }, {}],
    ["demodulator", `demodulation.${mapper}_demodulate`, { rx_symbols: "bypass.symbols" }, {}],
    ["link", "channel.identity_link", { bits: "demodulator.bits" }, {}],
    ["decoder", "channel.identity_decoder", { coded_bits: "link.bits" }, {}],
    ["out", "channel.payload_passthrough_decoder", { bits: "decoder.bits" }, {}],
    ["bit_count", "channel.bit_count_match", { reference: "data.bits", candidate: "out.bits" }, {}],
    ["unequal", "channel.bit_count_match", { reference: "coded.coded_bits", candidate: "out.bits" }, {}],
    ["symbol_count", "channel.symbol_count_match", { reference: "modulator.symbols", candidate: "bypass.symbols" }, {}],
    ["bler", "metrics.block_error_rate", { reference: "data.bits", candidate: "out.bits" }, { block_size: blockSize }],
    ["evm", "metrics.error_vector_magnitude", { reference: "modulator.symbols", candidate: "bypass.symbols" }, {}],
  ]);
}

/** A link over an interleaved and scrambled code, with the steps of its decoder. */
function scrambledLink(bits: number, code: string, params: JsonObject, ...decoder: StepSpec[]): StepSpec[] {
  return withDefaults([
    ["data", "source.random_bits", {}, { bit_count: bits, seed: 5 }],
    ["encoder", `channel.${code}_encoder`, { bits: "data.bits" }, params],
    ["scrambler", "channel.scrambler", { bits: "encoder.coded_bits" }, { kind: "nr_gold" }],
    ["interleaver", "channel.block_interleaver", { bits: "scrambler.coded_bits" }, {}],
    ["modulator", "modulation.digital_modulate", { bits: "interleaver.coded_bits" }, {}],
    ["channel", "wireless.channel", { symbols: "modulator.symbols" }, { snr_db: 3, seed: 9 }],
    ["demodulator", "demodulation.digital_demodulate", { rx_symbols: "channel.rx_symbols" }, {}],
    ["deinterleaver", "channel.block_deinterleaver", { llr: "demodulator.llr" }, {}],
    ["descrambler", "channel.descrambler", { llr: "deinterleaver.llr" }, {}],
    ...decoder,
  ]);
}

/** A link of CRC packets, of which some are lost. */
function packetLink(items: number): StepSpec[] {
  return withDefaults([
    ["data", "source.random_bits", {}, { bit_count: BITS, batch_size: items, seed: 5 }],
    ["packets", "channel.packetize_crc32", { bits: "data.bits" }, { packet_payload_bits: 1000 }],
    ["encoder", "channel.repetition_encoder", { bits: "packets.bits" }, { factor: 2 }],
    ["modulator", "modulation.digital_modulate", { bits: "encoder.coded_bits" }, {}],
    ["channel", "wireless.channel", { symbols: "modulator.symbols" }, { snr_db: 10, seed: 9 }],
    ["demodulator", "demodulation.digital_demodulate", { rx_symbols: "channel.rx_symbols" }, {}],
    ["decoder", "channel.repetition_decoder", { coded_bits: "demodulator.bits" }, {}],
    ["check", "channel.crc32_check", { bits: "decoder.bits" }, { on_decode_failure: "report_outage" }],
  ]);
}

/** A link over front ends whose symbols have companions; items have phases of their own. */
function frontEndLink(bits: number): StepSpec[] {
  return withDefaults([
    ["data", "source.random_bits", {}, { bit_count: bits, batch_size: 3, seed: 5 }],
    ["modulator", "modulation.digital_modulate", { bits: "data.bits" }, { modulation: "bpsk" }],
    ["dac", "hardware.quantizer", { signal: "modulator.symbols" }, { bits: 4 }],
    ["channel", "wireless.channel", { symbols: "dac.signal" }, { channel: "flat_rayleigh", snr_db: 9, seed: 9 }],
    ["mixer", "hardware.receiver_iq_imbalance", { rx_symbols: "channel.rx_symbols" }, {}],
    ["oscillator", "wireless.carrier_phase_impairment", { rx_symbols: "mixer.rx_symbols" }, { seed: 3 }],
    ["demodulator", "demodulation.digital_demodulate", { rx_symbols: "oscillator.rx_symbols" }, {}],
    ["ber", "metrics.bit_error_rate", { reference: "data.bits", candidate: "demodulator.bits" }],
  ]);
}

/** A link of several antennas whose grids the phase noise turns. */
function turnedGridLink(bits: number): StepSpec[] {
  const [data, modulator, channel, [detector, op, inputs], ber] = gridLink(bits);
  return withDefaults([
    ...[data, modulator, channel],
    ["oscillator", "hardware.phase_noise", { signal: "channel.rx_grid" }, { cp_length: 2, seed: 3 }],
    ...[[detector, op, { ...inputs, rx_grid: "oscillator.signal" }, {}] as StepSpec, ber],
  ]);
}

/** A link of waveforms through paths; @param modulator params of the OFDM modulator */
function waveformLink(bits: number, modulator: JsonObject, channel: JsonObject): StepSpec[] {
  return withDefaults([
    ["data", "source.random_bits", {}, { bit_count: bits, seed: 5 }],
    ["modulator", "modulation.digital_modulate", { bits: "data.bits" }, { modulation: "qpsk" }],
    ["ofdm", "modulation.ofdm_waveform", { symbols: "modulator.symbols" }, modulator],
    ["dac", "hardware.quantizer", { signal: "ofdm.waveform" }, { bits: 8 }],
    ["channel", "wireless.multipath_waveform", { waveform: "dac.signal" }, { snr_db: 20, seed: 9, ...channel }],
    ["oscillator", "hardware.phase_noise", { signal: "channel.waveform" }, { seed: 3 }],
    ["receiver", "demodulation.ofdm_receive", { waveform: "oscillator.signal", state: "channel.state" }, {
      ...{ receiver_cp_offset: 1, equalize: "zf" },
    }],
    ["demodulator", "demodulation.digital_demodulate", { rx_symbols: "receiver.rx_symbols" }, {}],
    ["ber", "metrics.bit_error_rate", { reference: "data.bits", candidate: "demodulator.bits" }],
  ]);
}

const CHAINED = ["data", "modulator", "channel", "demodulator", "ber"];
const one = (...ids: string[]) => Object.fromEntries(ids.map((id) => [id, 0]));

const apart = (steps: StepSpec[], chains: Record<string, number>) => apartOn(steps, chains, { pool });

const warnings = ({ events }: Executed) => events.filter(({ level }) => level !== "info").map(({ message }) => message);

for (const [modulation, items] of [["bpsk", 1], ["qpsk", 1], ["qam16", 3], ["qam64", 1], ["qam256", 2]] as const) {
  test(`a ${modulation} link of ${items} items in blocks has the rows and bytes of its steps one after another`, async () => {
    const whole = await apart(link(modulation, items), one(...CHAINED));
    const blocks = await execute(link(modulation, items), { chains: one(...CHAINED) });
    assert.deepEqual(outcomeOf(blocks), outcomeOf(whole));
    assert.deepEqual(warnings(blocks), []);
    assert.equal(blocks.status, "completed");
    // The relay, outside the chain, reads what the chain has written.
    assert.deepEqual(blocks.rows.map(({ id }) => id), [...CHAINED, "relay"]);
    for (const { metadata, metrics } of blocks.rows) {
      const { start_offset_s, step_wall_time_s } = metadata.timing as JsonObject;
      assert.ok(Number(step_wall_time_s) > 0 && Number(start_offset_s) >= 0);
      assert.deepEqual(step_wall_time_s, metrics["timing.step.wall_time_s"]);
    }
    const started = blocks.events.filter(({ kind }) => kind === "step_started").map(({ fields }) => fields.step_id);
    assert.deepEqual(started, [...CHAINED, "relay"]);
  });
}

const fadingLink = (...about: Parameters<typeof link>) => link(...about).filter(([id]) => id !== "relay");

const LINKS: readonly [name: string, steps: StepSpec[]][] = [
  ["over fading of symbols", fadingLink("qpsk", 1, { channel: "flat_rayleigh" })],
  ["over fading of items", fadingLink("bpsk", 3, { channel: "flat_rayleigh", fading_scope: "source_item" })],
  ["of waveforms", waveformLink(100_001, { active_subcarriers: 40, oversampling: 2 }, { timing_offset_samples: 2 })],
  [
    "of waveforms with pilots, over paths longer than an OFDM symbol",
    waveformLink(30_001, {
      ...{ fft_size: 16, cp_length: 4, transform_precoding: true, ptrs_groups: 2, ptrs_time_density: 2 },
    }, { taps: [[0, 1, 0], [3, 0, 0.5], [50, 0.01, 0]], carrier_frequency_offset_subcarriers: 0.01 }),
  ],
  [
    "of waveforms in motion",
    waveformLink(20_001, {}, { time_variation: "doppler", mobility_kmh: 120, timing_offset_samples: 1 }),
  ],
  ["of waveforms, shorter than a block", waveformLink(101, {}, { timing_offset_samples: 100 })],
  ["over front ends", frontEndLink(100_001)],
  ["of several antennas with phase noise", turnedGridLink(50_001)],
  [
    "over fading without its receiver",
    checkedLink(200_001, "identity", 1000, { channel: "flat_rayleigh", receiver_processing: "none" }),
  ],
  ["of several antennas", gridLink(400_003)],
  ["of several antennas, shorter than a block", gridLink(1001)],
  ["of several antennas, with grids longer than a block", gridLink(400_003, 2048)],
  ["of checkpoints and bypasses", checkedLink(400_003, "digital", 1000)],
  ["of bypasses only, of error blocks longer than a block", checkedLink(400_003, "identity", 150_001)],
  ["of checkpoints, shorter than a block", checkedLink(1001, "digital", 2000)],
  ["of checkpoints of symbols with variances", checkedLink(200_001, "digital", 1000, { channel: "ofdm_tdl" })],
  [
    "of bypasses of symbols with gains",
    checkedLink(200_001, "identity", 1000, { channel: "ofdm_tdl", receiver_processing: "none" }),
  ],
  ["over an LDPC code", codedLink("ldpc", "qpsk", { transport_block_size_bits: 1056, target_coderate: 1 / 3 })],
  [
    "over an LDPC code, of symbols of five bits",
    codedLink("ldpc", "apsk32", {
      transport_block_size_bits: 1001,
      target_coderate: 0.4,
      num_bits_per_symbol: 1,
      redundancy_version: 0,
    }),
  ],
  ["over a polar code, of odd length", codedLink("polar", "qpsk", { payload_bits: 40, coded_bits: 217 }, 100_001)],
  ["with pilots and least squares", pilotLink(400_003, "none", "least_squares")],
  ["with pilots and LMMSE, filtered over time", pilotLink(200_001, "none", "lmmse", "wiener")],
  ["with pilots and true gains, shorter than a block", pilotLink(1001, "none", "oracle")],
  [
    "over a repetition code",
    scrambledLink(
      BITS,
      "repetition",
      { factor: 3 },
      ["decoder", "channel.repetition_decoder", { coded_bits: "demodulator.bits" }, {}],
    ),
  ],
  [
    "over a convolutional code, whose bits are compared in the chain",
    scrambledLink(
      100_001,
      "convolutional",
      { block_bits: 600, puncturing: "ieee80211_3_4" },
      ["decoder", "channel.convolutional_decoder", { llr: "descrambler.llr" }, {}],
      ["ber", "metrics.bit_error_rate", { reference: "data.bits", candidate: "decoder.bits" }, {}],
    ),
  ],
  [
    "over a BCH code",
    scrambledLink(BITS, "bch", {}, ["decoder", "channel.bch_decoder", { llr: "descrambler.llr" }, {}]),
  ],
  ["of packets, of three items", packetLink(3)],
];
for (const [name, steps] of LINKS) {
  test(`a link ${name} has in blocks the rows and bytes of its steps one after another, kept or not`, async () => {
    const chains = one(...steps.map(([id]) => id)), whole = await apart(steps, chains);
    const blocks = await execute(steps, { chains });
    assert.deepEqual(outcomeOf(blocks), outcomeOf(whole));
    assert.equal(blocks.status, "completed");
    assert.deepEqual(warnings(blocks), []);
    // In a chain, all steps start before the first one ends.
    assert.ok(blocks.events.findIndex(({ kind }) => kind === "step_completed") >= steps.length);
    const dropped = await execute(steps, { chains, isKept: () => false });
    assert.deepEqual(outcomeOf(dropped).rows, outcomeOf(whole).rows);
    assert.equal(dropped.status, "completed");
  });
}

test("a chain that decodes on two threads has the bytes of one", async () => {
  const steps = codedLink("ldpc", "qpsk", { transport_block_size_bits: 1056, target_coderate: 1 / 3 });
  const chains = one(...steps.map(([id]) => id)), alone = await execute(steps, { chains, workers: 1 });
  const shared = await execute(steps, { chains, workers: 2 });
  assert.deepEqual(outcomeOf(shared), outcomeOf(alone));
  assert.equal(shared.status, "completed");
  // Steps of a chain that fails run again one after another, with a warning and the same bytes.
  assert.deepEqual(warnings(shared), []);
});

test("checkpoints and comparisons that fail or need whole arrays do so one after another", async () => {
  const steps = checkedLink(BITS, "digital", 1000), chains = one(...steps.map(([id]) => id));
  for (
    const [step, params, inputs] of [
      ["bits", { expected_bit_count: BITS + 1 }, {}],
      ["bler", {}, { reference: "coded.coded_bits" }],
    ] as const
  ) {
    const altered = steps.map(([id, op, before, own]): StepSpec =>
      id === step ? [id, op, { ...before, ...inputs }, { ...own, ...params }] : [id, op, before, own]
    );
    const blocks = await execute(altered, { chains });
    assert.deepEqual(outcomeOf(blocks), outcomeOf(await apart(altered, chains)), step);
    // A chain that fails in a block leaves a warning.
    assert.deepEqual(warnings(blocks).filter((message) => message.startsWith("The chain")), [], step);
    assert.equal(blocks.status, step === "bits" ? "failed" : "completed");
  }
});

test("a step that refuses its input before the first block fails as it does alone, without a warning", async () => {
  for (
    const [steps, code] of [
      // The items are no whole symbols.
      [fadingLink("qpsk", 3, { channel: "flat_rayleigh", fading_scope: "source_item" }), "boundary_count_mismatch"],
      [waveformLink(1001, { cp_length: 0 }, {}), "params_conflict"],
    ] as const
  ) {
    const chains = one(...steps.map(([id]) => id)), blocks = await execute(steps, { chains });
    assert.deepEqual(outcomeOf(blocks), outcomeOf(await apart(steps, chains)));
    assert.equal(blocks.failure?.code, code);
    assert.deepEqual(warnings(blocks).filter((message) => message.startsWith("The chain")), []);
    // Steps behind it never start, and are not said to.
    const started = blocks.events.filter(({ kind }) => kind === "step_started").map(({ fields }) => fields.step_id);
    assert.deepEqual(started, blocks.rows.map(({ id }) => id));
  }
});

test("companions that the next step does not read let the steps run one after another", async () => {
  const steps = pilotLink(100_001, "matched", "least_squares"), chains = one(...steps.map(([id]) => id));
  const blocks = await execute(steps, { chains });
  assert.deepEqual(outcomeOf(blocks), outcomeOf(await apart(steps, chains)));
  assert.equal(blocks.events.findIndex(({ kind }) => kind === "step_completed"), 1);
});

const relayed = (...params: JsonObject[]): StepSpec[] => [
  ["data", "source.random_bits", {}, { bit_count: BITS, batch_size: 1, seed: 5 }],
  ...params.map((more, at): StepSpec => [
    `r${at}`,
    "test.blocks",
    { bits: at === 0 ? "data.bits" : `r${at - 1}.bits` },
    { fail_at: -1, whole: false, short: false, pause_ms: 0, ...more },
  ]),
];
const none = (bundle: string) => assert.deepEqual(stagingPaths(bundle), []);

test("a step that fails in a late block leaves the rows and files of its steps one after another", async () => {
  const steps = relayed({}, { fail_at: BITS - 1 }, {});
  // A step outside the chain stands before the one that fails.
  steps.splice(1, 0, ["outside", "test.relay", { bits: "data.bits" }]);
  const chains = one("data", "r0", "r1", "r2"), whole = await apart(steps, chains);
  const blocks = await execute(steps, { chains, onBundle: none });
  assert.deepEqual(outcomeOf(blocks), outcomeOf(whole));
  assert.deepEqual([blocks.failure?.step_id, blocks.failure?.code], ["r1", "boundary_value_invalid"]);
  assert.deepEqual(blocks.rows.map(({ id, status }) => [id, status]), [
    ["data", "completed"],
    ["outside", "completed"],
    ["r0", "completed"],
    ["r1", "failed"],
  ]);
  assert.match(warnings(blocks)[0], /^The chain of data failed: Cannot relay bit/);
});

test("a step that needs the whole array is run after the others of its chain, without a warning", async () => {
  const steps = relayed({}, { whole: true });
  const chains = one("data", "r0", "r1"), blocks = await execute(steps, { chains, onBundle: none });
  assert.deepEqual(outcomeOf(blocks), outcomeOf(await apart(steps, chains)));
  assert.deepEqual(warnings(blocks), []);
});

test("an array that ends early is found, and a warning names it", async () => {
  const steps = relayed({ short: true });
  const chains = one("data", "r0"), blocks = await execute(steps, { chains, onBundle: none });
  assert.deepEqual(outcomeOf(blocks), outcomeOf(await apart(steps, chains)));
  assert.match(warnings(blocks)[0], /bits has 400002 of its 400003 bytes/);
});

test("two chains run side by side, each with its own rows", async () => {
  const steps = [
    ...relayed({}),
    ...relayed({}).map(([id, op, inputs, params]): StepSpec => [
      `b_${id}`,
      op,
      Object.fromEntries(Object.entries(inputs!).map(([port, source]) => [port, `b_${source}`])),
      params,
    ]),
  ];
  const chains = { data: 0, r0: 0, b_data: 1, b_r0: 1 };
  const blocks = await execute(steps, { chains, workers: 2 });
  assert.deepEqual(outcomeOf(blocks), outcomeOf(await apart(steps, chains)));
  assert.deepEqual(warnings(blocks), []);
});

test("outputs that are not kept are hashed and not written, except those that another step reads", async () => {
  const steps = link("qpsk"), chains = one(...CHAINED);
  const kept = await execute(steps, { chains });
  const dropped = await execute(steps, { chains, isKept: (_, kind) => kind === "metrics.report.json" });
  const rowsOf = (run: Executed) => outcomeOf(run).rows;
  assert.deepEqual(rowsOf(dropped), rowsOf(kept));
  // The relay reads the bits of the source; its own output is written as a whole.
  assert.deepEqual(Object.keys(dropped.files), [
    "artifacts/ber/report.json",
    "artifacts/data/bits.npz",
    "artifacts/relay/bits.npz",
  ]);
  assert.deepEqual(
    dropped.unwritten.map(({ path, sha256, size_bytes }) => [path, sha256, size_bytes]),
    ["modulator/symbols", "channel/rx_symbols", "demodulator/bits", "demodulator/llr"].map((name) => {
      const path = `artifacts/${name}.npz`, bytes = kept.files[path];
      return [path, sha256Hex(bytes), bytes.length];
    }),
  );
  assert.deepEqual(warnings(dropped), []);
});

test("a cancelled chain ends at its next block and leaves no file", async () => {
  const cancellation = createCancellation();
  const done = await execute(relayed({ pause_ms: 50 }), {
    chains: one("data", "r0"),
    cancellation,
    onEvent: ({ kind }) => kind === "step_progress" && cancellation.cancel(),
    onBundle: none,
  });
  assert.equal(done.status, "canceled");
  const started = done.events.filter(({ kind }) => kind === "step_started").map(({ fields }) => fields.step_id);
  assert.deepEqual(started, ["data", "r0"]);
  // Each step that was started has an end, and showed its progress.
  assert.deepEqual(done.rows.map(({ id, status }) => [id, status]), [["data", "canceled"], ["r0", "canceled"]]);
  const shown = done.events.filter(({ kind }) => kind === "step_progress").map(({ fields }) => fields.step_id);
  assert.deepEqual(shown.slice(0, 2), ["data", "r0"]);
  assert.deepEqual(Object.keys(done.files), []);
});
