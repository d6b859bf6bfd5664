/**
 * Runs a benchmark: every recipe of a pack in every replicate, each as an ordinary run.
 *
 * Replicates run in order, and within each the recipes in the order of the pack. Rows are appended to the attempt ledger
 * in this order, and `result.json` is made from it at the end. So finished rows are never lost, and an interrupted
 * benchmark resumes where it stopped, with the same numbers.
 *
 * Rows may run side by side. Later ones then start early and wait for their place in the order; one that the sequence
 * never reaches, because its recipe stopped or a row failed, is discarded. So the rows are those of a sequential run.
 */
import { inside, type InsidePath, makeFolder, moveEntry } from "../artifact/inside.ts";
import { join } from "node:path";
import { exists } from "../artifact/path_kind.ts";
import { type Diagnostic, diagnostic, SvcError } from "../contract/error.ts";
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import { prettyJson, repeatedPart, sameValue } from "../contract/json.ts";
import type { JsonObject } from "../contract/value.ts";
import type { CancellationToken } from "../execute/types.ts";
import { estimateOfRuns } from "../plan/estimate.ts";
import { lookedAtOnce, programSources, type SourceHashes } from "../plan/implementation_source.ts";
import { lintSeverity } from "../plan/planner.ts";
import { captureEnvironment } from "../run/environment.ts";
import { checkOptions, type RecordedExecution } from "../run/execution.ts";
import { DISK, NOT_DURABLE, replaceFile } from "../run/files.ts";
import { tryLockRun } from "../run/lock.ts";
import { isRunId, reserveRunId } from "../run/reservation.ts";
import { type KeepOptions, keptArtifacts, keptBy, pruneBundle } from "../run/prune.ts";
import { announceWarnings, type RunEvent, type RunOptions } from "../run/run.ts";
import { lockRuns, removeRuns } from "../run/store.ts";
import type { Workspace } from "../run/workspace.ts";
import { EvidenceWriter } from "./rows/evidence.ts";
import { exportFiles } from "./report/export.ts";
import { isOfShard, Ledger, type LedgerIndex, rowKey, type Shard } from "./rows/ledger.ts";
import type { ValidationRecord } from "./pack/card.ts";
import { checkPack, type LoadedPack, type LoadedRecipe, loadPack, packRecord } from "./pack/load_pack.ts";
import { Pruner } from "./rows/prune.ts";
import { replicationArguments, type ReplicationOptions } from "./pack/replication.ts";
import { assembleResult, type BenchmarkEnd, identityOf, type ResultHead } from "./rows/result.ts";
import { type MadeRow, runRow, skippedRow } from "./rows/row.ts";
import { RowLoop, type RowsOptions, type StartableRow } from "./rows/row_loop.ts";
import { RowChecks } from "./rows/row_checks.ts";
import { countsOf, plannedRows } from "./rows/stored_rows.ts";
import {
  checkShardRows,
  checkShards,
  DEFAULT_WAVE,
  incompleteShards,
  missingRows,
  refuseOldRows,
  ShardedRows,
  type ShardOptions,
  shardResult,
  shardWorkspace,
} from "./rows/shards.ts";
import { Progress } from "./rows/progress.ts";
import { stopReason } from "./rows/stop.ts";
import { benchmarkWorkspace, endFields, resolveResultId, settleResult } from "./rows/store.ts";
import {
  type BenchmarkResult,
  LEDGER_FILE,
  PACK_RECORD_FILE,
  type Replication,
  RESULT_FILE,
  RESULT_KIND,
  type ResultRow,
  SCHEMA_VERSION,
  type StartFields,
  type StopReason,
  type TerminalStatus,
} from "./pack/types.ts";

/** Events of a benchmark: its start with `result_id`, those of its runs, and the ends of its rows. */
export type BenchmarkEvent = RunEvent | {
  kind: "resources_estimated" | "benchmark_started" | "benchmark_row_started" | "benchmark_row_completed";
  level: "info" | "warning" | "error";
  message: string;
  /** recipe_id, replicate, replicates, index, count, status?, run_id, reused? */
  fields: JsonObject;
};

