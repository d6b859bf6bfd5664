/**
 * Runs the variants of a matrix in order, one after another or some side by side. The bundle of a completed variant becomes
 * durable while the next one runs. A variant with a verified complete run of the same recipe is reused, so an interrupted
 * matrix can be resumed, and processes that run the same variants at the same time share them. A complete run replaces
 * interrupted and canceled runs of its variant; a damaged run is kept and reported, and the variant runs again.
 */
import { type Diagnostic, diagnostic, messageOf, refusal, SvcError } from "../contract/error.ts";
import { repeatedPart } from "../contract/json.ts";
import { float, isObject, type JsonObject } from "../contract/value.ts";
import type { StepRow } from "../execute/types.ts";
import { methodText } from "../plan/build.ts";
import { estimateOfRuns } from "../plan/estimate.ts";
import { lintSeverity } from "../plan/planner.ts";
import { planMatrix, type PlannedPoint } from "../plan/plan_matrix.ts";
import { expandMatrix, type MatrixExpansion } from "../recipe/expand_matrix.ts";
import { selectPoints } from "../recipe/select_points.ts";
import { coordinatesText } from "../recipe/variant_name.ts";
import type { SummaryDocument } from "../run/bundle_schema.ts";
import { captureEnvironment } from "../run/environment.ts";
import { BundleCommits, type CommitOptions } from "../run/commits.ts";
import { checkOptions } from "../run/execution.ts";
import { metricFindings } from "../run/metric_remarks.ts";
import { keptBy } from "../run/prune.ts";
import { checkResources, writtenResources } from "../run/resources.ts";
import {
  announceWarnings,
  preparedHolds,
  type PreparedRun,
  prepareRun,
  type RunEvent,
  type RunOptions,
  runPrepared,
} from "../run/run.ts";
import { endedRuns } from "../run/index/ended_runs.ts";
import type { EndedRun } from "../run/index/runs.ts";
import { readRunRow, removeRuns, showRun } from "../run/store.ts";
import { verifyRun } from "../run/verify.ts";
import type { Workspace } from "../run/workspace.ts";
import { MatrixPoints } from "./rows/matrix_points.ts";
import { type Place, RowLoop, type RowsOptions } from "./rows/row_loop.ts";

/** Executed variants of a place whose bundles become durable side by side: they share commits of the file system. */
const MOST_ENDING = 8;

/** Events of a matrix: those of its runs, and the ends of variants. */
export type MatrixEvent = RunEvent | {
  kind: "resources_estimated" | "matrix_variant_waiting" | "matrix_variant_started" | "matrix_variant_completed";
  level: "info" | "warning" | "error";
  message: string;
  fields: JsonObject;
};

export interface MatrixRunOptions extends Omit<RunOptions, "onEvent" | "files" | "commits">, RowsOptions {
  /** Selected points, as `selectPoints` reads them; default all. */
  points?: readonly string[];
  /** Whether to run all variants again, also those with a verified complete run; default false. */
  rerun?: boolean;
  /** Whether legacy sweeps are errors instead of warnings. */
  strictLegacy?: boolean;
  /** Writes bundles of short variants on another thread; without it this one does. */
  save?: CommitOptions["save"];
  onEvent?(event: MatrixEvent): void;
}

/** Result of a variant. */
export interface MatrixRow extends JsonObject {
  /** `metadata.matrix_index`. */
  index: number;
  variant_id: string;
  /** Dimension to value. */
  selection: JsonObject;
  recipe_name: string;
  /** Null without a run. */
  run_id: string | null;
  /** `skipped` for a variant that was not started. */
  status: "completed" | "failed" | "canceled" | "skipped";
  /** Whether an existing run was used. */
  reused: boolean;
  /** Interrupted and canceled runs of the variant, removed once it was complete. */
  replaced: string[];
  /** Step id to its metrics. */
  metrics: { [stepId: string]: JsonObject };
  /** Step id to the counts over units of its rates. */
  metric_metadata: { [stepId: string]: JsonObject };
}

export interface MatrixRunResult {
  status: "completed" | "failed" | "canceled";
  recipe_name: string;
  canonical_matrix: MatrixExpansion["canonical_matrix"];
  /** The selected variants, in the order of the matrix. */
  rows: MatrixRow[];
  /** Warnings and infos of compiler and planner, a warning for each damaged run, and remarks on metrics. */
  diagnostics: Diagnostic[];
}

/**
 * Runs the variants of a recipe with a matrix. All variants are compiled and all new ones planned before the first
 * starts. The worker limit applies to each variant.
 * @returns how each variant ended; without `continueOnError` none starts after a failed one
 * @throws SvcError `execution_invalid`, `recipe_invalid` or `plan_invalid` with all diagnostics,
 *   `matrix_definition_invalid` without a matrix, `usage_invalid` for unknown points; nothing is written before these
 *   errors
 */
