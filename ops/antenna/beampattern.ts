/**
 * Radiation pattern of transmit weights on a uniform linear array with half a wavelength between its antennas,
 *
 *     P(θ) = Σ_k |a(θ)ᴴw_k|²
 *
 * summed over the streams k of an example; 1 for one antenna with all power. Half-power width and sidelobes are found
 * between the angles of the grid, so they do not depend on grid_step_deg. Formulas: lib/numeric/antenna/beam_pattern.ts.
 *
 * Metrics are means over the examples that have them: the angle of the largest gain, the width of the main lobe at half
 * its power, and the largest sidelobe relative to it. A pattern without a direction has none of them; a main lobe that
 * keeps more than half its power up to ±90° has no width. The report lists the values of every example. Draws nothing.
 *
 * Shapes: decision complex64 [example, tx], or a precoder [example, tx, stream] -> pattern float64 [example, angle] with the companion angles_deg float64
 * [angle].
 */
import { defineOperation, float, type InputArtifact, type Value, z } from "../api.ts";
import { artifactKind, REPORT } from "../../lib/contract/kinds.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { reportResult, type Scores } from "../../lib/artifact/values.ts";
import { type Lobes, lobesOf, patternGain } from "../../lib/numeric/antenna/beam_pattern.ts";
import { linearToDb } from "../../lib/numeric/link/decibel.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { gridOfStep } from "../_aoa.ts";
import { notExported } from "../_backends.ts";
import { BEAMFORMING_DECISION } from "../_beamforming.ts";
import { MU_MIMO_PRECODER } from "../_mu_mimo.ts";

const BEAMPATTERN = artifactKind("ai_phy.beampattern.numpy", {
  example_count: "count",
  tx_antennas: "count",
  element_spacing_wavelengths: "positive",
});

/** Between antennas, in wavelengths: the array of the beamforming scenarios. */
const SPACING = 0.5;

export default defineOperation({
  id: "model.beampattern",
  name: "Beam pattern",
  description: "Computes the radiation pattern of transmit weights, its half-power width and its sidelobes",
  inputs: { decision: [BEAMFORMING_DECISION, MU_MIMO_PRECODER] },
  outputs: { report: REPORT, pattern: BEAMPATTERN },
  params: z.strictObject({
    grid_step_deg: z.number().min(0.001).max(90).default(0.5).describe("angular step of the pattern")
      .meta({ "x-svc-ui": { unit: "degree" } }),
  }),
  differentiability: notExported("torch", "full", "The pattern is quadratic in the weights; its metrics are searches"),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
  estimate({ grid_step_deg }, { decision: { shape } }) {
    const angles = gridOfStep(grid_step_deg).length;
    return shape === undefined ? {} : { pattern: [["float64", shape[0], angles], ["float64", angles]] };
  },
  run({ inputs, params }) {
    const { examples, antennas, beamsOf } = weightsOf(inputs.decision);
    const angles = gridOfStep(params.grid_step_deg), pattern = new Float64Array(examples * angles.length);
    const found: (Lobes | null)[] = [];
    for (let example = 0; example < examples; example++) {
      const beams = beamsOf(example);
      angles.forEach((angle, i) => {
        pattern[example * angles.length + i] = patternGain(beams, SPACING, Math.sin(angle * Math.PI / 180));
      });
      found.push(lobesOf(beams, SPACING));
    }
    const metrics: Record<string, number> = {}, facts: Record<string, Value> = { example_count: examples };
    for (const [name, read] of MEASURES) {
      const values = found.map((lobes) => lobes && read(lobes)), own = values.filter((value) => value !== null);
      facts[name] = values.map((value) => value === null ? null : float(value));
      if (own.length > 0) metrics[`beampattern.${name}`] = mean(own);
    }
    const { outputs: { report } } = reportResult("model.beampattern", metrics satisfies Scores, { facts });
    return {
      outputs: {
        report,
        pattern: {
          array: ndarray("float64", pattern, [examples, angles.length]),
          companions: { angles_deg: ndarray("float64", angles, [angles.length]) },
          metadata: {
            example_count: examples,
            tx_antennas: antennas,
            element_spacing_wavelengths: float(SPACING),
            grid_step_deg: float(params.grid_step_deg),
          },
        },
      },
      metrics,
    };
  },
});

/** The weights of each stream of an example. */
function weightsOf(input: InputArtifact) {
  const arrays = arraysOf(input), precoder = input.kind === MU_MIMO_PRECODER.id;
  const weights = arrays.read("complex64", precoder ? ["example", "tx", "stream"] : ["example", "tx"]);
  const antennas = arrays.size("tx"), streams = precoder ? arrays.size("stream") : 1;
  const beamsOf = (example: number) =>
    Array.from({ length: streams }, (_, stream) => {
      const w = new Float32Array(2 * antennas);
      for (let m = 0; m < antennas; m++) {
        const at = 2 * ((example * antennas + m) * streams + stream);
        w.set(weights.subarray(at, at + 2), 2 * m);
      }
      return w;
    });
  return { examples: arrays.size("example"), antennas, beamsOf };
}

const MEASURES: readonly [string, (lobes: Lobes) => number | null][] = [
  ["peak_deg", ({ peakDeg }) => peakDeg],
  ["half_power_width_deg", ({ widthDeg }) => widthDeg],
  ["peak_sidelobe_db", ({ sidelobe }) => sidelobe && linearToDb(sidelobe)],
];
