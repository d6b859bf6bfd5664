/**
 * Slot for a receiver that maps QPSK symbols to LLRs by itself:
 *
 *     reference_qpsk               exact demapper, LLR = 2·sqrt(2)·Re y/N0 and Im
 *     oracle_frontend_calibrated   takes the known front end of hardware.receiver_iq_imbalance back out, then the same
 *     linear_npz                   linear in Re y and Im y, from a file; see _linear_receiver.ts
 *     learned_artifact             a trained package: rx_symbols_ri [symbol, 2] -> bit_llr [symbol, 2]
 *
 * A trained receiver sees received symbols and nothing else, at most 65 536 at a time. Bits are (LLR < 0).
 *
 * Shapes: rx_symbols complex64 [n] -> bits uint8 [2n - padding], llr float32 of the same length.
 */
import { DEMOD_BITS, LLR, RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import { SvcError } from "../../lib/contract/error.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { sha256Hex } from "../../lib/contract/hash.ts";
import { dataPlaneParameter } from "../../lib/contract/schema.ts";
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { z } from "../../lib/contract/zod.ts";
import {
  LEARNED_ARTIFACT,
  learnedParameters,
  learnedProblems,
  realImaginary,
  slotAbi,
} from "../../lib/artifact/learned.ts";
import { bitsArtifact, metadataNumber, metadataText, symbolsOf } from "../../lib/artifact/values.ts";
import { type IqImbalance, restoreIq } from "../../lib/numeric/iq_imbalance.ts";
import { demodulateLlr, hardBits } from "../../lib/numeric/modulation.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import { executed, exportPlanned } from "../_backends.ts";
import { demodulatedMetadata, unpaddedBitCount } from "../_symbol_items.ts";
import { linearLlr, readLinearReceiver } from "./_linear_receiver.ts";
import { noiseVarianceOf } from "./_noise.ts";

const KEYS = ["modulation", "llr_sign", "llr_method", "noise_variance_source", "receiver_mode"];
/** Settings of the front end that the oracle knows. */
const SETTINGS: readonly (keyof IqImbalance)[] = [
  "gain_imbalance_db",
  "quadrature_error_deg",
  "phase_offset_deg",
  "dc_offset_i",
  "dc_offset_q",
];
/** Symbols in a call of a trained receiver. */
const ROWS = 65536;

export default defineOperation({
  id: "demodulation.neural_receiver_adapter",
  name: "Neural receiver slot",
  description: "Demaps QPSK by a reference, a calibration oracle, a linear checkpoint or a trained artifact",
  inputs: { rx_symbols: [RX_SYMBOLS] },
  outputs: { bits: DEMOD_BITS, llr: LLR },
  params: z.strictObject({
    mode: z.enum(["reference_qpsk", "oracle_frontend_calibrated", "linear_npz", LEARNED_ARTIFACT])
      .default("reference_qpsk"),
    modulation: z.enum(["auto", "qpsk"]).default("auto").describe("auto takes the modulator's from metadata"),
    checkpoint_path: z.string().default("").describe("NPZ file of linear_npz"),
    ...learnedParameters("neural_receiver"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: { framework: "torch", gradient: "surrogate", trainable_params: true, exportable: true },
  backends: {
    benchmark_run: ["numpy", "onnxruntime"],
    dataset_capture: ["numpy", "onnxruntime"],
    differentiable_export: ["torch"],
  },
  equivalence: { type: "behavioral", reason: "Compared by bit and block error rates" },
  formats: { artifact: "npz", tensor: "torch.Tensor", checkpoint: "npz|onnx" },
  materializations: [
    ...executed("numpy", "reference_qpsk_receiver", { mode: "reference_qpsk" }),
    ...executed("numpy", "calibrated_iq_oracle_receiver", { mode: "oracle_frontend_calibrated" }),
    ...executed("numpy", "linear_npz_receiver", { mode: "linear_npz" }),
    ...executed("onnxruntime", "portable_trained_artifact_runtime", { mode: LEARNED_ARTIFACT }),
    exportPlanned("torch", "neural_receiver_training_endpoint"),
  ],
  trainingCapabilities: { built_in_fine_tuning: false, portable_replacement: true },
  trainedArtifactAbi: slotAbi({
    component_id: "receiver",
    component_role: "neural_receiver",
    entrypoint_id: "neural_receiver",
    inputs: { rx_symbols_ri: ["symbol", 2] },
    outputs: { bit_llr: ["symbol", 2] },
    required_operation_inputs: ["rx_symbols"],
    binding: { mode: LEARNED_ARTIFACT, modulation: "qpsk" },
  }),
  outputMetadataGuarantees: {
    bits: { from: "rx_symbols", keys: ["boundary_contract", "bit_count", ...KEYS] },
    llr: { from: "rx_symbols", keys: KEYS },
  },
  check(params) {
    if (params.mode === LEARNED_ARTIFACT) return learnedProblems(params);
    if (params.mode !== "linear_npz" || params.checkpoint_path.trim() !== "") return [];
    return [{
      message: "Cannot use mode linear_npz without checkpoint_path",
      place: ["checkpoint_path"],
      hint: "Name an NPZ file with weight [2, 2], bias [2] and metadata_json",
    }];
  },
  requires: ({ mode, checkpoint_path }) =>
    mode === "linear_npz" && checkpoint_path !== "" ? [{ kind: "file", id: checkpoint_path }] : [],
  threadSafe: true,
  async run(context) {
    const { inputs, params } = context;
    const { metadata } = inputs.rx_symbols;
    if (params.modulation === "auto") refuseOtherThanQpsk(metadata);
    const symbols = symbolsOf(inputs.rx_symbols), count = symbols.length / 2;

    let padded: Float32Array, method = "exact", source = "not_used", facts: JsonObject = {};
    if (params.mode === LEARNED_ARTIFACT) {
      method = LEARNED_ARTIFACT;
      const feeds = { rx_symbols_ri: realImaginary(ndarray("complex64", symbols)) };
      padded = (await context.learned.run(feeds, { rows: ROWS })).bit_llr.data as Float32Array;
    } else {
      const noise = noiseVarianceOf(inputs.rx_symbols, count);
      ({ source, facts } = noise);
      if (params.mode === "linear_npz") {
        method = "linear_npz";
        const bytes = await context.files.read(params.checkpoint_path);
        padded = linearLlr(symbols, noise.variance, readLinearReceiver(bytes, params.checkpoint_path));
        facts = { ...facts, checkpoint_sha256: sha256Hex(bytes) };
      } else {
        const known = params.mode === "oracle_frontend_calibrated" ? frontEndOf(metadata) : null;
        padded = demodulateLlr(known ? restored(symbols, known) : symbols, "qpsk", noise.variance);
      }
    }
    const llr = padded.slice(0, unpaddedBitCount(metadata, padded.length));
    const kept = demodulatedMetadata(metadata, llr.length, {
      modulation: "qpsk",
      llr_sign: "positive_bit0",
      llr_method: method,
      noise_variance_source: source,
      receiver_mode: params.mode,
    });
    return {
      outputs: {
        bits: bitsArtifact(hardBits(llr), kept),
        llr: { array: ndarray("float32", llr), metadata: kept },
      },
      metadata: facts,
    };
  },
});

/** @throws SvcError `params_conflict` when the symbols say that they were modulated otherwise */
function refuseOtherThanQpsk(metadata: JsonObject): void {
  const name = metadataText(metadata, "modulation");
  if (name === undefined || name === "qpsk") return;
  throw new SvcError("params_conflict", `Cannot demap symbols of the modulation ${name}: this receiver knows qpsk`, {
    hint: "Use demodulation.digital_demodulate, or modulate with qpsk",
  });
}

/** @throws SvcError `input_metadata_missing` for symbols that passed no such front end */
function frontEndOf(metadata: JsonObject): IqImbalance {
  const settings = metadata.receiver_iq_imbalance;
  const value = (key: string) => isObject(settings) ? metadataNumber(settings, key) : undefined;
  const known = Object.fromEntries(SETTINGS.map((key) => [key, value(key)]));
  if (SETTINGS.some((key) => known[key] === undefined)) {
    throw new SvcError("input_metadata_missing", "Cannot calibrate a front end that the symbols do not tell of", {
      hint: "Put hardware.receiver_iq_imbalance before the receiver, or use mode reference_qpsk",
    });
  }
  return known as unknown as IqImbalance;
}

function restored(symbols: Float32Array, known: IqImbalance): Float32Array {
  try {
    return restoreIq(symbols, known);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SvcError("operation_failed", error.message, { hint: "Choose a smaller quadrature_error_deg" });
  }
}
