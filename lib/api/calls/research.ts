/** The research catalogue: areas, datasets, tasks and metrics. */
import { SvcError } from "../../contract/error.ts";
import { didYouMean } from "../../contract/nearest.ts";
import { z } from "../../contract/zod.ts";
import type { Catalog, DatasetEntry, MetricEntry, TaskEntry } from "../../research/catalog.ts";
import { call } from "../call.ts";
import { documentOf } from "../documents.ts";
import { text } from "../fields.ts";

const catalogue = () => import("../../research/catalog.ts");

export const research = {
  /** The whole catalogue as a document. */
  catalog: call("Show the research areas, datasets, tasks and metrics", {
    output: z.object({
      datasets: z.array(documentOf<DatasetEntry>()),
      tasks: z.array(documentOf<TaskEntry>()),
      metrics: z.array(documentOf<MetricEntry>()),
    }),
    http: { route: "get /api/research/catalog", returns: "The catalogue", constant: true },
    cli: {},
    tool: "research_catalog",
    run: async (): Promise<Catalog> => (await catalogue()).researchCatalog(),
  }),

  datasets: call("List the datasets", {
    cli: {},
    run: async (): Promise<readonly DatasetEntry[]> => (await catalogue()).allDatasets(),
  }),

  tasks: call("List the tasks", {
    cli: {},
    run: async (): Promise<readonly TaskEntry[]> => (await catalogue()).allTasks(),
  }),

  /** The metrics, of one family where it is named. @throws SvcError `not_found` for an unknown family */
  metrics: call("List the metrics", {
    fields: { family: text("only metrics of this family, or whose id begins with it", "name") },
    cli: {},
    async run(_core, { family }): Promise<readonly MetricEntry[]> {
      const all = (await catalogue()).allMetrics();
      if (family === undefined) return all;
      const found = all.filter((metric) => metric.family === family || metric.id.startsWith(`${family}.`));
      if (found.length > 0) return found;
      const families = new Set(all.map((metric) => metric.family));
      throw new SvcError("not_found", `Cannot find the metric family ${family} in the research catalogue`, {
        hint: didYouMean(family, families) ?? `Families: ${[...families].join(", ")}`,
      });
    },
  }),

  /** A dataset, a task or a metric. @throws SvcError `not_found` with the nearest id */
  entry: call("Show a dataset, a task or a metric", {
    fields: { kind: z.enum(["dataset", "task", "metric"]), id: z.string() },
    args: ["kind", "id"],
    cli: { name: "research show", usage: "<kind> <id>" },
    run: async (_core, { kind, id }): Promise<DatasetEntry | TaskEntry | MetricEntry> =>
      (await catalogue()).catalogEntry(kind, id),
  }),
};
