/** Benchmarks: packs, their runs, and the results. */
import { isAbsolute, relative } from "../../contract/paths.ts";
import { type Diagnostic, refusal, SvcError } from "../../contract/error.ts";
import type { JsonObject } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { createCancellation } from "../../execute/cancellation.ts";
import { displayed, figureDisplay, htmlTable } from "../../figure/display.ts";
import type { FigureStyle } from "../../figure/style.ts";
import { FIGURE_TYPES, INTERVALS_OVER } from "../../figure/types.ts";
import type {
  BenchmarkStatus,
  DamagedBenchmark,
  EngineEvent,
  SubmittedBenchmark,
} from "../../study/engine/on_engine.ts";
import { ENGINES } from "../../study/engine/types.ts";
import type { LoadedPack, PackLoad } from "../../study/pack/load_pack.ts";
import type { PackEntry } from "../../study/pack/pack.ts";
import type { PackListRow } from "../../study/pack/packs.ts";
import type { ReplicationOptions } from "../../study/pack/replication.ts";
import type { Suite } from "../../study/pack/suites.ts";
import type { Replication, ResultDocument, Snapshot } from "../../study/pack/types.ts";
import type { PlotFiles } from "../../study/report/plot_files.ts";
import type { ResultDiff } from "../../study/report/compare_results.ts";
import type { RateDifferences } from "../../study/report/rate_differences.ts";
import type { BenchmarkRunOptions as PackRun, BenchmarkRunResult, ShardRunOptions } from "../../study/run_benchmark.ts";
import type { ResultListRow } from "../../study/rows/store.ts";
import type { BenchmarkVerification } from "../../study/verify.ts";
import { call, type Camel, camelKeys, type Cancellable } from "../call.ts";
import type { SessionCore } from "../core.ts";
import { DIAGNOSTIC, documentOf, FIGURE, OBJECT, ownDiagnostics, textFiles } from "../documents.ts";
import { pullCall, pushCall } from "../exchange_calls.ts";
import {
  BASELINE,
  DROP,
  FILES,
  flag,
  IGNORE_ESTIMATE,
  LINT,
  NAMES,
  oneOf,
  text,
  texts,
  VALUE,
  WHERE,
  WORKERS,
} from "../fields.ts";

/** A pack, or recipe files that make one. */
export type PackSource = string | readonly string[];

const PACK = {
  pack: z.union([z.string(), z.array(z.string())]).describe(
    "name, id or file of a pack, or recipe files as its methods",
  ),
};
const RESULT = { result_id: z.string().describe("id of a result, or a unique prefix of it") };
const count = (description: string) => z.int().min(1).optional().describe(description);

/** How often the recipes of a pack run. */
export const REPLICATION = {
  replicates: count("number of replicates; their maximum where a stopping rule is given"),
  until_errors: count("stop a recipe after N errors (packets, blocks or items; bits if errors are independent)"),
  until_halfwidth: z.number().positive().optional().describe(
    "stop a recipe when the half-width of its confidence interval reaches X",
  ),
  max_bits: count("stop a recipe after N compared bits"),
  parallel_workers: WORKERS,
};

/** How the rows of a pack run. */
const ROWS = {
  ...REPLICATION,
  parallel_points: z.int().min(1).max(32).default(1).describe("run up to N points at once (1-32)"),
  ignore_estimate: IGNORE_ESTIMATE,
  lint: LINT,
  continue_on_error: flag("continue with the next row after a failure"),
};

/** Tasks of a pack on an engine. */
export const ENGINE = {
  on: oneOf("run shards on this engine and merge them", ENGINES, "engine"),
  shards: count("number of tasks on the engine (default: 4)"),
  retries: z.int().min(0).optional().describe("resubmit an incomplete task up to N times (default: 2)"),
  sbatch: text("options of sbatch: time, memory, partition", "options"),
  hosts: text("hosts for GNU parallel, a line each (default: this machine)", "file"),
  detach: flag("return after the submission; continue with --resume"),
};

