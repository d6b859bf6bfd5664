/** What the error rates share: names of metrics under a label, reports, and streams of different length. */
import { type RateCounts, rateEstimate } from "../../lib/numeric/scores/rate_interval.ts";
import { diagnostic, type JsonObject, SvcError, z } from "../api.ts";
import type { Report } from "../_report.ts";

export const allowLengthMismatch = () =>
  z.boolean().default(true).describe("compare streams of different length with a warning; false fails the step");

/**
 * Facts about the lengths of the compared streams in bits, and the warning for a difference.
 * @throws SvcError `length_mismatch` for a difference that is not allowed
 */
export function comparedLengths(candidate: number, reference: number, allowed: boolean, compared: string): {
  facts: { reference_bit_count: number; candidate_bit_count: number; length_mismatch: number };
  metadata: { warnings?: JsonObject[] };
} {
  const facts = {
    reference_bit_count: reference,
    candidate_bit_count: candidate,
    length_mismatch: Math.abs(candidate - reference),
  };
  if (candidate === reference) return { facts, metadata: {} };
  const message = `Cannot compare ${candidate} bits with ${reference} bits completely`;
  const hint = "Compare both sides of the link at the same stage";
  if (!allowed) throw new SvcError("length_mismatch", message, { hint });
  const warning = diagnostic("length_mismatch", [], `${message}: ${compared}`, { severity: "warning", hint });
  return { facts, metadata: { warnings: [warning as unknown as JsonObject] } };
}

/** Guessing has a bit error rate of 1/2; this confidence keeps false warnings out of long sweeps. */
const CERTAIN = 0.9999;

/** The warning of a bit error rate that is certainly above 1/2. */
export function invertedBits(counts: RateCounts): { warnings?: JsonObject[] } {
  if (counts.events <= counts.trials / 2) return {};
  if ((rateEstimate(counts, CERTAIN)?.low ?? 0) <= 0.5) return {};
  const message = `More than half of the bits differ: ${counts.events} of ${counts.trials}`;
  const hint = "Is the sign of the soft values inverted, or is the order of the bits reversed?";
  return {
    warnings: [
      diagnostic("error_rate_above_half", [], message, { severity: "warning", hint }) as unknown as JsonObject,
    ],
  };
}

/**
 * The rate is `channel.<label>`. Counts share the label's stem, the label without its final `ber` or `bler`: `ber` gives
 * `channel.error_count`, `payload.ber` gives `channel.payload.error_count`. A label without that ending is itself the
 * stem: `link` gives `channel.link.error_count`.
 */
export function errorRateNames(label: string, ending: "ber" | "bler", events: string, trials: string) {
  const stem = label.endsWith(ending) ? label.slice(0, -ending.length) : `${label}.`;
  return { rate: `channel.${label}`, events: `channel.${stem}${events}`, trials: `channel.${stem}${trials}` };
}

/** The report of an error rate, with its counts over units; the rate is left out when nothing was compared. */
export function errorRateReport(
  names: ReturnType<typeof errorRateNames>,
  counts: RateCounts,
  more: Pick<Report, "label" | "facts" | "metadata">,
): Report {
  const { events, trials } = counts;
  const rate = trials === 0 ? {} : { [names.rate]: events / trials };
  const metrics = { ...rate, [names.events]: BigInt(events), [names.trials]: BigInt(trials) };
  return { metrics, rates: { [names.rate]: counts }, ...more };
}
