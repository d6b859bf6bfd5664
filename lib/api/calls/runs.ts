/** Runs: list, show, verify, reproduce, compare, prune, restore and remove bundles. */
import { join, resolve } from "../../contract/paths.ts";
import { type Diagnostic, SvcError } from "../../contract/error.ts";
import { MAX_BLOCK_VALUES } from "../../artifact/array_block.ts";
import { SERIES_KINDS, SERIES_RANGES } from "../../artifact/array_series.ts";
import type { Float, JsonObject } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { createCancellation } from "../../execute/cancellation.ts";
import type { Side } from "../../figure/overlay_layers.ts";
import { displayed, figureDisplay, htmlTable } from "../../figure/display.ts";
import type { FigureStyle } from "../../figure/style.ts";
import { FIGURE_TYPES } from "../../figure/types.ts";
import type { RecipeDocument } from "../../recipe/types.ts";
import { RUN_STATUSES, type RunManifest, type RunSummary } from "../../run/documents.ts";
import { inside } from "../../artifact/inside.ts";
import type { ByPath, PlacedRun } from "../../run/bundle_place.ts";
import type { RunMarks } from "../../run/marks.ts";
import type { IndexOptions } from "../../run/index/runs.ts";
import type { ReproduceOptions, ReproductionReport } from "../../run/reproduce.ts";
import type { RestoreReport } from "../../run/restore.ts";
import type { RetentionReport, TakenBack } from "../../run/retention.ts";
import type { RunDiff } from "../../run/diff.ts";
import type { GarbageReport } from "../../run/gc.ts";
import type { RunRow, ShownRun } from "../../run/store.ts";
import type { VerificationReport } from "../../run/verify.ts";
import type { DrawnRuns } from "../../study/report/runs_reports.ts";
import type { RunsTable } from "../../study/report/runs_table.ts";
import { bundlePaths } from "../bundle_paths.ts";
import { call, camelKeys, type Cancellable } from "../call.ts";
import type { SessionCore } from "../core.ts";
import { pullCall, PUSH, PUSH_EXITS, type Transfer } from "../exchange_calls.ts";
import {
  BASELINE,
  DRY_RUN,
  FILES,
  flag,
  folder,
  IGNORE_ESTIMATE,
  LINT,
  NAMES,
  oneOf,
  RECIPE_NAME,
  RUN,
  text,
  texts,
  VALUE,
  WHERE,
  WORKERS,
} from "../fields.ts";
import { documentOf, FIGURE, OBJECT, ownWarnings, textFiles } from "../documents.ts";

/** What a run of steps in place of a user tells and takes besides its fields. */
type Rerun = Cancellable & Pick<ReproduceOptions, "onEvent" | "jobId" | "sharedProcess" | "usePlanCache" | "paths">;

const SELECTION = {
  ids: texts("ids of runs or unique prefixes; all finished runs that match the others when left out"),
  recipe: RECIPE_NAME,
  older_than: text("only runs that finished more than AGE ago (30d, 12h)", "age"),
  larger_than: text("only runs larger than SIZE (100MB, 1GiB)", "size"),
};
type Selection = z.output<z.ZodObject<typeof SELECTION>>;
const selectionOf = ({ ids, recipe, older_than: olderThan, larger_than: largerThan }: Selection) => ({
  ids,
  recipe,
  olderThan,
  largerThan,
});
const RETENTION = documentOf<RetentionReport>(
  z.object({
    dry_run: z.boolean(),
    runs: z.array(OBJECT),
    size_bytes: z.int(),
    freed_bytes: z.int(),
    removal: z.string().optional().describe("name under which the removal can be undone"),
  }),
);
const UNDOABLE = flag("keep the files for 10 minutes, or until the next removal: runs undo puts them back");
const MARKS = documentOf<RunMarks>(
  z.object({ schema_version: z.int(), runs: z.record(z.string(), OBJECT), views: z.record(z.string(), z.string()) }),
);
const RUNS = texts("only these runs: ids or, on the command line, paths of bundles");
const PLOT = {
  recipe: RECIPE_NAME,
  plot: oneOf("type of the figure", FIGURE_TYPES),
  x: text("dimension, step.parameter or metric along x (default: an Es/N0, else the first dimension)", "id"),
  y: text("metric along y", "id"),
  group: text("group curves by method, recipe or metric:<id> (default: method)", "by"),
  value: VALUE,
  baseline: BASELINE,
  bound: text("metric drawn as a dashed line, a bound of the metric along y", "id"),
  ...NAMES,
  where: WHERE,
  runs: RUNS,
};
const RUN_DOCUMENTS = z.object({ summary: documentOf<RunSummary>(), manifest: documentOf<RunManifest>() });
type RunDocuments = z.output<typeof RUN_DOCUMENTS>;
const ARTIFACT = z.string().describe("relative to the state directory: runs/<run_id>/artifacts/…");
const ARRAY = z.string().optional().describe("name of the array; the main one when left out");
const NUMBER = documentOf<number | Float>(z.number());
const FILE_REFUSALS = [400, 403, 404, 422] as const;
const OVERLAY = {
  index: z.int().min(0).default(0).describe("of the image in its batch"),
  step: z.string().optional().describe("id of the step that compares; the first one when left out"),
};
/** Runs of one reply of their documents. */
const MOST_RUNS = 64;
const TAGS = z.array(z.string()).max(100).optional();

