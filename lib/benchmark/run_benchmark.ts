/**
 * Runs a benchmark: every recipe of a pack in every replicate, each as an ordinary run.
 *
 * Replicates run in order, and within each the recipes in the order of the pack. The attempt ledger has a row before
 * the next one starts; `result.json` is made from it at the end. So finished rows are never lost, and an interrupted
 * benchmark resumes where it stopped, with the same numbers.
 */
import { join } from "node:path";
import { exists } from "../artifact/path_kind.ts";
import { type Diagnostic, refusal, SvcError } from "../contract/error.ts";
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import { canonicalJson, prettyJson } from "../contract/json.ts";
import type { Registry } from "../contract/registry.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { executePlan } from "../execute/execute.ts";
import { WorkerPool } from "../execute/pool.ts";
import type { CancellationToken } from "../execute/types.ts";
import type { PlanCache } from "../plan/cache.ts";
import { estimateOfRuns } from "../plan/estimate.ts";
import { lintSeverity } from "../plan/planner.ts";
import type { Readiness } from "../plan/types.ts";
import { captureEnvironment } from "../run/environment.ts";
import { checkOptions } from "../run/execution.ts";
import { DISK, replaceFile } from "../run/files.ts";
import { tryLockRun } from "../run/lock.ts";
import { reserveRunId } from "../run/reservation.ts";
import { type KeepOptions, keptSteps, pruneBundle } from "../run/prune.ts";
import { announceWarnings, type RunEvent, type RunOptions } from "../run/run.ts";
import { lockRuns, removeRuns } from "../run/store.ts";
import type { Workspace } from "../run/workspace.ts";
import { Ledger, type LedgerSummary, readLedgerFile, rowKey, summarizeLedger } from "./ledger.ts";
import { exportResult } from "./export.ts";
import { type LoadedPack, type LoadedRecipe, loadPack, packRecord } from "./load_pack.ts";
import { Pruner } from "./prune.ts";
import { replicationArguments, type ReplicationOptions } from "./replication.ts";
import { assembleResult, type BenchmarkEnd, identityOf, type ResultHead, resultText } from "./result.ts";
import { runRow, skippedRow } from "./row.ts";
import { type Sample, sampleOf } from "./samples.ts";
import { stopReason } from "./stop.ts";
import { benchmarkWorkspace, endFields, orderOf, resolveResultId, settleResult } from "./store.ts";
import {
  type BenchmarkResult,
  LEDGER_FILE,
  PACK_RECORD_FILE,
  type Replication,
  RESULT_FILE,
  RESULT_KIND,
  type ResultRow,
  type StopReason,
  type TerminalStatus,
} from "./types.ts";

/** Events of a benchmark: its start with `result_id`, those of its runs, and the ends of its rows. */
export type BenchmarkEvent = RunEvent | {
  kind: "resources_estimated" | "benchmark_started" | "benchmark_row_started" | "benchmark_row_completed";
  level: "info" | "warning" | "error";
  message: string;
  /** recipe_id, replicate, replicates, index, count, status?, run_id, reused? */
  fields: JsonObject;
};

export interface BenchmarkRunOptions extends ReplicationOptions {
  /** File of the pack, or recipe files that form one. */
  pack: string | readonly string[];
  /** The pack as read by `loadPack`; a resumed benchmark reads it again. */
  loaded?: LoadedPack;
  registry: Registry;
  workspace: Workspace;
  readiness?: Readiness;
  backend?: string;
  implementation?: string;
  /** Workers of each run; default 1, or that of a resumed benchmark. */
  parallelWorkers?: number;
  /** Whether to start rows whose estimate does not fit; default false. */
  ignoreEstimate?: boolean;
  /** Whether findings of the lint of links become warnings; default true. */
  lint?: boolean;
  /** Whether these warnings refuse the pack; default false. */
  strictLint?: boolean;
  usePlanCache?: boolean;
  planCache?: PlanCache;
  /** Whether to continue with the next row after a failure; default false. */
  continueOnError?: boolean;
  /** Id of an unfinished result to resume, or a unique prefix. */
  resume?: string;
  /** Whether to keep the runs besides their snapshots; default false. */
  retainBackingRuns?: boolean;
  /** Artifacts of kept runs that are kept after their row is complete; default `all`. */
  keep?: KeepOptions["keep"];
  drop?: KeepOptions["drop"];
  jobId?: string | null;
  cancellation: CancellationToken;
  /** Makes the derived files of the result, by name; default those of `exportResult`. */
  exportReports?(result: BenchmarkResult): Record<string, string>;
  onEvent?(event: BenchmarkEvent): void;
  execute?: RunOptions["execute"];
}