export async function runMatrix(options: MatrixRunOptions): Promise<MatrixRunResult> {
  const { onEvent = () => {} } = options;
  const { parallelPoints } = checkOptions(options);
  const { expansion, points, diagnostics } = await prepare(options);
  announceWarnings(diagnostics, onEvent);
  const digests = points.map(({ planned: { plan } }) => String(plan.recipe.sha256));
  using runner = await PointRunner.open({ ...options, parallelPoints }, digests);
  onEvent(estimateOfRuns(
    points.map(({ planned: { plan } }) => plan).filter(({ recipe }) => !runner.has(String(recipe.sha256)))
      .map(({ resources }) => ({ resources, count: 1 })),
  ));
  const { rows, damaged } = await runner.run(points, expansion.points.length);
  const failed = rows.some(({ status }) => status === "failed");
  return {
    status: options.cancellation.isCancelled ? "canceled" : failed ? "failed" : "completed",
    recipe_name: expansion.recipe!.name,
    canonical_matrix: expansion.canonical_matrix,
    rows,
    diagnostics: [
      ...diagnostics,
      ...damaged,
      ...rows.flatMap(({ metrics }, at) => {
        const steps = Object.entries(metrics).map(([id, metrics]) => ({ id, metrics }));
        return metricFindings(steps, () => points[at].planned.recipe.steps, ["rows", at, "metrics"]);
      }),
    ],
  };
}

/** Runs planned points, of a matrix or of a search, or finds their stored runs. */
export class PointRunner implements Disposable {
  readonly #options: PointOptions;
  readonly #known: MatrixPoints;
  readonly #commits: BundleCommits;
  /** Interrupted and canceled runs by the digest of their effective recipe. */
  readonly #unfinished: ReadonlyMap<string | null, readonly EndedRun[]>;
  readonly #loop: RowLoop<void>;
  /** Number of all points, for messages. */
  #count = 0;

  /** Reads the stored runs. @param of digests of the effective recipes of all points; left out where they follow later */
  static async open(
    options: MatrixRunOptions & { parallelPoints: number },
    of?: readonly string[],
  ): Promise<PointRunner> {
    const { onEvent = () => {}, workspace } = options;
    const environment = repeatedPart(options.environment ?? await captureEnvironment(workspace.projectRoot));
    return new PointRunner({ ...options, environment, onEvent }, await endedRuns(workspace, of));
  }

