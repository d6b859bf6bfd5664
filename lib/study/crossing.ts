/**
 * The value of one parameter at which a rate reaches a target, or at which the paired difference of two recipes does, by
 * bisection. Each point is run again and again, with other seeds, until its confidence interval lies on one side of the
 * target. The result is a bracket; nothing else is searched.
 *
 * A point is looked at after 1, 2, 4, 8, … runs (a difference after 4, 8, …). Look j of a point has the error probability
 * a / (K j (j + 1)), where 1 - a is the confidence of the search and K the largest number of its points. By Bonferroni all
 * decisions are right with probability 1 - a at least, however often the runs are looked at, and then the bracket contains a
 * crossing. Intervals are those of rates (`rate_interval.ts`) and of paired differences (`inference.ts`).
 *
 * Run r of a point has the master seed of the recipe for r = 0, else SHA-256 of `<seed>|replicate|<r>` modulo 2^31 - 1, as do
 * seeds of its steps. The points share their noise, and so do steps of two recipes with the same id.
 */
import { type Diagnostic, refusal, SvcError } from "../contract/error.ts";
import { recordedRate } from "../contract/metric_metadata.ts";
import { didYouMean, nearestName } from "../contract/nearest.ts";
import {
  cloneValue,
  type Float,
  float,
  isInteger,
  isNumber,
  type JsonObject,
  toNumber,
  type Value,
} from "../contract/value.ts";
import { estimateText, numberText, type ShownEstimate } from "../figure/number_text.ts";
import { crossingBetween, type CurvePoint } from "../numeric/scores/crossing.ts";
import { pairedDifference } from "../numeric/scores/inference.ts";
import { pooledRate, type RateCounts, rateEstimate } from "../numeric/scores/rate_interval.ts";
import { lookedAtOnce, programSources } from "../plan/implementation_source.ts";
import type { PlannedPoint } from "../plan/plan_matrix.ts";
import { lintSeverity, planRecipe } from "../plan/planner.ts";
import { compileRecipe } from "../recipe/compile.ts";
import { seedNode } from "../recipe/seeds.ts";
import type { Locate, RecipeDocument } from "../recipe/types.ts";
import { hasUnresolvedMatrix, variantId } from "../recipe/variant.ts";
import { variantNames } from "../recipe/variant_name.ts";
import { stepMetrics } from "../research/evaluations.ts";
import { checkOptions } from "../run/execution.ts";
import { type MatrixRow, type MatrixRunOptions, PointRunner } from "./run_matrix.ts";
import { releasedSeed, releaseStreams } from "./pack/seeds.ts";

/** Runs of a point before it counts as undecided. */
const MAX_RUNS = 1024;
const CONFIDENCE = 0.95;
/** Runs before the first look at a difference: an exact test of fewer pairs decides nothing. */
const LEAST_PAIRS = 4;

/** What is searched for. */
export interface CrossingQuery {
  /** The parameter, as `step.parameter`. */
  over: string;
  /** Its smallest and largest value; integers with an integer resolution search among integers. */
  between: readonly [Value, Value];
  /** Width of the bracket at which the search ends. */
  resolution: Value;
  /** Target of a rate, inside 0 … 1. */
  untilBler?: number;
  /** Target of the difference of the recipe and `against`. */
  untilDifference?: number;
  /** The other recipe of a difference. */
  against?: { raw: unknown; locate?: Locate; name?: string };
  /** Id of the metric, or `steps.<step>.<metric>`; default the block error rate of the recipe. */
  metric?: string;
  /** Runs of a point before it counts as undecided; default 1024. */
  maxRuns?: number;
}

/** Options of a search: how its points run, and what is searched for. */
export interface CrossingOptions
  extends Omit<MatrixRunOptions, "points" | "continueOnError" | "strictLegacy" | "rerun" | "onEvent">, CrossingQuery {
  onEvent?(event: Parameters<NonNullable<MatrixRunOptions["onEvent"]>>[0] | CrossingEvent): void;
}

type CrossingEvent = {
  kind: "crossing_point_completed";
  level: "info" | "warning";
  message: string;
  fields: JsonObject;
};

/** Where a point lies. */
export type Side = "above" | "below" | "undecided";

