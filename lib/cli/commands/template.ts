/** `svc template`: the scenarios to start from. */
import { SvcError } from "../../contract/error.ts";
import { prettyJson } from "../../contract/json.ts";
import type { JsonObject, Value } from "../../contract/value.ts";
import type { TemplateRow } from "../../template/inspect.ts";
import { type Command, Option } from "../commander.ts";
import { type CliContext, contextOf } from "../context.ts";
import { formatDiagnostic } from "../problem.ts";
import { formatBytes, formatTable, type TableFormat } from "../table.ts";
import type { Style } from "../terminal.ts";

interface InstantiateOptions {
  name?: string;
  description?: string;
  set: string[];
  out?: string;
  force?: boolean;
}

export function templateCommands(program: Command): void {
  const template = program.command("template").description("start a recipe from a scenario");

  template.command("list")
    .description("list the templates and whether each can be used here")
    .option("--task <id>", "only templates of this task")
    .addOption(new Option("--format <format>", "output form").choices(["table", "csv", "md"]).default("table"))
    .addHelpText("after", "\nExamples\n  svc template list\n  svc template list --task image_reconstruction\n")
    .action(list);

  template.command("show <id>")
    .description("show a template: its recipe, where that comes from, and what stands in its way")
    .addHelpText("after", "\nExamples\n  svc template show semantic_comm.image_reconstruction.default\n")
    .action(show);

  template.command("instantiate <id>")
    .description("write a recipe from a template, as YAML")
    .option("--name <name>", "name of the recipe")
    .option("--description <text>", "description of the recipe")
    .addOption(
      new Option("--set <step.param=value>", "set a parameter; the value is read as JSON, else as text")
        .argParser((value: string, previous: string[]) => [...previous, value]).default([], "none"),
    )
    .option("--out <file>", "write to a file; one that ends in .json holds JSON")
    .option("--force", "replace an existing file")
    .addHelpText(
      "after",
      "\nExamples\n  svc template instantiate semantic_comm.image_reconstruction.default --out recipes/mine.yaml\n" +
        "  svc template instantiate semantic_comm.text_semantic_similarity.default --name mine | svc recipe run -\n" +
        "  svc template instantiate semantic_comm.image_reconstruction.default --set sender.quality=50\n",
    )
    .action(instantiate);
}

async function inspection(context: CliContext) {
  const { readinessOf } = await import("../../execute/readiness.ts");
  const workspace = await context.workspace();
  const { projectRoot } = workspace;
  return { registry: await context.registry(), projectRoot, readiness: readinessOf(workspace) };
}

async function list(options: { task?: string; format: TableFormat }, command: Command): Promise<void> {
  const context = contextOf(command);
  const { inspectTemplates } = await import("../../template/inspect.ts");
  const inspected = await inspectTemplates(await inspection(context));
  const { status } = inspected;
  const templates = inspected.templates.filter(({ task_id }) => task_id === (options.task ?? task_id));
  if (templates.length === 0) {
    const { didYouMean } = await import("../../contract/nearest.ts");
    const tasks = new Set(inspected.templates.map(({ task_id }) => task_id));
    throw new SvcError("template_not_found", `Cannot find a template for ${options.task}`, {
      hint: didYouMean(options.task!, tasks) ?? `Tasks: ${[...tasks].join(", ")}`,
    });
  }
  context.emit({ ...inspected, templates } as unknown as Value);
  const rows = templates.map((row) => ({
    template: row.id,
    label: row.label,
    kind: row.default ? "default" : row.status,
    state: stateOf(row),
    steps: row.recipe?.step_count ?? null,
  }));
  const columns = [
    { key: "template" },
    { key: "label" },
    { key: "kind" },
    { key: "state" },
    { key: "steps", align: "right" as const },
  ];
  context.print(formatTable(rows, columns, options.format));
  const usable = templates.filter(({ available }) => available).length;
  context.note(`${usable} of ${templates.length} can be used (${status}); svc template show <id> says why not`);
}

function stateOf({ validation, run_readiness, source }: TemplateRow): string {
  if (validation.status !== "valid") return validation.status;
  const own = source?.kind === "project_override" ? ", the project's own" : "";
  return (run_readiness?.ready ? "ready" : "to be fetched") + own;
}

