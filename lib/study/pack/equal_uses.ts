/**
 * Channel uses of compared methods. A comparison is one of methods only where both spend the same channel uses; more than
 * 2 % apart is reported, before a run where parameters determine the number, and with the result.
 */
import { type Diagnostic, diagnostic } from "../../contract/error.ts";
import type { Registry } from "../../contract/registry.ts";
import { isNumber, toNumber } from "../../contract/value.ts";
import { numberText } from "../../figure/number_text.ts";
import { outputSizes } from "../../plan/estimate.ts";
import type { RecipeDocument } from "../../recipe/types.ts";
import { comparedPairs } from "./compare.ts";
import { comparedFacts, type ConditionedRecipe } from "./conditions.ts";
import type { Pack } from "./pack.ts";
import type { BenchmarkResult, ResultRow } from "./types.ts";

/** Relative difference up to which channel uses count as equal. */
const TOLERANCE = 0.02;

/** Counts that a row may have, the first that both rows have is compared. */
const METRICS = ["channel.channel_use_count", "channel.uses_per_pixel"];

/** A pack that compares unequal uses on purpose says so in its metadata. */
const isDeclared = (metadata: Pack["metadata"]) => metadata.channel_uses === "unequal";

type Uses = Readonly<Record<string, number>>;

interface Difference {
  candidate: string;
  baseline: string;
  /** Candidate over baseline. */
  ratio: number;
}

function differences<Recipe extends Parameters<typeof comparedPairs>[0][number]>(
  recipes: readonly Recipe[],
  baselines: readonly string[],
  usesOf: (recipe: Recipe) => Uses,
): Difference[] {
  return comparedPairs(recipes, baselines).flatMap(({ candidate, baseline }) => {
    const [mine, theirs] = [usesOf(candidate), usesOf(baseline)];
    const metric = METRICS.find((id) => mine[id] > 0 && theirs[id] > 0);
    if (metric === undefined) return [];
    const ratio = mine[metric] / theirs[metric];
    if (Math.abs(mine[metric] - theirs[metric]) <= TOLERANCE * Math.max(mine[metric], theirs[metric])) return [];
    return [{ candidate: candidate.id, baseline: baseline.id, ratio }];
  });
}

function messageOf(found: readonly Difference[]): string {
  const [{ candidate, baseline, ratio }] = found;
  const more = found.length === 1 ? "" : `, and ${found.length - 1} more`;
  return `${candidate} has ${numberText(Number(ratio.toPrecision(3)))} times the channel uses of ${baseline}${more}`;
}

/** Warns of compared recipes whose parameters already determine unequal channel uses. */
export function checkChannelUses(pack: Pack, checked: readonly ConditionedRecipe[], registry: Registry): Diagnostic[] {
  if (isDeclared(pack.metadata)) return [];
  const recipes = checked.map(({ entry, effective }) => ({
    ...comparedFacts({ entry, effective }),
    uses: plannedUses(effective, registry),
  }));
  const found = differences(recipes, pack.baselines, ({ uses }) => uses);
  if (found.length === 0) return [];
  const hint = "Give the methods the same budget (channel_uses_per_pixel and fill_budget of model.jpeg_encode), or " +
    "declare channel_uses: unequal in the metadata of the pack";
  const message = `Cannot compare methods at equal channel uses: ${messageOf(found)}`;
  return [diagnostic("channel_uses_differ", ["baselines"], message, { hint, severity: "warning" })];
}

/** Symbols into the channels of a recipe; empty where a shape is unknown. */
function plannedUses({ steps }: RecipeDocument, registry: Registry): Uses {
  const sizes = outputSizes(steps.map((step) => ({ step, params: step.params, registered: registry.get(step.op) })));
  const channels = steps.filter(({ op }) => op === "wireless.channel");
  let uses = 0;
  for (const { inputs } of channels) {
    const shape = sizes.get(inputs.symbols)?.shape;
    if (shape === undefined) return {};
    uses += shape.reduce((product, side) => product * side, 1);
  }
  return channels.length === 0 ? {} : { "channel.channel_use_count": uses };
}

/** The same of a result and the first rows of its recipes, as a sentence; null where compared rows have equal or unknown channel uses. */
export function channelUseRemark(result: BenchmarkResult, rows: readonly ResultRow[] = result.recipes): string | null {
  if (isDeclared(result.benchmark.metadata)) return null;
  const first = new Map<string, ResultRow>();
  for (const row of rows) {
    if (row.status === "completed" && !first.has(row.id)) first.set(row.id, row);
  }
  const recipes = [...first.values()].map((
    { id, method_id, baseline_id, matrix_selection, metrics, aggregation_cell_id },
  ) => ({
    id,
    method_id,
    baseline_id,
    aggregation_cell_id: aggregation_cell_id ?? null,
    matrix_selection,
    uses: Object.fromEntries(
      METRICS.flatMap((name) => isNumber(metrics[name]) ? [[name, toNumber(metrics[name])]] : []),
    ),
  }));
  const found = differences(recipes, result.benchmark.baselines, ({ uses }) => uses);
  return found.length === 0 ? null : `Compared methods have unequal channel uses: ${messageOf(found)}`;
}