/** A point of the search. */
export interface CrossingPoint extends JsonObject {
  value: Value;
  side: Side;
  /** Of each recipe. */
  runs: number;
  /** Rate or difference; null for a rate without events. */
  mean: number | Float | null;
  /** The interval that decided, or the last one, at `confidence_level`; null without one. */
  ci_low: number | Float | null;
  ci_high: number | Float | null;
  /** Of a rate without events. */
  upper_bound: number | Float | null;
  confidence_level: number | Float;
  /** Of a rate. */
  events: number | null;
  trials: number | null;
  run_ids: string[];
}

export interface CrossingResult {
  /**
   * `found` with a bracket of the resolution; `not_between` if both ends lie on one side; `undecided` if a point is, with the
   * bracket so far.
   */
  status: "found" | "not_between" | "undecided" | "failed" | "canceled";
  recipe_name: string;
  /** Name of the other recipe of a difference. */
  against: string | null;
  over: string;
  metric: string;
  target: number | Float;
  /** The values on both sides of the crossing; null without any. */
  bracket: [Value, Value] | null;
  /** The crossing between the ends of the bracket, linear in the logarithm of a rate; null without their values. */
  estimate: number | Float | null;
  /** Of the bracket, over all decisions. */
  confidence_level: number | Float;
  /** In the order of the search. */
  points: CrossingPoint[];
  error: { code: string; message: string } | null;
  diagnostics: Diagnostic[];
}

/**
 * Searches for a crossing. A run that is stored already is used, so that an interrupted search is resumed by the same call.
 * @returns the bracket with all points
 * @throws SvcError `usage_invalid` for a query that cannot be searched, `recipe_invalid` or `plan_invalid` with every
 *   diagnostic; nothing is written before these errors, but one run before that of a metric that it does not report
 */
export async function findCrossing(options: CrossingOptions): Promise<CrossingResult> {
  const { parallelPoints } = checkOptions(options);
  const search = new Search(options, parallelPoints);
  return await search.run();
}

/** A recipe of the search. */
interface Method {
  recipe: RecipeDocument;
  locate?: Locate;
  metric: string;
  /** The step that reports the metric. */
  step: string;
}

class Search {
  readonly #options: CrossingOptions;
  readonly #parallel: number;
  readonly #target: number;
  readonly #resolution: number;
  readonly #whole: boolean;
  readonly #maxRuns: number;
  readonly #methods: Method[];
  readonly #points: CrossingPoint[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  #sources: ReturnType<typeof lookedAtOnce> | undefined;
  #runner: PointRunner | undefined;
  #error: CrossingResult["error"] = null;
  #count = 0;

