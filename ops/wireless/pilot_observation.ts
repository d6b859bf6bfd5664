/**
 * Pilots through channels in noise, y_rk = Σ_t h_rtk·x_tk + n_rk with n ~ CN(0, N0) and N0 = 10^(-snr_db/10), and
 * common inputs of estimators: the least-squares values at the pilots and between them
 * (lib/numeric/channel/channel_estimation.ts).
 *
 * Shapes: channel [example, rx, tx, subcarrier] and pilots [tx, subcarrier] -> observation, problem complex64 [example, rx,
 * subcarrier]; truth, pilot_ls (0 between pilots), ls_estimate complex64 [example, rx, tx, subcarrier]; pilot_mask float32
 * [example, tx, subcarrier]; noise_variance float32 [example, 1]. Draws: noise complex [example, rx, subcarrier].
 */
import { defineOperation, seedParameter, shownIn, z } from "../api.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import {
  CHANNEL_OBSERVATION,
  CHANNEL_PROBLEM,
  CHANNEL_REALIZATION,
  CHANNEL_TRUTH,
  channelArtifact,
  leastSquaresOf,
  noisePerExample,
  PILOT_PATTERN,
  pilotArtifacts,
  pilotMask,
  receivePilots,
  separatePilots,
} from "../_channel_estimation.ts";

export default defineOperation({
  id: "wireless.pilot_observation",
  name: "Noisy pilot reception",
  description: "Receives pilots over noisy channels",
  inputs: { channel: [CHANNEL_REALIZATION], pilots: [PILOT_PATTERN] },
  outputs: {
    ls_estimate: "ai_phy.channel_estimation_ls_estimate.numpy",
    noise_variance: "ai_phy.channel_noise_variance.numpy",
    observation: CHANNEL_OBSERVATION,
    pilot_ls: "ai_phy.channel_estimation_sparse_pilot_ls.numpy",
    pilot_mask: "ai_phy.channel_estimation_pilot_mask.numpy",
    problem: CHANNEL_PROBLEM,
    truth: CHANNEL_TRUTH,
  },
  params: z.strictObject({
    snr_db: z.number().default(12).describe("Es/N0 in dB, per receive antenna").meta(shownIn("dB")),
    wireless_backend: z.enum(["auto", "numpy", "phylib"]).default("auto")
      .describe("auto is numpy, the portable backend"),
    seed: seedParameter(0),
  }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
  backends: {
    benchmark_run: ["numpy", "phylib"],
    dataset_capture: ["numpy", "phylib"],
    differentiable_export: ["torch", "phylib"],
  },
  equivalence: { type: "behavioral" },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  outputMetadataGuarantees: { problem: { keys: ["pilot_density"] } },
  twin: true,
  estimate(_params, { channel: { shape } }) {
    if (shape === undefined) return {};
    const [examples, rx, tx, subcarriers] = shape;
    const received = [["complex64", examples, rx, subcarriers], ["complex64", tx, subcarriers]] as const;
    const channel = [["complex64", ...shape]] as const;
    return {
      observation: received,
      problem: [...received, ...channel],
      truth: channel,
      pilot_ls: channel,
      ls_estimate: channel,
      pilot_mask: [["float32", examples, tx, subcarriers]],
      noise_variance: [["float32", examples, 1]],
    };
  },
  run({ inputs, params, generator }) {
    const arrays = arraysOf(inputs.channel);
    const channel = arrays.read("complex64", ["example", "rx", "tx", "subcarrier"]);
    const pilots = arrays.beside(inputs.pilots).read("complex64", ["tx", "subcarrier"]);
    const examples = arrays.size("example"), rx = arrays.size("rx"), tx = arrays.size("tx");
    const subcarriers = arrays.size("subcarrier"), sizes = { examples, rx, tx, subcarriers };
    const positions = separatePilots(pilots, tx, subcarriers), noiseVariance = dbToLinear(-params.snr_db);
    const received = receivePilots(channel, pilots, sizes, noiseVariance, generator);
    const facts = { noise_variance: noiseVariance, snr_db: params.snr_db };
    const { sparse, full } = leastSquaresOf({ ...sizes, received, pilots, positions });
    const plain = (array: ReturnType<typeof ndarray>) => ({ array, metadata: { example_count: examples } });
    return {
      outputs: {
        ...pilotArtifacts(received, channel.slice(), pilots.slice(), sizes, facts),
        pilot_ls: channelArtifact(sparse, sizes, {}),
        ls_estimate: channelArtifact(full, sizes, {}),
        pilot_mask: plain(pilotMask(positions, sizes)),
        noise_variance: plain(noisePerExample(noiseVariance, examples)),
      },
      metrics: { "channel.noise_variance": noiseVariance },
    };
  },
});
