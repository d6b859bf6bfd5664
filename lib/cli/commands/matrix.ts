/** `svc recipe run-matrix`: runs of the variants of one recipe. */
import { recipes } from "../../api/calls/recipes.ts";
import { isWarning, SvcError } from "../../contract/error.ts";
import { prettyJson } from "../../contract/json.ts";
import { isNumber, toNumber, type Value } from "../../contract/value.ts";
import { parseOverrideValue } from "../../recipe/overrides.ts";
import type { MatrixRow, MatrixRunResult } from "../../study/run_matrix.ts";
import type { CrossingResult } from "../../study/crossing.ts";
import { InvalidArgumentError } from "../commander.ts";
import { commandOf, optionsFrom } from "../call_commands.ts";
import type { CliContext } from "../context.ts";
import { ALL_METRICS, type CommandSpec, FORMAT, parsed, refuseOptions, SET, text } from "../command.ts";
import { type HeadlineView, headlineView } from "../headline_view.ts";
import { EXIT } from "../problem.ts";
import { formatTable, right, type TableFormat } from "../table.ts";
import { counted } from "./recipe.ts";

const { metric, max_runs } = recipes.findCrossing.fields;

/** Reads a number as recipes write it: 6 and 6.0 differ. */
const number = (given: string): Value => {
  const value = parseOverrideValue(given);
  if (isNumber(value)) return value;
  throw new InvalidArgumentError("Give a number, such as 0.1.");
};

/** The search for one point. */
const CROSSING = {
  untilBler: parsed(
    "--until-bler <rate>",
    "search where a block error rate reaches this target",
    (given) => toNumber(number(given) as number),
  ),
  untilDifference: parsed(
    "--until-difference <x>",
    "search where the difference to --against reaches this target",
    (given) => toNumber(number(given) as number),
  ),
  against: text("--against <recipe>", "the recipe that is subtracted"),
  over: text("--over <step.parameter>", "parameter to search over"),
  between: parsed("--between <a:b>", "smallest and largest value of the parameter", (given): [Value, Value] => {
    const ends = given.split(":");
    if (ends.length !== 2) throw new InvalidArgumentError("Give two values with a colon, such as 0:12.");
    return [number(ends[0]), number(ends[1])];
  }),
  resolution: parsed("--resolution <x>", "width of the bracket at which the search ends (default: 0.1)", number),
  ...optionsFrom({ metric, max_runs }),
};

