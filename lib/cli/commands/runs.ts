/** `svc runs`: the bundles that were left, and what can be proved about them. */
import { SvcError } from "../../contract/error.ts";
import { prettyJson } from "../../contract/json.ts";
import { isNumber, type JsonObject, toNumber } from "../../contract/value.ts";
import type { RunRow } from "../../run/store.ts";
import type { Workspace } from "../../run/workspace.ts";
import { type Command, InvalidArgumentError, Option } from "../commander.ts";
import { contextOf } from "../context.ts";
import { EXIT } from "../problem.ts";
import { formatBytes, formatTable, type TableFormat } from "../table.ts";
import { workerCount } from "../worker_count.ts";

export function runsCommands(program: Command): void {
  const runs = program.command("runs").description("list, show, verify, reproduce and compare run bundles");

  runs.command("list")
    .description("list runs, newest first")
    .addOption(
      new Option("--status <status>", "only runs in this state")
        .choices(["running", "completed", "failed", "canceled", "incomplete"]),
    )
    .option("--recipe <name>", "only runs of this recipe")
    .option("--limit <n>", "at most this many", positive, 100)
    .addOption(new Option("--format <format>", "output form").choices(["table", "csv", "md", "json"]).default("table"))
    .addHelpText("after", "\nExamples\n  svc runs list --status failed\n  svc runs list --format csv\n")
    .action(list);

  runs.command("show <run>").description("show the outcome of a run; a unique prefix of its id is enough").action(show);
  runs.command("manifest <run>").description("print the manifest of a run").action(manifest);

  runs.command("verify <run>")
    .description("re-hash every file of a bundle and check everything that links them; exit 6 when it fails")
    .addHelpText("after", "\nExamples\n  svc runs verify 20260101T120000Z_quickstart\n")
    .action(verify);

  runs.command("reproduce <run>")
    .description("execute the recipe of a bundle again and compare every artifact; exit 6 when something differs")
    .option("--parallel-workers <n>", "steps that may overlap, 1 to 32", workerCount, 1)
    .action(reproduce);

  runs.command("diff <a> <b>").description("compare two runs: recipe, plan, environment, metrics, artifacts").action(
    diff,
  );

  runs.command("remove <runs...>")
    .description("remove finished bundles; their ids stay reserved")
    .option("--yes", "do not ask")
    .action(remove);
}

function positive(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1) throw new InvalidArgumentError("Give a whole number above zero.");
  return count;
}

interface ListOptions {
  status?: string;
  recipe?: string;
  limit: number;
  format: TableFormat | "json";
}

async function list(options: ListOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const rows = await listed(await context.workspace(), options);
  const document = { schema_version: 1, runs: rows as unknown as JsonObject[] };
  if (context.json) return context.emit(document);
  if (options.format === "json") return context.print(prettyJson(document));
  if (rows.length === 0 && options.format === "table") {
    const filtered = options.status !== undefined || options.recipe !== undefined;
    return filtered
      ? context.note("No run is like that. All of them: svc runs list")
      : context.note("No runs yet. Start with: svc recipe run recipes/quickstart.yaml");
  }
  const lines = rows.map((row) => ({
    run: row.run_id,
    status: row.status,
    recipe: row.recipe_name,
    size: options.format === "table" ? formatBytes(Number(row.size_bytes)) : Number(row.size_bytes),
    created: row.created_at_utc,
  }));
  context.print(formatTable(
    lines,
    [{ key: "run" }, { key: "status" }, { key: "recipe" }, { key: "size", align: "right" }, { key: "created" }],
    options.format,
  ));
}

/** From the index; where none can be kept, as in a state directory that must not be written, from the bundles. */
async function listed(workspace: Workspace, options: ListOptions): Promise<RunRow[]> {
  const { status, recipe: recipeName, limit } = options;
  const { exists } = await import("../../run/reservation.ts");
  if (!exists(workspace.runs)) return [];
  const { openRunIndex } = await import("../../run/index/open.ts");
  let opened: ReturnType<typeof openRunIndex>;
  try {
    opened = openRunIndex(workspace);
  } catch {
    const { listRuns } = await import("../../run/store.ts");
    return listRuns(workspace)
      .filter((row) => status === undefined || row.status === status)
      .filter((row) => recipeName === undefined || row.recipe_name === recipeName)
      .slice(0, limit);
  }
  try {
    return (await opened.index.list({ limit, status, recipeName })).rows;
  } finally {
    opened.close();
  }
}

async function show(id: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { showRun } = await import("../../run/store.ts");
  const { headline } = await import("../headline.ts");
  const { summary, manifest, directory } = showRun(await context.workspace(), id);
  if (context.json) return context.emit({ schema_version: 1, directory, summary, manifest });
  const steps = summary.steps as JsonObject[];
  context.print(`${context.paint("bold", String(summary.run_id))}  ${summary.status}`);
  context.print(`  recipe ${summary.recipe_name}, hash ${summary.recipe_sha256}`);
  context.print(`  created ${summary.created_at_utc}, completed ${summary.completed_at_utc ?? "-"}`);
  if (summary.error) context.print(`  ${context.paint("red", "error")} ${summary.error}`);
  const rows = steps.map((step) => {
    const seconds = (step.metrics as JsonObject)["timing.step.wall_time_s"];
    const milliseconds = isNumber(seconds) ? (toNumber(seconds) * 1000).toFixed(1) : "";
    return { step: String(step.id), operation: String(step.op), status: String(step.status), ms: milliseconds };
  });
  context.print(
    formatTable(rows, [{ key: "step" }, { key: "operation" }, { key: "status" }, { key: "ms", align: "right" }]),
  );
  const metrics = headline(steps);
  if (metrics.length > 0) {
    context.print(formatTable(
      metrics.map((row) => ({ ...row })),
      [{ key: "metric" }, { key: "value", align: "right" }, { key: "note" }],
    ));
  }
  context.print(`bundle ${directory}`);
}

