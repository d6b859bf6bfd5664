/** The pack physical_layer/mimo_detectors_v1: the order of the detectors, and the cost of the estimate. */
import assert from "node:assert/strict";
import { sharedSession } from "../support/session.ts";
import { ROOT_PATH } from "../support/paths.ts";

const { session } = sharedSession({ projectRoot: ROOT_PATH });

Deno.test("K-best errs least, then MMSE-SIC, MMSE and ZF; the true channel errs less than the estimate", async () => {
  const { result } = await (await session()).benchmarks.run("physical_layer/mimo_detectors_v1", { replicates: 1 });
  const rates = (detector: string, metric: string) =>
    result.recipes.filter(({ matrix_selection }) => matrix_selection.detector === detector)
      .map(({ id }) => Number(result.aggregates.find((row) => row.recipe_id === id && row.metric === metric)!.mean));
  const order = ["kbest", "mmse_sic", "mmse", "zf"].map((detector) => rates(detector, "channel.ber"));
  for (let point = 1; point < 4; point++) {
    for (let i = 1; i < order.length; i++) assert.ok(order[i - 1][point] < order[i][point], `${i} at point ${point}`);
  }
  for (const detector of ["kbest", "mmse"]) {
    rates(detector, "channel.coded.ber").forEach((rate, point) =>
      assert.ok(rate > rates(detector, "channel.ber")[point])
    );
  }
});
