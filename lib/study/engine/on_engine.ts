/**
 * A benchmark whose shards an engine starts. It is submitted, followed, resubmitted where rows are missing, and cancelled;
 * the merge is a task of the engine as well, so that the result is made without the one who follows. The numbers of tasks,
 * their scripts and logs are in `engine/<result>` of the state directory, and so are the shards.
 */
import { join } from "node:path";
import { entryInside, inside, makeFolder, readText, removeEntry } from "../../artifact/inside.ts";
import { entriesOf, exists } from "../../artifact/path_kind.ts";
import { messageOf, SvcError } from "../../contract/error.ts";
import { prettyJson } from "../../contract/json.ts";
import type { JsonObject } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { quoted } from "./command.ts";
import { engineOf } from "./engines.ts";
import { type Engine, type EngineJob, type EngineName, ENGINES, type JobState, type TaskState } from "./types.ts";
import { type JobPlan, mergeCommand, shardCommand } from "./written.ts";
import type { CancellationToken } from "../../execute/types.ts";
import { DISK, replaceFile } from "../../run/files.ts";
import { tryLockRun } from "../../run/lock.ts";
import { MAX_DOCUMENT_BYTES, readDocument } from "../../run/read.ts";
import { isRunId, reserveRunId } from "../../run/reservation.ts";
import type { Workspace } from "../../run/workspace.ts";
import { rowKey } from "../rows/ledger.ts";
import type { LoadedPack } from "../pack/load_pack.ts";
import type { ReplicationOptions } from "../pack/replication.ts";
import type { BenchmarkEvent } from "../run_benchmark.ts";
import { Progress } from "../rows/progress.ts";
import { missingRows, ShardedRows, shardMetrics } from "../rows/shards.ts";
import { stopReason } from "../rows/stop.ts";
import { benchmarkWorkspace, resolveResultId, showBenchmarkResult } from "../rows/store.ts";
import {
  type BenchmarkResult,
  checker,
  type LedgerEvent,
  MOST_SHARDS,
  RESULT_FILE,
  type ResultRow,
  type ResultStatus,
  type TerminalStatus,
} from "../pack/types.ts";

const words = z.array(z.string());
const engineRecord = z.object({
  schema_version: z.literal(1),
  kind: z.literal("svc.engine_job"),
  result_id: z.string(),
  engine: z.enum(ENGINES),
  created_at_utc: z.string(),
  job: z.object({
    name: z.string(),
    directory: z.string(),
    cwd: z.string(),
    retries: z.int().nonnegative(),
    sbatch: z.string().optional(),
    hosts: z.string().optional(),
  }),
  plan: z.object({
    program: words as unknown as z.ZodType<readonly string[]>,
    pack: z.string(),
    shards: z.int().min(1).max(MOST_SHARDS),
    folder: z.string(),
    options: words as unknown as z.ZodType<readonly string[]>,
    mergeOptions: words.optional(),
  }),
  /** With a stopping rule: a row may lack because others stopped too early. */
  replication: z.object({
    replicates: z.int().optional(),
    untilErrors: z.int().optional(),
    untilHalfwidth: z.number().optional(),
    maxBits: z.int().optional(),
  }),
  submissions: z.array(
    z.object({ tasks: z.array(z.int().nonnegative()), id: z.string().nullable(), merge: z.string() }),
  ),
});
/** The record of a submitted benchmark. */
type EngineRecord = z.infer<typeof engineRecord>;
const checkEngineRecord = checker(engineRecord);

export type EngineEvent = BenchmarkEvent | {
  kind: "engine_submitted" | "engine_task_ended" | "engine_silent" | "step_failed";
  level: "info" | "warning" | "error";
  message: string;
  fields: JsonObject;
};

/** What a benchmark on an engine is asked for. */
export interface SubmitOptions {
  engine: EngineName;
  /** As on the command line. */
  pack: string;
  loaded: LoadedPack;
  workspace: Workspace;
  program: readonly string[];
  /** Further words of `svc benchmark shard`. */
  options: readonly string[];
  replication: ReplicationOptions;
  shards: number;
  retries: number;
  sbatch?: string;
  hosts?: string;
  onEvent(event: EngineEvent): void;
}

