/**
 * What planned runs need, one after another. The time is that of completed runs of the same operations with data of the same
 * sizes; without one it is in proportion to the bytes of the data of others, and rough. A plan whose sizes only files tell has
 * no estimate.
 */
import { inside } from "../artifact/inside.ts";
import { SvcError } from "../contract/error.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { estimateOfRuns } from "../plan/estimate.ts";
import type { ExecutionPlan } from "../plan/types.ts";
import { PLAN_FILE } from "./documents.ts";
import { readDocument } from "./read.ts";
import type { RunRow } from "./store.ts";
import type { Workspace } from "./workspace.ts";

/** Null for what is not known. */
export type RunEstimate = {
  runs: number;
  /** Of the run that needs most. */
  memory_bytes: number | null;
  /** Of all runs. */
  disk_bytes: number | null;
  /** Of all runs on this machine. */
  seconds: number | null;
  /** Whether no run before had data of these sizes: the time is one in proportion to bytes. */
  rough: boolean;
};

/** @param past completed runs of the same recipe */
export function runEstimate(
  { runs }: Workspace,
  plans: readonly ExecutionPlan[],
  past: readonly Pick<RunRow, "run_id" | "created_at_utc" | "completed_at_utc">[],
): RunEstimate {
  if (plans.some((plan) => sizeOf(plan) === null)) {
    return { runs: plans.length, memory_bytes: null, disk_bytes: null, seconds: null, rough: false };
  }
  const { memory_bytes, disk_bytes } = estimateOfRuns(plans.map(({ resources }) => ({ resources, count: 1 }))).fields;
  /** Seconds of runs before, by the bytes of their data. */
  const measured = new Map<number, number[]>();
  for (const { run_id, created_at_utc, completed_at_utc } of past) {
    const plan = planIn(inside(runs, run_id));
    const own = plan && operationsOf(plan) === operationsOf(plans[0]) ? sizeOf(plan) : null;
    if (own === null || created_at_utc === null || completed_at_utc === null) continue;
    const took = (Date.parse(completed_at_utc) - Date.parse(created_at_utc)) / 1000;
    measured.set(own, [...measured.get(own) ?? [], took]);
  }
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const rate = sum([...measured.values()].flat()) / sum([...measured].map(([size, times]) => size * times.length));
  const times = plans.map((plan) => {
    const size = sizeOf(plan)!, same = measured.get(size);
    return same === undefined
      ? { seconds: rate * size, rough: true }
      : { seconds: sum(same) / same.length, rough: false };
  });
  return {
    runs: plans.length,
    memory_bytes: Number(memory_bytes),
    disk_bytes: Number(disk_bytes),
    seconds: measured.size === 0 ? null : sum(times.map(({ seconds }) => seconds)),
    rough: measured.size > 0 && times.some(({ rough }) => rough),
  };
}

/** The plan of a run; null where its bundle is damaged, which the list of runs reports. */
function planIn(directory: string): JsonObject | null {
  try {
    return readDocument(directory, PLAN_FILE);
  } catch (error) {
    if (error instanceof SvcError) return null;
    throw error;
  }
}

/** Bytes of the data of a plan, at least one; null where the plan does not know them. */
function sizeOf({ resources }: { resources?: unknown }): number | null {
  return !isObject(resources) || resources.unknown === true ? null : 1 + Number(resources.disk_bytes);
}

const operationsOf = ({ steps }: { steps?: unknown }): string =>
  (steps as { operation_id: string }[]).map(({ operation_id }) => operation_id).join(" ");
