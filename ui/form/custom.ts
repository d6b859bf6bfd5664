/** The profile `custom`, which a recipe has once its topology is its own. */
import { isObject, type JsonObject } from "../../lib/contract/value.ts";

/** A recipe of the profile `custom` that records the standard profile it is based on. */
export function asCustom(recipe: JsonObject): JsonObject {
  const { execution_profile: declared } = recipe;
  const { id = "custom", version = 1 } = typeof declared === "string"
    ? { id: declared }
    : isObject(declared)
    ? declared
    : {};
  if (id === "custom") return recipe;
  return { ...recipe, execution_profile: { id: "custom", version: 1, based_on: { id, version } } };
}