/** A shard, as `benchmark status` shows it. */
export type ShardStatus = Pick<TaskState, "state" | "detail" | "node"> & { index: number; rows: number; log: string };

export interface BenchmarkStatus {
  result_id: string;
  /** Null for a result that was made here. */
  engine: EngineName | null;
  /** `running` while a task waits or runs. */
  status: ResultStatus | "canceled";
  rows: number;
  shards: ShardStatus[];
  merge: { state: TaskState["state"]; detail: string; log: string } | null;
}

const folderOf = ({ stateDir }: Workspace) => inside(stateDir, "engine");
const RECORD_FILE = "job.json", CANCELED_FILE = "canceled";
/** Ends of a benchmark that has tried all of its rows. */
const ENDED_WITH_ROW: readonly (TerminalStatus | null)[] = ["completed", "failed", "resource_rejected"];
/** Lines of a log that are shown. */
const LOG_LINES = 8;
/** So long a network file system may hide files of another host, in ms. */
const HIDDEN_MS = 60_000;
/** So long an engine may be silent, in ms. */
const SILENT_MS = 300_000;

/** Ids of the benchmarks that were submitted to an engine. */
const submittedIds = (workspace: Workspace): string[] =>
  entriesOf(folderOf(workspace)).map(({ name }) => name).filter(isRunId);

/**
 * The record of a submitted benchmark, by its id or a unique beginning; null for other results.
 * @throws SvcError `bundle_schema_invalid` for a damaged record
 */
function findRecord(workspace: Workspace, wanted: string): EngineRecord | null {
  const ids = submittedIds(workspace).filter((id) => wanted !== "" && id.startsWith(wanted));
  const id = ids.length === 1 ? ids[0] : ids.find((one) => one === wanted) ?? resolveResultId(workspace, wanted);
  const directory = inside(folderOf(workspace), id);
  if (!exists(join(directory, RECORD_FILE))) return null;
  const refuse = (why: string): never => {
    throw new SvcError("bundle_schema_invalid", `Cannot use ${join(directory, RECORD_FILE)}: ${why}`);
  };
  let document: JsonObject;
  try {
    document = readDocument(directory, RECORD_FILE);
  } catch (error) {
    return refuse(messageOf(error));
  }
  const [problem] = checkEngineRecord(document);
  if (problem !== undefined) return refuse(`${problem.path}: ${problem.message}`);
  const record = document as object as EngineRecord;
  // Files are written and removed there.
  if (
    record.result_id !== id || record.job.directory !== directory || record.plan.folder !== join(directory, "shards")
  ) {
    return refuse("it is of another folder");
  }
  return record;
}

/** @throws SvcError `result_not_found`, `execution_invalid` for a result that no engine makes */
export function recordOf(workspace: Workspace, wanted: string): EngineRecord {
  const record = findRecord(workspace, wanted);
  if (record !== null) return record;
  throw new SvcError("execution_invalid", `Cannot find jobs of ${wanted}: no engine makes it`, {
    hint: "svc benchmark run <pack> --on slurm submits to an engine",
  });
}

/** What `--resume` may be given beside the id: options of the submission, which are those of before, or of the engine. */
type ResumeOptions =
  & Pick<SubmitOptions, "engine" | "options" | "loaded" | "sbatch" | "hosts">
  & Partial<Pick<SubmitOptions, "shards" | "program">>;

/**
 * Replaces the options of the engine in a record, for later submissions.
 * @throws SvcError `benchmark_resume_mismatch` for options that would make other rows or other shards
 */
