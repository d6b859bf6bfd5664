/** Channels and pilots for channel estimation. */
import { defineOperation, float, seedParameter, shownIn, usedWhen, z } from "../api.ts";
import {
  frequencyResponse,
  maximumDopplerHz,
  movingTaps,
  ofdmSymbolInterval,
  PROFILE_MODELS,
  staticTaps,
  tdlProfile,
} from "../../lib/numeric/channel/delay_profile.ts";
import { executed, exported } from "../_backends.ts";
import {
  CHANNEL_PROBLEM,
  CHANNEL_REALIZATION,
  channelArtifact,
  combPilots,
  combProblems,
  PILOT_PATTERN,
  pilotArtifacts,
  receivePilots,
  syntheticChannel,
} from "../_channel_estimation.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";

const FLAT: readonly string[] = ["pilot_awgn", "flat_siso"];
const OF_PROFILES = usedWhen({ scenario: ["mimo_ofdm", "mimo_ofdm_3gpp_tdl"] });

/**
 * Channels for estimation, of mean power 1 per antenna pair, independent between examples and pairs:
 *
 *     pilot_awgn, flat_siso         one tap, the same on every subcarrier; flat_siso has one antenna at each end
 *     mimo_ofdm_pilot, mimo_ofdm    channel_tap_count taps of powers e^{-l} (of sum 1), H_k = Σ_l h_l·exp(-j2πkl/F)
 *     mimo_ofdm_3gpp_tdl            static taps of TDL-A … TDL-E of TR 38.901, subcarriers centred on the carrier
 *     mimo_ofdm on phylib           the same profiles, taps as sums of sinusoids at t = 0: lib/numeric/channel/delay_profile.ts
 *
 * An example is one OFDM symbol, so mobility only determines maximum_doppler_hz in the metadata.
 *
 * Shapes: channel complex64 [example, rx, tx, subcarrier]. Draws: complex taps [example, rx, tx, tap]; on phylib random() for the
 * angles [example, rx, tx, tap, 20], then for the phases.
 */
const aiPhyChannelRealization = defineOperation({
  id: "source.ai_phy_channel_realization",
  name: "Channel truth generator",
  description: "Draws channels for estimation",
  outputs: { channel: CHANNEL_REALIZATION },
  params: z.strictObject({
    scenario: z.enum(["pilot_awgn", "flat_siso", "mimo_ofdm_pilot", "mimo_ofdm", "mimo_ofdm_3gpp_tdl"])
      .default("pilot_awgn").describe("channel model of the examples"),
    example_count: z.int().positive().default(32).describe("number of channel realisations"),
    rx_antennas: z.int().positive().default(1).describe("receive antennas"),
    tx_antennas: z.int().positive().default(1).describe("transmit antennas"),
    subcarriers: z.int().positive().default(1).describe("subcarriers of a realisation"),
    channel_tap_count: z.int().positive().default(4).describe("taps of the synthetic profile of mimo_ofdm")
      .meta(usedWhen({ scenario: ["mimo_ofdm_pilot", "mimo_ofdm"] })),
    tdl_model: z.enum(PROFILE_MODELS).default("C").describe("profile of TR 38.901 7.7.2")
      .meta(OF_PROFILES),
    delay_spread_ns: z.number().nonnegative().default(300)
      .describe("root mean square delay spread in ns, of the TDL profiles")
      .meta(OF_PROFILES),
    normalize_channel: z.boolean().default(true).describe("scale the TDL profile to mean power 1")
      .meta(OF_PROFILES),
    subcarrier_spacing_khz: z.number().positive().default(30).describe("subcarrier spacing in kHz")
      .meta(OF_PROFILES),
    carrier_frequency_ghz: z.number().positive().default(3.5).describe("carrier frequency in GHz")
      .meta(OF_PROFILES),
    mobility_kmh: z.number().nonnegative().default(30).describe("speed of the receiver in km/h")
      .meta(OF_PROFILES),
    wireless_backend: z.enum(["auto", "numpy", "phylib"]).default("auto")
      .describe("auto is numpy, the portable backend")
      .meta(usedWhen({ scenario: "mimo_ofdm" })),
    seed: seedParameter(0),
  }),
  backends: {
    benchmark_run: ["numpy", "phylib"],
    dataset_capture: ["numpy", "phylib"],
    differentiable_export: ["torch", "phylib"],
  },
  equivalence: { type: "behavioral" },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  materializations: [
    ...executed("numpy", "numpy_channel_realization"),
    ...executed("phylib", "phylib_3gpp_tdl_ofdm_channel", { scenario: "mimo_ofdm" }),
  ],
  check: ({ scenario, rx_antennas: rx, tx_antennas: tx }) =>
    scenario !== "flat_siso" || (rx === 1 && tx === 1) ? [] : [{
      code: "params_conflict",
      message: `Cannot draw a single-antenna channel with ${tx} transmit and ${rx} receive antennas`,
      place: ["scenario"],
      hint: "Use the scenario mimo_ofdm for several antennas",
    }],
  estimate: ({ example_count: n, rx_antennas: rx, tx_antennas: tx, subcarriers: k }) => ({
    channel: [["complex64", n, rx, tx, k]],
  }),
  run({ params, generator, backend }) {
    const { scenario, subcarriers, rx_antennas: rx, tx_antennas: tx, example_count: examples } = params;
    const sizes = { examples, rx, tx, subcarriers };
    const dopplerHz = maximumDopplerHz(params.mobility_kmh, params.carrier_frequency_ghz);
    const tdl = backend === "phylib" || scenario === "mimo_ofdm_3gpp_tdl";
    const tapCount = FLAT.includes(scenario) ? 1 : params.channel_tap_count;
    return {
      outputs: {
        channel: channelArtifact(tdl ? profiled() : syntheticChannel(sizes, tapCount, generator), sizes, {
          scenario,
          channel_model: tdl ? `TDL-${params.tdl_model}` : tapCount === 1 ? "flat" : "exponential",
          subcarrier_spacing_khz: float(params.subcarrier_spacing_khz),
          maximum_doppler_hz: float(tdl ? dopplerHz : 0),
          ...(tdl ? { delay_spread_ns: float(params.delay_spread_ns) } : { channel_tap_count: tapCount }),
        }),
      },
    };

    function profiled(): Float64Array {
      const delaySpread = params.delay_spread_ns * 1e-9, pairs = examples * rx * tx;
      const profile = tdlProfile(params.tdl_model, { delaySpread, normalise: params.normalize_channel });
      const motion = { dopplerHz, interval: ofdmSymbolInterval(params.subcarrier_spacing_khz), samples: 1 };
      const taps = backend === "phylib"
        ? movingTaps(profile, pairs, motion, generator)
        : staticTaps(profile, pairs, generator);
      return frequencyResponse(taps, profile, { count: subcarriers, spacing: params.subcarrier_spacing_khz * 1e3 });
    }
  },
});

