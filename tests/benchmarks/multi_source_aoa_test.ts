/** The pack physical_layer/multi_source_aoa_v1: the bound is met from the top, and the order of the methods. */
import assert from "node:assert/strict";
import { sharedSession } from "../support/session.ts";
import { ROOT_PATH } from "../support/paths.ts";

const { session } = sharedSession({ projectRoot: ROOT_PATH });

Deno.test("root-MUSIC and MUSIC meet the bound, ESPRIT and Capon stay above it, Bartlett does not resolve", async () => {
  const { result } = await (await session()).benchmarks.run("physical_layer/multi_source_aoa_v1", { replicates: 1 });
  const values = (mode: string, metric: string) =>
    result.recipes.filter(({ matrix_selection }) => matrix_selection.mode === mode)
      .map(({ id }) => Number(result.aggregates.find((row) => row.recipe_id === id && row.metric === metric)!.mean));
  const rmse = (mode: string) => values(mode, "aoa.rmse_deg");
  assert.equal(rmse("music").length, 9);
  for (const mode of ["capon", "music", "root_music", "esprit"]) {
    const errors = rmse(mode);
    assert.ok(errors[8] < 0.05, `${mode}: ${errors}`);
    assert.equal(values(mode, "aoa.resolution_rate")[8], 1);
    assert.ok(errors[8] < errors[6] && errors[6] < errors[3], `${mode}: ${errors}`);
  }
  // After the threshold of all but Capon.
  for (const point of [5, 6, 7, 8]) {
    const [root, music, esprit] = ["root_music", "music", "esprit"].map((mode) => rmse(mode)[point]);
    assert.ok(Math.abs(music / root - 1) < 0.1 && esprit > 1.1 * root, `${root} ${music} ${esprit}`);
  }
  assert.ok(rmse("bartlett").every((error) => error > 5));
});
