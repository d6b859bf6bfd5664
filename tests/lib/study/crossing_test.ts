/** The search for the value of a parameter at which a rate or a difference reaches a target. */
import assert from "node:assert/strict";
import { createCancellation, type CrossingOptions, type Session } from "../../../mod.ts";
import { float, type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { gaussianTail } from "../../../lib/numeric/linalg/error_function.ts";
import { sharedSession } from "../../support/session.ts";

const { test } = sharedSession();

const link = (name: string, params: JsonObject = {}, data: JsonObject = {}): JsonObject => ({
  name,
  metadata: { seed: 5 },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: 20000, ...data } },
    { id: "link", op: "wireless.digital_link", params, inputs: { bits: "data.bits" } },
    { id: "ber", op: "metrics.bit_error_rate", inputs: { reference: "data.bits", candidate: "link.bits" } },
    {
      id: "bler",
      op: "metrics.block_error_rate",
      params: { block_size: 50 },
      inputs: { reference: "data.bits", candidate: "link.bits" },
    },
  ],
});

const QUERY = { over: "link.snr_db", between: [0, 16], resolution: 1 } as const;
/** Bit error rates of QPSK and BPSK at a unit mean symbol energy. */
const qpsk = (snr_db: number) => gaussianTail(Math.sqrt(10 ** (snr_db / 10)));
const bpsk = (snr_db: number) => gaussianTail(Math.sqrt(2 * 10 ** (snr_db / 10)));

const runsOf = async (svc: Session) => (await svc.runs.list({ limit: 10000 })).length;

test("the bracket of a rate contains its closed form, and a second search makes no run", async (svc) => {
  const query = { ...QUERY, untilBler: 1e-2, metric: "channel.ber" };
  const found = await svc.recipes.findCrossing(link("rate"), query);
  assert.equal(found.status, "found");
  const [low, high] = found.bracket!.map((value) => toNumber(value as number));
  assert.ok(high - low === 1 && qpsk(low) > 1e-2 && qpsk(high) < 1e-2, `${low} to ${high}`);
  const estimate = toNumber(found.estimate!);
  assert.ok(low < estimate && estimate < high && Math.abs(qpsk(estimate) - 1e-2) < 2e-3, `${estimate}`);
  for (const { value, side, ci_low, ci_high, upper_bound, events, trials, runs, run_ids } of found.points) {
    assert.equal(side, qpsk(Number(value)) > 1e-2 ? "above" : "below");
    const end = upper_bound ?? ci_high!;
    assert.ok(side === "above" ? toNumber(ci_low!) > 1e-2 : toNumber(end) < 1e-2);
    assert.deepEqual([trials, run_ids.length], [20000 * runs, runs]);
    assert.ok(events! <= trials!);
  }
  const before = await runsOf(svc);
  const again = await svc.recipes.findCrossing(link("rate"), { ...query, parallelPoints: 2 });
  assert.equal(await runsOf(svc), before);
  assert.deepEqual(again.points, found.points);
  const { status } = await svc.runs.verify(found.points[0].run_ids[0]);
  assert.equal(status, "valid");
});

test("without a metric the block error rate is searched for", async (svc) => {
  const { status, metric, bracket } = await svc.recipes.findCrossing(link("blocks"), { ...QUERY, untilBler: 0.1 });
  assert.deepEqual([status, metric], ["found", "channel.bler"]);
  const bler = (snr: number) => 1 - (1 - qpsk(snr)) ** 50;
  const [low, high] = bracket!.map((value) => toNumber(value as number));
  assert.ok(bler(low) > 0.1 && bler(high) < 0.1, `${low} to ${high}`);
});

test("a target outside and a point at the target are no brackets", async (svc) => {
  const search = (query: Partial<CrossingOptions>) =>
    svc.recipes.findCrossing(link("none"), { ...QUERY, untilBler: 1e-2, metric: "channel.ber", ...query });
  const outside = await search({ between: [0, 4] });
  assert.deepEqual([outside.status, outside.bracket, outside.points.length], ["not_between", null, 2]);
  // The middle is the crossing, 7.3327 dB.
  const undecided = await search({ between: [float(0.6654), float(14)], resolution: float(0.1), maxRuns: 3 });
  assert.equal(undecided.status, "undecided");
  assert.deepEqual(undecided.bracket, [float(0.6654), float(14)]);
  const last = undecided.points.at(-1)!;
  assert.deepEqual([last.side, last.runs], ["undecided", 3]);
});

