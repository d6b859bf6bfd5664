/**
 * Validation cards: points of one published curve or table beside the recipe that measures them. A card is run as a pack with an
 * entry for each point, and one more for each point of a switched cause; `metadata.validation` of that pack has what the verdict needs
 * (`../validation/verdict.ts`).
 *
 * A coordinate `snr_db` is a dimension of the recipe's matrix, `decoder.iterations` a parameter of a step. With `pack`, the
 * coordinate `recipe` names an entry of it. The version of the pack is a digest of the card, its points, its pack and its recipes.
 *
 * With `curves` a point is a difference of two rate-distortion curves after Bjøntegaard, that `at` its coordinates and the
 * reference that is `from` others: an entry for each value along each curve.
 */
import { CsvFault, csvRecords } from "../../artifact/csv.ts";
import { inside, readFile } from "../../artifact/inside.ts";
import { exists } from "../../artifact/path_kind.ts";
import { basename, dirname, join } from "node:path";
import { documentCheck, mapping, measure, publishedSchema } from "../../contract/document.ts";
import { type Diagnostic, diagnostic, messageOf } from "../../contract/error.ts";
import { sha256Json } from "../../contract/hash.ts";
import { float, isNumber, isObject, type JsonObject, toNumber, type Value } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { readRecipeFile } from "../../recipe/read.ts";
import { coordinatesText } from "../../recipe/variant_name.ts";
import { findMetric } from "../../research/catalog.ts";
import { UNDECLARED } from "./recipe_pack.ts";
import { scalarOf } from "./study.ts";

/** Differences of curves: of their means, and the mean of the differences of single items or replicates. */
const DIFFERENCES = ["bd_rate", "bd_quality", "bd_rate_mean", "bd_quality_mean"] as const;

/** Kinds of tolerance. */
const TOLERANCES = ["db", "margin_db", "relative", "absolute", "sigma"] as const;

const text = z.string().min(1);
const limit = (what: string) =>
  z.number().positive().optional().describe(what) as unknown as z.ZodOptional<typeof measure>;
const tolerance = z.strictObject({
  db: limit("shift of the measured curve along the coordinate snr_db, log-linear between its points"),
  margin_db: limit(
    "of a requirement: the most dB by which the measured curve may have the value before its snr_db; never after it",
  ),
  relative: limit("share of the expected value"),
  absolute: limit("in the unit of the metric"),
  sigma: limit("standard errors of the measured value"),
});
const at = mapping.describe(
  "coordinates: snr_db is a dimension of the recipe, decoder.iterations a parameter of a step",
);
const point = z.strictObject({
  at,
  from: mapping.optional().describe("of a difference of curves: the coordinates of the reference"),
  metric: text,
  expected: measure,
  tolerance: tolerance.optional(),
  curve: z.array(measure).min(1).max(100).optional()
    .describe("further values of snr_db that are measured for the shift of the point in dB"),
});
const positions = z.array(z.int().min(0)).min(1);
const replication = mapping.optional().describe("as in a pack; rates stop at 100 errors when left out");

