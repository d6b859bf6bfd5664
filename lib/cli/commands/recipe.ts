/** `svc recipe`: validate, look at, plan and run recipes. */
import { SvcError } from "../../contract/error.ts";
import { prettyJson } from "../../contract/json.ts";
import type { JsonObject } from "../../contract/value.ts";
import { type Command, Option } from "../commander.ts";
import { type CliContext, contextOf } from "../context.ts";
import { EXIT, formatDiagnostic } from "../problem.ts";
import { workerCount } from "../worker_count.ts";
import { formatTable } from "../table.ts";
import { recipeFileCommands } from "./recipe_files.ts";
import { lintCommand, lintOrRefuse } from "./recipe_lint.ts";
import { matrixCommands } from "./recipe_matrix.ts";

interface RunOptions {
  set: string[];
  parallelWorkers: number;
  planCache: boolean;
  backend?: string;
  implementation?: string;
  dryRun?: boolean;
  strictLint?: boolean;
}

/** Loaded on need: the YAML reader and the compiler are most of the start-up of a command that reads a recipe. */
const recipes = () => import("../load_recipe.ts");

/** Collects a repeatable option. */
const collect = (value: string, previous: string[]): string[] => [...previous, value];

export function recipeCommands(program: Command): void {
  const recipe = program.command("recipe").description("validate, plan and run recipes");
  const set = () =>
    new Option("--set <step.param=value>", "override a parameter; the value is read as JSON, else as text")
      .argParser(collect).default([], "none");

  recipe.command("validate <file>")
    .description("compile a recipe strictly and check its plan")
    .option("--compat", "accept what the compatibility mode accepts, with warnings")
    .option("--strict-legacy", "refuse the forms that came before metadata.matrix")
    .addOption(set())
    .addHelpText(
      "after",
      "\nExamples\n  svc recipe validate recipes/quickstart.yaml\n  svc recipe validate - < recipe.json\n",
    )
    .action(validate);

  lintCommand(recipe);

  recipe.command("specs <file>")
    .description("print the normalised research specs of a recipe")
    .action(specs);

  recipe.command("plan <file>")
    .description("show what would run: every step with its parameters, backend and implementation")
    .addOption(set())
    .option("--backend <name>", "backend for every step that declares it")
    .option("--implementation <name>", "implementation for every step that declares it")
    .option("--no-plan-cache", "plan without the cache")
    .action(plan);

  recipe.command("run <file>")
    .description("run a recipe and leave a run bundle")
    .addOption(set())
    .option("--parallel-workers <n>", "steps that may overlap, 1 to 32", workerCount, 1)
    .option("--no-plan-cache", "plan without the cache")
    .option("--backend <name>", "backend for every step that declares it")
    .option("--implementation <name>", "implementation for every step that declares it")
    .option("--strict-lint", "refuse a recipe that does not pass recipe lint")
    .option("--dry-run", "plan only, as recipe plan")
    .addHelpText(
      "after",
      "\nExamples\n  svc recipe run recipes/quickstart.yaml\n" +
        "  svc recipe run recipes/quickstart.yaml --set wireless_channel.snr_db=2.0 --parallel-workers 4\n" +
        "  cat recipe.yaml | svc recipe run - --json\n",
    )
    .action((file: string, options: RunOptions, command: Command) =>
      options.dryRun ? plan(file, options, command) : run(file, options, command)
    );

  recipeFileCommands(recipe);
  matrixCommands(recipe);
}

interface ValidateOptions {
  compat?: boolean;
  set: string[];
  strictLegacy?: boolean;
}

async function validate(file: string, options: ValidateOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const { loadRecipe } = await recipes();
  const { expandMatrix } = await import("../../recipe/expand_matrix.ts");
  const { planRecipe } = await import("../../plan/planner.ts");
  const { planMatrix } = await import("../../plan/plan_matrix.ts");
  const [registry, loaded] = [await context.registry(), await loadRecipe(context, file, options.set)];
  const { locate } = loaded;
  const mode = options.compat ? "compat" : "strict";
  const expansion = expandMatrix(loaded.raw, { registry, locate, mode, strictLegacy: options.strictLegacy });
  const { authored, points } = expansion;
  const planning = { registry, readiness: await readiness(context) };
  // A recipe with a matrix stands for its points; they are planned, and it is not.
  const planned = points.length > 0
    ? await planMatrix(expansion, planning)
    : await planRecipe(authored, { ...planning, locate });
  const { diagnostics } = planned;
  if (planned.status !== "planned") {
    throw new SvcError("recipe_invalid", `Cannot accept ${loaded.file}`, { diagnostics });
  }
  context.emit({
    schema_version: 1,
    status: "valid",
    mode: authored.mode,
    recipe: authored.normalized!,
    authored_sha256: authored.authored_sha256,
    effective_sha256: authored.effective_sha256,
    seed_policy: authored.seed_policy,
    matrix_points: points.length,
    diagnostics: diagnostics as unknown as JsonObject[],
  });
  for (const item of diagnostics) context.note(formatDiagnostic(item, context.paintError, context.excerpt));
  const steps = authored.normalized!.steps.length;
  const matrix = points.length > 0 ? `, ${points.length} matrix points` : "";
  context.print(
    `${context.paint("green", "valid")}  ${
      authored.normalized!.name
    }: ${steps} steps${matrix}, recipe hash ${authored.effective_sha256}`,
  );
}

