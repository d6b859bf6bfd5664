/** Intervals cover as often as they say, by simulation; rates without errors are bounds; comparisons are corrected. */
import assert from "node:assert/strict";
import { aggregate } from "../../../lib/study/rows/aggregate.ts";
import { comparedPairs, Comparisons, pairsNeeded, type Place } from "../../../lib/study/pack/compare.ts";
import type { Sample } from "../../../lib/study/pack/samples.ts";
import { pairedSeed, replicateSeed } from "../../../lib/study/pack/seeds.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { stopProgress, stopReason } from "../../../lib/study/rows/stop.ts";
import { type Spread, Tally } from "../../../lib/study/rows/tally.ts";
import type { PackMetric, Replication, StopReason } from "../../../lib/study/pack/types.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { countRate, type RateCounts } from "../../../lib/numeric/scores/rate_interval.ts";
import { bitCounts, unitCounts } from "../../support/rates.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { wilsonInterval } from "../../../lib/numeric/scores/statistics.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";

const BER: PackMetric = {
  id: "channel.ber",
  definition_version: 1,
  source_step: null,
  source_operations: null,
  applicable_roles: null,
  family: "channel",
  unit: "fraction",
  direction: "lower_is_better",
  statistic: "rate",
  counts: { events: "channel.error_count", trials: "channel.compare_bit_count" },
};
const PSNR: PackMetric = {
  ...BER,
  id: "quality.psnr_db",
  direction: "higher_is_better",
  statistic: "mean",
  counts: null,
};

function counted(replicate: number, events: number, trials: number): Sample {
  return sample(replicate, bitCounts(events, trials));
}

function sample(replicate: number, counts: RateCounts): Sample {
  return {
    replicate,
    values: { "channel.ber": counts.events / counts.trials },
    rates: { "channel.ber": counts },
    items: {},
  };
}

function tallyOf(samples: readonly Sample[], metric = BER, spread?: Spread): Tally {
  const tally = new Tally(metric.id, spread);
  samples.forEach((one) => tally.add(one));
  return tally;
}

/** The aggregates of one recipe. */
const aggregated = (samples: readonly Sample[], stop_reason?: StopReason) =>
  aggregate([{ id: "link", tallies: [tallyOf(samples)], stop_reason }], 0.95);

interface ComparedRecipe extends Place {
  samples: Sample[];
}

/** The comparisons of recipes, from their rows replicate by replicate. */
function compareMethods(recipes: readonly ComparedRecipe[], baselines: string[], metrics: PackMetric[], level: number) {
  const comparisons = new Comparisons(baselines, metrics, level);
  const replicates = Math.max(...recipes.map(({ samples }) => samples.length));
  for (let replicate = 0; replicate < replicates; replicate++) {
    for (const { samples, ...place } of recipes) {
      if (samples[replicate] !== undefined) comparisons.add(place, samples[replicate]);
    }
  }
  return comparisons.rows();
}

/** Errors among independent bits. */
function errors(random: Generator, trials: number, rate: number): number {
  let count = 0;
  for (const value of random.random(trials)) if (value < rate) count++;
  return count;
}

/** Whether a share of hits is what a probability lets expect, at 99.9 %. */
function assertShare(hits: number, rounds: number, low: number, high: number, what: string): void {
  const interval = wilsonInterval(hits, rounds, 0.999);
  assert.ok(interval.high >= low && interval.low <= high, `${what}: ${hits} of ${rounds}`);
}

for (const [rate, trials] of [[0.02, 500], [0.3, 100]] as const) {
  Deno.test(`the intervals of ten replicates of ${trials} bits at the rate ${rate} cover it 95 times in 100`, () => {
    const random = Generator.seeded(1);
    const rounds = 1500;
    let wilson = 0;
    for (let round = 0; round < rounds; round++) {
      const samples = Array.from(
        { length: 10 },
        (_, replicate) => counted(replicate, errors(random, trials, rate), trials),
      );
      const rows = aggregated(samples), [{ ci_method, ci_low, ci_high }] = rows;
      assert.deepEqual([rows.length, ci_method], [1, "wilson"]);
      if (Number(ci_low) <= rate && rate <= Number(ci_high)) wilson++;
    }
    // Counts are whole numbers, so the coverage of Wilson's interval swings a little around its level.
    assertShare(wilson, rounds, 0.935, 0.965, "Wilson");
  });
}