const reports = () => import("../../study/report/runs_reports.ts");
const artifactFiles = () => import("../../run/artifact_file.ts");
const documents = () => Promise.all([import("../../run/read.ts"), import("../../run/documents.ts")]);

/** The named runs, or all of a recipe and its variants. @throws SvcError `run_not_found` with the nearest name */
async function runsOf(
  core: SessionCore,
  { recipe, runs }: { recipe?: string; runs?: readonly string[] },
  options: ByPath,
): Promise<PlacedRun[]> {
  if (runs !== undefined && runs.length > 0) {
    const { placedRuns } = await import("../../run/bundle_place.ts");
    const { isOfRecipe } = await import("../../run/store.ts");
    const found = placedRuns(core.workspace, runs, options);
    return recipe === undefined ? found : found.filter(({ row }) => isOfRecipe(row, recipe));
  }
  const all = { limit: Number.MAX_SAFE_INTEGER };
  const rows = await listed(core, { recipe, ...all });
  if (rows.length > 0 || recipe === undefined) {
    return rows.map((row) => ({ row, directory: inside(core.workspace.runs, row.run_id) }));
  }
  const { nearestName } = await import("../../contract/nearest.ts");
  const names = (await listed(core, all)).map((row) =>
    row.matrix_recipe ?? String(row.recipe_name).replace(/__.*$/, "")
  );
  const near = nearestName(recipe, [...new Set(names)]);
  throw new SvcError("run_not_found", `Cannot find a run of ${recipe}`, {
    hint: near === null ? "List the runs with: svc runs list" : `Did you mean ${near}?`,
  });
}

