/** Compares a plan's estimate with free memory and free disk. */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { SvcError } from "../contract/error.ts";
import { formatBytes } from "../contract/units.ts";
import type { ExecutionPlan } from "../plan/types.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import type { IsKept } from "./prune.ts";

const GIB = 2 ** 30;
/** A run of at most this size starts regardless of the reserve. */
export const SMALL_RUN_BYTES = GIB / 4;

/** Memory that runs leave free: the larger of 2 GiB and 10 % of the machine's memory. */
export function memoryReserve(total: number): number {
  return Math.max(2 * GIB, Math.floor(total / 10));
}

/** Free or all bytes on the disk of a path, or of its nearest existing parent; null where the system reports none. */
export function freeDisk(path: string, kind: "bavail" | "blocks" = "bavail"): number | null {
  try {
    const disk = statfsSync(path);
    return Number(disk[kind]) * Number(disk.bsize);
  } catch (error) {
    const parent = dirname(path);
    return (error as { code?: string }).code === "ENOENT" && parent !== path ? freeDisk(parent, kind) : null;
  }
}

/** Free or total memory less the reserve, or null without permission. */
function freeMemory(kind: "available" | "total" = "available"): number | null {
  try {
    const memory = Deno.systemMemoryInfo();
    return memory[kind] - memoryReserve(memory.total);
  } catch {
    return null;
  }
}

/** Free memory, or free disk for the artifact folder; tests replace it. */
export type ReadFree = (folder: string, kind: "memory" | "disk") => number | null;

const readFree: ReadFree = (folder, kind) => kind === "memory" ? freeMemory() : freeDisk(folder);

/** Memory less the reserve, and size of the disk: the maximum that a queued run can get. */
export const readCapacity: ReadFree = (folder, kind) =>
  kind === "memory" ? freeMemory("total") : freeDisk(folder, "blocks");

/** A plan whose need of disk leaves out what a run hashes and does not write: the steps of chains that it does not keep. */
export function writtenResources<P extends Pick<ExecutionPlan, "resources" | "steps">>(
  plan: P,
  { steps }: Pick<RecipeDocument, "steps">,
  isKept: IsKept,
): P {
  const { resources } = plan, chainOf = new Map(resources.per_step.map(({ step_id, chain }) => [step_id, chain]));
  const isWritten = (id: string, chain: number | undefined) =>
    chain === undefined || isKept(id, "") ||
    steps.some((step) =>
      chainOf.get(step.id) !== chain && Object.values(step.inputs).some((from) => from.startsWith(`${id}.`))
    );
  const per_step = resources.per_step.map((row) => isWritten(row.step_id, row.chain) ? row : { ...row, disk_bytes: 0 });
  const disk_bytes = per_step.reduce((sum, row) => sum + row.disk_bytes, 0);
  return { ...plan, resources: { ...resources, per_step, disk_bytes } };
}

/**
 * Refuses a run that cannot fit.
 * @param folder the folder of the artifacts
 * @throws SvcError `resources_insufficient` with both numbers and the step that needs most
 */
export function checkResources({ resources }: ExecutionPlan, folder: string, read: ReadFree = readFree): void {
  for (
    const [kind, need, always] of [
      ["memory", resources.memory_bytes, SMALL_RUN_BYTES],
      ["disk", resources.disk_bytes, 0],
    ] as const
  ) {
    const free = need <= always ? null : read(folder, kind);
    if (free === null) continue;
    const available = Math.max(free, always);
    if (need <= available) continue;
    const { step_id } = resources.per_step.reduce((most, step) =>
      step[`${kind}_bytes`] > most[`${kind}_bytes`] ? step : most
    );
    const where = kind === "memory" ? "of memory" : "on the disk";
    const [needed, found] = [formatBytes(need), formatBytes(available)];
    throw new SvcError(
      "resources_insufficient",
      `Cannot run ${step_id}: the run needs ${needed} ${where}, and ${found} are available`,
      {
        hint: "Choose smaller sizes; --ignore-estimate (ignore_estimate over HTTP) runs it anyway",
        extra: { step_id, resource: kind, needed_bytes: need, free_bytes: available },
      },
    );
  }
}
