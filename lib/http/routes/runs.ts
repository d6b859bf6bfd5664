/** Completed and running runs: listed from the index, shown, verified and compared. */
import { SvcError } from "../../contract/error.ts";
import { isObject } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import type { RunsTable } from "../../study/report/runs_table.ts";
import { type Figure, FIGURE_TYPES } from "../../figure/types.ts";
import type { RunDiff } from "../../run/diff.ts";
import { RUN_STATUSES, type RunManifest, type RunSummary } from "../../run/documents.ts";
import type { GarbageReport } from "../../run/gc.ts";
import type { RunMarks } from "../../run/marks.ts";
import type { RetentionReport } from "../../run/retention.ts";
import type { VerificationReport } from "../../run/verify.ts";
import { bundlePaths } from "../bundle_paths.ts";
import { get, post } from "../route.ts";
import { flattenedMetrics } from "../run_metrics.ts";
import { documentOf, OBJECT, refusals, reply, RUN_ROW } from "../schemas.ts";

/** Members that every row has. */
const BASE = ["run_id", "status", "recipe_name", "suite", "created_at_utc", "completed_at_utc"];
/** Members that `fields` can add. */
const EXTRA = [
  "effective_recipe_sha256",
  "step_count",
  "size_bytes",
  "task_id",
  "mode",
  "parallel_workers",
  "plan_cache",
  "artifacts",
  "matrix_recipe",
  "problem",
  "metrics",
  "changed",
];

/** Runs that match every given member; without `ids` all finished ones that do. */
const SELECTION = z.strictObject({
  ids: z.array(z.string()).optional(),
  recipe: z.string().optional().describe("recipe name; variants of its matrix count"),
  older_than: z.string().optional().describe("age since the end, such as 30d"),
  larger_than: z.string().optional().describe("size, such as 100MB"),
  dry_run: z.boolean().optional().describe("report and change nothing"),
});

const selectionOf = ({ ids, recipe, older_than, larger_than, dry_run }: z.output<typeof SELECTION>) =>
  [{ ids, recipe, olderThan: older_than, largerThan: larger_than }, { dryRun: dry_run }] as const;

const RETENTION = {
  200: reply(
    "The runs and the bytes",
    documentOf<RetentionReport>(
      z.object({ dry_run: z.boolean(), runs: z.array(OBJECT), size_bytes: z.int(), freed_bytes: z.int() }),
    ),
  ),
  ...refusals(400, 404, 409),
} as const;

const RECIPE_NAME = z.string().optional().describe("runs of this recipe and of the variants of its matrix");
const WHERE = z.string().optional().describe("only these values of a parameter or metric: channel=awgn,snr_db=6");

/** @throws SvcError `query_invalid` */
function placesOf(where: string | undefined): Record<string, string> | undefined {
  return where && Object.fromEntries(
        where.split(",").map((part) => {
          const at = part.indexOf("=");
          if (at > 0) return [part.slice(0, at).trim(), part.slice(at + 1).trim()];
          throw new SvcError("query_invalid", `Cannot read ${JSON.stringify(part)} as a place`, {
            hint: "Write snr_db=6",
          });
        }),
      ) || undefined;
}

const MARKS = {
  200: reply(
    "All marks, and the views by name",
    documentOf<RunMarks>(
      z.object({
        schema_version: z.int(),
        runs: z.record(z.string(), OBJECT),
        views: z.record(z.string(), z.string()),
      }),
    ),
  ),
  ...refusals(400, 404, 409),
} as const;

const TAGS = z.array(z.string()).max(100).optional();

