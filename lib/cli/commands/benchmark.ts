/** `svc benchmark`: packs of recipes compared under one protocol, and the results they left. */
import type { BenchmarkResult } from "../../benchmark/types.ts";
import type { JsonObject } from "../../contract/value.ts";
import { type Command, InvalidArgumentError } from "../commander.ts";
import { type CliContext, contextOf } from "../context.ts";
import { EXIT, formatDiagnostic } from "../problem.ts";
import { formatTable } from "../table.ts";
import { workerCount } from "../worker_count.ts";
import { reportCommands } from "./benchmark_report.ts";

export function benchmarkCommands(program: Command): void {
  const benchmark = program.command("benchmark")
    .description("run packs of recipes under one protocol, and read their results");

  benchmark.command("list").description("list the benchmark packs").action(list);

  benchmark.command("show <pack>")
    .description("show a pack: its data, task, metrics and recipes")
    .addHelpText("after", "\nExamples\n  svc benchmark show bit_transport/ber_theory_v1\n")
    .action(show);

  benchmark.command("validate <pack>")
    .description("check a pack and every recipe in it, and run nothing; exit 3 when it is refused")
    .option("--summary", "print only the outcome and the number of findings")
    .addHelpText("after", "\nExamples\n  svc benchmark validate benchmarks/my_pack.yaml\n")
    .action(validate);

  benchmark.command("run <pack>")
    .description("run every recipe of a pack in every replicate, and leave a result with its evidence")
    .option("--replicates <n>", "replicates of every recipe, or the most of them", wholeNumber)
    .option("--until-errors <n>", "stop a recipe when it has counted this many errors", wholeNumber)
    .option("--until-halfwidth <x>", "stop a recipe when its interval reaches no further than this", positive)
    .option("--max-bits <n>", "stop a recipe when it has compared this many bits", wholeNumber)
    .option("--parallel-workers <n>", "steps of a run that may overlap, 1 to 32 (default: 1)", workerCount)
    .option("--continue-on-error", "go on behind a row that failed")
    .option("--resume <result>", "go on with an unfinished result")
    .option("--retain-backing-runs", "keep the runs beside their snapshots")
    .addHelpText(
      "after",
      "\nExamples\n  svc benchmark run bit_transport/ber_theory_v1\n" +
        "  svc benchmark run my_pack.yaml --replicates 10 --continue-on-error\n" +
        "  svc benchmark run my_pack.yaml --until-errors 100 --max-bits 1000000000\n" +
        "  svc benchmark run my_pack.yaml --resume 20260101T120000Z_my_pack\n",
    )
    .action(run);

  benchmark.command("results").description("list the stored results, newest first").action(results);

  benchmark.command("result <result>")
    .description("show a stored result; a unique beginning of its id is enough")
    .action(result);

  benchmark.command("verify <result>")
    .description(
      "re-check hashes, ledger, evidence, provenance and statistics of a result; exit 6 when something differs",
    )
    .addHelpText("after", "\nExamples\n  svc benchmark verify 20260101T120000Z_ber_theory_v1\n")
    .action(verify);

  benchmark.command("compare <a> <b>")
    .description("compare two results recipe by recipe: metrics, intervals, and whether they agree")
    .action(compare);

  reportCommands(benchmark);
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || !Number.isSafeInteger(value)) {
    throw new InvalidArgumentError("Give a whole number above zero.");
  }
  return value;
}

function positive(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value > 0 && value < Infinity)) {
    throw new InvalidArgumentError("Give a number above zero.");
  }
  return value;
}

async function packFile(context: CliContext, wanted: string): Promise<string> {
  const { resolvePack } = await import("../../benchmark/packs.ts");
  return resolvePack(wanted, (await context.workspace()).projectRoot);
}

async function list(_options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { listBenchmarkPacks } = await import("../../benchmark/packs.ts");
  const packs = listBenchmarkPacks((await context.workspace()).projectRoot);
  context.emit({ schema_version: 1, packs: packs as unknown as JsonObject[] });
  if (packs.length === 0) return context.note("No packs. Put one into benchmarks/");
  context.print(formatTable(
    packs.map(({ name, tier, task, recipes, title, problem }) => ({
      pack: name,
      tier: tier ?? "",
      task: task ?? "",
      recipes,
      title: problem === undefined ? title ?? "" : `cannot be read: ${problem}`,
    })),
    [{ key: "pack" }, { key: "tier" }, { key: "task" }, { key: "recipes", align: "right" }, { key: "title" }],
  ));
}

