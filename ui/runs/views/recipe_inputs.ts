/** What a step took: which artifacts stand at its inputs, as its recipe wires them. */
import { isObject, type JsonObject } from "../../../lib/contract/value.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { json } from "../fetch_artifact.ts";

/** Reads the effective recipe of a run. @throws Problem */
export const readRecipe = (summary: RunSummary, signal?: AbortSignal): Promise<JsonObject> =>
  json<JsonObject>(`runs/${summary.run_id}/recipe.json`, signal);

/** The artifacts at the inputs of a step, by port. */
export function inputsOf(recipe: JsonObject, step: string, artifacts: readonly Artifact[]): Record<string, Artifact> {
  const steps = Array.isArray(recipe.steps) ? recipe.steps.filter(isObject) : [];
  const inputs = steps.find(({ id }) => id === step)?.inputs;
  if (!isObject(inputs)) return {};
  return Object.fromEntries(
    Object.entries(inputs).flatMap(([port, source]): [string, Artifact][] => {
      const found = artifacts.find((artifact) => `${artifact.step}.${artifact.name}` === source);
      return found === undefined ? [] : [[port, found]];
    }),
  );
}
