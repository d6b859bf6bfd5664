/**
 * Scores of fed-back channels and of precoding on them, y = hᴴw·x + n on every subcarrier:
 *
 *     achieved rate    mean of log2(1 + |hᴴw|²/N0); the perfect rate has w = h/‖h‖, so |hᴴw|² = ‖h‖²
 *     retention        achieved over perfect rate; the loss is their difference
 *     nmse             Σ|ĥ - h|²/Σ|h|² between channels scaled to mean power 1, row by row
 *     cosine           mean over the rows of |Σ ĥ*·h|/(‖ĥ‖·‖h‖), independent of a common phase
 *     csi.cosine_similarity   mean over rows and subcarriers of |ĥᴴh|/(‖ĥ‖·‖h‖); csi.sgcs that of its square
 *
 * and the size of a report. Rows and subcarriers with a zero true channel do not count for nmse and cosines; a zero
 * reconstruction has the error 1 and the cosine 0. csi.precoder_bits is the size of a quantised report. task.score is the retention. Values with a zero denominator are omitted.
 */
import type { JsonObject, Metrics } from "../api.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { metadataNumber, metadataOf } from "../../lib/artifact/values.ts";
import { beamGain } from "../../lib/numeric/antenna/beamforming.ts";
import { energy } from "../../lib/numeric/linalg/complex.ts";
import { ratioSums } from "../../lib/numeric/scores/pooled_ratio.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { antennasAt, MISO_CSI, MISO_PRECODER, MISO_RECONSTRUCTION, type MisoChannels } from "../_csi_feedback.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.csi_feedback",
  name: "CSI feedback scores",
  description: "Measures the rate of precoding on fed-back channels, and their accuracy",
  inputs: { precoder: [MISO_PRECODER], reconstruction: [MISO_RECONSTRUCTION], true_csi: [MISO_CSI] },
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"], differentiable_export: ["torch"] },
  equivalence: { type: "behavioral" },
  formats: { artifact: "json", tensor: "structured metrics" },
  inputMetadataRequirements: { true_csi: { all_of: ["noise_variance"] } },
  twin: true,
  run({ inputs }) {
    const arrays = arraysOf(inputs.true_csi), axes = ["row", "tx", "subcarrier"];
    const channel = arrays.read("complex64", axes);
    const reconstruction = arrays.beside(inputs.reconstruction).read("complex64", axes);
    const weights = arrays.beside(inputs.precoder).read("complex64", axes);
    const [rows, tx, subcarriers] = axes.map((name) => arrays.size(name));
    const { noise_variance: noiseVariance } = metadataOf(inputs.true_csi, MISO_CSI, ["noise_variance"]);
    const of = (values: Float32Array): MisoChannels => ({ rows, tx, subcarriers, values });
    let achieved = 0, perfect = 0, cosines = 0, squares = 0, compared = 0;
    for (let row = 0; row < rows; row++) {
      for (let k = 0; k < subcarriers; k++) {
        const h = antennasAt(of(channel), row, k), w = antennasAt(of(weights), row, k);
        achieved += Math.log1p(beamGain(h, w) / noiseVariance) * Math.LOG2E / (rows * subcarriers);
        perfect += Math.log1p(energy(h) / noiseVariance) * Math.LOG2E / (rows * subcarriers);
        const found = antennasAt(of(reconstruction), row, k), norms = energy(h) * energy(found);
        const square = norms > 0 ? beamGain(h, found) / norms : 0;
        if (energy(h) === 0) continue;
        compared++;
        squares += square;
        cosines += Math.sqrt(square);
      }
    }
    const retention = perfect > 0 ? achieved / perfect : undefined;
    const { errors, metrics } = likeness(channel, reconstruction, rows);
    return {
      pooled: {
        "csi_feedback.nmse": { reduction: "ratio_of_sums", sums: ratioSums(errors) },
        "csi_feedback.nmse_db": { reduction: "ratio_of_sums_db", sums: ratioSums(errors) },
      },
      metrics: {
        "csi_feedback.achieved_spectral_efficiency_bps_hz": achieved,
        "csi_feedback.perfect_csit_spectral_efficiency_bps_hz": perfect,
        "csi_feedback.spectral_efficiency_loss_bps_hz": perfect - achieved,
        ...(retention === undefined
          ? {}
          : { "csi_feedback.spectral_efficiency_retention": retention, "task.score": retention }),
        ...metrics,
        ...(compared > 0 ? { "csi.cosine_similarity": cosines / compared, "csi.sgcs": squares / compared } : {}),
        ...reportSize(inputs.reconstruction.metadata, 2 * tx * subcarriers),
      },
      facts: { row_count: rows, tx_antennas: tx, subcarriers },
    };
  },
});

/** The squared distance of each report from its channel, both of unit power, and their likeness. */
function likeness(
  channel: Float32Array,
  reconstruction: Float32Array,
  rows: number,
): { errors: number[]; metrics: Metrics } {
  const size = channel.length / rows, errors: number[] = [], cosines: number[] = [];
  for (let row = 0; row < rows; row++) {
    const h = channel.subarray(row * size, (row + 1) * size),
      found = reconstruction.subarray(row * size, (row + 1) * size);
    const norm = Math.sqrt(energy(h)), other = Math.sqrt(energy(found));
    if (norm === 0) continue;
    let error = 0, real = 0, imaginary = 0;
    for (let i = 0; i < size; i += 2) {
      const hr = h[i] / norm, hi = h[i + 1] / norm;
      const fr = other > 0 ? found[i] / other : 0, fi = other > 0 ? found[i + 1] / other : 0;
      error += (fr - hr) ** 2 + (fi - hi) ** 2;
      real += fr * hr + fi * hi;
      imaginary += fr * hi - fi * hr;
    }
    errors.push(error);
    cosines.push(Math.hypot(real, imaginary));
  }
  return {
    errors,
    metrics: errors.length === 0 ? {} : { "csi_feedback.phase_invariant_cosine": mean(cosines) },
  };
}

function reportSize(metadata: JsonObject, original: number): Metrics {
  const dimension = metadataNumber(metadata, "feedback_dimension");
  const bits = metadataNumber(metadata, "feedback_bits_per_latent");
  const quantisation = metadataNumber(metadata, "feedback_quantization_mse");
  const clipped = metadataNumber(metadata, "feedback_clipped_fraction");
  return {
    "csi_feedback.original_real_dimension": original,
    ...(dimension === undefined ? {} : {
      "csi_feedback.feedback_dimension": dimension,
      "csi_feedback.latent_fraction": dimension / original,
      "csi_feedback.compression_factor": original / dimension,
      ...(bits === undefined
        ? {}
        : { "csi_feedback.feedback_bits_per_sample": dimension * bits, "csi.precoder_bits": dimension * bits }),
    }),
    ...(quantisation === undefined ? {} : { "csi_feedback.quantization_mse": quantisation }),
    ...(clipped === undefined ? {} : { "csi_feedback.quantization_clipped_fraction": clipped }),
  };
}