const card = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9_]{0,63}$/).describe("the name of the file without its extension"),
  title: text,
  operations: z.array(text).min(1).describe("ids of the operations that the card proves"),
  reference: z.strictObject({
    kind: z.enum(["closed_form", "standard", "published", "reference_program"]),
    citation: text,
    location: text.describe("table, figure, equation, section or page"),
    access: text.describe("how a reader gets it: an address, a library, or the way to compute it"),
  }),
  recipe: text.optional().describe("path of the recipe, relative to the card"),
  pack: text.optional().describe("path of a pack, relative to the card; `at` then names its entry as recipe"),
  points: z.array(point).min(1).max(1000).optional(),
  data: z.string().regex(/^[A-Za-z0-9_.-]+\.csv$/).optional()
    .describe("CSV file beside the card: coordinates, metric, expected, tolerance_db and so on"),
  tolerance: tolerance.optional().describe("of points without their own"),
  curves: z.strictObject({
    along: text.describe("coordinate along each curve, such as sender.quality"),
    values: z.array(measure).min(2).max(100).describe("its values"),
    rate: text.describe("metric of the rate"),
    quality: text.describe("metric of the quality"),
  }).optional().describe(
    `makes each point a difference of the curve at its coordinates from another one; metrics: ${
      DIFFERENCES.join(", ")
    }`,
  ),
  replication,
  quick: z.strictObject({ points: positions.optional(), replication }).optional()
    .describe("the subset for quick runs: places of points from 0, all when left out, and their replication"),
  switch: z.array(z.strictObject({
    cause: text.describe("the difference that explains the points, as it stands in notes"),
    points: positions.describe("places of the points that it explains"),
    at: at.describe("coordinates that are set in addition"),
  })).optional(),
  needs: text.optional()
    .describe(
      "data that the program does not have, and how they are got; a run of all cards leaves this one out without them",
    ),
  notes: text.optional(),
});
export type Card = z.infer<typeof card>;
type Point = z.infer<typeof point>;
type Tolerance = z.infer<typeof tolerance>;

/** The JSON Schema of cards. */
export const cardSchema = (): JsonObject => publishedSchema("svc validation card", card);

const checkForm = documentCheck(card, "card_invalid");

/** A point as the verdict reads it from a result. */
export interface CheckedPoint {
  /** Place in the card. */
  index: number;
  /** Its entry in the pack. */
  entry: string;
  at: JsonObject;
  metric: string;
  expected: number;
  tolerance: { [Kind in typeof TOLERANCES[number]]?: number };
  /** Further points of its curve: snr_db and entry. */
  curve?: [number, string][];
  /** Set for the row of a switched cause. */
  cause?: string;
  /** Of a difference of curves: its metrics, and both curves by method. */
  difference?: { rate: string; quality: string; curve: string; reference: string; from: JsonObject };
}

/** The place of a point in lists: coordinates, those of a reference curve, and a switched cause. */
export const placeText = ({ at, difference, cause }: CheckedPoint): string =>
  [
    coordinatesText(at),
    ...difference === undefined ? [] : [`from ${coordinatesText(difference.from)}`],
    ...cause === undefined ? [] : [cause],
  ].join(", ");

/** `metadata.validation` of a pack that is a card. */
export interface ValidationRecord {
  card: string;
  quick: boolean;
  points: CheckedPoint[];
}

/** The coordinate along which curves shift. */
export const AXIS = /(^|\.)snr_db$/;

