/**
 * A registry for tests of lint and profiles: the built-in operations that links are made of, and stand-ins for others,
 * so that what lint says does not hang on how those are made.
 */
import { defineOperation } from "../../../lib/contract/define.ts";
import * as kinds from "../../../lib/contract/kinds.ts";
import type { Operation, OperationDefinition } from "../../../lib/contract/operation.ts";
import { Registry } from "../../../lib/contract/registry.ts";
import { seedParameter } from "../../../lib/contract/schema.ts";
import { z } from "../../../lib/contract/zod.ts";
import { BUILTIN_OPERATIONS } from "../../../ops/index.ts";

const { BITS, BITS_ANY, DEMOD_BITS, IMAGES, LATENTS, LLR, REPORT, RX_SYMBOLS, SYMBOLS, SYMBOLS_ANY } = kinds;
const STATE = kinds.OFDM_STATE, ALLOCATION = kinds.POWER_ALLOCATION;
const CODED = kinds.CODED_BITS, PAYLOAD = kinds.PAYLOAD_BITS, FRAMED = kinds.FRAMED_BITS;
const ONNX = "model.onnx.bundle", COMPILED = "model.aot_inductor.bundle";
const PILOTS = "channel.qpsk_pilot_context.numpy", TRUTH = "channel.carrier_phase_truth.numpy";

type Parts = Pick<OperationDefinition, "inputs" | "optionalInputs" | "outputs" | "backends"> & {
  params?: z.ZodObject;
};

/** An operation that has a contract and does nothing. The metadata of its first input travels to all outputs. */
export function standIn(id: string, parts: Parts): Operation {
  const [from] = Object.keys(parts.inputs ?? {});
  const travelling = Object.keys(parts.outputs).map((output) => [output, { from }]);
  return defineOperation({
    name: id,
    params: z.looseObject({}),
    threadSafe: true,
    run: () => {
      throw new Error("Stand-ins do not run");
    },
    ...(from === undefined ? {} : { outputMetadataGuarantees: Object.fromEntries(travelling) }),
    ...parts,
    id,
  });
}

const allocator: Parts = {
  inputs: { symbols: SYMBOLS_ANY },
  optionalInputs: { bits: BITS_ANY, channel_state: [STATE] },
  outputs: { symbols: SYMBOLS, allocation: ALLOCATION },
  params: z.strictObject({
    policy: z.string().default("snr_sigmoid"),
    target_power: z.number().default(1),
    granularity: z.enum(["global", "per_symbol", "per_subcarrier", "per_stream"]).default("global"),
    budget_mode: z.enum(["fixed_average", "variable_average"]).default("fixed_average"),
    transport_mode: z.enum(["fixed_modulation", "allocation_aware_bit_loading"]).default("fixed_modulation"),
    checkpoint_path: z.string().default(""),
    checkpoint_sha256: z.string().default(""),
    artifact_manifest_path: z.string().default(""),
    artifact_package_sha256: z.string().default(""),
  }),
};

const STAND_INS: readonly Operation[] = [
  standIn("model.symbol_power_allocator", allocator),
  standIn("model.causal_csi_power_allocator", allocator),
  standIn("channel.nr_ldpc_encoder", {
    inputs: { bits: [PAYLOAD, FRAMED, BITS] },
    outputs: { coded_bits: CODED },
    params: z.strictObject({ num_bits_per_symbol: z.int().default(2), target_coderate: z.number().default(0.5) }),
  }),
  standIn("channel.nr_ldpc_decoder", { inputs: { llr: [LLR] }, outputs: { bits: PAYLOAD, report: REPORT } }),
  standIn("wireless.ofdm_channel_state", {
    inputs: { symbols: [SYMBOLS] },
    outputs: { state: STATE, symbols: SYMBOLS },
  }),
  standIn("wireless.ofdm_delayed_csi", {
    inputs: { state: [STATE] },
    outputs: { actual_state: STATE, transmitter_csi: STATE },
  }),
  standIn("hardware.receiver_iq_imbalance", {
    inputs: { rx_symbols: [RX_SYMBOLS] },
    outputs: { rx_symbols: RX_SYMBOLS },
  }),
  standIn("wireless.carrier_phase_impairment", {
    inputs: { rx_symbols: [RX_SYMBOLS] },
    outputs: { rx_symbols: RX_SYMBOLS, phase_truth: TRUTH },
    params: z.strictObject({ seed: seedParameter(0) }),
  }),
  standIn("modulation.qpsk_pilot_modulate", {
    inputs: { bits: BITS_ANY },
    outputs: { symbols: SYMBOLS, pilot_context: PILOTS },
  }),
  standIn("demodulation.neural_receiver_adapter", {
    inputs: { rx_symbols: [RX_SYMBOLS] },
    outputs: { bits: DEMOD_BITS, llr: LLR },
  }),
  standIn("demodulation.phase_tracking_receiver_adapter", {
    inputs: { rx_symbols: [RX_SYMBOLS], pilot_context: [PILOTS] },
    outputs: { bits: DEMOD_BITS, llr: LLR },
  }),
  standIn("metrics.nr_ldpc_ofdm_delivery", {
    inputs: {
      actual_state: [STATE],
      allocation: [ALLOCATION],
      decoded_payload: [PAYLOAD, BITS],
      decoder_report: [REPORT],
      reference_payload: [PAYLOAD, BITS],
      tx_symbols: [SYMBOLS],
    },
    outputs: { report: REPORT },
  }),
  standIn("model.deepjscc_external_encode", { inputs: { images: [IMAGES] }, outputs: { symbols: SYMBOLS } }),
  standIn("model.deepjscc_external_decode", { inputs: { symbols: SYMBOLS_ANY }, outputs: { images: IMAGES } }),
  standIn("model.codeclib_export_onnx", { inputs: { images: [IMAGES] }, outputs: { model: ONNX } }),
  standIn("model.codeclib_export_aoti", { inputs: { images: [IMAGES] }, outputs: { model: COMPILED } }),
  standIn("model.codeclib_onnx_encode", {
    inputs: { images: [IMAGES], model: [ONNX] },
    outputs: { latents: LATENTS },
  }),
  standIn("test.only_exported", {
    outputs: { images: IMAGES },
    backends: { benchmark_run: [], dataset_capture: [], differentiable_export: ["torch"] },
  }),
];

/** A registry of built-in operations, with stand-ins in place of those that have one. */
export function lintRegistry(more: readonly Operation[] = []): Registry {
  const registry = new Registry();
  const own = [...STAND_INS, ...more];
  registry.register(BUILTIN_OPERATIONS.filter(({ operation }) => own.every(({ id }) => id !== operation.id)));
  registry.register(own.map((operation) => ({ operation, moduleUrl: `file:///stand-ins/${operation.id}.ts` })));
  return registry;
}
