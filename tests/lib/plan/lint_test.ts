/** Every rule of lint, by a clean recipe spoilt in one way: exactly that code, where, and what to do. */
import assert from "node:assert/strict";
import { float } from "../../../lib/contract/value.ts";
import { lintRecipe, type LintReport } from "../../../lib/plan/lint.ts";
import { FLOW_RULES } from "../../../lib/plan/lint/flow_rules.ts";
import { RULES } from "../../../lib/plan/lint/rules.ts";
import { VALUE_RULES } from "../../../lib/plan/lint/value_rules.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { lintRegistry } from "./lint_registry.ts";
import { allocated, bitLink, custom, joint, layered, pictures, type Recipe } from "./lint_recipes.ts";

const registry = lintRegistry();

function lint(recipe: unknown, strict = true): LintReport {
  return lintRecipe(compileRecipe(recipe, { mode: "strict", registry }), { registry, strict });
}

type Case = [code: string, what: string, recipe: Recipe, path: string, hint: RegExp, severity?: "warning"];

/** The path of a step in a recipe. */
const at = (recipe: Recipe, id: string, rest = "") =>
  `$.steps[${recipe.steps.findIndex((step) => step.id === id)}]${rest}`;
/** A case whose path is that of a step. */
function spoilt(
  code: string,
  what: string,
  recipe: Recipe,
  [id, rest]: [string, string],
  hint: RegExp,
  severity?: "warning",
): Case {
  return [code, what, recipe, at(recipe, id, rest), hint, severity];
}

const ber = (reference: string, candidate: string, label = "ber") => ({
  op: "metrics.bit_error_rate",
  params: { label },
  inputs: { reference, candidate },
});
const accounts = (payload_bits: string, framed_bits: string, coded_bits: string, symbols: string) => ({
  inputs: { payload_bits, framed_bits, coded_bits, symbols },
});
const shortLink = { crc_check: null, resources: null };
/** Without packets: the encoder takes the payload. */
const bare = {
  packetizer: null,
  ...shortLink,
  channel_encoder: { inputs: { bits: "payload_bit_boundary.bits" } },
  evaluation: ber("data.bits", "channel_decoder.bits"),
};
const learned = {
  policy: "learned_checkpoint",
  granularity: "per_subcarrier",
  checkpoint_path: "policy.npz",
  checkpoint_sha256: "a".repeat(64),
};
const policy = (params: Record<string, unknown>) => ({ tx_power: { params } });

/** A link with pilots; with a slot or a second estimator, which are used only when a step is rewired. */
function estimated(changes: Record<string, { params?: object; inputs?: object }> = {}): Recipe {
  const rx = { rx_symbols: "channel.rx_symbols", pilot_context: "pilots.pilot_context" };
  const steps = [
    { id: "data", op: "source.random_bits" },
    { id: "modulator", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
    { id: "pilots", op: "modulation.ofdm_pilot_insert", inputs: { symbols: "modulator.symbols" } },
    {
      id: "channel",
      op: "wireless.channel",
      params: { channel: "ofdm_tdl", receiver_processing: "none", delay_spread_ns: float(300), ofdm_fft_size: 72 },
      inputs: { symbols: "pilots.symbols" },
    },
    ...(changes.estimator
      ? [
        { id: "observation", op: "demodulation.ofdm_pilot_observation", inputs: rx },
        { id: "slot", op: "model.channel_estimator_adapter", inputs: { problem: "observation.observation" } },
      ]
      : []),
    { id: "estimator", op: "model.ofdm_channel_estimator", inputs: rx },
    ...(changes.equalizer ? [{ id: "perfect", op: "model.ofdm_channel_estimator", inputs: rx }] : []),
    { id: "equalizer", op: "demodulation.ofdm_equalize", inputs: { ...rx, estimate: "estimator.estimate" } },
    { id: "demodulator", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "equalizer.rx_symbols" } },
    { id: "evaluation", ...ber("data.bits", "demodulator.bits") },
  ].map((step) => {
    const { params, inputs } = changes[step.id] ?? {};
    const given = step as { params?: object; inputs?: object };
    return { ...step, params: { ...given.params, ...params }, inputs: { ...given.inputs, ...inputs } };
  });
  const metadata = { ...custom().metadata as object, rate_count_fixed_point: "modulator.symbols" };
  return { ...custom(), metadata, steps } as Recipe;
}

/** OFDM samples through an amplifier after a quantiser. */
function amplified(oversampling: number): Recipe {
  const steps = [
    { id: "data", op: "source.random_bits" },
    { id: "modulator", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
    {
      id: "waveform",
      op: "modulation.ofdm_waveform",
      params: { oversampling },
      inputs: { symbols: "modulator.symbols" },
    },
    { id: "converter", op: "hardware.quantizer", inputs: { signal: "waveform.waveform" } },
    { id: "amplifier", op: "hardware.power_amplifier", inputs: { signal: "converter.signal" } },
    { id: "channel", op: "wireless.multipath_waveform", inputs: { waveform: "amplifier.signal" } },
    { id: "receiver", op: "demodulation.ofdm_receive", inputs: { waveform: "channel.waveform" } },
    { id: "demodulator", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "receiver.rx_symbols" } },
    { id: "evaluation", ...ber("data.bits", "demodulator.bits") },
  ];
  const metadata = { ...custom().metadata as object, rate_count_fixed_point: "modulator.symbols" };
  return { ...custom(), metadata, steps } as Recipe;
}