export interface BenchmarkRunResult {
  result: BenchmarkResult;
  /** Absolute path of the result's folder. */
  directory: string;
  /** Warnings of the pack. */
  diagnostics: Diagnostic[];
}

/**
 * Runs or resumes a benchmark.
 * @returns the result: failed and rejected rows are findings in it, and a cancelled benchmark is incomplete
 * @throws SvcError `pack_invalid` with every diagnostic, `execution_invalid`, `result_not_found`,
 *   `benchmark_resume_mismatch`, all before anything is written
 */
export async function runBenchmark(options: BenchmarkRunOptions): Promise<BenchmarkRunResult> {
  const { workspace, registry, readiness, backend, implementation } = options;
  checkOptions(options);
  const earlier = options.resume === undefined ? null : earlierResult(workspace, options.resume);
  const loaded = earlier === null && options.loaded || await loadPack(options.pack, {
    registry,
    projectRoot: workspace.projectRoot,
    planning: { backend, implementation, readiness, lint: lintSeverity(options) },
    ...(earlier === null ? {} : replicationArguments(earlier.replication)),
    ...given({
      replicates: options.replicates,
      untilErrors: options.untilErrors,
      untilHalfwidth: options.untilHalfwidth,
      maxBits: options.maxBits,
    }),
  });
  if (!loaded.valid || loaded.pack === null) {
    throw refusal("pack_invalid", `Cannot use the pack ${options.pack}`, loaded.diagnostics);
  }
  checkKeep(options, loaded, earlier);
  const environment = await captureEnvironment(workspace.projectRoot);
  const benchmark = new Benchmark(options, loaded, environment, earlier);
  try {
    return { ...await benchmark.run(), diagnostics: loaded.diagnostics };
  } finally {
    await benchmark.close();
  }
}

const given = <T extends object>(members: T): Partial<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;

/** @throws SvcError `execution_invalid` for artifacts of runs that are not kept, or of steps that no recipe has */
function checkKeep(options: BenchmarkRunOptions, { recipes }: LoadedPack, earlier: BenchmarkResult | null): void {
  if (options.keep === undefined && options.drop === undefined) return;
  if (!(options.retainBackingRuns || earlier?.storage.backing_run_policy === "retained")) {
    throw new SvcError("execution_invalid", "Cannot select artifacts to keep: the benchmark keeps no runs", {
      hint: "Add --retain-backing-runs",
    });
  }
  keptSteps(options, recipes.flatMap(({ recipe }) => recipe?.steps.map(({ id }) => id) ?? []));
}

/** @throws SvcError `result_not_found`, `benchmark_resume_mismatch` */
function earlierResult(workspace: Workspace, wanted: string): BenchmarkResult {
  const result = settleResult(workspace, resolveResultId(workspace, wanted));
  if (result.status === "running") {
    throw mismatch(`${result.result_id} is still being made`, "Wait for its end, or cancel it");
  }
  if (result.status === "completed") {
    throw mismatch(`${result.result_id} is complete`, "Start it anew without --resume");
  }
  return result;
}

function mismatch(why: string, hint: string): SvcError {
  return new SvcError("benchmark_resume_mismatch", `Cannot resume: ${why}`, { hint });
}

class Benchmark {
  readonly #options: BenchmarkRunOptions;
  readonly #loaded: LoadedPack;
  readonly #environment: JsonObject;
  readonly #resultId: string;
  readonly #directory: string;
  readonly #lock: ReturnType<typeof tryLockRun>;
  /** Closed with the benchmark; null if the caller executes. */
  readonly #pool: WorkerPool | undefined;
  readonly #ledger: Ledger;
  readonly #before: LedgerSummary;
  readonly #head: ResultHead;
  readonly #pruner: Pruner;
  #synced: Promise<void> = Promise.resolve();
  readonly #reused = new Map<string, ResultRow>();
  readonly #samples = new Map<string, Sample[]>();
  readonly #made = new Map<string, number>();
  readonly #stopped = new Map<string, StopReason>();
  #failed: { code: string; message: string } | undefined;
  #rejected = false;