Deno.test("errors that come in bursts are counted over units: the interval covers, where one over bits would not", () => {
  const random = Generator.seeded(2);
  const rounds = 1000, blocks = 50, bits = 100, lost = 0.3;
  let covered = 0, wilson = 0;
  for (let round = 0; round < rounds; round++) {
    // A block is lost as a whole, half of its bits wrong.
    const samples = Array.from({ length: 10 }, (_, replicate) => {
      const errors = Array.from(random.random(blocks), (value) => value < lost ? bits / 2 : 0);
      return sample(replicate, unitCounts("transport_block", errors, bits));
    });
    const [{ ci_method, ci_low, ci_high, events, trials, units }] = aggregated(samples);
    assert.deepEqual([ci_method, units], ["gaffke", 10 * blocks]);
    if (Number(ci_low) <= lost / 2 && lost / 2 <= Number(ci_high)) covered++;
    const naive = wilsonInterval(events!, trials!);
    if (naive.low <= lost / 2 && lost / 2 <= naive.high) wilson++;
  }
  assertShare(covered, rounds, 0.935, 0.965, "clusters");
  assert.ok(wilson < 0.5 * rounds, `Wilson: ${wilson} of ${rounds}`);
});

Deno.test("stopping at 100 errors, the interval still covers 95 times in 100", () => {
  const random = Generator.seeded(3);
  const rounds = 1000, trials = 400, rate = 0.05;
  const replication: Replication = {
    replicates: 1000,
    base_seed: 0,
    master_seeds: null,
    confidence_level: 0.95,
    min_replicates: 1,
    until_errors: 100,
    until_halfwidth: null,
    max_bits: null,
    stop_metric: "channel.ber",
  };
  let covered = 0, sum = 0;
  for (let round = 0; round < rounds; round++) {
    const samples: Sample[] = [], tally = new Tally(BER.id);
    while (stopReason(tally, samples.length, replication) === null) {
      samples.push(counted(samples.length, errors(random, trials, rate), trials));
      tally.add(samples.at(-1)!);
    }
    const [{ mean, ci_low, ci_high }] = aggregated(samples);
    sum += Number(mean);
    if (Number(ci_low) <= rate && rate <= Number(ci_high)) covered++;
  }
  assertShare(covered, rounds, 0.93, 0.97, "Wilson after inverse sampling");
  // Biased upwards, by no more than a hundredth.
  const bias = sum / rounds / rate - 1;
  assert.ok(bias > -0.008 && bias < 0.02, `bias ${bias}`);
});

Deno.test("the progress towards a stop has the counts and the interval of the aggregate; of clusters the rate alone", () => {
  const samples = [counted(0, 30, 400), counted(1, 20, 400)];
  const progress = stopProgress(tallyOf(samples), 2, 0.95);
  const [{ mean, ci_low, ci_high }] = aggregated(samples);
  const expected = { replicates: 2, errors: 50, trials: 800, mean, ci_low, ci_high, upper_bound: null };
  assert.deepEqual(JSON.parse(canonicalJson(progress)), JSON.parse(canonicalJson(expected)));
  const blocks = {
    events: 30,
    trials: 400,
    unit: "transport_block",
    units: 4,
    unit_failures: 2,
    failed_units: null,
    unit_sizes: [100, 100],
  } as const;
  const ofBlocks = stopProgress(tallyOf([sample(0, blocks)]), 1, 0.95);
  assert.deepEqual([ofBlocks.errors, ofBlocks.mean, ofBlocks.ci_high].map((one) => one && Number(one)), [
    2,
    0.075,
    null,
  ]);
});

