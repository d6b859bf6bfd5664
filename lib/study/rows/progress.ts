/** The progress of recipes from their rows as they come: the value of the metric that decides, or of the first one. */
import type { JsonObject } from "../../contract/value.ts";
import { toNumber } from "../../contract/value.ts";
import type { Replication, ResultRow } from "../pack/types.ts";
import { sampleOf } from "../pack/samples.ts";
import { stopProgress } from "./stop.ts";
import { Tally } from "./tally.ts";

/** The tried replicates of a recipe, and the statistics of those that are complete. */
export interface Tried {
  made: number;
  tally: Tally;
}

export class Progress {
  readonly #tried = new Map<string, Tried>();
  readonly #metric: string;
  readonly #confidence: number;

  /** @param metrics of the pack */
  constructor(metrics: readonly { id: string }[], replication: Replication | null) {
    this.#metric = replication?.stop_metric ?? metrics[0].id;
    this.#confidence = toNumber(replication?.confidence_level ?? 0.95);
  }

  /** Adds a row that ended. */
  add(row: ResultRow): Tried {
    let tried = this.#tried.get(row.id);
    if (tried === undefined) this.#tried.set(row.id, tried = { made: 0, tally: new Tally(this.#metric) });
    tried.made++;
    const sample = sampleOf(row, [{ id: this.#metric }]);
    if (sample !== null) tried.tally.add(sample);
    return tried;
  }

  tallyOf(recipeId: string): Tally | null {
    return this.#tried.get(recipeId)?.tally ?? null;
  }

  /** The member `progress` of an event; null before the first row. */
  of(recipeId: string): JsonObject | null {
    const tried = this.#tried.get(recipeId);
    return tried === undefined ? null : stopProgress(tried.tally, tried.made, this.#confidence);
  }

  /** Recipes with a row, and their progress. */
  all(): { id: string; progress: JsonObject }[] {
    return [...this.#tried.keys()].map((id) => ({ id, progress: this.of(id)! }));
  }
}
