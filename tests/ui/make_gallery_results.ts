/**
 * Makes what the cards of the gallery show: `ui/pages/gallery_results.json` with the digest of each shipped recipe and a small
 * result of it, the curve over its swept parameter or a number. `deno task gallery` runs it; recipes whose digest is unchanged
 * keep their result. Points that a card has no room for are left out; recipes that take too long here have no result.
 */
import { sha256Json } from "../../lib/contract/hash.ts";
import { matrixFacts, setDimension } from "../../lib/contract/matrix_edits.ts";
import { isNumber, type JsonObject, toNumber, type Value } from "../../lib/contract/value.ts";
import { createCancellation } from "../../lib/execute/cancellation.ts";
import { recipeFiles } from "../../lib/recipe/recipe_files.ts";
import { readRecipeFile } from "../../lib/recipe/read.ts";
import { findMetric } from "../../lib/research/catalog.ts";
import { evaluatedMetrics } from "../../lib/research/evaluations.ts";
import { open, type Session } from "../../mod.ts";
import { curveFigure } from "../../ui/compare/curve.ts";
import { pivotCell } from "../../ui/compare/pivot.ts";
import { type ComparedRun, comparedRun, selectionOf } from "../../ui/compare/table.ts";
import stored from "../../ui/pages/gallery_results.json" with { type: "json" };
import type { GalleryResult } from "../../ui/gallery/results.ts";

/** Values of the swept dimension and of each other one; series in a card. */
/** Tried with fewer points where the first number takes too long. */
const POINTS = [6, 3], OTHERS = 3, SERIES = 3;
const LONGEST_MS = 30_000;

const LATE = "takes too long";

type Stored = { [path: string]: GalleryResult };

