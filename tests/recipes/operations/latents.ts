/** A source of continuous latents for recipes of the tests: standard normal ones. */
import { defineOperation, kinds, ndarray, seedParameter, z } from "../../../mod.ts";

export default defineOperation({
  id: "test.latents",
  name: "Random latents",
  outputs: { latents: kinds.LATENTS },
  params: z.strictObject({ seed: seedParameter() }),
  threadSafe: true,
  run({ generator }) {
    const latents = Float32Array.from(generator.standardNormal(40));
    return { outputs: { latents: { array: ndarray("float32", latents, [2, 4, 5]) } } };
  },
});
