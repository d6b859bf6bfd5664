/** Shares of wrong bits and blocks. */
import { type RateCounts, rateEstimate } from "../../lib/numeric/scores/rate_interval.ts";
import { dataPlaneParameter, diagnostic, type InputArtifact, type JsonObject, SvcError, z } from "../api.ts";
import { weightedRate } from "../../lib/artifact/weighted_rate.ts";
import { comparedInBlocks, defineReport, type Report } from "../_report.ts";
import { BITS_ANY } from "../../lib/contract/kinds.ts";
import { rateCounter, rateCounts } from "../../lib/artifact/statistical_unit.ts";
import { bitsOf } from "../../lib/artifact/values.ts";
import { differingBits, failedBlocks } from "../../lib/numeric/coding/bit_errors.ts";
import { dataPlane, portableOnly } from "../_data_plane.ts";

interface RateParams {
  label: string;
  allow_length_mismatch: boolean;
  data_plane_backend: string;
}
interface BlockParams extends RateParams {
  block_size: number;
}

const allowLengthMismatch = () =>
  z.boolean().default(true).describe("compare streams of different length with a warning; false fails the step");

/**
 * Facts about the lengths of the compared streams in bits, and the warning for a difference.
 * @throws SvcError `length_mismatch` for a difference that is not allowed
 */
function comparedLengths(candidate: number, reference: number, allowed: boolean, compared: string): {
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

/** Longer blocks of a block error rate need whole arrays. */
const LONGEST_BLOCK = 2 ** 20;

/** Guessing has a bit error rate of 1/2; this confidence keeps false warnings out of long sweeps. */
const CERTAIN = 0.9999;

/** The warning of a bit error rate that is certainly above 1/2. */
function invertedBits(counts: RateCounts): { warnings?: JsonObject[] } {
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
function errorRateNames(label: string, ending: "ber" | "bler", events: string, trials: string) {
  const stem = label.endsWith(ending) ? label.slice(0, -ending.length) : `${label}.`;
  return { rate: `channel.${label}`, events: `channel.${stem}${events}`, trials: `channel.${stem}${trials}` };
}

const BER = ["ber", "error_count", "compare_bit_count"] as const;

/**
 * The report of an error rate under importance sampling: the weighted rate, the effective number of events and the variance
 * reduction; null for a stream without weights. Without an event the rate is left out.
 */
function weightedReport(
  { rate, events, trials }: ReturnType<typeof errorRateNames>,
  failed: Uint8Array,
  candidate: InputArtifact,
  more: Pick<Report, "label" | "facts" | "metadata">,
): Report | null {
  const found = weightedRate(failed, candidate);
  if (found === null) return null;
  const { pooled, effectiveEvents, varianceReduction } = found;
  const message = `No error in ${failed.length} trials under scaled noise: the rate has no estimate`;
  const scaled = events.replace(/(?:block_)?error_count$/, "scaled_$&");
  const effective = events.replace(/((?:block_)?error)_count$/, "effective_$1s");
  const hint = "Raise importance_scale, or the number of trials";
  const warning = diagnostic("importance_no_error", [], message, { severity: "warning", hint });
  const warnings = [...more.metadata?.warnings as JsonObject[] ?? [], warning as unknown as JsonObject];
  return {
    metrics: {
      [trials]: BigInt(failed.length),
      [scaled]: BigInt(found.events),
      [effective]: effectiveEvents,
      ...(varianceReduction === null ? {} : { [`${rate}_variance_reduction`]: varianceReduction }),
    },
    pooled: { [rate]: pooled },
    ...more,
    ...(found.events > 0 ? {} : { metadata: { ...more.metadata, warnings } }),
  };
}

/** The report of an error rate, with its counts over units; the rate is left out when nothing was compared. */
function errorRateReport(
  names: ReturnType<typeof errorRateNames>,
  counts: RateCounts,
  more: Pick<Report, "label" | "facts" | "metadata">,
): Report {
  const { events, trials } = counts;
  const rate = trials === 0 ? {} : { [names.rate]: events / trials };
  const metrics = { ...rate, [names.events]: BigInt(events), [names.trials]: BigInt(trials) };
  return { metrics, rates: { [names.rate]: counts }, ...more };
}

/**
 * Bit error rate: differing bits over compared bits, compared over the shorter of the two streams. Errors are counted over
 * the statistical unit that the received stream declares, for its interval.
 */
const bitErrorRate = defineReport({
  id: "metrics.bit_error_rate",
  name: "BER",
  description: "Fraction of differing bits between two streams",
  inputs: { candidate: BITS_ANY, reference: BITS_ANY },
  params: z.strictObject({
    label: z.string().min(1).default("ber").describe("the metric is channel.<label>"),
    allow_length_mismatch: allowLengthMismatch(),
    data_plane_backend: dataPlaneParameter(),
  }),
  twin: true,
  nativeKernels: true,
  importance: "metric",
  streaming: comparedInBlocks("uint8", ({ candidate, reference }, params: RateParams) => {
    const { counter, report } = comparison(candidate.metadata, candidate.length, reference.length, params);
    return { add: (bits, sent) => counter.add(differingBits(bits, sent)), end: report };
  }),
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context);
    const candidate = bitsOf(inputs.candidate, kernels);
    const reference = bitsOf(inputs.reference, kernels);
    const { counter, report, more } = comparison(inputs.candidate.metadata, candidate.length, reference.length, params);
    const differing = kernels.differingBits(candidate, reference);
    const weighted = weightedReport(errorRateNames(params.label, ...BER), differing, inputs.candidate, more);
    if (weighted !== null) return weighted;
    counter.add(differing);
    return report();
  },
});

