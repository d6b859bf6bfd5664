/** Benchmarks: packs, stored results, their evidence, and runs of packs in the background. */
import { benchmarks } from "../../api/calls/benchmarks.ts";
import { routesOf } from "../call_routes.ts";
import { JOBS } from "../jobs/kinds.ts";
import { jobFamily } from "./job_family.ts";

const { routes, submission } = jobFamily("/api/benchmark-jobs", ["benchmark"]);

export const benchmarkRoutes = [
  ...routesOf("benchmarks", benchmarks),
  submission("benchmark", JOBS.benchmark),
  ...routes,
] as const;