  constructor(options: CrossingOptions, parallel: number) {
    this.#options = options;
    this.#parallel = parallel;
    const { untilBler, untilDifference, against, between: [from, to], resolution, maxRuns = MAX_RUNS, raw, locate } =
      options;
    const refuse = (message: string, hint: string): never => {
      throw new SvcError("usage_invalid", message, { hint });
    };
    if ((untilBler === undefined) === (untilDifference === undefined)) {
      refuse("Cannot search without one target", "Give --until-bler or --until-difference");
    }
    if ((untilDifference === undefined) !== (against === undefined)) {
      refuse("Cannot search a difference without two recipes", "Give --until-difference and --against together");
    }
    this.#target = (untilBler ?? untilDifference)!;
    if (untilBler !== undefined && !(untilBler > 0 && untilBler < 1)) {
      refuse(`Cannot reach the rate ${untilBler}`, "Give a rate inside 0 … 1, such as 1e-3");
    }
    if (!Number.isFinite(this.#target)) refuse("Cannot search for this target", "Give a finite number");
    if (![from, to, resolution].every(isNumber)) {
      refuse("Cannot search between values that are no numbers", "Write 0:12");
    }
    const [low, high] = [toNumber(from as number), toNumber(to as number)];
    this.#resolution = toNumber(resolution as number);
    if (!(low < high)) refuse(`Cannot search between ${low} and ${high}`, "Give the smaller value first, as in 0:12");
    if (!(this.#resolution > 0)) {
      refuse(`Cannot search with the resolution ${this.#resolution}`, "Give a positive number");
    }
    if (!(Number.isSafeInteger(maxRuns) && maxRuns >= 1)) refuse(`Cannot make ${maxRuns} runs`, "Give at least 1");
    this.#whole = [from, to, resolution].every((value) => isInteger(value));
    this.#maxRuns = maxRuns;
    this.#methods = [
      this.#method(raw, locate),
      ...(against === undefined ? [] : [this.#method(against.raw, against.locate)]),
    ];
  }

  /** Compiles a recipe, and finds parameter and metric in it. */
  #method(raw: unknown, locate: Locate | undefined): Method {
    const { registry, mode = "strict", over, metric: wanted } = this.#options;
    const { normalized, effective, status, diagnostics } = compileRecipe(raw, { mode, registry, locate });
    if (status === "invalid" || normalized === null || effective === null) {
      throw refusal("recipe_invalid", "Cannot compile the recipe", diagnostics);
    }
    if (hasUnresolvedMatrix(normalized)) {
      throw new SvcError("matrix_unresolved", `Cannot search over ${over}: ${normalized.name} has a matrix`, {
        hint: "Choose a point with --set dimension=value",
      });
    }
    const [id, name, ...rest] = over.split(".");
    const step = normalized.steps.find((step) => step.id === id);
    if (step === undefined || name === undefined || rest.length > 0) {
      throw new SvcError("usage_invalid", `Cannot find the parameter ${over} in ${normalized.name}`, {
        hint: didYouMean(id, normalized.steps.map(({ id }) => id)) ?? "Write it as step.parameter",
      });
    }
    const known = Object.keys((registry.get(step.op).operation.contract.params_schema.properties ?? {}) as JsonObject);
    if (!known.includes(name)) {
      throw new SvcError("usage_invalid", `Cannot find the parameter ${name} of ${id}`, {
        hint: didYouMean(name, known),
      });
    }
    this.#diagnostics.push(...diagnostics.filter(({ severity }) => severity === "warning"));
    return { recipe: normalized, locate, ...metricOf(effective, wanted) };
  }

  async run(): Promise<CrossingResult> {
    const { between: [from, to], untilBler, cancellation } = this.#options;
    let low = toNumber(from as number), high = toNumber(to as number);
    this.#sources = lookedAtOnce(await programSources());
    // Both ends are planned before anything is written.
    for (const value of [low, high]) await this.#planned(value, 0);
    using runner = await PointRunner.open({ ...this.#options, parallelPoints: this.#parallel, continueOnError: false });
    this.#runner = runner;
    let bracket: [CrossingPoint, CrossingPoint] | null = null, status: CrossingResult["status"] = "found";
    const first = await this.#decide(low), last = first === null ? null : await this.#decide(high);
    if (first !== null && last !== null) {
      if (first.side === "undecided" || last.side === "undecided") status = "undecided";
      else if (first.side === last.side) status = "not_between";
      else bracket = [first, last];
    }
    while (bracket !== null && high - low > this.#width) {
      const middle = this.#whole ? Math.floor((low + high) / 2) : low + (high - low) / 2;
      const point = await this.#decide(middle);
      if (point === null) break;
      if (point.side === "undecided") {
        status = "undecided";
        break;
      }
      if (point.side === bracket[0].side) [low, bracket] = [middle, [point, bracket[1]]];
      else [high, bracket] = [middle, [bracket[0], point]];
    }
    if (this.#error !== null) status = "failed";
    else if (cancellation.isCancelled) status = "canceled";
    return {
      status,
      recipe_name: this.#methods[0].recipe.name,
      against: this.#methods[1]?.recipe.name ?? null,
      over: this.#options.over,
      metric: this.#methods[0].metric,
      target: float(this.#target),
      bracket: bracket === null ? null : [bracket[0].value, bracket[1].value],
      estimate: bracket === null ? null : interpolated(bracket, this.#target, untilBler !== undefined),
      confidence_level: float(CONFIDENCE),
      points: this.#points,
      error: this.#error,
      diagnostics: this.#diagnostics,
    };
  }

  /** Width at which the search ends; sums of binary fractions may miss it by rounding. */
  get #width(): number {
    return Math.max(this.#resolution, this.#whole ? 1 : 0) * (1 + 1e-9);
  }

  /** The largest number of points. */
  get #most(): number {
    const [from, to] = this.#options.between.map((value) => toNumber(value as number));
    return 2 + Math.max(0, Math.ceil(Math.log2((to - from) / this.#width)));
  }

  /** Runs a point until its side is decided. @returns null after a failure or a cancellation */
  async #decide(value: number): Promise<CrossingPoint | null> {
    const isRate = this.#methods.length === 1, rows: MatrixRow[][] = this.#methods.map(() => []);
    let point: CrossingPoint | null = null;
    for (let look = 1, wanted = isRate ? 1 : LEAST_PAIRS;; look++, wanted *= 2) {
      const runs = Math.min(wanted, this.#maxRuns);
      if (!await this.#extend(value, runs, rows)) return null;
      const level = 1 - (1 - CONFIDENCE) / (this.#most * look * (look + 1));
      point = {
        value: this.#valueOf(value),
        runs,
        ...(isRate ? this.#rate(rows[0], level) : this.#difference(rows, level)),
        confidence_level: float(level),
        run_ids: rows.flat().map(({ run_id }) => run_id!),
      };
      if (point.side !== "undecided" || runs === this.#maxRuns) break;
    }
    this.#points.push(point);
    const text =
      `${this.#options.over}=${numberText(value)}: ${estimateText(shown(point))}, ${point.side} after ${point.runs} ` +
      (point.runs === 1 ? "run" : "runs");
    this.#options.onEvent?.({
      kind: "crossing_point_completed",
      level: point.side === "undecided" ? "warning" : "info",
      message: text,
      fields: { value: point.value, side: point.side, runs: point.runs },
    });
    return point;
  }

  /** Runs each recipe at a value until it has so many runs. @returns false after a failure or a cancellation */
  async #extend(value: number, runs: number, rows: MatrixRow[][]): Promise<boolean> {
    const points: PlannedPoint[] = [];
    for (let run = rows[0].length; run < runs; run++) points.push(...await this.#planned(value, run));
    const made = await this.#runner!.run(points, this.#count);
    this.#diagnostics.push(...made.damaged);
    made.rows.forEach((row, at) => rows[at % rows.length].push(row));
    const failed = made.rows.find(({ status }) => status === "failed");
    if (failed !== undefined) this.#error = failed.error as CrossingResult["error"];
    return made.rows.every(({ status }) => status === "completed");
  }

  /** The run of each recipe at a value. */
  async #planned(value: number, run: number): Promise<PlannedPoint[]> {
    const {
      registry,
      mode = "strict",
      runner,
      backend,
      implementation,
      readiness,
      usePlanCache,
      planCache: cache,
      over,
    } = this.#options;
    const points: PlannedPoint[] = [];
    for (const { recipe: base, locate } of this.#methods) {
      const selection = {
        ...base.metadata.matrix_selection as JsonObject | undefined,
        [over]: this.#valueOf(value),
        run,
      };
      const recipe = this.#recipeOf(base, selection, run), variant_id = variantId(selection);
      const compilation = compileRecipe(recipe, { mode, registry, locate });
      if (compilation.status === "invalid") {
        throw refusal("recipe_invalid", `Cannot compile the recipe at ${over}=${value}`, compilation.diagnostics);
      }
      const planned = await planRecipe(compilation, {
        ...{ registry, runner, backend, implementation, readiness, usePlanCache, cache, locate },
        lint: lintSeverity(this.#options),
        implementationSources: this.#sources,
        singleRun: true,
      });
      if (planned.status === "refused") {
        throw refusal("plan_invalid", `Cannot plan the recipe at ${over}=${value}`, planned.diagnostics);
      }
      points.push({ index: this.#count++, variant_id, selection, recipe, compilation, planned, locate });
    }
    return points;
  }

  #valueOf(value: number): Value {
    return this.#whole ? value : float(value);
  }

  #recipeOf(base: RecipeDocument, selection: JsonObject, run: number): RecipeDocument {
    const { over, registry } = this.#options, [id, name] = over.split(".");
    const made = cloneValue(base), variant_id = variantId(selection);
    const coordinates = Object.entries(selection) as [string, Value][];
    const { experiment_seed, ui_seed, ...metadata } = made.metadata;
    const master = metadata.seed ?? experiment_seed ?? ui_seed ?? null;
    made.metadata = {
      ...metadata,
      ...(run === 0 ? (master === null ? {} : { seed: master }) : { seed: releasedSeed((master ?? 0) as number, run) }),
      seed_namespace: metadata.seed_namespace ?? this.#methods[0].recipe.name,
      matrix_selection: selection,
      matrix_variant_id: variant_id,
    };
    [made.name] = variantNames(base.name, [{ coordinates, variant_id }]);
    if (made.name === variant_id) made.metadata.matrix_recipe = base.name;
    for (const step of made.steps) {
      if (step.id === id) step.params[name] = selection[over];
      const isSeeded = seedNode(registry.get(step.op).operation.contract.params_schema) !== undefined;
      if (run > 0 && isSeeded && isInteger(step.params.seed)) step.params.seed = releasedSeed(step.params.seed, run);
    }
    if (run > 0) releaseStreams(made, run);
    return made;
  }

  #rate(rows: readonly MatrixRow[], level: number): Sided {
    const [{ metric, step }] = this.#methods;
    const counts = rows.map(({ metric_metadata }) => recordedRate({ metric_metadata: metric_metadata[step] }, metric));
    const missing = counts.includes(null);
    const all = missing ? null : pooledRate(counts as RateCounts[]);
    const estimate = all === null ? null : rateEstimate(all, level);
    if (all === null || estimate === null) {
      throw new SvcError("usage_invalid", `Cannot count ${metric}: its step reports no counts`, {
        hint: "Name a rate with --metric, such as channel.bler",
      });
    }
    const { mean, low, high, bound } = estimate;
    const end = bound ?? high;
    const side = low !== null && low > this.#target
      ? "above"
      : end !== null && end < this.#target
      ? "below"
      : "undecided";
    return {
      side,
      mean: measure(mean),
      ci_low: measure(bound === undefined ? low : null),
      ci_high: measure(bound === undefined ? high : null),
      upper_bound: measure(bound ?? null),
      events: all.events,
      trials: all.trials,
    };
  }

  #difference(rows: readonly (readonly MatrixRow[])[], level: number): Sided {
    const [mine, theirs] = this.#methods.map(({ metric, step }, at) =>
      rows[at].map(({ metrics }) => {
        const value = metrics[step]?.[metric];
        if (isNumber(value)) return toNumber(value);
        throw new SvcError("usage_invalid", `Cannot compare ${metric}: a run of ${step} does not report it`, {
          hint: "Name another with --metric",
        });
      })
    );
    const { mean, low, high } = pairedDifference(mine.map((value, at) => value - theirs[at]), level);
    const side = low !== null && low > this.#target
      ? "above"
      : high !== null && high < this.#target
      ? "below"
      : "undecided";
    return {
      side,
      mean: measure(mean),
      ci_low: measure(low),
      ci_high: measure(high),
      upper_bound: null,
      events: null,
      trials: null,
    };
  }
}

type Sided = Pick<CrossingPoint, "side" | "mean" | "ci_low" | "ci_high" | "upper_bound" | "events" | "trials">;

const measure = (value: number | null): number | Float | null =>
  value === null || !Number.isFinite(value) ? null : float(value);

/** A point as it is shown. */
export function shown({ mean, ci_low, ci_high, upper_bound }: CrossingPoint): ShownEstimate {
  const number = (value: number | Float | null) => value === null ? null : toNumber(value);
  const bound = number(upper_bound);
  return { mean: number(mean), low: number(ci_low), high: number(ci_high), ...(bound === null ? {} : { bound }) };
}

/** The step that reports a metric. @throws SvcError `usage_invalid` */
function metricOf({ name, steps }: RecipeDocument, wanted: string | undefined): { metric: string; step: string } {
  const reported = steps.flatMap((step) => stepMetrics(step).map((metric) => ({ metric, step: step.id })));
  const ids = [...new Set(reported.map(({ metric }) => metric))];
  const [, id, metric] = /^steps\.([^.]+)\.(.+)$/.exec(wanted ?? "") ?? [];
  if (metric !== undefined && steps.some((step) => step.id === id)) return { metric, step: id };
  const found = reported.filter((one) => wanted === undefined ? /(^|\.)bler$/.test(one.metric) : one.metric === wanted);
  if (found.length === 1) return found[0];
  if (found.length > 1) {
    const places = found.map(({ step, metric }) => `steps.${step}.${metric}`).join(" or ");
    throw new SvcError("usage_invalid", `Ambiguous metric in ${name}: ${found.length} steps report it`, {
      hint: `Add --metric ${places}`,
    });
  }
  const near = wanted === undefined ? null : nearestName(wanted, ids);
  throw new SvcError("usage_invalid", `Cannot find ${wanted ?? "a block error rate"} in ${name}`, {
    hint: near === null ? `Add --metric with one of ${ids.join(", ") || "its metrics"}` : `Did you mean ${near}?`,
  });
}

/** The crossing on the line between two points. */
function interpolated(points: [CrossingPoint, CrossingPoint], target: number, isLog: boolean): number | Float | null {
  const [a, b] = points.map(({ value, mean }): CurvePoint | null =>
    mean === null ? null : [toNumber(value as number), toNumber(mean)]
  );
  const place = a === null || b === null ? null : crossingBetween(a, b, target, isLog);
  return place === null ? null : float(place);
}
