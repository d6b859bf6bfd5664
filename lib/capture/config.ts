/**
 * Configuration of a capture: taps, number of records, shards, seeded and spread over a matrix or a
 * sweep. Every member is checked and none is guessed; all that is wrong is said at once.
 */
import { type Diagnostic, diagnostic, type Place, SvcError } from "../contract/error.ts";
import { formatOfKind } from "../contract/kinds.ts";
import { Suggestions } from "../contract/nearest.ts";
import { documentCheck, measure } from "../contract/document.ts";
import type { Registry } from "../contract/registry.ts";
import { isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import { z } from "../contract/zod.ts";
import type { RecipeDocument } from "../recipe/types.ts";

export const SPLITS = ["train", "validation", "test"] as const;
export type Split = typeof SPLITS[number];

const MAX_SAMPLES = 1_000_000;
const MAX_SHARD_SIZE = 100_000;
const MAX_RUNS = 100_000;
const DEFAULT_SHARD_SIZE = 4096;
/** Combinations of a sweep, as many as a matrix may have points. */
const MAX_SWEEP = 256;
/** Name in every shard that holds facts, not an array. */
const RESERVED_TAP = "metadata_json";
/** Two underscores part the name of a tap from that of a further array. */
const TAP_ID = /^(?!.*__)[A-Za-z_][A-Za-z0-9_]{0,63}$/;

const tap = z.strictObject({
  /** Name of its array in the shards. */
  id: z.string(),
  /** `<step>.<output>`. */
  from: z.string(),
  /** Name of an array of the output; all of them when left out, the further ones as `<id>__<name>`. */
  array: z.string().min(1).optional(),
  /** Whether the array of a run is one record, for any shape. */
  record: z.enum(["run"]).optional(),
});
export type Tap = z.infer<typeof tap>;

const count = z.int() as unknown as z.ZodType<number | bigint>;
const splitPlan = z.strictObject({
  total_samples: count,
  /** Of each split; together 100. */
  percentages: z.strictObject({ train: measure, validation: measure, test: measure }),
});
const document = z.strictObject({
  split: z.enum(SPLITS).optional(),
  samples: count.optional(),
  shard_size: count.optional(),
  max_runs: count.optional(),
  seed_mode: z.enum(["increment_run_seed", "fixed_seed", "recipe_seed_plus_shard"]).optional(),
  matrix_mode: z.enum(["inherit", "exclude"]).optional(),
  /** `<step>.<param>` to its values. */
  sweep: z.record(
    z.string(),
    z.array(z.unknown()).min(1).meta({ uniqueItems: true }) as unknown as z.ZodType<Value[]>,
  ).optional(),
  split_plan: splitPlan.optional(),
  taps: z.array(tap).optional(),
});
type Authored = z.infer<typeof document>;
const CODE = "dataset_capture_invalid";
const checkForm = documentCheck(document, CODE);

/** The capture of one split. */
export type CaptureConfig = Required<Omit<Authored, "split_plan" | "samples" | "shard_size" | "max_runs">> & {
  samples: number;
  shard_size: number;
  max_runs: number;
};

export interface SplitPlan {
  total_samples: number;
  percentages: Record<Split, number>;
}

/** Context of a configuration for its reader. */
export interface ConfigContext {
  /** The recipe that is captured, in normalised form. */
  recipe: RecipeDocument;
  registry: Registry;
  /** Place of the configuration, for diagnostics. */
  place?: Place;
  /** The split that was asked for, in place of the one that is written. */
  split?: Split;
  /** The number of records that was asked for, in place of the one that is written. */
  samples?: number;
}

/**
 * Reads the configuration of the capture of one split.
 * @returns the configuration, or all that is wrong with it
 */
export function readCaptureConfig(
  given: JsonObject,
  context: ConfigContext,
): { config: CaptureConfig; diagnostics: [] } | { config: null; diagnostics: Diagnostic[] } {
  const place = context.place ?? ["dataset_capture"];
  const problems = checkForm(given).map((item) => moved(item, place));
  const suggestions = new Suggestions();
  const refuse = (at: Place, message: string, hint: string | null = null) =>
    problems.push(diagnostic(CODE, [...place, ...at], message, { hint }));
  if (problems.length > 0) return { config: null, diagnostics: problems };

  const value = given as Authored;
  const split = context.split ?? value.split ?? "train";
  const plan = value.split_plan === undefined ? null : readSplitPlan(value.split_plan, refuse);
  const number = (key: "samples" | "shard_size" | "max_runs", limit: number, fallback: number): number => {
    if (value[key] === undefined) return fallback;
    const wanted = toNumber(value[key]);
    if (wanted < 1 || wanted > limit) {
      refuse([key], `Cannot use ${wanted} as ${key}`, `Give an integer from 1 to ${limit}`);
    }
    return wanted;
  };
  let samples = number("samples", MAX_SAMPLES, plan === null ? 0 : splitCounts(plan)[split]);
  if (context.samples !== undefined) {
    samples = context.samples;
    if (!Number.isInteger(samples) || samples < 1 || samples > MAX_SAMPLES) {
      refuse(["samples"], `Cannot capture ${samples} records`, `Give an integer from 1 to ${MAX_SAMPLES}`);
    }
  } else if (value.samples === undefined && plan === null) {
    refuse(
      ["samples"],
      "Missing number of records to capture",
      "Give samples (--samples of the command), or a split_plan",
    );
  }
  const taps = readTaps(value.taps ?? [], { ...context, suggestions }, refuse);
  const sweep = value.sweep ?? {};
  checkSweep(sweep, { ...context, suggestions }, refuse);
  const matrix_mode = value.matrix_mode ?? "inherit";
  const matrix = ["matrix", "sweeps", "ui_sweeps"].find((key) => (context.recipe.metadata[key] ?? null) !== null);
  if (Object.keys(sweep).length > 0 && matrix !== undefined && matrix_mode === "inherit") {
    refuse(
      ["sweep"],
      `Cannot sweep a recipe that has metadata.${matrix}`,
      "Set matrix_mode: exclude, or remove the sweep",
    );
  }
  const shard_size = number("shard_size", MAX_SHARD_SIZE, Math.min(samples, DEFAULT_SHARD_SIZE));
  const max_runs = number("max_runs", MAX_RUNS, Math.min(samples, MAX_RUNS));
  if (problems.length > 0) return { config: null, diagnostics: problems };
  return {
    config: {
      split,
      samples,
      shard_size,
      max_runs,
      seed_mode: value.seed_mode ?? "increment_run_seed",
      matrix_mode,
      sweep,
      taps,
    },
    diagnostics: [],
  };
}

type Refuse = (at: Place, message: string, hint?: string | null) => void;
type Lookup = ConfigContext & { suggestions: Suggestions };

function readSplitPlan(given: z.infer<typeof splitPlan>, refuse: Refuse): SplitPlan | null {
  const total_samples = toNumber(given.total_samples);
  const percentages = Object.fromEntries(
    SPLITS.map((split) => [split, toNumber(given.percentages[split])]),
  ) as Record<Split, number>;
  const at = ["split_plan", "total_samples"];
  if (total_samples < SPLITS.length || total_samples > MAX_SAMPLES) {
    refuse(at, `Cannot split ${total_samples} records`, `Give an integer from ${SPLITS.length} to ${MAX_SAMPLES}`);
    return null;
  }
  const sum = SPLITS.reduce((all, split) => all + percentages[split], 0);
  if (Math.abs(sum - 100) > 1e-9 || SPLITS.some((split) => !(percentages[split] > 0))) {
    refuse(["split_plan", "percentages"], "Cannot split by these percentages", "Give three above 0 that sum to 100");
    return null;
  }
  const plan = { total_samples, percentages };
  const empty = SPLITS.find((split) => splitCounts(plan)[split] === 0);
  if (empty !== undefined) refuse(at, `Cannot leave ${empty} without a record`, "Give more samples, or another share");
  return plan;
}

/** Records of each split: shares rounded down, the rest to the largest remainders. Exported for tests. */
export function splitCounts({ total_samples, percentages }: SplitPlan): Record<Split, number> {
  const exact = SPLITS.map((split) => total_samples * percentages[split] / 100);
  const counts = exact.map(Math.floor);
  const order = SPLITS.map((_, index) => index).sort((a, b) =>
    (exact[b] - counts[b]) - (exact[a] - counts[a]) || a - b
  );
  let left = total_samples - counts.reduce((sum, item) => sum + item, 0);
  for (const index of order) if (left-- > 0) counts[index]++;
  return Object.fromEntries(SPLITS.map((split, index) => [split, counts[index]])) as Record<Split, number>;
}

function readTaps(given: Tap[], { recipe, registry, suggestions }: Lookup, refuse: Refuse): Tap[] {
  if (given.length === 0) {
    refuse(["taps"], "Cannot capture without taps", "Name outputs: {id: rx, from: channel.rx_symbols}");
  }
  const seen = new Set<string>();
  return given.map((item, index): Tap => {
    const { id, from } = item;
    const at = ["taps", index];
    if (id === RESERVED_TAP) refuse([...at, "id"], `Cannot use the reserved id ${RESERVED_TAP}`);
    else if (!TAP_ID.test(id)) {
      refuse(
        [...at, "id"],
        `Cannot use ${JSON.stringify(id)} as a tap's id`,
        "Letters, digits and single _ name an array",
      );
    } else if (seen.has(id)) refuse([...at, "id"], `Cannot name two taps ${id}`);
    seen.add(id);
    const place = [...at, "from"];
    const [stepId, port, ...rest] = from.split(".");
    const step = recipe.steps.find((candidate) => candidate.id === stepId);
    if (port === undefined || rest.length > 0) {
      refuse(place, `Cannot read ${JSON.stringify(from)} as an output`, "Write <step>.<output>");
    } else if (step === undefined) {
      refuse(
        place,
        `Cannot find a step named ${stepId}`,
        suggestions.for(stepId, recipe.steps.map((other) => other.id)),
      );
    } else {
      const outputs = registry.find(step.op)?.operation.contract.output_kinds ?? {};
      if (!Object.hasOwn(outputs, port)) {
        refuse(place, `Cannot find the output ${port} of ${stepId}`, suggestions.for(port, Object.keys(outputs)));
      } else if (formatOfKind(outputs[port]) !== "npz") {
        refuse(place, `Cannot capture ${from}: ${outputs[port]} holds no arrays`, "Tap an output of a numpy kind");
      }
    }
    return item;
  });
}

function checkSweep(sweep: Record<string, Value[]>, { recipe, registry, suggestions }: Lookup, refuse: Refuse): void {
  const lengths = Object.values(sweep).map(({ length }) => length);
  const points = lengths.reduce((product, length) => product * length, 1);
  if (points > MAX_SWEEP) {
    refuse(["sweep"], `Cannot sweep over ${points} combinations`, `At most ${MAX_SWEEP} are allowed`);
  }
  for (const key of Object.keys(sweep)) {
    const [stepId, name, ...rest] = key.split(".");
    const step = recipe.steps.find(({ id }) => id === stepId);
    if (name === undefined || rest.length > 0) {
      refuse(["sweep", key], `Cannot read ${JSON.stringify(key)} as a parameter`, "Write <step>.<param>");
    } else if (step === undefined) {
      refuse(
        ["sweep", key],
        `Cannot find a step named ${stepId}`,
        suggestions.for(stepId, recipe.steps.map(({ id }) => id)),
      );
    } else {
      const schema = registry.find(step.op)?.operation.contract.params_schema;
      const names = Object.keys(isObject(schema?.properties) ? schema.properties : {});
      if (!names.includes(name)) {
        refuse(["sweep", key], `Cannot find the parameter ${name} of ${stepId}`, suggestions.for(name, names));
      }
    }
  }
}

/** The refusal of a configuration. */
export function invalidConfig(diagnostics: Diagnostic[]): SvcError {
  const [first] = diagnostics, single = diagnostics.length === 1;
  const message = single ? first.message : `Cannot use the capture configuration: ${diagnostics.length} problems`;
  return new SvcError(CODE, message, { hint: single ? first.hint : null, diagnostics });
}

/** The finding for authored seeds that were removed. */
export function releasedSeeds(steps: readonly string[]): Diagnostic[] {
  if (steps.length === 0) return [];
  const message = `Derived seeds replace the authored seeds of ${steps.join(", ")}`;
  const hint = "With authored seeds every run would repeat the same draws; seed_mode: fixed_seed keeps them";
  return [diagnostic("capture_seed_released", ["dataset_capture"], message, { hint, severity: "warning" })];
}

/** Moves a finding about a document to the place of the document. */
function moved(item: Diagnostic, place: Place): Diagnostic {
  const prefix = diagnostic(item.code, place, item.message);
  return { ...item, path: prefix.path + item.path.slice(1), pointer: prefix.pointer + (item.pointer ?? "") };
}

/** The configuration as the member `dataset_capture` of a capture recipe. */
export function captureDocument({ sweep, taps, ...config }: CaptureConfig): JsonObject {
  return { ...config, ...(Object.keys(sweep).length === 0 ? {} : { sweep }), taps: taps.map((tap) => ({ ...tap })) };
}
