/**
 * Phases of a reconfigurable intelligent surface:
 *
 *     closed_form   θ_n = arg h_d - arg(h_r,n g_n), for one transmit antenna
 *     alternating   the same for maximum-ratio weights, and weights for the phases, in turn; equals closed_form for one
 *                   transmit antenna
 *     random        uniform in [0, 2π)
 *
 * With phase_bits b above 0 each phase goes to the nearest multiple of 2π/2^b, upwards from the middle; alternating
 * rounds after its last iteration. Formulas: lib/numeric/antenna/reflecting_surface.ts.
 *
 * Draws: random: uniform [example, element]; else nothing.
 *
 * Shapes: decision float64 [example, element], radians in [0, 2π).
 */
import { defineOperation, seedParameter, SvcError, z } from "../api.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { alignedPhases, alternatePhases, quantisedPhase } from "../../lib/numeric/antenna/reflecting_surface.ts";
import { notExported } from "../_backends.ts";
import { RIS_CHANNEL, RIS_PHASES, risProblemOf } from "../_ris.ts";

export default defineOperation({
  id: "model.ris_phase_optimizer",
  name: "Phases of a reflecting surface",
  description: "Chooses the phases of a reconfigurable intelligent surface",
  inputs: { problem: [RIS_CHANNEL] },
  outputs: { decision: RIS_PHASES },
  params: z.strictObject({
    mode: z.enum(["closed_form", "random", "alternating"]).default("closed_form").describe(
      "phases aligned with the direct path, random ones, or phases and transmit weights in turn",
    ),
    phase_bits: z.int().min(0).max(8).default(0).describe("bits of a phase; 0 for continuous phases"),
    iterations: z.int().positive().max(10_000).default(20).describe("updates of the phases")
      .meta({ "x-svc-used-when": { mode: "alternating" } }),
    seed: seedParameter(undefined, { mode: "random" }),
  }),
  differentiability: notExported("torch", "stop", "Closed-form phases of a given channel; quantised ones are discrete"),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
  // The elements are in companions: at most a phase for two of their gains.
  estimate: (_params, { problem: { bytes } }) => ({ decision: bytes / 2 }),
  run({ inputs, params, generator }) {
    const { examples, elements, antennas, channel } = risProblemOf(inputs.problem), { mode, phase_bits: bits } = params;
    if (mode === "closed_form" && antennas > 1) {
      throw new SvcError("params_conflict", `Cannot align phases in closed form for ${antennas} transmit antennas`, {
        hint: "Set mode to alternating",
      });
    }
    const phases = mode === "random"
      ? generator.uniform(0, 2 * Math.PI, examples * elements)
      : new Float64Array(examples * elements);
    for (let example = 0; mode !== "random" && example < examples; example++) {
      const own = channel(example);
      phases.set(
        mode === "closed_form" ? alignedPhases(own, Float64Array.of(1, 0)) : alternatePhases(own, params.iterations),
        example * elements,
      );
    }
    const sent = bits === 0 ? phases : phases.map((phase) => quantisedPhase(phase, bits));
    return {
      outputs: {
        decision: {
          array: ndarray("float64", sent, [examples, elements]),
          metadata: { example_count: examples, unit: "rad", optimizer: mode, phase_bits: bits },
        },
      },
    };
  },
});