async function manifest(id: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { showRun } = await import("../../run/store.ts");
  const run = showRun(await context.workspace(), id);
  context.emit(run.manifest);
  context.print(prettyJson(run.manifest));
}

async function verify(id: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { verifyRun } = await import("../../run/verify.ts");
  const report = await verifyRun(await context.workspace(), id);
  context.emit({ schema_version: 1, ...report });
  const color = report.status === "valid" ? "green" : report.status === "warning" ? "yellow" : "red";
  const checks = Array.isArray(report.checks) ? report.checks.length : Object.keys(report.checks as JsonObject).length;
  context.print(`${context.paint(color, String(report.status))}  ${report.target_id}: ${checks} checks`);
  for (const [severity, items] of [["error", report.errors], ["warning", report.warnings]] as const) {
    for (const item of items as JsonObject[]) {
      context.print(
        `  ${context.paint(severity === "error" ? "red" : "yellow", `${severity}[${item.code}]`)} ${item.message}` +
          (String(item.message).includes(String(item.file)) ? "" : ` (${item.file} ${item.path})`),
      );
    }
  }
  if (report.status === "invalid") context.exitCode = EXIT.differs;
}

async function reproduce(id: string, options: { parallelWorkers: number }, command: Command): Promise<void> {
  const context = contextOf(command);
  const { reproduceRun } = await import("../../run/reproduce.ts");
  const { createCancellation } = await import("../../execute/cancellation.ts");
  const { readinessOf } = await import("../../execute/readiness.ts");
  const { progressReporter } = await import("../progress.ts");
  const { showRun } = await import("../../run/store.ts");
  const workspace = await context.workspace();
  const steps = showRun(workspace, id).summary.steps as JsonObject[];
  const progress = progressReporter(context, steps.length);
  const cancellation = createCancellation();
  const onInterrupt = () => {
    if (cancellation.isCancelled) Deno.exit(EXIT.canceled);
    cancellation.cancel();
    context.note("Canceling: the running steps are asked to stop (Ctrl+C again leaves at once)");
  };
  Deno.addSignalListener("SIGINT", onInterrupt);
  let report: JsonObject;
  try {
    report = await reproduceRun(workspace, id, {
      registry: await context.registry(),
      // Without it nobody would find the models that the run was made with.
      readiness: readinessOf(workspace),
      parallelWorkers: options.parallelWorkers,
      cancellation,
      onEvent: ({ kind, fields }) => progress.event(kind, fields),
    });
  } finally {
    Deno.removeSignalListener("SIGINT", onInterrupt);
    progress.done();
  }
  context.emit(report);
  if (cancellation.isCancelled) {
    // What a canceled run lacks says nothing about the original.
    context.print(`${context.paint("yellow", "canceled")}  ${report.run_id} -> ${report.reproduced_run_id}`);
    context.exitCode = EXIT.canceled;
    return;
  }
  const identical = report.status === "identical";
  const artifacts = report.artifacts as JsonObject[];
  context.print(
    `${
      context.paint(identical ? "green" : "red", String(report.status))
    }  ${report.run_id} -> ${report.reproduced_run_id}: ` +
      `${artifacts.filter((row) => row.match).length} of ${artifacts.length} artifacts identical`,
  );
  if (report.first_difference) context.print(`  first difference: step ${report.first_difference}`);
  if (!identical) context.exitCode = EXIT.differs;
}

async function diff(a: string, b: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { diffRuns } = await import("../../run/diff.ts");
  const report = await diffRuns(await context.workspace(), a, b);
  context.emit(report);
  context.print(context.paint(report.equal ? "green" : "yellow", report.equal ? "equal" : "different"));
  const show = (
    value: unknown,
  ) => (value === undefined || value === null ? "-" : prettyJson(value as JsonObject).trim());
  for (const section of ["recipe", "plan", "environment"] as const) {
    for (const row of report[section] as JsonObject[]) {
      context.print(
        `  ${section} ${row.path}: ${context.paint("red", show(row.a))} -> ${context.paint("green", show(row.b))}`,
      );
    }
  }
  for (const row of report.metrics as JsonObject[]) {
    context.print(`  metric ${row.step_id} ${row.metric}: ${show(row.a)} -> ${show(row.b)}`);
  }
  for (const row of (report.artifacts as JsonObject[]).filter((item) => !item.equal)) {
    context.print(`  artifact ${row.step_id}.${row.output_name} differs`);
  }
}

async function remove(ids: string[], options: { yes?: boolean }, command: Command): Promise<void> {
  const context = contextOf(command);
  const { removeRuns, resolveRunId } = await import("../../run/store.ts");
  const workspace = await context.workspace();
  const resolved = ids.map((id) => resolveRunId(workspace, id));
  if (!options.yes) {
    if (!Deno.stdin.isTerminal() || context.json) {
      throw new SvcError("usage_invalid", `Cannot remove ${resolved.length} runs without being asked`, {
        hint: "Add --yes",
      });
    }
    if (!confirm(`Remove ${resolved.join(", ")}?`)) return;
  }
  removeRuns(workspace, resolved);
  context.emit({ schema_version: 1, removed: resolved });
  context.print(`removed ${resolved.join(", ")}`);
}
