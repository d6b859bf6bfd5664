/**
 * Studies: the entry of a pack over up to 65,536 points, from a grid, a CSV file or a sample. Each point is a recipe as that
 * of a matrix, with its name, its coordinates and its variant id. Points are kept as lists of values, and a recipe is made
 * when it is needed, so that memory grows by its coordinates and its entry only.
 *
 * A Latin hypercube of n points divides each range into n strata of equal width and has one point in each. With the
 * generator of the seed (PCG64, as NumPy's `default_rng(seed)`), for each dimension in the order of names: pi =
 * `permutation(n)`, u = `random(n)`; the fraction of point i is (pi_i + u_i) / n. On a linear scale a fraction f is min +
 * f (max - min), on a log scale min (max / min)^f; between integers floor(min + f (max - min + 1)).
 *
 * Source: McKay, Beckman and Conover, "A comparison of three methods for selecting values of input variables in the analysis
 * of output from a computer code", Technometrics 21, 1979.
 */
import { CsvFault, csvRecords } from "../../artifact/csv.ts";
import { inside, readFile } from "../../artifact/inside.ts";
import { basename, dirname } from "node:path";
import { addDiagnostics, type Code, type Diagnostic, diagnostic, messageOf, type Place } from "../../contract/error.ts";
import { canonicalJson, compareCodePoints } from "../../contract/json.ts";
import { cloneValue, float, isInteger, isObject, type JsonObject, toNumber, type Value } from "../../contract/value.ts";
import { parseYaml } from "../../contract/yaml.ts";
import { Generator } from "../../numeric/random/random.ts";
import { concreteRecipe } from "../../recipe/expand_matrix.ts";
import type { RecipeDocument } from "../../recipe/types.ts";
import { variantId } from "../../recipe/variant.ts";
import { variantNames } from "../../recipe/variant_name.ts";
import { entryOfPoint } from "./entry_points.ts";
import { named } from "./instantiate.ts";
import { locateFile } from "./locate_recipe.ts";
import type { PackEntry } from "./pack.ts";
import { MAX_POINTS } from "./types.ts";

const MAX_POINTS_BYTES = 64 * 2 ** 20;

/** The points of an entry. */
export interface Study {
  /** Ordered by name, by code point. */
  dimensions: string[];
  /** Values in the order of the dimensions, for each point. */
  points: Value[][];
}

interface Sample {
  n: number;
  seed?: number | bigint;
  ranges: { [name: string]: { min: Value; max: Value; scale?: "linear" | "log" } };
}

/** The kinds of studies, each of which defines the points alone. */
const STUDY_KINDS = ["grid", "points", "sample"] as const;

/** Whether an entry is a study. */
export const isStudy = ({ matrix }: PackEntry): boolean =>
  isObject(matrix) && STUDY_KINDS.some((kind) => (matrix as JsonObject)[kind] !== undefined);

/**
 * The points of an entry; those of `matrix_selection` that it does not name are fixed.
 * @param diagnostics receives `study_invalid`, `matrix_too_large`, `matrix_values_duplicate` and findings about the file
 * @returns null for a study with errors
 */
export function studyOf(
  entry: PackEntry,
  files: { packFile: string; projectRoot: string },
  diagnostics: Diagnostic[],
): Study | null {
  const matrix = entry.matrix as JsonObject, place: Place = ["recipes", entry.index, "matrix"];
  const kinds = [...STUDY_KINDS, "dimensions" as const].filter((kind) => matrix[kind] !== undefined);
  const before = diagnostics.length;
  const refuse = (at: Place, message: string, hint: string | null = null, code: Code = "study_invalid") =>
    addDiagnostics(diagnostics, [diagnostic(code, at, message, { hint })]);
  if (kinds.length > 1) {
    refuse(place, `Cannot use ${kinds.join(" and ")} together: each defines the points alone`, "Keep one of them");
    return null;
  }
  const study = matrix.points === undefined
    ? definedStudy(entry, refuse)
    : fileStudy(entry, String(matrix.points), files, diagnostics, refuse);
  if (study === null || diagnostics.length > before) return null;
  const first = new Map<string, number>();
  study.points.forEach((point, index) => {
    const text = canonicalJson(point), earlier = first.get(text);
    if (earlier === undefined) return void first.set(text, index);
    const message = `Cannot run the point ${index} twice: it equals the point ${earlier}`;
    refuse([...place, kinds[0]], message, "Remove one of them", "matrix_values_duplicate");
  });
  const fixed = Object.entries(entry.params.matrix_selection ?? {});
  for (const [name] of fixed.filter(([name]) => study.dimensions.includes(name))) {
    const message = `Cannot fix ${name}: it is a dimension of the study`;
    const at = ["recipes", entry.index, "params", "matrix_selection", name];
    refuse(at, message, "Remove it here, or from the study", "pack_selection_conflict");
  }
  return diagnostics.length > before ? null : withFixed(study, fixed);
}

