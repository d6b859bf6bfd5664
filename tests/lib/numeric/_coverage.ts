/** Simulated links of known rate and variance, and how often the interval of a run holds the rate. */
import { gaussianTail, normalQuantile } from "../../../lib/numeric/linalg/error_function.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import {
  countRate,
  pooledRate,
  type RateCounts,
  type RateEstimate,
  rateEstimate,
  type StatisticalUnit,
} from "../../../lib/numeric/scores/rate_interval.ts";
import type { Replication } from "../../../lib/study/pack/types.ts";
import { stopReason } from "../../../lib/study/rows/stop.ts";
import { Tally } from "../../../lib/study/rows/tally.ts";
import { median } from "../../../lib/numeric/scores/statistics.ts";
import { bitCounts, unitCounts } from "../../support/rates.ts";

/** Uniform and binomial draws of one stream, one after another. */
class Draws {
  readonly #generator: Generator;
  #values = new Float64Array(0);
  #at = 0;

  constructor(seed: number) {
    this.#generator = Generator.seeded(seed);
  }

  uniform(): number {
    if (this.#at === this.#values.length) {
      this.#values = this.#generator.random(1 << 16);
      this.#at = 0;
    }
    return this.#values[this.#at++];
  }

  /** Successes in n trials, by the gaps between them. */
  binomial(n: number, p: number): number {
    const decay = Math.log1p(-p), gap = () => Math.floor(Math.log1p(-this.uniform()) / decay);
    let count = 0;
    for (let at = gap(); at < n; at += 1 + gap()) count++;
    return count;
  }
}

/** A link whose runs are drawn as counts. */
interface Link {
  name: string;
  rate: number;
  /** Standard deviation of the share of one unit. */
  deviation: number;
  draw(draws: Draws, units: number): RateCounts;
}

const drawn = (draws: Draws, units: number, unit: StatisticalUnit, bits: number, one: (draws: Draws) => number) =>
  unitCounts(unit, Array.from({ length: units }, () => one(draws)), bits);

/** Uncoded bits over AWGN: each is a unit. */
const awgn = (rate: number): Link => ({
  name: `AWGN, BER ${rate}`,
  rate,
  deviation: Math.sqrt(rate * (1 - rate)),
  draw: (draws, units) => bitCounts(draws.binomial(units, rate), units),
});

/** The bits of blocks of 1000, of which a failed one has 1 to 500 errors. */
const coded = (failures: number): Link => {
  const squares = Array.from({ length: 500 }, (_, k) => ((k + 1) / 1000) ** 2).reduce((a, b) => a + b) / 500;
  const rate = failures * 0.2505;
  return {
    name: `coded blocks, BER, ${100 * failures} % fail`,
    rate,
    deviation: Math.sqrt(failures * squares - rate * rate),
    draw: (draws, units) =>
      drawn(
        draws,
        units,
        "transport_block",
        1000,
        () => draws.uniform() < failures ? 1 + Math.floor(500 * draws.uniform()) : 0,
      ),
  };
};

/** The blocks themselves: one trial a unit. */
const blocks = (failures: number): Link => ({
  name: `coded blocks, BLER ${100 * failures} %`,
  rate: failures,
  deviation: Math.sqrt(failures * (1 - failures)),
  draw(draws, units) {
    const failed = draws.binomial(units, failures);
    return countRate(Uint8Array.from({ length: units }, (_, k) => Number(k < failed)), "transport_block");
  },
});

/** Packets of 100 bits that fail one by one. */
const packets = (rate: number): Link => ({
  name: `packets of 100 bits, BER ${rate}`,
  rate,
  deviation: Math.sqrt(rate * (1 - rate) / 100),
  draw: (draws, units) => drawn(draws, units, "packet", 100, () => draws.binomial(100, rate)),
});

const FADING_BITS = 500;

/** Blocks of 500 BPSK bits, each with a Rayleigh gain. */
const fading = (decibels: number): Link => {
  const snr = 10 ** (decibels / 10), rate = (1 - Math.sqrt(snr / (1 + snr))) / 2;
  const share = (gain: number) => gaussianTail(Math.sqrt(2 * snr * gain));
  // E[q²] over the gain, with x = snr·gain to where q is below 1e-17.
  let second = 0;
  for (let k = 0, steps = 40_000, step = 36 / steps; k < steps; k++) {
    const x = (k + 0.5) * step;
    second += share(x / snr) ** 2 * Math.exp(-x / snr) * step / snr;
  }
  return {
    name: `block fading, ${decibels} dB`,
    rate,
    deviation: Math.sqrt(second + (rate - second) / FADING_BITS - rate * rate),
    draw: (draws, units) =>
      drawn(
        draws,
        units,
        "fading_block",
        FADING_BITS,
        () => draws.binomial(FADING_BITS, share(-Math.log1p(-draws.uniform()))),
      ),
  };
};

