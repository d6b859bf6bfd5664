/** The tables of a benchmark for readers. */
import { UNITS } from "../../contract/metric_metadata.ts";
import { type NumberForm, numberText } from "../../figure/number_text.ts";
import { unitText } from "../../figure/unit_text.ts";
import { sameValue } from "../../contract/json.ts";
import { coordinatesText } from "../../recipe/variant_name.ts";
import { isNumber } from "../../contract/value.ts";
import {
  coordinatesOf,
  differenceOf,
  estimateOf,
  intervalsText,
  isReplicated,
  METHODS,
  metricFacts,
  ofAggregate,
  recipesOf,
  shownAggregates,
} from "../rows/estimates.ts";
import { channelUseRemark } from "../pack/equal_uses.ts";
import { type CurveDifference, packRateDifferences, type RateDifferences } from "./rate_differences.ts";
import { estimateCell, left, numberCell, type ReportTable, right, valueCell } from "./table.ts";
import { allRows, countsOf, firstOf, recipeRows } from "../rows/stored_rows.ts";
import { type BenchmarkResult, EXACT, type ResultRow } from "../pack/types.ts";

type NamedRecipe = Pick<ResultRow, "id" | "label" | "matrix_selection">;

/** Finds recipes by id. A result that is not complete, or that is verified, may name one without a row. */
function recipeNames(result: BenchmarkResult): (id: string) => NamedRecipe {
  const rows = new Map(recipesOf(result).map((row) => [row.id, row]));
  return (id) => rows.get(id) ?? { id, label: id, matrix_selection: {} };
}

/** The label of a recipe without the coordinates at its end, which have columns of their own. */
function nameOf({ id, label, matrix_selection }: NamedRecipe): string {
  const coordinates = Object.entries(matrix_selection ?? {});
  for (let from = 0; from < coordinates.length; from++) {
    const end = coordinatesText(Object.fromEntries(coordinates.slice(from)));
    if (label === end) return id.split("@")[0];
    if (label.endsWith(`, ${end}`)) return label.slice(0, -end.length - 2);
  }
  return label;
}

const coordinateColumns = (result: BenchmarkResult, names: readonly string[]) =>
  names.map((name) =>
    recipeRows(result).every(({ matrix_selection: at }) => isNumber(at?.[name] ?? 0)) ? right(name) : left(name)
  );

const coordinateCells = (recipe: NamedRecipe, names: readonly string[], form: NumberForm) =>
  names.map((name) => valueCell(recipe.matrix_selection?.[name], form));

function results(result: BenchmarkResult, form: NumberForm): ReportTable {
  const coordinates = coordinatesOf(result);
  const metrics = result.benchmark.metrics.map(({ id }) => metricFacts(result, id));
  const rows = recipesOf(result).map((recipe) => [
    nameOf(recipe),
    recipe.role,
    ...coordinateCells(recipe, coordinates, form),
    ...metrics.map(({ id }) => estimateCell(estimateOf(result, recipe.id, id), form)),
  ]);
  return {
    id: "results",
    title: "Results",
    columns: [
      left("Recipe"),
      left("Role"),
      ...coordinateColumns(result, coordinates),
      ...metrics.map(({ id, unit }) => right(id, unitText(unit))),
    ],
    rows,
    notes: [
      ...metrics.flatMap(({ id }) => {
        const text = intervalsText(result, id);
        return text === null ? [] : [`${id}: ${text}`];
      }),
      ...(recipesOf(result).some(({ id }) => metrics.some((m) => estimateOf(result, id, m.id)?.bound !== undefined))
        ? ["“At most” is the upper bound of a rate of which no event was seen"]
        : []),
      ...(result.aggregates.some(({ reason }) => reason !== undefined)
        ? ["Recipes with kept seeds have no intervals: their replicates are not independent"]
        : []),
    ],
  };
}

function bdRates(result: BenchmarkResult, form: NumberForm): ReportTable {
  const found = packRateDifferences(result);
  return found === null
    ? { id: "rate_differences", title: "BD-rate", columns: [], rows: [], notes: [] }
    : rateDifferenceTable(found, form);
}

/** Mean differences of curves from one: of the rate in percent, of the quality in its unit. */
export function rateDifferenceTable(
  { x, y, y_unit, baseline, confidence_level, methods }: RateDifferences,
  form: NumberForm,
): ReportTable {
  const written = (value: number | null, scale: number) => numberText(value === null ? null : scale * value, form, 3);
  const cells = ({ difference, range, single }: CurveDifference, scale: number) => [
    numberCell(difference === null ? null : scale * difference, form, 3),
    {
      written: single === null
        ? "–"
        : `${written(single.mean, scale)} [${written(single.low, scale)}, ${
          written(single.high, scale)
        }], ${single.n} ${single.over}`,
    },
    { written: range === null ? "–" : range.map((value) => written(value, 1)).join(" – ") },
  ];
  const level = numberText(100 * confidence_level);
  return {
    id: "rate_differences",
    title: "BD-rate",
    columns: [
      left("Method"),
      left("Baseline"),
      right("BD-rate", "%"),
      left("Mean of items or replicates"),
      right("Range of quality"),
      right(y === "quality.psnr_db" ? "BD-PSNR" : "BD-quality", unitText(y_unit)),
      left("Mean of items or replicates"),
      right("Range of rate"),
    ],
    rows: methods.map(({ method, rate, quality }) => [method, baseline, ...cells(rate, 100), ...cells(quality, 1)]),
    notes: [
      `Mean differences of ${x} at equal ${y}, and of ${y} at equal ${x}, by monotone cubics over the logarithm of the rate ` +
      "(Bjøntegaard); a negative BD-rate is less rate than the baseline",
      ...(methods.some(({ rate, quality }) => rate.single !== null || quality.single !== null)
        ? [`Beside it the mean of the differences of single items (images) or replicates, with its ${level} % interval`]
        : []),
    ],
  };
}

