/** The pack physical_layer/range_doppler_v1 against the Cramér-Rao bound and the spacing of bins. */
import assert from "node:assert/strict";
import { reducedPack } from "../support/reduced_pack.ts";
import { sharedSession } from "../support/session.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { SPEED_OF_LIGHT } from "../../lib/numeric/antenna/range_doppler.ts";

const { session } = sharedSession({ projectRoot: ROOT_PATH });

Deno.test("the parabola meets the bound, a Hann window costs 6 dB, and the strongest bin ends at its spacing", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const { result } = await (await session()).benchmarks.run(
      await reducedPack(folder, "physical_layer/range_doppler_v1", [0, 7, 8, 9, 10, 11, 12]),
      { replicates: 1 },
    );
    assert.equal(result.status, "completed");
    /** The root of the mean square of a metric, over another one, at the points where no target is missed. */
    const rows = (method: string) =>
      result.recipes.filter(({ id, matrix_selection }) =>
        id.startsWith(`${method}@`) && Number(matrix_selection.snr_db) >= -7.5
      );
    const value = (id: string, metric: string) => Number(result.recipes.find((row) => row.id === id)!.metrics[metric]);
    const rms = (method: string, metric: string, over?: string) => {
      const squares = rows(method).map(({ id }) =>
        (value(id, metric) / (over === undefined ? 1 : value(id, over))) ** 2
      );
      assert.equal(squares.length, 6);
      return Math.sqrt(squares.reduce((sum, one) => sum + one, 0) / squares.length);
    };
    const steps = {
      range_rmse_m: SPEED_OF_LIGHT / (2 * 120e3 * 256),
      velocity_rmse_mps: SPEED_OF_LIGHT / (2 * 28e9 * 1.0703125 / 120e3 * 128),
    };
    for (const [metric, step] of Object.entries(steps)) {
      const own = `isac.${metric}`, bound = `isac.cramer_rao_${metric}`;
      // 120 errors: the RMSE has a relative deviation of 6.5 %; four of them.
      const parabola = rms("parabola", own, bound), hann = rms("hann_parabola", own, bound);
      assert.ok(parabola > 0.74 && parabola < 1.26, `${metric}: ${parabola}`);
      assert.ok(hann > 1.5 && hann < 2.6, `${metric}: ${hann}`);
      // Errors within a bin are uniform.
      const bins = rms("strongest_bin", own) / (step / Math.sqrt(12));
      assert.ok(bins > 0.74 && bins < 1.3, `${metric}: ${bins}`);
    }
    for (const { id } of rows("parabola")) assert.equal(value(id, "isac.detection_rate"), 1);
    const lost = result.recipes.find(({ id, matrix_selection }) =>
      id.startsWith("hann_parabola@") && Number(matrix_selection.snr_db) === -25
    )!;
    assert.ok(value(lost.id, "isac.detection_rate") < 0.5);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
