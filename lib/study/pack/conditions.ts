/**
 * Common conditions: the methods of a cell are compared with the same power, noise, channel, channel knowledge, data
 * and treatment of lost items. Each recipe of a cell has a record of its conditions, and the records of its methods
 * must agree.
 */
import { type Diagnostic, diagnostic } from "../../contract/error.ts";
import { sha256Json } from "../../contract/hash.ts";
import { sameValue } from "../../contract/json.ts";
import { isInteger, isNumber, isObject, type JsonObject, toNumber, type Value } from "../../contract/value.ts";
import type { RecipeDocument, StepDocument } from "../../recipe/types.ts";
import type { Pack, PackEntry } from "./pack.ts";
import { pairedSeed, type Pairing } from "./seeds.ts";

/** The cell of a recipe in comparisons; null if its metadata have none. */
export interface Cell {
  aggregation_cell_id: string | null;
  pairing_id: string | null;
  statistical_unit: string | null;
}

const PAIRING_KEYS = ["pairing_id", "paired_seed", "benchmark_paired_seed"] as const;

/** The cell in the metadata of a recipe. */
export function cellOf({ metadata }: { metadata: JsonObject }): Cell {
  const text = (value: Value | undefined) => typeof value === "string" ? value : isNumber(value) ? String(value) : null;
  const pairing = PAIRING_KEYS.map((key) => text(metadata[key])).find((value) => value !== null);
  return {
    aggregation_cell_id: text(metadata.aggregation_cell_id),
    pairing_id: pairing ?? null,
    statistical_unit: text(metadata.statistical_unit),
  };
}

const conditionsOf = (pack: Pack): JsonObject | null =>
  isObject(pack.metadata.common_conditions) ? pack.metadata.common_conditions : null;

/** Operations with the same seed in every method of a cell. */
function pairedOperations(pack: Pack): string[] {
  const randomness = conditionsOf(pack)?.randomness;
  return isObject(randomness) ? (randomness.paired_operation_ids ?? []) as string[] : [];
}

/** Whether the pack sets the seed of the paired operations of a recipe. */
const isPaired = (pack: Pack, { aggregation_cell_id, pairing_id }: Cell) =>
  pairedOperations(pack).length > 0 && aggregation_cell_id !== null && pairing_id !== null;

/** The steps with an authored seed that the pack does not set itself. */
export function authoredSeeds(pack: Pack, recipe: RecipeDocument): StepDocument[] {
  const paired = isPaired(pack, cellOf(recipe)) ? pairedOperations(pack) : [];
  return recipe.steps.filter(({ op, params }) => isInteger(params.seed) && !paired.includes(op));
}

/** Sets the seed of the paired operations. The recipe is changed in place. */
export function pairSeeds(pack: Pack, recipe: RecipeDocument, replicate: number | null): void {
  const operations = pairedOperations(pack);
  const cell = cellOf(recipe);
  if (!isPaired(pack, cell)) return;
  const pairing: Pairing = {
    benchmark_id: pack.id,
    benchmark_version: pack.version,
    aggregation_cell_id: cell.aggregation_cell_id!,
    pairing_id: cell.pairing_id!,
    ...(replicate === null ? {} : { replicate }),
  };
  const seed = pairedSeed(pairing);
  for (const step of recipe.steps) {
    if (operations.includes(step.op)) step.params = { ...step.params, seed };
  }
}

/** A recipe of the pack with its defaults. */
export interface ConditionedRecipe {
  entry: PackEntry;
  effective: RecipeDocument;
}

/** What a comparison of recipes is made of: entry, method, baseline, cell and selected point. */
export const comparedFacts = ({ entry, effective }: Pick<ConditionedRecipe, "entry" | "effective">) => ({
  id: entry.id,
  method_id: entry.params.method_id,
  baseline_id: entry.params.baseline_id,
  aggregation_cell_id: cellOf(effective).aggregation_cell_id,
  matrix_selection: isObject(effective.metadata.matrix_selection) ? effective.metadata.matrix_selection : {},
});

/** Conditions of a row: the members that its cell shares, and their digest. */
export function conditionEvidence(pack: Pack, effective: RecipeDocument): JsonObject | undefined {
  if (conditionsOf(pack) === null || cellOf(effective).aggregation_cell_id === null) return undefined;
  const identity = comparisonIdentity(pack, effective);
  return { identity, identity_sha256: sha256Json(identity) };
}

const without = (params: JsonObject, ...names: string[]) =>
  Object.fromEntries(Object.entries(params).filter(([name]) => !names.includes(name)));

