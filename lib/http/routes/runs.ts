/**
 * Completed and running runs: listed from the index, shown, verified and compared.
 * By hand: pages of the open index, and many runs in one reply.
 */
import { runs } from "../../api/calls/runs.ts";
import { SvcError } from "../../contract/error.ts";
import { z } from "../../contract/zod.ts";
import type { RecipeDocument } from "../../recipe/types.ts";
import { RUN_STATUSES, type RunManifest, type RunSummary } from "../../run/documents.ts";
import { bundlePaths } from "../../api/bundle_paths.ts";
import { placesOf, routesOf } from "../call_routes.ts";
import { get } from "../route.ts";
import { listedMetrics } from "../run_metrics.ts";
import { documentOf, refusals, reply, RUN_ROW } from "../schemas.ts";

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

/** Runs of one reply of their documents. */
const MOST_RUNS = 64;

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
      where: z.string().optional().describe("only these values of a parameter or metric: channel=awgn,snr_db=6"),
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
      const { rows, nextCursor } = await service.index.list({
        ...filter,
        recipeName,
        where: placesOf(where),
      });
      const listed = extra.includes("metrics") || extra.includes("changed")
        ? await listedMetrics(service.session, rows.map(({ run_id }) => run_id))
        : [];
      const members = [...BASE, ...extra];
      const names = new Set(listed.flatMap((one) => one.names));
      const changed = extra.includes("changed") ? service.index.changedValues(rows, names) : [];
      const runs = rows.map((row, at) => ({
        ...Object.fromEntries(Object.entries(row).filter(([name]) => members.includes(name))),
        ...(extra.includes("metrics") ? { metrics: listed[at].metrics, intervals: listed[at].intervals } : {}),
        ...(extra.includes("changed") ? { changed: changed[at] } : {}),
      }));
      return { runs, next_cursor: nextCursor };
    },
  }),
  get("/api/runs/documents", "The documents of several runs in one reply, for figures and comparisons", {
    query: z.strictObject({
      ids: z.string().describe(`ids of runs, with commas; at most ${MOST_RUNS}`),
    }),
    replies: {
      200: reply(
        "The runs in the order of the ids, and the ids that cannot be read",
        z.object({
          runs: z.array(z.object({
            summary: documentOf<RunSummary>(),
            environment: documentOf<RunManifest["environment"]>(),
            recipe: documentOf<RecipeDocument>().describe("the effective recipe"),
            task_id: z.string().nullable(),
          })),
          problems: z.array(z.object({ run_id: z.string(), code: z.string(), message: z.string() })),
        }),
      ),
      ...refusals(400),
    },
    async thread({ query, session }) {
      const ids = query.ids.split(",").map((id) => id.trim()).filter((id) => id !== "");
      if (ids.length === 0 || ids.length > MOST_RUNS) {
        throw new SvcError("query_invalid", `Cannot read ${ids.length} runs at once`, {
          hint: `Name 1 to ${MOST_RUNS} runs`,
        });
      }
      const runs = [], problems = [];
      for (const id of ids) {
        try {
          const { run_id, summary, manifest } = await session.runs.show(id);
          const recipe = await session.runs.recipe(run_id);
          const { task } = (manifest.recipe.research ?? {}) as { task?: { id?: string } };
          runs.push({
            summary: bundlePaths(summary, run_id),
            environment: manifest.environment,
            recipe,
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
  ...routesOf("runs", runs),
] as const;
