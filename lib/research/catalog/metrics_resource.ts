/** Power allocation over subcarriers and states, against theory and against the water-filling oracle. */
import { CONSTANT, family, higher, lower, MAXIMUM, neutral, RATE } from "./metric_rows.ts";

const SE = "bit/s/Hz";
const POWER = "normalized_power";

export const RESOURCE_METRICS = family("resource", [
  higher("theoretical_shannon_sum_bits_per_ofdm_symbol", "bits", "Shannon bits of an OFDM symbol"),
  higher("theoretical_shannon_spectral_efficiency_bps_hz", SE, "Shannon spectral efficiency"),
  higher("theoretical_shannon_min_subcarrier_spectral_efficiency_bps_hz", SE, "Efficiency of the worst subcarrier", {
    reduction: "min",
  }),
  higher("theoretical_shannon_min_state_spectral_efficiency_bps_hz", SE, "Efficiency of the worst state", {
    reduction: "min",
  }),
  higher("theoretical_shannon_p05_state_spectral_efficiency_bps_hz", SE, "Efficiency exceeded in 95 % of the states", {
    reduction: "p05",
  }),
  lower("theoretical_outage_probability", "fraction", "Share of states below the target", RATE),
  neutral("theoretical_outage_target_bps_hz", SE, "Target below which a state is in outage", CONSTANT),
  higher("water_filling_oracle_spectral_efficiency_bps_hz", SE, "Efficiency of the water-filling oracle"),
  lower("water_filling_optimality_gap_bps_hz", SE, "Efficiency lost against the oracle"),
  lower("water_filling_relative_optimality_gap", "fraction", "Share of efficiency lost against the oracle"),
  lower("water_filling_power_rmse", POWER, "RMS distance from the oracle's powers"),
  lower("water_filling_power_normalized_rmse", "ratio", "RMS distance from the oracle's powers over the mean power"),
  lower("water_filling_kkt_normalized_residual", "ratio", "Residual of the optimality conditions"),
  neutral("average_transmit_power_budget", POWER, "Mean power allowed", CONSTANT),
  higher("fairness_jain", "ratio", "Jain's fairness index"),
  lower("power_constraint.max_abs_error", POWER, "Largest miss of the power budget", MAXIMUM),
  lower("power_constraint.max_relative_error", "ratio", "Largest relative miss of the power budget", MAXIMUM),
  lower("power_constraint.max_negative_violation", POWER, "Largest negative power", MAXIMUM),
  neutral("active_resource_element_fraction", "fraction", "Share of elements with power"),
  neutral("allocation_power_coefficient_of_variation", "ratio", "Spread of the powers over their mean"),
  higher("allocated_power_weighted_channel_gain_lift", "ratio", "Power-weighted over plain mean channel gain"),
  higher("finite_blocklength.expected_goodput_bps_hz", SE, "Goodput by the normal approximation"),
  lower("finite_blocklength.predicted_bler", "fraction", "Block error rate by the normal approximation"),
  higher("finite_blocklength.mean_capacity_bps_hz", SE, "Mean capacity"),
  higher("finite_blocklength.p05_goodput_bps_hz", SE, "Goodput exceeded in 95 % of the blocks", { reduction: "p05" }),
  neutral("finite_blocklength.blocklength_channel_uses", "channel_uses", "Channel uses of a block", CONSTANT),
  neutral("finite_blocklength.target_rate_bps_hz", SE, "Rate of the code", CONSTANT),
  neutral("nominal_snr_db", "dB", "Nominal SNR", CONSTANT),
  neutral("csi.feedback_delay_ofdm_symbols", "ofdm_symbols", "Age of the channel report in OFDM symbols", CONSTANT),
  neutral("csi.feedback_delay_seconds", "s", "Age of the channel report", CONSTANT),
  neutral("csi.observed_actual_complex_correlation", "ratio", "Correlation of reported and actual channel"),
  neutral("csi.observed_actual_gain_correlation", "ratio", "Correlation of reported and actual gains"),
  neutral("csi.observed_actual_complex_nmse", "ratio", "NMSE of the reported against the actual channel"),
]);