export interface BenchmarkRunOptions extends
  ReplicationOptions,
  RowsOptions,
  Pick<
    RunOptions,
    | "registry"
    | "workspace"
    | "readiness"
    | "backend"
    | "implementation"
    | "ignoreEstimate"
    | "lint"
    | "strictLint"
    | "usePlanCache"
    | "planCache"
    | "jobId"
    | "cancellation"
    | "execute"
  > {
  /** File of the pack, or recipe files that form one. */
  pack: string | readonly string[];
  /** The pack as read by `loadPack`; a resumed benchmark reads it again. */
  prepared?: LoadedPack;
  /** Workers of each run; default 1, or that of a resumed benchmark. */
  parallelWorkers?: number;
  /** Id of an unfinished result to resume, or a unique prefix. */
  resume?: string;
  /** Whether to keep the runs besides their snapshots; default false. */
  retainBackingRuns?: boolean;
  /** Artifacts of kept runs that are kept after their row is complete; default `all`. */
  keep?: KeepOptions["keep"];
  drop?: KeepOptions["drop"];
  /** Runs the rows of one shard alone. */
  shard?: ShardOptions;
  /** Takes the rows from shards instead of executing them. */
  source?: ShardedRows;
  /** Id of a new result; default from the name of the pack and the time. */
  resultId?: string;
  onEvent?(event: BenchmarkEvent): void;
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
  const earlier = options.resume === undefined ? null : earlierResult(workspace, options.resume, options.shard);
  const loaded = earlier === null && options.prepared || await loadPack(options.pack, {
    registry,
    projectRoot: workspace.projectRoot,
    planning: { backend, implementation, readiness, lint: lintSeverity(options) },
    quick: (earlier?.benchmark.metadata.validation as ValidationRecord | undefined)?.quick,
    ...(earlier === null ? {} : replicationArguments(earlier.replication)),
    ...given({
      replicates: options.replicates,
      untilErrors: options.untilErrors,
      untilHalfwidth: options.untilHalfwidth,
      maxBits: options.maxBits,
    }),
  });
  checkPack(loaded, options.pack);
  checkKeep(options, loaded, earlier);
  const environment = await captureEnvironment(workspace.projectRoot);
  const benchmark = new Benchmark(options, loaded, environment, lookedAtOnce(await programSources()), earlier);
  try {
    return { ...await benchmark.run(), diagnostics: benchmark.diagnostics };
  } finally {
    await benchmark.close();
  }
}

/** Options of a shard: those of a benchmark, its place, and its folder. */
export type ShardRunOptions = Omit<BenchmarkRunOptions, "resume" | "source" | "resultId"> & {
  shard: ShardOptions;
  /** Folder of the shard; one that holds its result already is resumed. */
  out: string;
};

/**
 * Runs the rows of one shard, or those that its folder lacks.
 * @returns the result of these rows alone
 * @throws SvcError as {@link runBenchmark}; `execution_invalid` for an impossible place
 */
export async function runShard({ out, ...options }: ShardRunOptions): Promise<BenchmarkRunResult> {
  const { index, count } = options.shard;
  if (!(index >= 0 && index < count)) {
    throw new SvcError("execution_invalid", `Cannot run the shard ${index} of ${count}`, {
      hint: `--index counts from 0 to ${count - 1}`,
    });
  }
  const workspace = shardWorkspace(options.workspace, out);
  return await runBenchmark({ ...options, workspace, resume: shardResult(workspace.stateDir)?.id });
}

/** Options of a merge. */
export type MergeOptions = Pick<
  BenchmarkRunOptions,
  "pack" | "registry" | "workspace" | "readiness" | "lint" | "cancellation" | "onEvent" | "resultId"
>;

/**
 * Makes the result of shards: that of one machine which ran all rows.
 * @param folders those of the shards
 * @throws SvcError `pack_invalid`, `shard_conflict` for shards that do not belong together, `shard_incomplete` with the
 *   missing rows; nothing is written then
 */
