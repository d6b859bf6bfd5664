/**
 * Texts from the file in this folder. Replace the file or the function: it may read files of this folder and paths that
 * the operator grants.
 */
import rows from "./texts.json" with { type: "json" };
import type { Context, Texts } from "../svc_types.ts";

/**
 * The first texts.
 * @param call.params as declared in params_schema of the manifest
 * @returns texts in a fixed order with unique ids
 */
export function sentences({ params }: { params: { text_count: number } }, _context: Context): Texts {
  return { texts: rows.slice(0, params.text_count), metadata: { source: "texts.json" } };
}
