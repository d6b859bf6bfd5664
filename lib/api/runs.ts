/** Runs: list, show, verify, reproduce, compare, prune, restore and remove bundles. */
import { join, resolve } from "node:path";
import { SvcError } from "../contract/error.ts";
import type { JsonObject } from "../contract/value.ts";
import { createCancellation } from "../execute/cancellation.ts";
import type { ReproduceOptions as Reproduce, ReproductionReport } from "../run/reproduce.ts";
import type { DrawnRuns, PlottedRuns, RunsPlotRequest, RunsTableRequest } from "../study/report/runs_reports.ts";
import type { RunsTable } from "../study/report/runs_table.ts";
import { displayed, figureDisplay, htmlTable } from "../figure/display.ts";
import type { CrateOptions, WrittenCrate } from "../run/ro_crate.ts";
import type { FigureStyle } from "../figure/style.ts";
import type { IndexOptions } from "../run/index/runs.ts";
import type { ExchangeOptions, ExchangeReport, PushOptions } from "../exchange/exchange.ts";
import type { RunDiff } from "../run/diff.ts";
import type { GarbageReport } from "../run/gc.ts";
import type { RestoreOptions as Restore, RestoreReport } from "../run/restore.ts";
import type { RetentionReport } from "../run/retention.ts";
import type { RunSelection } from "../run/select.ts";
import type { MarkChange, RunMarks } from "../run/marks.ts";
import type { RunPictures } from "../run/pictures.ts";
import type { RunRow, ShownRun } from "../run/store.ts";
import type { SignedRun } from "../run/sign.ts";
import type { VerificationReport, VerifyOptions } from "../run/verify.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import type { SessionCore } from "./core.ts";

export interface RunFilter {
  status?: string;
  /** Name of the recipe; the variants of its matrix count. */
  recipe?: string;
  /** Only runs with these values of a parameter `<step>.<parameter>`, of a coordinate of a matrix, or of a metric. */
  where?: Readonly<Record<string, string>>;
  /** At most this many, newest first; 100 when left out. */
  limit?: number;
}

type SetBySession = "registry" | "readiness" | "planCache" | "execute" | "cancellation";
export type ReproduceOptions = Omit<Reproduce, SetBySession> & Partial<Pick<Reproduce, "cancellation">>;
export type RestoreOptions = Omit<Restore, SetBySession | "files"> & Partial<Pick<Restore, "cancellation">>;
/** Whether nothing is changed; false when left out. */
type DryRun = { dryRun?: boolean };
type GarbageOptions = DryRun & {
  /** Removes incomplete runs that began at least this long ago: `7d`. */
  incomplete?: string;
};

export class Runs {
  constructor(private readonly core: SessionCore) {}

  /** Runs, newest first. The index answers; where none can be kept, as on a read-only disk, the bundles do. */
  async list({ status, recipe, where, limit = 100 }: RunFilter = {}, options: IndexOptions = {}): Promise<RunRow[]> {
    const { workspace } = this.core;
    const { exists } = await import("../artifact/path_kind.ts");
    if (!exists(workspace.runs)) return [];
    const [{ openRunIndex }, { isDamage }] = await Promise.all([
      import("../run/index/open.ts"),
      import("../run/index/database.ts"),
    ]);
    let opened: ReturnType<typeof openRunIndex>;
    try {
      opened = openRunIndex(workspace, options);
    } catch (error) {
      // Bundles alone cannot be searched by value.
      if (where !== undefined && Object.keys(where).length > 0) throw error;
      const { isOfRecipe, listRuns } = await import("../run/store.ts");
      return listRuns(workspace)
        .filter((row) => status === undefined || row.status === status)
        .filter((row) => recipe === undefined || isOfRecipe(row, recipe))
        .slice(0, limit);
    }
    const query = { limit, status, recipeName: recipe, where };
    try {
      if (opened.damaged !== null) options.onDamage?.(`it was moved to ${opened.damaged}`);
      return (await opened.index.list(query)).rows;
    } catch (error) {
      if (!isDamage(error)) throw error;
      opened.close();
      opened = openRunIndex(workspace, { ...options, check: true });
      options.onDamage?.(`it was moved to ${opened.damaged}`);
      return (await opened.index.list(query)).rows;
    } finally {
      opened.close();
    }
  }

