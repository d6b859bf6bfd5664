/**
 * Every shipped recipe and pack that needs nothing but the repository runs to its end: one point of a recipe; of a pack the ends of
 * every curve with one replicate. Sources give few items; `deno task soak whole` runs the full sizes. That each point of a pack loads
 * and plans is checked beside the packs.
 */
import assert from "node:assert/strict";
import { basename } from "node:path";
import { sharedSession } from "../support/session.ts";
import { parseRecipe } from "../../lib/api/authored_recipe.ts";
import { parseYaml } from "../../lib/contract/yaml.ts";
import { listBenchmarkPacks } from "../../lib/study/pack/packs.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { packOfEnds } from "../support/reduced_pack.ts";
import { reducedSizes, type Step } from "../support/reduced_sizes.ts";
import { tables } from "../support/tables.ts";

const DATA = tables(import.meta.url);

const SHIPPED = ["", "recipe_starters/"].flatMap((folder) => {
  const place = new URL(`../../recipes/${folder}`, import.meta.url);
  return [...Deno.readDirSync(place)].filter(({ name }) => name.endsWith(".yaml")).map(({ name }) =>
    new URL(name, place)
  );
}).sort((a, b) => (a.href < b.href ? -1 : 1));

const lacks = (diagnostics: readonly { code: string }[]) =>
  diagnostics.some(({ code }) => code === "dataset_unavailable" || code === "model_unavailable");

const shared = sharedSession({ projectRoot: ROOT_PATH });

/** Recipes that other tests run and look into. */
const ELSEWHERE =
  /^(.*_learned|detection_scenes_(noise|deepjscc|jpeg).*|(retrieval|vqa)_scenes_noise.*|image_codeclib_tiny|resource_.*|deepjscc_.*|quickstart)$/;

/** Recipes and packs with models or datasets that the repository does not have, by their names. */
const FETCHED = /kodak|coco|autoencoderkl|vqmodel|vqa_pretrained|bart|bert_score|perceptual|diffusion|text_joint/;
const isMissing = (name: string, diagnostics: readonly { code: string }[]): boolean => {
  const missing = lacks(diagnostics);
  assert.ok(!missing || FETCHED.test(name), `${name} lacks a model or dataset that the repository should have`);
  return missing;
};

for (const url of SHIPPED) {
  if (ELSEWHERE.test(basename(url.pathname, ".yaml"))) continue;
  shared.test(`recipes/${basename(url.pathname)} runs, and its bundle verifies`, async ({ recipes, runs }) => {
    const text = await Deno.readTextFile(url);
    const { steps } = parseYaml(text) as object as { steps: Step[] };
    const set = Object.entries(reducedSizes(basename(url.pathname, ".yaml"), steps)).flatMap(([id, params]) =>
      Object.entries(params).map(([name, value]) => `${id}.${name}=${value}`)
    );
    const small = parseRecipe(text, { set });
    // The last point of a sweep over SNR is its best, where something arrives.
    const recipe = (await recipes.expand(small)).recipes.at(-1) ?? small;
    if (isMissing(url.pathname, (await recipes.plan(recipe)).diagnostics)) return;
    const { status, run_id, summary } = await recipes.run(recipe);
    assert.equal(status, "completed", String(summary.error));
    assert.equal((await runs.verify(run_id)).status, "valid");
    await runs.remove({ ids: [run_id] });
  });
}

/** Packs that other tests run and look into, or that are as others with other methods. */
const LOOKED_INTO = new Set(DATA.CASES);

for (const { name, file } of listBenchmarkPacks(ROOT_PATH)) {
  if (LOOKED_INTO.has(name)) continue;
  shared.test(`benchmarks/${name} runs`, async ({ benchmarks }) => {
    const folder = await Deno.makeTempDir();
    const pack = await packOfEnds(folder, file);
    const { diagnostics } = await benchmarks.load(pack);
    if (isMissing(name, diagnostics)) return await Deno.remove(folder, { recursive: true });
    // Comparisons over photographs have few pairs, because few are left.
    assert.deepEqual(diagnostics.filter(({ code }) => code !== "comparison_underpowered"), []);
    const { result } = await benchmarks.run(pack, { replicates: 1 });
    await Deno.remove(folder, { recursive: true });
    assert.equal(result.status, "completed");
    const failed = result.recipes.filter(({ status }) => status !== "completed" && status !== "skipped");
    assert.deepEqual(failed.map(({ id, status }) => [id, status]), []);
  });
}