const PLOT = {
  ...RESULT,
  plot: oneOf("type of the figure; that of the pack when left out", FIGURE_TYPES),
  x: text("metric or coordinate along x (default: channel.snr_db)", "id"),
  y: text("metric along y", "id"),
  group: text("group curves by method, recipe, role or metric:<id> (default: method)", "by"),
  method_order: texts("order of the series", "names"),
  recipes: texts("only these recipes"),
  where: WHERE.describe("only recipes with this value of a metric or coordinate, or with method=<id>"),
  value: VALUE,
  baseline: BASELINE,
  bound: text("metric drawn as a dashed line, a bound of the metric along y", "id"),
  ...NAMES,
  intervals: z.enum(INTERVALS_OVER).default("replicates").describe(
    "unit of the confidence intervals; items are images or texts",
  ),
};

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
/** The options of a run that are no fields. */
type Means<Fields> = Omit<BenchmarkOptions, Camel<keyof Fields & string>>;

/** How the recipes of a pack will be planned and repeated. */
export type PackOptions = ReplicationOptions & Pick<PackRun, "backend" | "implementation" | "lint" | "strictLint">;

/** What the fields of a pack on an engine leave out. */
type EngineMeans = Cancellable & {
  /** Words that start svc where the tasks run; default those of this program. */
  program?: readonly string[];
  onEvent?(event: EngineEvent): void;
};

const packs = () => import("../../study/pack/packs.ts");
const reports = () => import("../../study/report/reports.ts");
const engine = () => import("../../study/engine/on_engine.ts");
const fileOf = async ({ workspace }: SessionCore, pack: string) =>
  (await packs()).resolvePack(pack, workspace.projectRoot);
const filesOf = (core: SessionCore, pack: PackSource): Promise<string[]> =>
  Promise.all([pack].flat().map((one) => fileOf(core, one)));

async function load(
  core: SessionCore,
  pack: PackSource,
  { backend, implementation, lint, strictLint, ...options }: PackOptions,
): Promise<PackLoad> {
  const [{ loadPack }, { lintSeverity }] = await Promise.all([
    import("../../study/pack/load_pack.ts"),
    import("../../plan/planner.ts"),
  ]);
  const { registry, readiness, workspace: { projectRoot } } = await core.means();
  const planning = { readiness, backend, implementation, lint: lintSeverity({ lint, strictLint }) };
  return await loadPack(await filesOf(core, pack), { ...options, registry, projectRoot, planning });
}

async function loaded(
  core: SessionCore,
  pack: PackSource,
  { name = [pack].flat().join(", "), ...options }: PackOptions & { name?: string },
): Promise<LoadedPack> {
  const found = await load(core, pack, options);
  if (found.pack !== null && found.valid) return found;
  throw refusal("pack_invalid", `Cannot use the pack ${name}`, found.diagnostics);
}

/** A result with the findings on itself; `diagnostics` are those on its pack. */
async function withFindings<Made extends Pick<BenchmarkRunResult, "result">>(made: Made) {
  const { resultFindings } = await import("../../study/report/result_findings.ts");
  return { ...made, found: resultFindings(made.result) };
}
const allFindings = (
  { diagnostics, found = [] }: { diagnostics: readonly Diagnostic[]; found?: Diagnostic[] },
) => [...diagnostics, ...found];

/** What runs of a pack get from the session. */
async function running(core: SessionCore, pack: PackSource, { cancellation = createCancellation() }: Cancellable) {
  return { ...await core.means(), pack: await filesOf(core, pack), cancellation };
}

async function stored({ workspace }: SessionCore, id: string) {
  return (await import("../../study/rows/store.ts")).showBenchmarkResult(workspace, id);
}

/** A result of a run, with the findings on itself. */
type FoundResult = BenchmarkRunResult & { found: Diagnostic[] };

/** A result over HTTP, whole or with a page of its rows. */
type ShownResult = ResultDocument & { page?: { count: number; next_rows_after: number | null } };
type StoredResult = { result: ShownResult; directory: string; found: Diagnostic[] };

