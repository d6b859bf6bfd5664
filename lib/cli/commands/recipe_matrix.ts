/** `svc recipe expand-matrix` and `svc recipe run-matrix`: the variants of one recipe. */
import { SvcError } from "../../contract/error.ts";
import { prettyJson } from "../../contract/json.ts";
import type { JsonObject } from "../../contract/value.ts";
import type { MatrixRow, MatrixRunResult } from "../../run/run_matrix.ts";
import { type Command, Option } from "../commander.ts";
import { type CliContext, contextOf } from "../context.ts";
import { EXIT, formatDiagnostic } from "../problem.ts";
import { workerCount } from "../worker_count.ts";
import { formatTable, type TableFormat } from "../table.ts";
import { lintOrRefuse } from "./recipe_lint.ts";

interface ExpandOptions {
  set: string[];
  strictLegacy?: boolean;
}

interface RunMatrixOptions extends ExpandOptions {
  parallelWorkers: number;
  planCache: boolean;
  backend?: string;
  implementation?: string;
  continueOnError?: boolean;
  points?: string[];
  rerun?: boolean;
  strictLint?: boolean;
  format: TableFormat | "json";
}

const collect = (value: string, previous: string[]): string[] => [...previous, value];
const names = (text: string, previous: string[] = []): string[] => [...previous, ...text.split(",")];

export function matrixCommands(recipe: Command): void {
  const set = () =>
    new Option("--set <step.param=value>", "override a parameter of every variant; read as JSON, else as text")
      .argParser(collect).default([], "none");

  recipe.command("expand-matrix <file>")
    .description("show the concrete recipes of a matrix; with --json the recipes themselves")
    .addOption(set())
    .option("--strict-legacy", "refuse the forms that came before metadata.matrix")
    .addHelpText(
      "after",
      "\nExamples\n  svc recipe expand-matrix recipes/recipe_starters/image_protected_digital_awgn.yaml\n",
    )
    .action(expand);

  recipe.command("run-matrix <file>")
    .description("run every variant of a matrix, in order; one that has a verified complete run is not run again")
    .addOption(set())
    .option("--points <names>", "only these: indices, variant ids, names or dimension=value, with commas", names)
    .option("--rerun", "run variants again that have a verified complete run")
    .option("--continue-on-error", "go on behind a variant that failed")
    .option("--parallel-workers <n>", "steps of a variant that may overlap, 1 to 32", workerCount, 1)
    .option("--no-plan-cache", "plan without the cache")
    .option("--backend <name>", "backend for every step that declares it")
    .option("--implementation <name>", "implementation for every step that declares it")
    .option("--strict-legacy", "refuse the forms that came before metadata.matrix")
    .option("--strict-lint", "refuse a recipe that does not pass recipe lint")
    .addOption(new Option("--format <format>", "output form").choices(["table", "csv", "md", "json"]).default("table"))
    .addHelpText(
      "after",
      "\nExamples\n  svc recipe run-matrix recipe.yaml --parallel-workers 4\n" +
        "  svc recipe run-matrix recipe.yaml --points 0,5,10 --format csv > sweep.csv\n" +
        "  svc recipe run-matrix recipe.yaml --points snr_db=6.0 --rerun\n",
    )
    .action(runMatrixCommand);
}

async function expand(file: string, options: ExpandOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const { loadRecipe } = await import("../load_recipe.ts");
  const { expandMatrix, expansionDocument } = await import("../../recipe/expand_matrix.ts");
  const { valueText } = await import("../../recipe/variant_name.ts");
  const [registry, loaded] = [await context.registry(), await loadRecipe(context, file, options.set)];
  const { strictLegacy } = options;
  const expansion = expandMatrix(loaded.raw, { registry, locate: loaded.locate, strictLegacy });
  if (expansion.status === "invalid") {
    throw new SvcError("recipe_invalid", `Cannot expand ${loaded.file}`, { diagnostics: expansion.diagnostics });
  }
  context.emit({ schema_version: 1, ...expansionDocument(expansion) });
  for (const item of expansion.diagnostics) context.note(formatDiagnostic(item, context.paintError, context.excerpt));
  const { points } = expansion;
  if (points.length === 0) return context.print(`${expansion.recipe!.name} has no matrix to expand`);
  const dimensions = Object.keys(points[0].selection);
  context.print(formatTable(
    points.map(({ index, selection, variant_id, recipe }) => ({
      index,
      ...Object.fromEntries(dimensions.map((name) => [`at ${name}`, valueText(selection[name])])),
      name: recipe.name,
      id: `${variant_id.slice(0, 17)}…`,
    })),
    [
      { key: "index", align: "right" },
      ...dimensions.map((title) => ({ key: `at ${title}`, title, align: "right" as const })),
      { key: "id", title: "variant" },
      { key: "name" },
    ],
  ));
}

