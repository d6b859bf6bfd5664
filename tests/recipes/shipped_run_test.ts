/**
 * Shipped recipes and packs that need nothing but the repository run to their end: one point of a recipe; of a pack the ends of its
 * curves with one replicate. Sources give few items. Every recipe is compiled, planned and linted elsewhere (tests/golden, lint_test.ts),
 * and each point of a pack loads and plans beside the packs, which checks its connections, so here a recipe runs for the operations of its
 * steps alone: those that run here or in other tests have every operation of the shipped recipes. A pack runs for its task, the kind of its
 * dataset and its statistics and for operations, where no recipe and no other pack has them.
 * `deno task soak whole` runs every recipe, and both ends of every curve of every pack at the full sizes.
 */
import assert from "node:assert/strict";
import { basename, dirname, join } from "node:path";
import { sharedSession } from "../support/session.ts";
import { parseRecipe } from "../../lib/api/authored_recipe.ts";
import { parseYaml } from "../../lib/contract/yaml.ts";
import { listBenchmarkPacks } from "../../lib/study/pack/packs.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { isCounted, packOfEnds } from "../support/reduced_pack.ts";
import { coverOf, kindsOf } from "../support/kinds.ts";
import { FULL_SIZE, reducedSizes, type Step } from "../support/reduced_sizes.ts";
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
const ELSEWHERE_PATTERN =
  /^(.*_learned|detection_scenes_(noise|deepjscc|jpeg).*|(retrieval|vqa)_scenes_noise.*|image_codeclib_tiny|resource_.*|deepjscc_.*|quickstart)$/;

const isRunElsewhere = (name: string) =>
  ELSEWHERE_PATTERN.test(name) || !FULL_SIZE && DATA.RECIPES_RUN_ELSEWHERE.includes(name);

/** Recipes and packs with models or datasets that the repository does not have, by their names. */
const FETCHED = /kodak|coco|autoencoderkl|vqmodel|vqa_pretrained|bart|bert_score|perceptual|diffusion|text_joint/;
const isMissing = (name: string, diagnostics: readonly { code: string }[]): boolean => {
  const missing = lacks(diagnostics);
  assert.ok(!missing || FETCHED.test(name), `${name} lacks a model or dataset that the repository should have`);
  return missing;
};

const read = (file: string | URL) => parseYaml(Deno.readTextFileSync(file)) as object;
const stepsOf = (text: string) => (parseYaml(text) as object as { steps: Step[] }).steps;
const CANDIDATES = SHIPPED.filter((url) => !isRunElsewhere(basename(url.pathname, ".yaml")));
const HERE = CANDIDATES.filter(({ pathname }) => !FETCHED.test(basename(pathname)));

interface Pack {
  dataset: { modality: string };
  task: { id: string };
  metadata: object;
  replication?: object;
  recipes: { path: string }[];
}

function kindsOfPack(file: string): Set<string> {
  const { dataset, task, metadata, replication = {}, recipes } = read(file) as Pack;
  const ofSteps = recipes.flatMap(({ path }) => [
    ...kindsOf((read(join(dirname(file), path)) as { steps: Step[] }).steps),
  ]);
  const asked = Object.keys({ ...metadata, ...replication }).map((key) => `statistics ${key}`);
  return new Set([`modality ${dataset.modality}`, `task ${task.id}`, ...asked, ...ofSteps]);
}

const PACKS = listBenchmarkPacks(ROOT_PATH).map((pack) => ({ ...pack, kinds: kindsOfPack(pack.file) }));
const isPackElsewhere = (name: string) => [...DATA.RUN_ELSEWHERE, ...DATA.LIKE_OTHERS].includes(name);

const kindsIn = (url: URL) => kindsOf((read(url) as { steps: Step[] }).steps);
const KINDS = new Map(HERE.map((url) => [url.href, kindsIn(url)]));
/** Kinds of recipes and packs that other tests run; mixed_sizes_test.ts runs recipes of photographs, from another source. */
const RUN_ELSEWHERE = new Set(PACKS.flatMap(({ name, kinds }) => DATA.RUN_ELSEWHERE.includes(name) ? [...kinds] : []));
for (const url of SHIPPED) {
  const kinds = kindsIn(url), name = basename(url.pathname, ".yaml");
  const isMixed = kinds.has("source.image_dataset") && !FETCHED.test(name);
  if (!isRunElsewhere(name) && !isMixed) continue;
  for (const kind of kinds) {
    RUN_ELSEWHERE.add(kind);
  }
}
const CHOSEN = coverOf(KINDS, RUN_ELSEWHERE);
const LEFT_OUT = FULL_SIZE ? [] : HERE.filter(({ href }) => !CHOSEN.has(href));

Deno.test("the recipes that run here have every kind of step", () => {
  const kindsOfAll = (names: Iterable<string>) => new Set([...names].flatMap((name) => [...KINDS.get(name)!]));
  assert.ok(CHOSEN.size < KINDS.size);
  const missing = kindsOfAll(KINDS.keys()).difference(kindsOfAll(CHOSEN)).difference(RUN_ELSEWHERE);
  assert.deepEqual(missing, new Set());
});

shared.test("recipes whose kinds of steps others have plan here, with every model and dataset", async ({ recipes }) => {
  for (const url of LEFT_OUT) {
    const point = (await recipes.expand(await Deno.readTextFile(url))).recipes.at(-1);
    // Those without points are planned in recipes_test.ts.
    if (point === undefined) continue;
    const { diagnostics } = await recipes.plan(point);
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    assert.deepEqual(errors, [], url.pathname);
  }
});

for (const url of CANDIDATES) {
  if (LEFT_OUT.includes(url)) continue;
  shared.test(`recipes/${basename(url.pathname)} runs, and its bundle verifies`, async ({ recipes, runs }) => {
    const text = await Deno.readTextFile(url);
    const smaller = reducedSizes(basename(url.pathname, ".yaml"), stepsOf(text), {}, 1);
    const set = Object.entries(smaller).flatMap(([id, params]) =>
      Object.entries(params).map(([name, value]) => `${id}.${name}=${value}`)
    );
    const small = parseRecipe(text, { set });
    // The last point of a sweep over SNR is its best, where something arrives.
    const recipe = (await recipes.expand(small)).recipes.at(-1) ?? small;
    const name = basename(url.pathname);
    if (FETCHED.test(name) && isMissing(name, (await recipes.plan(recipe)).diagnostics)) return;
    const { status, run_id, summary } = await recipes.run(recipe);
    assert.equal(status, "completed", String(summary.error));
    assert.equal((await runs.verify(run_id)).status, "valid");
    await runs.remove({ ids: [run_id] });
  });
}

/** Packs of a fixed size come last. */
const PACKS_HERE = PACKS.filter(({ name }) => !isPackElsewhere(name) && !FETCHED.test(name))
  .sort((a, b) => Number(isCounted(a.file)) - Number(isCounted(b.file)));
const CHOSEN_PACKS = coverOf(
  new Map(PACKS_HERE.map(({ name, kinds }) => [name, kinds])),
  new Set([...RUN_ELSEWHERE, ...[...CHOSEN].flatMap((name) => [...KINDS.get(name)!])]),
);

for (const [index, { name, file }] of PACKS.entries()) {
  if (isPackElsewhere(name) || !FULL_SIZE && !FETCHED.test(name) && !CHOSEN_PACKS.has(name)) continue;
  shared.test(`benchmarks/${name} runs`, async ({ benchmarks }) => {
    const folder = await Deno.makeTempDir();
    const pack = await packOfEnds(folder, file, FULL_SIZE ? undefined : index % 2 === 0 ? "first" : "last");
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