/**
 * Counts the errors of a stream.
 * @param metadata of the candidate
 * @returns a counter of the differing bits, and what reports them
 */
function comparison(
  metadata: JsonObject,
  candidateLength: number,
  referenceLength: number,
  { label, allow_length_mismatch: allowed }: RateParams,
) {
  const what = "the rate is that of the shorter stream";
  const { facts, metadata: found } = comparedLengths(candidateLength, referenceLength, allowed, what);
  const counter = rateCounter(metadata, "bit", candidateLength);
  const compared = { ...facts, compare_bit_count: Math.min(candidateLength, referenceLength) };
  return {
    counter,
    more: { label, facts: compared, metadata: found },
    report() {
      const counts = counter.counts(), warnings = [...found.warnings ?? [], ...invertedBits(counts).warnings ?? []];
      return errorRateReport(errorRateNames(label, ...BER), counts, {
        label,
        facts: compared,
        metadata: warnings.length === 0 ? {} : { warnings },
      });
    },
  };
}

/**
 * Block error rate: share of blocks of the reference with an error. A partial last block counts; a block that is not
 * fully present in the candidate is in error. The unit of its interval is the block (packet), or the larger unit that
 * the received stream declares.
 */
const blockErrorRate = defineReport({
  id: "metrics.block_error_rate",
  name: "BLER",
  description: "Fraction of fixed-size blocks with an error",
  inputs: { candidate: BITS_ANY, reference: BITS_ANY },
  params: z.strictObject({
    block_size: z.int().positive().default(1024).describe("bits per block"),
    label: z.string().min(1).default("bler").describe("the metric is channel.<label>"),
    allow_length_mismatch: allowLengthMismatch(),
    data_plane_backend: dataPlaneParameter(),
  }),
  nativeKernels: true,
  importance: "metric",
  streaming: {
    ...comparedInBlocks("uint8", ({ candidate, reference: { length } }, params: BlockParams) => {
      const { block_size: unit } = params, { names, more } = blockComparison(length, length, params);
      const counter = rateCounter(candidate.metadata, "packet", Math.ceil(length / unit));
      return {
        unit,
        add: (bits, sent) => counter.add(failedBlocks(bits, sent, unit)),
        end: () => errorRateReport(names, counter.counts(), more),
      };
    }),
    // A chain keeps the bits of a block in memory.
    allows: (params) => portableOnly(params) && params.block_size <= LONGEST_BLOCK,
  },
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context);
    const candidate = bitsOf(inputs.candidate, kernels);
    const reference = bitsOf(inputs.reference, kernels);
    const { names, more } = blockComparison(candidate.length, reference.length, params);
    const failed = kernels.failedBlocks(candidate, reference, params.block_size);
    return weightedReport(names, failed, inputs.candidate, more) ??
      errorRateReport(names, rateCounts(failed, inputs.candidate.metadata, "packet"), more);
  },
});

/** The metrics of a comparison of blocks, and what it reports besides them. */
function blockComparison(
  candidateLength: number,
  referenceLength: number,
  { label, block_size, allow_length_mismatch: allowed }: BlockParams,
) {
  const what = "blocks that the candidate lacks are in error, further bits are ignored";
  const { facts, metadata } = comparedLengths(candidateLength, referenceLength, allowed, what);
  return {
    names: errorRateNames(label, "bler", "block_error_count", "block_count"),
    more: { label, facts: { ...facts, block_size }, metadata },
  };
}

export default [bitErrorRate, blockErrorRate];
