/** The pack physical_layer/ldpc_tdl_estimated_v1: what the estimate costs. */
import assert from "node:assert/strict";
import { reducedPack } from "../support/reduced_pack.ts";
import { sharedSession } from "../support/session.ts";
import { ROOT_PATH } from "../support/paths.ts";

const { session } = sharedSession({ projectRoot: ROOT_PATH });

Deno.test("the true channel loses fewest blocks, LMMSE fewer than least squares, all fewer at higher Es/N0", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const { result } = await (await session()).benchmarks.run(
      await reducedPack(folder, "physical_layer/ldpc_tdl_estimated_v1", [0, 1, 2]),
      { replicates: 2 },
    );
    const rate = (method: string, snr: number) => {
      const row = result.recipes.find(({ method_id, matrix_selection }) =>
        method_id === method && Number(matrix_selection.snr_db) === snr
      )!;
      return Number(
        result.aggregates.find(({ recipe_id, metric }) => recipe_id === row.id && metric === "channel.bler")!.mean,
      );
    };
    for (const method of ["oracle", "trained", "lmmse", "lmmse_100_ns", "least_squares"]) {
      assert.ok(rate(method, 2) > rate(method, 6) + 0.05, method);
    }
    assert.ok(rate("oracle", 4) < rate("lmmse", 4) && rate("lmmse", 4) < rate("least_squares", 4));
    assert.ok(rate("oracle", 4) < rate("trained", 4) && rate("trained", 4) < rate("least_squares", 4));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
