/**
 * Completed and running runs: listed from the index, shown, verified and compared.
 * By hand: pages of the index that the server keeps open.
 */
import { runs } from "../../api/calls/runs.ts";
import { SvcError } from "../../contract/error.ts";
import { z } from "../../contract/zod.ts";
import { RUN_STATUSES } from "../../run/documents.ts";
import { placesOf, routesOf } from "../call_routes.ts";
import { get } from "../route.ts";
import { listedMetrics } from "../run_metrics.ts";
import { refusals, reply, RUN_ROW } from "../schemas.ts";

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
  ...routesOf("runs", runs),
] as const;