  /**
   * A row per finished run, newest first: changed parameters, and metrics with intervals.
   * @throws SvcError `run_not_found`, `usage_invalid`
   */
  async table(request: RunsTableRequest = {}): Promise<RunsTable> {
    const { tableOfRuns } = await import("../study/report/runs_reports.ts");
    const table = tableOfRuns(this.core.workspace, await this.#ofRecipe(request.recipe), request);
    return displayed(table, async () => {
      const { cellTexts } = await import("../study/report/report_tables.ts");
      const { runsReport, runsTableText } = await import("../study/report/runs_table.ts");
      const report = runsReport(table, "unicode");
      return { "text/plain": runsTableText(table, "md"), "text/html": htmlTable(...cellTexts(report)) };
    });
  }

  /** The files that {@link plot} writes. @throws SvcError as {@link plot} */
  async figure(request: RunsPlotRequest): Promise<DrawnRuns> {
    const { drawRuns } = await import("../study/report/runs_reports.ts");
    const drawn = await drawRuns(this.core.workspace, await this.#ofRecipe(request.recipe), request);
    return displayed(drawn, () => figureDisplay(drawn.name, drawn.files));
  }

  /**
   * Draws finished runs, such as the variants of a sweep, as figures of benchmarks are drawn.
   * @throws SvcError `run_not_found`, `usage_invalid`
   */
  async plot(
    request: RunsPlotRequest,
    options: { style?: FigureStyle; out: string; name?: string },
  ): Promise<PlottedRuns> {
    const { plotRuns } = await import("../study/report/runs_reports.ts");
    return await plotRuns(this.core.workspace, await this.#ofRecipe(request.recipe), request, options);
  }

  /** All runs of a recipe and its variants. @throws SvcError `run_not_found` with the nearest name */
  async #ofRecipe(recipe: string | undefined): Promise<RunRow[]> {
    const rows = await this.list({ recipe, limit: Number.MAX_SAFE_INTEGER });
    if (rows.length > 0 || recipe === undefined) return rows;
    const { nearestName } = await import("../contract/nearest.ts");
    const others = await this.list({ limit: Number.MAX_SAFE_INTEGER });
    const names = others.map((row) => row.matrix_recipe ?? String(row.recipe_name).replace(/__.*$/, ""));
    const near = nearestName(recipe, [...new Set(names)]);
    throw new SvcError("run_not_found", `Cannot find a run of ${recipe}`, {
      hint: near === null ? "List the runs with: svc runs list" : `Did you mean ${near}?`,
    });
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

  /** Stars, tags and notes of runs, and named views of their list. @throws SvcError `run_marks_invalid` */
  async marks(): Promise<RunMarks> {
    return (await import("../run/marks.ts")).readMarks(this.core.workspace);
  }

  /** Changes the marks of runs. @throws SvcError `run_not_found`, `run_ambiguous`, `usage_invalid`, `run_marks_invalid` */
  async mark(ids: readonly string[], change: MarkChange): Promise<RunMarks> {
    return (await import("../run/marks.ts")).markRuns(this.core.workspace, ids, change);
  }

  /** Keeps the query of a list of runs under a name; null removes it. @throws SvcError `run_marks_invalid` */
  async keepView(name: string, query: string | null): Promise<RunMarks> {
    return (await import("../run/marks.ts")).keepView(this.core.workspace, name, query);
  }

  /**
   * Hashes every file of a bundle again and checks the links between its documents.
   * @param options `signedBy` is a file of allowed signers; the run must have the signature of one of them
   * @throws SvcError `run_not_found`, `allowed_signers_invalid`, `signing_unavailable`
   */
  async verify(id: string, options: VerifyOptions = {}): Promise<VerificationReport> {
    return await (await import("../run/verify.ts")).verifyRun(this.core.workspace, id, options);
  }

  /**
   * Writes `SHA256SUMS.sig`, a signature of OpenSSH, into the bundle of a finished run that verifies.
   * @param key file of a private key, or of a public key whose private key ssh-agent holds
   * @throws SvcError `run_not_found`, `run_still_executing`, `run_signing_failed`, `signing_unavailable`
   */
  async sign(id: string, key: string): Promise<SignedRun> {
    return await (await import("../run/sign.ts")).signRun(this.core.workspace, id, key);
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

  /**
   * Writes a finished run as a Workflow Run RO-Crate: the files of its bundle and `ro-crate-metadata.json`.
   * @throws SvcError `run_not_found`, `run_still_executing`, `usage_invalid` for an occupied folder
   */
  async export(id: string, { out, ...options }: CrateOptions): Promise<WrittenCrate> {
    return (await import("../run/ro_crate.ts")).exportCrate(this.core.workspace, id, { ...options, out: resolve(out) });
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
   * Removes staging of killed processes and interrupted pulls, unused reservations, stored artifacts without a bundle, evidence without a row,
   * and incomplete runs older than `incomplete`.
   * @throws SvcError `usage_invalid`, `gc_running`
   */
  async gc({ incomplete, dryRun }: GarbageOptions = {}): Promise<GarbageReport> {
    const [{ collectGarbage }, { collectEvidence }, { collectPulls }] = await Promise.all([
      import("../run/gc.ts"),
      import("../study/rows/evidence_garbage.ts"),
      import("../exchange/exchange.ts"),
    ]);
    const { workspace } = this.core;
    const more = (dry: boolean) => [...collectEvidence(workspace, dry), ...collectPulls(workspace, dry)];
    return collectGarbage(workspace, { incomplete, dryRun }, more);
  }

  /**
   * Sends finished runs to an object store; all without a selection.
   * @param store `s3://bucket/prefix`
   * @throws SvcError `run_not_found`, `run_still_executing`, `store_unavailable`
   */
  async push(store: string, selection: RunSelection = {}, options: PushOptions = {}): Promise<ExchangeReport> {
    const [{ selectRuns }, { push }] = await Promise.all([
      import("../run/select.ts"),
      import("../exchange/exchange.ts"),
    ]);
    const { workspace } = this.core;
    // Every run has more than no bytes.
    const rows = selectRuns(workspace, { ...selection, largerThan: selection.largerThan ?? "0B" }, "push");
    return await push(workspace, "runs", store, rows.map(({ run_id }) => run_id), options);
  }

  /**
   * Receives runs from an object store, each verified before it appears.
   * @param store `s3://bucket/prefix`
   * @param ids or unique beginnings; without any all that are not here
   * @throws SvcError `not_found`, `store_unavailable`, `store_invalid`, `artifact_hash_mismatch`, `bundle_hash_mismatch`
   */
  async pull(store: string, ids: readonly string[] = [], options: ExchangeOptions = {}): Promise<ExchangeReport> {
    return await (await import("../exchange/exchange.ts")).pull(this.core.workspace, "runs", store, ids, options);
  }
}