Deno.test("the progress of a metric without counts has the mean and the interval of the aggregate, none of equal replicates", () => {
  const values = [31, 34, 30.5];
  const samples = values.map((value, replicate): Sample => ({
    replicate,
    values: { "quality.psnr_db": value },
    rates: {},
    items: {},
  }));
  const tally = tallyOf(samples, PSNR);
  const [{ mean, ci_low, ci_high }] = aggregate([{ id: "link", tallies: [tally] }], 0.95);
  const progress = stopProgress(tally, 3, 0.95);
  assert.deepEqual([progress.mean, progress.ci_low, progress.ci_high].map(Number), [mean, ci_low, ci_high].map(Number));
  assert.ok(Number(progress.ci_low) < 31 && Number(progress.ci_high) > 33);
  const same = stopProgress(tallyOf(samples.map((one) => ({ ...one, independent: false as const })), PSNR), 3, 0.95);
  assert.deepEqual([same.errors, Number(same.mean), same.ci_low], [null, Number(mean), null]);
});

Deno.test("no error at all is an upper bound, never a rate of 0", () => {
  const samples = [counted(0, 0, 1000), counted(1, 0, 500)];
  const rows = aggregated(samples, "max_bits");
  assert.deepEqual(
    rows.map(({ ci_method, mean, ci_low, ci_high }) => [ci_method, mean, ci_low, ci_high]),
    [["wilson", null, null, null]],
  );
  for (const { upper_bound, events, trials, stop_reason } of rows) {
    assert.deepEqual([Number(upper_bound), events, trials, stop_reason], [3 / 1500, 0, 1500, "max_bits"]);
  }
});

Deno.test("a rate just above the bound of no errors stays without errors one time in 20", () => {
  const trials = 300, links = 6000, random = Generator.seeded(4);
  const bound = (events: number) => {
    const [row] = aggregated([counted(0, events, trials)]);
    return row.upper_bound === undefined ? null : Number(row.upper_bound);
  };
  const rate = 1.0001 * bound(0)!;
  let missed = 0;
  for (let link = 0; link < links; link++) {
    const upper = bound(errors(random, trials, rate));
    if (upper !== null && upper < rate) missed++;
  }
  // The standard deviation of the share is sqrt(0.05 · 0.95 / 6000) = 0.0028.
  assert.ok(Math.abs(missed / links - 0.05) < 0.0085, `${missed} of ${links}`);
});

function method(id: string, values: number[], more: Partial<ComparedRecipe> = {}): ComparedRecipe {
  return {
    id,
    method_id: null,
    baseline_id: null,
    aggregation_cell_id: null,
    matrix_selection: {},
    samples: values.map((value, replicate) => ({
      replicate,
      values: { "quality.psnr_db": value },
      rates: {},
      items: {},
    })),
    ...more,
  };
}

Deno.test("candidates are compared with the baseline of their own point, replicate by replicate", () => {
  const at = (snr_db: number) => ({ matrix_selection: { snr_db } });
  const rows = compareMethods(
    [
      method("a0", [30, 31, 32], { method_id: "a", ...at(0) }),
      method("b0", [31, 32, 33], { method_id: "b", ...at(0) }),
      method("a6", [40, 41], { method_id: "a", ...at(6) }),
      method("b6", [39, 40, 41], { method_id: "b", ...at(6) }),
    ],
    ["a"],
    [PSNR],
    0.95,
  );
  assert.deepEqual(
    rows.map((
      { candidate_id, baseline_id, n, mean_difference },
    ) => [candidate_id, baseline_id, n, Number(mean_difference)]),
    [["b0", "a0", 3, 1], ["b6", "a6", 2, -1]],
  );
  // Two signs of three pairs: p = 2/8, twice that after Holm, nothing is told apart.
  assert.deepEqual([Number(rows[0].p_value), Number(rows[0].p_value_holm), rows[0].better], [0.25, 0.5, null]);
});

