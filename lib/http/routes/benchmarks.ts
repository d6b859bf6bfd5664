/** Benchmarks: packs, stored results, their evidence, and runs of packs in the background. */
import { z } from "../../contract/zod.ts";
import { benchmarks } from "../../api/calls/benchmarks.ts";
import { routesOf } from "../call_routes.ts";
import { post } from "../route.ts";
import { EXECUTION, refusals } from "../schemas.ts";
import { ACCEPTED, jobFamily } from "./job_family.ts";

const RUN = benchmarks.run.fields;
const { routes, submit } = jobFamily("/api/benchmark-jobs", ["benchmark"]);

export const benchmarkRoutes = [
  ...routesOf(benchmarks),
  post("/api/benchmark-jobs", "Run a benchmark pack in the background", {
    body: z.strictObject({
      path: z.string().describe("name or id of a pack, or its file in benchmarks/"),
      execution: EXECUTION.optional(),
      replicates: RUN.replicates,
      continue_on_error: RUN.continue_on_error,
      strict_lint: RUN.strict_lint,
      resume: RUN.resume,
      retain_backing_runs: RUN.retain_backing_runs,
      keep: RUN.keep,
      drop: RUN.drop,
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
