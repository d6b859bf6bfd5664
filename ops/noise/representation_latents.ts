/**
 * Noise on continuous latents, drawn over the array in C order.
 *
 * gaussian adds sigma · standard_normal(size); dropout sets a latent to 0 where random(size) < probability. Draws are
 * binary64, the result is rounded once to the type of the latents.
 */
import { LATENTS } from "../../lib/contract/kinds.ts";
import { defineOperation, seedParameter, SvcError, z } from "../api.ts";
import { companionsOf, travel } from "../../lib/artifact/values.ts";

export default defineOperation({
  id: "noise.representation_latents",
  name: "Noise on continuous latents",
  description: "Seeded Gaussian or dropout corruption of latents",
  inputs: { latents: [LATENTS] },
  outputs: { latents: LATENTS },
  params: z.strictObject({
    mode: z.enum(["none", "gaussian", "dropout"]).default("none")
      .describe("none, additive Gaussian noise, or values set to 0"),
    probability: z.number().min(0).max(1).default(0.05).meta({ "x-svc-used-when": { mode: "dropout" } })
      .describe("probability of a latent to be dropped"),
    sigma: z.number().nonnegative().default(0.05).meta({ "x-svc-used-when": { mode: "gaussian" } })
      .describe("standard deviation of the added noise, in latent units"),
    seed: seedParameter(0, { mode: ["gaussian", "dropout"] }),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "statistical", reason: "Implementations share the distribution and the seed policy" },
  formats: { artifact: "npz", tensor: "none" },
  outputMetadataGuarantees: { latents: { from: "latents", keys: ["representation_noise"] } },
  run({ inputs, params, generator }) {
    const { mode, probability, sigma } = params;
    const array = inputs.latents.array();
    if (!array.dtype.startsWith("float")) {
      throw new SvcError("boundary_dtype_invalid", `Cannot use ${array.dtype} data as latents`);
    }
    const latents = array.data.slice() as Float64Array;
    if (mode === "gaussian") {
      const noise = generator.standardNormal(latents.length);
      for (let i = 0; i < latents.length; i++) latents[i] += sigma * noise[i];
    } else if (mode === "dropout") {
      const draws = generator.random(latents.length);
      for (let i = 0; i < latents.length; i++) if (draws[i] < probability) latents[i] = 0;
    }
    const metadata = travel(inputs.latents.metadata, { representation_noise: { mode } });
    return {
      outputs: { latents: { array: { ...array, data: latents }, companions: companionsOf(inputs.latents), metadata } },
    };
  },
});
