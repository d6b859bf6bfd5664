/** Conformance cases of the multi-user downlink. */
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { arrayInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

const waves = (count: number, step: number) =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(step * i * i + 1));
const FACTS = { noise_variance: 0.1, total_power: 2, example_count: 3 };

/** Three channels of two users; `rx` antennas of a user, six of the base station. */
export const downlink = (rx = 1) =>
  arrayInput("ai_phy.mu_mimo_problem.numpy", "complex64", waves(72 * rx, 1.3), [3, 2, rx, 6], FACTS);

const uncertain = () => ({
  ...downlink(),
  companions: { true_channel: ndarray("complex64", waves(72, 0.7), [3, 2, 1, 6]) },
});
const precoder = (streams: number) =>
  arrayInput("ai_phy.mu_mimo_precoder.numpy", "complex64", waves(36 * streams, 2.1), [3, 6, streams], {
    ...FACTS,
    precoder: "mrt",
  });
const rates = () =>
  arrayInput("ai_phy.mu_mimo_rates.numpy", "float64", Float64Array.from(waves(20, 0.9), Math.abs), [5, 4], {
    slot_count: 5,
    user_count: 4,
  });

export const MU_MIMO_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    downlink: () => ({ problem: downlink() }),
    "downlink of two antennas": () => ({ problem: downlink(2) }),
    "precoder on uncertain channels": () => ({ problem: uncertain(), decision: precoder(2) }),
    "precoder of two antennas": () => ({ problem: downlink(2), decision: precoder(4) }),
    rates: () => ({ rates: rates() }),
    channels: () => ({ rates: downlink() }),
  },
});
