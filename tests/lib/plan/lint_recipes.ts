/** Recipes of the folder lint/, and changes to them. */
import { isObject, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { readYaml } from "../../../lib/recipe/yaml_reader.ts";

type Step = { op?: string; params?: JsonObject; inputs?: JsonObject; after?: Value };
/** Changes to a recipe; null removes a parameter, an input, a step or metadata. */
export interface Change {
  /** Parameters, by `step.parameter`. */
  set?: JsonObject;
  /** Sources of inputs, by `step.input`. */
  wire?: JsonObject;
  /** Steps, by id: a new step comes last or behind the step `after` (null: first); a known one is replaced. */
  steps?: Record<string, Step | null>;
  metadata?: JsonObject;
  execution_profile?: Value;
}
export interface LintCase extends Change {
  title: string;
  /** `severity code at place: part of the hint`; the place begins with a step id or with $. */
  finds?: string[];
}
export interface LintGroup {
  recipe: { execution_profile?: Value; metadata: JsonObject; steps: Record<string, Step> };
  cases: LintCase[];
  /** Changes that wire one input to a stream that its profile refuses. */
  miswired?: Change[];
}
export type Recipe = {
  name: string;
  execution_profile?: Value;
  metadata: JsonObject;
  steps: (Step & { id: string })[];
};

const folder = new URL("lint/", import.meta.url);
const groups = new Map(
  [...Deno.readDirSync(folder)].map(({ name }) => name).sort().map((name) => {
    const { value } = readYaml(Deno.readTextFileSync(new URL(name, folder)), name);
    return [name.replace(".yaml", ""), value as unknown as LintGroup];
  }),
);
export const lintGroups = (): ReadonlyMap<string, LintGroup> => groups;

function merged(known: JsonObject = {}, changes: JsonObject = {}): JsonObject {
  return Object.fromEntries(Object.entries({ ...known, ...changes }).filter(([, value]) => value !== null));
}
/** Changes of one step out of those written `step.name`. */
const ofStep = (changes: JsonObject = {}, id: string): JsonObject =>
  Object.fromEntries(
    Object.entries(changes).filter(([name]) => name.startsWith(`${id}.`)).map((
      [name, v],
    ) => [name.slice(id.length + 1), v]),
  );

/** The recipe of a group with changes. */
export function lintRecipeOf(group: string, change: Change = {}): Recipe {
  const { recipe } = groups.get(group)!, { set, wire, steps = {} } = change;
  const list = Object.entries(recipe.steps).filter(([id]) => steps[id] !== null && !isObject(steps[id]?.after)).map((
    [id, step],
  ) => ({ id, ...steps[id] ?? step }));
  for (const [id, step] of Object.entries(steps)) {
    if (step === null) continue;
    const { after, ...rest } = step;
    const index = list.findIndex((known) => known.id === id);
    if (index >= 0) {
      if (after === undefined) continue;
      list.splice(index, 1);
    }
    const place = after === undefined ? list.length : list.findIndex((known) => known.id === after) + 1;
    list.splice(place, 0, { id, ...rest });
  }
  const { execution_profile = recipe.execution_profile } = change;
  return {
    name: "changed",
    ...(execution_profile === undefined ? {} : { execution_profile }),
    metadata: merged(recipe.metadata, change.metadata),
    steps: list.map((step) => ({
      ...step,
      params: merged(step.params, ofStep(set, step.id)),
      inputs: merged(step.inputs, ofStep(wire, step.id)),
    })),
  };
}
