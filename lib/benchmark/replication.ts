/** How many replicates a benchmark makes, and when a recipe has enough of them. */
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import { float, toNumber } from "../contract/value.ts";
import type { Pack, PackReplication } from "./pack.ts";
import type { Measure, Replication } from "./types.ts";

/** What a caller asks for; it comes before what the pack says. */
export interface ReplicationOptions {
  replicates?: number;
  untilErrors?: number;
  untilHalfwidth?: number;
  maxBits?: number;
}

/** Where a criterion stops a recipe, so many replicates are the most when nobody says. */
const ADAPTIVE_LIMIT = 10_000;

/** Where a criterion stops a recipe, no decision is made on fewer replicates. */
const ADAPTIVE_LEAST = 10;

const NONE: PackReplication = {
  replicates: null,
  base_seed: 0,
  master_seeds: null,
  confidence_level: 0.95,
  min_replicates: null,
  until_errors: null,
  until_halfwidth: null,
  max_bits: null,
};

/**
 * Settles the replication of a run.
 * @param diagnostics gets `pack_invalid` where a criterion has no metric to judge by
 * @returns null where the recipes run once, with the seeds they have
 */
export function settleReplication(
  pack: Pack,
  options: ReplicationOptions,
  diagnostics: Diagnostic[],
): Replication | null {
  const { replicates, untilErrors, untilHalfwidth, maxBits } = options;
  const asked = [replicates, untilErrors, untilHalfwidth, maxBits].some((value) => value !== undefined);
  if (pack.replication === null && !asked) return null;
  const given = pack.replication ?? NONE;
  const until_errors = untilErrors ?? given.until_errors;
  const half: Measure | null = untilHalfwidth ?? given.until_halfwidth;
  const until_halfwidth = half === null ? null : float(toNumber(half));
  const max_bits = maxBits ?? given.max_bits;
  const adaptive = until_errors !== null || until_halfwidth !== null || max_bits !== null;
  const counted = pack.metrics.find(({ counts }) => counts !== null);
  if (counted === undefined && (until_errors !== null || max_bits !== null)) {
    const message = "Cannot count errors or bits: no declared metric is a rate with counts";
    diagnostics.push(diagnostic("pack_invalid", ["metrics"], message, { hint: "Declare one, such as channel.ber" }));
  }
  const least = given.min_replicates ?? (adaptive ? ADAPTIVE_LEAST : 1);
  const limit = given.master_seeds?.length;
  const wanted = replicates ?? given.replicates ?? limit ?? (adaptive ? ADAPTIVE_LIMIT : 1);
  return {
    replicates: Math.min(wanted, limit ?? Infinity),
    base_seed: given.base_seed,
    master_seeds: given.master_seeds,
    confidence_level: float(toNumber(given.confidence_level)),
    min_replicates: least,
    until_errors,
    until_halfwidth,
    max_bits,
    stop_metric: adaptive ? (counted ?? pack.metrics[0]).id : null,
  };
}

/** The options that ask for a replication that was settled before. */
export function replicationArguments(replication: Replication | null): ReplicationOptions {
  if (replication === null) return {};
  const { replicates, until_errors, until_halfwidth, max_bits } = replication;
  return {
    replicates,
    ...(until_errors === null ? {} : { untilErrors: until_errors }),
    ...(until_halfwidth === null ? {} : { untilHalfwidth: toNumber(until_halfwidth) }),
    ...(max_bits === null ? {} : { maxBits: max_bits }),
  };
}
