/**
 * Frequency responses of fading channels for power allocation, from taps with the profile e^{-l}, of sum 1:
 *
 *     H_k = Σ_l h_l·exp(-j2πkl/F),   N0 = (total_power/F)·10^(-snr_db/10)
 *
 * so snr_db is the mean Es/N0 of a subcarrier under equal power. Draws: complex taps [snapshot, 1, 1, tap].
 *
 * Shapes: problem complex64 [snapshot, subcarrier].
 */
import { defineOperation, float, seedParameter, shownIn, z } from "../api.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { exponentialProfile, frequencyResponse, staticTaps } from "../../lib/numeric/channel/delay_profile.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { executed, exported } from "../_backends.ts";
import { RESOURCE_PROBLEM } from "../_resource.ts";

export default defineOperation({
  id: "source.resource_allocation_scenario",
  name: "OFDM power allocation scenario",
  description: "Draws frequency-selective channels with a power budget",
  outputs: { problem: RESOURCE_PROBLEM },
  params: z.strictObject({
    snapshot_count: z.int().positive().default(32).describe("independent channels"),
    subcarrier_count: z.int().positive().default(16).describe("subcarriers of a state"),
    channel_tap_count: z.int().positive().default(4).describe("taps of the exponential power delay profile"),
    total_power: z.number().positive().default(1).describe("power of all subcarriers of a snapshot"),
    snr_db: z.number().default(10).describe("mean Es/N0 in dB of a subcarrier with equal power").meta(shownIn("dB")),
    seed: seedParameter(0),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"], differentiable_export: ["torch"] },
  materializations: [
    ...executed("numpy", "synthetic_ofdm_frequency_response"),
    exported("torch", "torch_ofdm_resource_state"),
    exported("phylib", "phylib_sys_resource_state"),
  ],
  estimate: ({ snapshot_count, subcarrier_count }) => ({ problem: [["complex64", snapshot_count, subcarrier_count]] }),
  run({ params, generator }) {
    const { snapshot_count: snapshots, subcarrier_count: subcarriers, total_power: totalPower } = params;
    const profile = exponentialProfile(params.channel_tap_count, 1);
    const taps = staticTaps(profile, snapshots, generator);
    const h = frequencyResponse(taps, profile, { count: subcarriers, spacing: 1 / subcarriers, first: 0 });
    const noiseVariance = totalPower / subcarriers * dbToLinear(-params.snr_db);
    return {
      outputs: {
        problem: {
          array: ndarray("complex64", Float32Array.from(h), [snapshots, subcarriers]),
          metadata: {
            snapshot_count: snapshots,
            subcarrier_count: subcarriers,
            total_power: float(totalPower),
            noise_variance: float(noiseVariance),
            snr_db: float(params.snr_db),
          },
        },
      },
      metrics: { "channel.noise_variance": noiseVariance },
    };
  },
});
