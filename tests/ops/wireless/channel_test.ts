import assert from "node:assert/strict";
import vectors from "../../data/wireless/vectors.json" with { type: "json" };
import channel from "../../../ops/wireless/channel.ts";
import digitalLink from "../../../ops/wireless/digital_link.ts";
import digitalModulate from "../../../ops/modulation/digital_modulate.ts";
import digitalDemodulate from "../../../ops/demodulation/digital_demodulate.ts";
import type { Operation, Runner } from "../../../lib/contract/operation.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { isRefusal, materialize } from "../../../lib/plan/materialize.ts";
import { meanPower } from "../../../lib/numeric/linalg/complex.ts";
import { PROFILE_MODELS } from "../../../lib/numeric/channel/delay_profile.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { PRESETS } from "../../../ops/wireless/_params.ts";
import { arrayInput, payloadInput, someBits, symbolsInput } from "../inputs.ts";
import { assertSame, floats } from "./_vectors.ts";
import { materialise, outputOf, refuses, runOperation } from "../harness.ts";

const X = floats(vectors.x);

function send(params: JsonObject, metadata: JsonObject = { source_item_counts: vectors.items }) {
  return runOperation(channel, {
    inputs: { symbols: symbolsInput(X, metadata) },
    params: { seed: vectors.seed, snr_db: vectors.snr_db, ...params },
  });
}

Deno.test("draws come in NumPy's values and the documented order, for every preset", async () => {
  const cases: Record<string, JsonObject> = {
    awgn: { channel: "awgn" },
    flat_rayleigh_symbol_matched: { channel: "flat_rayleigh" },
    flat_rayleigh_symbol_none: { channel: "flat_rayleigh", receiver_processing: "none" },
    flat_rayleigh_source_item_matched: { channel: "flat_rayleigh", fading_scope: "source_item" },
    flat_rayleigh_source_item_none: {
      channel: "flat_rayleigh",
      fading_scope: "source_item",
      receiver_processing: "none",
    },
    interference_awgn_1: { channel: "interference_awgn", interferers: 1 },
    interference_awgn_3: { channel: "interference_awgn", interferers: 3 },
    urban_micro: { channel: "urban_micro", ...vectors.ofdm },
  };
  for (const fading_scope of ["symbol", "source_item"]) {
    for (const [tx_antennas, rx_antennas] of [[2, 2], [4, 4], [2, 3]]) {
      const antennas = { tx_antennas, rx_antennas };
      cases[`mimo_flat_${fading_scope}_${tx_antennas}x${rx_antennas}`] = {
        channel: "mimo_flat",
        fading_scope,
        ...antennas,
      };
    }
  }
  for (const channel of ["ofdm_tdl", "ofdm_cdl"]) {
    for (const tdl_model of PROFILE_MODELS) cases[`${channel}_${tdl_model}`] = { channel, tdl_model, ...vectors.ofdm };
    cases[`${channel}_A_unnormalised`] = { channel, ...vectors.ofdm, normalize_channel: false };
  }
  assert.deepEqual(Object.keys(cases).sort(), Object.keys(vectors.cases).sort());
  for (const [name, params] of Object.entries(cases)) {
    const expected = vectors.cases[name as keyof typeof vectors.cases] as Record<string, string>;
    const { rx_symbols } = (await send({ interference_sir_db: vectors.interference_sir_db, ...params })).outputs;
    assertSame(rx_symbols.array().data as Float32Array, floats(expected.rx), name);
    for (const companion of ["noise_variance", "channel_gain"]) {
      assert.equal(rx_symbols.arrayNames.includes(companion), companion in expected, `${name} ${companion}`);
      if (companion in expected) {
        assertSame(
          rx_symbols.array(companion).data as Float32Array,
          floats(expected[companion]),
          `${name} ${companion}`,
        );
      }
    }
  }
});

