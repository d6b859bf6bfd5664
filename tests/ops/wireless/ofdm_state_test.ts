import assert from "node:assert/strict";
import vectors from "../../data/wireless/state_vectors.json" with { type: "json" };
import channelState from "../../../ops/wireless/ofdm_channel_state.ts";
import delayedCsi from "../../../ops/wireless/ofdm_delayed_csi.ts";
import misoCsi from "../../../ops/wireless/miso_ofdm_csi.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { meanPower } from "../../../lib/numeric/linalg/complex.ts";
import { arrayInput, symbolsInput } from "../inputs.ts";
import { refuses, runOperation } from "../harness.ts";
import { assertSame, floats } from "./_vectors.ts";

const STATE = "channel.ofdm_channel_state.numpy";

function draw(count: number, params: JsonObject) {
  return runOperation(channelState, {
    inputs: { symbols: symbolsInput(count, { source_item_counts: [count] }) },
    params,
  });
}

Deno.test("states are NumPy's for the documented draws, with and without line of sight", async () => {
  for (const [name, expected] of Object.entries(vectors.states)) {
    const [tdl_model, unnormalised] = name.split("_");
    const normalize_channel = unnormalised === undefined;
    // 61 symbols need three grids of 30 elements.
    const { state } =
      (await draw(61, { ...vectors.state_params, tdl_model, normalize_channel, seed: vectors.seed })).outputs;
    assert.deepEqual(state.array().shape, [3, 6, 5]);
    assertSame(state.array().data as Float32Array, floats(expected), name);
  }
});

Deno.test("grids are as many as the symbols need, times the capacity multiplier", async () => {
  for (
    const [count, capacity_multiplier, grids] of [[1, 1, 1], [64, 1, 1], [65, 1, 2], [65, 3, 4], [32, 2, 1], [33, 2, 2]]
  ) {
    const { state, symbols } = (await draw(count, { capacity_multiplier })).outputs;
    assert.deepEqual(state.array().shape, [grids, 4, 16]);
    assert.equal(symbols.metadata.symbol_count, count);
  }
});

Deno.test("a state tells its scenario, and the symbols pass unchanged", async () => {
  const given = symbolsInput(70, { modulation: "qpsk", source_item_counts: [30, 40] });
  const { state, symbols } = (await runOperation(channelState, {
    inputs: { symbols: given },
    params: { noise_variance: 0.25, average_power_budget: 1.5, mobility_kmh: 30, tdl_model: "C" },
  })).outputs;
  assert.deepEqual(symbols.array(), given.array);
  assert.deepEqual(symbols.metadata.source_item_counts, [30, 40]);
  assert.equal(state.metadata.source_item_counts, undefined);
  const { noise_variance, average_power_budget, doppler_model, tdl_model, modulation } = state.metadata;
  assert.deepEqual(
    [Number(noise_variance), Number(average_power_budget), doppler_model, tdl_model, modulation],
    [0.25, 1.5, "sum_of_sinusoids", "C", "qpsk"],
  );
  assert.ok(Math.abs(Number(state.metadata.maximum_doppler_hz) - 97.29) < 0.01);
});

Deno.test("at rest nothing changes over a grid, in motion it does, and grids are independent", async () => {
  const row = (data: Float32Array, at: number) => [...data.subarray(32 * at, 32 * (at + 1))];
  const still = (await draw(128, { mobility_kmh: 0 })).outputs.state.array().data as Float32Array;
  assert.deepEqual(row(still, 0), row(still, 3));
  assert.notDeepEqual(row(still, 0), row(still, 4));
  const moving = (await draw(128, { mobility_kmh: 30 })).outputs.state.array().data as Float32Array;
  assert.notDeepEqual(row(moving, 0), row(moving, 3));
});

const trajectory = () =>
  arrayInput(STATE, "complex64", floats(vectors.states.C), [3, 6, 5], { noise_variance: 0.1, average_power_budget: 2 });

function delay(params: JsonObject) {
  return runOperation(delayedCsi, { inputs: { state: trajectory() }, params: { seed: vectors.seed + 1, ...params } });
}

const SPLIT = { csi_history_length: 2, feedback_delay_ofdm_symbols: 2, allocation_ofdm_symbols: 3 };

