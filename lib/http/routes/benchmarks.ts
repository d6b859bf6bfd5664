/** Benchmarks: packs, stored results, their evidence, and runs of packs in the background. */
import type { ResultDiff } from "../../study/report/compare_results.ts";
import type { ResultListRow } from "../../study/rows/store.ts";
import type { BenchmarkResult } from "../../study/pack/types.ts";
import { z } from "../../contract/zod.ts";
import { type ShownPack, shownPacks } from "../pack_file.ts";
import { get, post } from "../route.ts";
import { documentOf, EXECUTION, KEPT, OBJECT, refusals, reply, STRICT_LINT } from "../schemas.ts";
import { ACCEPTED, jobFamily } from "./job_family.ts";

const { routes, submit } = jobFamily("/api/benchmark-jobs", ["benchmark"]);

export const benchmarkRoutes = [
  get("/api/suites", "Families of benchmark protocols, their tasks and packs", {
    replies: { 200: reply("The suites", z.object({ suites: z.array(OBJECT) })) },
    thread: async ({ session }) => ({ suites: await session.benchmarks.suites() }),
  }),
  get("/api/benchmarks/packs", "The benchmark packs of the project and of the program", {
    replies: { 200: reply("Packs by name", z.object({ packs: z.array(documentOf<ShownPack>()) })) },
    thread: async ({ session }) => ({ packs: await shownPacks(session) }),
  }),
  get("/api/benchmarks/results", "The stored results, newest first", {
    replies: { 200: reply("A row each", z.object({ results: z.array(documentOf<ResultListRow>()) })) },
    thread: async ({ session }) => ({ results: await session.benchmarks.results() }),
  }),
  get("/api/benchmarks/compare", "The differences between two results", {
    query: z.strictObject({ a: z.string(), b: z.string() }),
    replies: { 200: reply("The report", documentOf<ResultDiff>()), ...refusals(400, 404) },
    thread: ({ query, session }) => session.benchmarks.compare(query.a, query.b),
  }),
  get("/api/benchmarks/results/:result_id", "A result; with a query a page of its rows as `recipes`", {
    stable: true,
    query: z.strictObject({
      rows_after: z.int().min(0).optional().describe("number of rows before the page"),
      limit: z.int().min(1).max(1000).optional().describe("rows of the page; default 1000"),
    }),
    replies: {
      200: reply(
        "result.json; of a page with `page`: `rows_after` of the next one, or null",
        documentOf<BenchmarkResult & { page?: { count: number; next_rows_after: number | null } }>(
          z.object({ result_id: z.string(), status: z.string() }),
        ),
      ),
      ...refusals(400, 404),
    },
    async thread({ params: { result_id }, query, session }) {
      const { result } = await session.benchmarks.result(result_id);
      if (query.rows_after === undefined && query.limit === undefined) return result;
      const { rows_after = 0, limit = 1000 } = query;
      const recipes = await session.benchmarks.rows(result_id, { after: rows_after, limit });
      const count = result.rows?.count ?? result.recipes.length, next = rows_after + recipes.length;
      return { ...result, recipes, page: { count, next_rows_after: next < count ? next : null } };
    },
  }),
  get("/api/benchmarks/results/:result_id/verify", "Check a result against its ledger, its pack and its evidence", {
    replies: {
      200: reply(
        "The report, valid or not",
        z.object({ status: z.enum(["valid", "warning", "invalid"]), target_id: z.string() }),
      ),
      ...refusals(404, 409),
    },
    async thread({ params, session }) {
      const report = await session.benchmarks.verify(params.result_id);
      return { ...report, path: `benchmarks/${report.target_id}` };
    },
  }),
  get("/api/benchmarks/results/:result_id/runs/:run_id", "The evidence that a result keeps of one of its runs", {
    replies: { 200: reply("The snapshot", OBJECT), ...refusals(404, 422) },
    thread: ({ params, session }) => session.benchmarks.evidence(params.result_id, params.run_id),
  }),
  post("/api/benchmark-jobs", "Run a benchmark pack in the background", {
    body: z.strictObject({
      path: z.string().describe("name or id of a pack, or its file in benchmarks/"),
      execution: EXECUTION.optional(),
      replicates: z.int().min(1).optional(),
      continue_on_error: z.boolean().optional(),
      strict_lint: STRICT_LINT,
      resume: z.string().optional().describe("id of an unfinished result to continue"),
      retain_backing_runs: z.boolean().optional().describe("keep the runs beside their snapshots"),
      ...KEPT,
    }),
    replies: { 202: ACCEPTED, ...refusals(400, 403, 404, 429) },
    handle: ({ body: { execution, path, continue_on_error, strict_lint, ...options }, service }) =>
      submit(service, "benchmark", execution, async () => {
        const { file, name, prepared } = await service.threads.perform("admitPack", { path, strict_lint, ...options });
        return { request: { pack: file, continue_on_error, ...options }, recipeName: name, prepared };
      }),
  }),
  ...routes,
] as const;