async function load(context: CliContext, wanted: string) {
  const { loadPack } = await import("../../benchmark/load_pack.ts");
  const { excerpt } = await import("../../recipe/read.ts");
  const { readinessOf } = await import("../../execute/readiness.ts");
  const file = await packFile(context, wanted);
  const text = await Deno.readTextFile(file);
  context.excerpt = (location) => location.file === file ? excerpt(text, location) : "";
  const workspace = await context.workspace();
  return await loadPack(file, {
    registry: await context.registry(),
    projectRoot: workspace.projectRoot,
    planning: { readiness: readinessOf(workspace) },
  });
}

async function show(wanted: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { packRefusal } = await import("../../benchmark/pack.ts");
  const loaded = await load(context, wanted);
  if (loaded.pack === null) throw packRefusal(loaded.diagnostics, wanted);
  const { pack, recipes, replication, file } = loaded;
  context.emit({
    schema_version: 1,
    file,
    sha256: pack.sha256,
    pack: pack.document,
    replication: replication as unknown as JsonObject | null,
    status: loaded.valid ? "valid" : "invalid",
    diagnostics: loaded.diagnostics as unknown as JsonObject[],
  });
  context.print(`${context.paint("bold", pack.name)}  ${pack.id}, version ${pack.version}, ${pack.tier}`);
  context.print(`  data set ${pack.dataset.id}, task ${pack.task.id}`);
  context.print(`  metrics ${pack.metrics.map(({ id }) => id).join(", ")}`);
  if (pack.baselines.length > 0) context.print(`  baselines ${pack.baselines.join(", ")}`);
  if (replication !== null) {
    const { replicates, until_errors, until_halfwidth, max_bits } = replication;
    const until = [
      ...(until_errors === null ? [] : [`${until_errors} errors`]),
      ...(until_halfwidth === null ? [] : [`a half-width of ${until_halfwidth}`]),
      ...(max_bits === null ? [] : [`${max_bits} bits`]),
    ];
    const limit = until.length === 0 ? "" : `, until ${until.join(" or ")}`;
    context.print(`  replicates ${until.length === 0 ? "" : "up to "}${replicates}${limit}`);
  }
  context.print(`  hash ${pack.sha256}\n`);
  context.print(formatTable(
    recipes.map(({ entry }) => ({
      recipe: entry.id,
      role: entry.skip_reason === null ? entry.role : `skipped: ${entry.skip_reason}`,
      path: entry.path,
      label: entry.label,
    })),
    [{ key: "recipe" }, { key: "role" }, { key: "path" }, { key: "label" }],
  ));
  for (const item of loaded.diagnostics) context.note(formatDiagnostic(item, context.paintError, context.excerpt));
}

async function validate(wanted: string, options: { summary?: boolean }, command: Command): Promise<void> {
  const context = contextOf(command);
  const { packRefusal } = await import("../../benchmark/pack.ts");
  const { valid, diagnostics, pack, file } = await load(context, wanted);
  const count = (severity: string) => diagnostics.filter((item) => item.severity === severity).length;
  const document: JsonObject = {
    schema_version: 1,
    status: valid ? "valid" : "invalid",
    file,
    pack_id: pack?.id ?? null,
    pack_sha256: pack?.sha256 ?? null,
    recipes: pack?.recipes.length ?? 0,
    error_count: count("error"),
    warning_count: count("warning"),
    ...(options.summary ? {} : { diagnostics: diagnostics as unknown as JsonObject[] }),
  };
  if (!valid && !options.summary) throw packRefusal(diagnostics, wanted);
  context.emit(document);
  if (!options.summary) {
    for (const item of diagnostics) context.note(formatDiagnostic(item, context.paintError, context.excerpt));
  }
  const outcome = context.paint(valid ? "green" : "red", String(document.status));
  context.print(
    `${outcome}  ${pack?.id ?? wanted}: ${document.recipes} recipes, ${count("error")} errors, ${
      count("warning")
    } warnings`,
  );
  if (!valid) context.exitCode = EXIT.refused;
}

interface RunOptions {
  replicates?: number;
  untilErrors?: number;
  untilHalfwidth?: number;
  maxBits?: number;
  parallelWorkers?: number;
  continueOnError?: boolean;
  resume?: string;
  retainBackingRuns?: boolean;
}

