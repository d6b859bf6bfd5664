/** Runs that were left: listed from the index, shown, verified and compared. */
import type { JsonObject } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { diffRuns } from "../../run/diff.ts";
import { RUN_STATUSES } from "../../run/documents.ts";
import { showRun } from "../../run/store.ts";
import { verifyRun } from "../../run/verify.ts";
import { SvcError } from "../../contract/error.ts";
import { bundlePaths } from "../bundle_paths.ts";
import { json, route, threadRoute } from "../route.ts";
import { flattenedMetrics } from "../run_metrics.ts";
import { OBJECT, problem, RUN_ROW } from "../schemas.ts";

const NO_RUN = problem("There is no such run");

/** Members of a row that are always there. */
const BASE = ["run_id", "status", "recipe_name", "suite", "created_at_utc", "completed_at_utc"];
/** Members that `fields` can ask for besides. */
const EXTRA = [
  "effective_recipe_sha256",
  "step_count",
  "size_bytes",
  "task_id",
  "mode",
  "parallel_workers",
  "plan_cache",
  "problem",
  "metrics",
];

export const runRoutes = [
  route({
    method: "get",
    path: "/api/runs",
    summary: "The runs, newest first, page by page",
    query: z.strictObject({
      limit: z.int().min(1).max(500).default(100),
      cursor: z.string().optional().describe("next_cursor of the page before"),
      status: z.enum(RUN_STATUSES).optional(),
      recipe_name: z.string().optional(),
      suite: z.string().optional(),
      fields: z.string().optional().describe(`members to add, with commas: ${EXTRA.join(", ")}`),
    }),
    replies: {
      200: { description: "A page", schema: z.object({ runs: z.array(RUN_ROW), next_cursor: z.string().nullable() }) },
      400: problem("The query cannot be used"),
    },
    async handle({ query, service }) {
      const { limit, cursor, status, recipe_name: recipeName, suite } = query;
      const extra = (query.fields ?? "").split(",").map((name) => name.trim()).filter((name) => name !== "");
      const unknown = extra.find((name) => !EXTRA.includes(name) && !BASE.includes(name));
      if (unknown !== undefined) {
        throw new SvcError("query_invalid", `Cannot add the field ${unknown}`, { hint: `Known: ${EXTRA.join(", ")}` });
      }
      const { rows, nextCursor } = await service.index.list({ limit, cursor, status, recipeName, suite });
      const members = [...BASE, ...extra];
      const runs = rows.map((row) => {
        const shown: JsonObject = {};
        for (const name of members) if (Object.hasOwn(row, name)) shown[name] = row[name];
        if (extra.includes("metrics")) shown.metrics = flattenedMetrics(service.workspace, row.run_id);
        return shown;
      });
      return { runs, next_cursor: nextCursor };
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/runs/diff",
    summary: "What differs between two runs",
    query: z.strictObject({ a: z.string(), b: z.string() }),
    replies: {
      200: { description: "The report", schema: z.object({ a: z.string(), b: z.string(), equal: z.boolean() }) },
      400: problem("The query cannot be used"),
      404: NO_RUN,
    },
    handle: async ({ query, service }) => await diffRuns(service.workspace, query.a, query.b),
  }),
  threadRoute({
    method: "get",
    path: "/api/runs/:run_id",
    summary: "A run as its documents tell it",
    stable: true,
    replies: {
      200: {
        description: "Summary and manifest; paths begin at the state directory",
        schema: z.object({ summary: OBJECT, manifest: OBJECT }),
      },
      404: NO_RUN,
    },
    handle({ params, service }) {
      const { run_id, summary, manifest } = showRun(service.workspace, params.run_id);
      return { summary: bundlePaths(summary, run_id), manifest };
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/runs/:run_id/verify",
    summary: "Hash a bundle again and check everything that links it",
    replies: {
      200: {
        description: "The report, whatever its verdict",
        schema: z.object({
          status: z.enum(["valid", "warning", "invalid"]),
          target_id: z.string(),
          checks: z.array(OBJECT),
        }),
      },
      404: NO_RUN,
      409: problem("The run is still executing"),
    },
    async handle({ params, service }) {
      const report = await verifyRun(service.workspace, params.run_id);
      // Where this machine keeps its files is nobody's business on the wire.
      return json({ ...report, path: `runs/${report.target_id}` });
    },
  }),
] as const;
