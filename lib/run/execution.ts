/** How a recipe executes: workers and plan cache, as requests and flags give them. */
import { SvcError } from "../contract/error.ts";
import { isInteger, isObject, type Value } from "../contract/value.ts";

/** @throws SvcError `execution_invalid` */
export function checkOptions({ parallelWorkers, usePlanCache }: { parallelWorkers?: number; usePlanCache?: boolean }) {
  return checkExecution({
    ...(parallelWorkers === undefined ? {} : { parallel_workers: parallelWorkers }),
    ...(usePlanCache === undefined ? {} : { use_plan_cache: usePlanCache }),
  });
}

/**
 * Checks an `execution` object.
 * @param execution `{parallel_workers?, use_plan_cache?}` as it came over the wire or from flags
 * @throws SvcError `execution_invalid` for unknown fields, a worker count outside 1..32 or no integer, no boolean flag
 */
export function checkExecution(execution: Value): { parallelWorkers: number; usePlanCache: boolean } {
  const refuse = (message: string, hint: string): never => {
    throw new SvcError("execution_invalid", message, { hint });
  };
  if (!isObject(execution)) {
    return refuse("Cannot read execution as a mapping", "Write {parallel_workers, use_plan_cache}");
  }
  const { parallel_workers: workers = 1, use_plan_cache: cache = true, ...unknown } = execution;
  for (const key of Object.keys(unknown)) {
    refuse(`Cannot use the execution field ${key}`, "Known: parallel_workers, use_plan_cache");
  }
  if (!isInteger(workers) || workers < 1 || workers > 32) {
    return refuse("Cannot use that as parallel_workers", "Write an integer from 1 to 32");
  }
  if (typeof cache !== "boolean") return refuse("Cannot use that as use_plan_cache", "Write true or false");
  return { parallelWorkers: Number(workers), usePlanCache: cache };
}