async function run(wanted: string, options: RunOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const { runBenchmark } = await import("../../benchmark/run_benchmark.ts");
  const { createCancellation } = await import("../../execute/cancellation.ts");
  const { readinessOf } = await import("../../execute/readiness.ts");
  const { benchmarkProgress } = await import("../benchmark_progress.ts");
  const workspace = await context.workspace();
  const progress = benchmarkProgress(context);
  const cancellation = createCancellation();
  const onInterrupt = () => {
    if (cancellation.isCancelled) Deno.exit(EXIT.canceled);
    cancellation.cancel();
    context.note("Canceling: the running steps are asked to stop (Ctrl+C again leaves at once)");
  };
  Deno.addSignalListener("SIGINT", onInterrupt);
  try {
    const { result, directory, diagnostics } = await runBenchmark({
      pack: await packFile(context, wanted),
      registry: await context.registry(),
      workspace,
      readiness: readinessOf(workspace),
      cancellation,
      ...options,
      onEvent: ({ kind, fields }) => progress.event(kind, fields),
    });
    progress.done();
    for (const item of diagnostics) context.note(formatDiagnostic(item, context.paintError));
    await printResult(context, result, directory);
    if (cancellation.isCancelled) context.exitCode = EXIT.canceled;
    else if (result.status !== "completed") context.exitCode = EXIT.runFailed;
    if (result.status !== "completed") {
      context.note(`Go on with: svc benchmark run ${wanted} --resume ${result.result_id}`);
    }
  } finally {
    progress.done();
    Deno.removeSignalListener("SIGINT", onInterrupt);
  }
}

async function printResult(context: CliContext, result: BenchmarkResult, directory: string): Promise<void> {
  const { aggregateTable, comparisonTable, powerRemark, problemLines } = await import("../benchmark_table.ts");
  context.emit(result as unknown as JsonObject);
  if (context.json) return;
  if (result.aggregates.length > 0) context.print(aggregateTable(result));
  const comparisons = comparisonTable(result);
  if (comparisons !== "") context.print(`\n${comparisons}`);
  const remark = powerRemark(result);
  if (remark !== null) context.note(remark);
  for (const line of problemLines(result.recipes)) context.print(context.paint("yellow", line));
  const color = result.status === "completed" ? "green" : result.status === "failed" ? "red" : "yellow";
  const rows = result.recipes.filter(({ status }) => status === "completed").length;
  context.print(
    `\n${
      context.paint(color, result.status)
    }  ${result.result_id}: ${rows} of ${result.recipes.length} rows completed` +
      (result.incomplete_reason === undefined ? "" : `, ${result.incomplete_reason}`),
  );
  context.print(`result ${directory}`);
}

async function results(_options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { listBenchmarkResults } = await import("../../benchmark/store.ts");
  const rows = listBenchmarkResults(await context.workspace());
  context.emit({ schema_version: 1, results: rows as unknown as JsonObject[] });
  if (rows.length === 0) {
    return context.note("No results yet. Start with: svc benchmark run bit_transport/ber_theory_v1");
  }
  context.print(formatTable(
    rows.map((row) => ({
      result: row.result_id,
      status: row.problem === undefined ? row.status : `cannot be read: ${row.problem}`,
      rows: `${row.completed_rows}/${row.rows}`,
      version: row.benchmark_version,
      created: row.created_at_utc,
    })),
    [{ key: "result" }, { key: "status" }, { key: "rows", align: "right" }, { key: "version" }, { key: "created" }],
  ));
}

async function result(wanted: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { showBenchmarkResult } = await import("../../benchmark/store.ts");
  const shown = showBenchmarkResult(await context.workspace(), wanted);
  await printResult(context, shown.result, shown.directory);
}

async function verify(wanted: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { verifyBenchmark } = await import("../../benchmark/verify.ts");
  const report = await verifyBenchmark(await context.workspace(), wanted);
  context.emit({ schema_version: 1, ...report } as unknown as JsonObject);
  const color = report.status === "valid" ? "green" : report.status === "warning" ? "yellow" : "red";
  context.print(`${context.paint(color, report.status)}  ${report.target_id}: ${report.checks.length} checks`);
  for (const item of [...report.errors, ...report.warnings]) {
    const style = item.severity === "error" ? "red" : "yellow";
    context.print(`  ${context.paint(style, `${item.severity}[${item.code}]`)} ${item.message} (${item.file})`);
  }
  if (report.status === "invalid") context.exitCode = EXIT.differs;
}

async function compare(a: string, b: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { compareResults } = await import("../../benchmark/compare_results.ts");
  const { resultDiffTable } = await import("../benchmark_table.ts");
  const { showBenchmarkResult } = await import("../../benchmark/store.ts");
  const workspace = await context.workspace();
  const report = compareResults(showBenchmarkResult(workspace, a).result, showBenchmarkResult(workspace, b).result);
  context.emit(report as unknown as JsonObject);
  context.print(resultDiffTable(report));
  if (!report.same_pack) context.note("The two are of different packs, or of different versions of one");
}
