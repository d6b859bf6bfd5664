/**
 * Chooses the users of each slot. An example of a problem is a slot, in which a user served alone gets
 *
 *     R_k = max Σ_i log2(1 + p_iσ_i²/N0), Σ p_i = total_power, σ_i the singular values of H_k
 *
 * Policies and the average: lib/numeric/link/scheduling.ts. Groups of more than one user need a problem of users with one antenna:
 * the next user is the one of largest priority with |h_iᴴh_j| <= 0.5·‖h_i‖‖h_j‖ to all chosen before (round_robin takes the
 * users in turn), and the group is served by zero forcing with equal powers. Channels are those that the transmitter knows.
 *
 * Shapes: rates float64 [slot, user], or problem complex64 [example, user, rx, tx] -> decision int32 [slot, group], -1 for a
 * free place.
 */
import { defineOperation, float, type InputArtifact, SvcError, z } from "../api.ts";
import { REPORT } from "../../lib/contract/kinds.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { reportResult } from "../../lib/artifact/values.ts";
import {
  type Downlink,
  jainIndex,
  singleUserRate,
  userRates,
  zeroForcingPrecoder,
} from "../../lib/numeric/antenna/mu_mimo.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { type Cell, schedule } from "../../lib/numeric/link/scheduling.ts";
import { sum } from "../../lib/numeric/scores/statistics.ts";
import { notExported } from "../_backends.ts";
import { MU_MIMO_PROBLEM, MU_MIMO_RATES, muMimoProblemOf, SCHEDULE } from "../_mu_mimo.ts";

/** Largest correlation of the channels of a group. */
const SEMI_ORTHOGONAL = 0.5;

const averaged = { "x-svc-used-when": { policy: "proportional_fair" } };

export default defineOperation({
  id: "model.proportional_fair_scheduler",
  name: "Proportional fair scheduler",
  description: "Chooses the users of each slot by rate and fairness",
  inputs: { rates: [MU_MIMO_RATES, MU_MIMO_PROBLEM] },
  outputs: { decision: SCHEDULE, report: REPORT },
  params: z.strictObject({
    policy: z.enum(["proportional_fair", "max_rate", "round_robin"]).default("proportional_fair")
      .describe("rate over average rate, rate alone, or the users in turn"),
    window: z.number().min(1).default(100).describe("slots of the average rate").meta(averaged),
    initial_average: z.number().positive().default(1e-6).describe("average rate before the first slot, in bit/s/Hz")
      .meta(averaged),
    group_size: z.int().min(1).max(64).default(1).describe("users of a slot at most"),
    fairness_exponent: z.number().nonnegative().default(1)
      .describe("exponent of the average rate; 0 ignores fairness").meta(averaged),
  }),
  differentiability: notExported("torch", "none", "Choices of users have no gradient"),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "exact" },
  formats: { artifact: "npz", tensor: "none" },
  estimate: ({ group_size: group }, { rates: { shape } }) =>
    shape === undefined ? {} : { decision: [["int32", shape[0], group]] },
  run({ inputs, params }) {
    const { policy, window, initial_average: initialAverage, group_size: group, fairness_exponent: exponent } = params;
    const cell = inputs.rates.kind === MU_MIMO_PROBLEM.id
      ? cellOfChannels(inputs.rates, group)
      : cellOfRates(inputs.rates, group);
    const { chosen, throughput, averages } = schedule(cell, { policy, window, initialAverage, exponent });
    const { slots, users } = cell, jain = jainIndex(throughput), served = new Array<number>(users).fill(0);
    for (const user of chosen) if (user >= 0) served[user]++;
    const { outputs: { report }, metrics } = reportResult("model.proportional_fair_scheduler", {
      "schedule.sum_rate_bps_hz": sum(throughput),
      "schedule.min_rate_bps_hz": throughput.reduce((low, rate) => Math.min(low, rate), Infinity),
      ...(jain === undefined ? {} : { "schedule.jain_fairness": jain }),
    }, {
      facts: {
        policy,
        slot_count: slots,
        user_rates_bps_hz: Array.from(throughput, float),
        final_average_bps_hz: Array.from(averages, float),
        served_slot_count: served,
      },
    });
    return {
      outputs: {
        decision: {
          array: ndarray("int32", chosen, [slots, group]),
          metadata: { slot_count: slots, user_count: users, policy },
        },
        report,
      },
      metrics,
    };
  },
});

function cellOfRates(input: InputArtifact, group: number): Cell {
  if (group > 1) {
    throw new SvcError("params_conflict", `Cannot serve groups of ${group} users without their channels`, {
      hint: "Wire the problem to rates, or set group_size to 1",
    });
  }
  const arrays = arraysOf(input), rates = arrays.read("float64", ["slot", "user"]), users = arrays.size("user");
  if (rates.some((rate) => rate < 0)) {
    throw new SvcError("boundary_value_invalid", "Cannot schedule by a negative rate");
  }
  const alone = (slot: number, user: number) => rates[slot * users + user];
  return { slots: arrays.size("slot"), users, group, alone, served: (slot, [user]) => [alone(slot, user)] };
}

function cellOfChannels(input: InputArtifact, group: number): Cell {
  const { examples, users, rx, tx, link } = muMimoProblemOf(input);
  if (group > 1 && rx > 1) {
    throw new SvcError("params_conflict", `Cannot serve groups of users with ${rx} antennas`, {
      hint: "Set group_size or rx_antennas to 1",
    });
  }
  if (group > Math.min(users, tx)) {
    throw new SvcError("params_conflict", `Cannot serve ${group} of ${users} users at once with ${tx} antennas`, {
      hint: "Set group_size to the number of users and of transmit antennas at most",
    });
  }
  const links = Array.from({ length: examples }, (_, slot) => link(slot));
  const rates = links.map((one) => Float64Array.from({ length: users }, (_, user) => singleUserRate(one, user)));
  const alone = (slot: number, user: number) => rates[slot][user];
  if (group === 1) return { slots: examples, users, group, alone, served: (slot, [user]) => [alone(slot, user)] };
  return {
    slots: examples,
    users,
    group,
    alone,
    compatible: (slot, first, second) => correlation(links[slot], first, second) <= SEMI_ORTHOGONAL,
    served: (slot, members) => {
      const h = new Float64Array(2 * tx * members.length);
      members.forEach((user, row) => h.set(links[slot].h.subarray(2 * user * tx, 2 * (user + 1) * tx), 2 * row * tx));
      const part = { ...links[slot], h, users: members.length };
      return userRates(part, zeroForcingPrecoder(part, "equal"), members.length).rates;
    },
  };
}

/** |h_iᴴh_j|/(‖h_i‖‖h_j‖); 0 for a channel of zeros. */
function correlation({ h, tx }: Downlink, first: number, second: number): number {
  let re = 0, im = 0, energies = [0, 0];
  for (let m = 0; m < tx; m++) {
    const p = 2 * (first * tx + m), q = 2 * (second * tx + m);
    re += h[p] * h[q] + h[p + 1] * h[q + 1];
    im += h[p] * h[q + 1] - h[p + 1] * h[q];
    energies = [energies[0] + h[p] ** 2 + h[p + 1] ** 2, energies[1] + h[q] ** 2 + h[q + 1] ** 2];
  }
  const scale = Math.sqrt(energies[0] * energies[1]);
  return scale > 0 ? Math.hypot(re, im) / scale : 0;
}