async function readiness(context: CliContext) {
  const { readinessOf } = await import("../../execute/readiness.ts");
  return readinessOf(await context.workspace());
}

async function specs(file: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { compileOrRefuse, loadRecipe } = await recipes();
  const compilation = compileOrRefuse(await loadRecipe(context, file), await context.registry());
  const { recipeSpecs } = await import("../../research/specs.ts");
  const document = recipeSpecs(compilation.effective!);
  context.emit(document);
  context.print(prettyJson(document));
}

async function plan(file: string, options: Omit<RunOptions, "parallelWorkers">, command: Command): Promise<void> {
  const context = contextOf(command);
  const { compileLoaded, loadRecipe } = await recipes();
  const registry = await context.registry();
  const loaded = await loadRecipe(context, file, options.set);
  if (options.strictLint) await lintOrRefuse(loaded, registry);
  const compilation = compileLoaded(loaded, registry);
  const { planRecipe } = await import("../../plan/planner.ts");
  const result = await planRecipe(compilation, {
    registry,
    locate: loaded.locate,
    backend: options.backend,
    implementation: options.implementation,
    usePlanCache: options.planCache,
    singleRun: true,
    readiness: await readiness(context),
  });
  if (result.status === "refused") {
    const code = compilation.status === "invalid" ? "recipe_invalid" : "plan_invalid";
    throw new SvcError(code, `Cannot plan ${loaded.file}`, { diagnostics: result.diagnostics });
  }
  context.emit({ schema_version: 1, plan: result.plan, cache: result.cache });
  if (context.json) return;
  const { explainPlan, planText } = await import("../../plan/explain.ts");
  context.print(planText(explainPlan(result, registry)));
}

async function run(file: string, options: RunOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const { WorkerPool } = await import("../../execute/pool.ts");
  const { createCancellation } = await import("../../execute/cancellation.ts");
  // The first thread loads while the recipe is read and planned.
  const pool = new WorkerPool();
  pool.warmUp();
  const cancellation = createCancellation();
  const onInterrupt = () => {
    if (cancellation.isCancelled) Deno.exit(EXIT.canceled);
    cancellation.cancel();
    context.note("Canceling: the running steps are asked to stop (Ctrl+C again leaves at once)");
  };
  Deno.addSignalListener("SIGINT", onInterrupt);
  try {
    await runLoaded(context, file, options, { pool, cancellation });
  } finally {
    Deno.removeSignalListener("SIGINT", onInterrupt);
    pool.close();
  }
}

type RunParts = {
  pool: import("../../execute/pool.ts").WorkerPool;
  cancellation: import("../../execute/types.ts").CancellationToken;
};

async function runLoaded(context: CliContext, file: string, options: RunOptions, parts: RunParts): Promise<void> {
  const registry = await context.registry();
  const loaded = await (await recipes()).loadRecipe(context, file, options.set);
  if (options.strictLint) await lintOrRefuse(loaded, registry);
  const { headline } = await import("../headline.ts");
  const { progressReporter } = await import("../progress.ts");
  const { runRecipe } = await import("../../run/run.ts");
  const { executePlan } = await import("../../execute/execute.ts");
  const steps = (loaded.raw as JsonObject)?.steps;
  const progress = progressReporter(context, Array.isArray(steps) ? steps.length : 0);
  const workspace = await context.workspace();
  const result = await runRecipe({
    raw: loaded.raw,
    locate: loaded.locate,
    registry,
    workspace,
    readiness: await readiness(context),
    backend: options.backend,
    implementation: options.implementation,
    parallelWorkers: options.parallelWorkers,
    usePlanCache: options.planCache,
    cancellation: parts.cancellation,
    onEvent: ({ kind, fields }) => progress.event(kind, fields),
    execute: (execution) => executePlan({ ...execution, pool: parts.pool }),
  });
  progress.done();
  const rows = headline(result.summary.steps as JsonObject[]);
  context.emit({
    schema_version: 1,
    run_id: result.run_id,
    status: result.status,
    directory: result.directory,
    summary_path: result.summary_path,
    summary: result.summary,
  });
  const color = result.status === "completed" ? "green" : result.status === "canceled" ? "yellow" : "red";
  context.print(`${context.paint(color, result.status)}  ${result.run_id}`);
  if (rows.length > 0) {
    const table = formatTable(rows.map((row) => ({ ...row })), [{ key: "metric" }, { key: "value", align: "right" }, {
      key: "note",
    }]);
    context.print(table.split("\n").slice(1).map((line) => `  ${line}`).join("\n").trimEnd());
  }
  context.print(`  bundle  ${result.directory}`);
  if (result.status === "completed") context.print(`  next    svc runs verify ${result.run_id}`);
  if (result.status !== "completed") {
    const failure = result.summary.failure as JsonObject | undefined;
    const message = result.summary.error;
    if (result.status === "failed") {
      context.note(
        `${context.paintError("red", `error[${failure?.code ?? "run_failed"}]`)}: ${
          failure?.step_id ?? "run"
        }: ${message}`,
      );
      const steps = result.summary.steps as JsonObject[];
      const hint = (steps.find(({ id }) => id === failure?.step_id)?.error as JsonObject | undefined)?.hint;
      if (typeof hint === "string") context.note(`  ${context.paintError("green", "help")}: ${hint}`);
    }
    context.exitCode = result.status === "canceled" ? EXIT.canceled : EXIT.runFailed;
  }
}
