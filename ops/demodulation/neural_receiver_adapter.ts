/**
 * Trainable receiver that maps QPSK symbols to LLRs:
 *
 *     reference_qpsk               exact demapper, LLR = 2·sqrt(2)·Re y/N0 and Im
 *     oracle_frontend_calibrated   inverts the known front end of hardware.receiver_iq_imbalance, then demaps exactly
 *     blind_iq_compensation        estimates such a front end, signal and noise from all symbols of a call, then demaps exactly;
 *                                  knows neither front end nor N0; phase offsets beyond 45 degrees turn all decisions
 *     linear_npz                   linear in Re y and Im y, coefficients from a file; see _linear_receiver.ts
 *     learned_artifact             rx_symbols_ri [symbol, 2] -> bit_llr [symbol, 2]; an artifact may also take the noise
 *                                  variance of each symbol, which an equaliser of faded symbols gives
 *
 * Bits are (LLR < 0).
 *
 * Shapes: rx_symbols complex64 [n] -> bits uint8 [2n - padding], llr float32 of the same length.
 */
import { RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import {
  artifactParameters,
  dataPlaneParameter,
  defineSlot,
  isObject,
  type JsonObject,
  LEARNED_ARTIFACT,
  sha256Hex,
  SvcError,
  z,
} from "../api.ts";
import { metadataNumber, metadataText, symbolsOf } from "../../lib/artifact/values.ts";
import { blindQpsk, type IqImbalance, restoreIq } from "../../lib/numeric/link/iq_imbalance.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { type DataPlane, dataPlane } from "../_data_plane.ts";
import { unpaddedBitCount } from "../_symbol_items.ts";
import { linearLlr, readLinearReceiver } from "./_linear_receiver.ts";
import { noiseVarianceOf } from "../_noise_variance.ts";
import { demodulated, demodulatedOutputs, INHERITED } from "./_outputs.ts";

interface Demapped {
  llr: Float32Array;
  /** Default 1 where the LLR is negative. */
  bits?: Uint8Array;
  kernels?: DataPlane;
  method?: string;
  source?: string;
  /** Labels for the step row. */
  facts?: JsonObject;
}

export default defineSlot({
  id: "demodulation.neural_receiver_adapter",
  name: "Neural receiver slot",
  description: "Demaps QPSK by a reference, a calibration oracle, a linear checkpoint or a trained artifact",
  inputs: { rx_symbols: [RX_SYMBOLS] },
  outputs: demodulatedOutputs({ receiver_mode: "text" }),
  params: {
    modulation: z.enum(["auto", "qpsk"]).default("auto").describe("auto uses the modulation in the metadata"),
    checkpoint_path: z.string().default("").describe("NPZ file of linear_npz"),
    ...artifactParameters("neural_receiver"),
    data_plane_backend: dataPlaneParameter(),
  },
  equivalence: { type: "behavioral", reason: "Compared by bit and block error rates" },
  formats: { artifact: "npz", tensor: "torch.Tensor", checkpoint: "npz|onnx" },
  outputMetadataGuarantees: INHERITED,
  gradient: "surrogate",
  exports: { torch: "neural_receiver_training_endpoint" },
  twin: true,
  mode: { default: "reference_qpsk" },
  nativeKernels: ({ mode }) => !["linear_npz", LEARNED_ARTIFACT].includes(String(mode)),
  read(context) {
    const { inputs: { rx_symbols }, params } = context;
    if (params.modulation === "auto") refuseOtherThanQpsk(rx_symbols.metadata);
    const symbols = symbolsOf(rx_symbols);
    return {
      symbols,
      noise: () => noiseVarianceOf(rx_symbols, symbols.length / 2),
      async demap(corrected: Float32Array, variance: number | Float32Array): Promise<Demapped> {
        const kernels = await dataPlane(context);
        return { kernels, ...kernels.demodulate(corrected, "qpsk", variance) };
      },
    };
  },
  modes: {
    reference_qpsk: {
      implementation: "reference_qpsk_receiver",
      async run({ symbols, noise, demap }): Promise<Demapped> {
        const { variance, ...known } = noise();
        return { ...await demap(symbols, variance), ...known };
      },
    },
    oracle_frontend_calibrated: {
      implementation: "calibrated_iq_oracle_receiver",
      async run({ symbols, noise, demap }, { inputs }) {
        const { variance, ...known } = noise();
        const frontEnd = frontEndOf(inputs.rx_symbols.metadata);
        const corrected = inverted(() => restoreIq(symbols, frontEnd));
        return { ...await demap(corrected, variance), ...known };
      },
    },
    blind_iq_compensation: {
      implementation: "blind_iq_compensation_receiver",
      async run({ symbols, demap }) {
        if (symbols.length === 0) return { llr: new Float32Array(), source: "estimated" };
        const { symbols: corrected, noise } = inverted(() => blindQpsk(symbols));
        return { ...await demap(corrected, noise), source: "estimated" };
      },
    },
    linear_npz: {
      implementation: "linear_npz_receiver",
      async run({ symbols, noise }, { params: { checkpoint_path: path }, files }) {
        const { variance, source, facts } = noise(), bytes = await files.read(path);
        return {
          llr: linearLlr(symbols, variance, readLinearReceiver(bytes, path)),
          method: "linear_npz",
          source,
          facts: { ...facts, checkpoint_sha256: sha256Hex(bytes) },
        };
      },
    },
  },
  learned: {
    component: { id: "receiver", role: "neural_receiver", entrypoint: "neural_receiver" },
    inputs: { rx_symbols_ri: ["symbol", 2], noise_variance: ["symbol", 1] },
    optional: ["noise_variance"],
    outputs: { bit_llr: ["symbol", 2] },
    binding: { modulation: "qpsk" },
    meaning: {
      rx_symbols_ri: "received symbols, real and imaginary part",
      noise_variance: "total complex noise variance of each symbol",
      bit_llr: "LLR of both bits of a symbol, ln P(0|y)/P(1|y): positive for bit 0, negative for bit 1",
    },
    rows: 65536,
    async run({ symbols, noise }, call) {
      const count = symbols.length / 2, { variance = 0, ...known } = call.takes("noise_variance") ? noise() : {};
      const each = typeof variance === "number" ? new Float32Array(count).fill(variance) : variance;
      const { bit_llr } = await call({
        rx_symbols_ri: ndarray("float32", symbols, [count, 2]),
        noise_variance: ndarray("float32", each, [count, 1]),
      });
      return { llr: bit_llr.data, method: LEARNED_ARTIFACT, ...known };
    },
  },
  result(
    { llr, bits, kernels, method = "exact", source = "not_used", facts = {} },
    _,
    { inputs: { rx_symbols }, mode },
  ) {
    const count = unpaddedBitCount(rx_symbols.metadata, llr.length);
    const how = {
      modulation: "qpsk",
      llr_method: method,
      noise_variance_source: source,
      receiver_mode: mode,
    };
    const outputs = demodulated(rx_symbols, llr.slice(0, count), how, bits?.slice(0, count), kernels);
    return { outputs, metadata: facts };
  },
  check: ({ mode, checkpoint_path }) =>
    mode !== "linear_npz" || checkpoint_path.trim() !== "" ? [] : [{
      message: "Cannot use mode linear_npz without checkpoint_path",
      place: ["checkpoint_path"],
      hint: "Name an NPZ file with weight [2, 2], bias [2] and metadata_json",
    }],
  requires: ({ mode, checkpoint_path }) =>
    mode === "linear_npz" && checkpoint_path !== "" ? [{ kind: "file", id: checkpoint_path }] : [],
});

/** @throws SvcError `params_conflict` for symbols with another modulation in their metadata */
function refuseOtherThanQpsk(metadata: JsonObject): void {
  const name = metadataText(metadata, "modulation");
  if (name === undefined || name === "qpsk") return;
  throw new SvcError("params_conflict", `Cannot demap symbols of the modulation ${name}: only qpsk is possible`, {
    hint: "Use demodulation.digital_demodulate, or modulate with qpsk",
  });
}

/** @throws SvcError `input_metadata_missing` for symbols without such a front end */
function frontEndOf(metadata: JsonObject): IqImbalance {
  const settings = metadata.receiver_iq_imbalance;
  const value = (key: keyof IqImbalance) => {
    const known = isObject(settings) ? metadataNumber(settings, key) : undefined;
    if (known !== undefined) return known;
    throw new SvcError("input_metadata_missing", `Cannot calibrate the front end: the metadata have no ${key}`, {
      hint: "Put hardware.receiver_iq_imbalance before the receiver, or use mode reference_qpsk",
    });
  };
  return {
    gain_imbalance_db: value("gain_imbalance_db"),
    quadrature_error_deg: value("quadrature_error_deg"),
    phase_offset_deg: value("phase_offset_deg"),
    dc_offset_i: value("dc_offset_i"),
    dc_offset_q: value("dc_offset_q"),
  };
}

/** @throws SvcError `operation_failed` for a front end without an inverse */
function inverted<T>(correct: () => T): T {
  try {
    return correct();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SvcError("operation_failed", error.message, {
      hint: "Choose a smaller quadrature_error_deg, or use more symbols",
    });
  }
}
