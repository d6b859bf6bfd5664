/** Runs: list, show, verify, reproduce, compare, prune, restore and remove bundles. */
import { join, resolve } from "node:path";
import { SvcError } from "../contract/error.ts";
import type { JsonObject } from "../contract/value.ts";
import { createCancellation } from "../execute/cancellation.ts";
import type { ReproduceOptions as Reproduce, ReproductionReport } from "../run/reproduce.ts";
import type { RunDiff } from "../run/diff.ts";
import type { GarbageReport } from "../run/gc.ts";
import type { RestoreOptions as Restore, RestoreReport } from "../run/restore.ts";
import type { RetentionReport } from "../run/retention.ts";
import type { RunSelection } from "../run/select.ts";
import type { RunPictures } from "../run/pictures.ts";
import type { RunRow, ShownRun } from "../run/store.ts";
import type { VerificationReport } from "../run/verify.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import type { SessionCore } from "./core.ts";

export interface RunFilter {
  status?: string;
  /** Name of the recipe. */
  recipe?: string;
  /** At most this many, newest first; 100 when left out. */
  limit?: number;
}

type Given = "registry" | "readiness" | "planCache" | "execute" | "cancellation";
export type ReproduceOptions = Omit<Reproduce, Given> & Partial<Pick<Reproduce, "cancellation">>;
export type RestoreOptions = Omit<Restore, Given | "files"> & Partial<Pick<Restore, "cancellation">>;
/** Whether nothing is changed; false when left out. */
type DryRun = { dryRun?: boolean };
type GarbageOptions = DryRun & {
  /** Removes incomplete runs that began at least this long ago: `7d`. */
  incomplete?: string;
};

export class Runs {
  constructor(private readonly core: SessionCore) {}

  /** Runs, newest first. The index answers; where none can be kept, as on a read-only disk, the bundles do. */
  async list({ status, recipe, limit = 100 }: RunFilter = {}): Promise<RunRow[]> {
    const { workspace } = this.core;
    const { exists } = await import("../artifact/path_kind.ts");
    if (!exists(workspace.runs)) return [];
    const { openRunIndex } = await import("../run/index/open.ts");
    let opened: ReturnType<typeof openRunIndex>;
    try {
      opened = openRunIndex(workspace);
    } catch {
      const { listRuns } = await import("../run/store.ts");
      return listRuns(workspace)
        .filter((row) => status === undefined || row.status === status)
        .filter((row) => recipe === undefined || row.recipe_name === recipe)
        .slice(0, limit);
    }
    try {
      return (await opened.index.list({ limit, status, recipeName: recipe })).rows;
    } finally {
      opened.close();
    }
  }

  /** Full ids of runs that are named by unique beginnings. @throws SvcError `run_not_found`, `run_ambiguous` */
  async resolve(ids: readonly string[]): Promise<string[]> {
    const { resolveRunId } = await import("../run/store.ts");
    return ids.map((id) => resolveRunId(this.core.workspace, id));
  }

  /** Summary and manifest of a run; a unique beginning of its id is enough. @throws SvcError `run_not_found` */
  async show(id: string): Promise<ShownRun> {
    return (await import("../run/store.ts")).showRun(this.core.workspace, id);
  }

  /** Summaries by full ids; null where a bundle has none that can be read. */
  async summaries(ids: readonly string[]): Promise<(JsonObject | null)[]> {
    const [{ readDocument }, { SUMMARY_FILE }] = await Promise.all([
      import("../run/read.ts"),
      import("../run/documents.ts"),
    ]);
    return ids.map((id) => {
      try {
        return readDocument(join(this.core.workspace.runs, id), SUMMARY_FILE);
      } catch (error) {
        if (error instanceof SvcError || error instanceof Deno.errors.NotFound) return null;
        throw error;
      }
    });
  }

  /** The effective recipe of a run. @throws SvcError `run_not_found`, `bundle_file_missing`, `bundle_schema_invalid` */
  async recipe(id: string): Promise<RecipeDocument> {
    const [{ readDocument }, { RECIPE_FILE }] = await Promise.all([
      import("../run/read.ts"),
      import("../run/documents.ts"),
    ]);
    return readDocument((await this.show(id)).directory, RECIPE_FILE) as RecipeDocument;
  }

