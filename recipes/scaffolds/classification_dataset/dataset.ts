/**
 * A classification dataset with the predictions of a classifier, from the table in this folder. Replace the table or
 * the function: it may read files of this folder and paths that the operator grants.
 */
import table from "./table.json" with { type: "json" };
import type { Context, Dataset } from "../svc_types.ts";

/**
 * The examples of a split.
 * @param call.params as declared in params_schema of the manifest
 * @returns rows in a fixed order with unique ids
 */
export function examples({ params }: { params: { split: string } }, _context: Context): Dataset {
  const rows = table.filter(({ split }) => params.split === "all" || split === params.split);
  return {
    examples: rows.map(({ id, label, prediction }) => ({ id, label, prediction })),
    metadata: { split: params.split, source: "table.json" },
  };
}
