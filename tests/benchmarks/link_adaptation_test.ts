/** The pack physical_layer/link_adaptation_v1 against the capacity. */
import assert from "node:assert/strict";
import { sharedSession } from "../support/session.ts";
import { ROOT_PATH } from "../support/paths.ts";

const { session } = sharedSession({ projectRoot: ROOT_PATH });

Deno.test("adapted links stay below the capacity, within 3 dB of it up to their densest modulation", async () => {
  const { result } = await (await session()).benchmarks.run("physical_layer/link_adaptation_v1", { replicates: 1 });
  const points = new Map(result.recipes.map((row) => [row.id, row.matrix_selection]));
  const rows = result.aggregates.filter(({ metric }) => metric === "harq.throughput_bits_per_symbol");
  assert.equal(rows.length, 32);
  const capacities = new Map(
    result.aggregates.filter(({ metric }) => metric === "nr.capacity_bits_per_symbol").map((
      row,
    ) => [row.recipe_id, row.mean]),
  );
  for (const { recipe_id, mean } of rows) {
    const { snr_db, mcs_table } = points.get(recipe_id)!, snr = Number(snr_db);
    const capacity = (db: number) => Math.log2(1 + 10 ** (db / 10));
    assert.ok(Math.abs(Number(capacities.get(recipe_id)) - capacity(snr)) < 1e-12);
    // Rows end at 5.55 bits with 64QAM and 7.41 with 256QAM.
    const most = mcs_table === "table_1" ? 5.55 : 7.41;
    assert.ok(Number(mean) < Math.min(capacity(snr), most), `${recipe_id}: ${mean}`);
    assert.ok(Number(mean) > 0.85 * Math.min(capacity(snr - 3), most), `${recipe_id}: ${mean}`);
  }
});
