/**
 * Chooses the users of each slot. An example of a problem is a slot, in which a user served alone gets
 *
 *     R_k = max Σ_i log2(1 + p_iσ_i²/N0), Σ p_i = total_power, σ_i the singular values of H_k
 *
 * Policies and the average: lib/numeric/link/scheduling.ts. Groups of more than one user need a problem of users with one antenna:
 * the next user is the one of largest priority with |h_iᴴh_j| <= 0.5·‖h_i‖‖h_j‖ to all chosen before (round_robin takes the
 * users in turn), and the group is served by zero forcing with equal powers. Channels are those that the transmitter knows.
 *
 * With report_delay_slots d, users of slot t are chosen by the rates of slot t - d, and precoders are those of the channels of slot
 * t - d, over the channels of slot t. transmitted_rate channel: they get the rate that the channel of slot t carries, by ideal
 * adaptation; report: the rate log2(1 + SINR/b) of a report log2(1 + SINR) is sent, b = report_backoff_db, and lost where the channel
 * carries less. The first d slots serve no user and count in no mean.
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
  singleUserPrecoder,
  singleUserRate,
  userRates,
  zeroForcingPrecoder,
} from "../../lib/numeric/antenna/mu_mimo.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { type Cell, schedule } from "../../lib/numeric/link/scheduling.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
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
    report_delay_slots: z.int().min(0).max(10_000).default(0).describe(
      "slots from a report to the slot that it serves",
    ),
    transmitted_rate: z.enum(["channel", "report"]).default("channel")
      .describe(
        "rate that the channel of the slot carries, or that of the report, lost where the channel carries less",
      ),
    report_backoff_db: z.number().nonnegative().default(0).meta({
      "x-svc-used-when": { transmitted_rate: "report" },
      "x-svc-ui": { unit: "dB" },
    }).describe("by how much the rate of a late report is lowered in dB of its SINR"),
  }),
  differentiability: notExported("torch", "none", "Choices of users have no gradient"),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "exact" },
  formats: { artifact: "npz", tensor: "none" },
  estimate: ({ group_size: group }, { rates: { shape } }) =>
    shape === undefined ? {} : { decision: [["int32", shape[0], group]] },
  run({ inputs, params }) {
    const { policy, window, initial_average: initialAverage, group_size: group, fairness_exponent: exponent } = params;
    const cell = aged(
      inputs.rates.kind === MU_MIMO_PROBLEM.id ? cellOfChannels(inputs.rates, group) : cellOfRates(inputs.rates, group),
      params,
    );
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
        report_delay_slots: params.report_delay_slots,
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

/** Rates of a slot: those that a report of it promises, and those that it carries when another slot was reported. */
interface Slots extends Omit<Cell, "served"> {
  carried(slot: number, members: readonly number[], reported: number): ArrayLike<number>;
}

/** The cell whose reports are late. @throws SvcError `params_conflict` where no slot has a report */
function aged(
  { carried, ...cell }: Slots,
  { report_delay_slots: delay, transmitted_rate, report_backoff_db }: Ageing,
): Cell {
  if (delay >= cell.slots) {
    throw new SvcError("params_conflict", `Cannot schedule ${cell.slots} slots by reports of ${delay} slots before`, {
      hint: "Set report_delay_slots below the number of slots",
    });
  }
  const { alone, compatible } = cell;
  return {
    ...cell,
    firstSlot: delay,
    alone: (slot, user) => alone(slot - delay, user),
    compatible: compatible && ((slot, first, second) => compatible(slot - delay, first, second)),
    served(slot, members) {
      const rates = carried(slot, members, slot - delay);
      if (delay === 0 || transmitted_rate === "channel") return rates;
      return Array.from(carried(slot - delay, members, slot - delay), (rate, i) => {
        const sent = lowered(rate, report_backoff_db);
        return sent <= rates[i] ? sent : 0;
      });
    },
  };
}

interface Ageing {
  report_delay_slots: number;
  transmitted_rate: "channel" | "report";
  report_backoff_db: number;
}

/** log2(1 + SINR/b) of a rate log2(1 + SINR). */
const lowered = (rate: number, backoffDb: number): number =>
  backoffDb === 0 ? rate : Math.log1p(Math.expm1(rate * Math.LN2) * dbToLinear(-backoffDb)) * Math.LOG2E;

function cellOfRates(input: InputArtifact, group: number): Slots {
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
  return { slots: arrays.size("slot"), users, group, alone, carried: (slot, [user]) => [alone(slot, user)] };
}

function cellOfChannels(input: InputArtifact, group: number): Slots {
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
  const cell = { slots: examples, users, group, alone };
  if (group === 1) {
    return {
      ...cell,
      carried(slot, [user], reported) {
        if (slot === reported) return [alone(slot, user)];
        const { w, streams } = singleUserPrecoder(links[reported], user);
        return userRates(membersOf(links[slot], [user]), w, streams).rates;
      },
    };
  }
  return {
    ...cell,
    compatible: (slot, first, second) => correlation(links[slot], first, second) <= SEMI_ORTHOGONAL,
    carried(slot, members, reported) {
      const w = zeroForcingPrecoder(membersOf(links[reported], members), "equal");
      return userRates(membersOf(links[slot], members), w, members.length).rates;
    },
  };
}

/** The link of some users only, in their order. */
function membersOf(link: Downlink, members: readonly number[]): Downlink {
  const size = 2 * link.rx * link.tx, h = new Float64Array(size * members.length);
  members.forEach((user, place) => h.set(link.h.subarray(user * size, (user + 1) * size), place * size));
  return { ...link, h, users: members.length };
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
