import assert from "node:assert/strict";
import { run } from "../../mod.ts";
import { sizeOf } from "../support/sample.ts";
import { temporaryFolder } from "../support/temporary.ts";

/** Digests of all artifacts of one run of a recipe, by path. */
async function digests(recipe: string, parallelWorkers: number): Promise<Record<string, string>> {
  const stateDir = temporaryFolder("svc-workers-");
  const { status, summary } = await run(recipe, { stateDir, parallelWorkers });
  assert.equal(status, "completed");
  const steps = summary.steps as { outputs: Record<string, { path: string; sha256: string }> }[];
  return Object.fromEntries(
    steps.flatMap(({ outputs }) => Object.values(outputs).map(({ path, sha256 }) => [path, sha256])),
  );
}

const RECIPES = ["jpeg_capacity_matched_slow_rayleigh", "quickstart", "bit_transport_awgn"];

for (const name of RECIPES.slice(0, sizeOf(1, RECIPES.length))) {
  Deno.test(`${name}: every artifact has the same bytes with one worker and with four`, async () => {
    const text = await Deno.readTextFile(new URL(`../../recipes/${name}.yaml`, import.meta.url));
    // Two photographs are enough for workers side by side.
    const recipe = sizeOf(text.replace("coffee,chelsea,camera,rocket", "coffee,chelsea"), text);
    const [one, four] = [await digests(recipe, 1), await digests(recipe, 4)];
    assert.ok(Object.keys(one).length >= 4);
    assert.deepEqual(four, one);
  });
}