const projectRoot = new URL("../..", import.meta.url).pathname;
const [only] = Deno.args;
const results: Stored = {};
for (const { path, file } of recipeFiles(projectRoot)) {
  const recipe = (await readRecipeFile(file)).value;
  // Manifests of images are no recipes.
  if (!isRecipe(recipe)) continue;
  const sha256 = sha256Json(recipe) as string, known = (stored as unknown as Stored)[path];
  if (known?.sha256 === sha256 || (only !== undefined && !path.includes(only))) {
    if (known !== undefined) results[path] = known;
    continue;
  }
  const began = performance.now();
  let result: Omit<GalleryResult, "sha256"> | string = LATE;
  for (const points of POINTS) if (result === LATE) result = await resultOf(recipe, points);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${path}: ${typeof result === "string" ? result : Object.keys(result)[0]}, ${seconds} s`);
  if (typeof result !== "string") results[path] = { sha256, ...result };
  await write();
}
await write();

function isRecipe(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && "steps" in value;
}

async function write() {
  const rows = Object.entries(results).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([path, result]) => ` ${JSON.stringify(path)}: ${JSON.stringify(result)}`);
  await Deno.writeTextFile(
    new URL("../../ui/pages/gallery_results.json", import.meta.url),
    `{\n${rows.join(",\n")}\n}\n`,
  );
}

/** A small result of a recipe, or the reason why there is none. */
async function resultOf(whole: JsonObject, points: number): Promise<Omit<GalleryResult, "sha256"> | string> {
  const stateDir = await Deno.makeTempDir({ prefix: "svc-gallery-" });
  const svc = await open({ projectRoot, stateDir });
  const cancellation = createCancellation(), late = setTimeout(() => cancellation.cancel(), LONGEST_MS);
  try {
    const { run_readiness } = await svc.recipes.overview(whole);
    if (run_readiness?.ready !== true) return "needs what is not here";
    const { recipe, swept } = reduced(whole, points);
    const ids = matrixFacts(recipe).count > 0
      ? (await svc.recipes.runMatrix(recipe, { cancellation })).rows.map(({ run_id }) => run_id)
      : [(await svc.recipes.run(recipe, { cancellation })).run_id];
    const runs = await Promise.all(ids.filter((id) => id != null).map((id) => compared(svc, id)));
    if (runs.length === 0 || runs.some(({ status }) => status !== "completed")) {
      return cancellation.isCancelled ? LATE : "did not complete";
    }
    const metric = metricOf(runs);
    if (metric === undefined) return "no headline number";
    return swept === null ? numbersOf(runs, metric) : curvesOf(runs, swept, metric);
  } finally {
    clearTimeout(late);
    svc.close();
    await Deno.remove(stateDir, { recursive: true });
  }
}

/** A recipe with few values of its dimensions, and the dimension that becomes the axis. */
function reduced(whole: JsonObject, points: number): { recipe: JsonObject; swept: string | null } {
  const { dimensions } = matrixFacts(whole);
  const numeric = dimensions.filter(({ values }) => values.length > 2 && values.every((value) => isNumber(value)));
  const swept = numeric.find(({ name }) => name === "snr_db") ??
    numeric.toSorted((a, b) => b.values.length - a.values.length)[0];
  let series = 1, recipe = whole;
  for (const { name, values } of dimensions) {
    const most = name === swept?.name ? points : Math.max(1, Math.min(OTHERS, Math.floor(SERIES / series)));
    const kept = spread(values, most);
    if (name !== swept?.name) series *= kept.length;
    recipe = setDimension(recipe, name, kept);
  }
  return { recipe, swept: swept?.name ?? null };
}

/** At most so many values, both ends among them. */
function spread(values: Value[], most: number): Value[] {
  if (values.length <= most) return values;
  return Array.from({ length: most }, (_, at) => values[Math.round(at * (values.length - 1) / Math.max(1, most - 1))]);
}

async function compared(svc: Session, id: string): Promise<ComparedRun> {
  const { summary, manifest } = await svc.runs.show(id);
  const documents = { summary, environment: manifest.environment, recipe: await svc.runs.recipe(id), task_id: null };
  const run = comparedRun(documents as Parameters<typeof comparedRun>[0]);
  return { ...run, parameters: new Map(Object.entries(selectionOf(run))) };
}

/** The first headline metric that differs between the runs, else the first that they have. */
function metricOf(runs: readonly ComparedRun[]): string | undefined {
  const wanted = evaluatedMetrics(runs[0].recipe as never).filter((metric) =>
    runs.every(({ metrics }) => isNumber(metrics.get(metric) ?? null))
  );
  // Links of pictures and texts count bits too: the score of what was sent comes first, then errors of the payload.
  const rank = (metric: string) =>
    !metric.startsWith("channel.")
      ? 0
      : metric === "channel.ber"
      ? 1
      : /(payload|info).*er$/.test(metric)
      ? 2
      : /er$/.test(metric)
      ? 3
      : 4;
  const ranked = wanted.toSorted((a, b) => rank(a) - rank(b));
  const differs = (metric: string) =>
    new Set(runs.map(({ metrics }) => toNumber(metrics.get(metric) as number))).size > 1;
  return ranked.find(differs) ?? ranked[0];
}

function curvesOf(runs: readonly ComparedRun[], swept: string, metric: string) {
  const { x, y, series } = curveFigure(runs, swept, metric, (metric) => findMetric(metric) as never);
  return {
    x: [x.title, x.unit],
    y: [y.title, y.unit, y.scale],
    series: series.filter(({ kind }) => kind === "measured").map(({ label, points }) => {
      // Of points without an event, one shows where they begin.
      const empty = points.findIndex(({ bound }) => bound !== undefined);
      const shown = empty < 0 ? points : points.slice(0, empty + 1);
      return [
        label,
        shown.map(({ x, y, low, high, bound }) => {
          if (bound !== undefined) return [short(x), null, null, null, short(bound)];
          return low === null || high === null ? [short(x), short(y)] : [x, y, low, high].map(short);
        }),
      ];
    }),
  } as unknown as Omit<GalleryResult, "sha256">;
}

function numbersOf(runs: readonly ComparedRun[], metric: string) {
  const entry = findMetric(metric);
  return {
    numbers: runs.slice(0, SERIES).map((run) => {
      const { mean, low, high, bound } = pivotCell([run], metric)!;
      return [
        [...run.parameters].map(([name, value]) => `${name.replaceAll("_", " ")} ${String(value)}`).join(", "),
        [short(mean), short(low), short(high), ...bound === undefined ? [] : [short(bound)]],
      ];
    }),
    metric: [entry?.name ?? metric, entry?.unit ?? ""],
  } as unknown as Omit<GalleryResult, "sha256">;
}

function short(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(3));
}
