/** The pack bit_transport/ber_theory_v1 against closed forms, point by point. */
import assert from "node:assert/strict";
import { sharedSession } from "../support/session.ts";
import { shownAggregates } from "../../lib/study/rows/estimates.ts";
import { wilsonInterval } from "../../lib/numeric/scores/statistics.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { FULL_SIZE } from "../support/reduced_sizes.ts";
import { theoryPack } from "../support/theory_pack.ts";
import theory from "../data/physical/repetition.json" with { type: "json" };

const { session } = sharedSession({ projectRoot: ROOT_PATH });
const rates: Record<string, number> = theory.rates;
/** Of nine on each curve; the runs of a point are as many as 100 errors need. `deno task soak whole` has more. */
const POINTS = FULL_SIZE ? [0, 3, 6] : [2];

Deno.test("ber_theory_v1 agrees with theory, and the repetition code beats no code at every point", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const { benchmarks } = await session();
    const { result } = await benchmarks.run(await theoryPack(folder, POINTS, 12_000));
    assert.equal(result.status, "completed");
    const points = new Map(result.recipes.map((row) => [row.id, row.matrix_selection]));
    const pooled = shownAggregates(result);
    assert.equal(pooled.length, 12 * POINTS.length);
    for (const { recipe_id, events, trials, stop_reason, ci_method, unit } of pooled) {
      assert.equal(stop_reason, "errors", recipe_id);
      assert.ok(events! >= 100, recipe_id);
      const { channel, modulation, repetition, snr_db } = points.get(recipe_id)!;
      // The bits of one symbol fade together, where it carries more than one payload bit.
      const payload = { bpsk: 1, qpsk: 2, qam16: 4 }[String(modulation)]! / Number(repetition);
      const faded = channel === "flat_rayleigh" && payload > 1;
      assert.deepEqual([ci_method, unit], faded ? ["gaffke", "fading_block"] : ["wilson", "bit"], recipe_id);
      const expected = rates[`${channel} ${modulation} x${repetition} ${Number(snr_db)} dB`];
      // Of 36 intervals of 99.9 %, one in thirty such benchmarks would miss somewhere. Seeds are fixed, so this one never does.
      const { low, high } = wilsonInterval(events!, trials!, 0.999);
      assert.ok(low <= expected && expected <= high, `${recipe_id}: ${expected} is not within ${low} … ${high}`);
    }
    assert.equal(result.comparisons.length, 6 * POINTS.length);
    assert.deepEqual(
      result.comparisons.filter(({ better }) => better !== "candidate").map((row) => row.candidate_id),
      [],
    );
    assert.equal((await benchmarks.verify(result.result_id)).status, "valid");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
