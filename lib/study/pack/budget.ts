/** Resource budgets: a row that exceeds a maximum is rejected, with the observed value. */
import { float, isNumber, isObject, type JsonObject, toNumber } from "../../contract/value.ts";
import type { Pack, PackEntry } from "./pack.ts";
import type { Measure } from "./types.ts";

export interface Admission {
  admitted: boolean;
  /** `resource_admission` of the row. */
  record: JsonObject;
  /** `benchmark.resource_budget.…`. */
  metrics: { [id: string]: Measure };
}

/**
 * Compares the metrics of a row with its budget, the entry's or the pack's: a metric with its maximum, the bits of metadata
 * beside the link, or both.
 * @returns null without a budget
 */
export function admit(pack: Pack, entry: PackEntry, metrics: { [id: string]: Measure }): Admission | null {
  const budget = entry.params.resource_budget ?? pack.metadata.resource_budget;
  if (!isObject(budget)) return null;
  const beside = sideInformation(budget, metrics);
  if (budget.metric === undefined) return beside;
  const observedMetric = metrics[budget.metric as string];
  const number = (name: string, otherwise: number) =>
    isNumber(budget[name]) ? toNumber(budget[name] as Measure) : otherwise;
  const maximum = number("maximum", Infinity), tolerance = number("tolerance", 0);
  const observed = isNumber(observedMetric) ? toNumber(observedMetric) * number("conversion", 1) : null;
  const excess = observed === null ? null : Math.max(0, observed - maximum);
  // A resource without a measurement is not admitted.
  const admitted = excess !== null && excess <= tolerance && beside?.admitted !== false;
  return {
    admitted,
    record: { ...beside?.record, ...budget, admitted, observed: observed === null ? null : float(observed) },
    metrics: {
      ...beside?.metrics,
      [name("admitted")]: admitted ? 1 : 0,
      [name("maximum")]: float(maximum),
      [name("tolerance")]: float(tolerance),
      ...(observed === null ? {} : { [name("observed")]: float(observed), [name("excess")]: float(excess!) }),
    },
  };
}

const name = (member: string) => `benchmark.resource_budget.${member}`;

/** Metadata beside the link of all steps: without an adapter there is none. */
function sideInformation(budget: JsonObject, metrics: { [id: string]: Measure }): Admission | null {
  const { side_information_bits: maximum } = budget;
  if (!isNumber(maximum)) return null;
  const counted = Object.entries(metrics).filter(([id]) => /^steps\..*\.rate\.side_information_bits$/.test(id));
  const observed = counted.reduce((sum, [, value]) => sum + toNumber(value), 0);
  const admitted = observed <= toNumber(maximum);
  return {
    admitted,
    record: { ...budget, admitted, observed_side_information_bits: observed },
    metrics: { [name("admitted")]: admitted ? 1 : 0, [name("observed_side_information_bits")]: observed },
  };
}
