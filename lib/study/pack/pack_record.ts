/** The pack and its recipes from the record of a result (`benchmark.json`): what every row has to follow from. */
import { type Code, SvcError } from "../../contract/error.ts";
import { sha256Json } from "../../contract/hash.ts";
import { sameValue } from "../../contract/json.ts";
import { cloneValue, isObject, type JsonObject } from "../../contract/value.ts";
import type { RecipeDocument } from "../../recipe/types.ts";
import { entryOfPoint } from "./entry_points.ts";
import { overrideRecipe } from "./instantiate.ts";
import { type Pack, type PackEntry, packOfValue } from "./pack.ts";
import { followsFromPack, isStudy, studyRecipes } from "./study.ts";
import { PACK_RECORD_FILE, type PackRecord } from "./types.ts";

/** A recipe of the pack before the seeds of a replicate are set; null for a skipped entry. */
export interface PackRecipe {
  entry: PackEntry;
  readonly recipe: RecipeDocument | null;
}

/**
 * The pack of a record, with an entry for each recipe.
 * @throws SvcError `bundle_schema_invalid` for no pack, `bundle_hash_mismatch`, `bundle_link_mismatch` for recipes that
 *   the pack does not give
 */
export function packOfRecord(record: PackRecord): { pack: Pack; recipes: PackRecipe[] } {
  const refuse = (code: Code, why: string): never => {
    throw new SvcError(code, `Cannot use ${PACK_RECORD_FILE}: ${why}`);
  };
  const { pack, diagnostics } = packOfValue(record.pack, () => undefined);
  if (pack === null) return refuse("bundle_schema_invalid", `${diagnostics[0].path}: ${diagnostics[0].message}`);
  if (pack.sha256 !== record.pack_sha256) refuse("bundle_hash_mismatch", "it names the digest of another pack");
  const studied = studiesOf(pack, record, refuse);
  let last = -1;
  const own = record.recipes.map(({ id, recipe, recipe_sha256 }): PackRecipe => {
    if (recipe_sha256 !== (recipe === null ? null : sha256Json(recipe))) {
      refuse("bundle_hash_mismatch", `it names the digest of another recipe ${id}`);
    }
    const entry = entryOf(pack, id, recipe);
    while (studied.has(last + 1)) last++;
    if (entry === null || entry.index < last || entry.index > last + 1) {
      return refuse("bundle_link_mismatch", `the pack has no recipe ${id} in this place`);
    }
    last = entry.index;
    if ((recipe === null) !== (entry.skip_reason !== null)) {
      refuse("bundle_link_mismatch", `${id} is ${recipe === null ? "left out" : "not left out"} against the pack`);
    }
    if (recipe !== null && !follows(recipe as RecipeDocument, entry)) {
      refuse("bundle_link_mismatch", `the recipe ${id} is not that of its entry`);
    }
    return { entry, recipe: recipe as RecipeDocument | null };
  });
  while (studied.has(last + 1)) last++;
  const recipes = studied.size === 0
    ? own
    : [...own, ...[...studied.values()].flat()].sort((a, b) => a.entry.index - b.entry.index);
  if (last !== pack.recipes.length - 1) refuse("bundle_link_mismatch", "recipes of the pack are missing");
  if (new Set(recipes.map(({ entry }) => entry.id)).size !== recipes.length) {
    refuse("bundle_link_mismatch", "it has a recipe twice");
  }
  return { pack: { ...pack, recipes: recipes.map(({ entry }) => entry) }, recipes };
}

/** The points of the studies of a record, by the place of their entry. */
function studiesOf(
  pack: Pack,
  { studies = [] }: PackRecord,
  refuse: (code: Code, why: string) => never,
): Map<number, PackRecipe[]> {
  const found = new Map<number, PackRecipe[]>();
  for (const { recipe: index, ...source } of studies) {
    const entry = pack.recipes[index], { base, dimensions, points } = source;
    if (entry === undefined || !isStudy(entry) || found.has(index)) {
      return refuse("bundle_link_mismatch", `the pack has no study in the place ${index}`);
    }
    const matrix = isObject(base.metadata) ? base.metadata.matrix : null;
    const sound = typeof base.name === "string" && Array.isArray(base.steps) &&
      base.steps.every((step) => isObject(step) && isObject(step.params)) && isObject(matrix) &&
      isObject(matrix.step_params) && points.every((point) => point.length === dimensions.length);
    if (!sound) refuse("bundle_schema_invalid", `the study ${entry.id} has no recipe`);
    if (!followsFromPack(entry, source)) refuse("bundle_link_mismatch", `the study ${entry.id} has other points`);
    found.set(index, studyRecipes(entry, source, pack.baselines.includes(entry.id)));
  }
  return found;
}

/** The entry of a recipe: one of the pack, or of a point, whose coordinates are in the metadata of the recipe. */
function entryOf(pack: Pack, id: string, recipe: JsonObject | null): PackEntry | null {
  const own = pack.recipes.find((entry) => entry.id === id);
  if (own !== undefined) return own;
  const metadata = isObject(recipe?.metadata) ? recipe.metadata : {}, selection = metadata.matrix_selection;
  const entry = pack.recipes.find((entry) => id.startsWith(`${entry.id}@`));
  if (entry === undefined || !isObject(selection)) return null;
  const given = entry.params.matrix_selection ?? {};
  if (!Object.entries(given).every(([name, value]) => sameValue(selection[name] ?? null, value))) return null;
  const point = { name: id.slice(entry.id.length + 1), selection };
  return entryOfPoint(entry, point, given, pack.baselines.includes(entry.id));
}

/** Whether a recipe has what its entry sets. */
function follows(recipe: RecipeDocument, entry: PackEntry): boolean {
  if (!Array.isArray(recipe.steps) || !recipe.steps.every((step) => isObject(step) && isObject(step.params))) {
    return false;
  }
  if (!isObject(recipe.metadata) || typeof recipe.name !== "string") return false;
  const { name } = entry.params, ending = `__${entry.id}`;
  if (name === null ? !recipe.name.endsWith(ending) : recipe.name !== name + ending) return false;
  const overridden = cloneValue(recipe);
  return overrideRecipe(overridden, entry).length === 0 && sameValue(overridden, recipe);
}
