/** The wiring table of the link profiles, row by row: what each input may come from, and that nothing else passes. */
import assert from "node:assert/strict";
import { lintRecipe } from "../../../lib/plan/lint.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { lintRegistry } from "./lint_registry.ts";
import { allocated, bitLink, joint, layered, type Patch, type Recipe } from "./lint_recipes.ts";

const registry = lintRegistry();

/** Paths of inputs that lint finds miswired. */
function miswired(recipe: Recipe): string[] {
  const report = lintRecipe(compileRecipe(recipe, { mode: "strict", registry }), { registry });
  return report.issues.filter(({ code }) => code === "input_reference_invalid").map(({ step_id, path }) =>
    `${step_id}.${path.split(".").at(-1)}`
  );
}

const frontend: Patch = {
  receiver_frontend: {
    op: "hardware.receiver_iq_imbalance",
    inputs: { rx_symbols: "wireless_channel.rx_symbols" },
  },
  demodulator: { inputs: { rx_symbols: "receiver_frontend.rx_symbols" } },
};
const withFrontend = (patch: Patch = {}) =>
  layered({ ...frontend, ...patch }, { receiver_frontend: "wireless_channel" });
const stateOnly: Patch = { csi_observation: null, delivery: null };

/** Steps that a link does not have, and whose outputs would fit. */
const ASIDE: Recipe["steps"] = [
  { id: "bits", op: "source.random_bits" },
  { id: "side", op: "modulation.digital_modulate", inputs: { bits: "bits.bits" } },
  { id: "air", op: "wireless.channel", inputs: { symbols: "side.symbols" } },
  { id: "soft", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "air.rx_symbols" } },
  { id: "other_state", op: "wireless.ofdm_channel_state", inputs: { symbols: "side.symbols" } },
];

/** Recipe, consumer, input, a source that does not do. */
const WRONG: [string, () => Recipe, string, string, string][] = [
  ["packetizer", layered, "packetizer", "bits", "data.bits"],
  ["encoder, with packets", layered, "channel_encoder", "bits", "payload_bit_boundary.bits"],
  ["encoder, without", bitLink, "channel_encoder", "bits", "data.bits"],
  ["transmitted boundary", layered, "tx_bit_boundary", "bits", "packetizer.bits"],
  ["modulator", layered, "modulator", "bits", "channel_encoder.coded_bits"],
  ["power", layered, "tx_power", "symbols", "side.symbols"],
  ["channel, with power", layered, "wireless_channel", "symbols", "modulator.symbols"],
  ["channel of a bit link", bitLink, "wireless_channel", "bits", "channel_encoder.coded_bits"],
  ["demodulator", layered, "demodulator", "rx_symbols", "tx_power.symbols"],
  ["front end", withFrontend, "receiver_frontend", "rx_symbols", "air.rx_symbols"],
  ["demodulator behind a front end", withFrontend, "demodulator", "rx_symbols", "wireless_channel.rx_symbols"],
  ["received boundary of a symbol link", layered, "rx_bit_boundary", "bits", "tx_bit_boundary.bits"],
  ["received boundary of a bit link", bitLink, "rx_bit_boundary", "bits", "tx_bit_boundary.bits"],
  ["count reference", layered, "channel_bit_count_match", "reference", "packetizer.bits"],
  ["count candidate", layered, "channel_bit_count_match", "candidate", "demodulator.bits"],
  ["decoder", layered, "channel_decoder", "coded_bits", "demodulator.bits"],
  ["check", layered, "crc_check", "bits", "rx_bit_boundary.bits"],
  ["state", allocated, "channel_state", "symbols", "side.symbols"],
  ["observation", allocated, "csi_observation", "state", "other_state.state"],
  ["knowledge of the allocator", allocated, "tx_power", "channel_state", "csi_observation.actual_state"],
  ["state of the channel", allocated, "wireless_channel", "channel_state", "csi_observation.transmitter_csi"],
  ["channel behind a state", () => allocated({ tx_power: null }), "wireless_channel", "symbols", "modulator.symbols"],
  ["soft bits", allocated, "channel_decoder", "llr", "soft.llr"],
  ["joint power", joint, "tx_power", "symbols", "side.symbols"],
  ["joint transmitted boundary", joint, "tx_symbol_boundary", "symbols", "sender.symbols"],
  ["joint channel", joint, "wireless_channel", "symbols", "tx_power.symbols"],
  ["joint received boundary", joint, "rx_symbol_boundary", "symbols", "tx_symbol_boundary.symbols"],
  ["joint receiver", joint, "receiver", "symbols", "wireless_channel.rx_symbols"],
  ["joint count reference", joint, "channel_symbol_count_match", "reference", "tx_power.symbols"],
  ["joint count candidate", joint, "channel_symbol_count_match", "candidate", "wireless_channel.rx_symbols"],
];