Deno.test("the record names preset, backend, noise, antennas, grid, interference and mobility", async () => {
  const { outputs, metrics } = await send({ channel: "interference_awgn", interferers: 2, interference_sir_db: 10 });
  const { wireless_channel: record, noise_variance, symbol_count } = outputs.rx_symbols.metadata;
  const n0 = 10 ** -0.7;
  assert.ok(Math.abs(Number(noise_variance) - (n0 + 0.1)) < 1e-12);
  assert.equal(symbol_count, X.length / 2);
  assert.deepEqual(Object.keys(record as JsonObject).sort(), [
    "backend",
    "carrier_frequency_ghz",
    "doppler_model",
    "fading_scope",
    "interference_sir_db",
    "interferers",
    "maximum_doppler_hz",
    "mobility_kmh",
    "noise_mode",
    "noise_variance",
    "num_ofdm_symbols",
    "ofdm_fft_size",
    "preset",
    "receiver_processing",
    "rx_antennas",
    "snr_db",
    "subcarrier_spacing_khz",
    "tx_antennas",
  ]);
  assert.equal((record as JsonObject).preset, "interference_awgn");
  assert.equal((record as JsonObject).backend, "numpy");
  // 3 km/h at 3.5 GHz: v·f/c.
  assert.ok(Math.abs(Number((record as JsonObject).maximum_doppler_hz) - 9.729) < 1e-3);
  assert.equal(metrics["channel.snr_db"], 7);
});

Deno.test("a fixed variance replaces the SNR; without interferers the interference preset is awgn", async () => {
  const fixed = await runOperation(channel, {
    inputs: { symbols: symbolsInput(X) },
    params: { noise_mode: "fixed_variance", noise_variance: 10 ** -0.7, seed: vectors.seed },
  });
  assert.deepEqual(fixed.outputs.rx_symbols.array().data, floats(vectors.cases.awgn.rx));
  assert.equal(fixed.params.snr_db, undefined);
  assert.equal(fixed.metrics["channel.snr_db"], undefined);
  const alone = await send({ channel: "interference_awgn" });
  assert.deepEqual(alone.outputs.rx_symbols.array().data, floats(vectors.cases.awgn.rx));
});

Deno.test("metadata and foreign companions travel; stale noise and gains do not", async () => {
  const companions = {
    noise_variance: ndarray("float32", Float32Array.of(9)),
    channel_gain: ndarray("complex64", Float32Array.of(9, 9)),
    layer: ndarray("uint8", Uint8Array.of(3)),
  };
  const { outputs } = await runOperation(channel, {
    inputs: { symbols: symbolsInput([1, 0], { modulation: "bpsk", text_ids: ["a"] }, { companions }) },
  });
  assert.deepEqual(outputs.rx_symbols.arrayNames, ["rx_symbols", "layer"]);
  assert.equal(outputs.rx_symbols.metadata.modulation, "bpsk");
  assert.deepEqual(outputs.rx_symbols.metadata.text_ids, ["a"]);
});

Deno.test("invalid combinations are conflicts", async () => {
  const state = arrayInput("channel.ofdm_channel_state.numpy", "complex64", new Float32Array(2), [1, 1, 1]);
  const run = (params: JsonObject, wired = false) =>
    runOperation(channel, { inputs: { symbols: symbolsInput(X), ...(wired ? { channel_state: state } : {}) }, params });
  await refuses("params_conflict", () => run({ channel: "mimo_flat", receiver_processing: "none" }));
  await refuses("params_conflict", () => run({ channel: "mimo_flat", tx_antennas: 2 }));
  await refuses("params_conflict", () => run({ noise_mode: "fixed_variance" }));
  await refuses("params_conflict", () => run({ channel_state_mode: "explicit" }));
  await refuses("params_conflict", () => run({}, true));
  await refuses("params_conflict", () => run({ channel_state_mode: "explicit" }, true));
  await refuses(
    "params_conflict",
    () => run({ channel: "ofdm_tdl", channel_state_mode: "explicit", wireless_backend: "numpy" }, true),
  );
  await refuses("params_invalid", () => run({ noise_mode: "fixed_variance", noise_variance: 1e-13 }));
  await refuses("boundary_count_mismatch", () => run({ channel: "flat_rayleigh", fading_scope: "source_item" }));
  await refuses(
    "params_conflict",
    () => run({ channel: "mimo_flat", tx_antennas: 2, rx_antennas: 2, receiver_processing: "none" }),
  );
  await refuses(
    "boundary_count_mismatch",
    () => run({ channel: "mimo_flat", tx_antennas: 2, rx_antennas: 2, fading_scope: "source_item" }),
  );
});

/** How the planner answers parameters: the implementation, or the code of the refusal. */
function planned(operation: Operation, params: JsonObject, runner: Runner = "benchmark_run"): string {
  const { contract } = operation;
  const outcome = materialize(contract, materialise(contract.params_schema, params), { runner, authored: params });
  return isRefusal(outcome) ? outcome.code : outcome.entry.implementation;
}