  /** Hashes every file of a bundle again and checks the links between its documents. @throws SvcError `run_not_found` */
  async verify(id: string): Promise<VerificationReport> {
    return await (await import("../run/verify.ts")).verifyRun(this.core.workspace, id);
  }

  /** Executes a run again and compares every artifact. @throws SvcError `run_not_found`, `run_still_executing` */
  async reproduce(id: string, options: ReproduceOptions = {}): Promise<ReproductionReport> {
    const { reproduceRun } = await import("../run/reproduce.ts");
    const { workspace, ...means } = await this.core.means();
    const cancellation = options.cancellation ?? createCancellation();
    return await this.core.withPool((execute) =>
      reproduceRun(workspace, id, { ...options, ...means, cancellation, execute })
    );
  }

  /** The differences between two runs: recipe, plan, environment, metrics, artifacts. @throws SvcError `run_not_found` */
  async diff(a: string, b: string): Promise<RunDiff> {
    return await (await import("../run/diff.ts")).diffRuns(this.core.workspace, a, b);
  }

  /**
   * Writes the images of a run as PNG files, source beside received, and one strip.
   * @param options.out folder, relative to the current one
   * @throws SvcError `run_not_found`, `pictures_missing`
   */
  async pictures(id: string, { out }: { out: string }): Promise<RunPictures> {
    return (await import("../run/pictures.ts")).writePictures(this.core.workspace, id, resolve(out));
  }

  /** Writes the strip of a run below the state directory. @returns its path, or null without received images */
  async strip(id: string): Promise<string | null> {
    return (await import("../run/pictures.ts")).writeStrip(this.core.workspace, id);
  }

  /** Selects finished runs, newest first. @throws SvcError `usage_invalid`, `run_not_found`, `run_still_executing` */
  async select(selection: RunSelection): Promise<RunRow[]> {
    return (await import("../run/select.ts")).selectRuns(this.core.workspace, selection, "select");
  }

  /**
   * Removes the artifacts of finished runs and keeps every document and digest; {@link restore} makes them again.
   * @throws SvcError `usage_invalid`, `run_not_found`, `run_still_executing`
   */
  async prune(selection: RunSelection, { dryRun }: DryRun = {}): Promise<RetentionReport> {
    return (await import("../run/retention.ts")).pruneRuns(this.core.workspace, selection, { dryRun });
  }

  /**
   * Executes a pruned run again and puts its artifacts back when every digest equals the recorded one.
   * @throws SvcError `restore_mismatch` with the first step that differed; the bundle is unchanged
   */
  async restore(id: string, options: RestoreOptions = {}): Promise<RestoreReport> {
    const { restoreRun } = await import("../run/restore.ts");
    const { workspace, ...means } = await this.core.means();
    const cancellation = options.cancellation ?? createCancellation();
    return await this.core.withPool((execute) =>
      restoreRun(workspace, id, { ...options, ...means, cancellation, execute })
    );
  }

  /** Removes finished bundles; their ids stay reserved. @throws SvcError `usage_invalid`, `run_not_found`, `run_still_executing` */
  async remove(selection: RunSelection, { dryRun }: DryRun = {}): Promise<RetentionReport> {
    return (await import("../run/retention.ts")).removeSelected(this.core.workspace, selection, { dryRun });
  }

  /**
   * Removes staging of killed processes, unused reservations, stored artifacts without a bundle, evidence without a row,
   * and incomplete runs older than `incomplete`.
   * @throws SvcError `usage_invalid`, `gc_running`
   */
  async gc({ incomplete, dryRun }: GarbageOptions = {}): Promise<GarbageReport> {
    const [{ collectGarbage }, { collectEvidence }] = await Promise.all([
      import("../run/gc.ts"),
      import("../benchmark/evidence_garbage.ts"),
    ]);
    const { workspace } = this.core;
    return collectGarbage(workspace, { incomplete, dryRun }, (dry) => collectEvidence(workspace, dry));
  }
}
