/** Notation of metrics: one call per row, the direction in the function's name, defaults omitted. */
import type { Direction, MetricEntry } from "./types.ts";

type Row = Omit<MetricEntry, "family">;
type Details = Partial<Pick<MetricEntry, "reduction" | "statistic" | "counts" | "status" | "description">>;

const row = (direction: Direction) => (id: string, unit: string, name: string, details: Details = {}): Row => {
  const { reduction = "mean", statistic = "mean", ...rest } = details;
  return { id, name, unit, direction, reduction, statistic, ...rest };
};

export const higher = row("higher_is_better");
export const lower = row("lower_is_better");
export const neutral = row("neutral");

export const RATE = { statistic: "rate" } as const;
export const PLANNED = { status: "planned" } as const;
/** Known before a run. */
export const CONSTANT = { reduction: "constant", statistic: "constant" } as const;
export const MAXIMUM = { reduction: "max" } as const;
export const TOTAL = { reduction: "sum", statistic: "count" } as const;

/** The rows of a family; each id has the family's name, or another prefix. */
export function family(name: string, rows: readonly Row[], prefix = `${name}.`): MetricEntry[] {
  return rows.map(({ id, name: title, ...rest }) => ({ id: prefix + id, name: title, family: name, ...rest }));
}