  constructor(
    options: BenchmarkRunOptions,
    loaded: LoadedPack,
    environment: JsonObject,
    earlier: BenchmarkResult | null,
  ) {
    this.#options = options;
    this.#pool = options.execute === undefined ? new WorkerPool() : undefined;
    this.#loaded = loaded;
    this.#environment = environment;
    const { workspace } = options;
    this.#pruner = new Pruner(workspace);
    const places = benchmarkWorkspace(workspace);
    const now = new Date();
    this.#resultId = earlier?.result_id ?? reserveRunId(places, loaded.pack.id, now);
    this.#directory = join(places.runs, this.#resultId);
    this.#lock = tryLockRun(places, this.#resultId);
    if (this.#lock === null) throw mismatch(`${this.#resultId} is still being made`, "Wait for its end, or cancel it");
    const attempt_id = crypto.randomUUID();
    let opened: ReturnType<typeof Ledger.open> | undefined;
    // A new result appears with its first files: they are written in transit, and the folder is renamed.
    const nursery = earlier === null ? join(places.transit, this.#resultId) : this.#directory;
    try {
      Deno.mkdirSync(nursery, { recursive: true });
      opened = Ledger.open(join(nursery, LEDGER_FILE), attempt_id);
      this.#ledger = opened.ledger;
      this.#before = summarizeLedger(opened.state.events);
      const start = this.#startFields(earlier);
      if (earlier !== null) this.#checkSame(this.#before, start);
      const sha256 = this.#begin(earlier, start, opened.state.torn_bytes);
      this.#head = this.#headOf(earlier, attempt_id, now, sha256);
      this.#writeStart(nursery, earlier);
      if (nursery !== this.#directory) Deno.renameSync(nursery, this.#directory);
    } catch (error) {
      opened?.ledger.close();
      this.#lock.release();
      throw error;
    }
  }

  /** The record that must be equal when a benchmark resumes. */
  #startFields(earlier: BenchmarkResult | null): JsonObject {
    const { pack, recipes, replication } = this.#loaded;
    const { parallelWorkers, backend, implementation, retainBackingRuns } = this.#options;
    const before = (earlier?.execution ?? {}) as JsonObject;
    const workers = parallelWorkers ?? Number(before.parallel_workers ?? 1);
    const svc = this.#environment.svc as JsonObject;
    return {
      result_id: this.#resultId,
      pack_sha256: pack.sha256,
      execution: {
        mode: workers > 1 ? "parallel" : "sequential",
        parallel_workers: workers,
        ...given({ backend: backend ?? before.backend, implementation: implementation ?? before.implementation }),
      } as JsonObject,
      build_sha256: svc.build_sha256 ?? null,
      replication,
      storage: {
        backing_run_policy: retainBackingRuns ?? earlier?.storage.backing_run_policy === "retained"
          ? "retained"
          : "pruned_after_snapshot",
      },
      recipes: recipes.map(({ entry, recipe }) => ({
        id: entry.id,
        recipe_sha256: recipe === null ? null : sha256Json(recipe),
      })),
    };
  }

  #checkSame({ start }: LedgerSummary, now: JsonObject): void {
    if (start === null) throw mismatch("its ledger is empty", "Start it anew without --resume");
    const names: [string, string][] = [
      ["pack_sha256", "the pack changed"],
      ["recipes", "a recipe changed"],
      ["execution", "the execution settings differ"],
      ["replication", "the replication differs"],
      ["build_sha256", "svc changed"],
    ];
    const different = names.filter(([name]) => canonicalJson(start.fields[name]) !== canonicalJson(now[name]));
    if (different.length === 0) return;
    throw mismatch(different.map(([, why]) => why).join(", "), "Start it anew without --resume");
  }

  /** @returns the digest of the start event of the benchmark */
  #begin(earlier: BenchmarkResult | null, start: JsonObject, tornBytes: number): string {
    if (earlier === null) return this.#ledger.append("attempt_started", start);
    for (const [key, { row }] of this.#before.rows) {
      if (row.status === "completed") this.#reused.set(key, row as ResultRow);
    }
    this.#ledger.append("attempt_resumed", { reused_rows: this.#reused.size, repaired_bytes: tornBytes });
    this.#sweep();
    return this.#before.start!.sha256;
  }

