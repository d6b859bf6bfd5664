/** `svc differentiable` and `svc dataset-capture`: trainable components of a recipe, and the data to train them on. */
import { resolve } from "../../contract/paths.ts";
import { training } from "../../api/calls/training.ts";
import type { CaptureResult } from "../../capture/capture.ts";
import { SPLITS } from "../../capture/config.ts";
import { SvcError } from "../../contract/error.ts";
import type { JsonObject } from "../../contract/value.ts";
import type { Session } from "../../api/session.ts";
import type { TrainingInspection } from "../../training/inspect_recipe.ts";
import { commandOf, commandsOf } from "../call_commands.ts";
import { choice, type CommandSpec, flag, list, text } from "../command.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../problem.ts";
import { formatTable } from "../table.ts";

const PLAN = {
  plan: text("--plan <file>", "training plan, YAML or JSON"),
  select: list("--select <step>", "step to replace (default: the selection of the plan); repeat for more"),
  loss: list("--loss <step>", "evaluation to trace gradients to (default: all that are reached); repeat for more"),
  objective: text("--objective <name>", "loss that the trainer computes, such as image.mse"),
};

/** The plan that the options name, with their own values in its place. */
async function planOf(
  svc: Session,
  options: { plan?: string; select?: string[]; loss?: string[]; objective?: string; framework?: string },
): Promise<JsonObject> {
  const { plan: file, select = [], loss = [], objective, framework } = options;
  const plan = file === undefined ? {} : (await svc.recipes.read(file)).value as JsonObject;
  return {
    ...plan,
    ...(select.length > 0 ? { selected_steps: select } : {}),
    ...(loss.length > 0 ? { loss_steps: loss } : {}),
    ...(objective === undefined ? {} : { objective }),
    ...(framework === undefined ? {} : { framework }),
  };
}

const callCommands = commandsOf("training", training, {
  inspect: {
    options: PLAN,
    examples: [
      "svc differentiable inspect recipes/neural_receiver_qpsk_iq_learned.yaml",
      "svc differentiable inspect recipe.yaml --select receiver --objective image.mse --json",
    ],
    call: async ({ svc, options }, perform) => await perform({ plan: await planOf(svc, options) }),
    show: (inspection, { context }) => showInspection(context, inspection),
  },
  export: {
    options: {
      ...PLAN,
      framework: choice("--framework <name>", "also write training code for this framework", ["torch"]),
    },
    examples: [
      "svc differentiable export recipe.yaml --framework torch --out my_training",
      "svc dataset-capture run my_training            # all splits, into my_training/data/",
      "svc artifact package my_training --out my_receiver.zip",
    ],
    call: async ({ svc, options }, perform) => await perform({ plan: await planOf(svc, options) }),
    show({ id, out, files, sizes, scenario_sha256, training_plan_sha256 }, { context }) {
      const folder = context.shownPath(out);
      return [
        `${context.paint("green", "exported")}  ${id}: ${files.length} files in ${folder}`,
        `  scenario       ${scenario_sha256}`,
        `  training plan  ${training_plan_sha256}`,
        ...sizes.map(({ split, text }) => `  ${split.padEnd(13)}  ${text}`),
        `  next: svc dataset-capture run ${folder}`,
      ].join("\n");
    },
  },
});

/** What is shown of one capture, or of those of a project. */
type Captured = { document: object; captures: CaptureResult[] };

export const captureCommands: CommandSpec[] = [
  ...callCommands,
  commandOf(training.capture, {
    name: "dataset-capture run",
    usage: "<recipe-or-project>",
    without: ["taps"],
  }, {
    options: {
      plan: text("--plan <file>", "training plan with the dataset_capture to use (default: that of the recipe)"),
      tap: list("--tap <id=step.output>", "capture this array instead of the configured ones; repeat for more"),
      wholeRuns: flag("--whole-runs", "with --tap: store the array of a run as one record of any shape"),
    },
    notes: "Without taps the inputs of the trainable components and the references of the evaluations are captured.",
    examples: [
      "svc dataset-capture run recipe.yaml --samples 1000",
      "svc dataset-capture run recipe.yaml --split test --samples 100 --tap rx=wireless_channel.rx_symbols",
      "svc dataset-capture run recipe.yaml --plan training_plan.yaml --split validation --force",
      "svc dataset-capture run my_training --parallel-workers 4",
    ],
    cancellable: true,
    async call({ svc, args: [source], options }, perform): Promise<Captured> {
      const { plan, tap, wholeRuns, split, out } = options;
      const isFolder = source !== "-" && await Deno.stat(source).then((info) => info.isDirectory, () => false);
      if (!isFolder) {
        const capture = await perform({
          plan: plan === undefined ? undefined : await planOf(svc, { plan }),
          taps: tapsOf(tap, wholeRuns === true),
          out: out === undefined ? undefined : resolve(out),
        });
        return { document: capture, captures: [capture] };
      }
      const given = plan !== undefined ? "--plan" : tap.length > 0 ? "--tap" : out ? "--out" : null;
      if (given !== null) {
        throw new SvcError("usage_invalid", `Cannot use ${given} with a project: its capture recipes set it`, {
          hint: "Export the project again, or name a recipe",
        });
      }
      const captures: CaptureResult[] = [];
      for (const one of split === undefined ? SPLITS : [split]) {
        const result = await perform({ path: source, split: one }, training.captureProject);
        captures.push(result);
        if (result.status !== "completed") break;
      }
      return { document: { captures }, captures };
    },
    json: ({ document }) => ({ schema_version: 1, ...document }),
    findings: ({ captures }) => captures.flatMap(({ diagnostics }) => diagnostics),
    show({ captures }, { context }) {
      for (const capture of captures) showCapture(context, capture);
    },
    exit: ({ captures }) => captures.every(({ status }) => status === "completed") ? EXIT.ok : EXIT.canceled,
  }),
];

const WORDS = {
  full_gradient_possible: "full gradient possible",
  partial_gradient_possible: "partial gradient possible",
  dataset_capture_only: "dataset capture only",
  not_trainable: "not trainable",
};

function showInspection(context: CliContext, inspection: TrainingInspection): void {
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
    ["block", "operation", "replace", "gradient", "why"],
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

function showCapture(context: CliContext, result: CaptureResult): void {
  const { status, recipe_name, split, captured_samples, number_of_shards, number_of_runs, out } = result;
  const tone = status === "completed" ? "green" : "yellow";
  const many = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
  const counts = `${many(captured_samples, "record")} in ${many(number_of_shards, "shard")}, from ${
    many(number_of_runs, "run")
  }`;
  context.print(`${context.paint(tone, status)}  ${recipe_name} ${split}: ${counts}`);
  if (status === "completed") context.print(`  ${context.shownPath(out)}`);
}