async function runMatrixCommand(file: string, options: RunMatrixOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const { loadRecipe } = await import("../load_recipe.ts");
  const { createCancellation } = await import("../../execute/cancellation.ts");
  const { readinessOf } = await import("../../execute/readiness.ts");
  const { runMatrix } = await import("../../run/run_matrix.ts");
  const { matrixProgress } = await import("../matrix_progress.ts");
  const [registry, loaded] = [await context.registry(), await loadRecipe(context, file, options.set)];
  if (options.strictLint) await lintOrRefuse(loaded, registry);
  const workspace = await context.workspace();
  const progress = matrixProgress(context);
  const cancellation = createCancellation();
  const onInterrupt = () => {
    if (cancellation.isCancelled) Deno.exit(EXIT.canceled);
    cancellation.cancel();
    context.note("Canceling: the running steps are asked to stop (Ctrl+C again leaves at once)");
  };
  Deno.addSignalListener("SIGINT", onInterrupt);
  try {
    const result = await runMatrix({
      raw: loaded.raw,
      locate: loaded.locate,
      registry,
      workspace,
      readiness: readinessOf(workspace),
      backend: options.backend,
      implementation: options.implementation,
      parallelWorkers: options.parallelWorkers,
      usePlanCache: options.planCache,
      continueOnError: options.continueOnError,
      points: options.points,
      rerun: options.rerun,
      strictLegacy: options.strictLegacy,
      cancellation,
      onEvent: ({ kind, fields }) => progress.event(kind, fields),
    });
    progress.done();
    await show(context, result, options.format);
  } finally {
    Deno.removeSignalListener("SIGINT", onInterrupt);
  }
}

async function show(context: CliContext, result: MatrixRunResult, format: TableFormat | "json"): Promise<void> {
  const { matrixTable } = await import("../matrix_table.ts");
  const { status, recipe_name, rows, canonical_matrix, diagnostics } = result;
  for (const item of diagnostics) {
    if (item.severity === "warning") context.note(formatDiagnostic(item, context.paintError, context.excerpt));
  }
  const document = {
    schema_version: 1,
    status,
    recipe_name,
    canonical_matrix: canonical_matrix as unknown as JsonObject,
    rows,
  };
  context.emit(document);
  if (format === "json") context.print(prettyJson(document));
  else {
    context.print(matrixTable(rows, format));
    const text = `${outcome(context, status)}  ${recipe_name}: ${countText(rows)}`;
    // Behind data for other programs, what is said to people goes to standard error.
    if (format === "table") context.print(`\n${text}`);
    else context.note(text);
  }
  if (status !== "completed") context.exitCode = status === "canceled" ? EXIT.canceled : EXIT.runFailed;
}

function outcome(context: CliContext, status: MatrixRunResult["status"]): string {
  return context.paint(status === "completed" ? "green" : status === "canceled" ? "yellow" : "red", status);
}

function countText(rows: readonly MatrixRow[]): string {
  const count = (wanted: (row: MatrixRow) => boolean, what: string) => {
    const found = rows.filter(wanted).length;
    return found === 0 ? [] : [`${found} ${what}`];
  };
  return [
    ...count((row) => row.status === "completed" && !row.reused, "completed"),
    ...count((row) => row.reused, "completed before"),
    ...count((row) => row.status === "failed", "failed"),
    ...count((row) => row.status === "canceled", "canceled"),
    ...count((row) => row.status === "skipped", "not reached"),
  ].join(", ");
}
