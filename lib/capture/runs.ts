/** The runs of a capture: each an ordinary recipe with a seed of its own, at one point of the matrix or of the sweep. */
import { refusal, SvcError } from "../contract/error.ts";
import { cloneValue, isInteger, type JsonObject, type Value } from "../contract/value.ts";
import type { Registry } from "../contract/registry.ts";
import { expandMatrix } from "../recipe/expand_matrix.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import type { CaptureConfig } from "./config.ts";

const MASTER_KEYS = ["seed", "experiment_seed", "ui_seed"];

/** A point of the matrix or the sweep. */
export interface CapturePoint {
  /** Dimension, or `<step>.<param>`, to value. */
  selection: JsonObject;
  variant_id: string | null;
  recipe: RecipeDocument;
}

/** The points that runs go through in turn; one, without a selection, where nothing varies. */
export function capturePoints(recipe: RecipeDocument, { sweep }: CaptureConfig, registry: Registry): CapturePoint[] {
  const { dataset_capture: _capture, ...scenario } = recipe;
  const base = scenario as RecipeDocument;
  if (recipe.metadata.matrix !== undefined) {
    const expansion = expandMatrix(base, { registry });
    if (expansion.status === "invalid") {
      throw refusal("recipe_invalid", "Cannot compile the points of the capture", expansion.diagnostics);
    }
    return expansion.points.map(({ selection, variant_id, recipe: point }) => ({
      selection,
      variant_id,
      recipe: { ...point, name: base.name },
    }));
  }
  const combinations = Object.entries(sweep).reduce<[string, Value][][]>(
    (heads, [key, values]) =>
      heads.flatMap((head) => values.map((value) => [...head, [key, value] as [string, Value]])),
    [[]],
  );
  return combinations.map((pairs) => {
    const point = cloneValue(base);
    for (const [key, value] of pairs) {
      const [stepId, name] = key.split(".");
      point.steps.find(({ id }) => id === stepId)!.params[name] = value;
    }
    return { selection: Object.fromEntries(pairs), variant_id: null, recipe: point };
  });
}

/** The master seed of a recipe, 0 where it has none. */
export function masterSeed({ metadata }: RecipeDocument): number | bigint {
  const given = MASTER_KEYS.map((key) => metadata[key] ?? null).find((value) => value !== null);
  return isInteger(given) ? given : 0;
}

/** The seed that a run works with: that of the recipe, rising by run or by shard where it is to. */
export function runSeed(
  master: number | bigint,
  { seed_mode }: CaptureConfig,
  { run, shard }: { run: number; shard: number },
): number | bigint {
  const offset = seed_mode === "fixed_seed" ? 0 : seed_mode === "increment_run_seed" ? run : shard;
  const seed = BigInt(master) + BigInt(offset);
  if (seed >= 2n ** 63n) {
    throw new SvcError("seed_invalid", `Cannot count up from the master seed ${master}`, {
      hint: "Choose a smaller one",
    });
  }
  return seed <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(seed) : seed;
}

/** The recipe of one run. */
export function runRecipeOf(point: CapturePoint, seed: number | bigint, run: number): RecipeDocument {
  const { experiment_seed: _experiment, ui_seed: _ui, ...metadata } = point.recipe.metadata;
  return {
    ...point.recipe,
    name: `${point.recipe.name}_dataset_capture_${String(run).padStart(4, "0")}`,
    metadata: { ...metadata, seed },
  };
}
