/**
 * OFDM symbols whose power serves both a receiver and a radar echo. Both responses fade independently on every
 * subcarrier, g_c, g_s ~ CN(0, 1), and
 *
 *     N0 = (total_power/F)·10^(-snr_db/10)
 *
 * so snr_db is the mean Es/N0 of a subcarrier under equal power, of either response.
 *
 * Draws: communication gains, then sensing gains, complex [example, subcarrier].
 *
 * Shapes: problem complex64 [example, subcarrier] (see ../_isac.ts).
 */
import { defineOperation, float, seedParameter, shownIn, z } from "../api.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { executed, exported } from "../_backends.ts";
import { ISAC_PROBLEM } from "../_isac.ts";

export default defineOperation({
  id: "source.isac_ofdm_scenario",
  name: "Joint sensing and communication scenario",
  description: "Draws frequency-selective channels of a receiver and of an echo, with a power budget",
  outputs: { problem: ISAC_PROBLEM },
  params: z.strictObject({
    example_count: z.int().positive().default(64).describe("number of examples"),
    subcarriers: z.int().positive().default(12).describe("subcarriers of an example"),
    total_power: z.number().positive().default(1).describe("power of all subcarriers of an example"),
    sensing_weight: z.number().min(0).max(1).default(0.4).describe("weight of the echo: 0 rate only, 1 echo only"),
    snr_db: z.number().default(10).describe("mean Es/N0 in dB of a subcarrier with equal power").meta(shownIn("dB")),
    seed: seedParameter(0),
  }),
  materializations: [
    ...executed("numpy", "synthetic_frequency_selective_isac"),
    exported("torch", "captured_isac_allocation_contract"),
  ],
  estimate: ({ example_count: n, subcarriers: k }) => ({ problem: [["complex64", n, k], ["complex64", n, k]] }),
  run({ params, generator }) {
    const { example_count: examples, subcarriers, total_power: totalPower } = params;
    const noiseVariance = totalPower / subcarriers * dbToLinear(-params.snr_db);
    const response = () => {
      const gains = generator.complexNormal64(examples * subcarriers, 1);
      return ndarray("complex64", Float32Array.from(gains), [examples, subcarriers]);
    };
    const communication = response(), sensing = response();
    return {
      outputs: {
        problem: {
          array: communication,
          companions: { sensing },
          metadata: {
            example_count: examples,
            subcarrier_count: subcarriers,
            total_power: float(totalPower),
            noise_variance: float(noiseVariance),
            sensing_weight: float(params.sensing_weight),
            snr_db: float(params.snr_db),
          },
        },
      },
      metrics: { "channel.noise_variance": noiseVariance },
    };
  },
});
