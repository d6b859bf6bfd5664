/** The research catalogue: areas, datasets, tasks and metrics. */
import { SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { Catalog, DatasetEntry, MetricEntry, TaskEntry } from "../research/catalog.ts";

const catalogue = () => import("../research/catalog.ts");

export class Research {
  /** The whole catalogue as a document. */
  async catalog(): Promise<Catalog> {
    return (await catalogue()).researchCatalog();
  }

  async datasets(): Promise<readonly DatasetEntry[]> {
    return (await catalogue()).allDatasets();
  }

  async tasks(): Promise<readonly TaskEntry[]> {
    return (await catalogue()).allTasks();
  }

  /** The metrics, of one family where it is named. @throws SvcError `not_found` for an unknown family */
  async metrics({ family }: { family?: string } = {}): Promise<readonly MetricEntry[]> {
    const all = (await catalogue()).allMetrics();
    if (family === undefined) return all;
    const found = all.filter((metric) => metric.family === family || metric.id.startsWith(`${family}.`));
    if (found.length > 0) return found;
    const families = new Set(all.map((metric) => metric.family));
    throw new SvcError("not_found", `Cannot find the metric family ${family} in the research catalogue`, {
      hint: didYouMean(family, families) ?? `Families: ${[...families].join(", ")}`,
    });
  }

  /** One entry. @throws SvcError `not_found` with the nearest id */
  async entry(kind: "dataset" | "task" | "metric", id: string): Promise<DatasetEntry | TaskEntry | MetricEntry> {
    return (await catalogue()).catalogEntry(kind, id);
  }
}