export function resumeWith(record: EngineRecord, options: ResumeOptions): EngineRecord {
  const { plan, job } = record, { engine, loaded, shards, program, sbatch, hosts } = options;
  const told = (words: readonly string[]) => words.join(" ").split(/ (?=--)/).filter(Boolean);
  const before = told(plan.options);
  const different = [
    ...(engine === record.engine ? [] : [`it is on ${record.engine}`]),
    ...(shards === undefined || shardsOf(loaded, shards) === plan.shards ? [] : [`it has ${plan.shards} shards`]),
    ...told(options.options).filter((words) => !before.includes(words)).map((words) => `it began without ${words}`),
  ];
  if (different.length > 0) {
    throw new SvcError("benchmark_resume_mismatch", `Cannot resume ${record.result_id}: ${different.join(", ")}`, {
      hint: "Resume it with the options of its submission, or submit it anew without --resume",
    });
  }
  if (program !== undefined) plan.program = program;
  if (sbatch !== undefined) job.sbatch = sbatch;
  if (hosts !== undefined) job.hosts = Deno.realPathSync(hosts);
  return record;
}

/** Number of shards: no shard is without a row. */
const shardsOf = ({ recipes, replication }: LoadedPack, wanted: number): number =>
  Math.min(wanted, recipes.length * (replication?.replicates ?? 1));

const writeRecord = ({ job, ...record }: EngineRecord) =>
  replaceFile(DISK, inside(job.directory, RECORD_FILE), prettyJson({ ...record, job }));

const indicesOf = ({ shards }: JobPlan) => Array.from({ length: shards }, (_, index) => index);
const shardFolder = ({ folder }: JobPlan, index: number) => join(folder, String(index));

/** Submits shards and the merge; scripts are replaced whole, because tasks may be starting. */
async function submit(engine: Engine, record: EngineRecord, tasks: readonly number[], least?: number): Promise<void> {
  const { job, plan, submissions } = record;
  const more = least === undefined ? [] : ["--least", String(least)];
  const command = shardCommand({ ...plan, options: [...plan.options, ...more] }, "$1");
  const script = (name: string, log: string, command: string) =>
    replaceFile(
      DISK,
      inside(job.directory, name),
      `#!/bin/sh\nexec >>${quoted(join(job.directory, "logs"))}/${log} 2>&1\n` +
        `echo "$(date -u +%FT%TZ) on $(uname -n)"\nexec ${command}\n`,
    );
  script("shard.sh", "$1.log", command);
  script("merge.sh", "merge.log", mergeCommand(plan));
  submissions.push(await engine.submit(job, tasks, submissions));
  writeRecord(record);
}

/**
 * Submits a benchmark.
 * @returns the id of its result
 * @throws SvcError `engine_unavailable`, `engine_job_failed`
 */
export async function submitBenchmark(options: SubmitOptions): Promise<string> {
  const { engine: name, loaded, workspace, replication, retries, sbatch, hosts } = options;
  const engine = await engineOf(name);
  const result_id = reserveRunId(benchmarkWorkspace(workspace), loaded.pack!.id, new Date(), true);
  const directory = inside(folderOf(workspace), result_id);
  const folder = join(directory, "shards");
  const shards = shardsOf(loaded, options.shards);
  const peers = loaded.replication?.stop_metric === null || loaded.replication === null
    ? []
    : Array.from({ length: shards }, (_, index) => ["--peers", join(folder, String(index))]).flat();
  const record: EngineRecord = {
    schema_version: 1,
    kind: "svc.engine_job",
    result_id,
    engine: name,
    created_at_utc: new Date().toISOString(),
    job: {
      name: `svc-${result_id}`,
      directory,
      cwd: Deno.cwd(),
      retries,
      ...(sbatch === undefined ? {} : { sbatch }),
      ...(hosts === undefined ? {} : { hosts: Deno.realPathSync(hosts) }),
    },
    plan: {
      program: options.program,
      pack: options.pack,
      shards,
      folder,
      options: [...options.options, ...peers],
      mergeOptions: ["--into", result_id],
    },
    replication,
    submissions: [],
  };
  makeFolder(inside(directory, "logs"));
  try {
    await submit(engine, record, indicesOf(record.plan));
  } catch (error) {
    removeEntry(directory);
    throw error;
  }
  options.onEvent({
    kind: "engine_submitted",
    level: "info",
    message: `${result_id}: ${shards} shards submitted to ${name}`,
    fields: { result_id, shards },
  });
  return result_id;
}