/** A link with a reflecting surface. */
function reflected(params: object): Recipe {
  const steps = [
    { id: "scenario", op: "source.ris_scenario", params, inputs: {} },
    { id: "surface", op: "model.ris_phase_optimizer", params: {}, inputs: { problem: "scenario.problem" } },
    {
      id: "evaluation",
      op: "metrics.ris",
      params: {},
      inputs: { decision: "surface.decision", problem: "scenario.problem" },
    },
  ];
  return { ...custom(), metadata: { seed: 23 }, steps } as Recipe;
}

/** Targets before an OFDM radar. */
function echoes(params: object): Recipe {
  const steps = [
    { id: "scenario", op: "source.isac_echo_scenario", params },
    { id: "radar", op: "model.range_doppler_map", params: {}, inputs: { echo: "scenario.echo" } },
    {
      id: "evaluation",
      op: "metrics.range_doppler",
      params: {},
      inputs: { estimate: "radar.estimate", truth: "scenario.truth" },
    },
  ];
  return { ...custom(), metadata: { seed: 23 }, steps } as Recipe;
}

/** Two sources at an array, with an estimator. */
function directions(op: string, params: object = {}, scene: object = {}): Recipe {
  const steps = [
    { id: "data", op: "source.aoa_scene", params: { source_count: 2, ...scene } },
    { id: "array", op: "wireless.ula_array_observation", params: {}, inputs: { scene: "data.scene" } },
    { id: "estimator", op, params, inputs: { problem: "array.observation" } },
    {
      id: "evaluation",
      op: "metrics.aoa_estimation",
      params: {},
      inputs: { estimate: "estimator.estimate", problem: "array.truth" },
    },
  ];
  const { rate_count_fixed_point: _none, ...metadata } = custom().metadata as Record<string, unknown>;
  return { ...custom(), metadata, steps } as Recipe;
}

function downlink(scenario: Record<string, number>, mode: string): Recipe {
  const steps = [
    { id: "data", op: "source.mu_mimo_scenario", params: scenario },
    { id: "precoder", op: "model.mu_mimo_precoder", params: { mode }, inputs: { problem: "data.problem" } },
    {
      id: "evaluation",
      op: "metrics.mu_mimo",
      inputs: { decision: "precoder.decision", problem: "data.problem" },
    },
  ];
  const { rate_count_fixed_point: _bits, ...metadata } = custom().metadata as Record<string, unknown>;
  return { ...custom(), metadata, steps } as Recipe;
}

