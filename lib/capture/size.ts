/** The size of a capture before it is made: records times the shape of a record. */
import type { Registry } from "../contract/registry.ts";
import type { JsonObject } from "../contract/value.ts";
import { formatBytes } from "../contract/units.ts";
import { outputSizes } from "../plan/estimate.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import type { CaptureConfig } from "./config.ts";

export interface CaptureSize extends JsonObject {
  records: number;
  /** Of all records whose shape is known. */
  bytes: number;
  /** Whether the shapes of all taps are known. */
  exact: boolean;
  /** Such as `1000 records × (rx [64]) = 500.0 KiB`. */
  text: string;
}

/**
 * The size of a split.
 * @param effective recipe of its runs
 */
export function captureSize(
  { samples, taps }: Pick<CaptureConfig, "samples" | "taps">,
  effective: RecipeDocument,
  registry: Registry,
): CaptureSize {
  const sizes = outputSizes(
    effective.steps.map((step) => ({ step, params: step.params, registered: registry.get(step.op) })),
  );
  let record = 0, exact = true;
  const cut = taps.map(({ from, record: unit }) => unit === "run" ? undefined : sizes.get(from)?.shape);
  const items = itemsOf(effective, cut), rows = rowsOf(cut);
  const steps = new Map(effective.steps.map((step) => [step.id, step]));
  /** The first step whose output has no size that parameters and shapes determine. */
  const origin = (from: string): string => {
    const id = from.split(".")[0], inputs = Object.values(steps.get(id)!.inputs);
    const open = inputs.find((input) => sizes.get(input)?.shape === undefined);
    return open === undefined ? id : origin(open);
  };
  const shapes = taps.map(({ id, from, array, record: unit }) => {
    const { bytes = 0, shape } = sizes.get(from) ?? {};
    // An array of one dimension is one record, or one for each source item; see records.ts.
    if (items > 1) {
      record += bytes / items;
      return `${id} [${shape![0] / items}]`;
    }
    const scalar = unit !== "run" && shape?.length === 1 && shape[0] === rows;
    const whole = !scalar && (unit === "run" || shape?.length === 1);
    if (shape === undefined || array !== undefined || (!whole && !(shape[0] > 0))) {
      exact = false;
      return `${id} [size known when ${shape === undefined ? origin(from) : from.split(".")[0]} runs]`;
    }
    record += whole ? bytes : bytes / shape[0];
    return `${id} [${(whole ? shape : shape.slice(1)).join(", ")}]`;
  });
  const bytes = Math.min(Math.ceil(samples * record), Number.MAX_SAFE_INTEGER);
  const text = `${samples} records × (${shapes.join(", ")}) = ${exact ? "" : "at least "}${formatBytes(bytes)}`;
  return { records: samples, bytes, exact, text };
}

/** The common number of rows of all arrays of two and more dimensions, of which a vector has a value each. */
function rowsOf(shapes: readonly (readonly number[] | undefined)[]): number | undefined {
  const counts = new Set(shapes.flatMap((shape) => shape !== undefined && shape.length >= 2 ? [shape[0]] : []));
  return counts.size === 1 ? [...counts][0] : undefined;
}

/** Equal source items of a run whose taps are all streams, as the parameters of its one source say; else 1. */
function itemsOf({ steps }: RecipeDocument, shapes: readonly (readonly number[] | undefined)[]): number {
  const sources = steps.filter(({ op, params }) => op.startsWith("source.") && params.batch_size !== undefined);
  const items = sources.length === 1 ? Number(sources[0].params.batch_size) : 1;
  return shapes.every((shape) => shape?.length === 1 && shape[0] % items === 0) ? items : 1;
}
