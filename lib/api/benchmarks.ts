/** Benchmarks: packs, their runs, and the results. */
import { refusal, SvcError } from "../contract/error.ts";
import { createCancellation } from "../execute/cancellation.ts";
import type { ResultDiff } from "../study/report/compare_results.ts";
import type { EngineName } from "../study/engine/types.ts";
import type { BenchmarkStatus, EngineEvent } from "../study/engine/on_engine.ts";
import type { PlotRequest } from "../study/report/figure/types.ts";
import type { LoadedPack, PackLoad } from "../study/pack/load_pack.ts";
import type { PackListRow } from "../study/pack/packs.ts";
import type { PlotFiles } from "../study/report/plot_files.ts";
import type { ReplicationOptions } from "../study/pack/replication.ts";
import type { drawnPlot, exportedTables, WrittenFiles } from "../study/report/reports.ts";
import type { BenchmarkRunOptions as PackRun, BenchmarkRunResult, ShardRunOptions } from "../study/run_benchmark.ts";
import type { ResultListRow } from "../study/rows/store.ts";
import type { SubmissionReport } from "../study/engine/submission.ts";
import type { Suite } from "../study/pack/suites.ts";
import type { BenchmarkResult, ResultRow, Snapshot } from "../study/pack/types.ts";
import type { BenchmarkVerification } from "../study/verify.ts";
import type { ExchangeOptions, ExchangeReport, PushOptions } from "../exchange/exchange.ts";
import { displayed, figureDisplay, htmlTable } from "../figure/display.ts";
import type { FigureStyle } from "../figure/style.ts";
import type { SessionCore } from "./core.ts";

type SetBySession =
  | "source"
  | "resultId"
  | "shard"
  | "pack"
  | "registry"
  | "workspace"
  | "readiness"
  | "planCache"
  | "cancellation"
  | "execute";
export type BenchmarkOptions = Omit<PackRun, SetBySession> & Partial<Pick<PackRun, "cancellation">>;

/** A shard of a pack and its folder. */
export type ShardRun = Omit<BenchmarkOptions, "resume"> & Pick<ShardRunOptions, "shard" | "out">;

/** A pack on an engine. */
export interface EngineRun extends ReplicationOptions, Partial<Pick<PackRun, "cancellation">> {
  on: EngineName;
  /** Number of tasks; default 4. */
  shards?: number;
  /** How often a task that ended without its rows is submitted again; default 2. */
  retries?: number;
  /** Options of `sbatch`, as in a shell. */
  sbatch?: string;
  /** File of hosts for GNU parallel; this machine when left out. */
  hosts?: string;
  /** Words that start svc where the tasks run; default those of this program. */
  program?: readonly string[];
  parallelWorkers?: number;
  parallelPoints?: number;
  ignoreEstimate?: boolean;
  lint?: boolean;
  strictLint?: boolean;
  /** Whether to return after the submission. */
  detach?: boolean;
  /** Id of a submitted benchmark to follow; missing rows are submitted again. */
  resume?: string;
  onEvent?(event: EngineEvent): void;
}

/** How the recipes of a pack will be planned and repeated. */
export type PackOptions = ReplicationOptions & Pick<PackRun, "backend" | "implementation" | "lint" | "strictLint">;

/** A pack, or recipe files that make one. */
export type PackSource = string | readonly string[];

export class Benchmarks {
  constructor(private readonly core: SessionCore) {}

  /** The packs of the project and of the program. */
  async packs(): Promise<PackListRow[]> {
    return (await import("../study/pack/packs.ts")).listBenchmarkPacks(this.core.workspace.projectRoot);
  }

  /** The file of a pack. @throws SvcError `pack_not_found` */
  async file(pack: string): Promise<string> {
    return (await import("../study/pack/packs.ts")).resolvePack(pack, this.core.workspace.projectRoot);
  }

