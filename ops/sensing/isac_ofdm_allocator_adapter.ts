/**
 * Trainable policy that shares power between a receiver and an echo:
 *
 *     equal_power                  P/F on every subcarrier
 *     communications_water_filling the p of the largest rate, without the echo
 *     scalarized_reference         the p of the largest utility, where its projected gradient is zero
 *     learned_artifact             features [batch, subcarrier, 4] -> power [batch, subcarrier], projected onto
 *                                  {p >= 0, Σ p = P} (svc_exact_simplex_projection_v1): all spend the same power
 *
 * The features of a subcarrier are |g_c|²/N0, |g_s|²/N0, sensing_weight and total_power/F. Formulas: lib/numeric/antenna/isac.ts.
 *
 * Shapes: problem complex64 [example, subcarrier] -> decision float64 [example, subcarrier].
 */
import { defineSlot, float } from "../api.ts";
import { IsacUtility, rateOnlyAllocation, scalarizedAllocation } from "../../lib/numeric/antenna/isac.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { projectOntoSimplex } from "../../lib/numeric/link/water_filling.ts";
import { ISAC_DECISION, ISAC_PROBLEM, type IsacProblem, isacProblemOf } from "../_isac.ts";

export default defineSlot({
  id: "model.isac_ofdm_allocator_adapter",
  name: "Joint sensing and communication allocator slot",
  description: "Shares OFDM power between a receiver and an echo, by a rule or by a trained artifact",
  inputs: { problem: [ISAC_PROBLEM] },
  outputs: { decision: ISAC_DECISION },
  gradient: "full",
  exports: { torch: "label_free_scalarized_utility" },
  twin: true,
  mode: { default: "equal_power" },
  read: ({ inputs }) => isacProblemOf(inputs.problem),
  modes: {
    equal_power: { implementation: "equal_power", run: (problem) => allocated(problem, () => equalPower(problem)) },
    communications_water_filling: {
      implementation: "communication_water_filling",
      run: (problem) => allocated(problem, (example) => rateOnlyAllocation(problem.channelsAt(example))),
    },
    scalarized_reference: {
      implementation: "scalarized_projected_gradient_oracle",
      run: (problem) =>
        allocated(
          problem,
          (example) => scalarizedAllocation(new IsacUtility(problem.channelsAt(example), problem.sensingWeight)),
        ),
    },
  },
  learned: {
    component: { id: "allocator", role: "joint_isac_ofdm_power_allocator", entrypoint: "isac_allocator" },
    inputs: { features: ["batch", "subcarrier", 4] },
    outputs: { power: ["batch", "subcarrier"] },
    meaning: {
      features: "|g_c|^2/N0 of the receiver, |g_s|^2/N0 of the echo, sensing weight, mean power of a subcarrier",
      power: "powers, projected onto the budget afterwards",
    },
    rows: 4096,
    async run(problem, call) {
      const { subcarriers, totalPower } = problem, { power } = await call({ features: featuresOf(problem) });
      return allocated(
        problem,
        (example) =>
          projectOntoSimplex(power.data.subarray(example * subcarriers, (example + 1) * subcarriers), totalPower),
      );
    },
  },
  result(power, { examples, subcarriers, totalPower }, { label }) {
    const metadata = { example_count: examples, allocator: label, total_power: float(totalPower) };
    return { outputs: { decision: { array: ndarray("float64", power, [examples, subcarriers]), metadata } } };
  },
});

const equalPower = ({ subcarriers, totalPower }: IsacProblem) =>
  new Float64Array(subcarriers).fill(totalPower / subcarriers);

/** Powers of all examples, [example, subcarrier]. */
function allocated({ examples, subcarriers }: IsacProblem, allocate: (example: number) => Float64Array): Float64Array {
  const power = new Float64Array(examples * subcarriers);
  for (let example = 0; example < examples; example++) power.set(allocate(example), example * subcarriers);
  return power;
}

function featuresOf({ examples, subcarriers, communication, sensing, sensingWeight, totalPower }: IsacProblem) {
  const features = new Float32Array(4 * examples * subcarriers), mean = totalPower / subcarriers;
  communication.forEach((a, k) => features.set([a, sensing[k], sensingWeight, mean], 4 * k));
  return ndarray("float32", features, [examples, subcarriers, 4]);
}