Deno.test("methods meet at the coordinates that their points have in common, not at those that name a method", () => {
  const place = (method_id: string, matrix_selection: JsonObject): Place => ({
    id: `${method_id}${JSON.stringify(matrix_selection)}`,
    method_id,
    baseline_id: null,
    aggregation_cell_id: null,
    matrix_selection,
  });
  const pairs = (...places: Place[]) =>
    comparedPairs(places, ["a"]).map(({ candidate, baseline }) => [
      candidate.matrix_selection,
      baseline.matrix_selection,
    ]);
  const points = (method: string, repetition: number) => [1, 3].map((snr_db) => place(method, { repetition, snr_db }));
  assert.deepEqual(pairs(...points("a", 1), ...points("b", 3)), [
    [{ repetition: 3, snr_db: 1 }, { repetition: 1, snr_db: 1 }],
    [{ repetition: 3, snr_db: 3 }, { repetition: 1, snr_db: 3 }],
  ]);
  // A coordinate that the method takes several values of is one of its points.
  const both = [...points("b", 1), ...points("b", 3)];
  assert.equal(pairs(...points("a", 1), ...both).length, 2);
  assert.deepEqual(pairs(place("a", { speed: 3 }), place("b", { speed: 30, size: 8 })).length, 1);
  assert.deepEqual(pairs(place("a", { snr_db: 3 }), place("b", { snr_db: 30 })), []);
  assert.equal(pairs(place("a", { trained_snr_db: 3 }), place("b", { trained_snr_db: 30 })).length, 1);
  // Without names of methods, equal points come first.
  const unnamed = (id: string, speed: number): Place => ({ ...place("", { speed }), id, method_id: null });
  const four = [unnamed("a", 3), unnamed("b", 3), unnamed("c", 30), unnamed("d", 30)];
  assert.deepEqual(comparedPairs(four, ["a", "c"]).map(({ candidate, baseline }) => candidate.id + baseline.id), [
    "ba",
    "dc",
  ]);
});

Deno.test("exact constants are compared without a test and are in no family of the correction", () => {
  const metric = (id: string): PackMetric => ({ ...PSNR, id, direction: "lower_is_better" });
  const [RATE, USES] = ["rate.payload_bpp", "channel.channel_use_count"].map(metric);
  const of = (id: string, values: Record<string, number[]>) => ({
    ...method(id, values[PSNR.id]),
    samples: values[PSNR.id].map((_, replicate) => ({
      replicate,
      values: Object.fromEntries(Object.entries(values).map(([name, list]) => [name, list[replicate]])),
      rates: {},
      items: {},
    })),
  });
  const recipes = [
    of("base", { [PSNR.id]: [30, 31, 32], [RATE.id]: [2, 2, 2], [USES.id]: [64, 64, 64] }),
    of("less", { [PSNR.id]: [31, 32, 33], [RATE.id]: [1.5, 1.5, 1.5], [USES.id]: [64, 64, 64] }),
    of("mixed", { [PSNR.id]: [25, 25, 25], [RATE.id]: [1.5, 1.5, 1.6], [USES.id]: [64, 64, 64] }),
  ];
  const rows = compareMethods(recipes, ["base"], [PSNR, RATE, USES], 0.95);
  const of3 = (id: string) =>
    rows.filter(({ candidate_id }) => candidate_id === id)
      .map((
        { reason, p_value, p_value_holm, better },
      ) => [reason ?? null, p_value !== null, Number(p_value_holm), better]);
  // Three tests: 2/8 times three. With the constants it would be six.
  assert.deepEqual(of3("less"), [
    [null, true, 0.75, null],
    ["exact_constant", false, 0, "candidate"],
    ["exact_constant", false, 0, null],
  ]);
  assert.deepEqual(of3("mixed"), [[null, true, 0.75, null], [null, true, 0.75, null], [
    "exact_constant",
    false,
    0,
    null,
  ]]);
  // A score is exact where no seed acts on it in both recipes; a constant score under noise keeps its test.
  const scores = (unseeded: string[]) => {
    const made = recipes.map((recipe) => ({
      ...recipe,
      samples: recipe.samples.map((sample) => ({
        ...sample,
        unseeded,
        values: { [PSNR.id]: recipe.id === "base" ? 30 : 25 },
      })),
    }));
    return compareMethods(made, ["base"], [PSNR], 0.95).map(({ reason }) => reason ?? null);
  };
  assert.deepEqual([scores([PSNR.id]), scores([])], [["exact_constant", "exact_constant"], [null, null]]);
  const older = new Comparisons(["base"], [PSNR, RATE, USES], 0.95, { withConstants: true });
  for (let replicate = 0; replicate < 3; replicate++) {
    for (const { samples, ...place } of recipes) older.add(place, samples[replicate]);
  }
  const stored = older.rows();
  assert.ok(stored.every(({ reason, p_value }) => reason === undefined && p_value !== null), "older results test them");
  assert.equal(Number(stored[0].p_value_holm), 1);
});