/** The index answers; where none can be kept, as on a read-only disk, the bundles do. */
async function listed(
  { workspace }: SessionCore,
  { status, recipe, where, limit }: {
    status?: string;
    recipe?: string;
    where?: Readonly<Record<string, string>>;
    limit: number;
  },
  options: IndexOptions = {},
): Promise<RunRow[]> {
  const { exists } = await import("../../artifact/path_kind.ts");
  if (!exists(workspace.runs)) return [];
  const [{ openRunIndex }, { isDamage }] = await Promise.all([
    import("../../run/index/open.ts"),
    import("../../run/index/database.ts"),
  ]);
  let opened: ReturnType<typeof openRunIndex>;
  try {
    opened = openRunIndex(workspace, options);
  } catch (error) {
    // Bundles alone cannot be searched by value.
    if (where !== undefined && Object.keys(where).length > 0) throw error;
    const { isOfRecipe, listRuns } = await import("../../run/store.ts");
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

/** One or both sides of a comparison, drawn on an image of the run. */
async function overlay(
  { workspace }: SessionCore,
  task: "detection" | "segmentation",
  { run_id, kind, index, step }: { run_id: string; kind: string; index: number; step?: string },
): Promise<Uint8Array> {
  const [{ DETECTIONS, SEGMENTATION }, { findLayers }, { drawDetections, drawSegmentation }] = await Promise.all([
    import("../../artifact/vision.ts"),
    import("../../figure/overlay_layers.ts"),
    import("../../figure/overlay_image.ts"),
  ]);
  const detection = task === "detection";
  const sides: Side[] = kind === "both" || kind === "difference" ? ["candidate", "reference"] : [kind as Side];
  const options = { metrics: `metrics.${task}`, step, sides };
  const layers = findLayers(workspace, run_id, detection ? DETECTIONS : SEGMENTATION, options);
  return await (detection ? drawDetections : drawSegmentation)(layers, index);
}

/** What runs steps again: the means of the session and a token. */
async function rerun<T>(
  core: SessionCore,
  means: Rerun,
  body: (options: ReproduceOptions) => Promise<T>,
): Promise<T> {
  const { workspace: _workspace, ...session } = await core.means();
  const cancellation = means.cancellation ?? createCancellation();
  return await core.withPool((execute) => body({ ...means, ...session, cancellation, execute }));
}

export const runs = {
  /** Runs, newest first. */
  list: call("List runs, newest first", {
    fields: {
      status: oneOf("only runs in this state", RUN_STATUSES),
      recipe: RECIPE_NAME,
      where: WHERE,
      limit: z.int().min(1).default(100).describe("maximum number of rows"),
    },
    output: documentOf<RunRow[]>(z.array(OBJECT)),
    cli: {},
    run: (core, filter, options: IndexOptions) => listed(core, filter, options),
  }),

  /** The differences between two runs: recipe, plan, environment, metrics, artifacts. @throws SvcError `run_not_found` */
  diff: call("Compare two runs: recipe, plan, environment, metrics, artifacts", {
    fields: { a: RUN, b: RUN },
    args: ["a", "b"],
    output: documentOf<RunDiff>(z.object({ a: z.string(), b: z.string(), equal: z.boolean() })),
    refuses: [400, 404],
    http: { route: "get /api/runs/diff", returns: "The report" },
    cli: { usage: "<a> <b>" },
    tool: true,
    run: async ({ workspace }, { a, b }, options: ByPath) =>
      (await import("../../run/diff.ts")).diffRuns(workspace, a, b, options),
  }),

  /** A row per finished run, newest first. @throws SvcError `run_not_found`, `usage_invalid` */
  table: call("Tabulate finished runs: differing parameters, and metrics with intervals", {
    fields: {
      recipe: RECIPE_NAME,
      where: WHERE,
      metrics: texts("metrics of the table (default: those of the task)"),
      runs: RUNS,
    },
    output: documentOf<RunsTable>(z.object({ metrics: z.array(OBJECT), rows: z.array(OBJECT) })),
    refuses: [400, 404],
    http: { route: "get /api/runs/table", returns: "The table" },
    cli: { usage: "[runs...]", fields: ["runs"] },
    tool: true,
    async run(core, request, { paths }: ByPath) {
      const table = (await reports()).tableOfRuns(await runsOf(core, request, { paths }), request);
      return displayed(table, async () => {
        const { cellTexts } = await import("../../study/report/table.ts");
        const { runsReport, runsTableText } = await import("../../study/report/runs_table.ts");
        const report = runsReport(table, "unicode");
        return { "text/plain": runsTableText(table, "md"), "text/html": htmlTable(...cellTexts(report)) };
      });
    },
  }),

  /** The files that `plot` writes. @throws SvcError `run_not_found`, `usage_invalid` */
  figure: call("Draw finished runs, such as the variants of a sweep: the texts that `svc runs plot` writes", {
    fields: PLOT,
    output: FIGURE.extend({ runs: z.array(z.string()) }),
    refuses: [400, 404],
    http: {
      route: "get /api/runs/figure",
      returns: "The figure as data, and as texts by file name: specification, SVG, CSV and the record of its runs",
      without: ["bound", "label", "units", "runs"],
    },
    publish: ({ plot, x, y, group, name, figure, runs, files }: DrawnRuns) => (
      { plot, x, y, group, name, figure, runs, files: textFiles(files) }
    ),
    tool: true,
    async run(core, { runs, ...request }, { paths }: ByPath) {
      const rows = await runsOf(core, { ...request, runs }, { paths });
      const drawn = await (await reports()).drawRuns(rows, request);
      return displayed(drawn, () => figureDisplay(drawn.name, drawn.files));
    },
  }),

  /** Draws finished runs as figures of benchmarks are drawn. @throws SvcError `run_not_found`, `usage_invalid` */
  plot: call("Plot finished runs of a recipe, such as the variants of its matrix", {
    fields: {
      ...PLOT,
      out: folder("figures"),
      ...FILES,
    },
    cli: { usage: "[type] [runs...]", fields: ["plot", "runs"] },
    async run(
      core,
      { out, name, format, runs, ...request },
      { style, paths }: ByPath & { style?: FigureStyle },
    ) {
      const rows = await runsOf(core, { ...request, runs }, { paths });
      return await (await reports()).plotRuns(rows, request, { style, out, name, format });
    },
  }),

  /** Full ids of runs. @throws SvcError `run_not_found`, `run_ambiguous` */
  resolve: call("Find the full ids of runs", {
    fields: { ids: z.array(z.string()) },
    args: ["ids"],
    async run({ workspace }, { ids }) {
      const { resolveRunId } = await import("../../run/store.ts");
      return ids.map((id) => resolveRunId(workspace, id));
    },
  }),

  /** Stars, tags and notes of runs, and named views of their list. @throws SvcError `run_marks_invalid` */
  marks: call("Read the stars, tags and notes of runs, and the named views of their list", {
    output: MARKS,
    refuses: [409],
    http: { route: "get /api/runs/marks", returns: "All marks, and the views by name" },
    run: async ({ workspace }) => (await import("../../run/marks.ts")).readMarks(workspace),
  }),

  /** Changes marks. @throws SvcError `run_not_found`, `run_ambiguous`, `usage_invalid`, `run_marks_invalid` */
  mark: call("Change the stars, tags and notes of runs", {
    fields: {
      ids: z.array(z.string()).min(1).max(1000),
      starred: z.boolean().optional(),
      add_tags: TAGS,
      remove_tags: TAGS,
      note: z.string().max(10_000).optional().describe("replaces the note"),
    },
    args: ["ids"],
    output: MARKS,
    refuses: [400, 404, 409],
    http: { route: "post /api/runs/marks", returns: "All marks, and the views by name" },
    run: async ({ workspace }, { ids, ...change }) =>
      (await import("../../run/marks.ts")).markRuns(workspace, ids, change),
  }),

  /** Keeps the query of a list of runs under a name. @throws SvcError `run_marks_invalid` */
  keepView: call("Keep a view of the list of runs under a name", {
    fields: {
      name: z.string().min(1).max(60),
      query: z.string().max(4000).nullable().describe("query of the page's address; null removes the view"),
    },
    args: ["name", "query"],
    output: MARKS,
    refuses: [400, 409],
    http: { route: "post /api/runs/views", returns: "All marks, and the views by name" },
    run: async ({ workspace }, { name, query }) =>
      (await import("../../run/marks.ts")).keepView(workspace, name, query),
  }),

  /** The documents of several runs in the order of the ids, for figures and comparisons; paths begin at the state directory. */
  documents: call("Read the documents of several runs at once, for figures and comparisons", {
    fields: { ids: z.array(z.string()).describe(`ids of runs; at most ${MOST_RUNS}`) },
    args: ["ids"],
    output: z.object({
      runs: z.array(z.object({
        summary: documentOf<RunSummary>(),
        environment: documentOf<RunManifest["environment"]>(),
        recipe: documentOf<RecipeDocument>().describe("the effective recipe"),
        task_id: z.string().nullable(),
      })),
      problems: z.array(z.object({ run_id: z.string(), code: z.string(), message: z.string() })),
    }),
    refuses: [400],
    http: {
      route: "get /api/runs/documents",
      returns: "The runs in the order of the ids, and the ids that cannot be read",
    },
    async run({ workspace }, { ids }) {
      const named = ids.map((id) => id.trim()).filter((id) => id !== "");
      if (named.length === 0 || named.length > MOST_RUNS) {
        throw new SvcError("query_invalid", `Cannot read ${named.length} runs at once`, {
          hint: `Name 1 to ${MOST_RUNS} runs`,
        });
      }
      const [{ readDocument }, { RECIPE_FILE }] = await documents();
      const { openRun } = await import("../../run/bundle_place.ts");
      const runs = [], problems = [];
      for (const id of named) {
        try {
          const { run_id, directory, summary, manifest } = openRun(workspace, id);
          const { task } = (manifest.recipe.research ?? {}) as { task?: { id?: string } };
          runs.push({
            summary: bundlePaths(summary, run_id),
            environment: manifest.environment,
            recipe: readDocument(directory, RECIPE_FILE) as RecipeDocument,
            task_id: task?.id ?? null,
          });
        } catch (error) {
          if (!(error instanceof SvcError)) throw error;
          problems.push({ run_id: id, code: error.code, message: error.message });
        }
      }
      return { runs, problems };
    },
  }),

  /** Summary and manifest of a run. @throws SvcError `run_not_found` */
  show: call("Show the outcome of a run", {
    fields: { run_id: RUN },
    args: ["run_id"],
    output: RUN_DOCUMENTS,
    refuses: [404],
    http: {
      route: "get /api/runs/:run_id",
      returns: "Summary and manifest; paths begin at the state directory",
      stable: true,
    },
    publish: ({ run_id, summary, manifest }: ShownRun) =>
      ({ summary: bundlePaths(summary, run_id), manifest }) as unknown as RunDocuments,
    tool: true,
    cli: { usage: "<run>" },
    findings: ({ found }: ShownRun & { found: Diagnostic[] }) => found,
    async run({ workspace }, { run_id }, options: ByPath) {
      const { openRun, storedFindings } = await import("../../run/bundle_place.ts");
      const shown = openRun(workspace, run_id, options);
      return { ...shown, found: storedFindings(shown) };
    },
  }),

  /** Summaries by full ids; null where a bundle has none that can be read. */
  summaries: call("Read the summaries of runs", {
    fields: { ids: z.array(z.string()) },
    args: ["ids"],
    async run({ workspace }, { ids }): Promise<(JsonObject | null)[]> {
      const [{ readDocument }, { SUMMARY_FILE }] = await documents();
      return ids.map((id) => {
        try {
          return readDocument(join(workspace.runs, id), SUMMARY_FILE);
        } catch (error) {
          if (error instanceof SvcError || error instanceof Deno.errors.NotFound) return null;
          throw error;
        }
      });
    },
  }),

  /** The effective recipe of a run. @throws SvcError `run_not_found`, `bundle_file_missing`, `bundle_schema_invalid` */
  recipe: call("Read the effective recipe of a run", {
    fields: { run_id: RUN },
    args: ["run_id"],
    async run({ workspace }, { run_id }, options: ByPath) {
      const [{ readDocument }, { RECIPE_FILE }] = await documents();
      const { directory } = (await import("../../run/bundle_place.ts")).openRun(workspace, run_id, options);
      return readDocument(directory, RECIPE_FILE) as RecipeDocument;
    },
  }),

  /** Writes the images of a run as PNG files, source beside received, and one strip. @throws SvcError `run_not_found`, `pictures_missing` */
  pictures: call("Write the images of a run as PNG files, with a strip of sent beside received images", {
    fields: { run_id: RUN, out: folder("pictures") },
    args: ["run_id"],
    cli: { usage: "<run>" },
    run: async ({ workspace }, { run_id, out }, options: ByPath) =>
      (await import("../../run/pictures.ts")).writePictures(workspace, run_id, resolve(out), options),
  }),

  /** Writes the strip of a run below the state directory. @returns its path, or null without received images */
  strip: call("Write the strip of pictures of a run", {
    fields: { run_id: RUN },
    args: ["run_id"],
    run: async ({ workspace }, { run_id }) => (await import("../../run/pictures.ts")).writeStrip(workspace, run_id),
  }),

  /**
   * Writes the files of a bundle and `ro-crate-metadata.json`, or the metrics as a table, or the signals as recordings.
   * @throws SvcError `run_not_found`, `run_still_executing`, `usage_invalid` for an occupied folder or file,
   *   `signals_missing`
   */
  export: call(
    "Export a finished run: as a Workflow Run RO-Crate 1.1, its metrics as a table, or its signals as recordings",
    {
      fields: {
        run_id: RUN,
        out: text("a new folder or file (default: <run>.crate, .zip, .parquet or .sigmf)", "path"),
        format: z.enum(["ro-crate", "zip", "parquet", "sigmf"]).default("ro-crate").describe(
          "a crate as a folder or ZIP file, a Parquet file of all metrics, or a folder of SigMF recordings of symbols, waveforms and frames",
        ),
        licence: text("URL or name of the licence of the data", "licence"),
      },
      args: ["run_id"],
      cli: { usage: "<run>" },
      async run({ workspace }, { run_id: wanted, out, licence, format }, { paths }: ByPath) {
        const { run_id } = (await import("../../run/bundle_place.ts")).openRun(workspace, wanted, { paths });
        const target = resolve(out ?? `${run_id}.${format === "ro-crate" ? "crate" : format}`);
        if (format === "parquet") {
          return await (await import("../../run/parquet.ts")).exportParquet(workspace, wanted, { out: target, paths });
        }
        if (format === "sigmf") {
          return (await import("../../run/sigmf.ts")).exportSigmf(workspace, wanted, { out: target, licence, paths });
        }
        const { exportCrate } = await import("../../run/ro_crate.ts");
        return exportCrate(workspace, wanted, { out: target, licence, format, paths });
      },
    },
  ),

  /** An image of an artifact file, or of an array in one, as PNG. @throws SvcError as `array` */
  image: call("Show an image of an artifact, as PNG", {
    fields: { path: ARTIFACT, index: z.int().min(0).default(0).describe("of the image in a batch"), array: ARRAY },
    args: ["path"],
    refuses: FILE_REFUSALS,
    http: { route: "get /api/image", returns: "The image", media: "image/png" },
    tool: "images_show",
    async run({ workspace }, { path, ...query }): Promise<Uint8Array> {
      const [{ findArtifact, imageOfFile }, { writePng }] = await Promise.all([
        artifactFiles(),
        import("../../artifact/png_encode.ts"),
      ]);
      return writePng(await imageOfFile(findArtifact(workspace, path), query), 1);
    },
  }),

  /** An array thinned for a plot: no peak of a line is lost, complex values are counted in cells. @throws SvcError as `array` */
  series: call("Reduce an array for a plot", {
    fields: {
      path: ARTIFACT,
      array: ARRAY,
      points: z.int().min(2).max(100_000).default(1000),
      kind: z.enum(SERIES_KINDS).optional().describe("histogram_2d for complex values, else line, when left out"),
      range: z.enum(SERIES_RANGES).default("all").describe(
        "of a histogram: robust leaves out values far from the rest",
      ),
      stride: z.int().min(1).max(1_000_000).default(1).describe(
        "every stride-th value, such as those of one of so many layers",
      ),
      offset: z.int().min(0).max(999_999).default(0).describe("the first of these values, below stride"),
    },
    args: ["path"],
    output: z.object({
      kind: z.enum(SERIES_KINDS),
      array: z.string(),
      x: z.array(NUMBER),
      y: z.array(NUMBER.nullable()),
      counts: z.array(z.array(z.int())).optional(),
      source_count: z.int(),
      outside_count: z.int().optional(),
    }),
    refuses: FILE_REFUSALS,
    http: { route: "get /api/series", returns: "Points of a line, or the edges and counts of a histogram" },
    tool: "arrays_series",
    async run({ workspace }, { path, array: wanted, points, kind, range, stride, offset }) {
      const [{ findArtifact, readArray }, { everyNth, seriesOf }] = await Promise.all([
        artifactFiles(),
        import("../../artifact/array_series.ts"),
      ]);
      const { name, array } = readArray(findArtifact(workspace, path), wanted);
      return { array: name, ...seriesOf(everyNth(array, stride, offset), points, kind, range) };
    },
  }),

  /**
   * A block of an array of an artifact file with every digit.
   * @throws SvcError `path_forbidden`, `artifact_not_found`, `run_pruned`, `artifact_invalid`, `query_invalid`
   */
  array: call("Show a block of an array with every digit", {
    fields: {
      path: ARTIFACT,
      array: ARRAY,
      at: z.string().regex(/^(\d{1,9}(,\d{1,9})*)?$/).default("").describe("indices of the leading axes, such as 3,0"),
      first: z.int().min(1).max(MAX_BLOCK_VALUES).optional().describe("the first values of a block of one dimension"),
      reduce: z.enum(["none", "max"]).default("none").describe(
        "max: the largest value of equal cells where a block of two axes has too many values",
      ),
    },
    args: ["path"],
    output: z.object({
      array: z.string(),
      dtype: z.string(),
      shape: z.array(z.int()),
      at: z.array(z.int()),
      block_shape: z.array(z.int()),
      cell: z.array(z.int()).describe("values that one stands for on each axis of the block"),
      real: z.array(NUMBER.nullable()),
      imaginary: z.array(NUMBER.nullable()).nullable(),
    }),
    refuses: FILE_REFUSALS,
    http: { route: "get /api/array", returns: "The block in C order; imaginary is null for real values" },
    tool: "arrays_show",
    async run({ workspace }, { path, array: wanted, at, first, reduce }) {
      const [{ findArtifact, readArray }, { blockOf }] = await Promise.all([
        artifactFiles(),
        import("../../artifact/array_block.ts"),
      ]);
      const { name, array } = readArray(findArtifact(workspace, path), wanted);
      const indices = at.split(",").filter(Boolean).map(Number);
      return { array: name, ...blockOf(array, indices, { first, reduced: reduce === "max" }) };
    },
  }),

  /** Boxes of a run on one of its images, as PNG. @throws SvcError `run_not_found`, `artifact_not_found`, `artifact_invalid` */
  detectionOverlay: call("Draw boxes of a run on one of its images, as PNG", {
    fields: {
      run_id: RUN,
      kind: z.enum(["both", "candidate", "reference"]).default("both").describe(
        "boxes to draw; both are drawn on the input image of the model, the reference alone on its own image",
      ),
      ...OVERLAY,
    },
    args: ["run_id"],
    refuses: [400, 404, 422],
    http: { route: "get /api/runs/:run_id/detection-overlay", returns: "The image", media: "image/png", stable: true },
    run: (core, input) => overlay(core, "detection", input),
  }),

  /** Classes of the pixels of a run on one of its images, as PNG. @throws SvcError as `detectionOverlay` */
  segmentationOverlay: call("Draw classes of the pixels of a run on one of its images, as PNG", {
    fields: {
      run_id: RUN,
      kind: z.enum(["candidate", "reference", "difference"]).default("candidate").describe(
        "classes to draw; difference shows where the candidate differs from the reference",
      ),
      ...OVERLAY,
    },
    args: ["run_id"],
    refuses: [400, 404, 422],
    http: {
      route: "get /api/runs/:run_id/segmentation-overlay",
      returns: "The image",
      media: "image/png",
      stable: true,
    },
    run: (core, input) => overlay(core, "segmentation", input),
  }),

  /**
   * Hashes every file of a bundle again and checks the links between its documents.
   * @throws SvcError `run_not_found`, `allowed_signers_invalid`, `signing_unavailable`
   */
  verify: call("Verify the hashes of a bundle and the links between its documents", {
    fields: {
      run_id: RUN,
      signed_by: text("file of allowed signers; the run must have the signature of one of them", "file"),
    },
    args: ["run_id"],
    output: documentOf<VerificationReport>(
      z.object({ status: z.enum(["valid", "warning", "invalid"]), target_id: z.string(), checks: z.array(OBJECT) }),
    ),
    refuses: [404, 409],
    http: {
      route: "get /api/runs/:run_id/verify",
      returns: "The report, valid or not",
      without: ["signed_by"],
    },
    publish: (report: VerificationReport) => ({ ...report, path: `runs/${report.target_id}` }),
    cli: { usage: "<run>", exits: "exit 6 on a difference" },
    tool: true,
    run: async ({ workspace }, { run_id, signed_by: signedBy }, { paths }: ByPath) =>
      await (await import("../../run/verify.ts")).verifyRun(workspace, run_id, { signedBy, paths }),
  }),

  /**
   * Verifies a bundle of somebody else, and files it in the workspace; `import.json` in it says where it came from.
   * @throws SvcError `run_import_refused` with the findings, `run_not_found`, `run_still_executing`
   */
  import: call("Verify a bundle in a folder or ZIP file, and file it among the runs", {
    fields: { source: z.string() },
    args: ["source"],
    cli: { usage: "<path>", fields: ["source"] },
    run: async ({ workspace }, { source }) =>
      await (await import("../../run/import_run.ts")).importRun(workspace, source),
  }),

  /** Writes `SHA256SUMS.sig`. @throws SvcError `run_not_found`, `run_still_executing`, `run_signing_failed`, `signing_unavailable` */
  sign: call("Sign a finished run with a key of OpenSSH: writes SHA256SUMS.sig, which runs verify --signed-by checks", {
    fields: {
      run_id: RUN,
      key: text("private key, or public key whose private key ssh-agent holds (required)", "file"),
    },
    args: ["run_id", "key"],
    cli: { usage: "<run>", fields: ["run_id"] },
    async run({ workspace }, { run_id, key }) {
      if (key === undefined) {
        throw new SvcError("usage_invalid", "Cannot sign without a key", { hint: "Add --key ~/.ssh/id_ed25519" });
      }
      return await (await import("../../run/sign.ts")).signRun(workspace, run_id, key);
    },
  }),

  /** Executes a run again and compares every artifact. @throws SvcError `run_not_found`, `run_still_executing` */
  reproduce: call("Run the recipe of a bundle again and compare all artifacts", {
    fields: {
      run_id: RUN,
      parallel_workers: WORKERS,
      ignore_estimate: IGNORE_ESTIMATE,
      lint: LINT,
      strict_lint: flag("refuse a recipe with lint errors"),
    },
    args: ["run_id"],
    output: documentOf<ReproductionReport>(),
    cli: { usage: "<run>", exits: "exit 6 on a difference" },
    findings: ownWarnings,
    async run(core, { run_id, parallel_workers, ignore_estimate, lint, strict_lint }, means: Rerun) {
      const { reproduceRun } = await import("../../run/reproduce.ts");
      const chosen = {
        parallelWorkers: parallel_workers,
        ignoreEstimate: ignore_estimate,
        lint,
        strictLint: strict_lint,
      };
      return await rerun(core, means, (options) => reproduceRun(core.workspace, run_id, { ...options, ...chosen }));
    },
  }),

  /** Selects finished runs, newest first. @throws SvcError `usage_invalid`, `run_not_found`, `run_still_executing` */
  select: call("Select finished runs", {
    fields: SELECTION,
    run: async ({ workspace }, selection) =>
      (await import("../../run/select.ts")).selectRuns(workspace, selectionOf(selection), "select"),
  }),

  /**
   * Removes the artifacts of finished runs and keeps every document and digest; `restore` makes them again.
   * @throws SvcError `usage_invalid`, `run_not_found`, `run_still_executing`
   */
  prune: call(
    "Delete the artifacts of finished runs; documents and digests are kept, and restore makes the files again",
    {
      fields: { ...SELECTION, dry_run: DRY_RUN, undoable: UNDOABLE },
      output: RETENTION,
      refuses: [400, 404, 409],
      http: { route: "post /api/runs/prune", returns: "The runs and the bytes" },
      cli: { usage: "[runs...]", fields: ["ids"] },
      tool: "destructive",
      run: async ({ workspace }, { dry_run: dryRun, undoable, ...selection }) =>
        (await import("../../run/retention.ts")).pruneRuns(workspace, selectionOf(selection), { dryRun, undoable }),
    },
  ),

  /**
   * Executes a pruned run again and puts its artifacts back when every digest equals the recorded one.
   * @throws SvcError `restore_mismatch` with the first step that differed; the bundle is unchanged
   */
  restore: call("Run a pruned run again and restore its artifacts", {
    fields: { run_id: RUN, parallel_workers: WORKERS, ignore_estimate: IGNORE_ESTIMATE },
    args: ["run_id"],
    output: documentOf<RestoreReport>(),
    cli: { usage: "<run>", exits: "exit 6 without a change when a digest differs" },
    findings: ownWarnings,
    async run(core, { run_id, parallel_workers, ignore_estimate }, means: Rerun) {
      const { restoreRun } = await import("../../run/restore.ts");
      const chosen = { parallelWorkers: parallel_workers, ignoreEstimate: ignore_estimate };
      return await rerun(core, means, (options) => restoreRun(core.workspace, run_id, { ...options, ...chosen }));
    },
  }),

  /** Removes finished bundles. @throws SvcError `usage_invalid`, `run_not_found`, `run_still_executing` */
  remove: call("Delete finished runs; their ids stay reserved", {
    fields: { ...SELECTION, dry_run: DRY_RUN, undoable: UNDOABLE },
    output: RETENTION,
    refuses: [400, 404, 409],
    http: { route: "post /api/runs/remove", returns: "The runs and the bytes" },
    cli: { usage: "[runs...]", fields: ["ids"] },
    tool: "destructive",
    run: async ({ workspace }, { dry_run: dryRun, undoable, ...selection }) =>
      (await import("../../run/retention.ts")).removeSelected(workspace, selectionOf(selection), { dryRun, undoable }),
  }),

  /** Undoes `remove` or `prune` with `undoable`. @throws SvcError `removal_not_found`, `removal_not_empty`, `run_still_executing` */
  undo: call("Put back what runs remove or runs prune took with --undoable", {
    fields: { removal: z.string().optional().describe("name of the removal; the latest when left out") },
    args: ["removal"],
    output: documentOf<TakenBack>(
      z.object({ removal: z.string(), runs: z.array(z.string()), artifacts_of: z.array(z.string()) }),
    ),
    refuses: [400, 404, 409],
    http: { route: "post /api/runs/undo", returns: "The runs that are back, and those whose artifacts are" },
    cli: { usage: "[removal]" },
    run: async ({ workspace }, { removal }) => (await import("../../run/retention.ts")).takeBack(workspace, removal),
  }),

  /** Removes staging, interrupted pulls, unused reservations and evidence without a row. @throws SvcError `usage_invalid`, `gc_running` */
  gc: call(
    "Remove what killed processes left: staging, unused reservations, stored artifacts and evidence without owner",
    {
      fields: {
        incomplete: text("also remove incomplete runs that began at least this long ago, such as 7d", "age"),
        dry_run: DRY_RUN,
      },
      output: documentOf<GarbageReport>(z.object({ items: z.array(OBJECT) })),
      refuses: [400, 409],
      http: { route: "post /api/runs/gc", returns: "Removed files, or those that would be removed" },
      cli: {},
      async run({ workspace }, { incomplete, dry_run: dryRun }) {
        const [{ collectGarbage }, { collectEvidence }, { collectPulls }] = await Promise.all([
          import("../../run/gc.ts"),
          import("../../study/rows/evidence_garbage.ts"),
          import("../../exchange/exchange.ts"),
        ]);
        const more = (dry: boolean) => [...collectEvidence(workspace, dry), ...collectPulls(workspace, dry)];
        return collectGarbage(workspace, { incomplete, dryRun }, more);
      },
    },
  ),

  /** Sends runs to a store `s3://bucket/prefix`. @throws SvcError `run_not_found`, `run_still_executing`, `store_unavailable` */
  push: call("Send finished runs to an S3-compatible object store; all without a selection", {
    fields: { store: z.string(), ...SELECTION, ...PUSH },
    args: ["store"],
    cli: { usage: "<store> [ids...]", fields: ["store", "ids"], exits: PUSH_EXITS },
    async run({ workspace }, { store, ids, recipe, older_than, larger_than = "0B", ...fields }, means: Transfer) {
      const [{ selectRuns }, { push }] = await Promise.all([
        import("../../run/select.ts"),
        import("../../exchange/exchange.ts"),
      ]);
      // Every run has more than no bytes.
      const rows = selectRuns(workspace, selectionOf({ ids, recipe, older_than, larger_than }), "push");
      return await push(workspace, "runs", store, rows.map(({ run_id }) => run_id), { ...camelKeys(fields), ...means });
    },
  }),

  /**
   * Receives runs from a store `s3://bucket/prefix`, each verified before it appears; without ids all that are not here.
   * @throws SvcError `not_found`, `store_unavailable`, `store_invalid`, `artifact_hash_mismatch`, `bundle_hash_mismatch`
   */
  pull: pullCall("runs", "finished runs"),
};