const CASES: Case[] = [
  // Wiring of the link profiles.
  spoilt(
    "input_reference_invalid",
    "encoder bypasses the packetizer",
    layered({
      channel_encoder: { inputs: { bits: "payload_bit_boundary.bits" } },
      packetizer: {},
      crc_check: null,
      resources: null,
      evaluation: ber("data.bits", "channel_decoder.bits"),
    }),
    ["channel_encoder", ".inputs.bits"],
    /Wire packetizer\.bits/,
  ),
  spoilt(
    "input_reference_invalid",
    "the channel passes the transmit power by",
    layered({ wireless_channel: { inputs: { symbols: "modulator.symbols" } } }),
    ["wireless_channel", ".inputs.symbols"],
    /Wire tx_power\.symbols/,
  ),
  spoilt(
    "input_reference_invalid",
    "a joint receiver passes the boundary by",
    joint({ receiver: { inputs: { symbols: "wireless_channel.rx_symbols" } } }),
    ["receiver", ".inputs.symbols"],
    /Wire rx_symbol_boundary\.symbols/,
  ),
  spoilt(
    "input_reference_invalid",
    "a count comparison with its sides exchanged",
    joint({
      channel_symbol_count_match: {
        inputs: { reference: "tx_symbol_boundary.symbols", candidate: "wireless_channel.rx_symbols" },
      },
    }),
    ["channel_symbol_count_match", ".inputs.candidate"],
    /Wire rx_symbol_boundary\.symbols/,
  ),
  spoilt(
    "packetizer_op_invalid",
    "a boundary as packetizer",
    layered({ ...bare, packetizer: { op: "channel.bit_boundary", params: {} }, channel_encoder: {} }),
    ["packetizer", ".op"],
    /channel\.packetize_crc32 or channel\.packetize_crc32\.v2/,
  ),
  spoilt(
    "crc_check_op_invalid",
    "a boundary as check",
    layered({ ...bare, crc_check: { op: "channel.bit_boundary" } }),
    ["crc_check", ".op"],
    /Use channel\.crc32_check/,
  ),
  spoilt(
    "tx_power_op_invalid",
    "a boundary as transmit power",
    layered({ tx_power: { op: "channel.symbol_boundary" } }),
    ["tx_power", ".op"],
    /channel\.symbol_power_identity/,
  ),
  spoilt(
    "modulator_missing",
    "a symbol link whose modulator has another id",
    layered({
      modulator: null,
      mapper: { op: "modulation.digital_modulate", inputs: { bits: "tx_bit_boundary.bits" } },
      tx_power: null,
      wireless_channel: { inputs: { symbols: "mapper.symbols" } },
      resources: null,
    }, { mapper: "tx_bit_boundary" }),
    ["wireless_channel", ""],
    /Add a step modulator/,
  ),
  spoilt(
    "demodulator_missing",
    "a symbol link whose demodulator has another id",
    layered({
      demodulator: null,
      demapper: { op: "demodulation.digital_demodulate", inputs: { rx_symbols: "wireless_channel.rx_symbols" } },
      rx_bit_boundary: { inputs: { bits: "demapper.bits" } },
    }, { demapper: "wireless_channel" }),
    ["wireless_channel", ""],
    /Add a step demodulator/,
  ),
  spoilt(
    "modulator_op_invalid",
    "a joint encoder as modulator",
    layered({
      pictures: { op: "source.image_dataset" },
      modulator: { op: "model.deepjscc_external_encode", inputs: { images: "pictures.images" } },
      resources: null,
      ...{ evaluation: null, crc_check: null },
    }, { pictures: "data" }),
    ["modulator", ".op"],
    /modulation\.digital_modulate/,
  ),
  spoilt(
    "demodulator_op_invalid",
    "another channel as demodulator",
    layered({
      demodulator: { op: "channel.identity_link", inputs: { bits: "tx_bit_boundary.bits" } },
    }),
    ["demodulator", ".op"],
    /demodulation\.digital_demodulate/,
  ),
  spoilt(
    "channel_state_op_invalid",
    "a boundary as channel state",
    layered({ channel_state: { op: "channel.symbol_boundary", inputs: { symbols: "modulator.symbols" } } }, {
      channel_state: "modulator",
    }),
    ["channel_state", ".op"],
    /wireless\.ofdm_channel_state/,
  ),
  spoilt(
    "csi_observation_op_invalid",
    "a boundary as observation",
    layered({
      channel_state: { op: "wireless.ofdm_channel_state", inputs: { symbols: "modulator.symbols" } },
      csi_observation: { op: "channel.symbol_boundary", inputs: { symbols: "modulator.symbols" } },
    }, { channel_state: "modulator", csi_observation: "channel_state" }),
    ["csi_observation", ".op"],
    /wireless\.ofdm_delayed_csi/,
  ),
  spoilt(
    "csi_observation_state_missing",
    "an observation of a state with another id",
    layered({
      chanel_state: { op: "wireless.ofdm_channel_state", inputs: { symbols: "modulator.symbols" } },
      csi_observation: { op: "wireless.ofdm_delayed_csi", inputs: { state: "chanel_state.state" } },
    }, { chanel_state: "modulator", csi_observation: "chanel_state" }),
    ["csi_observation", ""],
    /Did you mean chanel_state\?/,
  ),
  spoilt(
    "receiver_frontend_op_invalid",
    "carrier noise as receiver front end",
    layered({
      receiver_frontend: {
        op: "wireless.carrier_phase_impairment",
        inputs: { rx_symbols: "wireless_channel.rx_symbols" },
      },
      demodulator: { inputs: { rx_symbols: "receiver_frontend.rx_symbols" } },
    }, { receiver_frontend: "wireless_channel" }),
    ["receiver_frontend", ".op"],
    /hardware\.receiver_iq_imbalance/,
  ),
  spoilt(
    "carrier_impairment_op_invalid",
    "a receiver front end as carrier noise",
    layered({
      carrier_impairment: {
        op: "hardware.receiver_iq_imbalance",
        inputs: { rx_symbols: "wireless_channel.rx_symbols" },
      },
      demodulator: { inputs: { rx_symbols: "carrier_impairment.rx_symbols" } },
    }, { carrier_impairment: "wireless_channel" }),
    ["carrier_impairment", ".op"],
    /wireless\.carrier_phase_impairment/,
  ),
  ...(["receiver_frontend", "carrier_impairment"] as const).map((id) => {
    const op = id === "receiver_frontend" ? "hardware.receiver_iq_imbalance" : "wireless.carrier_phase_impairment";
    return spoilt(
      `${id}_channel_invalid`,
      "a front end behind a bit link",
      bitLink({
        side: { op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
        air: { op: "wireless.channel", inputs: { symbols: "side.symbols" } },
        [id]: { op, inputs: { rx_symbols: "air.rx_symbols" } },
        wireless_channel: { op: "wireless.digital_link" },
      }),
      [id, ""],
      /returns bits/,
    );
  }),
  spoilt(
    "receiver_frontend_ambiguous",
    "two front ends",
    layered({
      receiver_frontend: {
        op: "hardware.receiver_iq_imbalance",
        inputs: { rx_symbols: "wireless_channel.rx_symbols" },
      },
      carrier_impairment: {
        op: "wireless.carrier_phase_impairment",
        inputs: { rx_symbols: "wireless_channel.rx_symbols" },
      },
      demodulator: { inputs: { rx_symbols: "receiver_frontend.rx_symbols" } },
    }, { receiver_frontend: "wireless_channel", carrier_impairment: "receiver_frontend" }),
    ["carrier_impairment", ".id"],
    /Keep one/,
  ),

  // Powers and channel knowledge.
  spoilt(
    "delayed_csi_water_filling_policy_invalid",
    "water-filling takes old knowledge for true",
    allocated(policy({ policy: "water_filling" })),
    ["tx_power", ".params.policy"],
    /observed_csi_water_filling/,
  ),
  spoilt(
    "csi_power_policy_state_missing",
    "water-filling without a state",
    layered({
      tx_power: { op: "model.symbol_power_allocator", params: { policy: "water_filling" } },
    }),
    ["tx_power", ".inputs.channel_state"],
    /fixed or snr_sigmoid/,
  ),
  spoilt(
    "learned_power_checkpoint_path_missing",
    "no checkpoint",
    allocated(policy({ ...learned, checkpoint_path: "" })),
    ["tx_power", ".params.checkpoint_path"],
    /Name the file/,
  ),
  spoilt(
    "learned_power_checkpoint_sha_missing",
    "a digest in upper case",
    allocated(policy({ ...learned, checkpoint_sha256: "A".repeat(64) })),
    ["tx_power", ".params.checkpoint_sha256"],
    /64 lower-case hexadecimal digits/,
  ),
  spoilt(
    "learned_power_checkpoint_sha_missing",
    "a package without a digest",
    allocated(policy({ policy: "learned_artifact", granularity: "per_subcarrier", artifact_manifest_path: "m.json" })),
    ["tx_power", ".params.artifact_package_sha256"],
    /SHA-256/,
  ),
  spoilt(
    "learned_power_granularity_invalid",
    "one power for all",
    allocated(policy({ ...learned, granularity: "global" })),
    ["tx_power", ".params.granularity"],
    /Set granularity to per_subcarrier/,
  ),
  spoilt(
    "learned_power_budget_invalid",
    "no fixed budget",
    // The SNR that then is not that of the link is given as a variance here.
    allocated({
      ...policy({ ...learned, budget_mode: "variable_average" }),
      wireless_channel: {
        params: {
          channel: "ofdm_tdl",
          channel_state_mode: "explicit",
          noise_mode: "fixed_variance",
          noise_variance: 0.1,
        },
      },
    }),
    ["tx_power", ".params.budget_mode"],
    /Set budget_mode to fixed_average/,
  ),
  spoilt(
    "delayed_csi_nr_receiver_processing_invalid",
    "soft decoding of what no receiver has processed",
    allocated({
      wireless_channel: {
        params: { channel: "awgn", receiver_processing: "none" },
        inputs: { symbols: "tx_power.symbols" },
      },
    }),
    ["wireless_channel", ".params.receiver_processing"],
    /matched/,
  ),
  spoilt(
    "delayed_csi_nr_delivery_metric_missing",
    "no delivery metric",
    allocated({ delivery: null }),
    ["channel_decoder", ""],
    /metrics\.nr_ldpc_ofdm_delivery/,
  ),
  spoilt(
    "delayed_csi_nr_delivery_metric_invalid",
    "delivery on the state that the transmitter knew",
    (() => {
      const recipe = allocated();
      recipe.steps.at(-1)!.inputs = {
        ...recipe.steps.at(-1)!.inputs,
        actual_state: "csi_observation.transmitter_csi",
      };
      return recipe;
    })(),
    ["delivery", ".inputs.actual_state"],
    /Wire csi_observation\.actual_state/,
  ),
  spoilt(
    "reference_snr_with_variable_power",
    "the SNR at a power of 2",
    layered({ tx_power: { params: { target_power: float(2) } } }),
    ["wireless_channel", ".params.snr_db"],
    /fixed_variance/,
    "warning",
  ),
  spoilt(
    "reference_snr_with_variable_power",
    "zeros and ones",
    layered({
      modulator: { op: "modulation.identity_modulate" },
      demodulator: { op: "demodulation.identity_demodulate" },
      tx_power: { op: "channel.symbol_power_identity" },
    }),
    ["wireless_channel", ".params.snr_db"],
    /fixed_variance/,
    "warning",
  ),
  spoilt(
    "power_allocation_not_undone",
    "LLRs without the allocation",
    allocated({ demodulator: { inputs: { rx_symbols: "wireless_channel.rx_symbols" } } }),
    ["demodulator", ".inputs.allocation"],
    /Wire allocation to tx_power\.allocation/,
  ),
  spoilt(
    "symbol_scale_not_undone",
    "16QAM at a power of 4",
    layered({
      modulator: { params: { modulation: "qam16" } },
      tx_power: { params: { target_power: float(4) } },
      wireless_channel: { params: { noise_mode: "fixed_variance", noise_variance: 0.1 } },
    }),
    ["demodulator", ".inputs.rx_symbols"],
    /target_power to 1\.0/,
  ),

  // Models and runtimes.
  spoilt(
    "benchmark_runner_unsupported",
    "an operation that only exports",
    pictures({ exported: { op: "test.only_exported" } }),
    ["exported", ".op"],
    /differentiable_export/,
  ),
  spoilt(
    "runtime_export_missing",
    "a runtime without a model",
    pictures({ encoder: { op: "model.codeclib_onnx_encode", inputs: { images: "data.images" } } }),
    ["encoder", ".inputs.model"],
    /exports the model/,
  ),
  spoilt(
    "runtime_model_input_missing",
    "a model that is not wired",
    pictures({
      codec: { op: "model.codeclib_export_onnx", inputs: { images: "data.images" } },
      encoder: { op: "model.codeclib_onnx_encode", inputs: { images: "data.images" } },
    }),
    ["encoder", ".inputs.model"],
    /Wire model to codec\.model/,
  ),
  spoilt(
    "runtime_model_kind_invalid",
    "a model of another form",
    pictures({
      codec: { op: "model.codeclib_export_onnx", inputs: { images: "data.images" } },
      compiled: { op: "model.codeclib_export_aoti", inputs: { images: "data.images" } },
      encoder: { op: "model.codeclib_onnx_encode", inputs: { images: "data.images", model: "compiled.model" } },
    }),
    ["encoder", ".inputs.model"],
    /Wire model to codec\.model/,
  ),
  spoilt(
    "runtime_adapter_missing",
    "a model that nobody runs",
    pictures({ codec: { op: "model.codeclib_export_onnx", inputs: { images: "data.images" } } }),
    ["codec", ""],
    /Wire codec\.model/,
  ),
  [
    "runtime_unknown",
    "a runtime that is not listed",
    pictures({}, { runtime: "onnxruntim" }),
    "$.metadata.runtime",
    /Did you mean onnxruntime\?/,
    "warning",
  ],
  [
    "runtime_unknown",
    "timing under no runner",
    pictures({}, { codec_timing: { enabled: true, runner: "benchmark" } }),
    "$.metadata.codec_timing.runner",
    /Did you mean benchmark_run\?/,
    "warning",
  ],

  // What bits go through.
  spoilt(
    "ber_length_mismatch",
    "payload against packets",
    layered({ evaluation: ber("data.bits", "channel_decoder.bits") }),
    ["evaluation", ".inputs.candidate"],
    /same stage/,
  ),
  spoilt(
    "ber_length_mismatch",
    "payload against coded bits",
    layered({
      evaluation: { op: "metrics.block_error_rate", inputs: { reference: "data.bits", candidate: "demodulator.bits" } },
    }),
    ["evaluation", ".inputs.candidate"],
    /same stage/,
  ),
  spoilt(
    "ber_streams_unrelated",
    "another source as reference",
    layered({ other: { op: "source.random_bits" }, evaluation: ber("other.bits", "channel_decoder.bits") }, {
      other: "data",
    }),
    ["evaluation", ".inputs.candidate"],
    /reference that was sent/,
    "warning",
  ),
  spoilt(
    "metric_compares_itself",
    "what was received against itself",
    layered({ evaluation: ber("crc_check.bits", "crc_check.bits") }),
    ["evaluation", ".inputs.candidate"],
    /to the received data/,
  ),
  spoilt(
    "crc_without_packetizer",
    "a check of bits that were not framed",
    layered({ ...bare, crc_check: {}, evaluation: ber("data.bits", "crc_check.bits") }),
    ["crc_check", ".inputs.bits"],
    /Add a step packetizer/,
  ),
  spoilt(
    "crc_without_packetizer",
    "a check of coded bits that were not framed",
    custom({
      ...bare,
      crc_check: { inputs: { bits: "rx_bit_boundary.bits" } },
      evaluation: ber("tx_bit_boundary.bits", "rx_bit_boundary.bits"),
    }),
    ["crc_check", ".inputs.bits"],
    /Add a step packetizer/,
  ),
  spoilt(
    "channel_decoder_mismatch",
    "a vote over bits that were not repeated",
    layered({ ...bare, channel_encoder: { op: "channel.identity_encoder", params: {}, ...bare.channel_encoder } }),
    ["channel_decoder", ".inputs.coded_bits"],
    /decoder of the encoder/,
  ),
  spoilt(
    "channel_decoder_mismatch",
    "a repetition code that nobody undoes",
    layered({ ...bare, channel_decoder: { op: "channel.identity_decoder" } }),
    ["channel_decoder", ".op"],
    /decoder of channel\.repetition_encoder/,
  ),
  spoilt(
    "decoding_order_invalid",
    "packets are checked before the code is off",
    custom({
      crc_check: { inputs: { bits: "rx_bit_boundary.bits" } },
      checked: { op: "channel.bit_boundary", inputs: { bits: "crc_check.bits" } },
      channel_decoder: { inputs: { coded_bits: "checked.bits" } },
      evaluation: ber("data.bits", "channel_decoder.bits"),
    }, { checked: "crc_check", channel_decoder: "checked", evaluation: "channel_decoder" }),
    ["crc_check", ".inputs.bits"],
    /reverse order/,
  ),
  spoilt(
    "payload_still_coded",
    "text out of packets",
    layered({
      crc_check: null,
      receiver: { op: "model.text_utf8_decode", inputs: { bits: "channel_decoder.bits" } },
      evaluation: ber("packetizer.bits", "channel_decoder.bits"),
    }, { receiver: "channel_decoder" }),
    ["receiver", ".inputs.bits"],
    /the layer of packetizer/,
  ),
  spoilt(
    "repetition_factor_mismatch",
    "a vote over five copies of three",
    layered({ channel_decoder: { params: { factor: 5 } } }),
    ["channel_decoder", ".params.factor"],
    /Leave factor at 0/,
  ),
  spoilt(
    "accounting_stage_mismatch",
    "coded bits from before the encoder",
    layered({
      resources: accounts(
        "payload_bit_boundary.bits",
        "packetizer.bits",
        "payload_bit_boundary.bits",
        "tx_power.symbols",
      ),
    }),
    ["resources", ".inputs.coded_bits"],
    /channel encoder/,
  ),
  spoilt(
    "accounting_stage_mismatch",
    "packets as payload",
    layered({ resources: accounts("packetizer.bits", "packetizer.bits", "tx_bit_boundary.bits", "tx_power.symbols") }),
    ["resources", ".inputs.payload_bits"],
    /before packets and code/,
  ),
  spoilt(
    "rate_counted_twice",
    "the code as framing",
    layered({
      resources: accounts(
        "payload_bit_boundary.bits",
        "tx_bit_boundary.bits",
        "tx_bit_boundary.bits",
        "tx_power.symbols",
      ),
    }),
    ["resources", ".inputs.framed_bits"],
    /packetizer/,
  ),
  spoilt(
    "rate_counted_twice",
    "a code and the code of the oracle",
    bitLink({
      channel_encoder: { op: "channel.repetition_encoder" },
      wireless_channel: { op: "channel.capacity_oracle_digital_link" },
      channel_decoder: { op: "channel.repetition_decoder" },
    }),
    ["wireless_channel", ".params.ldpc_rate"],
    /identity_encoder/,
  ),
  spoilt(
    "rate_counted_twice",
    "a code in a code",
    custom({
      outer: { op: "channel.repetition_encoder", inputs: { bits: "payload_bit_boundary.bits" } },
      between: { op: "channel.bit_boundary", inputs: { bits: "outer.coded_bits" } },
      packetizer: null,
      channel_encoder: { inputs: { bits: "between.bits" } },
      ...shortLink,
      evaluation: null,
    }, { outer: "payload_bit_boundary", between: "outer" }),
    ["channel_encoder", ".inputs.bits"],
    /Keep one code/,
    "warning",
  ),
  spoilt(
    "rate_counted_twice",
    "two accounts of one link",
    layered({
      again: {
        op: "channel.communication_resource_accounting",
        ...accounts("payload_bit_boundary.bits", "packetizer.bits", "tx_bit_boundary.bits", "tx_power.symbols"),
      },
    }),
    ["again", ""],
    /Keep one of resources and again/,
    "warning",
  ),
  spoilt(
    "rate_counted_twice",
    "pilots beside symbols that hold them",
    layered({
      modulator: { op: "modulation.qpsk_pilot_modulate" },
      demodulator: {
        op: "demodulation.phase_tracking_receiver_adapter",
        inputs: { rx_symbols: "wireless_channel.rx_symbols", pilot_context: "modulator.pilot_context" },
      },
      resources: { params: { pilot_symbol_count: 16 } },
    }),
    ["resources", ".params.pilot_symbol_count"],
    /at 0/,
  ),

  // The link itself.
  spoilt(
    "modulation_mismatch",
    "QPSK read as 16QAM",
    layered({ demodulator: { params: { modulation: "qam16" } } }),
    ["demodulator", ".params.modulation"],
    /at auto/,
  ),
  spoilt(
    "modulation_mismatch",
    "a family that does not fit",
    layered({ demodulator: { op: "demodulation.identity_demodulate" } }),
    ["demodulator", ".op"],
    /digital_demodulate or demodulation\.neural_receiver_adapter/,
  ),
  spoilt(
    "modulation_mismatch",
    "16QAM into a QPSK receiver",
    layered({
      modulator: { params: { modulation: "qam16" } },
      demodulator: { op: "demodulation.neural_receiver_adapter" },
    }),
    ["demodulator", ".op"],
    /send qpsk/,
  ),
  spoilt(
    "modulation_mismatch",
    "a matrix over one side only",
    custom({ demodulator: { params: { modulation: "qpsk" } } }, {}, {
      matrix: {
        dimensions: { modulation: ["qpsk", "qam16"] },
        step_params: { modulator: { modulation: { matrix: "modulation" } } },
      },
    }),
    ["demodulator", ".params.modulation"],
    /at auto/,
  ),
  spoilt(
    "modulation_order_mismatch",
    "rate matching for 16QAM, sent as QPSK",
    allocated({ channel_encoder: { params: { num_bits_per_symbol: 4 } } }),
    ["channel_encoder", ".params.num_bits_per_symbol"],
    /to 2/,
    "warning",
  ),
  spoilt(
    "fixed_noise_variance_missing",
    "a variance that is not given",
    layered({ wireless_channel: { params: { noise_mode: "fixed_variance" } } }),
    ["wireless_channel", ".params.noise_variance"],
    /Set noise_variance/,
  ),
  spoilt(
    "snr_on_bit_link_ignored",
    "an SNR on an ideal link",
    bitLink({ wireless_channel: { params: { snr_db: 6.5 } } }),
    ["wireless_channel", ".params.snr_db"],
    /wireless\.digital_link/,
  ),
  [
    "snr_on_bit_link_ignored",
    "an SNR sweep over an ideal link",
    bitLink({}, {}, {
      matrix: {
        dimensions: { snr_db: [float(0), float(6)] },
        step_params: { wireless_channel: { snr_db: { matrix: "snr_db" } } },
      },
    }),
    "$.metadata.matrix.step_params.wireless_channel.snr_db",
    /wireless\.digital_link/,
  ],
  [
    "snr_on_bit_link_ignored",
    "an SNR in the metadata of an ideal link",
    bitLink({}, {}, { snr_db: 6.5 }),
    "$.metadata.snr_db",
    /or remove it/,
    "warning",
  ],
  spoilt(
    "noise_variance_assumed",
    "soft decoding without noise",
    allocated({
      channel_state: null,
      csi_observation: null,
      tx_power: { op: "channel.symbol_power_normalize", params: {}, inputs: { symbols: "modulator.symbols" } },
      wireless_channel: {
        op: "channel.identity_symbol_link",
        params: {},
        inputs: { symbols: "tx_power.symbols" },
      },
      demodulator: { inputs: { rx_symbols: "wireless_channel.symbols" } },
      delivery: null,
    }),
    ["demodulator", ".inputs.rx_symbols"],
    /wireless\.channel/,
    "warning",
  ),
  spoilt(
    "channel_param_ignored",
    "interferers on AWGN",
    layered({ wireless_channel: { params: { interferers: 2 } } }),
    ["wireless_channel", ".params.interferers"],
    /interference_awgn/,
    "warning",
  ),
  spoilt(
    "channel_param_ignored",
    "speed on a channel that stands still",
    layered({ wireless_channel: { params: { channel: "ofdm_tdl", mobility_kmh: float(120) } } }),
    ["wireless_channel", ".params.mobility_kmh"],
    /ofdm_channel_state/,
    "warning",
  ),
  [
    "channel_param_ignored",
    "a sweep over interferers on AWGN",
    layered({}, {}, {
      matrix: {
        dimensions: { count: [1, 2] },
        step_params: { wireless_channel: { interferers: { matrix: "count" } } },
      },
    }),
    "$.metadata.matrix.step_params.wireless_channel.interferers",
    /interference_awgn/,
    "warning",
  ],
  spoilt(
    "interference_without_interferers",
    "interference by nobody",
    layered({ wireless_channel: { params: { channel: "interference_awgn" } } }),
    ["wireless_channel", ".params.interferers"],
    /1 or more/,
    "warning",
  ),
  spoilt(
    "fading_not_equalized",
    "decisions on unknown phases",
    layered({ wireless_channel: { params: { channel: "flat_rayleigh", receiver_processing: "none" } } }),
    ["demodulator", ".inputs.rx_symbols"],
    /matched/,
    "warning",
  ),
  spoilt(
    "fading_not_equalized",
    "OFDM without an equaliser",
    layered({ wireless_channel: { params: { channel: "ofdm_tdl", receiver_processing: "none" } } }),
    ["demodulator", ".inputs.rx_symbols"],
    /estimates the channel/,
    "warning",
  ),
  spoilt(
    "distortion_undersampled",
    "distortion at the sample rate of the waveform",
    amplified(1),
    ["waveform", ".params.oversampling"],
    /Set oversampling of waveform to 4/,
    "warning",
  ),
  spoilt(
    "channel_estimate_unused",
    "an estimate that goes nowhere",
    estimated({ equalizer: { inputs: { estimate: "perfect.estimate" } } }),
    ["estimator", ".op"],
    /ofdm_equalize/,
    "warning",
  ),
  spoilt(
    "channel_estimate_unused",
    "the estimate of a slot, which another method replaces",
    estimated({ estimator: { inputs: { pilot_estimate: "slot.estimate" }, params: { method: "lmmse" } } }),
    ["estimator", ".params.method"],
    /Set method to given/,
    "warning",
  ),
  spoilt(
    "pilot_spacing_too_wide",
    "pilots too far apart for the delay spread",
    estimated({ pilots: { params: { pattern: "comb", pilot_spacing: 24 } } }),
    ["pilots", ".params.pilot_spacing"],
    /22 or less/,
    "warning",
  ),
  spoilt(
    "pilot_spacing_too_wide",
    "means of pilot pairs over a selective channel",
    estimated({
      pilots: { params: { port_count: 2, cdm_groups_without_data: 1 } },
      channel: { params: { delay_spread_ns: float(900), subcarrier_spacing_khz: float(30) } },
    }),
    ["pilots", ".op"],
    /or use one port/,
    "warning",
  ),
  spoilt(
    "targets_beyond_unambiguous_span",
    "velocities whose Doppler shifts alias",
    echoes({ velocity_max_mps: float(400) }),
    ["scenario", ".params.velocity_max_mps"],
    /Set velocity_max_mps to 300 or less/,
    "warning",
  ),
  spoilt(
    "targets_beyond_unambiguous_span",
    "default ranges beyond c/(2Δf)",
    echoes({ subcarrier_spacing_khz: float(1200) }),
    ["scenario", ".op"],
    /Set range_max_m to 124 or less/,
    "warning",
  ),
  spoilt(
    "surface_phases_not_closed_form",
    "closed-form phases for an array",
    reflected({ elements: 8, tx_antennas: 4 }),
    ["scenario", ".params.tx_antennas"],
    /alternating/,
  ),
  spoilt(
    "source_count_mismatch",
    "an estimator of one source for two",
    directions("model.music_aoa_estimator"),
    ["estimator", ".op"],
    /multi_aoa_estimator/,
    "warning",
  ),
  spoilt(
    "source_count_mismatch",
    "three directions of two sources",
    directions("model.multi_aoa_estimator", { source_count: 3 }),
    ["estimator", ".params.source_count"],
    /source_count to 2/,
    "warning",
  ),
  spoilt(
    "coherent_sources_not_smoothed",
    "a covariance of rank one",
    directions("model.multi_aoa_estimator", { mode: "esprit" }, { source_correlation: float(1) }),
    ["estimator", ".params.mode"],
    /forward_backward/,
    "warning",
  ),
  spoilt(
    "precoder_antennas_conflict",
    "zero forcing of more users than antennas",
    downlink({ users: 5, tx_antennas: 4 }, "zf"),
    ["precoder", ".params.mode"],
    /tx_antennas of data to 5 or more/,
  ),
  spoilt(
    "precoder_antennas_conflict",
    "weighted MMSE for users with two antennas",
    downlink({ users: 2, rx_antennas: 2 }, "wmmse"),
    ["precoder", ".params.mode"],
    /block_diagonalization/,
  ),
  [
    "channel_enabled_mismatch",
    "a channel that is an ideal link",
    bitLink({}, {}, { channel_enabled: true }),
    "$.metadata.channel_enabled",
    /Set channel_enabled to false/,
    "warning",
  ],
  [
    "channel_enabled_mismatch",
    "no channel, and one",
    layered({}, {}, { channel_enabled: false }),
    "$.metadata.channel_enabled",
    /Set channel_enabled to true/,
    "warning",
  ],
  spoilt(
    "seed_repeated",
    "noise from the sequence of the bits",
    layered({ data: { params: { bit_count: 128, seed: 7 } }, wireless_channel: { params: { seed: 7 } } }),
    ["wireless_channel", ".params.seed"],
    /Remove the seeds/,
    "warning",
  ),
  spoilt(
    "metric_label_repeated",
    "two rates of one name",
    layered({ coded: ber("tx_bit_boundary.bits", "rx_bit_boundary.bits") }),
    ["coded", ".params.label"],
    /its own label/,
    "warning",
  ),
  [
    "rate_count_fixed_point_missing",
    "a link that does not say where its rate is counted",
    layered({}, {}, { rate_count_fixed_point: null }),
    "$.metadata.rate_count_fixed_point",
    /payload_bit_boundary\.bits/,
    "warning",
  ],
  [
    "rate_count_fixed_point_invalid",
    "a rate counted nowhere",
    layered({}, {}, { rate_count_fixed_point: "payload_bit_boundary.symbols" }),
    "$.metadata.rate_count_fixed_point",
    /payload_bit_boundary\.bits/,
    "warning",
  ],

  // The research catalogue.
  [
    "research_catalog_error",
    "a task that the catalogue does not know",
    layered({}, {}, { research: { task: { id: "bit_transprt" } } }),
    "$.metadata.research.task.id",
    /bit_transport/,
  ],
  [
    "task_not_supported",
    "a task that is only planned",
    custom({ evaluation: null }, {}, { research: { task: { id: "image_captioning" } } }),
    "$.metadata.research.task.id",
    /research tasks/,
  ],
];

for (const [code, what, recipe, path, hint, severity = "error"] of CASES) {
  Deno.test(`${code}: ${what}`, () => {
    const { issues: all, status } = lint(recipe);
    // Some changes leave a step without readers.
    const issues = all.filter((issue) => issue.code !== "step_without_effect");
    assert.deepEqual(issues.map((issue) => [issue.code, issue.severity, issue.path]), [[code, severity, path]]);
    assert.match(issues[0].hint!, hint);
    assert.equal(issues[0].message.at(-1) === ".", false);
    assert.equal(status, severity === "error" ? "failed" : "passed");
  });
}

Deno.test("every rule has a case", () => {
  // Rules about texts, values and flow have files of their own, with operations of the program; those about grants, with
  // an adapter.
  const elsewhere = [...FLOW_RULES, ...VALUE_RULES].map(({ code }) => code);
  const tried = new Set([
    ...CASES.map(([code]) => code),
    ...elsewhere,
    "mask_repair_codec_invalid",
    "side_channel_possible",
  ]);
  assert.deepEqual(RULES.map(({ code }) => code).filter((code) => !tried.has(code)), []);
});

Deno.test("the recipes that are spoilt are clean themselves", () => {
  for (
    const recipe of [
      layered(),
      custom(),
      estimated(),
      amplified(4),
      reflected({}),
      echoes({}),
      allocated(),
      bitLink(),
      joint(),
      pictures({}),
    ]
  ) {
    assert.deepEqual(lint(recipe).issues, []);
  }
});