  private constructor(options: PointOptions, stored: readonly EndedRun[]) {
    const { workspace, share, save, rerun, parallelPoints, cancellation } = options;
    this.#options = options;
    this.#known = new MatrixPoints(workspace);
    this.#commits = new BundleCommits(workspace, { share, save });
    this.#loop = new RowLoop(parallelPoints, (1 + MOST_ENDING) * parallelPoints, cancellation);
    if (!rerun) this.#known.add(stored.filter(({ status }) => status === "completed"));
    this.#unfinished = Map.groupBy(
      stored.filter(({ status }) => status === "incomplete" || status === "canceled"),
      ({ effective_recipe_sha256 }) => effective_recipe_sha256,
    );
  }

  /** Whether there is a completed run of an effective recipe. */
  has(sha256: string): boolean {
    return this.#known.runsOf(sha256).length > 0;
  }

  /** @param count number of all points, for messages. @returns a row for each point, and a warning for each damaged run */
  async run(points: readonly PlannedPoint[], count: number): Promise<{ rows: MatrixRow[]; damaged: Diagnostic[] }> {
    this.#count = count;
    const rows = points.map(({ index, variant_id, selection, recipe }): MatrixRow => ({
      index,
      variant_id,
      selection,
      recipe_name: recipe.name,
      run_id: null,
      status: "skipped",
      reused: false,
      replaced: [],
      metrics: {},
      metric_metadata: {},
    }));
    const damaged: Diagnostic[] = [];
    await this.#loop.runAll(
      points.entries().map(([at, point]) => ({
        key: String(at),
        run: (place) => this.#complete(point, rows[at], damaged, place),
      })),
    );
    return { rows, damaged };
  }

  /** Runs or finds a point. Its events are held until the point before in its place is complete. */
  async #complete(point: PlannedPoint, row: MatrixRow, damaged: Diagnostic[], place: Place): Promise<void> {
    const { workspace, onEvent, cancellation, continueOnError, rerun } = this.#options;
    const held: MatrixEvent[] = [];
    let receive: Emit = (event) => void held.push(event);
    const emit: Emit = (event) => receive(event);
    place.before.then(() => {
      receive = onEvent;
      held.forEach(onEvent);
    });
    const sha256 = String(point.planned.plan.recipe.sha256);
    // A run that is made again shares nothing with those of other processes.
    const lock = rerun
      ? undefined
      : await this.#known.lock(sha256, cancellation, () => this.#report("matrix_variant_waiting", row, emit));
    if (lock === null) return;
    let wallTime: number | undefined;
    try {
      const onDamaged = (runId: string, why: string) => damaged.push(this.#reportDamaged(row, runId, why, emit));
      const found = rerun ? null : await completedRun(workspace, this.#known.runsOf(sha256), point, onDamaged);
      if (found !== null) {
        Object.assign(row, { run_id: found.run_id, status: "completed", reused: true, ...found.metrics });
        this.#report("matrix_variant_started", row, emit);
      } else {
        const startedAt = performance.now();
        await this.#execute(point, row, emit, place);
        wallTime = (performance.now() - startedAt) / 1000;
        if (row.status === "completed") this.#known.complete(sha256, row.run_id!);
      }
      if (row.status === "completed") this.#replace(sha256, row);
    } finally {
      lock?.release();
    }
    await place.before;
    this.#report("matrix_variant_completed", row, onEvent, wallTime);
    if (row.status === "failed" && !continueOnError) this.#loop.stop();
  }

  async #execute(point: PlannedPoint, row: MatrixRow, emit: Emit, { cancellation, free }: Place): Promise<void> {
    try {
      const result = await runPrepared(await this.#prepared(point), {
        ...this.#options,
        commits: this.#commits,
        cancellation,
        sharedProcess: this.#options.parallelPoints > 1 ? () => true : this.#options.sharedProcess,
        onExecuted: ({ status }) => status === "completed" && free(),
        onEvent: (event) => {
          if (event.kind === "run_created") {
            row.run_id = String(event.fields.run_id);
            this.#report("matrix_variant_started", row, emit);
          }
          emit({ ...event, fields: { ...event.fields, ...this.#pointOf(point.index) } });
        },
      });
      row.status = result.status;
      Object.assign(row, metricsOf(result.summary));
      if (result.status === "failed") {
        const { code } = (result.summary.failure ?? {}) as { code?: string };
        row.error = { code: code ?? "run_failed", message: String(result.summary.error ?? "") };
      }
    } catch (error) {
      // A variant refused now, for example because an input file is gone, fails alone; other errors are defects.
      if (!(error instanceof SvcError)) throw error;
      row.status = "failed";
      row.error = { code: error.code, message: messageOf(error) };
    }
  }

  /** The plan of a point, made again where files or artifacts changed since all points were planned. */
  async #prepared({ compilation, planned, recipe, locate }: PlannedPoint): Promise<PreparedRun> {
    const { normalized, authored_sha256, effective, seed_policy } = compilation;
    const prepared: PreparedRun = {
      authored: normalized!,
      authored_sha256: authored_sha256!,
      effective: effective!,
      seed_policy: seed_policy!,
      planned,
    };
    return await preparedHolds(prepared, this.#options)
      ? prepared
      : await prepareRun({ ...this.#options, raw: recipe, locate });
  }

  /** Removes the interrupted and canceled runs of a complete variant. */
  #replace(sha256: string, row: MatrixRow): void {
    const ids = this.#unfinished.get(sha256)?.map(({ run_id }) => run_id) ?? [];
    const replaced = ids.filter((id) => {
      try {
        const { workspace } = this.#options, status = readRunRow(workspace, id)?.status;
        return (status === "incomplete" || status === "canceled") && removeRuns(workspace, [id]).length > 0;
      } catch (error) {
        // Removed meanwhile, or read by another process: it is no part of this matrix any more.
        if (!(error instanceof SvcError)) throw error;
        return false;
      }
    });
    row.replaced = replaced;
  }

  #reportDamaged(row: MatrixRow, runId: string, why: string, emit: Emit): Diagnostic {
    const message = `Cannot reuse ${runId}, so variant ${row.index + 1} runs again: ${why}`;
    const hint = `svc runs verify ${runId} shows the damage; svc runs remove ${runId} removes the run`;
    const found = diagnostic("variant_run_damaged", [], message, { hint, severity: "warning" });
    announceWarnings([found], emit);
    return found;
  }

  /** Distinguishes the events of variants that run side by side. */
  #pointOf(index: number): JsonObject {
    return this.#options.parallelPoints === 1 ? {} : { point: index };
  }

  #report(
    kind: "matrix_variant_waiting" | "matrix_variant_started" | "matrix_variant_completed",
    row: MatrixRow,
    emit: Emit,
    wallTime?: number,
  ): void {
    const { index, variant_id, run_id, status, reused } = row, count = this.#count;
    const ended = kind === "matrix_variant_completed", begun = kind === "matrix_variant_started";
    const did = ended ? status : begun ? "started" : "waits for another process that runs it";
    emit({
      kind,
      level: ended && status === "failed" ? "error" : ended && status === "canceled" ? "warning" : "info",
      message: `Variant ${index + 1} of ${count} (${coordinatesText(row.selection)}) ${did}`,
      fields: {
        index,
        count,
        variant_id,
        run_id,
        ...this.#pointOf(index),
        ...(ended ? { status, reused } : {}),
        ...(wallTime === undefined ? {} : { wall_time_s: float(wallTime) }),
      },
    });
  }

  [Symbol.dispose](): void {
    this.#commits[Symbol.dispose]();
    this.#known[Symbol.dispose]();
  }
}

