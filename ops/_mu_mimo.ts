/**
 * Artifacts of the multi-user downlink. A problem holds the channels h complex64 [example, user, rx, tx] known to the
 * transmitter, and true_channel of the same shape when they have an error; rows act without conjugate, y = h w s + n. A
 * precoder holds W complex64 [example, tx, stream], the streams of a user side by side. Rates are float64 [slot, user] in
 * bit/s/Hz; a schedule holds the served users int32 [slot, group], -1 for a free place.
 */
import { arraysOf } from "../lib/artifact/arrays.ts";
import { metadataOf } from "../lib/artifact/values.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import type { InputArtifact } from "./api.ts";
import type { Downlink } from "../lib/numeric/antenna/mu_mimo.ts";

const DOWNLINK = { noise_variance: "positive", total_power: "positive", example_count: "count" } as const;
export const MU_MIMO_PROBLEM = artifactKind("ai_phy.mu_mimo_problem.numpy", DOWNLINK);
export const MU_MIMO_PRECODER = artifactKind("ai_phy.mu_mimo_precoder.numpy", { ...DOWNLINK, precoder: "text" });
const SLOTS = { slot_count: "count", user_count: "count" } as const;
export const MU_MIMO_RATES = artifactKind("ai_phy.mu_mimo_rates.numpy", SLOTS);
export const SCHEDULE = artifactKind("ai_phy.schedule.numpy", { ...SLOTS, policy: "text" });

export const TRUE_CHANNEL = "true_channel";

/**
 * @param channel that the transmitter knows, or the true one; they are equal without true_channel
 * @throws SvcError with a boundary code for an artifact of another form
 */
export function muMimoProblemOf(input: InputArtifact, channel: "known" | "true" = "known") {
  const arrays = arraysOf(input), shape = ["example", "user", "rx", "tx"];
  const name = channel === "true" && input.arrayNames.includes(TRUE_CHANNEL) ? TRUE_CHANNEL : undefined;
  const h = arrays.read("complex64", shape, name);
  const { noise_variance: noise, total_power: power } = metadataOf(input, MU_MIMO_PROBLEM, [
    "noise_variance",
    "total_power",
  ]);
  const users = arrays.size("user"), rx = arrays.size("rx"), tx = arrays.size("tx"), size = 2 * users * rx * tx;
  return {
    arrays,
    examples: arrays.size("example"),
    users,
    rx,
    tx,
    noise,
    power,
    link: (example: number): Downlink => ({
      h: Float64Array.from(h.subarray(example * size, (example + 1) * size)),
      users,
      rx,
      tx,
      noise,
      power,
    }),
  };
}

export type MuMimoProblem = ReturnType<typeof muMimoProblemOf>;
