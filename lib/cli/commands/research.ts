/** `svc research`: the catalogue of datasets, tasks and metrics, and recipes checked against it. */
import { recipes } from "../../api/calls/recipes.ts";
import { research } from "../../api/calls/research.ts";
import { SvcError } from "../../contract/error.ts";
import { didYouMean } from "../../contract/nearest.ts";
import type { JsonObject, Value } from "../../contract/value.ts";
import type { DatasetEntry, MetricEntry, TaskEntry } from "../../research/catalog.ts";
import { commandsOf } from "../call_commands.ts";
import { type CommandSpec, TABLE_FORMAT } from "../command.ts";
import { formatTable } from "../table.ts";

const KINDS = ["dataset", "task", "metric"] as const;
type Kind = typeof KINDS[number];

const callCommands = commandsOf("research", research, {
  catalog: {
    examples: ["svc research catalog", "svc research catalog --json"],
    async show(catalog, { svc, context }) {
      const { research } = svc;
      const [tasks, datasets, metrics] = await Promise.all([research.tasks(), research.datasets(), research.metrics()]);
      const lines: string[] = [];
      for (const area of catalog.areas as JsonObject[]) {
        const rows = tasks.filter(({ area_id }) => area_id === area.id)
          .map(({ id, name, status }) => ({ id, name: name + (status === "supported" ? "" : ` (${status})`) }));
        const table = formatTable(rows, ["id", "name"]).trimEnd();
        lines.push(context.paint("bold", String(area.name)));
        lines.push(...table.split("\n").slice(1).map((line) => `  ${line}`), "");
      }
      return [
        ...lines,
        `${tasks.length} tasks, ${datasets.length} datasets, ${metrics.length} metrics: ` +
        "svc research tasks, datasets, metrics list them",
      ].join("\n");
    },
  },
  datasets: {
    options: { format: TABLE_FORMAT },
    json: (datasets) => ({ schema_version: 1, datasets }),
    show: (datasets, { options: { format } }) =>
      formatTable(
        datasets.map((entry) => ({
          dataset: entry.id,
          modality: entry.modality,
          status: entry.status,
          files: filesOf(entry),
          versions: entry.versions.join(", "),
        })),
        ["dataset", "modality", "status", "files", "versions"],
        format,
      ),
  },
  tasks: {
    options: { format: TABLE_FORMAT },
    json: (tasks) => ({ schema_version: 1, tasks }),
    show: (tasks, { options: { format } }) =>
      formatTable(
        tasks.map(({ id, kind, modality, status, metrics }) => ({
          task: id,
          kind,
          modality,
          status,
          metrics: metrics.join(", "),
        })),
        ["task", "kind", "modality", "status", "metrics"],
        format,
      ),
  },
  metrics: {
    options: {
      format: TABLE_FORMAT,
    },
    examples: ["svc research metrics --family quality", "svc research metrics --format csv"],
    json: (metrics) => ({ schema_version: 1, metrics }),
    show: (metrics, { options: { format } }) =>
      formatTable(
        metrics.map((metric) => ({
          metric: metric.id,
          unit: metric.unit,
          better: BETTER[metric.direction],
          name: metric.name + (metric.status === undefined ? "" : ` (${metric.status})`),
        })),
        ["metric", "unit", "better", "name"],
        format,
      ),
  },
  entry: {
    examples: ["svc research show task bit_transport", "svc research show metric channel.ber"],
    call({ args: [kind] }, perform) {
      if ((KINDS as readonly string[]).includes(kind)) return perform();
      throw new SvcError("usage_invalid", `Cannot show a ${kind}: the kinds are ${KINDS.join(", ")}`, {
        hint: didYouMean(kind, KINDS),
      });
    },
    json: (entry, { args: [kind] }) => ({ schema_version: 1, [kind]: entry }),
    async show(entry, { svc, args: [kind, id], context }) {
      const lines = [`${context.paint("bold", entry.id)}  ${entry.name}`];
      for (const [label, fact] of DESCRIBE[kind as Kind](entry as never)) {
        if (fact !== "") lines.push(`  ${label}: ${fact}`);
      }
      const tasks = await svc.research.tasks();
      const users = tasks.filter(({ metrics, optional_metrics }) => [...metrics, ...optional_metrics].includes(id));
      if (kind === "metric" && users.length > 0) lines.push(`  tasks: ${users.map((task) => task.id).join(", ")}`);
      return lines.join("\n");
    },
  },
});

const recipeCommands = commandsOf("research", { checkResearch: recipes.checkResearch }, {
  checkResearch: {
    examples: ["svc research validate-recipe recipes/quickstart.yaml --strict"],
    json: ({ specs, diagnostics }, { options: { strict = false } }) => ({
      ...specs,
      status: "valid",
      strict,
      diagnostics,
    }),
    show({ name, specs }, { context }) {
      const idOf = (spec: Value) => (spec as JsonObject | null)?.id ?? "none";
      const metrics = (specs.metrics as JsonObject[]).map(({ id }) => id).join(", ") || "none";
      return `${context.paint("green", "valid")}  ${name}: task ${idOf(specs.task)}, ` +
        `dataset ${idOf(specs.dataset)}, metrics ${metrics}`;
    },
  },
});

export const researchCommands: CommandSpec[] = [
  ...callCommands,
  ...recipeCommands,
];

/** Where the data come from: with the program, from a local folder, or out of a generator. */
function filesOf({ bundled, local, status }: DatasetEntry): string {
  if (status === "planned") return "";
  return bundled ? "bundled" : local ? "local" : "generated";
}

const BETTER = { higher_is_better: "higher", lower_is_better: "lower", neutral: "" };

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
