/** `svc differentiable` and `svc dataset-capture`: what can be trained in a recipe, and the data to train on. */
import { relative, resolve } from "node:path";
import { type Diagnostic, SvcError } from "../../contract/error.ts";
import type { JsonObject, Value } from "../../contract/value.ts";
import type { CaptureEvent, CaptureResult } from "../../capture/capture.ts";
import type { TrainingInspection } from "../../training/inspect_recipe.ts";
import { type Command, Option } from "../commander.ts";
import { type CliContext, contextOf } from "../context.ts";
import { EXIT, formatDiagnostic } from "../problem.ts";
import { formatTable } from "../table.ts";
import { workerCount } from "../worker_count.ts";

const SPLITS = ["train", "validation", "test"];
const collect = (value: string, values: string[]): string[] => [...values, value];

export function captureCommands(program: Command): void {
  const differentiable = program.command("differentiable")
    .description("what a trained network can take the place of, and the project to train it");

  differentiable.command("inspect <file>")
    .description("show the blocks that can be replaced, the evaluations they reach, and whether gradients get there")
    .option("--plan <file>", "training plan, YAML or JSON")
    .option("--select <step>", "step to replace, in place of what the plan selects; repeat for more", collect, [])
    .option(
      "--loss <step>",
      "evaluation to follow routes to, in place of all that are reached; repeat for more",
      collect,
      [],
    )
    .option("--objective <name>", "loss that the trainer computes, such as image.mse")
    .addHelpText(
      "after",
      "\nExamples\n  svc differentiable inspect recipes/neural_receiver_qpsk_iq_learned.yaml" +
        "\n  svc differentiable inspect recipe.yaml --select receiver --objective image.mse --json\n",
    )
    .action(inspect);

  differentiable.command("export <file>")
    .description("write a project to train elsewhere: capture recipes, contracts, the draft of an artifact, a README")
    .option("--plan <file>", "training plan, YAML or JSON")
    .option("--select <step>", "step to replace, in place of what the plan selects; repeat for more", collect, [])
    .option(
      "--loss <step>",
      "evaluation to follow routes to, in place of all that are reached; repeat for more",
      collect,
      [],
    )
    .option("--objective <name>", "loss that the trainer computes, such as image.mse")
    .addOption(
      new Option("--framework <name>", "write Python text for a trainer too; it is never run here").choices([
        "torch",
        "torch-phylib",
      ]),
    )
    .option(
      "--samples <n>",
      "records of all splits together, shared 80:10:10 unless the plan says otherwise",
      wholeNumber,
    )
    .option("--out <folder>", "where the project goes (default: training_projects/<recipe> of the state directory)")
    .option("--force", "replace the exported files of a project there; its data and other files stay")
    .addHelpText(
      "after",
      "\nExamples\n  svc differentiable export recipe.yaml --framework torch --out my_training" +
        "\n  svc dataset-capture run my_training            # all splits, into my_training/data/" +
        "\n  svc artifact package my_training --out my_receiver.zip\n",
    )
    .action(exportProject);

  const capture = program.command("dataset-capture")
    .description("data sets for training, captured from the edges of a recipe");

  capture.command("run <recipe-or-project>")
    .description("capture runs of the part of a recipe that its taps depend on, as shards of NumPy arrays")
    .option("--plan <file>", "training plan whose dataset_capture is used, in place of the recipe's own")
    .addOption(new Option("--split <split>", "which split (default: train; of a project all)").choices(SPLITS))
    .option("--tap <id=step.output>", "array to capture, in place of what is written; repeat for more", collect, [])
    .option("--whole-runs", "with --tap: the whole array of a run is one record, whatever its shape")
    .option("--samples <n>", "records to capture, in place of what is written", wholeNumber)
    .option(
      "--out <folder>",
      "where the split goes (default: dataset_captures/<recipe>/<split> of the state directory)",
    )
    .option("--force", "replace an earlier capture at that place")
    .option("--parallel-workers <n>", "runs that may go on at once, 1 to 32; they never change a byte", workerCount, 1)
    .addHelpText(
      "after",
      "\nWithout taps the inputs of the replaceable blocks and the references of the evaluations are captured.\n" +
        "\nExamples\n  svc dataset-capture run recipe.yaml --samples 1000" +
        "\n  svc dataset-capture run recipe.yaml --split test --samples 100 --tap rx=wireless_channel.rx_symbols" +
        "\n  svc dataset-capture run recipe.yaml --plan training_plan.yaml --split validation --force" +
        "\n  svc dataset-capture run my_training --parallel-workers 4\n",
    )
    .action(run);
}