/** A study with further dimensions of one value each. */
function withFixed(study: Study, fixed: readonly [string, Value][]): Study {
  if (fixed.length === 0) return study;
  const names = [...study.dimensions, ...fixed.map(([name]) => name)];
  const order = names.map((_, at) => at).sort((a, b) => compareCodePoints(names[a], names[b]));
  const values = fixed.map(([, value]) => value);
  return {
    dimensions: order.map((at) => names[at]),
    points: study.points.map((point) => order.map((at) => at < point.length ? point[at] : values[at - point.length])),
  };
}

type Refuse = (at: Place, message: string, hint?: string | null, code?: Code) => void;

/** The points that the pack defines without a file: a grid or a sample. */
function definedStudy({ matrix, index }: PackEntry, refuse: Refuse): Study | null {
  const { grid, sample } = matrix as { grid?: { [name: string]: Value[] }; sample?: Sample };
  const place: Place = ["recipes", index, "matrix", grid === undefined ? "sample" : "grid"];
  const ranges = sample?.ranges ?? {};
  const dimensions = Object.keys(grid ?? ranges).sort(compareCodePoints);
  if (dimensions.length === 0) {
    refuse(place, "Cannot make points without a dimension", "Name at least one dimension");
    return null;
  }
  if (grid === undefined) return latinHypercube(sample!, dimensions, place, refuse);
  const lengths = dimensions.map((name) => grid[name].length);
  const count = lengths.reduce((product, length) => product * length, 1);
  if (count > MAX_POINTS) {
    const message = `Cannot run a grid of ${count} points (${lengths.join(" × ")})`;
    refuse(place, message, `At most ${MAX_POINTS} are allowed`, "matrix_too_large");
    return null;
  }
  const points = dimensions.reduce<Value[][]>(
    (heads, name) => heads.flatMap((head) => grid[name].map((value) => [...head, value])),
    [[]],
  );
  return { dimensions, points };
}

function latinHypercube(
  { n: count, seed = 0, ranges }: Sample,
  dimensions: string[],
  place: Place,
  refuse: Refuse,
): Study | null {
  const generator = Generator.seeded(seed);
  let sound = true;
  const columns = dimensions.map((name) => {
    const { min, max, scale = "linear" } = ranges[name],
      [low, high] = [toNumber(min as number), toNumber(max as number)];
    const wrong = low >= high
      ? `its minimum ${low} is not below its maximum ${high}`
      : scale === "log" && low <= 0
      ? `a log scale begins above 0, not at ${low}`
      : null;
    if (wrong !== null) {
      refuse([...place, "ranges", name], `Cannot sample ${name}: ${wrong}`);
      sound = false;
      return [];
    }
    const strata = generator.permutation(count), within = generator.random(count) as Float64Array;
    const whole = isInteger(min) && isInteger(max);
    return Array.from(strata, (stratum, i): Value => {
      const fraction = (stratum + within[i]) / count;
      const from = low, to = whole ? high + 1 : high;
      const value = scale === "log" ? from * (to / from) ** fraction : from + fraction * (to - from);
      return whole ? Math.min(Math.floor(value), high) : float(Math.min(value, high));
    });
  });
  if (!sound) return null;
  return { dimensions, points: Array.from({ length: count }, (_, i) => columns.map((column) => column[i])) };
}