Deno.test("replicates with kept seeds have no interval, no bound and no p-value", () => {
  const keep = (recipe: ComparedRecipe): ComparedRecipe => ({
    ...recipe,
    samples: recipe.samples.map((sample) => ({ ...sample, independent: false })),
  });
  const [compared] = compareMethods(
    [method("base", [30, 31, 32, 33, 34, 35, 36]), keep(method("kept", [40, 40, 40, 40, 40, 40, 40]))],
    ["base"],
    [PSNR],
    0.95,
  );
  assert.deepEqual(
    [compared.interval, compared.reason, compared.ci_low, compared.p_value, compared.p_value_holm, compared.better],
    [null, "replicates_not_independent", null, null, null, null],
  );
  const tally = new Tally(BER.id);
  for (let replicate = 0; replicate < 3; replicate++) {
    tally.add({ values: { [BER.id]: 0 }, rates: { [BER.id]: bitCounts(0, 1000) }, independent: false });
  }
  const rows = aggregate([{ id: "kept", tallies: [tally] }], 0.95);
  assert.equal(rows.length, 1);
  for (const row of rows) {
    assert.deepEqual([row.interval, row.reason, row.ci_low, row.ci_high, row.upper_bound, row.trials], [
      null,
      "replicates_not_independent",
      null,
      null,
      undefined,
      3000,
    ]);
  }
  assert.equal(tally.isDependent, true);
});

Deno.test("methods over the same images pair per image, averaged over the replicates; fewer than 6 images pair per replicate", () => {
  const measured = (id: string, count: number, gain: number): ComparedRecipe => {
    const recipe = method(id, [30, 30]);
    const items = (noise: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, k) => [`image_${k}`, 20 + 5 * k + gain * (1 + k / 10) + noise]),
      );
    return {
      ...recipe,
      samples: recipe.samples.map((one, at) => ({ ...one, items: { "quality.psnr_db": items(at) } })),
    };
  };
  const compare = (count: number) =>
    compareMethods([measured("old", count, 0), measured("new", count, 1)], ["old"], [PSNR], 0.95)[0];
  const { pairing, n, p_value, better } = compare(8);
  assert.deepEqual([pairing, n, Number(p_value), better], ["item", 8, 2 / 2 ** 8, "candidate"]);
  assert.deepEqual([compare(5).pairing, compare(5).n], ["replicate", 2]);
});

Deno.test("the pairs that a corrected comparison needs are the fewest that can reach its level", () => {
  for (const comparisons of [1, 4, 30]) {
    const needed = pairsNeeded(comparisons, 0.05);
    assert.ok(comparisons * 2 / 2 ** needed < 0.05 && comparisons * 2 / 2 ** (needed - 1) >= 0.05, `${needed}`);
  }
});

Deno.test("who is better depends on the direction of the metric, and is only said when it is sure", () => {
  const baseline = Array.from({ length: 8 }, (_, i) => 30 + i);
  const better = (direction: PackMetric["direction"], shift: number) =>
    compareMethods(
      [method("old", baseline), method("new", baseline.map((value, i) => value + shift + i / 100))],
      ["old"],
      [{ ...PSNR, direction }],
      0.95,
    )[0].better;
  assert.equal(better("higher_is_better", 1), "candidate");
  assert.equal(better("higher_is_better", -1), "baseline");
  assert.equal(better("lower_is_better", -1), "candidate");
  assert.equal(better("neutral", 1), null);
});