/** @throws SvcError `usage_invalid` */
function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new SvcError("usage_invalid", `Cannot read ${JSON.stringify(text)} as a number of records`, {
    hint: "Give an integer",
  });
}

/** The plan that the options name, with what they choose in its place. */
async function planOf(options: { plan?: string; select?: string[]; loss?: string[]; objective?: string }) {
  const { readTrainingPlan } = await import("../../training/training_plan.ts");
  let value: Value = {};
  if (options.plan !== undefined) {
    const { readRecipeText, readTextFile } = await import("../../recipe/read.ts");
    ({ value } = readRecipeText(await readTextFile(options.plan), { file: options.plan }));
  }
  const plan = readTrainingPlan(value);
  if (options.select !== undefined && options.select.length > 0) plan.selected_steps = options.select;
  if (options.loss !== undefined && options.loss.length > 0) plan.loss_steps = options.loss;
  if (options.objective !== undefined) plan.objective = options.objective;
  return plan;
}

async function inspect(
  file: string,
  options: { plan?: string; select: string[]; loss: string[]; objective?: string },
  command: Command,
): Promise<void> {
  const context = contextOf(command);
  const { loadRecipe } = await import("../load_recipe.ts");
  const { deriveTrainingPlan } = await import("../../capture/derive.ts");
  const plan = await planOf(options);
  const { raw, locate } = await loadRecipe(context, file);
  const { inspection } = deriveTrainingPlan({ raw, locate, plan, registry: await context.registry() });
  context.emit(inspection);
  showInspection(context, inspection);
}

const WORDS = {
  full_gradient_possible: "full gradient possible",
  partial_gradient_possible: "partial gradient possible",
  dataset_capture_only: "dataset capture only",
  not_trainable: "not trainable",
};

export function showInspection(context: CliContext, inspection: TrainingInspection): void {
  const { status, recipe, boundaries, selected_steps, routes } = inspection;
  const tone = status === "not_trainable" ? "red" : status === "full_gradient_possible" ? "green" : "yellow";
  context.print(`${context.paint(tone, WORDS[status])}  ${recipe}`);
  context.print(`  scenario       ${inspection.scenario_sha256}`);
  context.print(`  training plan  ${inspection.training_plan_sha256}\n`);
  context.print(formatTable(
    boundaries.map(({ step_id, op, selectable, reason, differentiability }) => ({
      block: step_id,
      operation: op,
      replace: selected_steps.includes(step_id) ? "selected" : selectable ? "possible" : "no",
      gradient: String(differentiability.gradient ?? "none"),
      why: reason ?? "",
    })),
    ["block", "operation", "replace", "gradient", "why"].map((key) => ({ key })),
  ));
  context.print("");
  for (const { from_step, loss_step, open, blocked_by } of routes) {
    const text = open ? context.paint("green", "open") : `blocked by ${blocked_by.join(", ")}`;
    context.print(`${from_step} -> ${loss_step}: ${text}`);
  }
  if (routes.length > 0) context.print("");
  for (const { id, reason } of inspection.recommendations) {
    context.print(`${context.paint("bold", String(id))}: ${reason}`);
  }
}

interface CaptureCommandOptions {
  plan?: string;
  split?: "train" | "validation" | "test";
  tap: string[];
  wholeRuns?: boolean;
  samples?: number;
  out?: string;
  force?: boolean;
  parallelWorkers: number;
}