export async function mergeShards(folders: readonly string[], options: MergeOptions): Promise<BenchmarkRunResult> {
  const { workspace, registry, readiness, resultId } = options;
  if (resultId !== undefined && !isRunId(resultId)) {
    throw new SvcError("usage_invalid", `Cannot name a result ${JSON.stringify(resultId).slice(0, 100)}`, {
      hint: "A time and a word, as in --into 20260101T000000Z_my_result; without --into the name is chosen",
    });
  }
  const source = new ShardedRows(folders);
  const first = source.firstStart();
  const { backend, implementation, parallel_workers: parallelWorkers } = (first?.execution ?? {}) as RecordedExecution;
  const loaded = await loadPack(options.pack, {
    registry,
    projectRoot: workspace.projectRoot,
    planning: { backend, implementation, readiness, lint: lintSeverity(options) },
    ...replicationArguments(first?.replication ?? null),
  });
  checkPack(loaded, options.pack);
  const { svc } = await captureEnvironment(workspace.projectRoot) as { svc: JsonObject };
  source.follow(loaded.pack.metrics);
  const start = checkShards(source, folders, {
    pack_sha256: loaded.pack.sha256,
    build_sha256: svc.build_sha256 as string | null ?? null,
    recipes: recipesOfStart(loaded),
    methods: methodsOfStart(loaded),
    replication: loaded.replication,
  });
  const runnable = loaded.recipes.filter(({ recipe }) => recipe !== null).map(({ entry }) => entry.id);
  const missing = missingRows(source, runnable, loaded.replication, loaded.pack.metrics);
  if (missing.count > 0) throw incompleteShards(missing);
  checkShardRows(source, new RowChecks({ pack: loaded.pack, recipes: loaded.recipes, start, registry }));
  const begun = resultId !== undefined && exists(join(benchmarkWorkspace(workspace).runs, resultId));
  // An interrupted merge is resumed.
  if (begun && !["incomplete", "canceled"].includes(settleResult(workspace, resultId).status)) {
    throw new SvcError("shard_conflict", `Cannot merge into ${resultId}: there is such a result`);
  }
  return await runBenchmark({
    ...options,
    ...given({ backend, implementation, parallelWorkers }),
    prepared: loaded,
    source,
    resume: begun ? resultId : undefined,
    continueOnError: true,
    execute: () => Promise.reject(new SvcError("internal_error", "A merge executes nothing")),
  });
}

/** The recipes of a benchmark in its first event. */
function recipesOfStart({ recipes }: LoadedPack): StartFields["recipes"] {
  return recipes.map(({ entry, recipe }) => ({
    id: entry.id,
    recipe_sha256: recipe === null ? null : sha256Json(recipe),
  }));
}

/** Digest of the implementations of all recipes: rows of other code are no replicates. */
const methodsOfStart = ({ recipes }: LoadedPack): string =>
  sha256Json(recipes.map(({ method_sha256 }) => method_sha256 ?? null));

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
  keptArtifacts(options, recipes.flatMap(({ recipe }) => recipe?.steps.map(({ id }) => id) ?? []));
}

/** @throws SvcError `result_not_found`, `benchmark_resume_mismatch`, `result_schema_old` */
function earlierResult(workspace: Workspace, wanted: string, shard: Shard | undefined): BenchmarkResult {
  const result = settleResult(workspace, resolveResultId(workspace, wanted));
  if (result.status === "running") {
    throw mismatch(`${result.result_id} is still being made`, "Wait for its end, or cancel it");
  }
  // A shard that is complete may have to make more replicates.
  if (result.status === "completed" && shard === undefined) {
    throw mismatch(`${result.result_id} is complete`, "Start it anew without --resume");
  }
  refuseOldRows(result, `resume ${result.result_id}`);
  return result;
}

function mismatch(why: string, hint: string): SvcError {
  return new SvcError("benchmark_resume_mismatch", `Cannot resume: ${why}`, { hint });
}

