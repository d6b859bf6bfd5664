/** The pack physical_layer/qam_awgn_v1 against the closed forms, point by point. */
import assert from "node:assert/strict";
import { sharedSession } from "../support/session.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { shownAggregates } from "../../lib/study/rows/estimates.ts";
import { wilsonInterval } from "../../lib/numeric/scores/statistics.ts";
import { bitErrorRateAwgn } from "../../lib/numeric/link/theory.ts";
import type { Modulation } from "../../lib/numeric/link/modulations.ts";
import { reducedPack } from "../support/reduced_pack.ts";
import { FULL_SIZE } from "../support/reduced_sizes.ts";
import { temporaryFolder } from "../support/temporary.ts";

const { session } = sharedSession({ projectRoot: ROOT_PATH });

Deno.test("qam_awgn_v1 agrees with the closed form of each modulation at every point", async () => {
  // Of six on each curve; the runs of a point are as many as 100 errors need. `deno task soak whole` has all.
  const points = FULL_SIZE ? [0, 1, 2, 3, 4, 5] : [2];
  const pack = await reducedPack(temporaryFolder(), "physical_layer/qam_awgn_v1", points);
  const { result } = await (await session()).benchmarks.run(pack);
  assert.equal(result.status, "completed");
  const selections = new Map(result.recipes.map((row) => [row.id, row.matrix_selection]));
  const pooled = shownAggregates(result);
  assert.equal(pooled.length, 5 * points.length);
  for (const { recipe_id, events, trials } of pooled) {
    assert.ok(events! >= 100, `${recipe_id}: ${events} errors`);
    const { modulation, snr_db } = selections.get(recipe_id)!;
    const theory = bitErrorRateAwgn(modulation as Modulation, 10 ** (Number(snr_db) / 10));
    // 30 intervals of 99.9 %: one in thirty-three such benchmarks would miss somewhere; the seed is fixed.
    const { low, high } = wilsonInterval(events!, trials!, 0.999);
    assert.ok(low <= theory && theory <= high, `${recipe_id}: ${theory} is not within ${low} … ${high}`);
  }
});