Deno.test("every preset runs on numpy, four combinations on phylib, and each is exported by its own module", () => {
  const explicit = { channel_state_mode: "explicit" };
  const phylib: Record<string, string> = {
    awgn: "phylib_awgn_matched_artifact",
    flat_rayleigh: "phylib_flat_rayleigh_matched_artifact",
    mimo_flat: "phylib_mimo_flat_matched_artifact",
  };
  for (const runner of ["benchmark_run", "dataset_capture"] as const) {
    for (const preset of PRESETS) {
      for (const wireless_backend of ["auto", "numpy"]) {
        const params = { channel: preset, wireless_backend };
        assert.equal(planned(channel, params, runner), `numpy_${preset}_matched`);
        assert.equal(planned(digitalLink, params, runner), `numpy_${preset}`);
      }
      const params = { channel: preset, wireless_backend: "phylib" };
      assert.equal(planned(channel, params, runner), phylib[preset] ?? "channel_backend_unsupported", preset);
      const link = preset in phylib ? `phylib_${preset}` : "channel_backend_unsupported";
      assert.equal(planned(digitalLink, params, runner), link);
    }
    for (const wireless_backend of ["auto", "phylib"]) {
      const params = { channel: "ofdm_tdl", ...explicit, wireless_backend };
      assert.equal(planned(channel, params, runner), "phylib_explicit_tdl_ofdm_matched_artifact");
    }
  }
  assert.equal(
    planned(channel, { receiver_processing: "none", wireless_backend: "phylib" }),
    "phylib_awgn_unprocessed_artifact",
  );
  const refused: [JsonObject, string][] = [
    [
      { channel: "interference_awgn", receiver_processing: "none", wireless_backend: "phylib" },
      "channel_backend_unsupported",
    ],
    [{ channel: "ofdm_cdl", ...explicit, wireless_backend: "phylib" }, "channel_backend_unsupported"],
    [{ channel: "ofdm_tdl", ...explicit, wireless_backend: "numpy" }, "channel_backend_unsupported"],
    [{ channel: "ofdm_cdl", ...explicit }, "materialization_unavailable"],
    [{ data_plane_backend: "cpp_native" }, "materialization_unavailable"],
  ];
  for (const [params, code] of refused) assert.equal(planned(channel, params), code, JSON.stringify(params));
  assert.equal(planned(channel, {}, "differentiable_export"), "torch_awgn_matched_module");
});

Deno.test("an operation that is started on a backend without its channel says so itself", async () => {
  const inputs = { symbols: symbolsInput(X) };
  for (const name of ["interference_awgn", "ofdm_tdl", "ofdm_cdl", "urban_micro"]) {
    const params = { channel: name };
    await refuses("channel_backend_unsupported", () => runOperation(channel, { inputs, params, backend: "phylib" }));
    await refuses(
      "channel_backend_unsupported",
      () => runOperation(digitalLink, { inputs: { bits: payloadInput([0, 1]) }, params, backend: "phylib" }),
    );
  }
});

Deno.test("phylib draws its presets as numpy does, and says who ran", async () => {
  for (const name of ["awgn", "flat_rayleigh", "mimo_flat"]) {
    const options = {
      inputs: { symbols: symbolsInput(X) },
      params: { channel: name, tx_antennas: 2, rx_antennas: 3, seed: 5 },
    };
    const [portable, standard] = await Promise.all(
      ["numpy", "phylib"].map((backend) => runOperation(channel, { ...options, backend })),
    );
    assert.deepEqual(standard.outputs.rx_symbols.array(), portable.outputs.rx_symbols.array());
    assert.equal((standard.outputs.rx_symbols.metadata.wireless_channel as JsonObject).backend, "phylib");
  }
});

Deno.test("an explicit state is the channel: only noise is drawn, and each symbol meets its element", async () => {
  const h = Float32Array.from({ length: 2 * 2 * 3 * 5 }, (_, i) => Math.cos(3 * i) + 0.2);
  const state = (metadata: JsonObject = {}, shape = [2, 3, 5]) => ({
    ...arrayInput("channel.ofdm_channel_state.numpy", "complex64", h, shape, {
      noise_variance: 10 ** -0.7,
      average_power_budget: 1,
      ...metadata,
    }),
  });
  const params = { channel: "ofdm_tdl", channel_state_mode: "explicit", snr_db: 7, seed: 9 };
  const run = (count: number, channel_state = state()) =>
    runOperation(channel, { inputs: { symbols: symbolsInput(X.slice(0, 2 * count)), channel_state }, params });
  const { rx_symbols } = (await run(30)).outputs;
  const noise = Generator.seeded(9).complexNormal64(30, 10 ** -0.7);
  const received = rx_symbols.array().data as Float32Array, variance = rx_symbols.array("noise_variance").data;
  for (let i = 0; i < 30; i++) {
    const power = h[2 * i] ** 2 + h[2 * i + 1] ** 2;
    const real = X[2 * i] + (noise[2 * i] * h[2 * i] + noise[2 * i + 1] * h[2 * i + 1]) / power;
    assert.equal(received[2 * i], Math.fround(real));
    assert.equal(variance[i], Math.fround(10 ** -0.7 / power));
  }
  const record = rx_symbols.metadata.wireless_channel as JsonObject;
  assert.equal(record.doppler_model, "sum_of_sinusoids");
  await refuses("boundary_count_mismatch", () => run(31));
  await refuses("ofdm_scenario_conflict", () => run(30, state({ noise_variance: 0.2 })));
  await refuses("boundary_value_invalid", () => run(30, state({ noise_variance: 0 })));
  await refuses("boundary_rank_invalid", () => run(30, state({}, [6, 5])));
});

