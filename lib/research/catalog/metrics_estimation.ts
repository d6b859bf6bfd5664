/** Estimation, feedback, beams and positions. */
import { CONSTANT, family, higher, lower, neutral, RATE } from "./metric_rows.ts";

const SE = "bit/s/Hz";

export const ESTIMATION_METRICS = [
  ...family("channel_estimation", [
    lower("nmse", "ratio", "Channel NMSE"),
    lower("mse", "normalized_power", "Channel MSE"),
    lower("nmse_db", "dB", "Channel NMSE in dB"),
    higher("complex_correlation", "ratio", "Correlation of estimate and channel"),
  ]),
  ...family("mimo.channel_estimation", [
    lower("nmse", "ratio", "MIMO channel NMSE"),
    lower("nmse_db", "dB", "MIMO channel NMSE in dB"),
    higher("zf_spectral_efficiency_bps_hz", SE, "Zero-forcing rate on the estimate"),
    higher("perfect_csi_zf_spectral_efficiency_bps_hz", SE, "Zero-forcing rate on the true channel"),
    higher("zf_rate_retention", "fraction", "Zero-forcing rate kept by the estimate"),
  ]),
  ...family("mimo.channel_estimation", [neutral("pilot.density", "fraction", "Share of pilots", CONSTANT)], ""),
  ...family("csi_feedback", [
    higher("achieved_spectral_efficiency_bps_hz", SE, "Rate of precoding on the report"),
    higher("perfect_csit_spectral_efficiency_bps_hz", SE, "Rate of precoding on the true channel"),
    higher("spectral_efficiency_retention", "fraction", "Rate kept by the report"),
    lower("spectral_efficiency_loss_bps_hz", SE, "Rate lost by the report"),
    lower("nmse", "ratio", "Report NMSE", { description: "Between channels of unit power" }),
    lower("nmse_db", "dB", "Report NMSE in dB"),
    higher("phase_invariant_cosine", "ratio", "Cosine of report and channel, independent of phase"),
    neutral("feedback_dimension", "values", "Real values reported", CONSTANT),
    neutral("original_real_dimension", "values", "Real values of a channel", CONSTANT),
    lower("latent_fraction", "fraction", "Reported over original dimension", CONSTANT),
    higher("compression_factor", "ratio", "Original over reported dimension", CONSTANT),
    lower("feedback_bits_per_sample", "bits", "Bits of a report", CONSTANT),
    lower("quantization_mse", "normalized_power", "Quantisation MSE"),
    lower("quantization_clipped_fraction", "fraction", "Share of clipped values", RATE),
  ]),
  ...family("beamforming", [
    higher("spectral_efficiency_bps_hz", SE, "Beamforming rate"),
    higher("normalized_gain", "fraction", "Gain over that of the matched beam"),
    higher("array_gain_db", "dB", "Array gain"),
  ]),
  ...family("localization", [
    lower("rmse_m", "m", "Position RMSE"),
    lower("mae_m", "m", "Mean position error"),
    lower("p90_error_m", "m", "Position error not exceeded in 90 %", { reduction: "p90" }),
    neutral("cramer_rao_rmse_m", "m", "Cramér-Rao bound of the position RMSE"),
    neutral("range_noise_std_m", "m", "Standard deviation of the ranges"),
  ]),
  ...family("aoa", [
    lower("rmse_deg", "degree", "Angle RMSE"),
    lower("mae_deg", "degree", "Mean angle error"),
    lower("median_error_deg", "degree", "Median angle error", { reduction: "median" }),
    lower("p90_error_deg", "degree", "Angle error not exceeded in 90 %", { reduction: "p90" }),
    neutral("cramer_rao_rmse_deg", "degree", "Cramér-Rao bound of the angle RMSE"),
  ]),
];
