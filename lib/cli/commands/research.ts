/** `svc research`: the catalogue of data sets, tasks and metrics, and recipes held against it. */
import type { Diagnostic } from "../../contract/error.ts";
import { SvcError } from "../../contract/error.ts";
import { didYouMean } from "../../contract/nearest.ts";
import type { JsonObject, Value } from "../../contract/value.ts";
import type { DatasetEntry, MetricEntry, TaskEntry } from "../../research/catalog.ts";
import { type Command, InvalidArgumentError, Option } from "../commander.ts";
import { type CliContext, contextOf } from "../context.ts";
import { formatDiagnostic } from "../problem.ts";
import { type Column, formatTable, type Row, type TableFormat } from "../table.ts";

const KINDS = ["dataset", "task", "metric"] as const;
type Kind = typeof KINDS[number];

/** Loaded on need, as the commands that do not ask for it should start fast. */
const catalog = () => import("../../research/catalog.ts");

export function researchCommands(program: Command): void {
  const research = program.command("research").description("data sets, tasks and metrics, and recipes that name them");
  const format = () => new Option("--format <format>", "output form").choices(["table", "csv", "md"]).default("table");

  research.command("catalog")
    .description("show the research areas with their tasks; with --json the whole catalogue")
    .addHelpText("after", "\nExamples\n  svc research catalog\n  svc research catalog --json\n")
    .action(showCatalog);

  research.command("datasets")
    .description("list the data sets")
    .addOption(format())
    .action(listDatasets);

  research.command("tasks")
    .description("list the tasks")
    .addOption(format())
    .action(listTasks);

  research.command("metrics")
    .description("list the metrics")
    .option("--family <name>", "only metrics of this family, or whose id begins with it")
    .addOption(format())
    .addHelpText("after", "\nExamples\n  svc research metrics --family quality\n  svc research metrics --format csv\n")
    .action(listMetrics);

  research.command("show")
    .description("show a data set, a task or a metric")
    .argument("<kind>", KINDS.join(", "), (kind: string) => {
      if ((KINDS as readonly string[]).includes(kind)) return kind;
      throw new InvalidArgumentError(`${didYouMean(kind, KINDS)}`);
    })
    .argument("<id>")
    .addHelpText(
      "after",
      "\nExamples\n  svc research show task bit_transport\n  svc research show metric channel.ber\n",
    )
    .action(show);

  research.command("validate-recipe <file>")
    .description("hold the research metadata of a recipe against the catalogue")
    .option("--strict", "refuse data sets, tasks and metrics that the catalogue does not know or only plans")
    .addHelpText("after", "\nExamples\n  svc research validate-recipe recipes/quickstart.yaml --strict\n")
    .action(validateRecipe);
}

/** Prints rows as a table, or emits the entries under their collection's name. */
function list(
  context: CliContext,
  collection: string,
  entries: readonly object[],
  rows: Row[],
  columns: Column[],
  format: TableFormat,
): void {
  context.emit({ schema_version: 1, [collection]: entries as Value });
  context.print(formatTable(rows, columns, format));
}

interface ListOptions {
  format: TableFormat;
}

async function listDatasets({ format }: ListOptions, command: Command): Promise<void> {
  const datasets = (await catalog()).allDatasets();
  const rows = datasets.map((entry) => ({
    dataset: entry.id,
    modality: entry.modality,
    status: entry.status,
    files: filesOf(entry),
    versions: entry.versions.join(", "),
  }));
  const columns = ["dataset", "modality", "status", "files", "versions"].map((key) => ({ key }));
  list(contextOf(command), "datasets", datasets, rows, columns, format);
}

/** Where the data come from: with the program, from a local folder, or out of a generator. */
function filesOf({ bundled, local, status }: DatasetEntry): string {
  if (status === "planned") return "";
  return bundled ? "bundled" : local ? "local" : "generated";
}

async function listTasks({ format }: ListOptions, command: Command): Promise<void> {
  const tasks = (await catalog()).allTasks();
  const rows = tasks.map(({ id, kind, modality, status, metrics }) => ({
    task: id,
    kind,
    modality,
    status,
    metrics: metrics.join(", "),
  }));
  const columns = ["task", "kind", "modality", "status", "metrics"].map((key) => ({ key }));
  list(contextOf(command), "tasks", tasks, rows, columns, format);
}

async function listMetrics(
  { family, format }: ListOptions & { family?: string },
  command: Command,
): Promise<void> {
  const all = (await catalog()).allMetrics();
  const metrics = family === undefined
    ? all
    : all.filter((metric) => metric.family === family || metric.id.startsWith(`${family}.`));
  if (metrics.length === 0) {
    const families = new Set(all.map((metric) => metric.family));
    throw new SvcError("not_found", `Cannot find the metric family ${family} in the research catalogue`, {
      hint: didYouMean(family!, families) ?? `Families: ${[...families].join(", ")}`,
    });
  }
  const rows = metrics.map((metric) => ({
    metric: metric.id,
    unit: metric.unit,
    better: BETTER[metric.direction],
    name: metric.name + (metric.status === undefined ? "" : ` (${metric.status})`),
  }));
  const columns = ["metric", "unit", "better", "name"].map((key) => ({ key }));
  list(contextOf(command), "metrics", metrics, rows, columns, format);
}