/** Members of a comparison: data, channel, receiver, failure, power, noise. */
function comparisonIdentity(pack: Pack, { steps }: RecipeDocument): JsonObject {
  const paired = pairedOperations(pack);
  const normalisers = steps.filter(({ op }) => op === "channel.symbol_power_normalize");
  return {
    source: steps.filter(({ op }) => op.startsWith("source.")).map(({ op, params }) => ({
      op,
      params: without(params, "seed", "label"),
    })),
    channel: uniqueValues(
      steps.filter(isChannel).map(({ params }): JsonObject => ({
        snr_db: params.snr_db,
        channel: params.channel ?? params.channel_model ?? null,
      })),
    ),
    receiver: uniqueValues(
      steps.filter((step) => isChannel(step) && step.params.receiver_processing !== undefined).map(({ params }) => ({
        receiver_processing: params.receiver_processing,
        channel_state_mode: params.channel_state_mode ?? "none",
      })),
    ),
    failure: uniqueValues(
      steps.flatMap(({ params }) => FATES.flatMap((name) => params[name] === undefined ? [] : [params[name]])),
    ),
    power: uniqueValues(normalisers.map(({ params }): JsonObject => ({
      normalization_scope: params.normalization_scope,
      target: params.target_power,
    }))),
    paired_seeds: uniqueValues(steps.filter(({ op }) => paired.includes(op)).map(({ params }) => params.seed ?? null)),
  };
}

/** Parameters about the treatment of a lost source item. */
const FATES = ["on_decode_failure", "on_outage"];

/** A step with an Es/N0 parameter: a channel, or a bound of one. */
const isChannel = ({ op, params }: StepDocument) =>
  params.snr_db !== undefined && (op.startsWith("wireless.") || op.startsWith("channel."));

function uniqueValues(values: Value[]): Value[] {
  return values.filter((value, index) => values.findIndex((other) => sameValue(other, value)) === index);
}

/**
 * Checks the common conditions over the recipes of a pack.
 * @returns `pack_common_conditions_violated` at each differing recipe and each invalid declaration
 */
export function checkConditions(pack: Pack, recipes: readonly ConditionedRecipe[]): Diagnostic[] {
  const conditions = conditionsOf(pack);
  if (conditions === null) return [];
  const found: Diagnostic[] = [];
  const violated = (entry: PackEntry, message: string, hint: string | null = null) =>
    found.push(diagnostic("pack_common_conditions_violated", ["recipes", entry.index], message, { hint }));

  const cells = new Map<string, ConditionedRecipe[]>();
  for (const recipe of recipes) {
    const { aggregation_cell_id: cell, pairing_id } = cellOf(recipe.effective);
    if (cell === null) {
      violated(
        recipe.entry,
        `Cannot determine the baseline of ${recipe.entry.id}`,
        "Write params.metadata.aggregation_cell_id",
      );
      continue;
    }
    if (pairedOperations(pack).length > 0 && pairing_id === null) {
      violated(recipe.entry, `Cannot pair the noise of ${recipe.entry.id}`, "Write params.metadata.pairing_id");
    }
    cells.set(cell, [...cells.get(cell) ?? [], recipe]);
    checkPower(recipe, conditions.power, violated);
  }
  for (const [cell, members] of cells) {
    const method = ({ entry }: ConditionedRecipe) => entry.params.method_id ?? entry.id;
    if (new Set(members.map(method)).size < 2) {
      violated(members[0].entry, `Cannot compare anything in the cell ${cell}: it has one method`);
    }
    const [first, ...others] = members.map((member) => ({
      entry: member.entry,
      identity: comparisonIdentity(pack, member.effective),
    }));
    for (const { entry, identity } of others) {
      for (const [member, value] of Object.entries(identity)) {
        const expected = first.identity[member];
        // A method without symbols has no power to normalise; one without noise has no seed to share.
        if (sameValue(value, expected) || isEmptyList(value) || isEmptyList(expected)) continue;
        violated(
          entry,
          `Cannot compare ${entry.id} with ${first.entry.id} in the cell ${cell}: ` +
            `they differ in ${member.replace("_", " ")}`,
          `Give both the same ${member.replace("_", " ")}, or cells of their own`,
        );
      }
    }
  }
  return found;
}

const isEmptyList = (value: Value) => Array.isArray(value) && value.length === 0;

function checkPower(
  { entry, effective }: ConditionedRecipe,
  power: Value | undefined,
  violated: (entry: PackEntry, message: string, hint?: string | null) => void,
): void {
  if (!isObject(power)) return;
  for (const { id, op, params } of effective.steps) {
    if (op !== "channel.symbol_power_normalize") continue;
    if (params.normalization_scope !== power.normalization_scope) {
      violated(
        entry,
        `Cannot compare at ${power.normalization_scope} power: ${id} normalises ${params.normalization_scope}`,
      );
    }
    const [target, wanted] = [params.target_power, power.target];
    if (isNumber(target) && isNumber(wanted) && toNumber(target) !== toNumber(wanted)) {
      violated(entry, `Cannot compare at the power ${toNumber(wanted)}: ${id} normalises to ${toNumber(target)}`);
    }
  }
}