const PAINT: Record<string, Style> = { valid: "green", unavailable: "yellow", invalid: "red" };

async function show(id: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { inspectTemplate } = await import("../../template/inspect.ts");
  const row = await inspectTemplate(id, await inspection(context));
  context.emit({ schema_version: 1, ...row } as unknown as Value);
  const { validation, recipe, source, run_readiness: readiness } = row;
  const facts: [string, string | null | undefined][] = [
    ["task", row.task_id],
    ["profile", row.execution_profile.id],
    ["status", row.default ? "supported, the default of its task" : row.status],
    ["state", context.paint(PAINT[validation.status], validation.status)],
    ["recipe", recipe && `${recipe.name}, ${recipe.step_count} steps`],
    ["", recipe?.description],
    ["source", source && `${source.reference}  ${source.digest}`],
    ["override", source?.kind === "project_override" ? null : `a recipe at ${row.recipe_path} takes its place`],
  ];
  const lines = [`${context.paint("bold", row.id)}  ${row.label}`];
  for (const [name, fact] of facts) if (fact) lines.push(`  ${name.padEnd(10)}${fact}`);
  for (const item of readiness?.missing ?? []) {
    const size = typeof item.size_bytes === "number" ? ` (${formatBytes(item.size_bytes)})` : "";
    lines.push(`  ${"needs".padEnd(10)}${item.kind} ${item.id}: ${item.reason}`);
    if (item.fetch !== null) lines.push(`  ${"".padEnd(10)}${item.fetch}${size}`);
  }
  context.print(lines.join("\n"));
  for (const item of validation.errors) context.print("\n" + formatDiagnostic(item, context.paint));
}

async function instantiate(id: string, options: InstantiateOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const { instantiateTemplate } = await import("../../template/instantiate.ts");
  const { name, description, out } = options;
  const { registry, projectRoot } = await inspection(context);
  const overrides = { step_params: await stepParams(options.set), name, description };
  const instance = await instantiateTemplate(id, overrides, { registry, projectRoot });
  const { recipe, provenance, diagnostics } = instance;
  const text = out?.toLowerCase().endsWith(".json") ? prettyJson(recipe) : instance.text;
  if (out !== undefined) await write(out, text, options.force ?? false);
  for (const item of diagnostics) {
    if (item.severity === "warning") context.note(formatDiagnostic(item, context.paintError));
  }
  context.emit({
    schema_version: 1,
    status: instance.status,
    recipe,
    provenance,
    diagnostics: diagnostics as unknown as JsonObject[],
    ...(out === undefined ? {} : { path: out }),
  });
  context.print(out === undefined ? text : `${out}\n  ${recipe.name}: ${recipe.steps.length} steps from ${id}`);
}

/** The assignments of `--set` as step id to parameter to typed value; later ones win. */
async function stepParams(assignments: readonly string[]): Promise<Record<string, Record<string, Value>>> {
  const { parseOverrideValue } = await import("../../recipe/overrides.ts");
  const steps = new Map<string, Map<string, Value>>();
  for (const assignment of assignments) {
    const [, step, param, value] = /^([^.=]+)\.([^=]+)=([\s\S]*)$/.exec(assignment) ?? [];
    if (step === undefined) {
      throw new SvcError("override_invalid", `Cannot read the override ${JSON.stringify(assignment)}`, {
        hint: "Write step.param=value",
      });
    }
    steps.set(step, (steps.get(step) ?? new Map()).set(param, parseOverrideValue(value)));
  }
  return Object.fromEntries([...steps].map(([step, params]) => [step, Object.fromEntries(params)]));
}

async function write(path: string, text: string, force: boolean): Promise<void> {
  const { writeFileAtomic } = await import("../../artifact/write_file.ts");
  if (!force && await Deno.lstat(path).then(() => true, () => false)) {
    throw new SvcError("recipe_exists", `Cannot write ${path}: it exists`, { hint: "Add --force to replace it" });
  }
  writeFileAtomic(path, text);
}
