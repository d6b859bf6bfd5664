/** How recipes execute: workers, points side by side and plan cache, as requests and flags give them. */
import { SvcError } from "../contract/error.ts";
import { canonicalJson } from "../contract/json.ts";
import { isInteger, isObject, type Value } from "../contract/value.ts";

/** How a document says that it was executed. */
export interface RecordedExecution {
  parallel_workers?: number;
  backend?: string;
  implementation?: string;
}

/** @throws SvcError `execution_invalid` */
export function checkOptions(
  { parallelWorkers, parallelPoints, usePlanCache }: {
    parallelWorkers?: number;
    parallelPoints?: number;
    usePlanCache?: boolean;
  },
): Execution {
  return checkExecution({
    ...(parallelWorkers === undefined ? {} : { parallel_workers: parallelWorkers }),
    ...(parallelPoints === undefined ? {} : { parallel_points: parallelPoints }),
    ...(usePlanCache === undefined ? {} : { use_plan_cache: usePlanCache }),
  });
}

export interface Execution {
  parallelWorkers: number;
  /** Points of a matrix, or rows of a benchmark, that run side by side. */
  parallelPoints: number;
  usePlanCache: boolean;
}

/**
 * Checks an `execution` object.
 * @param execution `{parallel_workers?, parallel_points?, use_plan_cache?}` as it came over the wire or from flags
 * @throws SvcError `execution_invalid` for unknown fields, a count outside 1..32 or no integer, no boolean flag
 */
export function checkExecution(execution: Value): Execution {
  const refuse = (message: string, hint: string): never => {
    throw new SvcError("execution_invalid", message, { hint });
  };
  if (!isObject(execution)) {
    return refuse("Cannot read execution as a mapping", "Write {parallel_workers, parallel_points, use_plan_cache}");
  }
  const { parallel_workers = 1, parallel_points = 1, use_plan_cache: cache = true, ...unknown } = execution;
  for (const key of Object.keys(unknown)) {
    refuse(`Cannot use the execution field ${key}`, "Known: parallel_workers, parallel_points, use_plan_cache");
  }
  const count = (name: string, value: Value): number =>
    isInteger(value) && value >= 1 && value <= 32
      ? Number(value)
      : refuse(`Cannot use ${canonicalJson(value).slice(0, 60)} as ${name}`, "Write an integer from 1 to 32");
  if (typeof cache !== "boolean") {
    return refuse(`Cannot use ${canonicalJson(cache).slice(0, 60)} as use_plan_cache`, "Write true or false");
  }
  return {
    parallelWorkers: count("parallel_workers", parallel_workers),
    parallelPoints: count("parallel_points", parallel_points),
    usePlanCache: cache,
  };
}
