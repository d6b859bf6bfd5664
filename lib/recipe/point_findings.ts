/** Findings about the points of a matrix, each problem once, at the place of its value in the author's text. */
import type { Diagnostic, Place } from "../contract/error.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { type Matrix, referenceIn } from "./matrix_definition.ts";
import type { Locate, RecipeDocument } from "./types.ts";
import { coordinatesText } from "./variant_name.ts";

const MAX_LISTED = 5;

/**
 * Locates places of a concrete recipe: a matrix parameter is located at its value in the dimension's list.
 * @param choice index of the point's value in each dimension
 */
export function locatePoint(
  locate: Locate,
  recipe: RecipeDocument,
  matrix: Matrix,
  choice: readonly number[],
): Locate {
  return (place, at) => {
    const [head, index, field, ...rest] = place;
    const step = head === "steps" && field === "params" ? recipe.steps[Number(index)]?.id : undefined;
    if (step === undefined || !Object.hasOwn(matrix.step_params, step)) return locate(place, at);
    const origin = originOf(matrix, choice, step, rest);
    // A finding about a name is located at the name, one about a value in the list.
    if (origin && at === "key" && matrix.bindings) return locate([...matrix.bindings, step, ...rest], at);
    return origin ? locate(origin) : locate(place, at);
  };
}

function originOf(matrix: Matrix, choice: readonly number[], step: string, members: Place): Place | null {
  let given: Value | undefined = matrix.step_params[step];
  for (let depth = 0; given !== undefined; depth++) {
    const name = referenceIn(given);
    if (name !== null) {
      const at = matrix.dimensions.findIndex((dimension) => dimension.name === name);
      return [...matrix.dimensions[at].placeOf(choice[at]), ...members.slice(depth)];
    }
    if (depth === members.length) return null;
    const member = String(members[depth]);
    const inner: Value | undefined = Array.isArray(given)
      ? given[Number(member)]
      : isObject(given) && Object.hasOwn(given, member)
      ? given[member]
      : undefined;
    const isLeaf = !Array.isArray(inner) && !isObject(inner);
    if (inner !== undefined && isLeaf && matrix.bindings) return [...matrix.bindings, step, ...members];
    given = inner;
  }
  return null;
}

/**
 * Findings about points that do not also concern the author's recipe, each once with its points; a finding at every
 * point concerns the recipe.
 * @param known findings about the author's recipe
 * @param rows findings by point
 */
export function mergePointFindings(
  known: readonly Diagnostic[],
  rows: readonly { point: Point; diagnostics: readonly Diagnostic[] }[],
): Diagnostic[] {
  const identity = ({ code, path, message }: Diagnostic) => `${code}\n${path}\n${message}`;
  const seen = new Set(known.map(identity));
  const groups = new Map<string, { item: Diagnostic; points: Set<Point> }>();
  for (const { point, diagnostics } of rows) {
    for (const item of diagnostics) {
      const key = identity(item);
      if (seen.has(key)) continue;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { item, points: new Set([point]) });
      else group.points.add(point);
    }
  }
  return [...groups.values()].map(({ item, points }) =>
    points.size > 1 && points.size === rows.length
      ? item
      : { ...item, message: `${item.message} (at ${pointsText([...points])})` }
  );
}

interface Point {
  index: number;
  selection: JsonObject;
}

function pointsText(points: readonly Point[]): string {
  if (points.length === 1) return `matrix point ${points[0].index}: ${coordinatesText(points[0].selection)}`;
  const listed = points.slice(0, MAX_LISTED).map(({ index }) => index).join(", ");
  return `matrix points ${listed}${points.length > MAX_LISTED ? ` and ${points.length - MAX_LISTED} more` : ""}`;
}