  /**
   * Loads a pack with its recipes and makes every check that needs no run.
   * @param pack file, or a name or id as `packs` lists them
   * @returns the pack and every finding; `valid` says whether it can run, `pack` is null where the text has no such shape
   * @throws SvcError `pack_not_found`
   */
  async load(
    pack: PackSource,
    { backend, implementation, lint, strictLint, ...options }: PackOptions = {},
  ): Promise<PackLoad> {
    const [{ loadPack }, { lintSeverity }] = await Promise.all([
      import("../study/pack/load_pack.ts"),
      import("../plan/planner.ts"),
    ]);
    const { registry, readiness, workspace: { projectRoot } } = await this.core.means();
    const planning = { readiness, backend, implementation, lint: lintSeverity({ lint, strictLint }) };
    return await loadPack(await this.#files(pack), { ...options, registry, projectRoot, planning });
  }

  /**
   * Loads a pack that can run.
   * @param options `name` names the pack in messages
   * @throws SvcError `pack_not_found`, `pack_invalid` with every diagnostic
   */
  async loaded(
    pack: PackSource,
    { name = [pack].flat().join(", "), ...options }: PackOptions & { name?: string } = {},
  ): Promise<LoadedPack> {
    const loaded = await this.load(pack, options);
    if (loaded.pack !== null && loaded.valid) return loaded;
    throw refusal("pack_invalid", `Cannot use the pack ${name}`, loaded.diagnostics);
  }

  /**
   * Runs a pack, or recipes as the methods of one: every recipe in every replicate, as ordinary runs, with intervals and
   * paired comparisons.
   * `resume` continues an interrupted benchmark; it ends with the same numbers as an uninterrupted one.
   * @returns the result and its folder; failed and rejected rows are findings in it
   * @throws SvcError `pack_invalid` with every diagnostic, `benchmark_resume_mismatch`, before anything is written
   */
  async run(pack: PackSource, options: BenchmarkOptions = {}): Promise<BenchmarkRunResult> {
    const { runBenchmark } = await import("../study/run_benchmark.ts");
    const cancellation = options.cancellation ?? createCancellation();
    const given = { ...options, ...await this.core.means(), pack: await this.#files(pack), cancellation };
    return await this.core.withPool((execute) => runBenchmark({ ...given, execute }));
  }

  /**
   * Runs the rows of one shard of a pack in a folder of its own, or those that it lacks.
   * @returns the result of these rows alone
   * @throws SvcError as {@link run}
   */
  async shard(pack: PackSource, options: ShardRun): Promise<BenchmarkRunResult> {
    const { runShard } = await import("../study/run_benchmark.ts");
    const cancellation = options.cancellation ?? createCancellation();
    const given = { ...options, ...await this.core.means(), pack: await this.#files(pack), cancellation };
    const { stateDir } = this.core.workspace;
    // Datasets stay in the state directory of the session.
    return await this.core.withPool((execute) =>
      runShard({ ...given, execute: (execution) => execute({ ...execution, stateDir }) })
    );
  }

  /**
   * Makes the result of shards: that of one machine which ran all rows.
   * @param options `into` is the id of the result
   * @throws SvcError `pack_invalid`, `shard_conflict`, `shard_incomplete` with the missing rows
   */
  async merge(
    pack: PackSource,
    folders: readonly string[],
    options: Pick<PackRun, "onEvent"> & Partial<Pick<PackRun, "cancellation">> & { into?: string } = {},
  ): Promise<BenchmarkRunResult> {
    const { mergeShards } = await import("../study/run_benchmark.ts");
    const { into: resultId, onEvent, cancellation = createCancellation() } = options;
    const given = { ...await this.core.means(), pack: await this.#files(pack), onEvent, cancellation, resultId };
    return await mergeShards(folders, given);
  }

  /**
   * Runs a pack in shards that an engine starts, and follows them to the result of one machine.
   * @returns the result; with `detach`, or after a cancellation, the status of the tasks, which continue
   * @throws SvcError `pack_invalid`, `operation_canceled` before the submission, `benchmark_resume_mismatch`,
   *   `engine_unavailable`, `engine_job_failed` when rows are missing after all retries
   */
  async runOn(pack: string, options: EngineRun): Promise<Omit<BenchmarkRunResult, "diagnostics"> | BenchmarkStatus> {
    const [{ followBenchmark, recordOf, resumeWith, submitBenchmark }, { optionWords }] = await Promise.all([
      import("../study/engine/on_engine.ts"),
      import("../study/engine/written.ts"),
    ]);
    const { workspace } = this.core;
    const { on, resume, retries = 2, lint, strictLint, onEvent = () => {} } = options;
    const cancellation = options.cancellation ?? createCancellation();
    const { replicates, untilErrors, untilHalfwidth, maxBits, parallelWorkers, parallelPoints, ignoreEstimate } =
      options;
    const asked = { replicates, untilErrors, untilHalfwidth, maxBits };
    const before = resume === undefined ? null : recordOf(workspace, resume);
    const replication = before?.replication ?? asked;
    const loaded = await this.loaded(pack, { ...replication, lint, strictLint });
    if (cancellation.isCancelled) {
      throw new SvcError("operation_canceled", `Cannot submit ${pack}: the command was canceled`);
    }
    const { shards, sbatch, hosts } = options;
    const engine = {
      engine: on,
      loaded,
      sbatch,
      hosts,
      options: optionWords({
        ...asked,
        parallelWorkers,
        parallelPoints,
        ignoreEstimate: ignoreEstimate || undefined,
        lint: lint === false ? lint : undefined,
      }),
    };
    const started = (program: readonly string[]) => [...program, ...this.core.globalWords()];
    const record = before !== null
      ? resumeWith(before, { ...engine, shards, program: options.program && started(options.program) })
      : recordOf(
        workspace,
        await submitBenchmark({
          ...engine,
          pack,
          workspace,
          program: started(options.program ?? this.core.program()),
          replication,
          shards: shards ?? 4,
          retries,
          onEvent,
        }),
      );
    const id = record.result_id, again = before !== null;
    const made = options.detach
      ? null
      : await followBenchmark({ record, loaded, workspace, retries, again, cancellation, onEvent });
    return made ?? await this.status(id);
  }

  /**
   * How far a benchmark is: that of an engine with its tasks.
   * @throws SvcError `result_not_found`, `engine_unavailable`
   */
  async status(id: string): Promise<BenchmarkStatus> {
    return await (await import("../study/engine/on_engine.ts")).statusOf(this.core.workspace, id);
  }

  /**
   * Ends the tasks of a benchmark on an engine; finished rows stay.
   * @returns its id
   * @throws SvcError `result_not_found`, `execution_invalid` for a result that no engine makes
   */
  async cancel(id: string): Promise<string> {
    return await (await import("../study/engine/on_engine.ts")).cancelOnEngine(this.core.workspace, id);
  }

  #files(pack: PackSource): Promise<string[]> {
    return Promise.all([pack].flat().map((one) => this.file(one)));
  }

  /** The stored results, newest first. */
  async results(): Promise<ResultListRow[]> {
    return (await import("../study/rows/result_index.ts")).listResultsFromIndex(this.core.workspace);
  }

  /** A result and its folder; a unique beginning of its id is enough. @throws SvcError `result_not_found` */
  async result(id: string): Promise<{ result: BenchmarkResult; directory: string }> {
    const shown = (await import("../study/rows/store.ts")).showBenchmarkResult(this.core.workspace, id);
    return displayed(shown, async () => {
      const { reportTables } = await import("../study/report/report_tables.ts");
      const { cellTexts, tableMarkdown } = await import("../study/report/table.ts");
      const tables = reportTables(shown.result, "unicode").filter(({ id }) => id !== "intervals");
      return {
        "text/plain": tables.map((table) => `${table.title}\n\n${tableMarkdown(table)}`).join("\n"),
        "text/html": tables.map((table) => `<h4>${table.title}</h4>${htmlTable(...cellTexts(table))}`).join(""),
      };
    });
  }

  /**
   * A page of the rows of a result.
   * @param after number of rows before the page
   * @throws SvcError `result_not_found`, `bundle_file_missing`, `bundle_hash_mismatch`
   */
  async rows(id: string, { after = 0, limit = 1000 }: { after?: number; limit?: number } = {}): Promise<ResultRow[]> {
    const { pageOfRows } = await import("../study/rows/stored_rows.ts");
    const { result, directory } = await this.result(id);
    return pageOfRows(result, directory, after, limit);
  }

  /**
   * The evidence that a result keeps of one of its runs.
   * @throws SvcError `result_not_found`, `run_not_found`, `bundle_hash_mismatch`, `bundle_file_missing`
   */
  async evidence(id: string, runId: string): Promise<Snapshot> {
    const [{ readSnapshot }, { allRows }] = await Promise.all([
      import("../study/rows/evidence.ts"),
      import("../study/rows/stored_rows.ts"),
    ]);
    const { result, directory } = await this.result(id);
    for (const { run_id, run_evidence_snapshot: record } of allRows(result)) {
      if (run_id === runId && record !== null) return readSnapshot(directory, record);
    }
    throw new SvcError("run_not_found", `Cannot find evidence of the run ${runId} in ${result.result_id}`);
  }

  /** Checks hashes, ledger, evidence, provenance and statistics of a result. @throws SvcError `result_not_found` */
  async verify(id: string): Promise<BenchmarkVerification> {
    const { verifyBenchmark } = await import("../study/verify.ts");
    return await verifyBenchmark(this.core.workspace, id, await this.core.registry());
  }

  /** Compares two results recipe by recipe. @throws SvcError `result_not_found` */
  async compare(a: string, b: string): Promise<ResultDiff> {
    const { compareResults } = await import("../study/report/compare_results.ts");
    return compareResults((await this.result(a)).result, (await this.result(b)).result);
  }

  /**
   * Writes the tables of a result: CSV, Markdown, LaTeX; with `evidence` also the documents of its runs.
   * @throws SvcError `result_not_found`, `usage_invalid`
   */
  async export(id: string, options: { out?: string; evidence?: boolean } = {}): Promise<WrittenFiles> {
    return (await import("../study/report/reports.ts")).exportBenchmark(this.core.workspace, id, options);
  }

  /** The tables that {@link export} writes, as texts by file name. @throws SvcError `result_not_found` */
  async tables(id: string): Promise<ReturnType<typeof exportedTables>> {
    return (await import("../study/report/reports.ts")).exportedTables(this.core.workspace, id);
  }

  /** The files that {@link plot} writes. @throws SvcError as {@link plot} */
  async figure(id: string, request: PlotRequest = {}): ReturnType<typeof drawnPlot> {
    const drawn = await (await import("../study/report/reports.ts")).drawnPlot(this.core.workspace, id, request);
    return displayed(drawn, () => figureDisplay(drawn.name, drawn.files));
  }

  /**
   * Draws a result: Vega-Lite specification, SVG, PNG, CSV and the record that binds them to it.
   * @throws SvcError `result_not_found`, `benchmark_incomplete`, `usage_invalid`
   */
  async plot(
    id: string,
    request: PlotRequest = {},
    options: { style?: FigureStyle; out?: string; name?: string } = {},
  ): Promise<WrittenFiles & { plot: PlotFiles }> {
    return await (await import("../study/report/reports.ts")).plotBenchmark(this.core.workspace, id, request, options);
  }

  /** Writes a result as a static page. @throws SvcError `result_not_found`, `benchmark_incomplete`, `usage_invalid` */
  async publish(id: string, options: { slug?: string; out?: string } = {}): Promise<WrittenFiles> {
    return await (await import("../study/report/reports.ts")).publishBenchmark(this.core.workspace, id, options);
  }

  /** Families of benchmark protocols. */
  async suites(): Promise<Suite[]> {
    return (await import("../study/pack/suites.ts")).listSuites(this.core.workspace.projectRoot);
  }

  /** One family. @throws SvcError `not_found` with the nearest id */
  async suite(id: string): Promise<Suite> {
    return (await import("../study/pack/suites.ts")).findSuite(id, this.core.workspace.projectRoot);
  }

  /** Checks a submitted folder: pack, result and verification report together. */
  async validateSubmission(folder: string): Promise<SubmissionReport> {
    return (await import("../study/engine/submission.ts")).validateSubmission(folder);
  }

  /** Sends results to an object store, `s3://bucket/prefix`; all without ids. @throws SvcError as `runs.push` */
  async push(store: string, ids: readonly string[] = [], options: PushOptions = {}): Promise<ExchangeReport> {
    return await (await import("../exchange/exchange.ts")).push(this.core.workspace, "benchmarks", store, ids, options);
  }

  /** Receives results from an object store, verified before they appear. @throws SvcError as `runs.pull` */
  async pull(store: string, ids: readonly string[] = [], options: ExchangeOptions = {}): Promise<ExchangeReport> {
    return await (await import("../exchange/exchange.ts")).pull(this.core.workspace, "benchmarks", store, ids, options);
  }
}
