/** The JSON Schema of recipes for the operations and execution profiles of a program. */
import type { Registry } from "../contract/registry.ts";
import type { JsonObject } from "../contract/value.ts";
import { recipeJsonSchema } from "../recipe/json_schema.ts";
import { profileIds } from "./profiles.ts";

/** The schema printed by `svc schema recipe`. */
export function recipeSchema(registry: Registry): JsonObject {
  return recipeJsonSchema(registry.contracts(), profileIds());
}