interface ExportCommandOptions {
  plan?: string;
  select: string[];
  loss: string[];
  objective?: string;
  framework?: "torch" | "torch-phylib";
  samples?: number;
  out?: string;
  force?: boolean;
}

async function exportProject(file: string, options: ExportCommandOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const { loadRecipe } = await import("../load_recipe.ts");
  const { exportTrainingProject } = await import("../../capture/export_project.ts");
  const { withTotalSamples } = await import("../../capture/derive.ts");
  const plan = await planOf(options);
  if (options.framework !== undefined) plan.framework = options.framework;
  const loaded = await loadRecipe(context, file);
  const made = await exportTrainingProject({
    raw: loaded.raw,
    locate: loaded.locate,
    plan: options.samples === undefined ? plan : withTotalSamples(plan, options.samples),
    registry: await context.registry(),
    workspace: await context.workspace(),
    out: options.out === undefined ? undefined : resolve(options.out),
    force: options.force,
  });
  context.emit({ schema_version: 1, ...made });
  const folder = shown(made.out);
  for (const item of made.diagnostics) {
    context.note(formatDiagnostic(item as unknown as Diagnostic, context.paintError));
  }
  context.print(`${context.paint("green", "exported")}  ${made.id}: ${made.files.length} files in ${folder}`);
  context.print(`  scenario       ${made.scenario_sha256}`);
  context.print(`  training plan  ${made.training_plan_sha256}`);
  context.print(`  next: svc dataset-capture run ${folder}`);
}

/** A path as it is typed here. */
const shown = (path: string): string => {
  const near = relative(Deno.cwd(), path);
  return near === "" ? "." : near.startsWith("..") ? path : near;
};

async function run(file: string, options: CaptureCommandOptions, command: Command): Promise<void> {
  const { statSync } = await import("node:fs");
  if (file !== "-" && statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    return await runProject(file, options, command);
  }
  const context = contextOf(command);
  const { loadRecipe } = await import("../load_recipe.ts");
  const { captureDataset } = await import("../../capture/capture.ts");
  const { captureConfigFor } = await import("../../capture/derive.ts");
  const { readinessOf } = await import("../../execute/readiness.ts");
  const { trainingPlanSha256: trainingPlanIdentity } = await import("../../training/training_plan.ts");
  const [registry, loaded] = [await context.registry(), await loadRecipe(context, file)];
  const workspace = await context.workspace();
  const plan = options.plan === undefined ? undefined : await planOf(options);
  const trainingPlanSha256 = plan && trainingPlanIdentity(plan);
  const config = captureConfigFor(loaded.raw, {
    registry,
    locate: loaded.locate,
    plan,
    taps: tapsOf(options.tap, options.wholeRuns === true),
  });
  await interruptible(context, async (cancellation) => {
    const result = await captureDataset({
      raw: loaded.raw,
      locate: loaded.locate,
      config,
      trainingPlanSha256,
      split: options.split,
      samples: options.samples,
      out: options.out === undefined ? undefined : resolve(options.out),
      force: options.force,
      registry,
      workspace,
      readiness: readinessOf(workspace),
      parallelWorkers: options.parallelWorkers,
      cancellation,
      onEvent: captureProgress(context),
    });
    context.emit({ schema_version: 1, ...result });
    showCapture(context, result);
    if (result.status === "canceled") context.exitCode = EXIT.canceled;
  });
}