Deno.test("without any difference, one benchmark in twenty finds one", () => {
  const random = Generator.seeded(5);
  const rounds = 600;
  let found = 0;
  for (let round = 0; round < rounds; round++) {
    const noise = () => Array.from(random.standardNormal(10));
    const recipes = ["base", "one", "two", "three"].map((id) => method(id, noise()));
    if (compareMethods(recipes, ["base"], [PSNR], 0.95).some(({ distinguishable }) => distinguishable)) found++;
  }
  // Holm holds the rate of any false finding at or below 5 %.
  assertShare(found, rounds, 0, 0.05, "family-wise errors");
  assert.ok(found > 0, "the test can find something");
});

Deno.test("seeds of replicates and pairs are those of their definition", () => {
  const digest = (text: string) => Number(BigInt("0x" + sha256Hex(text)) % 2147483647n);
  assert.equal(
    replicateSeed({ id: "p", version: "1" }, { base_seed: 7, master_seeds: null }, 3),
    digest("p|1|7|replicate|3"),
  );
  assert.equal(replicateSeed({ id: "p", version: "1" }, { base_seed: 7, master_seeds: [5, 6] }, 1), 6);
  const pairing = { benchmark_id: "p", benchmark_version: "1", aggregation_cell_id: "c", pairing_id: "x" };
  assert.equal(
    pairedSeed({ ...pairing, replicate: 2 }),
    digest('{"aggregation_cell_id":"c","benchmark_id":"p","benchmark_version":"1","pairing_id":"x","replicate":2}'),
  );
  assert.notEqual(pairedSeed(pairing), pairedSeed({ ...pairing, replicate: 0 }));
});

Deno.test("one pass gives the mean of two passes bit by bit, and their spread to the last digits", () => {
  const random = Generator.seeded(6);
  for (const [count, offset] of [[1, 0], [2, 0], [1000, 1e6]] as const) {
    const samples = Array.from(random.standardNormal(count), (value, replicate): Sample => ({
      replicate,
      values: { "quality.psnr_db": offset + value },
      rates: {},
      items: {},
    }));
    const [one, two] = [undefined, "two_passes" as const].map((spread) =>
      tallyOf(samples, PSNR, spread).estimate(0.95)
    );
    assert.equal(one.mean, two.mean);
    assert.deepEqual([one.n, one.std === null], [two.n, two.std === null]);
    assert.ok(Math.abs((one.std ?? 0) - (two.std ?? 0)) <= 1e-9, `${one.std} ${two.std}`);
  }
});

Deno.test("rates whose units differ are not pooled, and values without counts neither", () => {
  const packets = sample(1, { ...bitCounts(1, 10), unit: "packet" });
  const bare: Sample = { ...counted(2, 1, 10), rates: {} };
  assert.equal(tallyOf([counted(0, 1, 10), packets]).rate, null);
  assert.equal(tallyOf([counted(0, 1, 10), bare]).rate, null);
  assert.equal(tallyOf([counted(0, 1, 10), counted(1, 2, 10)]).rate?.events, 3);
});

Deno.test("no rate has Student's interval: ten replicates in which every block fails leave room below 1", () => {
  const bler = "channel.bler", blocks = new Uint8Array(4).fill(1);
  const rated = (rates: Sample["rates"]): Sample[] =>
    Array.from({ length: 10 }, (_, replicate) => ({ replicate, values: { [bler]: 1 }, rates, items: {} }));
  const rowsOf = (samples: Sample[]) => {
    const tally = new Tally(bler);
    samples.forEach((sample) => tally.add(sample));
    return aggregate([{ id: "lost", tallies: [tally] }], 0.95);
  };
  const [counts, ...more] = rowsOf(rated({ [bler]: countRate(blocks, "packet") }));
  assert.deepEqual([more.length, counts.ci_method, counts.failed_units], [0, "gaffke", [[1, 1, 40]]]);
  assert.ok(Math.abs(Number(counts.ci_low) - 0.025 ** (1 / 40)) < 1e-9 && Number(counts.ci_high) === 1);
  const [bare] = rowsOf(rated({}));
  assert.deepEqual([bare.ci_method, bare.ci_low, bare.ci_high], ["none", null, null]);
});
