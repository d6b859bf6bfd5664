/** The metrics that a recipe is about, as its specifications name them. */
import type { Copy } from "../state/copies.ts";

export interface Metric {
  id: string;
  unit: string | null;
  direction: string | undefined;
}

export const headlineMetrics = ({ verdict }: Copy): Metric[] =>
  (verdict?.forms?.specs.metrics ?? []).map(({ id, unit, direction }) => ({
    id: String(id),
    unit: unit == null ? null : String(unit),
    direction: direction === undefined ? undefined : String(direction),
  }));