Deno.test("an element without any gain is an erasure, not an infinity", async () => {
  const channel_state = arrayInput("channel.ofdm_channel_state.numpy", "complex64", new Float32Array(2), [1, 1, 1], {
    noise_variance: 1,
    average_power_budget: 1,
  });
  const { rx_symbols } = (await runOperation(channel, {
    inputs: { symbols: symbolsInput([1, 0]), channel_state },
    params: { channel: "ofdm_tdl", channel_state_mode: "explicit", snr_db: 0 },
  })).outputs;
  assert.deepEqual([...rx_symbols.array().data], [0, 0]);
  assert.ok(Number.isFinite(rx_symbols.array("noise_variance").data[0]));
});

Deno.test("noise and fading have the stated powers", async () => {
  const count = 200_000;
  const run = async (params: JsonObject) => {
    const { rx_symbols } = (await runOperation(channel, {
      inputs: { symbols: symbolsInput(new Float32Array(2 * count)) },
      params: { seed: 5, noise_mode: "fixed_variance", noise_variance: 0.5, ...params },
    })).outputs;
    return rx_symbols;
  };
  // The mean of count exponential powers has the relative deviation 1/sqrt(count); five of them bound it.
  const bound = 5 / Math.sqrt(count);
  assert.ok(Math.abs(meanPower((await run({})).array().data as Float32Array) / 0.5 - 1) < bound);
  const faded = await run({ channel: "flat_rayleigh", receiver_processing: "none" });
  assert.ok(Math.abs(meanPower(faded.array("channel_gain").data as Float32Array) - 1) < bound);
  const interfered = await run({ channel: "interference_awgn", interferers: 4, interference_sir_db: 0 });
  assert.ok(Math.abs(meanPower(interfered.array().data as Float32Array) / 1.5 - 1) < 2 * bound);
});

Deno.test("digital_link is its three stages in one step", async () => {
  const bits = payloadInput(someBits(1003), { source_item_counts: [404, 599], packet_total_bits: 136 });
  const cases: JsonObject[] = [
    { channel: "awgn", modulation: "qam16" },
    { channel: "flat_rayleigh", modulation: "qpsk" },
    { channel: "interference_awgn", modulation: "bpsk", interferers: 2, interference_sir_db: 3 },
    { channel: "mimo_flat", modulation: "qpsk", tx_antennas: 2, rx_antennas: 2 },
    { channel: "ofdm_tdl", modulation: "qam16" },
    { channel: "ofdm_cdl", modulation: "bpsk", ofdm_fft_size: 24 },
    { channel: "urban_micro", modulation: "qpsk", carrier_frequency_ghz: 6 },
  ];
  for (const params of cases) {
    const { modulation, ...link }: JsonObject = { ...params, snr_db: 2, seed: 77 };
    const short = await runOperation(digitalLink, { inputs: { bits }, params: { modulation, ...link } });
    const symbols = await runOperation(digitalModulate, { inputs: { bits }, params: { modulation } });
    const received = await runOperation(channel, { inputs: { symbols: symbols.outputs.symbols }, params: link });
    const demapped = await runOperation(digitalDemodulate, {
      inputs: { rx_symbols: outputOf(received.outputs.rx_symbols) },
    });
    assert.deepEqual(short.outputs.bits.array().data, demapped.outputs.bits.array().data, String(params.channel));
    assert.notDeepEqual(short.outputs.bits.array().data, someBits(1003));
    const { metadata } = short.outputs.bits;
    assert.deepEqual([metadata.source_item_counts, metadata.packet_total_bits], [[404, 599], 136]);
    assert.equal((metadata.wireless_channel as JsonObject).preset, params.channel);
  }
});