test("two recipes share the noise of each run, and their difference is bracketed", async (svc) => {
  const target = 0.01;
  const found = await svc.recipes.findCrossing(link("four"), {
    ...QUERY,
    untilDifference: target,
    against: link("two", { modulation: "bpsk" }),
    metric: "channel.ber",
  });
  assert.deepEqual([found.status, found.against], ["found", "two"]);
  const difference = (snr: number) => qpsk(snr) - bpsk(snr);
  const [low, high] = found.bracket!.map((value) => toNumber(value as number));
  assert.ok(difference(low) > target && difference(high) < target, `${low} to ${high}`);
  const seeds = await Promise.all(found.points[0].run_ids.map(async (id) => {
    const { steps } = await svc.runs.recipe(id);
    return steps.slice(0, 2).map(({ params }) => params.seed);
  }));
  const [mine, theirs] = [seeds.slice(0, seeds.length / 2), seeds.slice(seeds.length / 2)];
  assert.deepEqual(mine, theirs);
  assert.equal(new Set(mine.map(String)).size, mine.length);
});

test("authored seeds of steps count for the first run only", async (svc) => {
  const { points: [{ run_ids }] } = await svc.recipes.findCrossing(link("seeded", { seed: 9 }, { seed: 3 }), {
    ...QUERY,
    between: [14, 16],
    untilBler: 1e-5,
    metric: "channel.ber",
    maxRuns: 2,
  });
  const seeds = await Promise.all(
    run_ids.map(async (id) => (await svc.runs.recipe(id)).steps.slice(0, 2).map(({ params }) => params.seed)),
  );
  assert.deepEqual(seeds[0], [3, 9]);
  assert.ok(seeds[1][0] !== 3 && seeds[1][1] !== 9);
});

test("integers are searched among integers", async (svc) => {
  const { status, bracket, points } = await svc.recipes.findCrossing(link("count", { snr_db: float(6) }), {
    over: "bler.block_size",
    between: [1, 128],
    resolution: 40,
    untilBler: 0.5,
  });
  assert.equal(status, "found");
  assert.deepEqual(points.map(({ value }) => value), [1, 128, 64, 32]);
  const rate = (size: number) => 1 - (1 - qpsk(6)) ** size;
  assert.deepEqual(bracket, rate(32) > 0.5 ? [1, 32] : [32, 64]);
});

test("a failing run ends the search, and a cancellation does", async (svc) => {
  const failing = link("failing");
  (failing.steps as JsonObject[])[3] = {
    id: "cut",
    op: "channel.bit_boundary",
    params: { expected_bit_count: 7 },
    inputs: { bits: "link.bits" },
  };
  const query = { ...QUERY, untilBler: 1e-2, metric: "channel.ber" };
  const failed = await svc.recipes.findCrossing(failing, query);
  assert.deepEqual([failed.status, failed.error?.code, failed.bracket], ["failed", "boundary_count_mismatch", null]);
  const cancellation = createCancellation();
  const canceled = await svc.recipes.findCrossing(link("canceled"), {
    ...query,
    cancellation,
    onEvent: ({ kind }) => kind === "crossing_point_completed" && cancellation.cancel(),
  });
  assert.deepEqual([canceled.status, canceled.points.length], ["canceled", 1]);
});

test("a query that cannot be searched is refused before a run", async (svc) => {
  const before = await runsOf(svc);
  const swept = {
    ...link("swept"),
    metadata: { matrix: { dimensions: { s: [1, 2] }, step_params: { link: { snr_db: { matrix: "s" } } } } },
  };
  const cases: [JsonObject, Partial<CrossingOptions>, string, RegExp][] = [
    [link("a"), {}, "usage_invalid", /one target/],
    [link("a"), { untilBler: 0.1, untilDifference: 0 }, "usage_invalid", /one target/],
    [link("a"), { untilDifference: 0 }, "usage_invalid", /two recipes/],
    [link("a"), { untilBler: 1 }, "usage_invalid", /the rate 1/],
    [link("a"), { untilBler: 0.1, between: [5, 1] }, "usage_invalid", /between 5 and 1/],
    [link("a"), { untilBler: 0.1, resolution: 0 }, "usage_invalid", /resolution 0/],
    [link("a"), { untilBler: 0.1, maxRuns: 0 }, "usage_invalid", /Cannot call recipes.findCrossing/],
    [link("a"), { untilBler: 0.1, over: "lnk.snr_db" }, "usage_invalid", /lnk\.snr_db/],
    [link("a"), { untilBler: 0.1, over: "link.snr" }, "usage_invalid", /parameter snr of link/],
    [link("a"), { untilBler: 0.1, metric: "channel.brr" }, "usage_invalid", /channel\.brr/],
    [link("a"), { untilBler: 0.1, over: "data.bit_count", between: [-5, 5] }, "recipe_invalid", /bit_count=-5/],
    [swept, { untilBler: 0.1 }, "matrix_unresolved", /swept has a matrix/],
    [{ ...link("a"), steps: [{ id: "x", op: "no.such" }] }, { untilBler: 0.1 }, "recipe_invalid", /Cannot compile/],
  ];
  for (const [recipe, query, code, message] of cases) {
    await assert.rejects(svc.recipes.findCrossing(recipe, { ...QUERY, ...query }), { code, message });
  }
  assert.equal(await runsOf(svc), before);
});
