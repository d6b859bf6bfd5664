/** Benchmarks: packs, their runs, and the results. */
import { refusal, SvcError } from "../contract/error.ts";
import { createCancellation } from "../execute/cancellation.ts";
import type { Snapshot } from "../benchmark/evidence.ts";
import type { ResultDiff } from "../benchmark/compare_results.ts";
import type { PlotRequest } from "../benchmark/figure/types.ts";
import type { LoadedPack, loadPack } from "../benchmark/load_pack.ts";
import type { PackListRow } from "../benchmark/packs.ts";
import type { PlotFiles } from "../benchmark/plot_files.ts";
import type { ReplicationOptions } from "../benchmark/replication.ts";
import type { drawnPlot, exportedTables, WrittenFiles } from "../benchmark/reports.ts";
import type { BenchmarkRunOptions as PackRun, BenchmarkRunResult } from "../benchmark/run_benchmark.ts";
import type { ResultListRow } from "../benchmark/store.ts";
import type { SubmissionReport } from "../benchmark/submission.ts";
import type { Suite } from "../benchmark/suites.ts";
import type { BenchmarkResult } from "../benchmark/types.ts";
import type { BenchmarkVerification } from "../benchmark/verify.ts";
import type { FigureStyle } from "../figure/style.ts";
import type { SessionCore } from "./core.ts";

type Given = "pack" | "registry" | "workspace" | "readiness" | "planCache" | "cancellation" | "execute";
export type BenchmarkOptions = Omit<PackRun, Given> & Partial<Pick<PackRun, "cancellation">>;

/** How the recipes of a pack will be planned and repeated. */
export type PackOptions = ReplicationOptions & Pick<PackRun, "backend" | "implementation" | "lint" | "strictLint">;

/** A pack, or recipe files that make one. */
export type PackSource = string | readonly string[];

export class Benchmarks {
  constructor(private readonly core: SessionCore) {}

  /** The packs of the project and of the program. */
  async packs(): Promise<PackListRow[]> {
    return (await import("../benchmark/packs.ts")).listBenchmarkPacks(this.core.workspace.projectRoot);
  }

  /** The file of a pack. @throws SvcError `pack_not_found` */
  async file(pack: string): Promise<string> {
    return (await import("../benchmark/packs.ts")).resolvePack(pack, this.core.workspace.projectRoot);
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
  ): ReturnType<typeof loadPack> {
    const [{ loadPack }, { lintSeverity }] = await Promise.all([
      import("../benchmark/load_pack.ts"),
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
    const { runBenchmark } = await import("../benchmark/run_benchmark.ts");
    const cancellation = options.cancellation ?? createCancellation();
    const given = { ...options, ...await this.core.means(), pack: await this.#files(pack), cancellation };
    return await this.core.withPool((execute) => runBenchmark({ ...given, execute }));
  }

  #files(pack: PackSource): Promise<string[]> {
    return Promise.all([pack].flat().map((one) => this.file(one)));
  }

  /** The stored results, newest first. */
  async results(): Promise<ResultListRow[]> {
    return (await import("../benchmark/result_index.ts")).listResultsFromIndex(this.core.workspace);
  }

  /** A result and its folder; a unique beginning of its id is enough. @throws SvcError `result_not_found` */
  async result(id: string): Promise<{ result: BenchmarkResult; directory: string }> {
    return (await import("../benchmark/store.ts")).showBenchmarkResult(this.core.workspace, id);
  }

  /**
   * The evidence that a result keeps of one of its runs.
   * @throws SvcError `result_not_found`, `run_not_found`, `bundle_hash_mismatch`, `bundle_file_missing`
   */
  async evidence(id: string, runId: string): Promise<Snapshot> {
    const { readSnapshot } = await import("../benchmark/evidence.ts");
    const { result, directory } = await this.result(id);
    const record = result.recipes.find(({ run_id }) => run_id === runId)?.run_evidence_snapshot ?? null;
    if (record !== null) return readSnapshot(directory, record);
    throw new SvcError("run_not_found", `Cannot find evidence of the run ${runId} in ${result.result_id}`);
  }

  /** Checks hashes, ledger, evidence, provenance and statistics of a result. @throws SvcError `result_not_found` */
  async verify(id: string): Promise<BenchmarkVerification> {
    return await (await import("../benchmark/verify.ts")).verifyBenchmark(this.core.workspace, id);
  }

  /** Compares two results recipe by recipe. @throws SvcError `result_not_found` */
  async compare(a: string, b: string): Promise<ResultDiff> {
    const { compareResults } = await import("../benchmark/compare_results.ts");
    return compareResults((await this.result(a)).result, (await this.result(b)).result);
  }

  /** Writes the tables of a result: CSV, Markdown, LaTeX. @throws SvcError `result_not_found` */
  async export(id: string, options: { out?: string } = {}): Promise<WrittenFiles> {
    return (await import("../benchmark/reports.ts")).exportBenchmark(this.core.workspace, id, options);
  }

  /** The tables that {@link export} writes, as texts by file name. @throws SvcError `result_not_found` */
  async tables(id: string): Promise<ReturnType<typeof exportedTables>> {
    return (await import("../benchmark/reports.ts")).exportedTables(this.core.workspace, id);
  }

  /** The files that {@link plot} writes. @throws SvcError as {@link plot} */
  async figure(id: string, request: PlotRequest = {}): ReturnType<typeof drawnPlot> {
    return await (await import("../benchmark/reports.ts")).drawnPlot(this.core.workspace, id, request);
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
    return await (await import("../benchmark/reports.ts")).plotBenchmark(this.core.workspace, id, request, options);
  }

  /** Writes a result as a static page. @throws SvcError `result_not_found`, `benchmark_incomplete`, `usage_invalid` */
  async publish(id: string, options: { slug?: string; out?: string } = {}): Promise<WrittenFiles> {
    return await (await import("../benchmark/reports.ts")).publishBenchmark(this.core.workspace, id, options);
  }

  /** Families of benchmark protocols. */
  async suites(): Promise<Suite[]> {
    return (await import("../benchmark/suites.ts")).listSuites(this.core.workspace.projectRoot);
  }

  /** One family. @throws SvcError `not_found` with the nearest id */
  async suite(id: string): Promise<Suite> {
    return (await import("../benchmark/suites.ts")).findSuite(id, this.core.workspace.projectRoot);
  }

  /** Checks a submitted folder: pack, result and verification report together. */
  async validateSubmission(folder: string): Promise<SubmissionReport> {
    return (await import("../benchmark/submission.ts")).validateSubmission(folder);
  }
}