function intervals(result: BenchmarkResult, form: NumberForm): ReportTable {
  const coordinates = coordinatesOf(result), recipe = recipeNames(result);
  return {
    id: "intervals",
    title: "Intervals",
    columns: [
      left("Recipe"),
      ...coordinateColumns(result, coordinates),
      left("Metric"),
      right("n"),
      right("Value"),
      left("Interval"),
      right("Events"),
      right("Trials"),
      left("Unit"),
      right("Units"),
      right("Failed units"),
    ],
    rows: shownAggregates(result).map((row) => [
      nameOf(recipe(row.recipe_id)),
      ...coordinateCells(recipe(row.recipe_id), coordinates, form),
      row.metric,
      numberCell(row.n, form),
      estimateCell(ofAggregate(row), form),
      row.reason === undefined ? METHODS[row.ci_method] ?? row.ci_method : "none, kept seeds",
      numberCell(row.events, form),
      numberCell(row.trials, form),
      UNITS[row.unit ?? "replicate"],
      numberCell(row.units ?? row.n, form),
      numberCell(row.unit_failures, form),
    ]),
    notes: [],
  };
}

function comparisons(result: BenchmarkResult, form: NumberForm): ReportTable {
  const recipe = recipeNames(result);
  const pairs = result.comparisons.map((row) => {
    const candidate = recipe(row.candidate_id), baseline = recipe(row.baseline_id);
    const differs = (name: string) =>
      !sameValue(candidate.matrix_selection?.[name] ?? null, baseline.matrix_selection?.[name] ?? null);
    return { row, candidate, baseline, differs };
  });
  // A coordinate has a column where both sides share it; one that tells them apart is in names that are equal otherwise.
  const shared = coordinatesOf(result).filter((name) => pairs.some(({ differs }) => !differs(name)));
  const namesOf = ({ candidate, baseline, differs }: Omit<typeof pairs[number], "row">) => {
    const names = [candidate, baseline].map(nameOf);
    if (names[0] !== names[1]) return names;
    return [candidate, baseline].map(({ matrix_selection }, side) =>
      [
        names[side],
        coordinatesText(Object.fromEntries(Object.entries(matrix_selection ?? {}).filter(([name]) => differs(name)))),
      ].filter((text) => text !== "").join(", ")
    );
  };
  return {
    id: "comparisons",
    title: "Comparisons",
    columns: [
      left("Candidate"),
      left("Baseline"),
      ...coordinateColumns(result, shared),
      left("Metric"),
      left("Pairs of"),
      right("n"),
      right("Mean difference"),
      right("p"),
      right("p (Holm)"),
      left("Better"),
    ],
    rows: pairs.map(({ row, ...pair }) => [
      ...namesOf(pair),
      ...shared.map((name) => pair.differs(name) ? "–" : valueCell(pair.candidate.matrix_selection?.[name], form)),
      row.metric,
      row.pairing === "item" ? "items" : "replicates",
      numberCell(row.n, form),
      estimateCell(differenceOf(row), form),
      row.reason === EXACT ? "exact" : numberCell(row.p_value, form, 2),
      row.reason === EXACT ? "exact" : numberCell(row.p_value_holm, form, 2),
      row.better ?? "–",
    ]),
    notes: [
      "Paired differences, candidate minus baseline, over common items or else common replicates; p by exact sign flips up " +
      "to 20 pairs, else by a paired t test, corrected over all comparisons (Holm); a dash says that neither is distinguishably better",
      ...(result.comparisons.some(({ reason }) => reason === EXACT)
        ? ["“Exact” compares constants on which nothing random acts; they have no test and are not corrected for"]
        : []),
      ...[channelUseRemark(result)].filter((remark) => remark !== null),
    ],
  };
}

/** So many rows are listed; the others are in recipes.csv. */
const MOST_LISTED = 1000;

function notCompleted(result: BenchmarkResult): ReportTable {
  const { count, completed } = countsOf(result), missing = count - completed;
  const listed = missing === 0 ? [] : [...firstOf(problemsOf(result), MOST_LISTED)];
  return {
    id: "not_completed",
    title: "Rows that did not complete",
    columns: [left("Recipe"), right("Replicate"), left("Status"), left("Reason")],
    rows: listed.map((row) => [
      row.id,
      String(row.replicate),
      row.status,
      row.error?.message ?? row.skip_reason ?? "–",
    ]),
    notes: missing > listed.length ? [`The first ${listed.length} of ${missing}; recipes.csv has all`] : [],
  };
}

/** The rows that did not complete. */
export function* problemsOf(result: BenchmarkResult): Generator<ResultRow> {
  for (const row of allRows(result)) if (row.status !== "completed") yield row;
}

/**
 * The tables of a result, without empty ones.
 * @param form notation of numbers
 */
export function reportTables(result: BenchmarkResult, form: NumberForm): ReportTable[] {
  const tables = [
    results(result, form),
    bdRates(result, form),
    comparisons(result, form),
    intervals(result, form),
    notCompleted(result),
  ];
  return tables.filter(({ id, rows }) => rows.length > 0 && (id !== "intervals" || isReplicated(result)));
}