export interface FollowOptions {
  record: EngineRecord;
  loaded: LoadedPack;
  workspace: Workspace;
  /** How often a task with missing rows is submitted again. */
  retries: number;
  /** Whether tasks that ended before may be submitted again first. */
  again: boolean;
  /** Stops the progress display; the tasks continue. */
  cancellation: CancellationToken;
  onEvent(event: EngineEvent): void;
}

/**
 * Follows a submitted benchmark to its result, and submits missing rows again.
 * @returns the result; null when the following was cancelled, or the benchmark
 * @throws SvcError `engine_job_failed` with the end of a log, when rows are still missing after all retries
 */
export async function followBenchmark(
  options: FollowOptions,
): Promise<{ result: BenchmarkResult; directory: string } | null> {
  const { record: { result_id }, workspace } = options;
  const lock = tryLockRun({ ...workspace, locks: inside(workspace.stateDir, "locks") }, `engine.${result_id}`);
  if (lock === null) {
    throw new SvcError("benchmark_resume_mismatch", `Cannot follow ${result_id}: another process does`, {
      hint: `Look at it with: svc benchmark status ${result_id}`,
    });
  }
  try {
    return await new Follower(options, await engineOf(options.record.engine)).follow();
  } finally {
    lock.release();
  }
}

class Follower {
  readonly #rows: ShardedRows;
  /** Tasks by how often they were submitted again; the merge is -1. */
  readonly #retried = new Map<number, number>();
  /** Rows under way by their key. */
  readonly #started = new Map<string, { shard: number; row: string; time: string }>();
  /** The last row of each shard. */
  readonly #last = new Map<number, string>();
  readonly #places: Map<string, number>;
  readonly #progress: Progress;
  /** Reported ends, and when they were first seen. */
  readonly #told = new Set<string>();
  readonly #seen = new Map<string, number>();
  #before = true;

  constructor(readonly options: FollowOptions, readonly engine: Engine) {
    const { record: { plan }, loaded } = options;
    const folders = indicesOf(plan).map((index) => shardFolder(plan, index));
    this.#rows = new ShardedRows(folders, (folder, event) => this.#note(folders.indexOf(folder), event));
    this.#places = new Map(loaded.recipes.map(({ entry }, place) => [entry.id, place]));
    this.#progress = new Progress(loaded.pack!.metrics, loaded.replication);
  }