/**
 * End of a run: at a number of units; or after at least ten parts of so many units, at 100 failed ones or at a half-width
 * of the interval (a share of the rate).
 */
type End = { units: number } | { part: number; halfwidth?: number };
export interface Case {
  link: Link;
  end: End;
}

const WANTED_FAILURES = 100, LEAST_PARTS = 10;

/** The table of coverage, in its order. */
export const CASES: readonly Case[] = [
  ...[0.1, 0.01, 0.001].flatMap((rate): Case[] => [
    { link: awgn(rate), end: { units: 10_000 } },
    { link: awgn(rate), end: { part: 1000 } },
  ]),
  ...[0.1, 0.01, 0.001].flatMap((failures) =>
    [coded(failures), blocks(failures)].flatMap((link): Case[] => [
      { link, end: { units: 1000 } },
      { link, end: { part: 20 } },
    ])
  ),
  ...[0.01, 0.001].flatMap((rate): Case[] => [
    { link: packets(rate), end: { units: 400 } },
    { link: packets(rate), end: { part: 10 } },
  ]),
  ...[10, 20, 30].flatMap((decibels): Case[] => {
    const link = fading(decibels);
    return [...[40, 100, 400].map((units) => ({ link, end: { units } })), { link, end: { part: 10 } }];
  }),
];

/** Runs that a rule of the program stops at a half-width of 20 % of the rate. */
export const HALFWIDTH_CASES: readonly Case[] = ([[awgn(0.01), 1000], [coded(0.1), 20], [coded(0.01), 20], [
  fading(0),
  10,
], [fading(10), 10]] as const).map(([link, part]) => ({ link, end: { part, halfwidth: 0.2 } }));

export interface Coverage {
  name: string;
  /** Medians over the runs. */
  units: number;
  failed: number;
  /** Share of the runs whose interval holds the rate, and shares in which it lies above or below the rate. */
  covered: number;
  above: number;
  below: number;
  /** Median width over that of an interval which knows the variance; null where a run has no failure. */
  ratio: number | null;
}

function run({ link, end }: Case, draws: Draws): RateCounts {
  if ("units" in end) return link.draw(draws, end.units);
  if (end.halfwidth !== undefined) return untilHalfwidth(link, end.part, end.halfwidth * link.rate, draws);
  // A stopping rule looks after each part.
  let total: RateCounts | null = null;
  for (let parts = 1;; parts++) {
    const part = link.draw(draws, end.part);
    total = total === null ? part : pooledRate([total, part])!;
    if (parts >= LEAST_PARTS && total.unit_failures >= WANTED_FAILURES) return total;
  }
}

function untilHalfwidth(link: Link, part: number, halfwidth: number, draws: Draws): RateCounts {
  const rule: Replication = {
    replicates: 100_000,
    base_seed: 0,
    master_seeds: null,
    confidence_level: 0.95,
    min_replicates: LEAST_PARTS,
    until_errors: null,
    until_halfwidth: halfwidth,
    max_bits: null,
    stop_metric: "rate",
  };
  const tally = new Tally("rate");
  for (let made = 1;; made++) {
    tally.add({ values: { rate: 0 }, rates: { rate: link.draw(draws, part) } });
    if (stopReason(tally, made, rule) !== null) return tally.rate!;
  }
}

/** Simulates a case. The interval of equal counts is computed once. */
export function coverageOf(one: Case, rounds: number, seed: number): Coverage {
  const draws = new Draws(seed), known = new Map<string, RateEstimate>(), z = normalQuantile(0.975);
  const { rate, deviation, name } = one.link;
  const units: number[] = [], failed: number[] = [], ratios: number[] = [];
  let above = 0, below = 0;
  for (let round = 0; round < rounds; round++) {
    const counts = run(one, draws), key = `${counts.units} ${counts.events} ${counts.failed_units!.join(";")}`;
    const { low, high, bound } = known.getOrInsertComputed(key, () => rateEstimate(counts, 0.95)!);
    if ((low ?? 0) > rate) above++;
    if ((high ?? bound!) < rate) below++;
    units.push(counts.units);
    failed.push(counts.unit_failures);
    if (low !== null) ratios.push((high! - low) / (2 * z * deviation / Math.sqrt(counts.units)));
  }
  return {
    name: name + ("part" in one.end ? ", until 100 fail" : ""),
    units: median(units),
    failed: median(failed),
    covered: 1 - (above + below) / rounds,
    above: above / rounds,
    below: below / rounds,
    ratio: ratios.length < rounds ? null : median(ratios),
  };
}

/** The most that the median width may be of that of an interval which knows the variance; null with fewer failed units. */
export const widestOf = (failed: number): number | null => failed >= 40 ? 1.45 : failed >= 10 ? 2 : null;

/** The least coverage of an interval at 95 %. */
export const LEAST_COVERAGE = 0.94;
