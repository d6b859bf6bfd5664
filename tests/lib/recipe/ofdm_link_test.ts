import assert from "node:assert/strict";
import { compile } from "../../../mod.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";

interface Given {
  state?: JsonObject;
  channel?: JsonObject;
  delayed?: boolean;
  more?: JsonObject[];
}

/** Random bits over QPSK, a state, and a channel that takes its realisation from it. */
function recipe({ state = {}, channel = {}, delayed = false, more = [] }: Given): JsonObject {
  const source = delayed ? "csi_observation.actual_state" : "channel_state.state";
  return {
    schema_version: 1,
    name: "linked",
    metadata: { seed: 23 },
    steps: [
      { id: "data", op: "source.random_bits", params: { bit_count: 64 } },
      { id: "modulator", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
      {
        id: "channel_state",
        op: "wireless.ofdm_channel_state",
        params: state,
        inputs: { symbols: "modulator.symbols" },
      },
      ...(delayed
        ? [{ id: "csi_observation", op: "wireless.ofdm_delayed_csi", inputs: { state: "channel_state.state" } }]
        : []),
      {
        id: "wireless_channel",
        op: "wireless.channel",
        params: { channel: "ofdm_tdl", channel_state_mode: "explicit", ...channel },
        inputs: { symbols: "channel_state.symbols", channel_state: source },
      },
      ...more,
    ],
  };
}

async function compiled(given: Given) {
  const compilation = await compile(recipe(given));
  const of = (id: string) => compilation.effective!.steps.find((step) => step.id === id)!.params;
  return { compilation, of };
}

const text = (value: unknown) => canonicalJson(value as JsonObject);

Deno.test("the channel takes from the state what it leaves out, and its defaults go back to the state", async () => {
  for (const delayed of [false, true]) {
    const { compilation, of } = await compiled({
      delayed,
      state: { tdl_model: "C", ofdm_fft_size: 24 },
      channel: { num_ofdm_symbols: 7, mobility_kmh: float(30), snr_db: float(10) },
    });
    assert.deepEqual(compilation.diagnostics, []);
    const [state, channel] = [of("channel_state"), of("wireless_channel")];
    const expected = {
      tdl_model: "C",
      ofdm_fft_size: 24,
      num_ofdm_symbols: 7,
      subcarrier_spacing_khz: float(15),
      carrier_frequency_ghz: float(3.5),
      delay_spread_ns: float(100),
      mobility_kmh: float(30),
      normalize_channel: true,
    };
    for (const [key, value] of Object.entries(expected)) {
      assert.equal(text(channel[key]), text(value), key);
      assert.equal(text(state[key]), text(value), key);
    }
    assert.equal(text(state.noise_variance), text(float(10 ** -1)));
    assert.equal(
      text(compilation.effective!.metadata.resolved_channel_scenario),
      '{"authority":"wireless_channel","channel_state":"channel_state","noise_mode":"snr_at_unit_power",' +
        '"noise_variance":0.1,"reference_snr_db":10.0}',
    );
  }
});

Deno.test("where both leave a value out, the channel's default counts", async () => {
  const { of } = await compiled({});
  assert.deepEqual([of("channel_state").ofdm_fft_size, of("channel_state").num_ofdm_symbols], [64, 14]);
});

Deno.test("the authored form stays sparse, and the effective form compiles to itself", async () => {
  const { compilation } = await compiled({ state: { tdl_model: "B" }, channel: { snr_db: 7 } });
  const channel = compilation.normalized!.steps.find((step) => step.id === "wireless_channel")!;
  assert.equal("tdl_model" in channel.params, false);
  assert.equal("resolved_channel_scenario" in compilation.normalized!.metadata, false);
  const again = await compile(compilation.effective!);
  assert.deepEqual(again.diagnostics, []);
  assert.equal(again.effective_sha256, compilation.effective_sha256);
});

Deno.test("a fixed noise variance goes to the state, and its SNR into the record", async () => {
  const { compilation, of } = await compiled({
    channel: { noise_mode: "fixed_variance", noise_variance: float(0.01) },
  });
  assert.equal(text(of("channel_state").noise_variance), "0.01");
  const record = compilation.effective!.metadata.resolved_channel_scenario as JsonObject;
  assert.equal(
    text([record.noise_mode, record.noise_variance, record.reference_snr_db]),
    '["fixed_variance",0.01,20.0]',
  );
});

async function conflicts(given: Given): Promise<string[]> {
  const { diagnostics, status } = await compile(recipe(given));
  assert.equal(status, "invalid");
  return diagnostics.map(({ code, path }) => `${code} ${path}`);
}

Deno.test("contradictions are all found, each at the state's parameter", async () => {
  assert.deepEqual(
    await conflicts({
      state: { tdl_model: "A", ofdm_fft_size: 32, mobility_kmh: float(3), noise_variance: float(0.5) },
      channel: { tdl_model: "C", ofdm_fft_size: 64, mobility_kmh: 3, snr_db: float(10) },
    }),
    ["tdl_model", "ofdm_fft_size", "mobility_kmh", "noise_variance"]
      .map((key) => `ofdm_scenario_conflict $.steps[2].params.${key}`),
  );
});

Deno.test("equal values, and a noise variance that the SNR gives, are no contradiction", async () => {
  const { compilation } = await compiled({
    state: { tdl_model: "C", noise_variance: float(0.1) },
    channel: { tdl_model: "C", snr_db: float(10) },
  });
  assert.deepEqual(compilation.diagnostics, []);
});

Deno.test("two channels over one state must want the same scenario", async () => {
  const second = (params: JsonObject) => ({
    id: "other_channel",
    op: "wireless.channel",
    params: { channel: "ofdm_tdl", channel_state_mode: "explicit", ...params },
    inputs: { symbols: "channel_state.symbols", channel_state: "channel_state.state" },
  });
  const { compilation } = await compiled({ more: [second({})] });
  assert.deepEqual(compilation.diagnostics, []);
  assert.deepEqual(await conflicts({ more: [second({ num_ofdm_symbols: 3 })] }), [
    "ofdm_scenario_conflict $.steps[4].params.num_ofdm_symbols",
  ]);
  assert.deepEqual(await conflicts({ more: [second({ snr_db: float(3) })] }), [
    "ofdm_scenario_conflict $.steps[4].params.snr_db",
  ]);
});

Deno.test("without a link nothing is shared or recorded", async () => {
  const { compilation, of } = await compiled({ channel: { channel: "awgn" } });
  assert.equal(of("channel_state").ofdm_fft_size, 16);
  assert.equal("resolved_channel_scenario" in compilation.effective!.metadata, false);
});