/** Captures the splits of an exported project, each into its place there. */
async function runProject(folder: string, options: CaptureCommandOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const given = options.plan !== undefined ? "--plan" : options.tap.length > 0 ? "--tap" : options.out ? "--out" : null;
  if (given !== null) {
    throw new SvcError("usage_invalid", `Cannot use ${given} with a project: its capture recipes say it`, {
      hint: "Export the project again, or name a recipe",
    });
  }
  const { captureDataset } = await import("../../capture/capture.ts");
  const { projectCapture } = await import("../../capture/project.ts");
  const { readinessOf } = await import("../../execute/readiness.ts");
  const { WorkerPool } = await import("../../execute/pool.ts");
  const [registry, workspace] = [await context.registry(), await context.workspace()];
  const splits = options.split === undefined ? ["train", "validation", "test"] as const : [options.split];
  const results: CaptureResult[] = [];
  const pool = new WorkerPool();
  try {
    await interruptible(context, async (cancellation) => {
      for (const split of splits) {
        const { raw, out } = projectCapture(folder, split);
        const result = await captureDataset({
          raw,
          out: resolve(out),
          samples: options.samples,
          force: options.force,
          registry,
          workspace,
          readiness: readinessOf(workspace),
          parallelWorkers: options.parallelWorkers,
          cancellation,
          onEvent: captureProgress(context),
          pool,
        });
        results.push(result);
        showCapture(context, result);
        if (result.status === "completed") continue;
        context.exitCode = EXIT.canceled;
        break;
      }
    });
  } finally {
    pool.close();
  }
  context.emit({ schema_version: 1, captures: results });
}

/** `id=step.output`, or `step.output` alone. @throws SvcError `usage_invalid` */
function tapsOf(texts: readonly string[], wholeRuns: boolean): JsonObject[] | undefined {
  const unit: JsonObject = wholeRuns ? { record: "run" } : {};
  if (texts.length === 0) return undefined;
  return texts.map((text) => {
    const [, id, from] = /^(?:([^=]+)=)?([^=]+\.[^=]+)$/.exec(text) ?? [];
    if (from !== undefined) return { id: id ?? from.replaceAll(/[^A-Za-z0-9]+/g, "_"), from, ...unit };
    throw new SvcError("usage_invalid", `Cannot read ${JSON.stringify(text)} as a tap`, {
      hint: "Write id=step.output",
    });
  });
}

/** Runs with Ctrl+C asking to stop, and a second one leaving at once. */
export async function interruptible(
  context: CliContext,
  body: (cancellation: import("../../execute/types.ts").CancellationToken) => Promise<void>,
): Promise<void> {
  const { createCancellation } = await import("../../execute/cancellation.ts");
  const cancellation = createCancellation();
  const onInterrupt = () => {
    if (cancellation.isCancelled) Deno.exit(EXIT.canceled);
    cancellation.cancel();
    context.note("Canceling: the running steps are asked to stop (Ctrl+C again leaves at once)");
  };
  Deno.addSignalListener("SIGINT", onInterrupt);
  try {
    await body(cancellation);
  } finally {
    Deno.removeSignalListener("SIGINT", onInterrupt);
  }
}

/** Tells of a capture as it goes on: its phases, and every tenth of its records. */
export function captureProgress(context: CliContext): (event: CaptureEvent) => void {
  let tenth = 0;
  return ({ message, fields: { phase, completed, total } }) => {
    if (phase === "capturing") {
      const reached = Math.floor(10 * Number(completed) / Number(total));
      if (reached === tenth) return;
      tenth = reached;
    } else if (phase === "writing" || phase === "completed") return;
    context.note(message);
  };
}

export function showCapture(context: CliContext, result: CaptureResult): void {
  for (const item of result.diagnostics) {
    context.note(formatDiagnostic(item as unknown as Diagnostic, context.paintError, context.excerpt));
  }
  const { status, recipe_name, split, captured_samples, number_of_shards, number_of_runs, out } = result;
  const tone = status === "completed" ? "green" : "yellow";
  const many = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
  const counts = `${many(captured_samples, "record")} in ${many(number_of_shards, "shard")}, from ${
    many(number_of_runs, "run")
  }`;
  context.print(`${context.paint(tone, status)}  ${recipe_name} ${split}: ${counts}`);
  if (status === "completed") context.print(`  ${shown(out)}`);
}
