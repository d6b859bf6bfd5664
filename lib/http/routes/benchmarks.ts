/** Benchmarks: packs, stored results, their evidence, and runs of packs in the background. */
import { compareResults } from "../../benchmark/compare_results.ts";
import { readSnapshot } from "../../benchmark/evidence.ts";
import { listResultsFromIndex } from "../../benchmark/result_index.ts";
import { showBenchmarkResult } from "../../benchmark/store.ts";
import { listSuites } from "../../benchmark/suites.ts";
import { verifyBenchmark } from "../../benchmark/verify.ts";
import { SvcError } from "../../contract/error.ts";
import { canonicalJson } from "../../contract/json.ts";
import { isObject, type JsonObject, type Value } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { checkExecution } from "../../run/run.ts";
import { shownPacks } from "../pack_file.ts";
import { json, route, threadRoute } from "../route.ts";
import { EXECUTION, OBJECT, problem } from "../schemas.ts";
import { ACCEPTED, accepted, CAPACITY, jobFamily } from "./job_family.ts";

const BASE = "/api/benchmark-jobs";
const NO_RESULT = problem("There is no such result");

export const benchmarkRoutes = [
  threadRoute({
    method: "get",
    path: "/api/suites",
    summary: "Families of benchmark protocols, their tasks and packs",
    replies: { 200: { description: "The suites", schema: z.object({ suites: z.array(OBJECT) }) } },
    handle: ({ service }) => ({ suites: listSuites(service.workspace.projectRoot) }),
  }),
  threadRoute({
    method: "get",
    path: "/api/benchmarks/packs",
    summary: "The benchmark packs of the project and of the program",
    replies: { 200: { description: "Packs by name", schema: z.object({ packs: z.array(OBJECT) }) } },
    handle: ({ service }) => json({ packs: shownPacks(service.workspace.projectRoot) }),
  }),
  threadRoute({
    method: "get",
    path: "/api/benchmarks/results",
    summary: "The stored results, newest first",
    replies: { 200: { description: "A row each", schema: z.object({ results: z.array(OBJECT) }) } },
    handle: ({ service }) => json({ results: listResultsFromIndex(service.workspace) }),
  }),
  threadRoute({
    method: "get",
    path: "/api/benchmarks/compare",
    summary: "What differs between two results",
    query: z.strictObject({ a: z.string(), b: z.string() }),
    replies: {
      200: { description: "The report", schema: OBJECT },
      400: problem("The query cannot be used, or the results are not of one benchmark"),
      404: NO_RESULT,
    },
    handle({ query, service }) {
      const result = (id: string) => showBenchmarkResult(service.workspace, id).result;
      return json(compareResults(result(query.a), result(query.b)));
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/benchmarks/results/:result_id",
    summary: "A result, whole",
    stable: true,
    replies: {
      200: { description: "result.json", schema: z.object({ result_id: z.string(), status: z.string() }) },
      404: NO_RESULT,
    },
    handle: ({ params, service }) => json(showBenchmarkResult(service.workspace, params.result_id).result),
  }),
  threadRoute({
    method: "get",
    path: "/api/benchmarks/results/:result_id/verify",
    summary: "Check a result against its ledger, its pack and its evidence",
    replies: {
      200: {
        description: "The report, whatever its verdict",
        schema: z.object({ status: z.enum(["valid", "warning", "invalid"]), target_id: z.string() }),
      },
      404: NO_RESULT,
      409: problem("The benchmark is still executing"),
    },
    async handle({ params, service }) {
      const report = await verifyBenchmark(service.workspace, params.result_id);
      return json({ ...report, path: `benchmarks/${report.target_id}` });
    },
  }),
  threadRoute({
    method: "get",
    path: "/api/benchmarks/results/:result_id/runs/:run_id",
    summary: "The evidence that a result keeps of one of its runs",
    replies: {
      200: { description: "The snapshot", schema: OBJECT },
      404: problem("There is no such result, or it kept nothing of such a run"),
      422: problem("The evidence is not what was written"),
    },
    handle({ params, service }) {
      const { result, directory } = showBenchmarkResult(service.workspace, params.result_id);
      const row = result.recipes.find(({ run_id }) => run_id === params.run_id);
      if (row === undefined || !isObject(row.run_evidence_snapshot)) {
        throw new SvcError("run_not_found", `Cannot find evidence of the run ${params.run_id} in ${params.result_id}`);
      }
      return json(readSnapshot(directory, row.run_evidence_snapshot as JsonObject));
    },
  }),
  route({
    method: "post",
    path: BASE,
    summary: "Run a benchmark pack in the background",
    body: z.strictObject({
      path: z.string().describe("name or id of a pack, or its file in benchmarks/"),
      execution: EXECUTION.optional(),
      replicates: z.int().min(1).optional(),
      continue_on_error: z.boolean().optional(),
      resume: z.string().optional().describe("id of an unfinished result to go on with"),
    }),
    replies: {
      202: ACCEPTED,
      400: problem("The pack, its replicates or the execution cannot be used; nothing was started"),
      403: problem("The path is refused, or the server is read-only"),
      404: problem("There is no such pack or result"),
      429: CAPACITY,
    },
    async handle({ body, service }) {
      const { path, execution: given, replicates, continue_on_error, resume } = body;
      const execution = checkExecution((given ?? {}) as Value);
      const { file, name } = await service.threads.perform("admitPack", {
        path,
        ...(replicates === undefined ? {} : { replicates }),
        ...(resume === undefined ? {} : { resume }),
      });
      const request = canonicalJson({
        pack: file,
        ...(replicates === undefined ? {} : { replicates }),
        ...(continue_on_error === undefined ? {} : { continue_on_error }),
        ...(resume === undefined ? {} : { resume }),
      });
      return accepted(service.jobs.submit({ kind: "benchmark", request, recipeName: name, ...execution }), BASE);
    },
  }),
  ...jobFamily(BASE, ["benchmark"]),
] as const;