/** Points of one curve have equal names: metric, cause, and all coordinates but the axis. */
export function curveOf({ metric, at, cause }: Pick<CheckedPoint, "metric" | "at" | "cause">): string {
  const others = Object.entries(at).filter(([name]) => !AXIS.test(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${metric} ${cause ?? ""} ${coordinatesText(Object.fromEntries(others))}`;
}

/** Whether a document is a card instead of a pack. */
export const isCard = (value: unknown): value is JsonObject =>
  isObject(value) && "reference" in value && "operations" in value && !("steps" in value);

/** Reads a card of which only the form is checked. @returns null with the problems of another text */
export function cardOf(value: Value): { card: Card | null; diagnostics: Diagnostic[] } {
  const diagnostics = checkForm(value);
  return { card: diagnostics.length === 0 ? value as unknown as Card : null, diagnostics };
}

/**
 * The pack of a card; its paths start at the folder of the card.
 * @param file absolute path of the card
 * @returns null with `card_invalid`, all of them
 */
export async function packOfCard(
  value: JsonObject,
  file: string,
  { quick }: { quick: boolean },
): Promise<{ pack: JsonObject | null; diagnostics: Diagnostic[] }> {
  const { card, diagnostics } = cardOf(value);
  if (card === null) return { pack: null, diagnostics };
  const wrong = (place: (string | number)[], message: string, hint: string | null = null) =>
    diagnostics.push(diagnostic("card_invalid", place, message, { hint }));
  if ((card.recipe === undefined) === (card.pack === undefined)) wrong([], "Write either recipe or pack");
  if ((card.points === undefined) === (card.data === undefined)) wrong([], "Write either points or data");
  if (card.id !== basename(file).replace(/\.\w+$/, "")) {
    wrong(["id"], `Cannot use the id ${card.id}: it is not the name of the file`);
  }
  if (card.switch !== undefined && card.notes === undefined) wrong(["notes"], "Explain the switched causes in notes");
  if (quick && card.quick === undefined) wrong(["quick"], "Cannot run the card quickly: it has no subset");
  const points = card.points ?? (card.data === undefined ? [] : dataPoints(card.data, file, wrong));
  points.forEach(({ tolerance = card.tolerance }, index) => {
    if (tolerance === undefined || Object.keys(tolerance).length === 0) {
      wrong(["points", index], "Missing the tolerance of a point", "Write it there, or as tolerance of the card");
    }
  });
  if (card.curves !== undefined && card.switch !== undefined) wrong(["switch"], "Cannot switch causes of curves");
  points.forEach(({ from, metric, tolerance = card.tolerance }, index) => {
    if ((from === undefined) !== (card.curves === undefined)) {
      wrong(["points", index], "Cannot compare curves: curves of the card and from of each point belong together");
    } else if (from !== undefined && !(DIFFERENCES as readonly string[]).includes(metric)) {
      wrong(["points", index, "metric"], `Cannot take ${metric} of curves: the metrics are ${DIFFERENCES.join(", ")}`);
    } else if (from !== undefined && Object.keys(tolerance ?? {}).some((kind) => !/absolute|relative/.test(kind))) {
      wrong(["points", index], "Cannot judge a difference of curves: its tolerance is absolute or relative");
    }
  });
  const chosen = quick ? card.quick?.points ?? points.keys().toArray() : points.keys().toArray();
  const lists: [(string | number)[], readonly (number | bigint)[]][] = [
    [["quick", "points"], card.quick?.points ?? []],
    ...(card.switch ?? []).map((
      { points },
      index,
    ): [(string | number)[], number[]] => [["switch", index, "points"], points]),
  ];
  for (const [place, list] of lists) {
    const missing = list.find((index) => Number(index) >= points.length);
    if (missing !== undefined) wrong(place, `Cannot find the point ${missing}: there are ${points.length}, from 0`);
  }
  if (diagnostics.length > 0) return { pack: null, diagnostics };
  const checked = chosen.map(Number).flatMap((index) => {
    const base = checkedPoint(points[index], index, card);
    const switched = (card.switch ?? []).flatMap(({ cause, points: explained, at }, place) =>
      explained.some((one) => Number(one) === index)
        ? [{ ...base, entry: `${base.entry}.switch_${place}`, at: { ...base.at, ...at }, cause }]
        : []
    );
    return [base, ...switched];
  });
  for (const { index, tolerance, metric, at, ...one } of checked) {
    if (tolerance.db === undefined && tolerance.margin_db === undefined) continue;
    if (one.curve !== undefined) continue;
    const curve = curveOf({ metric, at, ...one });
    if (checked.filter((other) => curveOf(other) === curve).length < 2) {
      wrong(["points", index], "Cannot measure a shift in dB: its curve has no other point of snr_db");
    }
  }
  const source = card.pack === undefined ? null : await sourcePack(card.pack, file);
  const measured = card.curves === undefined
    ? checked.flatMap((one) => {
      const axis = Object.keys(one.at).find((name) => AXIS.test(name));
      if (one.curve !== undefined && axis === undefined) {
        wrong(["points", one.index, "curve"], "Cannot measure a curve: the point has no snr_db");
      }
      const others = (one.curve ?? []).map(([x, entry]) => ({
        ...one,
        entry,
        at: { ...one.at, [axis ?? ""]: float(x) },
      }));
      return [one, ...others];
    })
    : alongCurves(checked, card.curves);
  const recipes = measured.map((one) => entryOf(one, card, source, wrong));
  if (diagnostics.length > 0) return { pack: null, diagnostics };
  // A quick result counts for the version of all points. A missing recipe is a finding of the pack.
  const named = [
    ...points.flatMap(({ at, from = at }) => [at, from].map((one) => pathOf(one, card, source))),
    ...recipes.map(({ path }) => path as string),
  ];
  const paths = [...new Set(named.flatMap((path) => path === undefined ? [] : [join(dirname(file), path)]))]
    .filter(exists);
  const documents = await Promise.all(paths.map(async (path) => (await readRecipeFile(path)).value));
  const metrics = card.curves === undefined
    ? [...new Set(checked.map(({ metric }) => metric))]
    : [card.curves.rate, card.curves.quality];
  const isCounted = metrics.some((metric) => findMetric(metric)?.counts !== undefined);
  const validation: ValidationRecord = { card: card.id, quick, points: checked };
  return {
    pack: {
      schema_version: 1,
      id: `validation_${card.id}`,
      version: sha256Json([value, points as unknown as Value, source, documents]).slice(0, 12),
      name: card.title,
      dataset: source?.dataset ?? { id: UNDECLARED },
      task: source?.task ?? { id: UNDECLARED },
      metrics: metrics.map((id) =>
        (source?.metrics as Value[] | undefined)?.find((one) => isObject(one) && one.id === id) ?? id
      ),
      replication: {
        ...(isCounted ? { until_errors: 100 } : {}),
        ...card.replication,
        ...quick ? card.quick?.replication : {},
      },
      metadata: {
        validation: validation as unknown as JsonObject,
        // Rates of single items are kept for such a figure.
        ...card.curves === undefined
          ? {}
          : { default_plot: { plot: "rate-distortion", x: card.curves.rate, y: card.curves.quality } },
      },
      recipes,
    },
    diagnostics,
  };
}

function checkedPoint(point: Point, index: number, { curves, ...card }: Card): CheckedPoint {
  const { at, from, metric, expected, tolerance, curve } = point;
  const limits = Object.entries(tolerance ?? card.tolerance ?? {}).map(([kind, value]) => [kind, toNumber(value)]);
  const entry = `point_${index}`;
  const further = curve?.map((x, place): [number, string] => [toNumber(x), `${entry}.curve_${place}`]);
  return {
    ...{ index, entry, at, metric, expected: toNumber(expected), tolerance: Object.fromEntries(limits) },
    ...further === undefined ? {} : { curve: further },
    ...curves === undefined || from === undefined ? {} : {
      difference: {
        rate: curves.rate,
        quality: curves.quality,
        curve: coordinatesText(at),
        reference: coordinatesText(from),
        from,
      },
    },
  };
}

/** The points of all curves, each once; the name of a curve is its method. */
function alongCurves(
  checked: readonly CheckedPoint[],
  { along, values }: NonNullable<Card["curves"]>,
): (CheckedPoint & { method: string })[] {
  const curves = new Map<string, CheckedPoint>();
  for (const one of checked) {
    for (const at of [one.at, one.difference!.from]) curves.set(coordinatesText(at), { ...one, at });
  }
  return [...curves].flatMap(([method, one], place) =>
    values.map((value, step) => ({
      ...one,
      method,
      entry: `curve_${place}.${step}`,
      at: { ...one.at, [along]: value },
    }))
  );
}

const namedEntry = (source: JsonObject | null, name: Value | undefined) =>
  (source?.recipes as JsonObject[] | undefined)?.find((one) => one.id === name);

/** The recipe of a point, from the folder of the card. */
function pathOf({ recipe }: JsonObject, card: Card, source: JsonObject | null): string | undefined {
  const of = namedEntry(source, recipe);
  return of === undefined ? card.recipe : join(dirname(card.pack!), String(of.path));
}

/** The entry of a point. A coordinate with a dot is a parameter of a step, one without a dimension. */
function entryOf(
  { index, entry: id, at, cause, method }: CheckedPoint & { method?: string },
  card: Card,
  source: JsonObject | null,
  wrong: (place: (string | number)[], message: string) => void,
): JsonObject {
  const { recipe: name, ...coordinates } = at;
  const of = namedEntry(source, name);
  if (card.pack !== undefined && of === undefined) {
    wrong(["points", index, "at"], `Cannot find the entry ${name} in ${card.pack}`);
  }
  const given = (of?.params ?? {}) as JsonObject, steps = { ...given.step_params as JsonObject | undefined };
  const dimensions: JsonObject = {};
  for (const [coordinate, value] of Object.entries(of === undefined ? at : coordinates)) {
    const [step, ...rest] = coordinate.split(".");
    if (rest.length === 0) dimensions[coordinate] = value;
    else steps[step] = { ...steps[step] as JsonObject | undefined, [rest.join(".")]: value };
  }
  const selection = { ...given.matrix_selection as JsonObject | undefined, ...dimensions };
  return {
    id,
    label: [coordinatesText(at), cause ?? ""].filter((part) => part !== "").join(", ") || card.title,
    path: pathOf(at, card, source)!,
    ...(Object.keys(selection).length === 0 ? {} : {
      matrix: { dimensions: Object.fromEntries(Object.entries(selection).map(([key, value]) => [key, [value]])) },
    }),
    params: {
      ...given,
      ...(method === undefined ? {} : { method_id: method }),
      step_params: steps,
      ...(Object.keys(selection).length === 0 ? {} : { matrix_selection: selection }),
    },
  };
}

async function sourcePack(pack: string, file: string): Promise<JsonObject> {
  return (await readRecipeFile(join(dirname(file), pack))).value as JsonObject;
}

const MAX_DATA_BYTES = 2 ** 20;

/** The points of a CSV file; its cells are YAML scalars, and an empty cell is left out. */
function dataPoints(
  name: string,
  file: string,
  wrong: (place: (string | number)[], message: string, hint?: string) => void,
): Point[] {
  try {
    const bytes = readFile(inside(dirname(file), name), MAX_DATA_BYTES);
    const [header = [], ...rows] = csvRecords(new TextDecoder("utf-8", { fatal: true }).decode(bytes), 1001);
    return rows.map((cells, row): Point => {
      const at: JsonObject = {}, tolerance: JsonObject = {}, own: JsonObject = {};
      header.forEach((column, place) => {
        const cell = (cells[place] ?? "").trim(), [, kind] = /^tolerance_(\w+)$/.exec(column.trim()) ?? [];
        if (cell === "") return;
        const into = kind !== undefined ? tolerance : ["metric", "expected"].includes(column.trim()) ? own : at;
        into[kind ?? column.trim()] = scalarOf(cell) ?? null;
      });
      if (typeof own.metric !== "string" || !isNumber(own.expected)) {
        wrong(["data"], `Cannot use row ${row + 1} of ${name}: it needs metric and a number as expected`);
      }
      const unknown = Object.entries(tolerance).find(([kind, value]) =>
        !(TOLERANCES as readonly string[]).includes(kind) || !isNumber(value) || toNumber(value) <= 0
      );
      if (unknown !== undefined) {
        wrong(
          ["data"],
          `Cannot use tolerance_${unknown[0]} of row ${row + 1} of ${name}`,
          `Kinds: ${TOLERANCES.join(", ")}`,
        );
      }
      return { at, ...own, ...(Object.keys(tolerance).length === 0 ? {} : { tolerance }) } as unknown as Point;
    });
  } catch (error) {
    wrong(
      ["data"],
      `Cannot read ${name}: ${
        error instanceof CsvFault ? `line ${error.line} has ${error.message}` : messageOf(error)
      }`,
    );
    return [];
  }
}