/** A recipe in a replicate; its row is null after a cancellation. */
interface RecipeRow extends StartableRow<MadeRow | null> {
  recipeId: string;
  runId: string | null;
}

/** Rows that run or wait to be taken, per row that may run at once: a long row does not stop the others. */
const AHEAD = 4;

class Benchmark {
  readonly #options: BenchmarkRunOptions;
  #loaded: LoadedPack;
  /** Place of each row of a replicate; an entry with a matrix has several. */
  readonly #places: ReadonlyMap<string, number>;
  readonly #environment: JsonObject;
  readonly #resultId: string;
  readonly #directory: InsidePath;
  readonly #lock: ReturnType<typeof tryLockRun>;
  readonly #ledger: Ledger;
  readonly #evidence: EvidenceWriter;
  readonly #head: ResultHead;
  readonly #pruner: Pruner;
  readonly #parallel: number;
  /** Looked at once: the code of operations is loaded once, too. */
  readonly #sources: SourceHashes;
  readonly #loop: RowLoop<MadeRow | null, RecipeRow>;
  #synced: Promise<void> = Promise.resolve();
  /** Tried replicates of each recipe, and the statistics that decide when it stops. */
  readonly #progress: Progress;
  readonly #stopped = new Map<string, StopReason>();
  #peers: ShardedRows | undefined;
  #failed: { code: string; message: string } | undefined;
  #rejected = false;