Deno.test("a report is the old channel with NumPy's error, the actual state the later channel itself", async () => {
  const { transmitter_csi, actual_state } = (await delay({ ...SPLIT, csi_estimation_snr_db: 13 })).outputs;
  assert.deepEqual(transmitter_csi.array().shape, [3, 2, 5]);
  assert.deepEqual(actual_state.array().shape, [3, 3, 5]);
  assertSame(transmitter_csi.array().data as Float32Array, floats(vectors.delayed.transmitter_csi), "report");
  assert.deepEqual(actual_state.array().data, floats(vectors.delayed.actual_state));
  for (const { metadata } of [transmitter_csi, actual_state]) {
    assert.equal(Number(metadata.noise_variance), 0.1);
    assert.equal(Number(metadata.average_power_budget), 2);
    assert.equal(metadata.feedback_delay_ofdm_symbols, 2);
    assert.equal(metadata.allocation_ofdm_symbols, 3);
  }
  assert.deepEqual([transmitter_csi.metadata.csi_role, actual_state.metadata.csi_role], ["transmitter", "actual"]);
});

Deno.test("without error and delay the report is the channel", async () => {
  const params = { csi_history_length: 1, feedback_delay_ofdm_symbols: 0, allocation_ofdm_symbols: 6 };
  const { transmitter_csi, actual_state } = (await delay({ ...params, add_estimation_noise: false })).outputs;
  const h = floats(vectors.states.C);
  assert.deepEqual(actual_state.array().data, h);
  for (let grid = 0; grid < 3; grid++) {
    assert.deepEqual(
      transmitter_csi.array().data.slice(10 * grid, 10 * grid + 10),
      h.slice(60 * grid, 60 * grid + 10),
    );
  }
  assert.equal(transmitter_csi.metadata.csi_estimation_snr_db, null);
});

Deno.test("a trajectory that is too short names the parameter to raise", async () => {
  await delay({ ...SPLIT });
  await refuses("boundary_count_mismatch", () => delay({ ...SPLIT, allocation_ofdm_symbols: 4 }));
  await refuses("boundary_count_mismatch", () => delay({ ...SPLIT, feedback_delay_ofdm_symbols: 3 }));
  await assert.rejects(() => delay({ ...SPLIT, csi_history_length: 3 }), { hint: /num_ofdm_symbols to at least 7/ });
});

Deno.test("the estimation error has the stated power", async () => {
  const count = 200_000;
  const data = Float32Array.from({ length: 2 * count }, (_, i) => Math.cos(i));
  const state = arrayInput(STATE, "complex64", data, [1, 1, count], { noise_variance: 1, average_power_budget: 1 });
  const { transmitter_csi } = (await runOperation(delayedCsi, {
    inputs: { state },
    params: { feedback_delay_ofdm_symbols: 0, allocation_ofdm_symbols: 1, csi_estimation_snr_db: 7, seed: 1 },
  })).outputs;
  const error = (transmitter_csi.array().data as Float32Array).map((value, i) => value - data[i]);
  const relative = meanPower(error) / meanPower(data) / 10 ** -0.7;
  assert.ok(Math.abs(relative - 1) < 5 / Math.sqrt(count), String(relative));
});

Deno.test("array channels are NumPy's on both backends", async () => {
  for (const backend of ["phylib", "numpy"] as const) {
    const params = { ...vectors.csi_params, wireless_backend: backend, seed: vectors.seed };
    const { csi } = (await runOperation(misoCsi, { params, backend })).outputs;
    assert.deepEqual(csi.array().shape, [8, 3, 5]);
    assertSame(csi.array().data as Float32Array, floats(vectors.csi[backend]), backend);
    assert.ok(Math.abs(Number(csi.metadata.noise_variance) - 0.1) < 1e-15);
  }
});

Deno.test("neighbouring antennas correlate by ρ per step, with unit power each", async () => {
  const sample_count = 5000, tx = 4, rho = 0.8;
  for (const backend of ["phylib", "numpy"]) {
    const { csi } = (await runOperation(misoCsi, {
      params: {
        sample_count,
        tx_antennas: tx,
        tx_correlation_coefficient: rho,
        ofdm_fft_size: 1,
        wireless_backend: backend,
      },
      backend,
    })).outputs;
    const data = csi.array().data as Float32Array;
    for (let j = 0; j < tx; j++) {
      let real = 0, imaginary = 0;
      for (let sample = 0; sample < sample_count; sample++) {
        const p = 2 * sample * tx, q = p + 2 * j;
        real += (data[p] * data[q] + data[p + 1] * data[q + 1]) / sample_count;
        imaginary += (data[p] * data[q + 1] - data[p + 1] * data[q]) / sample_count;
      }
      const bound = 5 / Math.sqrt(sample_count);
      assert.ok(
        Math.abs(real - rho ** j) < bound && Math.abs(imaginary) < bound,
        `${backend} ${j}: ${real} ${imaginary}`,
      );
    }
  }
});
