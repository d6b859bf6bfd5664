/**
 * What a list shows of a recipe. It is the same on every machine, save whether the needs are met; so that of shipped recipes
 * is stored by the digest of the file, and a list compiles only other files.
 */
import { join } from "node:path";
import { programFolder } from "../artifact/program.ts";
import { parseJson } from "../contract/json.ts";
import type { Registry } from "../contract/registry.ts";
import { isObject } from "../contract/value.ts";
import { inspectProfile } from "../plan/profile_inspect.ts";
import { type RecipeFacets, recipeFacets } from "../plan/recipe_facets.ts";
import { runNeeds } from "../plan/run_readiness.ts";
import { STORED_FACTS } from "../recipe/recipe_files.ts";
import type { Compilation } from "../recipe/types.ts";
import { declaredTask } from "../research/specs.ts";
import { inferTask } from "../research/tasks.ts";
import type { AuthoredRecipe } from "./authored_recipe.ts";

/** Of a recipe that has no normal form. */
export const NO_FACTS = {
  name: null,
  description: null,
  step_count: 0,
  metadata: {},
  purpose: null,
  execution_profile: null,
  execution_profile_report: null,
  needs: null,
  facets: null,
  status: "invalid",
} as const;

/** Members that need the normal form of the recipe are null where there is none. */
export function recipeFacts(source: AuthoredRecipe, compilation: Compilation, registry: Registry) {
  const { effective, normalized, status, diagnostics } = compilation;
  const form = effective ?? normalized;
  const named = isObject(source.value) && typeof source.value.name === "string" ? source.value.name : null;
  if (form === null) return { ...NO_FACTS, name: named, diagnostics };
  const { name, description, steps, metadata, execution_profile } = form;
  const { reference, status: fit, stage_bindings, issues } = inspectProfile(execution_profile, steps);
  return {
    name,
    description: typeof description === "string" ? description : null,
    step_count: steps.length,
    metadata,
    purpose: declaredTask(form) ?? inferTask(steps.map(({ op }) => op)),
    execution_profile,
    execution_profile_report: { reference, status: fit, stage_bindings, issues },
    // Requirements are read from checked parameters.
    needs: effective === null ? null : runNeeds(steps, registry),
    facets: effective === null ? null : recipeFacets(effective, { registry }) satisfies RecipeFacets,
    status,
    diagnostics,
  };
}

export type RecipeFacts = ReturnType<typeof recipeFacts>;

/** The facts of a file, and the digest of its recipe. */
export interface FileFacts {
  recipe_sha256: string;
  facts: RecipeFacts;
}

/** Of shipped recipes, by the digest of the file; empty where the program has no folder. */
export async function storedFacts(): Promise<ReadonlyMap<string, FileFacts>> {
  const folder = programFolder();
  if (folder === null) return new Map();
  const stored = parseJson(await Deno.readTextFile(join(folder, STORED_FACTS))) as { [sha256: string]: unknown };
  return new Map(Object.entries(stored) as [string, FileFacts][]);
}