for (const [what, recipe, id, input, source] of WRONG) {
  Deno.test(`miswired: ${what} from ${source}`, () => {
    const spoilt = recipe();
    spoilt.steps.unshift(...ASIDE);
    assert.deepEqual(miswired(spoilt), []);
    const step = spoilt.steps.find((candidate) => candidate.id === id)!;
    step.inputs = { ...step.inputs, [input]: source };
    assert.deepEqual(miswired(spoilt), [`${id}.${input}`]);
  });
}

const RIGHT: [string, Recipe][] = [
  [
    "packets of the second contract from the sender",
    layered({
      sender: { op: "channel.payload_passthrough_encoder", inputs: { bits: "data.bits" } },
      payload_bit_boundary: { inputs: { bits: "sender.bits" } },
      packetizer: { op: "channel.packetize_crc32.v2", inputs: { bits: "sender.bits" } },
    }, { sender: "data" }),
  ],
  [
    "an allocator that knows the true state",
    allocated({
      tx_power: { inputs: { symbols: "channel_state.symbols", channel_state: "channel_state.state" } },
    }),
  ],
  [
    "a channel on the state itself",
    allocated({
      ...stateOnly,
      tx_power: { inputs: { symbols: "modulator.symbols", channel_state: "channel_state.state" } },
      wireless_channel: { inputs: { symbols: "tx_power.symbols", channel_state: "channel_state.state" } },
      demodulator: { inputs: { rx_symbols: "wireless_channel.rx_symbols", allocation: "tx_power.allocation" } },
    }),
  ],
  ["no power step", layered({ tx_power: null, wireless_channel: { inputs: { symbols: "modulator.symbols" } } })],
  [
    "two power steps in a row",
    layered({
      tx_power_normalize: { op: "channel.symbol_power_normalize", inputs: { symbols: "tx_power.symbols" } },
      wireless_channel: { inputs: { symbols: "tx_power_normalize.symbols" } },
    }, { tx_power_normalize: "tx_power" }),
  ],
  [
    "a symbol bypass",
    layered({
      wireless_channel: { op: "channel.identity_symbol_link", params: {}, inputs: { symbols: "tx_power.symbols" } },
      demodulator: { inputs: { rx_symbols: "wireless_channel.symbols" } },
    }),
  ],
  ["a front end", withFrontend()],
  [
    "a joint link with a state",
    joint({
      channel_state: { op: "wireless.ofdm_channel_state", inputs: { symbols: "tx_symbol_boundary.symbols" } },
      wireless_channel: {
        params: { channel: "ofdm_tdl", channel_state_mode: "explicit" },
        inputs: { symbols: "channel_state.symbols", channel_state: "channel_state.state" },
      },
    }, { channel_state: "tx_symbol_boundary" }),
  ],
];

for (const [what, recipe] of RIGHT) {
  Deno.test(`well wired: ${what}`, () => assert.deepEqual(miswired(recipe), []));
}

Deno.test("a recipe that claims no link is wired as its author likes", () => {
  const recipe = layered({ modulator: { inputs: { bits: "data.bits" } } });
  assert.deepEqual(miswired(recipe), ["modulator.bits"]);
  for (const execution_profile of ["custom", { id: "custom", based_on: { id: "layered_digital", version: 1 } }, null]) {
    assert.deepEqual(miswired({ ...recipe, execution_profile }), []);
  }
});
