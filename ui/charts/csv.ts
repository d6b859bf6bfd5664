/** Tables as CSV. Apart from the figures, so that a list of runs does not load them. */
import { csvText as textOf } from "../../lib/contract/escape.ts";

/** A table as CSV. */
export const csvText = (
  { columns, rows }: { columns: readonly string[]; rows: readonly (readonly string[])[] },
): string => textOf([columns, ...rows]);
