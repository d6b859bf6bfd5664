/** The pack physical_layer/qam_awgn_v1 against the closed forms, point by point. */
import assert from "node:assert/strict";
import { sharedSession } from "../support/session.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { shownAggregates } from "../../lib/study/rows/estimates.ts";
import { wilsonInterval } from "../../lib/numeric/scores/statistics.ts";
import { bitErrorRateAwgn } from "../../lib/numeric/link/theory.ts";
import type { Modulation } from "../../lib/numeric/link/modulations.ts";

const { session } = sharedSession({ projectRoot: ROOT_PATH });

Deno.test("qam_awgn_v1 agrees with the closed form of each modulation at every point", async () => {
  const { result } = await (await session()).benchmarks.run("physical_layer/qam_awgn_v1");
  assert.equal(result.status, "completed");
  const points = new Map(result.recipes.map((row) => [row.id, row.matrix_selection]));
  const pooled = shownAggregates(result);
  assert.equal(pooled.length, 30);
  for (const { recipe_id, events, trials } of pooled) {
    assert.ok(events! >= 100, `${recipe_id}: ${events} errors`);
    const { modulation, snr_db } = points.get(recipe_id)!;
    const theory = bitErrorRateAwgn(modulation as Modulation, 10 ** (Number(snr_db) / 10));
    // 30 intervals of 99.9 %: one in thirty-three such benchmarks would miss somewhere; the seed is fixed.
    const { low, high } = wilsonInterval(events!, trials!, 0.999);
    assert.ok(low <= theory && theory <= high, `${recipe_id}: ${theory} is not within ${low} … ${high}`);
  }
});
