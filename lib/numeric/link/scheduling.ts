/**
 * Scheduling of users in slots. The priority of a user is its rate over avg^exponent; the average follows what it was served:
 *
 *     avg = (1 - 1/window)·avg + (1/window)·served
 *
 * Source: Viswanath, Tse and Laroia, "Opportunistic beamforming using dumb antennas", IEEE Trans. Inf. Theory 48, 2002; groups:
 * Yoo and Goldsmith, "On the optimality of multiantenna broadcast scheduling using zero-forcing beamforming", IEEE J. Sel.
 * Areas Commun. 24, 2006.
 */

/** Place of a group without a user. */
const FREE = -1;

export interface Cell {
  readonly slots: number;
  readonly users: number;
  readonly group: number;
  /** The first slot for which the scheduler has a report; those before serve no user and count in no mean. Default 0. */
  readonly firstSlot?: number;
  /** Rate of a user served alone, as reported. */
  alone(slot: number, user: number): number;
  /** Whether two users may share a slot. Default all may. */
  compatible?(slot: number, first: number, second: number): boolean;
  /** Rates that a group gets, in its order. */
  served(slot: number, members: readonly number[]): ArrayLike<number>;
}

export interface Fairness {
  readonly policy: "proportional_fair" | "max_rate" | "round_robin";
  /** Slots of the average. */
  readonly window: number;
  readonly initialAverage: number;
  readonly exponent: number;
}

export interface Schedule {
  /** Users of each slot in the order of their choice, [slot, group]. */
  readonly chosen: Int32Array<ArrayBuffer>;
  /** Mean rate of each user over the slots from the first report on. */
  readonly throughput: Float64Array<ArrayBuffer>;
  /** Averages after the last slot. */
  readonly averages: Float64Array<ArrayBuffer>;
}

/** Serves all slots in order. Of equal priorities the lowest user comes first; round_robin takes the users in turn. */
export function schedule(cell: Cell, { policy, window, initialAverage, exponent }: Fairness): Schedule {
  const { slots, users, group, firstSlot = 0 } = cell;
  const chosen = new Int32Array(slots * group).fill(FREE), averages = new Float64Array(users).fill(initialAverage);
  const throughput = new Float64Array(users);
  for (let slot = firstSlot; slot < slots; slot++) {
    const members = policy === "round_robin"
      ? Array.from({ length: group }, (_, place) => (slot * group + place) % users)
      : greedy(
        cell,
        slot,
        (user) => policy === "max_rate" ? cell.alone(slot, user) : cell.alone(slot, user) / averages[user] ** exponent,
      );
    chosen.set(members, slot * group);
    const rates = new Float64Array(users), served = cell.served(slot, members);
    members.forEach((user, place) => rates[user] = served[place]);
    for (let user = 0; user < users; user++) {
      throughput[user] += rates[user] / (slots - firstSlot);
      averages[user] = (1 - 1 / window) * averages[user] + rates[user] / window;
    }
  }
  return { chosen, throughput, averages };
}

/** The users of largest priority that are compatible with all chosen before. */
function greedy({ users, group, compatible }: Cell, slot: number, priority: (user: number) => number): number[] {
  const priorities = Float64Array.from({ length: users }, (_, user) => priority(user)), members: number[] = [];
  while (members.length < group) {
    let best = -1;
    for (let user = 0; user < users; user++) {
      if (best >= 0 && !(priorities[user] > priorities[best])) continue;
      if (!members.includes(user) && members.every((other) => compatible?.(slot, other, user) ?? true)) best = user;
    }
    if (best < 0) break;
    members.push(best);
  }
  return members;
}