  async follow(): Promise<{ result: BenchmarkResult; directory: string } | null> {
    const { record, workspace, cancellation } = this.options;
    const canceled = join(record.job.directory, CANCELED_FILE);
    if (this.options.again) removeEntry(entryInside(record.job.directory, CANCELED_FILE));
    const begun = performance.now();
    let heard = this.options.again ? -Infinity : begun;
    for (let first = true;; first = false) {
      let state: JobState | null = null;
      try {
        state = await this.engine.poll(record.job, record.submissions);
        heard = performance.now();
      } catch (error) {
        if (performance.now() - heard > SILENT_MS) throw error;
        if (this.#isNew(`silent ${heard}`)) this.#report("engine_silent", "warning", messageOf(error));
      }
      // After the engine: what a task wrote before its end is then there.
      this.#rows.advance();
      this.#before = false;
      if (exists(canceled)) return null;
      const result = state?.merge.state === "ended" ? resultOf(workspace, record) : null;
      if (result !== null) return result;
      if (state !== null) await this.#judge(state, first && this.options.again);
      if (cancellation.isCancelled) return null;
      await pause(Math.min(Math.max((performance.now() - begun) / 30, 500), 10_000), cancellation);
    }
  }

  /** Submits again what ended without its rows. */
  async #judge({ tasks, merge }: JobState, resumed: boolean): Promise<void> {
    const { record: { plan }, loaded } = this.options;
    const ended = indicesOf(plan).filter((index) => tasks.get(index)?.state === "ended");
    const open = ended.filter((index) => {
      if (ENDED_WITH_ROW.includes(this.#rows.endOf(shardFolder(plan, index)))) return false;
      return !(tasks.get(index)!.succeeded && this.#isHidden(`shard ${index}`));
    });
    for (const index of open) this.#tellEnd(index, tasks.get(index)!);
    const left = resumed ? open : open.filter((index) => this.#mayRetry(index));
    if (left.length > 0) return await this.#again(left, resumed);
    if (ended.length < plan.shards || merge.state !== "ended") return;
    if (open.length > 0) {
      const logs = open.slice(0, 3).map((index) => logEnd(this.options.record.job, String(index))).join("\n");
      throw this.#failure(`rows of ${open.length === 1 ? "shard" : "shards"} ${open.join(", ")} are missing`, logs);
    }
    if (merge.succeeded && this.#isHidden("merge")) return;
    const runnable = loaded.recipes.filter(({ recipe }) => recipe !== null).map(({ entry }) => entry.id);
    const missing = missingRows(this.#rows, runnable, loaded.replication, loaded.pack!.metrics);
    if (!resumed && !this.#mayRetry(-1)) {
      throw this.#failure(`the merge ended: ${merge.detail}`, logEnd(this.options.record.job, "merge"));
    }
    this.#retried.set(-1, (this.#retried.get(-1) ?? 0) + 1);
    // Shards that a stopping rule ended too early make more replicates.
    const owners = missing.count > missing.rows.length ? indicesOf(plan) : missing.rows.map((
      { recipe_id, replicate },
    ) => (replicate * loaded.recipes.length + this.#places.get(recipe_id)!) % plan.shards);
    const least = missing.count === 0 ? undefined : missing.least;
    await this.#again([...new Set(owners)], true, least);
  }

  async #again(tasks: readonly number[], free: boolean, least?: number): Promise<void> {
    if (!free) { for (const index of tasks) this.#retried.set(index, (this.#retried.get(index) ?? 0) + 1); }
    await submit(this.engine, this.options.record, tasks, least);
    const what = tasks.length === 0 ? "merge" : tasks.length === 1 ? `shard ${tasks[0]}` : `shards ${tasks.join(", ")}`;
    this.#report("engine_submitted", "info", `${what} submitted again`);
    this.#told.clear();
    this.#seen.clear();
  }

  /** Engines that start tasks again have done so already. */
  #mayRetry(task: number): boolean {
    if (this.engine.retriesTasks && task >= 0) return false;
    return (this.#retried.get(task) ?? 0) < this.options.retries;
  }

  #failure(why: string, log: string): SvcError {
    const { record: { result_id, plan, engine, job }, retries } = this.options;
    return new SvcError(
      "engine_job_failed",
      `Cannot finish ${result_id}: ${why} after ${retries} ${retries === 1 ? "retry" : "retries"}${
        log === "" ? "" : `\n${log}`
      }`,
      {
        hint: `Logs are in ${join(job.directory, "logs")}; resume with: ` +
          `svc benchmark run ${quoted(plan.pack)} --on ${engine} --resume ${result_id}`,
        extra: { result_id },
      },
    );
  }

  /** The end of a task without its rows: how it ended, the rows it was at, and the end of its log. */
  #tellEnd(index: number, { detail, node }: TaskState): void {
    const { record: { job } } = this.options;
    if (!this.#isNew(`shard ${index}`)) return;
    const rows = [...this.#started].filter(([, { shard }]) => shard === index);
    for (const [key] of rows) this.#started.delete(key);
    const last = this.#last.get(index);
    const at = rows.length > 0
      ? ` at ${rows.map(([, { row }]) => row).join(", ")}`
      : last === undefined
      ? ""
      : ` after ${last}`;
    const log = logEnd(job, String(index));
    const message = `shard ${index} ended${at}: ${detail}${node === null ? "" : ` on ${node}`}`;
    this.#report("engine_task_ended", "warning", log === "" ? message : `${message}\n${log}`, {
      shard: index,
      points: rows.map(([key]) => key),
    });
  }

  #isNew(what: string): boolean {
    return !this.#told.has(what) && this.#told.add(what) !== undefined;
  }

  /** Whether a network file system may still hide what a task wrote that ended well. */
  #isHidden(what: string): boolean {
    const since = this.#seen.get(what) ?? performance.now();
    this.#seen.set(what, since);
    return performance.now() - since < HIDDEN_MS;
  }

  #report(
    kind: "engine_submitted" | "engine_task_ended" | "engine_silent",
    level: "info" | "warning",
    message: string,
    fields: JsonObject = {},
  ): void {
    this.options.onEvent({ kind, level, message, fields });
  }

  /** Passes on the events of rows, as a local benchmark has them. */
  #note(shard: number, event: LedgerEvent): void {
    const { loaded: { recipes, replication }, onEvent } = this.options, { time } = event;
    if (event.kind !== "row_started" && event.kind !== "row_completed") return;
    const row = event.kind === "row_started" ? null : event.fields.row;
    if (row?.status === "skipped") return;
    const { recipe_id, replicate, run_id } = event.kind === "row_started"
      ? event.fields
      : { ...event.fields.row, recipe_id: event.fields.row.id };
    const key = rowKey(recipe_id, replicate), name = `${recipe_id} r${replicate}`;
    const place = {
      recipe_id,
      replicate,
      replicates: replication?.replicates ?? 1,
      index: this.#places.get(recipe_id)!,
      count: recipes.length,
      point: key,
      shard,
    };
    if (row === null) {
      this.#started.set(key, { shard, row: name, time });
      return onEvent({
        kind: "benchmark_row_started",
        level: "info",
        message: `${name} started`,
        fields: { ...place, run_id },
      });
    }
    const { status, error } = row;
    if (error !== undefined) {
      const log = join(this.options.record.job.directory, "logs", `${shard}.log`);
      const message = `${error.message} (${log})`;
      onEvent({
        kind: "step_failed",
        level: "error",
        message,
        fields: { point: key, step_id: `shard ${shard}`, code: error.code, message },
      });
    }
    const since = this.#started.get(key)?.time;
    this.#started.delete(key);
    this.#last.set(shard, name);
    const { made, tally } = this.#progress.add(row);
    const stop_reason = replication?.stop_metric == null ? null : stopReason(tally, made, replication);
    onEvent({
      kind: "benchmark_row_completed",
      level: status === "failed" ? "error" : status === "completed" ? "info" : "warning",
      message: `${name} ${status.replaceAll("_", " ")}`,
      fields: {
        ...place,
        run_id: row.run_id,
        status,
        progress: this.#progress.of(recipe_id),
        ...(stop_reason === null ? {} : { stop_reason }),
        ...(since === undefined ? {} : { wall_time_s: (Date.parse(time) - Date.parse(since)) / 1000 }),
        ...(this.#before && this.options.again ? { reused: true } : {}),
      },
    });
  }
}

/** The result, if its merge has made it to the end. */
function resultOf(workspace: Workspace, { result_id }: EngineRecord) {
  if (!exists(join(benchmarkWorkspace(workspace).runs, result_id, RESULT_FILE))) return null;
  const shown = showBenchmarkResult(workspace, result_id);
  return ENDED_WITH_ROW.includes(shown.result.attempt_ledger.expected_terminal_status) ? shown : null;
}

/** The last lines of a log, each with a bar before it. */
function logEnd({ directory }: EngineJob, name: string): string {
  const path = inside(directory, "logs", `${name}.log`);
  if (!exists(path)) return "";
  const lines = readText(path, MAX_DOCUMENT_BYTES).trimEnd().split("\n").slice(-LOG_LINES);
  return [`  ${path}`, ...lines.map((line) => `  | ${line}`)].join("\n");
}

/** Waits; a cancellation ends it early. */
function pause(ms: number, cancellation: CancellationToken): Promise<void> {
  return new Promise((resolve) => {
    let forget = () => {};
    const timer = setTimeout(end, ms);
    forget = cancellation.onCancel(end);
    function end() {
      clearTimeout(timer);
      forget();
      resolve();
    }
  });
}

/**
 * How far a benchmark is: its tasks, with the rows of each.
 * @throws SvcError `result_not_found`, `engine_unavailable`
 */
export async function statusOf(workspace: Workspace, wanted: string): Promise<BenchmarkStatus> {
  const record = findRecord(workspace, wanted);
  if (record === null) {
    const { result } = showBenchmarkResult(workspace, wanted);
    const { result_id, status } = result;
    return {
      result_id,
      engine: null,
      status,
      rows: result.rows?.count ?? result.recipes.length,
      shards: [],
      merge: null,
    };
  }
  const { engine: name, job, plan, result_id, submissions } = record;
  const { tasks, merge } = await (await engineOf(name)).poll(job, submissions);
  const folders = indicesOf(plan).map((index) => shardFolder(plan, index));
  const rows = new ShardedRows(folders);
  rows.advance();
  const log = (task: string) => join(job.directory, "logs", `${task}.log`);
  const shards = [...tasks].sort(([a], [b]) => a - b).map(([index, { state, detail, node }]) => {
    const end = state === "ended" ? rows.endOf(folders[index]) : null;
    return { index, state, detail: end ?? detail, node, rows: rows.countOf(folders[index]), log: log(String(index)) };
  });
  const live = [...tasks.values(), merge].some(({ state }) => state !== "ended");
  const made = live ? null : resultOf(workspace, record);
  const canceled = exists(join(job.directory, CANCELED_FILE));
  return {
    result_id,
    engine: name,
    status: made?.result.status ?? (live ? "running" : canceled ? "canceled" : "incomplete"),
    rows: rows.rowCount,
    shards,
    merge: { state: merge.state, detail: merge.detail, log: log("merge") },
  };
}

/** A benchmark that an engine makes, as far as its shards have come. */
export interface SubmittedBenchmark {
  result_id: string;
  engine: EngineName;
  pack: string;
  created_at_utc: string;
  /** Completed rows of all shards. */
  rows: number;
  /** Errors at which a recipe stops; null where another rule ends it. */
  until_errors: number | null;
  /** Replicates of each recipe, at most where their number is adaptive. */
  replicates: number;
  recipes: { id: string; progress: JsonObject }[];
}

/** A benchmark whose record cannot be read: the other ones are listed. */
export interface DamagedBenchmark {
  result_id: string;
  problem: string;
}

/** Benchmarks on engines without a result yet, newest first, by what their shards wrote; the engines are not asked. */
export function submittedBenchmarks(workspace: Workspace): (SubmittedBenchmark | DamagedBenchmark)[] {
  return submittedIds(workspace).sort().reverse().flatMap((id): (SubmittedBenchmark | DamagedBenchmark)[] => {
    let record: EngineRecord;
    try {
      record = findRecord(workspace, id)!;
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      return [{ result_id: id, problem: error.message }];
    }
    const { plan, job } = record;
    if (exists(join(job.directory, CANCELED_FILE)) || resultOf(workspace, record) !== null) return [];
    const folders = indicesOf(plan).map((index) => shardFolder(plan, index)), ended: ResultRow[] = [];
    const rows = new ShardedRows(folders, (_, { kind, fields }) => kind === "row_completed" && ended.push(fields.row));
    rows.advance();
    const replication = rows.firstStart()?.replication ?? null, metrics = shardMetrics(folders);
    const progress = metrics === null ? null : new Progress(metrics, replication);
    for (const row of ended) progress?.add(row);
    return [{
      result_id: id,
      engine: record.engine,
      pack: plan.pack,
      created_at_utc: record.created_at_utc,
      rows: rows.rowCount,
      until_errors: replication?.until_errors ?? null,
      replicates: replication?.replicates ?? 1,
      recipes: progress?.all() ?? [],
    }];
  });
}

/** Ends the tasks of a benchmark; its rows stay. @throws SvcError `result_not_found`, `execution_invalid` */
export async function cancelOnEngine(workspace: Workspace, wanted: string): Promise<string> {
  const { engine, job, submissions, result_id } = recordOf(workspace, wanted);
  // The follower exits without resubmitting.
  replaceFile(DISK, inside(job.directory, CANCELED_FILE), "");
  await (await engineOf(engine)).cancel(job, submissions);
  return result_id;
}
