/** `svc recipe expand-matrix` and `svc recipe run-matrix`: the variants of one recipe. */
import { isWarning } from "../../contract/error.ts";
import { prettyJson } from "../../contract/json.ts";
import type { MatrixRow, MatrixRunResult } from "../../run/run_matrix.ts";
import {
  ALL_METRICS,
  command,
  type CommandSpec,
  flag,
  FORMAT,
  IGNORE_ESTIMATE,
  KEEP,
  names,
  parsed,
  POINTS,
  SET,
  WORKERS,
} from "../command.ts";
import { headlineView } from "../headline_view.ts";
import { EXIT } from "../problem.ts";
import { formatTable, right } from "../table.ts";
import { COMPAT, counted, modeOf, PLANNING, planOptions } from "./recipe.ts";

const STRICT_LEGACY = flag("--strict-legacy", "refuse matrix forms older than metadata.matrix");

export const matrixCommands: CommandSpec[] = [
  command({
    usage: "recipe expand-matrix <file>",
    summary: "show the concrete recipes of a matrix; with --json the recipes themselves",
    options: {
      compat: COMPAT,
      set: SET,
      strictLegacy: STRICT_LEGACY,
    },
    examples: ["svc recipe expand-matrix recipes/recipe_starters/image_protected_digital_awgn.yaml"],
    async call({ svc, args: [file], options: { compat, set, strictLegacy }, context }) {
      const recipe = await context.recipe(svc, file, set);
      const expansion = await svc.recipes.expand(recipe, { mode: modeOf(compat), strictLegacy });
      if (expansion.status === "invalid") recipe.refuse("recipe_invalid", "expand", expansion.diagnostics);
      const { expansionDocument } = await import("../../recipe/expand_matrix.ts");
      return { expansion, document: expansionDocument(expansion) };
    },
    json: ({ document }) => ({ schema_version: 1, ...document }),
    async show({ expansion: { points, recipe, diagnostics } }, { context }) {
      context.findings(diagnostics);
      if (points.length === 0) return `${recipe!.name} has no matrix to expand`;
      const { valueText } = await import("../../recipe/variant_name.ts");
      const dimensions = Object.keys(points[0].selection);
      return formatTable(
        points.map(({ index, selection, variant_id, recipe }) => ({
          index,
          ...Object.fromEntries(dimensions.map((name) => [`at ${name}`, valueText(selection[name])])),
          name: recipe.name,
          id: `${variant_id.slice(0, 17)}…`,
        })),
        [
          right("index"),
          ...dimensions.map((title) => right(`at ${title}`, title)),
          { key: "id", title: "variant" },
          "name",
        ],
      );
    },
  }),
  command({
    usage: "recipe run-matrix <file>",
    cancellable: true,
    summary: "run all variants of a matrix; variants with a verified complete run are reused",
    options: {
      set: SET,
      points: parsed(
        "--points <names>",
        "comma-separated points to run: indices, variant ids, names or dimension=value",
        names,
      ),
      rerun: flag("--rerun", "run all variants again, also those with a verified complete run"),
      continueOnError: flag("--continue-on-error", "continue with the next variant after a failure"),
      parallelWorkers: WORKERS,
      parallelPoints: POINTS,
      ...PLANNING,
      ignoreEstimate: IGNORE_ESTIMATE,
      ...KEEP,
      strictLegacy: STRICT_LEGACY,
      format: FORMAT,
      allMetrics: ALL_METRICS,
    },
    examples: [
      "svc recipe run-matrix recipe.yaml --parallel-points 4",
      "svc recipe run-matrix recipe.yaml --points 0,5,10 --format csv > sweep.csv",
      "svc recipe run-matrix recipe.yaml --points snr_db=6.0 --rerun",
    ],
    async call({ svc, args: [file], options: { set, format: _, allMetrics, ...options }, ...means }) {
      const { context, cancellation, onEvent } = means;
      const recipe = await context.recipe(svc, file, set);
      const result = await svc.recipes.runMatrix(recipe, { ...planOptions(options), cancellation, onEvent });
      const first = result.rows.find(({ run_id }) => run_id !== null)?.run_id ?? null;
      const none = { task: [], filled: [], all: allMetrics };
      return { ...result, view: first === null ? none : await headlineView(svc, first, allMetrics) };
    },
    json: documentOf,
    async show(result, { context, options: { format } }) {
      const { status, recipe_name, rows, view } = result;
      if (format === "json") return prettyJson(documentOf(result));
      const { matrixTable } = await import("../matrix_table.ts");
      context.print(matrixTable(rows, format, view));
      const color = status === "completed" ? "green" : status === "canceled" ? "yellow" : "red";
      const replaced = rows.flatMap(({ replaced }) => replaced).length;
      const outcome = `${context.paint(color, status)}  ${recipe_name}: ${countText(rows)}` +
        (replaced === 0 ? "" : `; replaced ${counted(replaced, "unfinished run")}`);
      // After data for other programs, remarks go to standard error.
      if (format === "table") context.print(`\n${outcome}`);
      else context.note(outcome);
    },
    exit: ({ status }) => status === "completed" ? EXIT.ok : EXIT.runFailed,
  }),
];

function documentOf({ status, recipe_name, canonical_matrix, rows, diagnostics }: MatrixRunResult) {
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