const BETTER = { higher_is_better: "higher", lower_is_better: "lower", neutral: "" };

async function showCatalog(_options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { allDatasets, allMetrics, allTasks, researchCatalog } = await catalog();
  const document = researchCatalog();
  context.emit(document);
  const lines: string[] = [];
  for (const area of document.areas as JsonObject[]) {
    lines.push(context.paint("bold", area.name as string));
    const rows = allTasks().filter(({ area_id }) => area_id === area.id)
      .map(({ id, name, status }) => ({ id, name: name + (status === "supported" ? "" : ` (${status})`) }));
    const table = formatTable(rows, [{ key: "id" }, { key: "name" }]).trimEnd();
    lines.push(...table.split("\n").slice(1).map((line) => `  ${line}`), "");
  }
  lines.push(
    `${allTasks().length} tasks, ${allDatasets().length} data sets, ${allMetrics().length} metrics: ` +
      "svc research tasks, datasets, metrics list them",
  );
  context.print(lines.join("\n"));
}

async function show(kind: Kind, id: string, _options: unknown, command: Command): Promise<void> {
  const context = contextOf(command);
  const { allTasks, catalogEntry } = await catalog();
  const entry = catalogEntry(kind, id);
  context.emit({ schema_version: 1, [kind]: { ...entry } as JsonObject });
  const lines = [`${context.paint("bold", entry.id)}  ${entry.name}`];
  for (const [label, text] of DESCRIBE[kind](entry as never)) if (text !== "") lines.push(`  ${label}: ${text}`);
  if (kind === "metric") {
    const users = allTasks().filter(({ metrics, optional_metrics }) => [...metrics, ...optional_metrics].includes(id));
    if (users.length > 0) lines.push(`  tasks: ${users.map((task) => task.id).join(", ")}`);
  }
  context.print(lines.join("\n"));
}

type Describe<T> = (entry: T) => [string, string][];

const DESCRIBE: { dataset: Describe<DatasetEntry>; task: Describe<TaskEntry>; metric: Describe<MetricEntry> } = {
  dataset: (entry) => [
    ["modality", entry.modality],
    ["status", entry.status],
    ["files", filesOf(entry)],
    ["source operations", entry.source_ops.join(", ")],
    ["versions", entry.versions.join(", ")],
  ],
  task: (entry) => [
    ["what", entry.description],
    ["kind", entry.kind],
    ["modality", entry.modality],
    ["status", entry.status],
    ["area", entry.area_id],
    ["target", entry.target],
    ["metrics", entry.metrics.join(", ")],
    ["optional metrics", entry.optional_metrics.join(", ")],
    ["required artifacts", entry.required_artifacts.join(", ")],
  ],
  metric: (entry) => [
    ["what", entry.description ?? ""],
    ["family", entry.family],
    ["unit", entry.unit],
    ["better", BETTER[entry.direction]],
    ["reduction", entry.reduction],
    ["statistic", entry.statistic],
    ["counts", entry.counts === undefined ? "" : `${entry.counts.events} of ${entry.counts.trials}`],
    ["status", entry.status ?? "supported"],
  ],
};

async function validateRecipe(file: string, options: { strict?: boolean }, command: Command): Promise<void> {
  const context = contextOf(command);
  const { compileOrRefuse, loadRecipe } = await import("../load_recipe.ts");
  const loaded = await loadRecipe(context, file);
  const { effective } = compileOrRefuse(loaded, await context.registry());
  const { recipeSpecs } = await import("../../research/specs.ts");
  const { attachLocations } = await import("../../recipe/positions.ts");
  const { catalog_validation, ...specs } = recipeSpecs(effective!, options);
  const found = catalog_validation as unknown as { errors: Diagnostic[]; warnings: Diagnostic[] };
  const diagnostics = attachLocations([...found.errors, ...found.warnings], loaded.locate);
  if (found.errors.length > 0) {
    throw new SvcError("recipe_invalid", `Cannot accept the research metadata of ${loaded.file}`, { diagnostics });
  }
  context.emit({
    ...specs,
    status: "valid",
    strict: options.strict ?? false,
    diagnostics: diagnostics as unknown as JsonObject[],
  });
  for (const item of diagnostics) context.note(formatDiagnostic(item, context.paintError, context.excerpt));
  const idOf = (spec: Value) => (spec as JsonObject | null)?.id ?? "none";
  const metrics = specs.metrics as JsonObject[];
  context.print(
    `${context.paint("green", "valid")}  ${effective!.name}: task ${idOf(specs.task)}, ` +
      `data set ${idOf(specs.dataset)}, metrics ${metrics.map(({ id }) => id).join(", ") || "none"}`,
  );
}
