/**
 * Memory and disk of a run, from parameters and shapes alone: no file is read, and a recipe has the same sizes on every
 * machine. A starting run compares them with the free resources (lib/run/resources.ts).
 *
 * Unit: bytes of array data and documents, without headers. A step holds each input and output twice, as an array and
 * as its file image, but only blocks of them within a chain (lib/plan/chains.ts). An operation without an estimate of its
 * outputs counts with the size of its largest input.
 */
import { formatOfKind } from "../contract/kinds.ts";
import type { OutputEstimate, OutputSize } from "../contract/operation.ts";
import { plainParams } from "../contract/schema.ts";
import { formatBytes } from "../contract/units.ts";
import type { JsonObject } from "../contract/value.ts";
import { DTYPES, elementCount } from "../numeric/array/ndarray.ts";
import { chainsOf, type EstimatedStep } from "./chains.ts";

/** Blocks and file buffers of a step in a chain, an upper limit. */
const CHAINED_STEP_BYTES = 2 ** 24;

/** Memory of a running step, and disk use of its outputs. */
export type StepResources = JsonObject & {
  step_id: string;
  memory_bytes: number;
  disk_bytes: number;
  /** Whether the shapes of all outputs are known. */
  exact: boolean;
  /** Number of the chain that the step works in block by block. */
  chain?: number;
};

/** The field `resources` of a plan. */
export type PlanResources = JsonObject & {
  /** Of the step with the most memory. */
  memory_bytes: number;
  /** Of all artifacts. */
  disk_bytes: number;
  exact: boolean;
  /** Whether files that only a run reads determine the size of an artifact: the numbers leave such artifacts out. */
  unknown?: true;
  per_step: StepResources[];
};

/**
 * The need of runs one after another, as an event before the first.
 * @param runs needs of the runs, each with the number of its repetitions
 * @param options `kept`: whether runs stay, so that their disk use adds up; `open`: whether there may be more repetitions
 */
export function estimateOfRuns(
  runs: readonly { resources: PlanResources; count: number }[],
  { kept = true, open = false }: { kept?: boolean; open?: boolean } = {},
) {
  const count = runs.reduce((sum, run) => sum + run.count, 0);
  const memory_bytes = Math.max(0, ...runs.map(({ resources }) => resources.memory_bytes));
  const disks = runs.map(({ resources, count }) => kept ? count * resources.disk_bytes : resources.disk_bytes);
  const disk_bytes = bounded(kept ? disks.reduce((sum, bytes) => sum + bytes, 0) : Math.max(0, ...disks));
  const exact = runs.every(({ resources }) => resources.exact);
  const needs = runs.some(({ resources }) => resources.unknown)
    ? "memory and disk space that the files of their data determine"
    : `${exact ? "" : "about "}${formatBytes(memory_bytes)} of memory and ${formatBytes(disk_bytes)} on the disk${
      kept ? "" : " at a time"
    }`;
  return {
    kind: "resources_estimated" as const,
    level: "info" as const,
    message: count === 0
      ? "every run is complete"
      : `${open ? "at least " : ""}${count} ${count === 1 ? "run needs" : "runs need"} ${needs}`,
    fields: { runs: count, memory_bytes, disk_bytes, exact } as JsonObject,
  };
}

/**
 * Estimates the steps of a recipe, in plan order.
 * @param chained as in `PlanOptions`
 */
export function estimateResources(steps: readonly EstimatedStep[], chained?: ReadonlySet<string>): PlanResources {
  return estimateSteps(steps, chained).resources;
}

/** The size of every output, by `step.output`. */
export function outputSizes(steps: readonly EstimatedStep[]): ReadonlyMap<string, OutputSize> {
  return estimateSteps(steps).sizes;
}

function estimateSteps(
  steps: readonly EstimatedStep[],
  chained?: ReadonlySet<string>,
): { resources: PlanResources; sizes: Map<string, OutputSize> } {
  const sizes = new Map<string, OutputSize>();
  let unknown = false;
  const whole = steps.map(({ step, params, registered: { operation } }): StepResources => {
    const inputs = Object.fromEntries(
      Object.entries(step.inputs).map(([port, source]) => [port, sizes.get(source) ?? { bytes: 0 }]),
    );
    const read = Object.values(inputs).map(({ bytes }) => bytes);
    const estimates = operation.definition.estimate?.(plainParams(params), inputs) ?? {};
    let written = 0, exact = true;
    for (const [port, kind] of Object.entries(operation.contract.output_kinds)) {
      const kept = formatOfKind(kind) === "npz" ? Math.max(0, ...read) : 0;
      const size = sizeOf(estimates[port] === undefined ? kept : estimates[port]);
      unknown ||= estimates[port] === null;
      sizes.set(`${step.id}.${port}`, size);
      written += size.bytes;
      exact &&= size.shape !== undefined;
    }
    const held = 2 * (written + read.reduce((sum, bytes) => sum + bytes, 0));
    return { step_id: step.id, memory_bytes: bounded(held), disk_bytes: bounded(written), exact };
  });
  const chains = chained === undefined
    ? chainsOf(steps, sizes)
    : new Map([...chainsOf(steps, sizes, 0)].filter(([id]) => chained.has(id)));
  const per_step = whole.map((row, index) => {
    const chain = chains.get(row.step_id), { late = [] } = steps[index].registered.operation.definition.streaming ?? {};
    // Outputs that are complete at the end of a chain are in memory until then, and become files there.
    const held = 2 * late.reduce((sum, port) => sum + sizes.get(`${row.step_id}.${port}`)!.bytes, 0);
    return chain === undefined ? row : { ...row, memory_bytes: bounded(CHAINED_STEP_BYTES + held), chain };
  });
  const resources = {
    memory_bytes: Math.max(0, ...per_step.map(({ memory_bytes }) => memory_bytes)),
    disk_bytes: bounded(per_step.reduce((sum, { disk_bytes }) => sum + disk_bytes, 0)),
    exact: per_step.every(({ exact }) => exact),
    ...(unknown ? { unknown: true as const } : {}),
    per_step,
  };
  return { resources, sizes };
}

/** Size in bytes, and the shape of its main array. */
export function sizeOf(estimate: OutputEstimate): OutputSize {
  if (estimate === null) return { bytes: 0 };
  if (typeof estimate === "number") return { bytes: bounded(estimate) };
  const bytes = estimate.reduce((sum, [dtype, ...shape]) => sum + DTYPES[dtype].itemSize * elementCount(shape), 0);
  return { bytes: bounded(bytes), shape: estimate[0].slice(1) as number[] };
}

/** Clamps to the integers that JSON holds exactly. */
function bounded(bytes: number): number {
  return Math.min(Math.ceil(bytes), Number.MAX_SAFE_INTEGER);
}