/**
 * Known pilots of the transmit antennas:
 *
 *     unit   1 on every subcarrier, for one antenna
 *     comb   QPSK pilots, antenna t on the subcarriers k = t mod pilot_spacing and silent elsewhere, so that no two antennas
 *            share one
 *
 * Shapes: pilots complex64 [tx, subcarrier]. Draws: comb integers(0, 4, [tx, subcarrier]), a label for every cell.
 */
const aiPhyPilotPattern = defineOperation({
  id: "source.ai_phy_pilot_pattern",
  name: "Pilot layout generator",
  description: "Assigns pilots to subcarriers and antennas",
  outputs: { pilots: PILOT_PATTERN },
  params: z.strictObject({
    scenario: z.enum(["unit", "comb"]).default("unit")
      .describe("unit: 1 on every subcarrier of one antenna; comb: QPSK pilots of one antenna per subcarrier"),
    tx_antennas: z.int().positive().default(1).describe("transmit antennas"),
    subcarriers: z.int().positive().default(1).describe("subcarriers of the pattern"),
    pilot_spacing: z.int().positive().default(4).meta({ "x-svc-used-when": { scenario: "comb" } })
      .describe("spacing of an antenna's pilots in subcarriers"),
    seed: seedParameter(0, { scenario: "comb" }),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"], differentiable_export: ["torch", "phylib"] },
  equivalence: { type: "behavioral" },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  check(params) {
    if (params.scenario === "comb") return combProblems(params, params.pilot_spacing);
    if (params.tx_antennas === 1) return [];
    return [{
      code: "params_conflict",
      message: `Cannot separate ${params.tx_antennas} antennas with the same pilots`,
      place: ["scenario"],
      hint: "Use the scenario comb for several antennas",
    }];
  },
  estimate: ({ tx_antennas, subcarriers }) => ({ pilots: [["complex64", tx_antennas, subcarriers]] }),
  run(context) {
    const { scenario, tx_antennas: tx, subcarriers, pilot_spacing: spacing } = context.params;
    const pilots = scenario === "comb"
      ? combPilots(tx, subcarriers, spacing, context.generator)
      : Float32Array.from({ length: 2 * subcarriers }, (_, i) => 1 - i % 2);
    return {
      outputs: {
        pilots: {
          array: ndarray("complex64", pilots, [tx, subcarriers]),
          metadata: {
            pilot_pattern: scenario,
            tx_antennas: tx,
            subcarriers,
            pilot_spacing: scenario === "comb" ? spacing : 1,
          },
        },
      },
    };
  },
});

/** Subcarriers between the pilots of an antenna, and taps, by scenario. */
const SCENARIOS = { pilot_awgn: { spacing: 1, taps: 1 }, mimo_ofdm_pilot: { spacing: 4, taps: 4 } } as const;

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
const aiPhyPilotChannel = defineOperation({
  id: "source.ai_phy_pilot_channel",
  name: "Pilot observation scenario",
  description: "Draws channels and noisy pilots received over them",
  outputs: { problem: CHANNEL_PROBLEM },
  params: z.strictObject({
    scenario: z.enum(["pilot_awgn", "mimo_ofdm_pilot"]).default("pilot_awgn")
      .describe("channel model and pilots of the examples"),
    example_count: z.int().positive().default(32).describe("number of examples"),
    rx_antennas: z.int().positive().default(1).describe("receive antennas"),
    tx_antennas: z.int().positive().default(1).describe("transmit antennas"),
    subcarriers: z.int().positive().default(1).describe("subcarriers of an example"),
    snr_db: z.number().default(12).describe("Es/N0 in dB, per receive antenna").meta(shownIn("dB")),
    wireless_backend: z.enum(["auto", "numpy", "phylib"]).default("auto")
      .describe("auto is numpy, the portable backend"),
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

export default [aiPhyChannelRealization, aiPhyPilotPattern, aiPhyPilotChannel];