const isSearch = (options: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(CROSSING).some((name) => options[name] !== undefined);

/** What a search shows of its runs. */
const FEW_EVENTS = ["crossing_point_completed", "recipe_warning"];

export const matrixCommands: CommandSpec[] = [
  commandOf(recipes.runMatrix, { name: "recipe run-matrix", usage: "<file>" }, {
    cancellable: true,
    options: { set: SET, format: FORMAT, allMetrics: ALL_METRICS, ...CROSSING },
    notes:
      "With --until-bler or --until-difference the recipe has no matrix: its points are those of a bisection, each run " +
      "until its confidence interval lies on one side of the target. Exits with 6 when no bracket was found.",
    examples: [
      "svc recipe run-matrix recipe.yaml --parallel-points 4",
      "svc recipe run-matrix link.yaml --until-bler 1e-2 --over channel.snr_db --between 0:12 --resolution 0.1",
      "svc recipe run-matrix a.yaml --until-difference 0 --against b.yaml --metric channel.ber --over channel.snr_db --between 0:12",
      "svc recipe run-matrix recipe.yaml --points 0,5,10 --format csv > sweep.csv",
      "svc recipe run-matrix recipe.yaml --points snr_db=6.0 --rerun",
    ],
    // A point of a search may have a thousand runs.
    means: ({ options, onEvent }) =>
      isSearch(options)
        ? {
          onEvent: (event) => FEW_EVENTS.includes(event.kind) || event.level === "error" ? onEvent(event) : undefined,
        }
        : {},
    async call({ svc, options }, perform): Promise<CrossingResult | MatrixRunResult & { view: HeadlineView }> {
      const { untilBler, untilDifference, against, over, between, resolution = 0.1, allMetrics } = options;
      if (isSearch(options)) {
        if (over === undefined || between === undefined) {
          throw new SvcError("usage_invalid", "Cannot search without a parameter and its ends", {
            hint: "Add --over step.parameter --between 0:12",
          });
        }
        const { points, rerun, continueOnError, set } = options;
        refuseOptions({ points, rerun, continueOnError }, "in a search", "svc recipe run-matrix --help");
        const rival = against === undefined ? undefined : await svc.recipes.read(against, { set });
        const changes = { until_bler: untilBler, until_difference: untilDifference, against: rival, resolution };
        return await perform(changes, recipes.findCrossing);
      }
      const [result] = await Promise.all([perform(), svc.warmUp()]);
      const first = result.rows.find(({ run_id }) => run_id !== null)?.run_id ?? null;
      const none = { task: [], filled: [], all: allMetrics };
      return { ...result, view: first === null ? none : await headlineView(svc, first, allMetrics) };
    },
    json: (result) => documentOf(result),
    // They came before the first run.
    printed: () => [],
    async show(result, { context, options: { format } }) {
      if ("points" in result) return await showCrossing(result, format, context);
      if (format === "json") return prettyJson(documentOf(result));
      const { matrixTable } = await import("../matrix_table.ts");
      context.print(matrixTable(result.rows, format, result.view));
      if (format === "table") context.print(`\n${matrixOutcome(result, context)}`);
    },
    remarks: {
      // After data for other programs, the outcome goes to standard error.
      status: (result, { context, options: { format } }) =>
        format === "table" || format === "json"
          ? null
          : "points" in result
          ? crossingOutcome(result, context)
          : matrixOutcome(result, context),
      points: (result, { options: { format } }) =>
        result.status === "undecided" && format !== "json"
          ? "Give more --max-runs, or make each run longer, to decide the points that are left"
          : null,
      error: (result, { context: { paintError }, options: { format } }) =>
        "points" in result && result.error !== null && format !== "json"
          ? `${paintError("red", `error[${result.error.code}]`)}: ${result.error.message}`
          : null,
    },
    exit: ({ status }) =>
      status === "completed" || status === "found"
        ? EXIT.ok
        : status === "undecided" || status === "not_between"
        ? EXIT.differs
        : EXIT.runFailed,
  }),
];

/** The points of a search in the order of their values, and the bracket. */
async function showCrossing(
  result: CrossingResult,
  format: TableFormat | "json",
  context: CliContext,
): Promise<string> {
  if (format === "json") return prettyJson(documentOf(result));
  const [{ shown }, { estimateText, numberText }] = await Promise.all([
    import("../../study/crossing.ts"),
    import("../../figure/number_text.ts"),
  ]);
  const { over, points } = result;
  const number = (value: Value) => numberText(toNumber(value as number), "unicode", 6);
  context.print(formatTable(
    [...points].sort((a, b) => toNumber(a.value as number) - toNumber(b.value as number)).map((point) => ({
      value: number(point.value),
      estimate: estimateText(shown(point), "unicode"),
      level: `${numberText(100 * toNumber(point.confidence_level), "unicode", 6)} %`,
      runs: point.runs,
      side: point.side,
    })),
    [right("value", over), right("estimate", measured(result)), right("level"), right("runs"), "side"],
    format,
  ));
  return format === "table" ? `\n${await crossingOutcome(result, context)}` : "";
}

const measured = ({ metric, against }: CrossingResult): string =>
  against === null ? metric : `${metric} minus that of ${against}`;

/** Where the metric reaches the target. */
async function crossingOutcome(result: CrossingResult, context: CliContext): Promise<string> {
  const { numberText } = await import("../../figure/number_text.ts");
  const { status, over, target, bracket, estimate } = result;
  const number = (value: Value) => numberText(toNumber(value as number), "unicode", 6);
  const color = status === "found" ? "green" : status === "failed" ? "red" : "yellow";
  const reached = bracket === null
    ? { not_between: "both ends lie on one side", undecided: "an end is undecided" }[status as string] ?? "no bracket"
    : `between ${number(bracket[0])} and ${number(bracket[1])}` +
      (estimate === null ? "" : `, interpolated ${number(estimate)}`);
  return `${context.paint(color, status.replace("_", " "))}  ${measured(result)} reaches ${
    number(target)
  } at ${over}: ${reached}`;
}

/** How many runs of a matrix completed. */
function matrixOutcome({ status, recipe_name, rows }: MatrixRunResult, { paint }: CliContext): string {
  const color = status === "completed" ? "green" : status === "canceled" ? "yellow" : "red";
  const replaced = rows.flatMap(({ replaced }) => replaced).length;
  return `${paint(color, status)}  ${recipe_name}: ${countText(rows)}` +
    (replaced === 0 ? "" : `; replaced ${counted(replaced, "unfinished run")}`);
}

function documentOf(result: MatrixRunResult | CrossingResult) {
  const { diagnostics, ...document } = result;
  if ("points" in document) return { schema_version: 1, ...document, warnings: diagnostics.filter(isWarning) };
  const { status, recipe_name, canonical_matrix, rows } = document;
  return { schema_version: 1, status, recipe_name, canonical_matrix, rows, warnings: diagnostics.filter(isWarning) };
}

function countText(rows: readonly MatrixRow[]): string {
  const states: [string, (row: MatrixRow) => boolean][] = [
    ["completed", ({ status, reused }) => status === "completed" && !reused],
    ["completed before", ({ reused }) => reused],
    ["failed", ({ status }) => status === "failed"],
    ["canceled", ({ status }) => status === "canceled"],
    ["not reached", ({ status }) => status === "skipped"],
  ];
  return states.map(([what, wanted]) => [rows.filter(wanted).length, what] as const)
    .filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`).join(", ");
}
