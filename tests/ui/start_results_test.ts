/** What the first page shows of its starting points belongs to the recipes that it opens. */
import assert from "node:assert/strict";
import { sha256Json } from "../../lib/contract/hash.ts";
import { open } from "../../mod.ts";
import { STARTING_POINTS, startingRecipe } from "../../ui/form/starting_points.ts";
import results from "../../ui/pages/start_results.json" with { type: "json" };
import { startingSource } from "../support/starting_source.ts";

Deno.test("the stored result of each starting point is of its present recipe; deno task pictures makes them again", async () => {
  await using svc = await open({ stateDir: await Deno.makeTempDir() });
  assert.deepEqual(Object.keys(results).sort(), STARTING_POINTS.map(({ id }) => id).sort());
  for (const point of STARTING_POINTS) {
    const { recipe_sha256, figure } = results[point.id as keyof typeof results];
    assert.equal(recipe_sha256, sha256Json(startingRecipe(point, await startingSource(svc, point))), point.id);
    const values = point.dimensions.snr_db ?? figure.series[0].points.map(({ x }) => x);
    for (const { kind, points } of figure.series) {
      if (kind === "measured") assert.deepEqual(points.map(({ x }) => x), values, point.id);
    }
  }
});