  constructor(
    options: BenchmarkRunOptions,
    loaded: LoadedPack,
    environment: JsonObject,
    sources: SourceHashes,
    earlier: BenchmarkResult | null,
  ) {
    this.#options = options;
    const parallel = this.#parallel = checkOptions(options).parallelPoints;
    this.#loop = new RowLoop(parallel, parallel === 1 ? 1 : AHEAD * parallel, options.cancellation);
    this.#sources = sources;
    this.#loaded = loaded;
    this.#progress = new Progress(loaded.pack.metrics, loaded.replication);
    this.#places = new Map(loaded.recipes.map(({ entry }, place) => [entry.id, place]));
    this.#environment = repeatedPart(environment);
    const { workspace } = options;
    this.#pruner = new Pruner(workspace);
    const places = benchmarkWorkspace(workspace);
    const now = new Date();
    this.#resultId = earlier?.result_id ?? options.resultId ??
      reserveRunId(places, loaded.pack.id, now, options.shard !== undefined);
    this.#directory = inside(places.runs, this.#resultId);
    this.#lock = tryLockRun(places, this.#resultId);
    if (this.#lock === null) throw mismatch(`${this.#resultId} is still being made`, "Wait for its end, or cancel it");
    const attempt_id = crypto.randomUUID();
    let opened: Ledger | undefined;
    // A new result appears with its first files: they are written in transit, and the folder is renamed.
    const nursery = inside(earlier === null ? places.transit : places.runs, this.#resultId);
    try {
      makeFolder(nursery);
      this.#ledger = opened = Ledger.open(inside(nursery, LEDGER_FILE), attempt_id);
      if (earlier !== null) this.#keepReplicates(opened.index);
      const start = this.#startFields(earlier);
      if (earlier !== null) this.#checkSame(start);
      this.#evidence = new EvidenceWriter(this.#directory, opened.index.evidence);
      const reused = this.#begin(earlier, start);
      this.#head = this.#headOf(earlier, attempt_id, now, reused);
      this.#writeStart(nursery, earlier);
      if (nursery !== this.#directory) moveEntry(nursery, this.#directory);
      this.#ledger.index.path = inside(this.#directory, LEDGER_FILE);
    } catch (error) {
      opened?.close();
      this.#lock.release();
      throw error;
    }
  }

  /** The record that must be equal when a benchmark resumes. */
  #startFields(earlier: BenchmarkResult | null): StartFields {
    const { pack, replication } = this.#loaded;
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
      build_sha256: (svc.build_sha256 ?? null) as string | null,
      replication,
      ...(this.#options.shard === undefined
        ? {}
        : { shard: { index: this.#options.shard.index, count: this.#options.shard.count } }),
      storage: {
        backing_run_policy: retainBackingRuns ?? earlier?.storage.backing_run_policy === "retained"
          ? "retained"
          : "pruned_after_snapshot",
      },
      recipes: recipesOfStart(this.#loaded),
      methods: methodsOfStart(this.#loaded),
    };
  }

  get diagnostics(): Diagnostic[] {
    return this.#loaded.diagnostics;
  }

  /** Replicates that have a row stay: choosing their number by their values would bias every interval. */
  #keepReplicates(index: LedgerIndex): void {
    const { replication, diagnostics } = this.#loaded, made = index.replicateCount;
    if (replication === null || replication.replicates >= made) return;
    const message =
      `Cannot shrink to ${replication.replicates} replicates: rows of ${made} exist, and all of them count`;
    const found = diagnostic("replicate_exists", ["replication", "replicates"], message, { severity: "warning" });
    this.#loaded = {
      ...this.#loaded,
      replication: { ...replication, replicates: made },
      diagnostics: [...diagnostics, found],
    };
  }

  #checkSame(now: StartFields): void {
    const { start } = this.#ledger.index;
    if (start === null) throw mismatch("its ledger is empty", "Start it anew without --resume");
    // Fewer replicates are no other benchmark; a shard has those of its peers.
    const before = this.#ledger.index.limited(start.fields.replication), wanted = now.replication?.replicates ?? 1;
    const replication = before === null || now.shard !== undefined
      ? before
      : { ...before, replicates: Math.min(before.replicates, wanted) };
    const names: [keyof StartFields, string][] = [
      ["pack_sha256", "the pack changed"],
      ["recipes", "a recipe changed"],
      ["execution", "the execution settings differ"],
      ["replication", "the replication differs"],
      ["build_sha256", "svc changed"],
      ["methods", "the code of an operation, an adapter or a trained artifact changed"],
      ["shard", "it is another shard"],
    ];
    const expected: StartFields = { ...start.fields, replication };
    const different = names.filter(([name]) => !sameValue(expected[name] ?? null, now[name] ?? null));
    if (different.length === 0) return;
    throw mismatch(different.map(([, why]) => why).join(", "), "Start it anew without --resume");
  }

  /** @returns the number of rows to reuse */
  #begin(earlier: BenchmarkResult | null, start: StartFields): number {
    if (earlier === null) {
      this.#ledger.append("attempt_started", start);
      return 0;
    }
    this.#sweep();
    const { completed } = countsOf(earlier), { index } = this.#ledger;
    const before = index.limited(index.start!.fields.replication)?.replicates, now = start.replication?.replicates;
    this.#ledger.append("attempt_resumed", {
      reused_rows: completed,
      repaired_bytes: index.tornBytes,
      ...(before === now ? {} : { replicates: now }),
    });
    return completed;
  }