export const runRoutes = [
  get("/api/runs", "The runs, newest first, page by page", {
    stable: true,
    brief: true,
    query: z.strictObject({
      limit: z.int().min(1).max(500).default(100),
      cursor: z.string().optional().describe("next_cursor of the page before"),
      status: z.enum(RUN_STATUSES).optional(),
      recipe_name: z.string().optional().describe("variants of its matrix count"),
      suite: z.string().optional(),
      where: WHERE,
      fields: z.string().optional().describe(`members to add, with commas: ${EXTRA.join(", ")}`),
    }),
    replies: {
      200: reply("A page", z.object({ runs: z.array(RUN_ROW), next_cursor: z.string().nullable() })),
      ...refusals(400),
    },
    async handle({ query: { fields = "", recipe_name: recipeName, where, ...filter }, service }) {
      const extra = fields.split(",").map((name) => name.trim()).filter((name) => name !== "");
      const unknown = extra.find((name) => !EXTRA.includes(name) && !BASE.includes(name));
      if (unknown !== undefined) {
        throw new SvcError("query_invalid", `Cannot add the field ${unknown}`, { hint: `Known: ${EXTRA.join(", ")}` });
      }
      const { rows, nextCursor } = await service.index.list({ ...filter, recipeName, where: placesOf(where) });
      const summaries = extra.includes("metrics") || extra.includes("changed")
        ? await service.session.runs.summaries(rows.map(({ run_id }) => run_id))
        : [];
      const metrics = summaries.map(flattenedMetrics);
      const members = [...BASE, ...extra];
      const total = summaries.map((summary) => isObject(summary?.metrics) ? summary.metrics : {});
      const names = new Set(
        [...metrics, ...total].flatMap((one) => Object.keys(one).map((name) => name.slice(name.indexOf(":") + 1))),
      );
      const changed = extra.includes("changed") ? service.index.changedValues(rows, names) : [];
      const runs = rows.map((row, at) => ({
        ...Object.fromEntries(Object.entries(row).filter(([name]) => members.includes(name))),
        ...(extra.includes("metrics") ? { metrics: metrics[at] } : {}),
        ...(extra.includes("changed") ? { changed: changed[at] } : {}),
      }));
      return { runs, next_cursor: nextCursor };
    },
  }),
  get("/api/runs/diff", "The differences between two runs", {
    query: z.strictObject({ a: z.string(), b: z.string() }),
    replies: {
      200: reply("The report", documentOf<RunDiff>(z.object({ a: z.string(), b: z.string(), equal: z.boolean() }))),
      ...refusals(400, 404),
    },
    thread: ({ query, session }) => session.runs.diff(query.a, query.b),
  }),
  get("/api/runs/table", "A row per finished run: changed parameters, and metrics with intervals", {
    query: z.strictObject({
      recipe: RECIPE_NAME,
      where: WHERE,
      metrics: z.string().optional().describe("these metrics, with commas; those of the task when left out"),
    }),
    replies: {
      200: reply("The table", documentOf<RunsTable>(z.object({ metrics: z.array(OBJECT), rows: z.array(OBJECT) }))),
      ...refusals(400, 404),
    },
    thread: ({ query: { recipe, where, metrics }, session }) =>
      session.runs.table({ recipe, where: placesOf(where), metrics: metrics?.split(",") }),
  }),
  get("/api/runs/figure", "A figure of finished runs: the texts that `svc runs plot` writes", {
    query: z.strictObject({
      recipe: RECIPE_NAME,
      plot: z.enum(FIGURE_TYPES).optional().describe("type of the figure"),
      x: z.string().optional().describe("dimension, step.parameter or metric along x"),
      y: z.string().optional().describe("metric along y"),
      group: z.string().optional().describe("method, recipe or metric:<id>"),
      where: WHERE,
    }),
    replies: {
      200: reply(
        "The figure as data, and as texts by file name: specification, SVG, CSV and the record of its runs",
        z.object({
          plot: z.enum(FIGURE_TYPES),
          name: z.string(),
          figure: documentOf<Figure>(),
          runs: z.array(z.string()),
          files: z.record(z.string(), z.string()),
        }),
      ),
      ...refusals(400, 404),
    },
    async thread({ query: { where, ...asked }, session }) {
      const drawn = await session.runs.figure({ ...asked, where: placesOf(where) });
      const { plot, x, y, group, name, figure, runs, files } = drawn;
      const texts = Object.entries(files).filter((entry) => typeof entry[1] === "string");
      return { plot, x, y, group, name, figure, runs, files: Object.fromEntries(texts) };
    },
  }),
  get("/api/runs/marks", "Stars, tags and notes of runs, and named views of their list", {
    replies: { 200: MARKS[200], ...refusals(409) },
    thread: ({ session }) => session.runs.marks(),
  }),
  post("/api/runs/marks", "Change the stars, tags and notes of runs", {
    body: z.strictObject({
      ids: z.array(z.string()).min(1).max(1000),
      starred: z.boolean().optional(),
      add_tags: TAGS,
      remove_tags: TAGS,
      note: z.string().max(10_000).optional().describe("replaces the note"),
    }),
    replies: MARKS,
    thread: ({ body: { ids, ...change }, session }) => session.runs.mark(ids, change),
  }),
  post("/api/runs/views", "Keep a view of the list of runs under a name", {
    body: z.strictObject({
      name: z.string().min(1).max(60),
      query: z.string().max(4000).nullable().describe("query of the page's address; null removes the view"),
    }),
    replies: { 200: MARKS[200], ...refusals(400, 409) },
    thread: ({ body: { name, query }, session }) => session.runs.keepView(name, query),
  }),
  get("/api/runs/:run_id", "The documents of a run", {
    stable: true,
    replies: {
      200: reply(
        "Summary and manifest; paths begin at the state directory",
        z.object({ summary: documentOf<RunSummary>(), manifest: documentOf<RunManifest>() }),
      ),
      ...refusals(404),
    },
    async thread({ params, session }) {
      const { run_id, summary, manifest } = await session.runs.show(params.run_id);
      return { summary: bundlePaths(summary, run_id), manifest };
    },
  }),
  get("/api/runs/:run_id/verify", "Hash a bundle again and check every link between its documents", {
    replies: {
      200: reply(
        "The report, valid or not",
        documentOf<VerificationReport>(
          z.object({
            status: z.enum(["valid", "warning", "invalid"]),
            target_id: z.string(),
            checks: z.array(OBJECT),
          }),
        ),
      ),
      ...refusals(404, 409),
    },
    async thread({ params, session }) {
      const report = await session.runs.verify(params.run_id);
      // The reply does not reveal where this machine keeps its files.
      return { ...report, path: `runs/${report.target_id}` };
    },
  }),
  post("/api/runs/prune", "Remove the artifacts of finished runs and keep their documents", {
    body: SELECTION,
    replies: RETENTION,
    thread: ({ body, session }) => session.runs.prune(...selectionOf(body)),
  }),
  post("/api/runs/remove", "Remove finished runs; their ids stay reserved", {
    body: SELECTION,
    replies: RETENTION,
    thread: ({ body, session }) => session.runs.remove(...selectionOf(body)),
  }),
  post("/api/runs/gc", "Remove what killed processes left in the state directory", {
    body: z.strictObject({
      incomplete: z.string().optional().describe("also incomplete runs that began this long ago, such as 7d"),
      dry_run: z.boolean().optional(),
    }),
    replies: {
      200: reply(
        "Removed files, or those that would be removed",
        documentOf<GarbageReport>(z.object({ items: z.array(OBJECT) })),
      ),
      ...refusals(400, 409),
    },
    thread: ({ body: { incomplete, dry_run: dryRun }, session }) => session.runs.gc({ incomplete, dryRun }),
  }),
] as const;