export const benchmarks = {
  /** The packs of the project and of the program; `path` is relative to the project, null for a pack of the program. */
  packs: call("List the benchmark packs", {
    output: z.object({ packs: z.array(documentOf<Omit<PackListRow, "file"> & { path: string | null }>()) }),
    http: { route: "get /api/benchmarks/packs", returns: "Packs by name" },
    cli: { name: "benchmark list" },
    tool: "packs_list",
    publish: (rows: (PackListRow & { path: string | null })[]) => ({ packs: rows.map(({ file: _, ...row }) => row) }),
    async run({ workspace: { projectRoot } }) {
      return (await packs()).listBenchmarkPacks(projectRoot).map((row) => {
        const path = relative(projectRoot, row.file).replaceAll("\\", "/");
        return { ...row, path: path.startsWith("../") || isAbsolute(path) ? null : path };
      });
    },
  }),

  /**
   * A listed pack, or a file in `benchmarks/` of the project, with every finding.
   * @returns the pack; null where its file cannot be read as one
   * @throws SvcError `path_forbidden`, `pack_not_found`
   */
  pack: call("Show a pack: its protocol, its recipes, and the findings of `svc benchmark validate`", {
    fields: { path: z.string().describe("name or id of a pack, or its file in benchmarks/") },
    args: ["path"],
    output: z.object({
      status: z.enum(["valid", "invalid"]),
      name: z.string(),
      pack: documentOf<JsonObject>().nullable(),
      sha256: z.string().nullable(),
      replication: documentOf<Replication>().nullable(),
      recipes: z.array(
        documentOf<
          & Pick<PackEntry, "id" | "label" | "role" | "path" | "skip_reason">
          & Pick<PackEntry["params"], "method_id" | "baseline_id" | "matrix_selection">
        >(),
      ),
      diagnostics: z.array(DIAGNOSTIC),
    }),
    refuses: [400, 403, 404],
    http: { route: "get /api/benchmarks/pack", returns: "The pack; null where its file cannot be read as one" },
    tool: "packs_show",
    findings: ownDiagnostics,
    async run(core, { path }) {
      const { file, name } = (await packs()).confinedPack(path, core.workspace.projectRoot);
      const loaded = await load(core, file, {}), { pack, valid, diagnostics } = loaded;
      const { recipes, replication } = loaded.pack === null ? { recipes: [], replication: null } : loaded;
      return {
        status: valid ? "valid" as const : "invalid" as const,
        name,
        pack: pack?.document ?? null,
        sha256: pack?.sha256 ?? null,
        replication,
        recipes: recipes.map(({ entry: { id, label, role, path, skip_reason, params } }) => ({
          id,
          label,
          role,
          path,
          skip_reason,
          method_id: params.method_id,
          baseline_id: params.baseline_id,
          matrix_selection: params.matrix_selection,
        })),
        diagnostics,
      };
    },
  }),

  /** The file of a pack. @throws SvcError `pack_not_found` */
  file: call("Find the file of a pack", {
    fields: { pack: z.string() },
    args: ["pack"],
    run: (core, { pack }) => fileOf(core, pack),
  }),

  /**
   * Loads a pack with its recipes and makes every check that needs no run.
   * @returns the pack and every finding; `valid` says whether it can run, `pack` is null where the text has no such shape
   * @throws SvcError `pack_not_found`
   */
  load: call("Check a pack and its recipes without running them", {
    fields: PACK,
    args: ["pack"],
    findings: ownDiagnostics,
    run: (core, { pack }, options: PackOptions) => load(core, pack, options),
  }),

  /**
   * Loads a pack that can run; `name` names it in messages.
   * @throws SvcError `pack_not_found`, `pack_invalid` with every diagnostic
   */
  loaded: call("Load a pack that can run", {
    fields: PACK,
    args: ["pack"],
    findings: ownDiagnostics,
    run: (core, { pack }, options: PackOptions & { name?: string }) => loaded(core, pack, options),
  }),

  /**
   * Runs a pack, or recipes as the methods of one: every recipe in every replicate, as ordinary runs, with intervals and
   * paired comparisons. `resume` continues an interrupted benchmark; it ends with the same numbers as an uninterrupted one.
   * @returns the result and its folder; failed and rejected rows are findings in it
   * @throws SvcError `pack_invalid` with every diagnostic, `benchmark_resume_mismatch`, before anything is written
   */
  run: call("Run all recipes of a pack in all replicates and write a result with its evidence", {
    fields: {
      ...PACK,
      ...ROWS,
      strict_lint: flag("refuse a pack with lint errors"),
      resume: text("continue an unfinished result", "result"),
      retain_backing_runs: flag("keep the run bundles after their snapshots are written"),
      keep: oneOf("artifacts to keep in the kept runs (default: all)", ["all", "metrics"], "what"),
      drop: DROP,
    },
    args: ["pack"],
    findings: allFindings,
    async run(core, { pack, ...fields }, means: Means<typeof ROWS>): Promise<FoundResult> {
      const { runBenchmark } = await import("../../study/run_benchmark.ts");
      const given = { ...camelKeys(fields), ...means, ...await running(core, pack, means) };
      return await withFindings(await core.withPool((execute) => runBenchmark({ ...given, execute })));
    },
  }),

  /**
   * Runs the rows of one shard of a pack in a folder of its own, or those that it lacks.
   * @returns the result of these rows alone
   * @throws SvcError as `run`
   */
  shard: call("Run every n-th row of a pack into a folder that a merge reads", {
    fields: { ...PACK, ...ROWS },
    args: ["pack"],
    findings: ownDiagnostics,
    async run(
      core,
      { pack, ...fields },
      means: Omit<Means<typeof ROWS>, "resume"> & Pick<ShardRunOptions, "shard" | "out">,
    ): Promise<BenchmarkRunResult> {
      const { runShard } = await import("../../study/run_benchmark.ts");
      const given = { ...camelKeys(fields), ...means, ...await running(core, pack, means) };
      const { stateDir } = core.workspace;
      // Datasets stay in the state directory of the session.
      return await core.withPool((execute) =>
        runShard({ ...given, execute: (execution) => execute({ ...execution, stateDir }) })
      );
    },
  }),

  /**
   * Makes the result of shards: that of one machine which ran all rows.
   * @throws SvcError `pack_invalid`, `shard_conflict`, `shard_incomplete` with the missing rows
   */
  merge: call("Merge shards into one result, equal to that of a single machine", {
    fields: {
      ...PACK,
      folders: z.array(z.string()),
      into: text("id of the result (default: from the pack and the time)", "result"),
    },
    args: ["pack", "folders"],
    findings: allFindings,
    async run(core, { pack, folders, into: resultId }, means: Pick<PackRun, "onEvent"> & Cancellable) {
      const { mergeShards } = await import("../../study/run_benchmark.ts");
      const { onEvent } = means;
      return await withFindings(
        await mergeShards(folders, { ...await running(core, pack, means), onEvent, resultId }),
      );
    },
  }),

  /**
   * Runs a pack in shards that an engine starts, and follows them to the result of one machine.
   * @returns the result; with `detach`, or after a cancellation, the status of the tasks, which continue
   * @throws SvcError `pack_invalid`, `operation_canceled` before the submission, `benchmark_resume_mismatch`,
   *   `engine_unavailable`, `engine_job_failed` when rows are missing after all retries
   */
  runOn: call("Run a pack in shards on an engine and merge them", {
    fields: {
      ...REPLICATION,
      ...ENGINE,
      pack: z.string(),
      on: z.enum(ENGINES),
      parallel_points: ROWS.parallel_points.unwrap().optional(),
      ignore_estimate: IGNORE_ESTIMATE,
      lint: LINT,
      strict_lint: flag("refuse a pack with lint errors"),
      resume: text("continue a submitted benchmark; missing rows are submitted again", "result"),
    },
    args: ["pack"],
    findings: allFindings,
    async run(
      core,
      { pack, on, shards, retries = 2, sbatch, hosts, detach, resume, ...fields },
      means: EngineMeans,
    ): Promise<FoundResult | BenchmarkStatus & Pick<BenchmarkRunResult, "diagnostics"> & { found?: undefined }> {
      const [{ followBenchmark, recordOf, resumeWith, statusOf, submitBenchmark }, { optionWords }] = await Promise.all(
        [
          engine(),
          import("../../study/engine/written.ts"),
        ],
      );
      const { workspace } = core, { onEvent = () => {}, cancellation = createCancellation(), program } = means;
      const { strictLint, lint, ignoreEstimate, parallelPoints, parallelWorkers, ...asked } = camelKeys(fields);
      const before = resume === undefined ? null : recordOf(workspace, resume);
      const replication = before?.replication ?? asked;
      const ready = await loaded(core, pack, { ...replication, lint, strictLint });
      if (cancellation.isCancelled) {
        throw new SvcError("operation_canceled", `Cannot submit ${pack}: the command was canceled`);
      }
      const options = optionWords({
        ...asked,
        parallelWorkers,
        parallelPoints,
        ignoreEstimate: ignoreEstimate || undefined,
        lint: lint === false ? lint : undefined,
      });
      const tasks = { engine: on, loaded: ready, sbatch, hosts, options };
      const started = (words: readonly string[]) => [...words, ...core.globalWords()];
      const record = before !== null
        ? resumeWith(before, { ...tasks, shards, program: program && started(program) })
        : recordOf(
          workspace,
          await submitBenchmark({
            ...tasks,
            pack,
            workspace,
            program: started(program ?? core.program()),
            replication,
            shards: shards ?? 4,
            retries,
            onEvent,
          }),
        );
      const following = { record, loaded: ready, workspace, retries, again: before !== null, cancellation, onEvent };
      const made = (detach ? null : await followBenchmark(following)) ?? await statusOf(workspace, record.result_id);
      const checked = { ...made, diagnostics: ready.diagnostics };
      return "result" in checked ? await withFindings(checked) : checked;
    },
  }),

  /** How far a benchmark is: that of an engine with its tasks. @throws SvcError `result_not_found`, `engine_unavailable` */
  status: call("Show the progress of a benchmark on an engine: tasks and completed rows", {
    fields: RESULT,
    args: ["result_id"],
    cli: { usage: "<result>" },
    run: async ({ workspace }, { result_id }) => await (await engine()).statusOf(workspace, result_id),
  }),

  /** Benchmarks on engines without a result yet, with the progress of each recipe. */
  submitted: call("List the benchmarks on engines that have no result yet, with the progress of each recipe", {
    output: z.object({ submitted: z.array(documentOf<SubmittedBenchmark | DamagedBenchmark>()) }),
    http: {
      route: "get /api/benchmarks/submitted",
      returns: "A benchmark each, newest first; one with a damaged record has `problem` instead of progress",
    },
    cli: {},
    publish: (submitted: (SubmittedBenchmark | DamagedBenchmark)[]) => ({ submitted }),
    run: async ({ workspace }) => (await engine()).submittedBenchmarks(workspace),
  }),

  /**
   * Ends the tasks of a benchmark on an engine.
   * @returns its id
   * @throws SvcError `result_not_found`, `execution_invalid` for a result that no engine makes
   */
  cancel: call("Cancel the tasks of a benchmark on an engine; completed rows are kept for --resume", {
    fields: RESULT,
    args: ["result_id"],
    cli: { usage: "<result>" },
    run: async ({ workspace }, { result_id }) => await (await engine()).cancelOnEngine(workspace, result_id),
  }),

  /** The stored results, newest first. */
  results: call("List the stored results, newest first", {
    output: z.object({ results: z.array(documentOf<ResultListRow>()) }),
    http: { route: "get /api/benchmarks/results", returns: "A row each" },
    cli: {},
    tool: "results_list",
    publish: (results: ResultListRow[]) => ({ results }),
    run: async ({ workspace }) => (await import("../../study/rows/result_index.ts")).listResultsFromIndex(workspace),
  }),

  /** The differences between two results, recipe by recipe. @throws SvcError `result_not_found` */
  compare: call("Compare two results recipe by recipe: metrics, intervals, and whether they agree", {
    fields: { a: RESULT.result_id, b: RESULT.result_id },
    args: ["a", "b"],
    output: documentOf<ResultDiff>(),
    refuses: [400, 404],
    http: { route: "get /api/benchmarks/compare", returns: "The report" },
    cli: { usage: "<a> <b>" },
    tool: "results_compare",
    async run(core, { a, b }) {
      const { compareResults } = await import("../../study/report/compare_results.ts");
      return compareResults((await stored(core, a)).result, (await stored(core, b)).result);
    },
  }),

  /**
   * BD-rate and BD-quality between the curves of a result and those of a baseline, with intervals.
   * @throws SvcError `result_not_found`, `usage_invalid`
   */
  rateDifferences: call("Mean differences of rate-distortion curves from a baseline: BD-rate, BD-PSNR, intervals", {
    fields: {
      ...RESULT,
      x: text("metric of the rate (default: that of the pack)", "id"),
      y: text("metric of the quality (default: that of the pack, or quality.psnr_db)", "id"),
      group: PLOT.group,
      where: WHERE.describe("only recipes with this value of a metric or coordinate, or with method=<id>"),
      baseline: BASELINE,
    },
    args: ["result_id"],
    output: documentOf<RateDifferences>(),
    refuses: [400, 404],
    http: { route: "get /api/benchmarks/results/:result_id/rate-differences", returns: "The differences" },
    cli: { usage: "<result>", fields: ["result_id"] },
    async run(core, { result_id, ...request }) {
      const { rateDifferences } = await import("../../study/report/rate_differences.ts");
      return rateDifferences((await stored(core, result_id)).result, request);
    },
  }),

  /** A result, with a page of its rows where one is asked for, and its folder. @throws SvcError `result_not_found` */
  result: call("Show a stored result (a unique prefix of its id is enough)", {
    fields: {
      ...RESULT,
      rows_after: z.int().min(0).optional().describe("number of rows before a page of them"),
      limit: z.int().min(1).max(1000).optional().describe("rows of the page; default 1000"),
    },
    args: ["result_id"],
    output: documentOf<ShownResult>(z.object({ result_id: z.string(), status: z.string() })),
    refuses: [400, 404],
    http: {
      route: "get /api/benchmarks/results/:result_id",
      returns: "result.json; of a page with `page`: `rows_after` of the next one, or null",
      stable: true,
    },
    cli: { usage: "<result>", without: ["rows_after", "limit"] },
    tool: "results_show",
    publish: ({ result }: StoredResult) => result,
    findings: ({ found }: StoredResult) => found,
    async run(core, { result_id, rows_after, limit }): Promise<StoredResult> {
      const shown = await stored(core, result_id);
      if (rows_after !== undefined || limit !== undefined) {
        const { pageOfRows } = await import("../../study/rows/stored_rows.ts");
        const { result, directory } = shown, after = rows_after ?? 0;
        const recipes = pageOfRows(result, directory, after, limit ?? 1000);
        const all = result.rows?.count ?? result.recipes.length, next = after + recipes.length;
        return {
          result: { ...result, recipes, page: { count: all, next_rows_after: next < all ? next : null } },
          directory,
          // They need all rows.
          found: [],
        };
      }
      return displayed(await withFindings(shown), async () => {
        const { reportTables } = await import("../../study/report/report_tables.ts");
        const { cellTexts, tableMarkdown } = await import("../../study/report/table.ts");
        const tables = reportTables(shown.result, "unicode").filter(({ id }) => id !== "intervals");
        return {
          "text/plain": tables.map((table) => `${table.title}\n\n${tableMarkdown(table)}`).join("\n"),
          "text/html": tables.map((table) => `<h4>${table.title}</h4>${htmlTable(...cellTexts(table))}`).join(""),
        };
      });
    },
  }),

  /**
   * A page of the rows of a result.
   * @throws SvcError `result_not_found`, `bundle_file_missing`, `bundle_hash_mismatch`
   */
  rows: call("Read a page of the rows of a result", {
    fields: {
      ...RESULT,
      after: z.int().min(0).default(0).describe("number of rows before the page"),
      limit: z.int().min(1).default(1000).describe("rows of the page"),
    },
    args: ["result_id"],
    async run(core, { result_id, after, limit }) {
      const { pageOfRows } = await import("../../study/rows/stored_rows.ts");
      const { result, directory } = await stored(core, result_id);
      return pageOfRows(result, directory, after, limit);
    },
  }),

  /**
   * The evidence that a result keeps of one of its runs.
   * @throws SvcError `result_not_found`, `run_not_found`, `bundle_hash_mismatch`, `bundle_file_missing`
   */
  evidence: call("Read the evidence that a result keeps of one of its runs", {
    fields: { ...RESULT, run_id: z.string() },
    args: ["result_id", "run_id"],
    output: documentOf<Snapshot>(),
    refuses: [404, 422],
    http: { route: "get /api/benchmarks/results/:result_id/runs/:run_id", returns: "The snapshot" },
    async run(core, { result_id, run_id: wanted }): Promise<Snapshot> {
      const [{ readSnapshot }, { allRows }] = await Promise.all([
        import("../../study/rows/evidence.ts"),
        import("../../study/rows/stored_rows.ts"),
      ]);
      const { result, directory } = await stored(core, result_id);
      for (const { run_id, run_evidence_snapshot: record } of allRows(result)) {
        if (run_id === wanted && record !== null) return readSnapshot(directory, record);
      }
      throw new SvcError("run_not_found", `Cannot find evidence of the run ${wanted} in ${result.result_id}`);
    },
  }),

  /** Checks hashes, ledger, evidence, provenance and statistics of a result. @throws SvcError `result_not_found` */
  verify: call("Verify hashes, ledger, evidence, provenance and statistics of a result", {
    fields: RESULT,
    args: ["result_id"],
    output: documentOf<BenchmarkVerification>(
      z.object({ status: z.enum(["valid", "warning", "invalid"]), target_id: z.string() }),
    ),
    refuses: [404, 409],
    http: { route: "get /api/benchmarks/results/:result_id/verify", returns: "The report, valid or not" },
    cli: { usage: "<result>", exits: "exit 6 on a difference" },
    tool: "results_verify",
    publish: (report: BenchmarkVerification) => ({ ...report, path: `benchmarks/${report.target_id}` }),
    run: async (core, { result_id }) =>
      await (await import("../../study/verify.ts")).verifyBenchmark(core.workspace, result_id, await core.registry()),
  }),

  /**
   * Writes the tables of a result: CSV, Markdown, LaTeX; with `evidence` also the documents of its runs.
   * @throws SvcError `result_not_found`, `usage_invalid`
   */
  export: call("Write the tables of a result again as CSV, Markdown and LaTeX (same bytes)", {
    fields: {
      ...RESULT,
      out: text("output folder (default: the result)", "folder"),
      evidence: flag("also write the documents of each run to runs/<run_id>/, as the rows name them"),
    },
    args: ["result_id"],
    cli: { usage: "<result>" },
    run: async ({ workspace }, { result_id, ...options }) =>
      (await reports()).exportBenchmark(workspace, result_id, options),
  }),

  /** The tables that `export` writes, as texts by file name. @throws SvcError `result_not_found` */
  tables: call("Read the tables of a result: the texts that `svc benchmark export` writes", {
    fields: RESULT,
    args: ["result_id"],
    output: z.object({ result_sha256: z.string(), files: z.record(z.string(), z.string()) }),
    refuses: [404],
    http: { route: "get /api/benchmarks/results/:result_id/export", returns: "Texts by file name" },
    run: async ({ workspace }, { result_id }) => (await reports()).exportedTables(workspace, result_id),
  }),

  /** The files that `plot` writes. @throws SvcError as `plot` */
  figure: call("Draw a result: the texts that `svc benchmark plot` writes", {
    fields: PLOT,
    args: ["result_id"],
    output: FIGURE.extend({ confusion: z.boolean() }),
    refuses: [400, 404],
    http: {
      route: "get /api/benchmarks/results/:result_id/figure",
      returns: "The figure as data, and as texts by file name: specification, SVG, CSV and the record that binds them",
      names: { recipes: "recipe" },
      without: ["method_order", "where", "bound", "label", "units", "intervals"],
    },
    tool: "results_figure",
    publish: ({ plot, x, y, group, name, figure, confusion, files }: PlotFiles & { confusion: boolean }) => (
      { plot, x, y, group, name, figure, confusion, files: textFiles(files) }
    ),
    async run({ workspace }, { result_id, ...request }) {
      const drawn = await (await reports()).drawnPlot(workspace, result_id, camelKeys(request));
      return displayed(drawn, () => figureDisplay(drawn.name, drawn.files));
    },
  }),

  /**
   * Draws a result: Vega-Lite specification, SVG, PNG, CSV and the record that binds them to it.
   * @throws SvcError `result_not_found`, `usage_invalid`
   */
  plot: call("Plot a result: Vega-Lite specification, SVG, PNG, CSV and a record of their digests", {
    fields: {
      ...PLOT,
      out: text("output folder (default: figures/ of the result)", "folder"),
      ...FILES,
    },
    args: ["result_id"],
    cli: { usage: "<result> [type]", fields: ["result_id", "plot"], without: ["recipes"] },
    run: async ({ workspace }, { result_id, out, name, format, ...request }, { style }: { style?: FigureStyle }) =>
      await (await reports()).plotBenchmark(workspace, result_id, camelKeys(request), { style, out, name, format }),
  }),

  /** Writes a result as a static page. @throws SvcError `result_not_found`, `benchmark_incomplete`, `usage_invalid` */
  publish: call("Write a result as a static page with figures, tables, protocol and digests", {
    fields: {
      ...RESULT,
      slug: text("name of its folder (default: the id of the pack)", "slug"),
      out: text("output folder (default: published/ of the result)", "folder"),
    },
    args: ["result_id"],
    cli: { usage: "<result>" },
    run: async ({ workspace }, { result_id, ...options }) =>
      await (await reports()).publishBenchmark(workspace, result_id, options),
  }),

  /** Sends results to an object store, `s3://bucket/prefix`; all without ids. @throws SvcError as `runs.push` */
  push: pushCall("benchmarks", "results"),

  /** Receives results from an object store, verified before they appear. @throws SvcError as `runs.pull` */
  pull: pullCall("benchmarks", "results"),

  /** Families of benchmark protocols. */
  suites: call("List the families of benchmark protocols, with their tasks and packs", {
    cli: { name: "suite list" },
    output: z.object({ suites: z.array(OBJECT) }),
    http: { route: "get /api/suites", returns: "The suites" },
    publish: (suites: Suite[]) => ({ suites }),
    run: async ({ workspace }) => (await import("../../study/pack/suites.ts")).listSuites(workspace.projectRoot),
  }),

  /** One family. @throws SvcError `not_found` with the nearest id */
  suite: call("Show the tasks and packs of a suite", {
    fields: { suite: z.string() },
    args: ["suite"],
    cli: { name: "suite show", usage: "<suite>" },
    run: async ({ workspace }, { suite }) =>
      (await import("../../study/pack/suites.ts")).findSuite(suite, workspace.projectRoot),
  }),

  /** Checks a submitted folder: pack, result and verification report together. */
  validateSubmission: call("Check a pack, its result and its verification report together", {
    fields: { folder: z.string() },
    args: ["folder"],
    cli: { name: "submission validate", usage: "<folder>", exits: "exit 6 with findings" },
    run: async (_core, { folder }) => (await import("../../study/engine/submission.ts")).validateSubmission(folder),
  }),
};
