/**
 * Rates of trials that carry weights of importance sampling (lib/contract/importance.ts). With e_u events in the n_u trials of
 * unit u of U, drawn under scaled noise:
 *
 *     p̂ = Σ w_u·e_u / Σ n_u
 *     effective number of events    (Σ w_u·e_u)² / Σ (w_u·e_u)²
 *     variance reduction            (Σ w_u·e_u²/U - ē²) / (Σ w_u²·e_u²/U - ē²),  ē = Σ w_u·e_u / U
 *
 * The last is the number of unscaled draws that one scaled draw replaces: numerator and denominator estimate the variance of a
 * unit under the channel and under the scaled noise.
 *
 * Source: Kish, Survey Sampling, 1965 (effective number); Rubino and Tuffin, Rare Event Simulation, 2009, ch. 2.
 */
import { SvcError } from "../contract/error.ts";
import { samplingOf, WEIGHTS } from "../contract/importance.ts";
import { pooledMetadata, pooledMetrics, rateMetadata } from "../contract/metric_metadata.ts";
import type { InputArtifact } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";
import { effectiveEvents, type PooledMetric, ratioSums } from "../numeric/scores/pooled_ratio.ts";
import { rateCounts, unitSizes } from "./statistical_unit.ts";

export interface WeightedRate {
  pooled: PooledMetric;
  /** Events that were seen under scaled noise. */
  events: number;
  effectiveEvents: number;
  /** Null without an event. */
  varianceReduction: number | null;
}

/**
 * The weighted rate of a stream; null where it carries no weights.
 * @param failed 1 for each trial with an event, else 0
 * @param input the stream, which carries the weights
 * @throws SvcError `importance_block_mismatch` for trials that are not whole units
 */
export function weightedRate(failed: ArrayLike<number>, input: InputArtifact): WeightedRate | null {
  const sampling = samplingOf(input.metadata);
  if (sampling === null) return null;
  const weights = input.array(WEIGHTS).data as Float64Array, units = weights.length;
  const sizes = trialsOf(input.metadata, sampling.symbols > 1, failed.length, units);
  const weighted = new Float64Array(units);
  let events = 0, squares = 0, at = 0;
  for (let unit = 0; unit < units; unit++) {
    let own = 0;
    for (const end = at + sizes[unit]; at < end; at++) own += failed[at];
    events += own;
    weighted[unit] = weights[unit] * own;
    squares += weights[unit] * own * own;
  }
  const sums = ratioSums(weighted, sizes), mean = sums.numerator / units;
  const plain = squares / units - mean * mean, scaled = sums.numerator_squared / units - mean * mean;
  return {
    pooled: { reduction: "weighted_rate", sums },
    events,
    effectiveEvents: effectiveEvents(sums),
    varianceReduction: events > 0 && scaled > 0 ? plain / scaled : null,
  };
}

/** Symbols have at most so many bits; with as many symbols the length alone tells the bits of each. */
const MOST_BITS = 16;

/** The trials of each unit: those of its declared layout behind a code, else equal parts of which the last may be shorter. */
function trialsOf(metadata: JsonObject, coded: boolean, length: number, units: number): number[] {
  const declared = coded ? unitSizes(metadata, length) : null, size = Math.ceil(length / units);
  if (declared?.length === units) return declared;
  // The modulator pads the last symbol; of few symbols the length does not tell how much.
  const isPadded = !coded && units >= MOST_BITS && Math.ceil(length / size) === units;
  const whole = declared === null && length === size * units || isPadded;
  if (whole) return Array.from({ length: units }, (_, unit) => Math.min(size, length - unit * size));
  throw new SvcError("importance_block_mismatch", `Cannot assign ${length} trials to ${units} weights`, {
    hint: "Set importance_block_symbols to the symbols of a code word, and block_size to its payload",
  });
}

/** The rate of lost blocks, weighted where the stream carries weights, as metrics and metadata of a step. */
export function lostBlocks(
  metric: string,
  passed: readonly boolean[],
  input: InputArtifact,
): { metrics: Record<string, number | bigint>; metadata: JsonObject } {
  const failed = passed.map((crcPassed) => crcPassed ? 0 : 1);
  const weighted = passed.length === 0 ? null : weightedRate(failed, input);
  if (weighted !== null) {
    const pooled = { [metric]: weighted.pooled };
    return { metrics: pooledMetrics(pooled), metadata: pooledMetadata(pooled) };
  }
  const lost = failed.reduce<number>((sum, one) => sum + one, 0);
  return {
    metrics: passed.length === 0 ? {} : { [metric]: lost / passed.length },
    metadata: rateMetadata({ [metric]: rateCounts(failed, input.metadata, "transport_block") }),
  };
}
