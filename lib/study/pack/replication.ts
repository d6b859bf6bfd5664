/** The number of replicates of a benchmark, and its stopping criteria. */
import { type Diagnostic, diagnostic } from "../../contract/error.ts";
import { float, toNumber } from "../../contract/value.ts";
import type { Pack, PackReplication } from "./pack.ts";
import type { Measure, Replication } from "./types.ts";

/** Options of a caller, which take precedence over the pack. */
export type ReplicationOptions = {
  replicates?: number;
  untilErrors?: number;
  untilHalfwidth?: number;
  maxBits?: number;
};

/** Default maximum number of replicates with a stopping criterion. */
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
  keep_authored_seeds: false,
};

/**
 * Determines the replication of a run.
 * @param diagnostics receives `pack_invalid` for a criterion without a metric, and `pack_replicates_too_few` for one that stops early
 * @returns null if the recipes run once, with their own seeds
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
  if (adaptive && least < ADAPTIVE_LEAST) {
    const message = `Cannot judge by ${least} replicates: a rule may stop a recipe before ${ADAPTIVE_LEAST}`;
    const hint = `Leave min_replicates out, or write at least ${ADAPTIVE_LEAST}`;
    const at = ["replication", "min_replicates"];
    diagnostics.push(diagnostic("pack_replicates_too_few", at, message, { severity: "warning", hint }));
  }
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
    keep_authored_seeds: given.keep_authored_seeds,
    stop_metric: adaptive ? (counted ?? pack.metrics[0]).id : null,
  };
}

/** The options of a replication that was determined before. */
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
