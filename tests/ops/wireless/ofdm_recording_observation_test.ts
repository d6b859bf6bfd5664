import assert from "node:assert/strict";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import ofdmReceive from "../../../ops/demodulation/ofdm_receive.ts";
import ofdmWaveform from "../../../ops/modulation/ofdm_waveform.ts";
import observation from "../../../ops/wireless/ofdm_recording_observation.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput, symbolsInput } from "../inputs.ts";

const COUNT = 50;
const LAYOUTS: JsonObject[] = [
  { fft_size: 16, cp_length: 4 },
  { fft_size: 32, active_subcarriers: 12, cp_length: 5, oversampling: 2 },
  { fft_size: 16, cp_length: 4, active_subcarriers: 10, transform_precoding: true },
  { fft_size: 20, cp_length: 4, transform_precoding: true, ptrs_groups: 2, ptrs_time_density: 2, ptrs_rnti: 3 },
];

/** A waveform, and its samples alone behind `lead` others. */
async function recorded(params: JsonObject, lead: number) {
  const sent =
    (await runOperation(ofdmWaveform, { inputs: { symbols: symbolsInput(COUNT) }, params })).outputs.waveform;
  const noise = Float32Array.from(Generator.seeded(5).uniform(-1, 1, 2 * lead));
  const data = Float32Array.of(...noise, ...sent.array().data as Float32Array, 1, 1);
  return { sent, recording: arrayInput("channel.rx_symbols.complex_numpy", "complex64", data, [data.length / 2]) };
}
const receive = async (waveform: Awaited<ReturnType<typeof recorded>>["sent"]) =>
  (await runOperation(ofdmReceive, { inputs: { waveform } })).outputs.rx_symbols.array();

Deno.test("a recording of a waveform gives its receiver the same symbols", async () => {
  for (const params of LAYOUTS) {
    const { sent, recording } = await recorded(params, 7);
    const read = { first_sample: 7, symbol_count: COUNT, noise_variance: float(0.25), ...params };
    const { waveform } = (await runOperation(observation, { inputs: { waveform: recording }, params: read })).outputs;
    assert.deepEqual(await receive(waveform), await receive(sent), JSON.stringify(params));
    assert.equal(Number(waveform.metadata.noise_variance), 0.25);
    // Without the number of symbols the padding stays.
    const whole = { first_sample: 7, ...params };
    const all = (await runOperation(observation, { inputs: { waveform: recording }, params: whole })).outputs.waveform;
    assert.equal(all.metadata.noise_variance, undefined);
    const symbols = await receive(all), expected = await receive(sent);
    assert.ok(symbols.shape[0] >= COUNT);
    assert.deepEqual(symbols.data.slice(0, 2 * COUNT), expected.data, JSON.stringify(params));
  }
});

Deno.test("a recording that is too short for its layout is refused", async () => {
  const { recording } = await recorded(LAYOUTS[0], 0), inputs = { waveform: recording };
  const wrong: JsonObject[] = [{ symbol_count: COUNT + 15 }, { first_sample: 20, symbol_count: COUNT }, {
    first_sample: 90,
  }];
  for (const params of wrong) {
    const run = () => runOperation(observation, { inputs, params: { ...LAYOUTS[0], ...params } });
    await refuses("boundary_count_mismatch", run);
  }
});
