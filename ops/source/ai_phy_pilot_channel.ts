/**
 * Channels and noisy pilots in one step, for an estimator:
 *
 *     pilot_awgn        a flat channel to one transmit antenna, a QPSK pilot on every subcarrier
 *     mimo_ofdm_pilot   four taps of powers e^{-l} (of sum 1), QPSK pilots on a comb of every fourth subcarrier per antenna
 *
 * with N0 = 10^(-snr_db/10). Conventions: ops/_channel_estimation.ts.
 *
 * Shapes: problem complex64 [example, rx, subcarrier], companions pilots [tx, subcarrier] and channel [example, rx, tx,
 * subcarrier]. Draws: integers(0, 4, [tx, subcarrier]) for the pilots, complex taps [example, rx, tx, tap], noise complex
 * [example, rx, subcarrier].
 */
import { defineOperation, seedParameter, z } from "../api.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { executed, exported } from "../_backends.ts";
import {
  CHANNEL_PROBLEM,
  combPilots,
  combProblems,
  pilotArtifacts,
  receivePilots,
  syntheticChannel,
} from "../_channel_estimation.ts";

/** Subcarriers between the pilots of an antenna, and taps, by scenario. */
const SCENARIOS = { pilot_awgn: { spacing: 1, taps: 1 }, mimo_ofdm_pilot: { spacing: 4, taps: 4 } } as const;

export default defineOperation({
  id: "source.ai_phy_pilot_channel",
  name: "Pilot observation scenario",
  description: "Draws channels and noisy pilots received over them",
  outputs: { problem: CHANNEL_PROBLEM },
  params: z.strictObject({
    scenario: z.enum(["pilot_awgn", "mimo_ofdm_pilot"]).default("pilot_awgn").describe(
      "channel model and pilots of the examples",
    ),
    example_count: z.int().positive().default(32).describe("number of examples"),
    rx_antennas: z.int().positive().default(1).describe("receive antennas"),
    tx_antennas: z.int().positive().default(1).describe("transmit antennas"),
    subcarriers: z.int().positive().default(1).describe("subcarriers of an example"),
    snr_db: z.number().default(12).describe("Es/N0 in dB, per receive antenna").meta({ "x-svc-ui": { unit: "dB" } }),
    wireless_backend: z.enum(["auto", "numpy", "phylib"]).default("auto").describe(
      "auto is numpy, the portable backend",
    ),
    seed: seedParameter(0),
  }),
  equivalence: { type: "statistical", reason: "Backends agree in distribution" },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  materializations: [
    ...executed("numpy", "numpy_pilot_awgn"),
    ...executed("phylib", "phylib_awgn_pilot_observation"),
    exported("torch", "torch_pilot_channel_scenario"),
    exported("phylib", "phylib_pilot_channel_scenario"),
  ],
  check: (params) => combProblems(params, SCENARIOS[params.scenario].spacing),
  estimate: ({ example_count: n, rx_antennas: rx, tx_antennas: tx, subcarriers: k }) => ({
    problem: [["complex64", n, rx, k], ["complex64", tx, k], ["complex64", n, rx, tx, k]],
  }),
  run({ params, generator }) {
    const { spacing, taps } = SCENARIOS[params.scenario], noiseVariance = dbToLinear(-params.snr_db);
    const { example_count: examples, rx_antennas: rx, tx_antennas: tx, subcarriers } = params;
    const sizes = { examples, rx, tx, subcarriers };
    const pilots = combPilots(tx, subcarriers, spacing, generator);
    const channel = syntheticChannel(sizes, taps, generator);
    const received = receivePilots(channel, pilots, sizes, noiseVariance, generator);
    const facts = { noise_variance: noiseVariance, snr_db: params.snr_db };
    const { problem } = pilotArtifacts(received, channel, pilots, sizes, facts);
    return { outputs: { problem }, metrics: { "channel.noise_variance": noiseVariance } };
  },
});
