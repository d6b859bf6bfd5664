/** Names of runs: a variant whose coordinates are no plain words is named by its id, and shown by its coordinates. */
import { canonicalJson } from "../../lib/contract/json.ts";
import { isObject, type JsonObject, type Value } from "../../lib/contract/value.ts";

const VARIANT_ID = /^mxv1-[0-9a-f]{64}$/, MOST_LETTERS = 48;

export const isVariantId = (name: string): boolean => VARIANT_ID.test(name);

/** A coordinate as in names: `snr_db_6.0`; long values are cut. */
function pieceOf([dimension, value]: readonly [string, Value]): string {
  const text = typeof value === "string" ? value : canonicalJson(value);
  return `${dimension}_${text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS - 1)}…` : text}`;
}

/**
 * The name that is shown of a run.
 *
 * @param recipe whose matrix made it
 * @param coordinates of the variant; none where they are unknown
 * @returns `<recipe>__<dimension>_<value>__…` in place of the id of a variant
 */
export function shownName(name: string, recipe: unknown, coordinates: unknown): string {
  if (!isVariantId(name) || typeof recipe !== "string" || !isObject(coordinates as Value)) return name;
  const pieces = Object.entries(coordinates as JsonObject).map(pieceOf);
  return pieces.length === 0 ? name : [recipe, ...pieces].join("__");
}

/** The name that is shown of a run with an effective recipe. */
export function nameByRecipe(name: string, recipe: unknown): string {
  const { metadata } = isObject(recipe as Value) ? recipe as JsonObject : {};
  return isObject(metadata) ? shownName(name, metadata.matrix_recipe, metadata.matrix_selection) : name;
}
