/**
 * OFDM receiver on samples: the window of each OFDM symbol starts cp_length - receiver_cp_offset samples after it, the rotation that
 * this offset causes is undone, and the DFT of lib/numeric/link/ofdm_waveform.ts gives the elements of the active subcarriers.
 *
 *     zf   x̂ = Y/H with the gains of a wired state; ν = N0/|H|² of an element goes to the demapper
 *
 * Symbols of transform precoding are restored by the inverse DFT over each OFDM symbol, behind the division; the noise variance of all of
 * them is then the mean over its elements.
 *
 * With a wired state and the transmitted grid X that travels with the waveform, ofdm.residual_interference_db is mean |Y - H X|²
 * over mean |H X|².
 *
 * Shapes: waveform complex64 [n] -> rx_symbols complex64 [symbols that were sent].
 */
import { OFDM_STATE, RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation, float, type InputArtifact, type JsonObject, type Metrics, SvcError, z } from "../api.ts";
import { ofdmStateOf } from "../../lib/artifact/ofdm_state.ts";
import { metadataNumber, symbolsArtifact, travel } from "../../lib/artifact/values.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { firstActive, ofdmElements, precode } from "../../lib/numeric/link/ofdm_waveform.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { numpyWithTwin } from "../_backends.ts";
import { readWaveform, WAVEFORM } from "../_waveform.ts";

const LAYOUT_KEYS = [...Object.keys(WAVEFORM.metadata), "symbols_per_grid", "transform_precoding"];
const LEAST_GAIN = 1e-12, ERASED_VARIANCE = 1e12;

export default defineOperation({
  id: "demodulation.ofdm_receive",
  name: "OFDM receiver on samples",
  description: "Removes cyclic prefixes, transforms to subcarriers and equalises with a wired channel",
  inputs: { waveform: [WAVEFORM] },
  optionalInputs: { state: [OFDM_STATE] },
  outputs: { rx_symbols: RX_SYMBOLS },
  params: z.strictObject({
    receiver_cp_offset: z.int().min(0).max(8192).default(0)
      .describe("samples by which the window starts inside the prefix"),
    equalize: z.enum(["none", "zf"]).default("none").describe("zf divides by the gains of the wired state"),
  }),
  ...numpyWithTwin("full", "A linear map"),
  outputMetadataGuarantees: { rx_symbols: { from: "waveform", keys: ["boundary_contract", "symbol_count"] } },
  estimate: (_params, { waveform: { bytes } }) => ({ rx_symbols: 1.5 * bytes }),
  check: ({ equalize }, connected) =>
    equalize === "zf" && !connected.has("state")
      ? [{
        input: "state",
        message: "Cannot equalise without a channel state",
        hint: "Wire state, or set equalize to none",
      }]
      : [],
  run({ inputs, params }) {
    const { samples, layout } = readWaveform(inputs.waveform),
      { fftSize: size, cpLength, oversampling, active, rows } = layout;
    if (params.receiver_cp_offset > cpLength) {
      throw new SvcError(
        "params_conflict",
        `Cannot start ${params.receiver_cp_offset} samples inside a prefix of ${cpLength}`,
        { hint: `Set receiver_cp_offset to ${cpLength} or less` },
      );
    }
    const first = firstActive(size, active), body = size * oversampling, step = (size + cpLength) * oversampling;
    const skip = (cpLength - params.receiver_cp_offset) * oversampling, elements = new Float64Array(2 * rows * active);
    for (let row = 0; row < rows; row++) {
      const start = 2 * (row * step + skip),
        own = ofdmElements(Float64Array.from(samples.subarray(start, start + 2 * body)), oversampling);
      for (let i = 0; i < active; i++) {
        // A window that starts early by d sees the spectrum turned by -2π(k - F/2)d/F.
        const turn = 2 * Math.PI * (first + i - size / 2) * params.receiver_cp_offset / size;
        const cosine = Math.cos(turn), sine = Math.sin(turn), re = own[2 * (first + i)], im = own[2 * (first + i) + 1];
        elements[2 * (row * active + i)] = re * cosine - im * sine;
        elements[2 * (row * active + i) + 1] = re * sine + im * cosine;
      }
    }
    const h = inputs.state && gainsOf(inputs.state, rows * active), count = layout.symbolCount;
    const n0 = metadataNumber(inputs.waveform.metadata, "noise_variance"),
      noise = n0 === undefined ? undefined : n0 / oversampling;
    const zf = params.equalize === "zf", precoded = inputs.waveform.metadata.transform_precoding === true;
    const total = precoded ? rows * active : count,
      symbols = new Float32Array(2 * total),
      variance = new Float32Array(total);
    for (let i = 0; i < total; i++) {
      const re = elements[2 * i], im = elements[2 * i + 1];
      if (!zf) {
        symbols.set([re, im], 2 * i);
        continue;
      }
      const hr = h![2 * i], hi = h![2 * i + 1], power = hr * hr + hi * hi;
      variance[i] = power < LEAST_GAIN ? ERASED_VARIANCE : (noise ?? 0) / power;
      if (power >= LEAST_GAIN) symbols.set([(re * hr + im * hi) / power, (im * hr - re * hi) / power], 2 * i);
    }
    if (precoded) {
      symbols.set(precode(symbols, active, true));
      for (let i = 0; i < total; i += active) variance.fill(mean(variance.subarray(i, i + active)), i, i + active);
    }
    const companions: Record<string, NdArray> = zf && noise !== undefined
      ? { noise_variance: ndarray("float32", variance.subarray(0, count)) }
      : {};
    const facts: JsonObject = noise === undefined ? {} : { noise_variance: float(noise) };
    return {
      outputs: {
        rx_symbols: symbolsArtifact(
          symbols.subarray(0, 2 * count),
          travel(inputs.waveform.metadata, facts, LAYOUT_KEYS),
          companions,
        ),
      },
      metrics: interference(elements, h, inputs.waveform),
    };
  },
});

/** Gains of all elements. @throws SvcError `shape_mismatch` for another number of them */
function gainsOf(state: InputArtifact, elements: number): Float32Array {
  const { h } = ofdmStateOf(state);
  if (h.length === 2 * elements) return h;
  throw new SvcError("shape_mismatch", `Cannot equalise ${elements} elements with ${h.length / 2} gains`, {
    hint: "Wire the state of the channel that sent this waveform",
  });
}

function interference(y: Float64Array, h: Float32Array | undefined, waveform: InputArtifact): Metrics {
  if (h === undefined || !waveform.arrayNames.includes("grid")) return {};
  const x = waveform.array("grid").data as Float32Array;
  let error = 0, power = 0;
  for (let i = 0; i < y.length; i += 2) {
    const re = h[i] * x[i] - h[i + 1] * x[i + 1], im = h[i] * x[i + 1] + h[i + 1] * x[i];
    error += (y[i] - re) ** 2 + (y[i + 1] - im) ** 2;
    power += re * re + im * im;
  }
  return error > 0 && power > 0 ? { "ofdm.residual_interference_db": 10 * Math.log10(error / power) } : {};
}