type Emit = (event: MatrixEvent) => void;
type PointOptions = MatrixRunOptions & Required<Pick<MatrixRunOptions, "onEvent" | "parallelPoints">>;

/** Expands, selects and plans. */
async function prepare(options: MatrixRunOptions) {
  const { raw, mode, registry, locate, strictLegacy } = options;
  const expansion = expandMatrix(raw, { mode, registry, locate, strictLegacy });
  const { authored, canonical_matrix: { source }, diagnostics } = expansion;
  if (expansion.status === "invalid") {
    throw refusal(
      "recipe_invalid",
      authored.status === "invalid" ? "Cannot compile the recipe" : "Cannot compile the points of the matrix",
      diagnostics,
    );
  }
  if (expansion.points.length === 0) {
    const [message, hint] = source === "none"
      ? ["Cannot run a matrix: the recipe has none", "Run it with svc recipe run"]
      : [`Cannot run a matrix: metadata.${source} names nothing to sweep`, "Write metadata.matrix"];
    throw new SvcError("matrix_definition_invalid", message, { hint, diagnostics });
  }
  const wanted = options.points === undefined ? expansion.points : selectPoints(expansion.points, options.points);
  const { runner, backend, implementation, readiness, usePlanCache, planCache: cache } = options;
  const lint = lintSeverity(options);
  const planning = { registry, runner, backend, implementation, readiness, usePlanCache, cache, lint };
  const plan = await planMatrix(expansion, planning, wanted);
  if (plan.status === "refused") {
    throw refusal("plan_invalid", "Cannot plan the points of the matrix", plan.diagnostics);
  }
  if (!options.ignoreEstimate) {
    for (const { planned } of plan.points) {
      const written = writtenResources(planned.plan, planned.recipe, keptBy(options));
      checkResources(written, options.workspace.stateDir, options.readFree);
    }
  }
  return { expansion, points: plan.points, diagnostics: plan.diagnostics };
}

/**
 * An unaltered complete run of the same effective recipe, bound to the same entries, sources, adapters and trained artifacts.
 * @param ids completed runs of the recipe
 * @param onDamaged receives the id of each run that does not verify, and the first problem
 */
async function completedRun(
  workspace: Workspace,
  ids: readonly string[],
  { planned: { plan } }: PlannedPoint,
  onDamaged: (runId: string, why: string) => void,
) {
  for (const run_id of ids) {
    try {
      const { summary } = showRun(workspace, run_id);
      if (summary.effective_recipe_sha256 !== plan.recipe.sha256) continue;
      const entries = summary.steps.map(({ execution_binding }) => methodText(execution_binding));
      if (plan.steps.some((step, index) => methodText(step) !== entries[index])) continue;
      const { status, errors } = await verifyRun(workspace, run_id);
      if (status === "valid") return { run_id, metrics: metricsOf(summary) };
      const [problem] = errors;
      if (problem !== undefined) onDamaged(run_id, `${problem.file}: ${problem.message}`);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      if (error.code !== "run_not_found") onDamaged(run_id, messageOf(error));
    }
  }
  return null;
}

/** Metrics of all steps, and the counts of their rates. */
function metricsOf({ steps }: SummaryDocument): Pick<MatrixRow, "metrics" | "metric_metadata"> {
  const counted = ({ metadata }: StepRow) => metadata.metric_metadata;
  return {
    metrics: Object.fromEntries(steps.map(({ id, metrics }) => [id, metrics])),
    metric_metadata: Object.fromEntries(
      steps.flatMap((step) => isObject(counted(step)) ? [[step.id, counted(step) as JsonObject]] : []),
    ),
  };
}
