/** Level crossings and fades: counted by hand, and against Rice's closed forms for Jakes' spectrum and for a flat one. */
import assert from "node:assert/strict";
import fading from "../../../ops/metrics/fading_statistics.ts";
import mimoOfdmChannel from "../../../ops/wireless/mimo_ofdm_channel.ts";
import ofdmChannelState from "../../../ops/wireless/ofdm_channel_state.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput, symbolsInput } from "../inputs.ts";

const NAMES = ["level_crossing_rate_hz", "mean_fade_duration_s", "below_level_fraction", "level_crossing_count"];
async function statistics(channel_state: unknown, params: JsonObject) {
  const { metrics } = await runOperation(fading, { inputs: { channel_state } as never, params });
  return NAMES.map((name) => metrics[`fading.${name}`] === undefined ? null : Number(metrics[`fading.${name}`]));
}
const near = (found: number | null, expected: number, relative: number) =>
  assert.ok(Math.abs(found! / expected - 1) <= relative, `${found} instead of ${expected}`);

/** A state of real gains [grid, symbol, subcarrier]. */
const stateOf = (gains: number[], shape: number[], more: JsonObject = {}) =>
  arrayInput(
    "channel.ofdm_channel_state.numpy",
    "complex64",
    Float32Array.from(gains.flatMap((gain) => [gain, 0])),
    shape,
    { noise_variance: 0.1, average_power_budget: 1, ...more },
  );

Deno.test("falls below the level are counted inside of a grid, and the time below is shared among them", async () => {
  // Two grids of five symbols; the mean square is (6·4 + 4·0.25)/10 = 2.5.
  const state = stateOf([2, 0.5, 0.5, 2, 2, 0.5, 2, 2, 0.5, 2], [2, 5, 1]);
  const [rate, duration, below, count] = await statistics(state, { level_db: float(-3), symbol_interval_s: 0.5 });
  assert.deepEqual([rate, duration, below, count], [2 / 4, 0.4 / 0.5, 0.4, 2]);
  // The same gains as two subcarriers of one grid; the metadata have the interval.
  const twice = stateOf([2, 0.5, 0.5, 2, 0.5, 2, 2, 0.5, 2, 2], [1, 5, 2], { ofdm_symbol_interval_s: 0.5 });
  assert.deepEqual(await statistics(twice, { level_db: float(-3) }), [rate, duration, below, count]);
  // A level that no gain falls below has a rate of 0 and no duration.
  assert.deepEqual(await statistics(twice, { level_db: float(-20) }), [0, null, 0, 0]);
});

Deno.test("crossings and fades of a moving channel are Rice's", async () => {
  const params = {
    delay_spread_ns: float(0),
    ofdm_fft_size: 1,
    num_ofdm_symbols: 1400,
    carrier_frequency_ghz: float(3),
  };
  const inputs = { symbols: symbolsInput(1400 * 400) };
  const moving = { ...params, mobility_kmh: float(36), seed: 3 };
  const { state } = (await runOperation(ofdmChannelState, { inputs, params: moving })).outputs;
  const doppler = 10 * 3e9 / 299_792_458;
  for (const level of [-20, -10, 0, 3]) {
    const ratio = 10 ** (level / 20), [rate, duration, below] = await statistics(state, { level_db: float(level) });
    const expected = Math.sqrt(2 * Math.PI) * doppler * ratio * Math.exp(-(ratio ** 2));
    // 400 realisations of ten periods, and 20 waves in place of a Gaussian process: 1/40 less in deep fades.
    near(rate, expected, 0.06);
    near(duration, (1 - Math.exp(-(ratio ** 2))) / expected, 0.06);
    near(below, 1 - Math.exp(-(ratio ** 2)), 0.06);
  }
});

Deno.test("gains of matrices count each, and a flat spectrum has the crossings of its variance of a third", async () => {
  const rateOf = async (doppler_spectrum: string) => {
    const { state } = (await runOperation(mimoOfdmChannel, {
      inputs: { symbols: symbolsInput(2 * 280 * 200) },
      params: {
        ...{ channel_model: "iid", ofdm_fft_size: 1, num_ofdm_symbols: 280, snr_db: float(10), seed: 5 },
        ...{ time_variation: "doppler", mobility_kmh: float(100), carrier_frequency_ghz: float(3), doppler_spectrum },
      },
    })).outputs;
    const [rate, , , count] = await statistics(state, { level_db: float(0), symbol_interval_s: 1e-3 / 14 });
    assert.ok(count! > 1000);
    return rate!;
  };
  const doppler = 100 / 3.6 * 3e9 / 299_792_458, jakes = await rateOf("jakes"), flat = await rateOf("flat");
  // N = sqrt(s/π)·ρ·exp(-ρ²)·2π·f_d with s the mean square of cos α: 1/2 or 1/3.
  near(jakes, 2 * Math.sqrt(Math.PI / 2) * doppler * Math.exp(-1), 0.1);
  near(flat / jakes, Math.sqrt(2 / 3), 0.08);
});

Deno.test("states without an interval, without a second symbol and without power are refused", async () => {
  const gains = Array<number>(4).fill(1);
  const asked = (state: unknown, params: JsonObject) =>
    runOperation(fading, { inputs: { channel_state: state } as never, params });
  await refuses("input_metadata_missing", () => asked(stateOf(gains, [2, 2, 1]), {}));
  await refuses("boundary_value_invalid", () => asked(stateOf(gains, [4, 1, 1]), { symbol_interval_s: 1 }));
  await refuses("boundary_value_invalid", () => asked(stateOf([0, 0, 0, 0], [2, 2, 1]), { symbol_interval_s: 1 }));
  assert.deepEqual(await statistics(stateOf([], [0, 2, 1]), { symbol_interval_s: 1 }), [null, null, null, 0]);
});