  /** Removes partial runs of an interrupted row. */
  #sweep(): void {
    const { workspace } = this.#options;
    for (const runId of this.#ledger.index.leftovers()) {
      if (exists(join(workspace.runs, runId))) removeRuns(workspace, [runId]);
    }
  }

  #headOf(earlier: BenchmarkResult | null, attempt_id: string, now: Date, reused: number): ResultHead {
    const { pack, diagnostics, replication } = this.#loaded;
    const start = this.#startFields(earlier);
    const of = (severity: string) => diagnostics.filter((item) => item.severity === severity);
    return {
      schema_version: SCHEMA_VERSION,
      kind: RESULT_KIND,
      result_id: this.#resultId,
      benchmark: identityOf(pack, { errors: of("error"), warnings: of("warning") }),
      status: "running",
      attempt_id,
      attempt_ledger: {
        kind: "svc.benchmark_attempt_ledger",
        relative_path: LEDGER_FILE,
        start_event_sha256: this.#ledger.index.start!.sha256,
        expected_terminal_status: null,
      },
      created_at_utc: earlier?.created_at_utc ?? now.toISOString(),
      completed_at_utc: null,
      execution: { ...start.execution, continue_on_error: this.#options.continueOnError ?? false },
      storage: start.storage,
      replication,
      ...(earlier === null ? {} : {
        resume: {
          resumed_at_utc: now.toISOString(),
          earlier_attempt_ids: [
            ...earlier.resume?.earlier_attempt_ids ?? [],
            earlier.attempt_id,
          ],
          reused_rows: reused,
        },
      }),
      reports: [],
    };
  }

  #writeStart(directory: string, earlier: BenchmarkResult | null): void {
    const head: BenchmarkResult = { ...this.#head, recipes: [], aggregates: [], comparisons: [] };
    if (earlier === null) {
      const record = packRecord(this.#loaded, this.#options.workspace.projectRoot);
      replaceFile(DISK, inside(directory, PACK_RECORD_FILE), prettyJson(record), true);
    }
    replaceFile(DISK, inside(directory, RESULT_FILE), prettyJson(head), true);
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
      if (loaded.recipe !== null || !this.#isOwn(loaded, 0) || this.#ledger.index.has(loaded.entry.id, 0)) continue;
      await this.#keep(skippedRow(loaded.entry));
    }
    const replicates = replication?.replicates ?? 1;
    try {
      rows: for (let replicate = 0; replicate < replicates; replicate++) {
        await this.#endWave(replicate);
        if (this.#left().length === 0) break;
        const left = this.#left(replicate);
        for (const [at, loaded] of left.entries()) {
          if (cancellation.isCancelled) break rows;
          const reused = this.#isReused(loaded.entry.id, replicate);
          const row = await this.#row(loaded, replicate, this.#startable(left.slice(at), replicate, replicates));
          if (row === null) break rows;
          await this.#judge(row, replication);
          this.#reportEnd(loaded, row, reused);
          if (row.status === "failed" && !this.#options.continueOnError) break rows;
        }
      }
    } finally {
      await this.#discard();
    }
    await this.#synced;
    await this.#pruner.finish();
    return { result: this.#finish(), directory: this.#directory };
  }

  /** @returns null after a cancellation */
  async #row(loaded: LoadedRecipe, replicate: number, following: Iterator<RecipeRow>): Promise<ResultRow | null> {
    const { entry } = loaded;
    const reused = this.#isReused(entry.id, replicate) ? this.#ledger.index.row(entry.id, replicate) : null;
    if (reused !== null) {
      this.#report(loaded, replicate, "benchmark_row_started", { run_id: reused.run_id });
      return reused;
    }
    if (this.#options.source !== undefined) return await this.#take(loaded, replicate, this.#options.source);
    const made = await this.#loop.take(rowKey(entry.id, replicate), following);
    if (made === null) return null;
    const { row, snapshot, stored } = made;
    // Snapshots stand in the order of the rows, and only those of rows that are kept.
    if (snapshot !== null) row.run_evidence_snapshot = { ...await this.#evidence.write(row, snapshot) };
    await this.#keep(row);
    if (stored && row.run_id !== null && row.run_dir === null) await this.#pruner.prune(row.run_id);
    else if (row.run_id !== null && row.status === "completed") this.#pruneArtifacts(row.run_id);
    return row;
  }

  /** Takes a row from the shards; its run, if it was kept, is not in this state directory. */
  async #take(loaded: LoadedRecipe, replicate: number, source: ShardedRows): Promise<ResultRow> {
    const recipe_id = loaded.entry.id, found = source.row(recipe_id, replicate);
    if (found === null) throw incompleteShards({ count: 1, rows: [{ recipe_id, replicate }], least: replicate + 1 });
    const { snapshot } = found, row: ResultRow = { ...found.row, run_dir: null };
    this.#report(loaded, replicate, "benchmark_row_started", { run_id: row.run_id });
    if (snapshot !== null) row.run_evidence_snapshot = { ...this.#evidence.append(snapshot) };
    await this.#keep(row);
    return row;
  }

  #isReused(recipeId: string, replicate: number): boolean {
    return this.#ledger.index.statusOf(recipeId, replicate) === "completed";
  }

  /** The end of a row, with the progress of its recipe. */
  #reportEnd(loaded: LoadedRecipe, { id, replicate, run_id, status }: ResultRow, reused: boolean): void {
    const progress = this.#progress.of(id), stopped = this.#stopped.get(id);
    this.#report(loaded, replicate, "benchmark_row_completed", {
      run_id,
      status,
      ...(reused ? { reused } : {}),
      ...(progress === null ? {} : { progress }),
      ...(stopped === undefined ? {} : { stop_reason: stopped }),
    });
  }

  #report(
    { entry }: LoadedRecipe,
    replicate: number,
    kind: "benchmark_row_started" | "benchmark_row_completed",
    fields: JsonObject,
  ): void {
    const { recipes, replication } = this.#loaded;
    const failed = fields.status === "failed", rejected = fields.status === "rejected_resource_budget";
    const verb = kind === "benchmark_row_started" ? "started" : String(fields.status).replaceAll("_", " ");
    this.#options.onEvent?.({
      kind,
      level: failed ? "error" : rejected ? "warning" : "info",
      message: `${entry.id} r${replicate} ${verb}`,
      fields: {
        recipe_id: entry.id,
        replicate,
        replicates: replication?.replicates ?? 1,
        index: this.#places.get(entry.id)!,
        count: recipes.length,
        ...this.#pointOf(entry.id, replicate),
        ...fields,
      },
    });
  }

  /** Separates the events of rows that run side by side. */
  #pointOf(recipeId: string, replicate: number): { point?: string } {
    return this.#parallel === 1 ? {} : { point: rowKey(recipeId, replicate) };
  }

  /** Recipes that have not stopped, or of these the ones whose row of a replicate is made here. */
  #left(replicate?: number): LoadedRecipe[] {
    return this.#loaded.recipes.filter((loaded) =>
      loaded.recipe !== null && !this.#stopped.has(loaded.entry.id) &&
      (replicate === undefined || this.#isOwn(loaded, replicate))
    );
  }

  #isOwn({ entry }: LoadedRecipe, replicate: number): boolean {
    const { shard } = this.#options;
    return shard === undefined || isOfShard(shard, replicate * this.#places.size + this.#places.get(entry.id)!);
  }

  /** Ends recipes of a shard before a new wave of replicates; see `shards.ts`. */
  async #endWave(replicate: number): Promise<void> {
    const { shard } = this.#options, { replication, pack } = this.#loaded;
    if (shard === undefined || replication === null || replication.stop_metric === null) return;
    if (replicate === 0 || replicate % (shard.wave ?? DEFAULT_WAVE) !== 0 || replicate < (shard.least ?? 0)) return;
    this.#peers ??= new ShardedRows([this.#options.workspace.stateDir, ...shard.peers ?? []]);
    this.#peers.advance();
    for (const { entry } of this.#left()) {
      const alone = stopReason(this.#progress.tallyOf(entry.id), replicate, replication);
      const { stopped } = this.#peers.reach(entry.id, replication, pack.metrics);
      await this.#stop(entry.id, stopped ? "errors" : alone, replicate);
    }
  }

  /** Ends a recipe where there is a reason, and discards its rows that run ahead. */
  async #stop(recipe_id: string, stop_reason: StopReason | null, replicates: number): Promise<void> {
    if (stop_reason === null) return;
    this.#stopped.set(recipe_id, stop_reason);
    this.#ledger.append("recipe_stopped", { recipe_id, stop_reason, replicates });
    await this.#discard((row) => row.recipeId === recipe_id);
  }

  /** Rows that may start now: those left in this replicate, and those of later ones of recipes that have not stopped. */
  *#startable(left: readonly LoadedRecipe[], replicate: number, replicates: number): Generator<RecipeRow> {
    for (; replicate < replicates && left.length > 0; left = this.#left(++replicate)) {
      for (const loaded of left) {
        const recipeId = loaded.entry.id;
        if (this.#isReused(recipeId, replicate)) continue;
        const at = replicate;
        const row: RecipeRow = {
          key: rowKey(recipeId, at),
          recipeId,
          runId: null,
          run: ({ cancellation }) => this.#runRow(loaded, at, row, cancellation),
        };
        yield row;
      }
    }
  }

  /** Ends rows that have no place in the order, and removes their traces. */
  async #discard(isUnwanted?: (row: RecipeRow) => boolean): Promise<void> {
    const { workspace } = this.#options;
    for (const { runId } of await this.#loop.discard(isUnwanted)) {
      if (runId !== null && exists(join(workspace.runs, runId))) removeRuns(workspace, [runId]);
    }
  }

  async #runRow(
    loaded: LoadedRecipe,
    replicate: number,
    row: RecipeRow,
    cancellation: CancellationToken,
  ): Promise<MadeRow | null> {
    const { entry } = loaded;
    // The artifacts of a row go after its snapshot, and the pack was refused by its findings as a whole.
    const { keep, drop: _, strictLint: __, onEvent, ...options } = this.#options;
    const point = this.#pointOf(entry.id, replicate);
    const retained = this.#head.storage.backing_run_policy === "retained";
    const runOptions: Omit<RunOptions, "raw"> = {
      ...options,
      implementationSources: this.#sources,
      parallelWorkers: Number(this.#head.execution.parallel_workers),
      randomId: options.shard !== undefined,
      environment: this.#environment,
      cancellation,
      sharedProcess: this.#parallel === 1 ? undefined : () => true,
      // A run that is removed after its row shares nothing, and nothing waits until it is on the disk.
      share: retained,
      files: retained ? DISK : NOT_DURABLE,
      // The snapshot of the row reads no arrays, unless the pack asks for them.
      discards: entry.params.retained_artifact_paths.length === 0 && (!retained || keep === "metrics"),
      onReserved: (run_id) => {
        this.#ledger.append("row_started", { recipe_id: entry.id, replicate, run_id }, false);
        row.runId = run_id;
        this.#report(loaded, replicate, "benchmark_row_started", { run_id });
      },
      onEvent: (event) => onEvent?.({ ...event, fields: { ...event.fields, ...point } }),
    };
    return await runRow(this.#loaded, loaded, replicate, { runOptions, retain: retained });
  }

  /** The snapshot of the row has all required artifact data. */
  #pruneArtifacts(runId: string): void {
    const { workspace, keep, drop } = this.#options;
    if (keep === undefined && drop === undefined) return;
    using _lock = lockRuns(workspace, [runId], "prune");
    pruneBundle(workspace, runId, keptBy({ keep, drop }), DISK);
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
  async #judge(row: ResultRow, replication: Replication | null): Promise<void> {
    if (row.status === "failed") {
      this.#failed ??= { code: row.error!.code, message: `${row.id}: ${row.error!.message}` };
    }
    if (row.status === "rejected_resource_budget") this.#rejected = true;
    const tried = this.#progress.add(row);
    if (replication === null || replication.stop_metric === null) return;
    // A shard has not all replicates: it looks at the end of a wave.
    const reason = this.#options.shard === undefined ? stopReason(tried.tally, tried.made, replication) : null;
    await this.#stop(row.id, reason, tried.made);
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
    const result = assembleResult(this.#head, this.#ledger.index, end, this.#directory);
    const reports = exportFiles(result, plannedRows(result, this.#directory));
    result.reports = end.reports = Object.keys(reports).sort();
    for (const [name, chunks] of Object.entries(reports)) replaceFile(DISK, inside(this.#directory, name), chunks());
    const text = prettyJson(result);
    // The ledger first: after an interruption the result is made from its end.
    this.#ledger.append("attempt_ended", endFields(end, sha256Hex(text)));
    replaceFile(DISK, inside(this.#directory, RESULT_FILE), text, true);
    DISK.sync(this.#directory);
    return result;
  }

  async close(): Promise<void> {
    await this.#synced.catch(() => {});
    this.#ledger.close();
    this.#lock?.release();
  }
}