  /** Removes partial runs of an interrupted row. */
  #sweep(): void {
    const { workspace } = this.#options;
    const kept = new Set([...this.#before.rows.values()].map(({ row }) => row.run_dir === null ? null : row.run_id));
    for (const runId of this.#before.started) {
      if (kept.has(runId) || !exists(join(workspace.runs, runId))) continue;
      removeRuns(workspace, [runId]);
    }
  }

  #headOf(earlier: BenchmarkResult | null, attempt_id: string, now: Date, startSha256: string): ResultHead {
    const { pack, diagnostics, replication } = this.#loaded;
    const start = this.#startFields(earlier);
    const of = (severity: string) => diagnostics.filter((item) => item.severity === severity);
    return {
      schema_version: 1,
      kind: RESULT_KIND,
      result_id: this.#resultId,
      benchmark: identityOf(pack, { errors: of("error"), warnings: of("warning") }),
      status: "running",
      attempt_id,
      attempt_ledger: {
        kind: "svc.benchmark_attempt_ledger",
        relative_path: LEDGER_FILE,
        start_event_sha256: startSha256,
        expected_terminal_status: null,
      },
      created_at_utc: earlier?.created_at_utc ?? now.toISOString(),
      completed_at_utc: null,
      execution: { ...start.execution as JsonObject, continue_on_error: this.#options.continueOnError ?? false },
      storage: start.storage as ResultHead["storage"],
      replication,
      ...(earlier === null ? {} : {
        resume: {
          resumed_at_utc: now.toISOString(),
          earlier_attempt_ids: [
            ...(isObject(earlier.resume) ? earlier.resume.earlier_attempt_ids as string[] : []),
            earlier.attempt_id,
          ],
          reused_rows: this.#reused.size,
        },
      }),
      reports: [],
    };
  }

  #writeStart(directory: string, earlier: BenchmarkResult | null): void {
    const head: BenchmarkResult = { ...this.#head, recipes: [], aggregates: [], comparisons: [] };
    if (earlier === null) {
      const record = packRecord(this.#loaded, this.#options.workspace.projectRoot);
      replaceFile(DISK, join(directory, PACK_RECORD_FILE), prettyJson(record), true);
    }
    replaceFile(DISK, join(directory, RESULT_FILE), resultText(head), true);
  }

  async run(): Promise<{ result: BenchmarkResult; directory: string }> {
    const { replication, recipes } = this.#loaded;
    const { cancellation, onEvent = () => {} } = this.#options;
    const result_id = this.#resultId;
    onEvent({
      kind: "benchmark_started",
      level: "info",
      message: `Benchmark ${result_id} started`,
      fields: { result_id },
    });
    announceWarnings(this.#loaded.diagnostics, onEvent);
    const open = replication !== null && replication.stop_metric !== null;
    const count = open ? replication.min_replicates : replication?.replicates ?? 1;
    onEvent(estimateOfRuns(
      recipes.flatMap(({ resources }) => resources === undefined ? [] : [{ resources, count }]),
      { kept: this.#head.storage.backing_run_policy === "retained", open },
    ));
    for (const loaded of recipes) {
      if (loaded.recipe !== null || this.#before.rows.has(rowKey(loaded.entry.id, 0))) continue;
      await this.#keep(skippedRow(loaded.entry));
    }
    const replicates = replication?.replicates ?? 1;
    rows: for (let replicate = 0; replicate < replicates; replicate++) {
      const left = recipes.filter(({ entry, recipe }) => recipe !== null && !this.#stopped.has(entry.id));
      if (left.length === 0) break;
      for (const loaded of left) {
        if (cancellation.isCancelled) break rows;
        const row = await this.#row(loaded, replicate);
        if (row === null) break rows;
        this.#judge(row, replication);
        if (row.status === "failed" && !this.#options.continueOnError) break rows;
      }
    }
    await this.#synced;
    await this.#pruner.finish();
    return { result: this.#finish(), directory: this.#directory };
  }

  /** @returns null after a cancellation */
  async #row(loaded: LoadedRecipe, replicate: number): Promise<ResultRow | null> {
    const { entry } = loaded;
    const { workspace, registry, onEvent = () => {} } = this.#options;
    const reused = this.#reused.get(rowKey(entry.id, replicate));
    const { recipes, replication } = this.#loaded;
    const place = {
      recipe_id: entry.id,
      replicate,
      replicates: replication?.replicates ?? 1,
      index: entry.index,
      count: recipes.length,
    };
    const report = (kind: "benchmark_row_started" | "benchmark_row_completed", fields: JsonObject) => {
      const failed = fields.status === "failed", rejected = fields.status === "rejected_resource_budget";
      const verb = kind === "benchmark_row_started" ? "started" : String(fields.status).replaceAll("_", " ");
      const level = failed ? "error" : rejected ? "warning" : "info";
      onEvent({ kind, level, message: `${entry.id} r${replicate} ${verb}`, fields: { ...place, ...fields } });
    };
    if (reused !== undefined) {
      report("benchmark_row_started", { run_id: reused.run_id });
      report("benchmark_row_completed", { run_id: reused.run_id, status: reused.status, reused: true });
      return reused;
    }
    this.#pool?.warmUp();
    const runOptions: Omit<RunOptions, "raw"> = {
      registry,
      workspace,
      readiness: this.#options.readiness,
      backend: this.#options.backend,
      implementation: this.#options.implementation,
      ignoreEstimate: this.#options.ignoreEstimate,
      lint: this.#options.lint,
      parallelWorkers: Number(this.#head.execution.parallel_workers),
      usePlanCache: this.#options.usePlanCache,
      planCache: this.#options.planCache,
      environment: this.#environment,
      jobId: this.#options.jobId,
      cancellation: this.#options.cancellation,
      // A run that is removed after its row shares nothing.
      share: this.#head.storage.backing_run_policy === "retained",
      execute: this.#options.execute ?? ((execution) => executePlan({ ...execution, pool: this.#pool })),
      onReserved: (run_id) => {
        this.#ledger.append("row_started", { recipe_id: entry.id, replicate, run_id }, false);
        report("benchmark_row_started", { run_id });
      },
      onEvent,
    };
    const row = await runRow(this.#loaded, loaded, replicate, {
      runOptions,
      directory: this.#directory,
      retain: this.#head.storage.backing_run_policy === "retained",
    });
    if (row === null) return null;
    await this.#keep(row);
    if (row.run_id !== null && row.run_dir === null) await this.#pruner.prune(row.run_id);
    else if (row.run_id !== null && row.status === "completed") this.#pruneArtifacts(row.run_id);
    report("benchmark_row_completed", { run_id: row.run_id, status: row.status });
    return row;
  }

  /** The snapshot of the row has all required artifact data. */
  #pruneArtifacts(runId: string): void {
    const { workspace, keep, drop } = this.#options;
    if (keep === undefined && drop === undefined) return;
    using _lock = lockRuns(workspace, [runId], "prune");
    pruneBundle(workspace, runId, (step) => keep !== "metrics" && !drop?.includes(step), DISK);
  }

  /** Appends the row at once; it is synced while the next row runs, and durable before that one is appended. */
  async #keep(row: ResultRow): Promise<void> {
    await this.#synced;
    this.#ledger.append("row_completed", { row }, false);
    this.#synced = this.#ledger.sync();
    // It is awaited before the next row, and a failure is reported there.
    this.#synced.catch(() => {});
  }

  /** Adds a row to the statistics, and checks whether its recipe has enough replicates. */
  #judge(row: ResultRow, replication: Replication | null): void {
    const { metrics } = this.#loaded.pack;
    if (row.status === "failed") {
      this.#failed ??= { code: row.error!.code, message: `${row.id}: ${row.error!.message}` };
    }
    if (row.status === "rejected_resource_budget") this.#rejected = true;
    const made = (this.#made.get(row.id) ?? 0) + 1;
    this.#made.set(row.id, made);
    if (replication === null || replication.stop_metric === null) return;
    const samples = this.#samples.get(row.id) ?? [];
    this.#samples.set(row.id, samples);
    const sample = sampleOf(row, metrics);
    if (sample !== null) samples.push(sample);
    const metric = metrics.find(({ id }) => id === replication.stop_metric);
    const reason = stopReason(samples, made, replication, metric);
    if (reason === null) return;
    this.#stopped.set(row.id, reason);
    this.#ledger.append("recipe_stopped", { recipe_id: row.id, stop_reason: reason, replicates: made });
  }

  #finish(): BenchmarkResult {
    const canceled = this.#options.cancellation.isCancelled;
    const status: TerminalStatus = this.#failed !== undefined
      ? "failed"
      : canceled
      ? "canceled"
      : this.#rejected
      ? "resource_rejected"
      : "completed";
    const end: BenchmarkEnd = {
      status,
      completed_at_utc: new Date().toISOString(),
      ...(canceled ? { incomplete_reason: "canceled" } : {}),
      ...(this.#failed === undefined ? {} : { error: this.#failed }),
      reports: [],
    };
    // Rows are read again only now: a running benchmark keeps only their statistics.
    const state = summarizeLedger(readLedgerFile(join(this.#directory, LEDGER_FILE)).events);
    const assemble = () => assembleResult(this.#head, state, orderOf(state), end);
    const reports = (this.#options.exportReports ?? exportResult)(assemble());
    end.reports = Object.keys(reports).sort();
    for (const [name, text] of Object.entries(reports)) replaceFile(DISK, join(this.#directory, name), text);
    const result = assemble();
    const text = resultText(result);
    // The ledger first: after an interruption the result is made from its end.
    this.#ledger.append("attempt_ended", endFields(end, sha256Hex(text)));
    replaceFile(DISK, join(this.#directory, RESULT_FILE), text, true);
    DISK.sync(this.#directory);
    return result;
  }

  async close(): Promise<void> {
    this.#pool?.close();
    await this.#synced.catch(() => {});
    this.#ledger.close();
    this.#lock?.release();
  }
}
