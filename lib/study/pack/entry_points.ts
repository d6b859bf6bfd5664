/** The rows of a pack's entry: one recipe, or the points of a matrix. */
import { sameValue } from "../../contract/json.ts";
import { isObject, type JsonObject, type Value } from "../../contract/value.ts";
import type { MatrixExpansion } from "../../recipe/expand_matrix.ts";
import { coordinatesText } from "../../recipe/variant_name.ts";
import type { EntryMatrix, PackEntry } from "./pack.ts";

type Dimensions = { [name: string]: Value[] };

/**
 * A recipe whose matrix is that of the entry: its dimensions replace those of the recipe with the same name, and those
 * that `matrix_selection` fixes to a value of the recipe keep only this value.
 * @param declared the matrix of the recipe; null without one
 */
export function withOwnMatrix(value: JsonObject, declared: JsonObject | null, entry: PackEntry): JsonObject {
  const { dimensions = {}, step_params = {} } = entry.matrix as EntryMatrix;
  const base = (declared ?? { dimensions: {}, step_params: {} }) as { dimensions: Dimensions; step_params: JsonObject };
  const fixed = Object.entries(entry.params.matrix_selection ?? {}).filter(([name, chosen]) =>
    base.dimensions[name]?.some((one) => sameValue(one, chosen))
  );
  const { sweeps: _, ui_sweeps: __, ...metadata } = (isObject(value.metadata) ? value.metadata : {}) as JsonObject;
  const matrix = {
    dimensions: {
      ...base.dimensions,
      ...Object.fromEntries(fixed.map(([name, chosen]) => [name, [chosen]])),
      ...dimensions,
    },
    step_params: { ...base.step_params, ...step_params },
  };
  return { ...value, metadata: { ...metadata, matrix } };
}

/** A recipe with the bindings of a study, and the first point of it as its matrix. */
export function withStudyMatrix(
  value: JsonObject,
  declared: JsonObject | null,
  entry: PackEntry,
  { dimensions, points: [first] }: { dimensions: readonly string[]; points: readonly Value[][] },
): JsonObject {
  const { step_params = {} } = entry.matrix as EntryMatrix;
  const own = { dimensions: Object.fromEntries(dimensions.map((name, at) => [name, [first[at]]])), step_params };
  const bindings = declared === null ? null : { dimensions: {}, step_params: declared.step_params };
  const params = { ...entry.params, matrix_selection: null };
  return withOwnMatrix(value, bindings, { ...entry, matrix: own, params });
}

/**
 * The entries of an entry's points; the entry itself if it has one recipe. Points excluded by `matrix_selection` are
 * omitted.
 * @param isBaseline whether the pack lists the entry as a baseline
 */
export function entriesOfPoints(entry: PackEntry, expansion: MatrixExpansion, isBaseline: boolean): PackEntry[] {
  const { params, matrix } = entry, given = params.matrix_selection ?? {};
  if (expansion.points.length === 0 || matrix === null && params.matrix_selection !== null) return [entry];
  const chosen = expansion.points.filter(({ selection }) =>
    Object.entries(given).every(([name, value]) => selection[name] === undefined || sameValue(selection[name], value))
  );
  // Without a point the entry is kept, so that its selection is reported.
  return chosen.length === 0
    ? [entry]
    : chosen.map(({ recipe: { name }, selection }) => entryOfPoint(entry, { name, selection }, given, isBaseline));
}

/** The entry of one point. @param given the coordinates that the entry fixes */
export function entryOfPoint(
  entry: PackEntry,
  { name, selection }: { name: string; selection: JsonObject },
  given: JsonObject,
  isBaseline: boolean,
): PackEntry {
  const { params } = entry;
  const free = Object.fromEntries(Object.entries(selection).filter(([name]) => !Object.hasOwn(given, name)));
  const { aggregation_cell_id: cell } = params.metadata;
  return {
    ...entry,
    id: `${entry.id}@${name}`,
    label: [entry.label, coordinatesText(free)].filter((text) => text !== "").join(", "),
    params: {
      ...params,
      method_id: params.method_id ?? entry.id,
      baseline_id: params.baseline_id ?? (isBaseline ? entry.id : null),
      matrix_selection: { ...given, ...selection },
      // The rows of a method lie in cells of their own: one for each value of the free dimensions.
      metadata: cell === undefined
        ? params.metadata
        : { ...params.metadata, aggregation_cell_id: `${cell}/${coordinatesText(free)}` },
    },
  };
}
