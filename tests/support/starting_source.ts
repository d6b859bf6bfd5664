/** The recipe or template that a starting point of the first page is made from. */
import { join } from "node:path";
import type { JsonObject } from "../../lib/contract/value.ts";
import type { Session } from "../../lib/api/session.ts";
import { ROOT_PATH } from "./paths.ts";
import type { StartingPoint } from "../../ui/form/starting_points.ts";
import { readRecipeFile } from "../../lib/recipe/read.ts";

export async function startingSource(svc: Session, { from }: StartingPoint): Promise<JsonObject> {
  if ("template" in from) return (await svc.templates.instantiate(from.template)).recipe as JsonObject;
  return (await readRecipeFile(join(ROOT_PATH, from.recipe))).value as JsonObject;
}
