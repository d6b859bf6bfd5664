/** Selects points of a matrix by name. */
import { SvcError } from "../contract/error.ts";
import { sameValue } from "../contract/json.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { MatrixPoint } from "./expand_matrix.ts";
import { parseOverrideValue } from "./overrides.ts";
import { valueText } from "./variant_name.ts";

/**
 * Finds points by name.
 * @param wanted each an index from 0, a variant id or a unique prefix of one, a recipe name of a variant, or
 *   `dimension=value` for every point with that coordinate
 * @returns the points in the order of the matrix, each once
 * @throws SvcError `usage_invalid` for an unknown name
 */
export function selectPoints(points: readonly MatrixPoint[], wanted: readonly string[]): MatrixPoint[] {
  const chosen = new Set(wanted.flatMap((name) => meant(points, name.trim())));
  return points.filter((point) => chosen.has(point));
}

function meant(points: readonly MatrixPoint[], wanted: string): MatrixPoint[] {
  const refuse = (message: string, hint: string | null): never => {
    throw new SvcError("usage_invalid", message, { hint });
  };
  const none = `Cannot find a matrix point named ${wanted || "(empty)"}`;
  if (/^\d+$/.test(wanted)) {
    const point = points.find(({ index }) => index === Number(wanted));
    return point ? [point] : refuse(none, `The indices are 0 to ${points.length - 1}`);
  }
  const named = points.filter(({ recipe }) => recipe.name === wanted);
  if (named.length > 0) return named;
  if (/^mxv1-/.test(wanted)) {
    const matches = points.filter(({ variant_id }) => variant_id.startsWith(wanted));
    if (matches.length === 1) return matches;
    return refuse(
      matches.length === 0 ? none : `Cannot select one of ${matches.length} points that match ${wanted}`,
      null,
    );
  }
  const [, dimension, text] = /^([^=]+)=([\s\S]*)$/.exec(wanted) ?? [];
  const dimensions = Object.keys(points[0]?.selection ?? {});
  if (dimension === undefined) {
    return refuse(none, didYouMean(wanted, points.map(({ recipe }) => recipe.name)) ?? "Use an index from 0");
  }
  if (!dimensions.includes(dimension)) {
    return refuse(`Cannot find a dimension named ${dimension}`, didYouMean(dimension, dimensions));
  }
  const value = parseOverrideValue(text);
  const matches = points.filter(({ selection }) => sameValue(selection[dimension], value));
  if (matches.length > 0) return matches;
  const values = [...new Set(points.map(({ selection }) => valueText(selection[dimension])))];
  const shown = values.slice(0, 12).join(", ") + (values.length > 12 ? ", …" : "");
  return refuse(`Cannot find a matrix point with ${wanted}`, `Values of ${dimension}: ${shown}`);
}
