/**
 * The caption of a figure: what is drawn, over how many runs, which intervals, units and signs, and the digests that identify
 * result and recipes. One text for readers and one for LaTeX, where the digests of recipes are comments.
 */
import { visibleLine } from "../../contract/escape.ts";
import { upperFirst } from "../../contract/sentence.ts";
import { latexCaption } from "../../figure/latex.ts";
import { signsOf } from "../../figure/legend.ts";
import type { Figure, FigureAxis } from "../../figure/types.ts";
import type { BenchmarkResult } from "../pack/types.ts";
import { completedRows, METHODS } from "../rows/estimates.ts";
import { estimatesFor } from "./figure/points.ts";
import type { PlotOutcome, PlotRequest } from "./figure/types.ts";

/** Digits of a digest in the caption itself. */
const SHORT = 12;

/**
 * The texts of a caption by the ends of their file names.
 * @param sha256 of the bytes of `result.json`
 * @returns `caption.txt` and `caption.tex`
 */
export function captionTexts(
  result: BenchmarkResult,
  sha256: string,
  outcome: PlotOutcome,
  request: PlotRequest,
): Record<"caption.txt" | "caption.tex", string> {
  const { figure, drawn } = outcome, runs = new Map<string, number>(), digests = new Map<string, Set<string>>();
  for (const { id, recipe_sha256, semantic_recipe_sha256 } of completedRows(result, new Set(drawn))) {
    runs.set(id, (runs.get(id) ?? 0) + 1);
    const known = digests.getOrInsertComputed(id, () => new Set());
    const digest = semantic_recipe_sha256 ?? recipe_sha256;
    if (digest !== null) known.add(digest);
  }
  const counts = [...runs.values()], total = counts.reduce((sum, count) => sum + count, 0);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const each = least === most ? counted(most, "replicate") : `${least} to ${most} replicates`;
  const methods = intervalMethods(result, outcome, request);
  const sentences = [
    figure.title,
    ...(figure.mark === undefined ? [] : [upperFirst(figure.mark)]),
    figure.subtitle.replaceAll(" · ", "; "),
    `${counted(counts.length, "recipe")} of ${each}, ${counted(total, "run")}`,
    ...(methods.length === 0 ? [] : [`Method of the intervals: ${methods.join(", ")}`]),
    ...(figure.form === "curves" ? signsOf(figure).flatMap(([sign]) => SIGN_TEXTS[sign] ?? []) : []),
    `Axes: ${axesOf(figure).map(({ title, unit }) => unit === "" ? title : `${title} in ${unit}`).join(", ")}`,
  ].filter((sentence) => !/^(Axes: )?$/.test(sentence));
  const list = [...digests].flatMap(([id, known]) => [...known].map((digest) => `${digest}  ${id}`));
  const identity = `Result ${result.result_id}, SHA-256`, text = sentences.map((sentence) => `${sentence}.`);
  const head = "Recipes, SHA-256 without names and seeds where the result has it:";
  return {
    "caption.txt": [...text, `${identity} ${sha256}.`, "", head, ...list].map((line) => `${visibleLine(line)}\n`).join(
      "",
    ),
    "caption.tex": latexCaption([...text, identity], sha256.slice(0, SHORT), [
      `SHA-256 of the result ${sha256}`,
      ...list.map((line) => `recipe ${line}`),
    ]),
  };
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

const SIGN_TEXTS: Readonly<Record<string, string>> = {
  bound: "Arrows are upper bounds of rates of which no event was seen",
  outage: "Crosses mark points with lost items",
  front: "The wide line joins the points that no other point dominates",
};

function axesOf(figure: Figure): FigureAxis[] {
  if (figure.form === "matrix") return [];
  if (figure.form === "bars") return [figure.value];
  if (figure.form === "heat") return [figure.x, figure.y, figure.value];
  if (figure.form === "boxes") return [...(figure.x === null ? [] : [figure.x]), figure.value];
  return [figure.x, figure.y];
}

/** Names of the methods of the drawn intervals. */
function intervalMethods(result: BenchmarkResult, { plot, y, drawn }: PlotOutcome, request: PlotRequest): string[] {
  if (plot === "difference") return ["Student t of paired differences"];
  if (plot === "cdf" || plot === "box" || plot === "heat-map" || plot === "confusion-matrix") return [];
  const found = drawn.map((id) => estimatesFor(request)(result, id, y))
    .filter((estimate) => estimate !== null && (estimate.low !== null || estimate.bound !== undefined));
  return [...new Set(found.map((estimate) => METHODS[estimate!.method] ?? estimate!.method))];
}