/** The points of a CSV file. */
function fileStudy(
  entry: PackEntry,
  path: string,
  files: { packFile: string; projectRoot: string },
  diagnostics: Diagnostic[],
  refuse: Refuse,
): Study | null {
  const place: Place = ["recipes", entry.index, "matrix", "points"];
  const file = locateFile(path, place, "file of points", files, diagnostics);
  if (file === null) return null;
  let records: string[][];
  try {
    const bytes = readFile(inside(dirname(file), basename(file)), MAX_POINTS_BYTES);
    records = csvRecords(new TextDecoder("utf-8", { fatal: true }).decode(bytes), MAX_POINTS + 2);
  } catch (error) {
    const why = error instanceof CsvFault ? `line ${error.line} has ${error.message}` : messageOf(error);
    refuse(place, `Cannot read ${path}: ${why}`);
    return null;
  }
  const [header = [], ...rows] = records.map((cells) => cells.map((cell) => cell.trim()));
  const hint = "The first line names the dimensions, each further line is a point";
  if (header.length === 0 || rows.length === 0) {
    refuse(place, `Cannot find a point in ${path}`, hint);
    return null;
  }
  if (rows.length > MAX_POINTS) {
    const most = `At most ${MAX_POINTS} are allowed`;
    refuse(place, `Cannot run all points of ${path}: it has more`, most, "matrix_too_large");
    return null;
  }
  header.forEach((name, at) => {
    if (name === "") refuse(place, `Cannot use column ${at + 1} of ${path}: it has no name`, hint);
    else if (header.indexOf(name) < at) refuse(place, `Cannot use ${path}: the column ${name} is repeated`, hint);
  });
  const order = header.map((_, at) => at).sort((a, b) => compareCodePoints(header[a], header[b]));
  const known = new Map<string, Value>();
  const points = rows.map((cells, index) =>
    order.map((at) => {
      const cell = cells[at];
      const value = known.get(cell) ?? scalarOf(cell);
      if (value === undefined) {
        const message = `Cannot read ${JSON.stringify(cell.slice(0, 60))} in the column ${
          header[at]
        } of point ${index}`;
        refuse(place, `${message} of ${path} as a YAML scalar`, "Write a number, a text, true, false or null");
        return null;
      }
      if (known.size < 100_000) known.set(cell, value);
      return value;
    })
  );
  return { dimensions: order.map((at) => header[at]), points };
}

/** A cell as a YAML scalar; undefined for another text, the empty one included. */
export function scalarOf(cell: string): Value | undefined {
  // Most cells are plain numbers, and the reader of YAML takes a hundred times as long.
  if (/^-?(0|[1-9]\d{0,14})$/.test(cell)) return cell === "-0" ? 0 : Number(cell);
  if (/^-?\d{1,17}\.\d{1,20}$/.test(cell)) return float(Number(cell));
  if (cell === "") return undefined;
  try {
    const value = parseYaml(cell);
    return isObject(value) || Array.isArray(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** A point of a study, whose recipe is made at each use. */
export interface StudyRecipe {
  entry: PackEntry;
  readonly recipe: RecipeDocument;
}

/** What the points of a study are made from; `benchmark.json` holds it. */
export interface StudySource extends Study {
  /** Normalised form, with the bindings in `metadata.matrix.step_params`. */
  base: RecipeDocument;
}

/**
 * The rows of a study.
 * @param isBaseline whether the pack lists the entry as a baseline
 */
export function studyRecipes(
  entry: PackEntry,
  { base, dimensions, points }: StudySource,
  isBaseline: boolean,
): StudyRecipe[] {
  const { step_params } = base.metadata.matrix as { step_params: { [stepId: string]: JsonObject } };
  const drafts = points.map((values) => {
    const coordinates = dimensions.map((name, at): [string, Value] => [name, values[at]]);
    const selection: JsonObject = Object.fromEntries(coordinates);
    return { coordinates, selection, variant_id: variantId(selection) };
  });
  const names = variantNames(base.name, drafts), given = entry.params.matrix_selection ?? {};
  return drafts.map(({ selection, variant_id }, index): StudyRecipe => {
    const own = entryOfPoint(entry, { name: names[index], selection }, given, isBaseline);
    return {
      entry: own,
      get recipe() {
        const recipe = concreteRecipe(base, step_params, {
          name: base.name,
          matrix_selection: own.params.matrix_selection!,
          matrix_index: index,
          matrix_variant_id: variant_id,
        });
        return named(cloneValue(recipe), own, []);
      },
    };
  });
}

/**
 * Whether the points of a record follow from the pack. Those of a file stand in the record alone.
 * @param study with fixed dimensions
 */
export function followsFromPack(entry: PackEntry, study: Study): boolean {
  if ((entry.matrix as JsonObject).points !== undefined) return true;
  const made = definedStudy(entry, () => {});
  if (made === null) return false;
  const expected = withFixed(made, Object.entries(entry.params.matrix_selection ?? {}));
  return canonicalJson([expected.dimensions, expected.points]) === canonicalJson([study.dimensions, study.points]);
}
