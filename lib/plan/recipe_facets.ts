/** Properties by which a list of recipes is filtered: channels, codes, and whether a trained network runs. */
import { matrixFacts } from "../contract/matrix_edits.ts";
import type { Registry } from "../contract/registry.ts";
import { LEARNED_ARTIFACT } from "../contract/slot.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { modelRequests } from "./models.ts";

export interface RecipeFacets {
  /** Presets of the channel and other operations of the medium; empty without one. */
  channels: string[];
  /** Families of channel codes: `nr_ldpc`, `turbo`. */
  codes: string[];
  learned: boolean;
  /** Ids of the operations, each once. */
  operations: string[];
}

/** Encoders that protect, and links that stand for an ideal code. */
const CODE = /^channel\.(?!identity_)(?:(\w+)_encoder|(unequal_error_protection|capacity_oracle)(?:_digital_link)?)$/;

/** @param recipe effective recipe, whose matrix is read too */
export function recipeFacets(recipe: RecipeDocument, { registry }: { registry: Registry }): RecipeFacets {
  const { dimensions, bindings } = matrixFacts(recipe),
    valuesOf = (id: string, param: string) => {
      const bound = bindings.find(({ stepId, param: name }) => stepId === id && name === param);
      return dimensions.find(({ name }) => name === bound?.dimension)?.values;
    };
  const channels = recipe.steps.flatMap(({ id, op, params }) => {
    if (!op.startsWith("wireless.")) return [];
    return op === "wireless.channel" ? valuesOf(id, "channel") ?? [params.channel] : [op.slice("wireless.".length)];
  });
  const codes = recipe.steps.flatMap(({ op }) => CODE.exec(op)?.slice(1).filter(Boolean) ?? []);
  const learned = dimensions.some(({ values }) => values.includes(LEARNED_ARTIFACT)) ||
    recipe.steps.some(({ op, params }) => {
      const operation = registry.find(op)?.operation;
      return Object.values(params).includes(LEARNED_ARTIFACT) ||
        operation !== undefined && modelRequests(operation, params).length > 0;
    });
  return {
    channels: [...new Set(channels.map(String))],
    codes: [...new Set(codes)],
    learned,
    operations: [...new Set(recipe.steps.map(({ op }) => op))],
  };
}
