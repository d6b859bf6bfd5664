/**
 * Changing the template under a working copy: the new graph comes whole and no block of the old one stays, while what
 * the author wrote about the experiment as such is kept.
 */
import { sameValue } from "../contract/json.ts";
import { cloneValue, type JsonObject } from "../contract/value.ts";
import type { RecipeDocument } from "../recipe/types.ts";

/** Recipe-wide identity, as opposed to the graph. */
const IDENTITY = ["name", "description", "suite"];

/** Metadata that describes or names parts of a graph, and so belongs to it. All other metadata is protocol. */
const GRAPH_METADATA = new Set([
  "channel_enabled",
  "channel_mode",
  "benchmark_spec",
  "dataset_spec",
  "matrix",
  "matrix_index",
  "matrix_recipe",
  "matrix_selection",
  "matrix_variant_id",
  "metric_specs",
  "rate_count_fixed_point",
  "research",
  "research_stage",
  "resolved_channel_scenario",
  "sweeps",
  "task_id",
  "task_spec",
  "template_provenance",
  "training_performed",
  "ui_configured",
  "ui_sweeps",
]);

/**
 * Replaces a working copy by the instance of another template.
 * @param current the working copy, with the author's edits
 * @param next values of the chosen template
 * @param previous initial values of the working copy; values that still equal them follow the template.
 *   Without it every name, description and protocol field of the working copy counts as the author's
 * @returns a new document: graph, profile and research of `next`, identity and protocol of the author
 */
export function replaceWorkingCopy(
  current: RecipeDocument,
  next: RecipeDocument,
  previous?: RecipeDocument,
): RecipeDocument {
  const authored = (from: JsonObject, before: JsonObject | undefined, keys: string[]) =>
    Object.fromEntries(
      keys.filter((key) => from[key] !== undefined && !(before && sameValue(from[key], before[key])))
        .map((key) => [key, from[key]]),
    );
  const protocol = Object.keys(current.metadata).filter((key) => !GRAPH_METADATA.has(key));
  return cloneValue({
    ...next,
    ...authored(current, previous, IDENTITY),
    metadata: { ...next.metadata, ...authored(current.metadata, previous?.metadata, protocol) },
  });
}
